"""Parts that several messages about days have in common; ``urls`` maps the numbers that become links in prose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.domain.digest.models import MAX_LISTED_RISKS, Digest, Entry
from bot.domain.history.pull_outcomes import MergeOutcome
from bot.domain.pull_requests.models import PullRequest
from bot.domain.text.strings import collapse_lines, truncate_text
from bot.domain.text.words import EMPTY_INDEX, SentenceIndex, normalize_sentence, truncate_words
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
from bot.render.review.findings import end_sentence, get_claim, render_trigger
from impact.history.outcomes import OutcomeKind

_MAX_TITLE_LENGTH = 90
_MAX_SHORT_TITLE_LENGTH = 60
_MAX_REASON_LENGTH = 240


@dataclass(frozen=True, slots=True)
class LineLimits:
    """How many items lists have, and how many words the parts of an item; the rest is counted.

    ``titles`` and ``outcome_titles`` are words of a title, 0 for the number alone; ``attempts`` are those that a
    second look names, ``risks`` how many second looks there are, ``numbers`` those in a row. ``claim`` is for what
    may break, ``trigger`` for the input with which it does.
    """

    claim: int = 40
    trigger: int = 25
    reasons: int = 2
    reason: int = 12
    titles: int = 10
    attempts: int = 5
    actions: int = 5
    action: int = 40
    numbers: int = 12
    outcomes: int = 8
    outcome_titles: int = 20
    risks: int = MAX_LISTED_RISKS


WIDE_LIMITS = LineLimits()


def collect_urls(digest: Digest) -> dict[int, str]:
    """Return the addresses of the day's pull requests by number; only these numbers ever become links."""
    return {entry.number: entry.pull.url for entry in digest.entries}


def render_outcomes(
    outcomes: Iterable[MergeOutcome],
    older: Iterable[PullRequest],
    elsewhere: str = "",
    limits: LineLimits = WIDE_LIMITS,
) -> Iterator[Block]:
    """Yield the list of what was reverted or repaired.

    ``older`` are reverts of unknown changes. ``elsewhere`` says where the rest of a long list is.
    """
    listed: list[MergeOutcome | PullRequest] = [*outcomes, *older]
    # the last line counts those that have none
    shown = len(listed) if len(listed) <= limits.outcomes else limits.outcomes - 1
    items = [_render_taken_back(each, limits.outcome_titles) for each in listed[:shown]]
    if shown < len(listed):
        items.append([make_text(sentences.format_more(len(listed) - shown, elsewhere))])
    if items:
        yield make_block(make_section([make_text(sentences.OUTCOMES_TITLE, bold=True)]), make_bullets(items))


def _render_taken_back(each: MergeOutcome | PullRequest, title_words: int) -> list[Element]:
    """Return the line of an outcome, or of a revert of an unknown change."""
    if isinstance(each, PullRequest):
        return [*render_reference(each, title_words), make_text(sentences.TAKES_BACK_EARLIER)]
    return render_outcome(each, title_words)


def render_outcome(outcome: MergeOutcome, title_words: int = WIDE_LIMITS.outcome_titles) -> list[Element]:
    """Return what was reverted or repaired, after how long and by what; titles have up to ``title_words``.

    The title of a revert is left out, since it would only repeat that of the change.
    """
    undone_by = (
        render_reference(outcome.by, title_words)
        if outcome.kind is not OutcomeKind.REVERTED
        else [make_link(outcome.by.url, f"#{outcome.by.number}")]
    )
    return [
        *render_reference(outcome.pull, title_words),
        make_text(f", {sentences.format_outcome(outcome)} "),
        *undone_by,
    ]


