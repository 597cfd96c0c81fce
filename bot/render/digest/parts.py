"""Parts that several messages about days have in common. ``known`` are the numbers that become links in prose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta

from bot.domain.digest.models import Digest, Entry
from bot.domain.history.outcomes import Fate, TakenBack
from bot.domain.pull_requests.models import PullRequest
from bot.domain.risk.assessment import Risk
from bot.domain.text.strings import one_line, plural, shorten
from bot.render.blocks.rich_text import Block, Element, block, bullets, context, link, prose, section, text
from bot.render.digest.coverage import coverage

_MOST_ACTIONS = 5
_MOST_REVERTS = 8
_MOST_NUMBERS = 12
_MOST_TRIES = 5
_TITLE = 90
# of the listed pull requests and of all, on vLLM's merges of October to December 2025
MEASURED = "of such changes 23 % needed a repair within two weeks, of all 7 %; measured on vLLM, 2025"

_SPARING = "the highest band alone: lists found no more here than chance would, see /prrisks score"


def addresses(digest: Digest) -> dict[int, str]:
    """Addresses of the day's pull requests; only these numbers ever become links."""
    return {entry.number: entry.pull.url for entry in digest.entries}


def reverted(outcomes: Iterable[TakenBack], older: Iterable[PullRequest], elsewhere: str = "") -> Iterator[Block]:
    """What was taken back; ``older`` take back what nobody knows here. ``elsewhere`` says where the rest is."""
    items = [pair(found) for found in outcomes]
    items += [[*named(pull), text(", which takes back an earlier change")] for pull in older]
    if len(items) > _MOST_REVERTS:
        rest = len(items) - _MOST_REVERTS + 1
        items[_MOST_REVERTS - 1 :] = [[text(f"and {rest} more{elsewhere}")]]
    if items:
        yield block(section([text("Already reverted or repaired", bold=True)]), bullets(items))


def pair(found: TakenBack) -> list[Element]:
    """What was taken back, after how long and by what; the title of a revert only says the same again."""
    by = named(found.by) if found.fate is not Fate.REVERTED else [link(found.by.url, f"#{found.by.number}")]
    return [*named(found.pull), text(f", {found.fate} after {duration(found.lasted)} by "), *by]


def duration(lasted: timedelta) -> str:
    """For people: ``40 minutes``, ``1.4 h``, ``12 days``."""
    minutes = max(1, round(lasted / timedelta(minutes=1)))
    if minutes < 60:
        return plural(minutes, "minute")
    return f"{minutes / 60:.1f} h" if minutes < 47.9 * 60 else plural(round(minutes / 60 / 24), "day")


def risky(digest: Digest, known: Mapping[int, str]) -> Iterator[Block]:
    """What deserves a second look, or that nothing does."""
    if digest.riskiest:
        title = second_look_title(is_sparing=digest.is_sparing)
        yield block(section(title), bullets(second_look(entry, known) for entry in digest.riskiest))
    elif digest.entries:
        yield block(section([text("Nothing stands out for a second look.")]))


def second_look(entry: Entry, known: Mapping[int, str], limit: int = 240) -> list[Element]:
    """Its band, the reasons of the rules and, if a quote proved it, of the model, each up to ``limit``."""
    reasons = shorten("; ".join(entry.risk.reasons[:3]), limit) or "no rule speaks against it"
    claim = entry.summary.risk_reason
    said = [text(". "), *prose(claim, known, limit)] if claim else []
    return [*named(entry.pull), text(f", {band(entry.risk)}: {reasons}"), *lands_again(entry), *said]


def lands_again(entry: Entry) -> list[Element]:
    """The history of a change that was taken back before: the last tries, with what took each back."""
    found: list[Element] = []
    for each in entry.risk.tries[-_MOST_TRIES:]:
        found += [text(", " if found else "; lands again "), _numbered(entry.pull, each.number)]
        if each.reverted_by:
            found += [text(" (reverted by "), _numbered(entry.pull, each.reverted_by), text(")")]
    return found


def _numbered(pull: PullRequest, number: int) -> Element:
    return link(pull.sibling_url(number), f"#{number}")


def second_look_title(*, is_sparing: bool) -> list[Element]:
    """The title of the list, with what is known of such lists."""
    found = _SPARING if is_sparing else MEASURED
    return [text("Worth a second look", bold=True), text(f" ({found})", italic=True)]


def band(risk: Risk) -> str:
    """``highest band``; it says so where nothing is known of what happened to the files before."""
    return f"{risk.band.label} band{' without history' if risk.without_history else ''}"


def actions(digest: Digest, known: Mapping[int, str]) -> Iterator[Block]:
    """What readers may have to do."""
    places = addresses(digest)
    shown, hidden = digest.actions[:_MOST_ACTIONS], digest.actions[_MOST_ACTIONS:]
    items = [
        [*prose(action.text, known, 240), text(" ("), link(places[action.number], f"#{action.number}"), text(")")]
        for action in shown
    ]
    if hidden:
        items.append([text(f"and {len(hidden)} more: "), *numbers([action.number for action in hidden], known)])
    if items:
        yield block(section([text("May need action", bold=True)]), bullets(items))


def coverage_line(digest: Digest) -> Iterator[Block]:
    """How complete it is."""
    line = coverage(digest)
    if line:
        yield context(line)


def named(pull: PullRequest) -> list[Element]:
    """A pull request as a link and its title."""
    return [link(pull.url, f"#{pull.number}"), text(f" {shorten(one_line(pull.title), _TITLE)}")]


def numbers(wanted: Sequence[int], known: Mapping[int, str]) -> list[Element]:
    """Numbers in a row, as links where they are known."""
    found: list[Element] = []
    for number in wanted[:_MOST_NUMBERS]:
        found += [text(", ")] if found else []
        found.append(link(known[number], f"#{number}") if number in known else text(f"#{number}"))
    rest = len(wanted) - _MOST_NUMBERS
    return [*found, text(f" and {rest} more")] if rest > 0 else found
