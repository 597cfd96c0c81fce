"""Days whose every text was written by somebody who wants the message to ping, to link abroad or to fail."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from hypothesis import strategies as st

from bot.domain.digest.models import Digest, Entry, Overview, Theme
from bot.domain.history.outcomes import MergeOutcome, OutcomeKind
from bot.domain.pull_requests.models import Account, Repository
from bot.domain.risk.assessment import Risk
from bot.domain.summaries.diff_packing import Coverage
from bot.domain.summaries.models import ChangeType, Summary
from tests.helpers.builders import digest, entry, summary

TOKENS = (
    "<!channel>|<!here|x>|<!everyone>|<@U123>|<@W0ABC|you>|<!subteam^S123>|<#C123>|<#C123|general>|@here|@channel"
    "|@everyone|@group|@HERE|<https://evil.example|click>|https://evil.example|http://evil.example/?a=b&c"
    "|mailto:a@evil.example|<mailto:a@evil.example>|[click](https://evil.example)|www.evil.example|```|*_~`|`|**"
    "|&lt;|&amp;lt;!channel&gt;|&lt;!here&gt;|&|<|>|\\|:tada:|#1|#2|#999|\u200b|\u200d|\u202e|\u2066|\ufeff|\xad"
    "|\0|\x1b[31m|\n|\r\n|\t|\u2028|\x85|   |👨\u200d👩\u200d👧|é|漢字"
).split("|")
PIPED = (
    "<https://evil.example|click>",
    "<!here|x>",
    "<@W0ABC|you>",
    "|",
    "<!date^1^{date}^https://evil.example|x>",
)
BLANK = ("", " ", "\n", "\u200b", "\0\0", "\u202e \u2066", "\t\u2028")

LONG = ("x" * 90, "😀" * 40, "@" * 50)
_piece = st.sampled_from([*TOKENS, *PIPED]) | st.text(max_size=6) | st.sampled_from(LONG)


def texts(limit: int) -> st.SearchStrategy[str]:
    """Hostile texts of at most ``limit`` characters, also ones that only look like some."""
    mixed = st.lists(_piece, max_size=12).map("".join)
    return st.one_of(mixed, mixed, st.sampled_from(BLANK)).map(lambda text: text[:limit])


def lines(limit: int) -> st.SearchStrategy[str]:
    """Hostile texts with something to see in them, as the model's answers are checked to have."""
    return texts(limit - 1).map(lambda text: f"x{text}")


summaries: st.SearchStrategy[Summary] = st.builds(
    summary,
    type=st.sampled_from(ChangeType),
    headline=texts(120),
    action=texts(240),
    risk_reason=texts(240),
    coverage=st.sampled_from(Coverage),
    fallback=st.just("") | lines(200),
)


@st.composite
def entries(draw: st.DrawFn, number: int) -> Entry:
    """An entry as hostile as GitHub and the model's schema let it be."""
    account = st.builds(Account, texts(39), st.booleans())
    made = entry(
        number, said=draw(summaries), title=draw(texts(256)), author=draw(account), merged_by=draw(account)
    )
    reasons = tuple(draw(st.lists(lines(120), min_size=1, max_size=6)))  # points have a reason
    area = draw(st.sampled_from(["Models", "LoRA", "Documentation"]) | lines(80))
    cost = draw(st.none() | st.floats(0, 2))
    return replace(made, risk=Risk(draw(st.floats(-6, 25)), reasons), area=area, cost=cost)


@st.composite
def digests(draw: st.DrawFn, most: int = 6) -> Digest:
    """A day of a few such pull requests."""
    numbers = list(range(draw(st.integers(0, most)), 0, -1))
    known = st.sampled_from(numbers) if numbers else st.nothing()
    themes = st.builds(Theme, lines(80), st.lists(known, min_size=1, max_size=5, unique=True).map(tuple))
    overview = Overview(
        text=draw(texts(600)),
        themes=tuple(draw(st.lists(themes, max_size=6))) if numbers else (),
        fallback=draw(st.just("") | texts(400)),
    )
    made = digest(*(draw(entries(number)) for number in numbers), overview=overview)
    fates = st.tuples(st.sampled_from(OutcomeKind), st.booleans())
    taken = [MergeOutcome(each.pull, made.entries[0].pull, *draw(fates)) for each in made.entries[1:3]]
    made = replace(made, outcomes=tuple(taken) if draw(st.booleans()) else ())
    return replace(made, name=draw(texts(100)))


WORST = {
    "long words": "W" * 700,
    "many numbers": "#1 #2 #3 " * 80,
    "styles": "`a` **b** " * 70,
    "mentions": "<!channel> @here " * 42,
    "wide signs": "😀" * 700,
    "blanks": "a " * 350,
}


@cache
def full_day(count: int, text: str, *, trivial: bool = False) -> Digest:
    """A day of ``count`` pull requests of which every text is as long as it can be."""
    numbers = range(100_000 + count, 100_000, -1)
    kind = ChangeType.TRIVIAL if trivial else ChangeType.SUBSTANTIAL
    said = summary(type=kind, headline=text[:120], action=text[:240], risk_reason=text[:240])
    login = Account(text[:39])
    found = [entry(number, said=said, title=text[:256], author=login, merged_by=login) for number in numbers]
    listed = [
        replace(made, risk=Risk(20, (text[:120],) * 6), area=f"{text[:60]} {made.number % 9}") for made in found
    ]
    themes = tuple(Theme(text[:80], tuple(numbers)) for _ in range(6)) if count else ()
    return digest(*listed, overview=Overview(text[:600], themes, fallback=text))


# GitHub's longest: 39 characters of an owner, 100 of a name
LONGEST = Repository("o" * 39, "n" * 100)
# references that all link, as an injected model may write them: an address is far longer than its number
NUMBERS = "#100001 #100002 " * 60


def elsewhere(found: Digest, repository: Repository) -> Digest:
    """The same day of another repository."""
    moved = (replace(made, pull=replace(made.pull, repository=repository)) for made in found.entries)
    return replace(found, repository=repository, name=repository.name, entries=tuple(moved))