def render_risky_changes(
    digest: Digest,
    riskiest: Sequence[Entry],
    urls: Mapping[int, str],
    limits: LineLimits = WIDE_LIMITS,
    index: SentenceIndex = EMPTY_INDEX,
) -> Iterator[Block]:
    """Yield which of the ``riskiest`` entries deserve a second look, or that none does.

    ``index`` is the text above it.
    """
    entries = riskiest[: limits.risks]
    if entries:
        # what holds for all is said once
        is_new = len(entries) > 1 and all(entry.risk.without_history for entry in entries)
        title = render_second_look_title(is_reduced=digest.is_reduced, is_new=is_new)
        lines = [
            render_second_look(entry, urls, limits=limits, index=index, tells_history=not is_new)
            for entry in entries
        ]
        yield make_block(make_section(title), make_bullets(lines))
    elif digest.entries:
        yield make_block(make_section([make_text(sentences.NOTHING_STANDS_OUT)]))


def render_second_look(
    entry: Entry,
    urls: Mapping[int, str],
    limit: int = _MAX_REASON_LENGTH,
    *,
    limits: LineLimits = WIDE_LIMITS,
    index: SentenceIndex = EMPTY_INDEX,
    tells_history: bool = True,
) -> list[Element]:
    """Return an entry with what may break, the mark of its band, and the reasons of the rules in a few words.

    What may break is the strongest finding of the second reading with its trigger, else the claim of the summary,
    if a quote proved it; what ``index`` has already is left out. Without either the reasons come first. Each text
    has up to ``limit`` characters. With ``tells_history`` a missing history of the files is named.
    """
    may_break = _render_what_may_break(entry, urls, limit, limits, index)
    reasons = _format_reasons(entry, limit, limits)
    band = make_text(sentences.format_band(entry.risk, tells_history=tells_history))
    linked, attempts = _render_linked_title(entry.pull, limits.titles), render_attempts(entry, limits.attempts)
    if not may_break:
        reason = make_text(f"{sentences.SAID_OF}{reasons or sentences.NO_REASON}")
        return [linked, reason, *attempts, make_text(". "), band]
    after = [make_text(": "), make_text(reasons, italic=True)] if reasons else []
    return [linked, make_text(sentences.SAID_OF), *may_break, band, *after, *attempts]


def _render_what_may_break(
    entry: Entry, urls: Mapping[int, str], limit: int, limits: LineLimits, index: SentenceIndex
) -> list[Element]:
    """Return what may break, and of a finding when it does and what to do; nothing if neither is known."""
    claim, finding = get_claim(entry), entry.strongest_finding
    is_said = index.has_words(normalize_sentence(claim))
    prose = [] if is_said else make_prose(truncate_words(claim, limits.claim), urls, limit)
    trigger = render_trigger(entry.pull, finding, urls, limits.trigger, limit) if finding else []
    return [*end_sentence(prose), *trigger]


def _format_reasons(entry: Entry, limit: int, limits: LineLimits) -> str:
    """Format the first reasons in a few words each."""
    reasons = (truncate_words(reason, limits.reason) for reason in entry.risk.short_reasons[: limits.reasons])
    return truncate_text("; ".join(reasons), limit)


def _render_linked_title(pull: PullRequest, title_words: int) -> Element:
    """Return a link that is the number and the shortened title."""
    title = _shorten_title(pull, _MAX_SHORT_TITLE_LENGTH, title_words)
    return make_link(pull.url, f"#{pull.number} {title}".rstrip(), bold=True)


def _shorten_title(pull: PullRequest, length: int, title_words: int) -> str:
    """Return a title of up to ``length`` characters and ``title_words``; empty for 0 words."""
    if not title_words:
        return ""
    return truncate_words(truncate_text(collapse_lines(pull.title), length), title_words)


def render_attempts(entry: Entry, most: int = WIDE_LIMITS.attempts) -> list[Element]:
    """Return the last attempts of a change, at most ``most``, each with what reverted it."""
    elements: list[Element] = []
    for each in entry.risk.tries[-most:] if most else ():
        before = ", " if elements else sentences.LANDS_AGAIN
        elements += [make_text(before), _link_number(entry.pull, each.number)]
        if each.reverted_by:
            number = _link_number(entry.pull, each.reverted_by)
            elements += [make_text(sentences.REVERTED_BY), number, make_text(sentences.REVERTED_BY_END)]
    return elements


