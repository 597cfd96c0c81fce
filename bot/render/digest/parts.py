"""Parts that several messages about days have in common. ``urls`` maps the numbers that become links in prose."""

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
    """Return the addresses of the day's pull requests by number; only these numbers ever become links."""
    return {entry.number: entry.pull.url for entry in digest.entries}


def reverted(outcomes: Iterable[TakenBack], older: Iterable[PullRequest], elsewhere: str = "") -> Iterator[Block]:
    """Yield the list of what was reverted or repaired.

    ``older`` are reverts of unknown changes. ``elsewhere`` says where the rest of a long list is.
    """
    items = [pair(outcome) for outcome in outcomes]
    items += [[*named(pull), text(", which takes back an earlier change")] for pull in older]
    if len(items) > _MOST_REVERTS:
        rest = len(items) - _MOST_REVERTS + 1
        items[_MOST_REVERTS - 1 :] = [[text(f"and {rest} more{elsewhere}")]]
    if items:
        yield block(section([text("Already reverted or repaired", bold=True)]), bullets(items))


def pair(outcome: TakenBack) -> list[Element]:
    """Return what was reverted or repaired, after how long and by what.

    The title of a revert is left out, since it would only repeat that of the change.
    """
    undone_by = (
        named(outcome.by) if outcome.fate is not Fate.REVERTED else [link(outcome.by.url, f"#{outcome.by.number}")]
    )
    return [*named(outcome.pull), text(f", {outcome.fate} after {duration(outcome.lasted)} by "), *undone_by]


def duration(elapsed: timedelta) -> str:
    """Format how long a change stood, for people: ``40 minutes``, ``1.4 h``, ``12 days``."""
    minutes = max(1, round(elapsed / timedelta(minutes=1)))
    if minutes < 60:
        return plural(minutes, "minute")
    return f"{minutes / 60:.1f} h" if minutes < 47.9 * 60 else plural(round(minutes / 60 / 24), "day")


def risky(digest: Digest, urls: Mapping[int, str]) -> Iterator[Block]:
    """Yield what deserves a second look, or that nothing does."""
    if digest.riskiest:
        title = second_look_title(is_sparing=digest.is_sparing)
        yield block(section(title), bullets(second_look(entry, urls) for entry in digest.riskiest))
    elif digest.entries:
        yield block(section([text("Nothing stands out for a second look.")]))


def second_look(entry: Entry, urls: Mapping[int, str], limit: int = 240) -> list[Element]:
    """Return an entry with its band, the reasons of the rules and the model's, if a quote proved it.

    Each of the two texts has up to ``limit`` characters.
    """
    reasons = shorten("; ".join(entry.risk.reasons[:3]), limit) or "no rule speaks against it"
    claim = entry.summary.risk_reason
    claim_elements = [text(". "), *prose(claim, urls, limit)] if claim else []
    return [*named(entry.pull), text(f", {band(entry.risk)}: {reasons}"), *lands_again(entry), *claim_elements]


def lands_again(entry: Entry) -> list[Element]:
    """Return the earlier attempts of a change, the last ones, each with what reverted it."""
    elements: list[Element] = []
    for each in entry.risk.tries[-_MOST_TRIES:]:
        elements += [text(", " if elements else "; lands again "), _numbered(entry.pull, each.number)]
        if each.reverted_by:
            elements += [text(" (reverted by "), _numbered(entry.pull, each.reverted_by), text(")")]
    return elements


def _numbered(pull: PullRequest, number: int) -> Element:
    """Return a number as a link to that pull request of the same repository."""
    return link(pull.sibling_url(number), f"#{number}")


def second_look_title(*, is_sparing: bool) -> list[Element]:
    """Return the title of the list, with what is known about such lists."""
    note = _SPARING if is_sparing else MEASURED
    return [text("Worth a second look", bold=True), text(f" ({note})", italic=True)]


def band(risk: Risk) -> str:
    """Format the band, such as ``highest band``, and whether it was assessed without the history of the files."""
    return f"{risk.band.label} band{' without history' if risk.without_history else ''}"


def actions(digest: Digest, urls: Mapping[int, str]) -> Iterator[Block]:
    """Yield what readers may have to do."""
    own_urls = addresses(digest)
    first, rest = digest.actions[:_MOST_ACTIONS], digest.actions[_MOST_ACTIONS:]
    items = [
        [*prose(action.text, urls, 240), text(" ("), link(own_urls[action.number], f"#{action.number}"), text(")")]
        for action in first
    ]
    if rest:
        items.append([text(f"and {len(rest)} more: "), *numbers([action.number for action in rest], urls)])
    if items:
        yield block(section([text("May need action", bold=True)]), bullets(items))


def coverage_line(digest: Digest) -> Iterator[Block]:
    """Yield how complete the digest is."""
    line = coverage(digest)
    if line:
        yield context(line)


def named(pull: PullRequest) -> list[Element]:
    """Return a pull request as a link and its title."""
    return [link(pull.url, f"#{pull.number}"), text(f" {shorten(one_line(pull.title), _TITLE)}")]


def numbers(values: Sequence[int], urls: Mapping[int, str]) -> list[Element]:
    """Return numbers in a row, as links if they have an address."""
    elements: list[Element] = []
    for number in values[:_MOST_NUMBERS]:
        elements += [text(", ")] if elements else []
        elements.append(link(urls[number], f"#{number}") if number in urls else text(f"#{number}"))
    rest = len(values) - _MOST_NUMBERS
    return [*elements, text(f" and {rest} more")] if rest > 0 else elements
