"""The message in the channel: of one day what a minute on a phone allows, of several a line for each day.

What is in the lead of a day, and in which order: docs/decisions/0010-what-is-in-the-lead.md.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from operator import itemgetter
from typing import Any

from bot.features.digest.rules import Digest, MultiDayDigest, format_numbers
from bot.features.digest.thread import collect_urls
from bot.features.merges.entry import Entry
from bot.features.merges.summary import describe_fallback, is_for_budget
from bot.features.merges.view import (
    WIDE_LIMITS,
    LineLimits,
    format_more,
    get_claim,
    make_list,
    render_numbers,
    render_outcomes,
    render_second_look,
    render_second_look_title,
)
from bot.features.touches.lines import WIDE_TOUCHES, HitContext, TouchLimits, render_news_line, render_touches
from bot.platform.models.packing import Coverage
from bot.platform.slack.blocks import (
    MAX_LEAD_WORDS,
    Block,
    Element,
    choose_fitting_blocks,
    count_words,
    escape_mrkdwn,
    make_block,
    make_bullets,
    make_context,
    make_header,
    make_prose,
    make_section,
    make_text,
)
from bot.platform.slack.messages import Post
from bot.text import EMPTY_INDEX, SentenceIndex, normalize_sentence, truncate_to_sentences, truncate_words
from impact.text.strings import collapse_lines, truncate_text

_MAX_OVERVIEW_LENGTH = 700
_MAX_HEADLINE_WORDS = 24
_LEAST_OVERVIEW_WITH_NEWS = 20


# --- of a day


@dataclass(frozen=True, slots=True)
class _LeadLimits(LineLimits):
    """How many words the paragraphs of a lead have, besides the limits of its lists."""

    overview: int = 90
    note: int = 30
    coverage: int = 60
    touches: TouchLimits = WIDE_TOUCHES


# from the widest version to the narrowest: what a reader misses least is shortened first
_WIDE_STEPS: tuple[dict[str, Any], ...] = (
    {"overview": 65},
    {"overview": 45},
    {"actions": 3},
    {"titles": 6, "attempts": 2, "outcome_titles": 10},
    {"reasons": 1},
    {"overview": 30},
    {"titles": 0},
    {"outcomes": 4, "outcome_titles": 6, "action": 20},
    {"actions": 2, "claim": 25, "trigger": 20},
)
_SHORT = {"outcomes": 3, "outcome_titles": 4, "claim": 16, "trigger": 12, "action": 14, "reason": 6, "attempts": 1}
_SHORT |= {"note": 20, "coverage": 45}
_TIGHT = {"outcomes": 2, "outcome_titles": 3, "claim": 8, "trigger": 6, "action": 6, "reason": 4, "numbers": 5}
_TIGHT |= {"overview": 12, "note": 8, "coverage": 30}
_LEAST = {"outcomes": 1, "numbers": 3, "overview": 6, "note": 6, "coverage": 20}
_STEPS: tuple[dict[str, Any], ...] = (
    *_WIDE_STEPS,
    _SHORT,
    # a day of which each text has as many words as it can
    _TIGHT,
    # the same of a day that was reviewed, and that lands changes again
    {"claim": 6, "trigger": 4, "attempts": 0},
    # and of one that was checked for a team
    {**_LEAST, "actions": 1},
)
# of a day that touches the readers' own code: that is what they read it for
_STEPS_WITH_HITS: tuple[dict[str, Any], ...] = (
    *_WIDE_STEPS,
    {"actions": 1, "risks": 2, "overview": 20},
    _SHORT,
    {"risks": 1, "overview": 12, "touches": TouchLimits(code=5, action=12)},
    {**_TIGHT, "touches": TouchLimits(code=0, reason=8, action=8)},
    {**_LEAST, "claim": 6, "trigger": 4, "attempts": 0, "touches": TouchLimits(2, code=0, reason=8, action=6)},
    {"touches": TouchLimits(1, code=0, reason=0, action=0)},
)


def _build_versions(steps: Iterable[dict[str, Any]]) -> tuple[_LeadLimits, ...]:
    return tuple(accumulate(steps, lambda limits, step: replace(limits, **step), initial=_LeadLimits()))


_VERSIONS, _VERSIONS_WITH_HITS = _build_versions(_STEPS), _build_versions(_STEPS_WITH_HITS)


def render_lead(digest: Digest) -> Post:
    """Render the message in the channel: at most 220 words and 10 blocks, however busy the day was."""
    date = f"{digest.day.date:%A} {digest.day.date.day} {digest.day.date:%B %Y}"
    headline = collapse_lines(_format_title(digest, digest.name, date))
    overview = collapse_lines(digest.overview.text)
    # a busy day has a dozen versions, which choose from these
    outcomes, older, riskiest = digest.standing_outcomes, digest.older_reverts, digest.riskiest_entries
    actions, own_urls = _group_actions(digest), collect_urls(digest)
    coverage = collapse_lines(format_coverage(digest))
    context = HitContext.build((entry.pull for entry in digest.entries), digest.outcomes)

    def build(limits: _LeadLimits, urls: Mapping[int, str]) -> list[Block]:
        text = truncate_to_sentences(overview, limits.overview)
        index = SentenceIndex.build(text)
        blocks = [make_header(truncate_words(headline, _MAX_HEADLINE_WORDS))]
        if digest.touches:
            blocks += render_touches(digest.touches, context, limits.touches, ", in the thread")
        news = render_news_line(digest.deprecations, ", in the thread")
        # a day too full for that has it in the thread
        if news and limits.overview >= _LEAST_OVERVIEW_WITH_NEWS:
            blocks.append(news)
        blocks += _render_overview(digest, text, urls, limits)
        blocks += render_outcomes(outcomes, older, ", in the thread", limits)
        blocks += _render_risky_changes(digest, riskiest, urls, limits, index)
        blocks += _render_actions(actions, own_urls, urls, limits, index)
        line = truncate_words(coverage, limits.coverage)
        return [*blocks, make_context(line)] if line else blocks

    versions = _VERSIONS_WITH_HITS if digest.touches and not digest.touches.touching.is_empty else _VERSIONS
    fitting = (limits for limits in versions if count_words(build(limits, {})) <= MAX_LEAD_WORDS)
    limits = next(fitting, versions[-1])
    # links in prose are left out where they would not fit; every pull request that is listed keeps its own
    blocks = choose_fitting_blocks(build(limits, urls) for urls in (own_urls, {}))
    # what a phone's notification shows and a screen reader reads instead of the blocks
    text = f"{headline}. {digest.overview.text}" if digest.entries and digest.overview.text else headline
    return Post(escape_mrkdwn(truncate_text(collapse_lines(text), 800)), tuple(blocks))


def _render_overview(digest: Digest, text: str, urls: Mapping[int, str], limits: _LeadLimits) -> Iterator[Block]:
    fallback = digest.overview.fallback
    paragraphs = [make_section(make_prose(text, urls, _MAX_OVERVIEW_LENGTH))] if text else []
    if fallback:
        # if the budget runs short, the overview is dropped before the summaries
        is_alone = len(digest.fallback_entries) == len(digest.entries) or not is_for_budget(fallback)
        reason = truncate_words(collapse_lines(fallback.clause), limits.note)
        part = "digest" if is_alone else "paragraph"
        note = collapse_lines(f"Without the model ({reason}): this {part} contains only facts.")
        below = "\n" if paragraphs else ""
        paragraphs.append(make_section([make_text(below + truncate_text(note, 300), italic=True)]))
    if digest.entries and paragraphs:
        yield make_block(*paragraphs)


def _format_title(digest: Digest, name: str, days: str) -> str:
    """Format name, days and count, such as ``vLLM · Saturday 28 February 2026 (Asia/Tokyo) · 18 merged``."""
    zone = f" ({digest.day.zone})" if digest.shows_zone else ""
    return f"{name} · {days}{zone} · {_format_merge_count(digest)}"


def _format_merge_count(digest: Digest) -> str:
    """Format ``18 merged`` or ``nothing merged``; ``4 of 18 merged`` if a view hides some."""
    if not digest.merged_count:
        return "nothing merged"
    return f"{f'{len(digest.entries)} of ' if digest.view else ''}{digest.merged_count:,} merged"


# --- several days, for a reader who was away


def render_catch_up(days: MultiDayDigest) -> Post:
    """Render a line for each day, then the reverts, risks and actions of all of them."""
    whole = days.combined
    available = f" · {len(days.digests)} of {len(days.span)} days available" if days.unknown_days else ""
    title = _format_title(whole, truncate_text(collapse_lines(days.name), 60), days.span.title) + available
    own_urls = collect_urls(whole)

    def build(limit: int, *, links: bool) -> list[Block]:
        """Return the blocks; ``limit`` is in characters, for the sentences of a day."""
        urls = own_urls if links else {}
        dated = [(each.day.date, _render_day(each, limit, links=links)) for each in days.digests]
        dated += _render_unknown_days(days)
        blocks = [make_header(title)]
        if whole.touches:
            context = HitContext.build((entry.pull for entry in whole.entries), whole.outcomes)
            blocks += render_touches(whole.touches, context)
        if news := render_news_line(whole.deprecations, ", with /prdigest deprecations"):
            blocks.append(news)
        blocks.append(make_list("Day by day", (line for _, line in sorted(dated, key=itemgetter(0)))))
        blocks += render_outcomes(whole.standing_outcomes, whole.older_reverts)
        blocks += _render_risky_changes(whole, whole.riskiest_entries, urls)
        blocks += _render_actions(_group_actions(whole), own_urls, urls)
        notes = (format_coverage(whole), truncate_text(" · ".join(_list_caveats(days)), 600))
        return [*blocks, *(make_context(note) for note in notes if note)]

    # links in prose, and then words, are left out where they would not fit
    versions = ((200, True), (120, False), (60, False))
    blocks = choose_fitting_blocks(build(limit, links=links) for limit, links in versions)
    return Post(escape_mrkdwn(title), tuple(blocks))


def _render_day(digest: Digest, limit: int, *, links: bool) -> list[Element]:
    date, count = make_text(_format_short_date(digest.day.date), bold=True), _format_merge_count(digest)
    if not digest.entries or not digest.overview.text:
        return [date, make_text(f" · {count}")]
    facts = " (without the model)" if digest.overview.fallback else ""
    prose = make_prose(digest.overview.text, collect_urls(digest) if links else {}, limit)
    return [date, make_text(f" · {count}{facts}: "), *prose]


def _render_unknown_days(days: MultiDayDigest) -> Iterator[tuple[dt.date, list[Element]]]:
    """Yield a line for each run of days that have no digest for the same reason."""
    placed = enumerate(days.unknown_days)
    runs = groupby(placed, lambda each: (each[1].date.toordinal() - each[0], each[1].reason))
    for (_, reason), run in runs:
        dates = [day.date for _, day in run]
        first, last = (_format_short_date(date) for date in (dates[0], dates[-1]))
        title = first if len(dates) == 1 else f"{first} – {last}"  # noqa: RUF001 (a dash)
        yield dates[0], [make_text(title, bold=True), make_text(f" · {reason}")]


def _list_caveats(days: MultiDayDigest) -> Iterator[str]:
    dates: dict[str, list[str]] = {}
    for digest in days.digests:
        for caveat in (digest.count_caveats, *digest.missing):
            dates.setdefault(caveat, []).append(_format_short_date(digest.day.date))
    yield from (f"{', '.join(those)}: {caveat}" for caveat, those in dates.items() if caveat)


def _format_short_date(date: dt.date) -> str:
    return f"{date:%a} {date.day} {date:%b}"


# --- what both leads list


def _render_risky_changes(
    digest: Digest,
    riskiest: Sequence[Entry],
    urls: Mapping[int, str],
    limits: LineLimits = WIDE_LIMITS,
    index: SentenceIndex = EMPTY_INDEX,
) -> Iterator[Block]:
    """Yield which of the ``riskiest`` entries deserve a second look, or that none does; ``index`` is above it."""
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
        yield make_block(make_section([make_text("Nothing stands out for a second look.")]))


def _group_actions(digest: Digest) -> dict[str, tuple[str, list[int]]]:
    """Return each action of a digest once, with the numbers of those that require it, by its words alone.

    Those that the line of a risk says already are left out.
    """
    claims = {entry.number: normalize_sentence(get_claim(entry)) for entry in digest.riskiest_entries}
    grouped: dict[str, tuple[str, list[int]]] = {}
    for text, number in digest.actions:
        words = normalize_sentence(text) or text
        if collapse_lines(text) and claims.get(number) != words:
            grouped.setdefault(words, (text, []))[1].append(number)
    return grouped


def _render_actions(
    grouped: Mapping[str, tuple[str, list[int]]],
    own_urls: Mapping[int, str],
    urls: Mapping[int, str],
    limits: LineLimits = WIDE_LIMITS,
    index: SentenceIndex = EMPTY_INDEX,
) -> Iterator[Block]:
    """Yield what readers may have to do, without what ``index`` says. ``own_urls`` are those of the day."""
    actions = [action for words, action in grouped.items() if not index.has_words(words)]
    lines = [
        [
            *make_prose(truncate_words(collapse_lines(text), limits.action), urls, 240),
            make_text(" ("),
            *render_numbers(numbers, own_urls, limits.numbers),
            make_text(")"),
        ]
        for text, numbers in actions[: limits.actions]
    ]
    if rest := actions[limits.actions :]:
        others = [number for _, numbers in rest for number in numbers]
        lines.append([make_text(f"{format_more(len(rest))}: "), *render_numbers(others, urls, limits.numbers)])
    if lines:
        yield make_list("May need action", lines)


# --- how complete it is


def format_coverage(digest: Digest) -> str:
    """Format on which part of the day the digest is based, and what it cost; empty for a day without merges."""
    view = f"{len(digest.entries)} of {digest.merged_count:,} shown: {digest.view}"
    parts = [
        view if digest.view and digest.merged_count else "",
        *(_list_readings(digest) if digest.entries else ()),
        digest.count_caveats,
        *digest.missing,
    ]
    return " · ".join(filter(None, parts))


def _list_readings(digest: Digest) -> Iterator[str]:
    """Yield how many of how many were read, from what, and for how many US dollars."""
    total, failed, review = len(digest.entries), digest.fallback_entries, digest.review_coverage
    trivial = sum(entry.summary.is_trivial for entry in digest.entries)
    yield f"{total - len(failed)} of {total} read"
    yield f"{total - trivial} substantial, {trivial} trivial"
    if len(failed) < total:
        clipped = [entry.number for entry in digest.entries if entry.summary.coverage is not Coverage.FULL]
        yield f"not from full diffs: {format_numbers(clipped)}" if clipped else "all from full diffs"
    # where the budget ran short, each reason is said; of a model that failed the numbers are enough
    by_reason: dict[str, list[int]] = {"": []}
    for entry in failed:
        if not entry.summary.is_unread:
            fallback = entry.summary.fallback
            reason = f" because {describe_fallback(fallback)}" if is_for_budget(fallback) else ""
            by_reason.setdefault(reason, []).append(entry.number)
    yield from (
        f"facts only{reason}: {format_numbers(numbers)}" for reason, numbers in by_reason.items() if numbers
    )
    if is_for_budget(digest.overview.fallback):
        yield f"no overview because {describe_fallback(digest.overview.fallback)}"
    if unread := [entry.number for entry in digest.unreadable_entries]:
        yield f"could not be read: {format_numbers(unread)}"
    if review.eligible:
        stop = f" (stopped because {review.stop})" if review.stop else ""
        yield f"second reading of {review.reviewed:,} of {review.eligible:,}{stop}"
    if cached := sum(entry.from_cache for entry in digest.entries):
        yield f"{cached} from cache"
    cost = digest.cost
    if not cost:
        yield "cost unknown" if cost is None else "no model cost"
    else:
        yield f"${cost:.2f}" if cost >= 0.005 else "under $0.01"
