"""Parts that several messages about days have in common; ``urls`` maps the numbers that become links in prose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from bot.domain.digest.models import Digest, Entry
from bot.domain.history.outcomes import MergeOutcome, OutcomeKind
from bot.domain.pull_requests.models import PullRequest
from bot.domain.text.strings import collapse_lines, truncate_text
from bot.render.blocks.rich_text import (
    Block,
    Element,
    make_block,
    make_bullets,
    make_context,
    make_link,
    make_prose,
    make_section,
    make_text,
)
from bot.render.digest import sentences
from bot.render.digest.coverage import format_coverage

_MAX_ACTIONS = 5
_MAX_REVERTS = 8
_MAX_NUMBERS = 12
_MAX_ATTEMPTS = 5
_MAX_TITLE_LENGTH = 90


def collect_urls(digest: Digest) -> dict[int, str]:
    """Return the addresses of the day's pull requests by number; only these numbers ever become links."""
    return {entry.number: entry.pull.url for entry in digest.entries}


def render_outcomes(
    outcomes: Iterable[MergeOutcome], older: Iterable[PullRequest], elsewhere: str = ""
) -> Iterator[Block]:
    """Yield the list of what was reverted or repaired.

    ``older`` are reverts of unknown changes. ``elsewhere`` says where the rest of a long list is.
    """
    items = [render_outcome(outcome) for outcome in outcomes]
    items += [[*render_reference(pull), make_text(sentences.TAKES_BACK_EARLIER)] for pull in older]
    if len(items) > _MAX_REVERTS:
        more = sentences.format_more(len(items) - _MAX_REVERTS + 1, elsewhere)
        items[_MAX_REVERTS - 1 :] = [[make_text(more)]]
    if items:
        yield make_block(make_section([make_text(sentences.OUTCOMES_TITLE, bold=True)]), make_bullets(items))


def render_outcome(outcome: MergeOutcome) -> list[Element]:
    """Return what was reverted or repaired, after how long and by what.

    The title of a revert is left out, since it would only repeat that of the change.
    """
    undone_by = (
        render_reference(outcome.by)
        if outcome.kind is not OutcomeKind.REVERTED
        else [make_link(outcome.by.url, f"#{outcome.by.number}")]
    )
    return [
        *render_reference(outcome.pull),
        make_text(f", {sentences.format_outcome(outcome)} "),
        *undone_by,
    ]


def render_risky_changes(digest: Digest, urls: Mapping[int, str]) -> Iterator[Block]:
    """Yield what deserves a second look, or that nothing does."""
    if digest.riskiest_entries:
        title = render_second_look_title(is_reduced=digest.is_reduced)
        yield make_block(
            make_section(title), make_bullets(render_second_look(entry, urls) for entry in digest.riskiest_entries)
        )
    elif digest.entries:
        yield make_block(make_section([make_text(sentences.NOTHING_STANDS_OUT)]))


def render_second_look(entry: Entry, urls: Mapping[int, str], limit: int = 240) -> list[Element]:
    """Return an entry with its band, the reasons of the rules and the model's, if a quote proved it.

    Each of the two texts has up to ``limit`` characters.
    """
    reasons = truncate_text("; ".join(entry.risk.reasons[:3]), limit) or sentences.NO_REASON
    claim = entry.summary.risk_reason
    claim_elements = [make_text(". "), *make_prose(claim, urls, limit)] if claim else []
    return [
        *render_reference(entry.pull),
        make_text(f", {sentences.format_band(entry.risk)}: {reasons}"),
        *render_attempts(entry),
        *claim_elements,
    ]


def render_attempts(entry: Entry) -> list[Element]:
    """Return the earlier attempts of a change, the last ones, each with what reverted it."""
    elements: list[Element] = []
    for each in entry.risk.tries[-_MAX_ATTEMPTS:]:
        before = ", " if elements else sentences.LANDS_AGAIN
        elements += [make_text(before), _link_number(entry.pull, each.number)]
        if each.reverted_by:
            number = _link_number(entry.pull, each.reverted_by)
            elements += [make_text(sentences.REVERTED_BY), number, make_text(sentences.REVERTED_BY_END)]
    return elements


def _link_number(pull: PullRequest, number: int) -> Element:
    """Return a number as a link to that pull request of the same repository."""
    return make_link(pull.build_sibling_url(number), f"#{number}")


def render_second_look_title(*, is_reduced: bool) -> list[Element]:
    """Return the title of the list, with what is known about such lists."""
    note = sentences.REDUCED_LIST_NOTE if is_reduced else sentences.MEASUREMENT_NOTE
    return [make_text(sentences.SECOND_LOOK_TITLE, bold=True), make_text(f" ({note})", italic=True)]


def render_actions(digest: Digest, urls: Mapping[int, str]) -> Iterator[Block]:
    """Yield what readers may have to do."""
    own_urls = collect_urls(digest)
    first, rest = digest.actions[:_MAX_ACTIONS], digest.actions[_MAX_ACTIONS:]
    items = [
        [
            *make_prose(action.text, urls, 240),
            make_text(" ("),
            make_link(own_urls[action.number], f"#{action.number}"),
            make_text(")"),
        ]
        for action in first
    ]
    if rest:
        numbers = render_numbers([action.number for action in rest], urls)
        items.append([make_text(sentences.format_more_actions(len(rest))), *numbers])
    if items:
        yield make_block(make_section([make_text(sentences.ACTIONS_TITLE, bold=True)]), make_bullets(items))


def render_coverage(digest: Digest) -> Iterator[Block]:
    """Yield how complete the digest is."""
    line = format_coverage(digest)
    if line:
        yield make_context(line)


def render_reference(pull: PullRequest) -> list[Element]:
    """Return a pull request as a link and its title."""
    return [
        make_link(pull.url, f"#{pull.number}"),
        make_text(f" {truncate_text(collapse_lines(pull.title), _MAX_TITLE_LENGTH)}"),
    ]


def render_numbers(values: Sequence[int], urls: Mapping[int, str]) -> list[Element]:
    """Return numbers in a row, as links if they have an address."""
    elements: list[Element] = []
    for number in values[:_MAX_NUMBERS]:
        elements += [make_text(", ")] if elements else []
        elements.append(make_link(urls[number], f"#{number}") if number in urls else make_text(f"#{number}"))
    rest = len(values) - _MAX_NUMBERS
    return [*elements, make_text(f" {sentences.format_more(rest)}")] if rest > 0 else elements