def _link_number(pull: PullRequest, number: int) -> Element:
    """Return a number as a link to that pull request of the same repository."""
    return make_link(pull.build_sibling_url(number), f"#{number}")


def render_second_look_title(*, is_reduced: bool, is_new: bool = False) -> list[Element]:
    """Return the title of the list: of a reduced one with the reason, of new files that they have no history."""
    notes = [sentences.REDUCED_LIST_NOTE] if is_reduced else []
    notes += [sentences.NO_HISTORY] if is_new else []
    title = [make_text(sentences.SECOND_LOOK_TITLE, bold=True)]
    return [*title, make_text(f" ({'; '.join(notes)})", italic=True)] if notes else title


@dataclass(frozen=True, slots=True)
class ActionGroup:
    """What readers may have to do, with the numbers of those that require it; ``words`` are its words alone."""

    text: str
    words: str
    numbers: tuple[int, ...]


def group_actions(digest: Digest) -> tuple[ActionGroup, ...]:
    """Return each action of a digest once, without those that the line of a risk says already."""
    claims = {entry.number: normalize_sentence(get_claim(entry)) for entry in digest.riskiest_entries}
    grouped: dict[str, tuple[str, str, list[int]]] = {}
    for action in digest.actions:
        words = normalize_sentence(action.text)
        if collapse_lines(action.text) and claims.get(action.number) != (words or action.text):
            grouped.setdefault(words or action.text, (action.text, words, []))[2].append(action.number)
    return tuple(ActionGroup(text, words, tuple(numbers)) for text, words, numbers in grouped.values())


def render_actions(
    groups: Iterable[ActionGroup],
    own_urls: Mapping[int, str],
    urls: Mapping[int, str],
    limits: LineLimits = WIDE_LIMITS,
    index: SentenceIndex = EMPTY_INDEX,
) -> Iterator[Block]:
    """Yield what readers may have to do, without what ``index`` says. ``own_urls`` are those of the day."""
    actions = [group for group in groups if not index.has_words(group.words)]
    first, rest = actions[: limits.actions], actions[limits.actions :]
    items = [
        [
            *make_prose(truncate_words(collapse_lines(action.text), limits.action), urls, 240),
            make_text(" ("),
            *render_numbers(action.numbers, own_urls, limits.numbers),
            make_text(")"),
        ]
        for action in first
    ]
    if rest:
        others = [number for action in rest for number in action.numbers]
        linked = render_numbers(others, urls, limits.numbers)
        items.append([make_text(sentences.format_more_actions(len(rest))), *linked])
    if items:
        yield make_block(make_section([make_text(sentences.ACTIONS_TITLE, bold=True)]), make_bullets(items))


def render_coverage(digest: Digest) -> Iterator[Block]:
    """Yield how complete the digest is."""
    line = format_coverage(digest)
    if line:
        yield make_context(line)


def render_reference(pull: PullRequest, title_words: int = WIDE_LIMITS.outcome_titles) -> list[Element]:
    """Return a pull request as a link and its title of up to ``title_words``."""
    title = _shorten_title(pull, _MAX_TITLE_LENGTH, title_words)
    return [make_link(pull.url, f"#{pull.number}"), make_text(f" {title}".rstrip() or " ")]


def render_numbers(
    values: Sequence[int], urls: Mapping[int, str], most: int = WIDE_LIMITS.numbers
) -> list[Element]:
    """Return up to ``most`` numbers in a row, as links if they have an address, and how many more there are."""
    elements: list[Element] = []
    for number in values[:most]:
        elements += [make_text(", ")] if elements else []
        elements.append(make_link(urls[number], f"#{number}") if number in urls else make_text(f"#{number}"))
    rest = len(values) - most
    return [*elements, make_text(f" {sentences.format_more(rest)}")] if rest > 0 else elements
