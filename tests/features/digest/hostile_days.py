"""Days whose every text was written by somebody who wants the message to ping, to link abroad or to fail."""

from dataclasses import replace
from functools import cache

from hypothesis import strategies as st

from bot.features.digest.rules import Digest, Overview
from bot.features.merges.outcomes import MergeOutcome
from bot.features.merges.review import (
    NO_REVIEWS,
    BugFinding,
    BugReview,
    Certainty,
    FindingAdvice,
    FindingStatus,
    ReviewCoverage,
)
from bot.features.merges.risk import Risk
from bot.features.merges.summary import ChangeType, Evidence, Summary
from bot.features.merges.view import Entry
from bot.platform.models.packing import Coverage
from bot.platform.pulls.models import Account
from impact.history.outcomes import OutcomeKind
from impact.repository import Repository
from impact.source.models import DiffSide
from tests.helpers.builders import digest, entry, failed, pull, summary

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


# a few texts for all fields: to draw one for each takes longer than to render it and to look at the message
_pools = st.lists(texts(700), min_size=6, max_size=10).map(tuple)
_types, _coverages = st.sampled_from(ChangeType), st.sampled_from(Coverage)
_areas = st.sampled_from(["Models", "LoRA", "Documentation", ""])
_points, _costs = st.floats(-6, 25), st.none() | st.floats(0, 2)
_statuses, _certainties = st.sampled_from(FindingStatus), st.sampled_from(Certainty)
_advices, _sides = st.sampled_from(FindingAdvice), st.sampled_from(DiffSide)
_fates = st.tuples(st.sampled_from(OutcomeKind), st.booleans())


class _Writer:
    """Draws what stands in the fields of a day from a few hostile texts."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._texts = st.sampled_from(draw(_pools))

    def text(self, limit: int) -> str:
        return self._draw(self._texts)[:limit]

    def line(self, limit: int) -> str:
        """With something to see in it, as the model's answers are checked to have."""
        return f"x{self.text(limit - 1)}"

    def count(self, least: int, most: int) -> range:
        return range(self._draw(st.integers(least, most)))

    def is_so(self) -> bool:
        return self._draw(st.booleans())

    def account(self) -> Account:
        return Account(self.text(39), self.is_so())

    def summary(self) -> Summary:
        return summary(
            type=self._draw(_types),
            headline=self.text(120),
            action=self.text(240),
            risk_reason=self.text(240),
            coverage=self._draw(_coverages),
            fallback=failed(self.line(200)) if self.is_so() else None,
        )

    def finding(self) -> BugFinding:
        status = self._draw(_statuses)
        proof = Evidence(self.line(200), self.line(400), self._draw(_sides), 7)
        return BugFinding(
            consequence=self.line(300),
            trigger=self.line(300),
            affected=self.text(160),
            status=status,
            certainty=self._draw(_certainties),
            advice=self._draw(_advices),
            evidence=proof if status is FindingStatus.CONFIRMED or self.is_so() else None,
        )

    def review(self) -> BugReview | None:
        findings = tuple(self.finding() for _ in self.count(0, 3))
        return BugReview(findings, len(self.count(0, 3))) if self.is_so() else None

    def entry(self, number: int) -> Entry:
        """An entry as hostile as GitHub and the model's schema let it be."""
        made = entry(
            number,
            entry_summary=self.summary(),
            title=self.text(256),
            author=self.account(),
            merged_by=self.account(),
        )
        reasons = tuple(self.line(120) for _ in self.count(1, 6))  # points have a reason
        area = self._draw(_areas) or self.line(80)
        risk = Risk(self._draw(_points), reasons)
        return replace(made, risk=risk, area=area, cost=self._draw(_costs), review=self.review())

    def overview(self) -> Overview:
        return Overview(self.text(600), fallback=failed(self.text(400)) if self.is_so() else None)

    def digest(self, most: int) -> Digest:
        numbers = [place + 1 for place in reversed(self.count(0, most))]
        made = digest(*map(self.entry, numbers), overview=self.overview())
        merge_outcomes = [
            MergeOutcome(each.pull, made.entries[0].pull, *self._draw(_fates)) for each in made.entries[1:3]
        ]
        coverage = ReviewCoverage(len(numbers), len(self.count(0, most)), self.text(200))
        outcomes = tuple(merge_outcomes) if self.is_so() else ()
        return replace(made, outcomes=outcomes, name=self.text(100), review_coverage=coverage)


@st.composite
def entries(draw: st.DrawFn, number: int) -> Entry:
    """An entry as hostile as GitHub and the model's schema let it be."""
    return _Writer(draw).entry(number)


@st.composite
def digests(draw: st.DrawFn, most: int = 6) -> Digest:
    return _Writer(draw).digest(most)


WORST = {
    "long words": "W" * 700,
    "many numbers": "#1 #2 #3 " * 80,
    "styles": "`a` **b** " * 70,
    "mentions": "<!channel> @here " * 42,
    "wide signs": "😀" * 700,
    "blanks": "a " * 350,
}


def full_review(text: str, *, path: str = "d" * 200) -> BugReview:
    proof = Evidence(path, text[:400], DiffSide.NEW, 999_999)
    status, certainty, advice = FindingStatus.CONFIRMED, Certainty.MEDIUM, FindingAdvice.ADAPT
    longest = BugFinding(text[:300], text[:300], text[:160], status, certainty, advice, proof)
    return BugReview((longest,) * 12, 12)


@cache
def full_day(count: int, text: str, *, trivial: bool = False, is_reviewed: bool = False) -> Digest:
    numbers = range(100_000 + count, 100_000, -1)
    kind = ChangeType.TRIVIAL if trivial else ChangeType.SUBSTANTIAL
    model_summary = summary(type=kind, headline=text[:120], action=text[:240], risk_reason=text[:240])
    login = Account(text[:39])
    risk, review = Risk(20, (text[:120],) * 6), full_review(text) if is_reviewed else None
    # not by ``entry``: that would rate each title first
    listed = [
        Entry(
            pull(number, title=text[:256], author=login, merged_by=login),
            model_summary,
            risk,
            f"{text[:60]} {number % 9}",
            review=review,
        )
        for number in numbers
    ]
    coverage = ReviewCoverage(count, count // 2, text[:200]) if is_reviewed else NO_REVIEWS
    overview = Overview(text[:600], fallback=failed(text))
    return digest(*listed, overview=overview, review_coverage=coverage)


# GitHub's longest: 39 characters of an owner, 100 of a name
LONGEST = Repository("o" * 39, "n" * 100)
# references that all link, as an injected model may write them: an address is far longer than its number
NUMBERS = "#100001 #100002 " * 60


def elsewhere(day_digest: Digest, repository: Repository) -> Digest:
    """The same day of another repository."""
    moved = (replace(made, pull=replace(made.pull, repository=repository)) for made in day_digest.entries)
    return replace(day_digest, repository=repository, name=repository.name, entries=tuple(moved))
