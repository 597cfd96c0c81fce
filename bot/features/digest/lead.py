"""The message in the channel: of one day what a minute on a phone allows, of several a line for each day.

What is in the lead of a day, and in which order: docs/decisions/0010-what-is-in-the-lead.md.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, islice
from operator import itemgetter
from typing import Any

from bot.features.digest.actions import rank_action
from bot.features.digest.rules import Digest, MultiDayDigest, OpenFinding, format_numbers
from bot.features.digest.thread import collect_urls
from bot.features.merges.requests import ViewLevel
from bot.features.merges.summary import describe_fallback, is_for_budget
from bot.features.merges.view import (
    MAX_SENTENCE,
    Entry,
    LeadLine,
    LeadRule,
    LineLimits,
    count_outcome_lines,
    format_band,
    format_more,
    get_claim,
    keep_short,
    keep_title,
    make_list,
    render_finding_line,
    render_lines,
    render_numbers,
    render_outcomes,
    render_risk,
    render_riskiest_title,
    shorten_branch,
)
from bot.features.noise.rules import MAX_LESS_WANTED
from bot.features.touches.lines import (
    MAX_LISTED,
    WIDE_TOUCHES,
    HitContext,
    TouchLimits,
    list_judges,
    make_sentence,
    render_breaking,
    render_news_line,
    render_other_news,
    render_pending,
    render_touches,
    sort_hits,
)
from bot.platform.models.packing import Coverage
from bot.platform.slack.blocks import (
    MAX_LEAD_WORDS,
    Block,
    Element,
    Post,
    choose_fitting_blocks,
    count_words,
    escape_mrkdwn,
    make_block,
    make_bullets,
    make_context,
    make_header,
    make_link,
    make_prose,
    make_section,
    make_text,
)
from bot.text import EMPTY_INDEX, SentenceIndex, keep_sentences, normalize_sentence
from impact.coverage import Coverage as ReadCoverage
from impact.history.outcomes import OutcomeKind
from impact.text.strings import collapse_lines, truncate_text

_MAX_OVERVIEW_LENGTH = 700
_MAX_NAME_WORDS, _MAX_NAME_LENGTH = 8, 60
_MAX_NOTIFICATION = 800  # characters
_LEAST_OVERVIEW_WITH_NEWS = 20
_MAX_NOTE_WORDS = 30
_MAX_NOTIFIED_REASON = 12  # words
_ELSEWHERE = ", in the thread"
_OF_DAYS = TouchLimits(hits=MAX_LISTED)


# --- of a day


@dataclass(frozen=True, slots=True)
class _LeadLimits(LineLimits):
    """How much the parts of a lead show, besides the limits of its lists: sentences are whole or left out.

    ``overview`` is in words. ``facts`` are how the day was read and what that cost; what is missing always stands.
    ``findings`` have a line, of the others the numbers stand. ``breaking`` merges have a line with ``names``, the
    others their number. ``less`` lines lose their place to others, since people of the channel chose "Less
    like …": they are rules and numbers.
    """

    overview: int = 90
    facts: bool = True
    findings: int = 5
    breaking: int = 5
    names: int = 3
    touches: TouchLimits = WIDE_TOUCHES
    less: Collection[tuple[LeadRule, int]] = ()


# from the widest version to the narrowest: what a reader misses least goes first, and nothing is ever cut
_FIRST_STEPS: tuple[dict[str, Any], ...] = (
    {"facts": False},
    {"reasons": 1},
    {"overview": 65},
    {"reasons": 0, "attempts": 2},
    {"overview": 45, "breaking": 4},
    {"actions": 3, "sentence": 40},
    {"outcomes": 5, "breaking": 3},
    {"overview": 30, "actions": 2},
    {"risks": 2},
    {"breaking": 2, "names": 2, "outcomes": 4},
    {"sentence": 25},
    {"risks": 1},
    {"actions": 1},
    {"findings": 4, "affected": 0},
)
_LAST_STEPS: tuple[dict[str, Any], ...] = (
    {"findings": 3, "overview": 15, "outcomes": 3},
    {"breaking": 1, "names": 1, "outcomes": 2, "numbers": 6, "attempts": 1, "findings": 2},
    # a day of which each text has as many words as it can
    {"sentence": 12, "overview": 0, "attempts": 0, "numbers": 3},
    {"sentence": 0, "outcomes": 1, "findings": 1},
)
_STEPS = (*_FIRST_STEPS, *_LAST_STEPS)
# of a day that touches the readers' own code: that is what they read it for
_STEPS_WITH_HITS = (
    *_FIRST_STEPS,
    {"findings": 3, "overview": 20},
    {"touches": TouchLimits(code=0, action=12)},
    *_LAST_STEPS[:2],
    {"touches": TouchLimits(code=0, reason=8, action=8)},
    {**_LAST_STEPS[2], "touches": TouchLimits(2, code=0, reason=8, action=6)},
    {**_LAST_STEPS[3], "touches": TouchLimits(1, code=0, reason=0, action=0)},
)


def _build_versions(steps: Iterable[dict[str, Any]]) -> tuple[_LeadLimits, ...]:
    return tuple(accumulate(steps, lambda limits, step: replace(limits, **step), initial=_LeadLimits()))


_VERSIONS, _VERSIONS_WITH_HITS = _build_versions(_STEPS), _build_versions(_STEPS_WITH_HITS)


def render_lead(digest: Digest) -> Post:
    return build_lead(digest)[0]


def build_lead(digest: Digest) -> tuple[Post, tuple[LeadLine, ...]]:
    """Render the message in the channel: at most 220 words and 11 blocks, however busy the day was.

    Return it with its lines, each with the rule that admitted it. What code proved stands first: what touches the
    readers, was reverted or repaired, or breaks callers. Then come bugs that were found, other risks, and actions.
    """
    date = f"{digest.day.date:%A} {digest.day.date.day} {digest.day.date:%B %Y}"
    coverage = digest.coverage
    headline = collapse_lines(_format_title(digest, digest.name, date, coverage))
    overview = collapse_lines(digest.overview.text)
    # a busy day has a dozen versions, which choose from these
    outcomes, older, findings = digest.standing_outcomes, digest.older_reverts, digest.findings
    actions, own_urls, breaking = _group_actions(digest), collect_urls(digest), digest.breaking
    riskiest = _list_other_risks(digest)
    less = _choose_less_wanted(digest, riskiest, actions)
    notes, facts = list_notes(digest, coverage), list_facts(digest)
    context = HitContext.build((entry.pull for entry in digest.entries), digest.outcomes)

    def build(limits: _LeadLimits, urls: Mapping[int, str]) -> list[Block]:
        text = keep_sentences(overview, limits.overview)
        index = SentenceIndex.build(text)
        blocks = [make_header(headline)]
        gaps = _explain_gaps(digest, coverage, limits.sentence)
        blocks += [make_sentence(gaps)] if gaps else []
        if digest.touches and digest.says_of_touches:
            blocks += render_touches(digest.touches, context, limits.touches, _ELSEWHERE)
        blocks += [*render_pending(digest.pending), *render_other_news(digest.other_news)]
        news = render_news_line(digest.deprecations, _ELSEWHERE)
        # a day too full for that has it in the thread
        if news and limits.overview >= _LEAST_OVERVIEW_WITH_NEWS:
            blocks.append(news)
        blocks += _render_overview(digest, text, urls)
        blocks += render_outcomes(outcomes, older, _ELSEWHERE, limits)
        blocks += render_breaking(breaking, most=limits.breaking, names=limits.names)
        blocks += _render_findings(findings, own_urls, urls, limits)
        blocks += _render_risky_changes(digest, riskiest, coverage, urls, limits, index)
        blocks += _render_actions(actions, own_urls, urls, limits, index)
        line = " · ".join(_keep_clauses([*notes, *(facts if limits.facts else ())], max(20, limits.sentence)))
        return [*blocks, make_context(line)] if line else blocks

    versions = _VERSIONS_WITH_HITS if digest.touches and not digest.touches.touching.is_empty else _VERSIONS
    versions = tuple(replace(limits, less=less) for limits in versions)
    fitting = (limits for limits in versions if count_words(build(limits, {})) <= MAX_LEAD_WORDS)
    limits = next(fitting, versions[-1])
    # links in prose are left out where they would not fit; every pull request that is listed keeps its own
    blocks = choose_fitting_blocks(build(limits, urls) for urls in (own_urls, {}))
    # what a phone's notification shows and a screen reader reads instead of the blocks
    gaps = _explain_gaps(digest, coverage, _MAX_NOTIFIED_REASON)
    told = " ".join(filter(None, (gaps, keep_sentences(overview, limits.overview) if digest.entries else "")))
    text = f"{headline}. {told}" if told else headline
    text = text if len(text) <= _MAX_NOTIFICATION else headline
    return Post(escape_mrkdwn(text), tuple(blocks)), tuple(_list_lines(digest, limits, actions, riskiest))


def _keep_clauses(clauses: Iterable[str], words: int) -> list[str]:
    """Return each clause on one line; one of more than ``words`` words says only that something is missing."""
    lines = [collapse_lines(clause) for clause in clauses]
    return [keep_short(line, words) or "something else is missing" for line in lines if line]


def _render_overview(digest: Digest, text: str, urls: Mapping[int, str]) -> Iterator[Block]:
    fallback = digest.overview.fallback
    paragraphs = [make_section(make_prose(text, urls, _MAX_OVERVIEW_LENGTH))] if text else []
    # of a day of which the model read nothing, the sentence above says why
    if fallback and len(digest.fallback_entries) < len(digest.entries):
        reason = keep_short(fallback.clause, _MAX_NOTE_WORDS, 240)
        why = f" ({reason})" if reason else ""
        note = collapse_lines(f"Without the model{why}: this paragraph contains only facts.")
        below = "\n" if paragraphs else ""
        paragraphs.append(make_section([make_text(below + note, italic=True)]))
    if digest.entries and paragraphs:
        yield make_block(*paragraphs)


def _format_title(digest: Digest, name: str, days: str, coverage: ReadCoverage) -> str:
    """Format name, days and count, such as ``vLLM · Saturday 28 February 2026 (Asia/Tokyo) · 18 merged``.

    Where not all was read, the count stands behind that.
    """
    name = keep_short(name, _MAX_NAME_WORDS, _MAX_NAME_LENGTH) or digest.repository.name
    zone = f" ({digest.day.zone})" if digest.shows_zone else ""
    count = f" · {_format_merge_count(digest, coverage)}" if coverage.is_complete else ""
    return f"{name} · {days}{zone}{count}"


def _format_merge_count(digest: Digest, coverage: ReadCoverage) -> str:
    """Format ``18 merged`` or ``nothing merged``; ``4 of 18 merged`` if a view hides some.

    Where not all was read, it is empty in place of nothing, and of none of some.
    """
    shown, merged = len(digest.entries), digest.merged_count
    if not coverage.is_complete and not shown:
        return ""
    is_part = digest.view or digest.muted
    return f"{f'{shown} of ' if is_part else ''}{merged:,} merged" if merged else "nothing merged"


def _explain_gaps(digest: Digest, coverage: ReadCoverage, words: int) -> str:
    """Return what was not read, with reasons of up to ``words`` words, and only then how many were merged."""
    has_hits = digest.touches is not None and not digest.touches.touching.is_empty
    is_empty = not (digest.riskiest_entries or digest.breaking or has_hits)
    sentence = coverage.leave_out_reasons(words).explain_gaps(is_empty=is_empty)
    count = _format_merge_count(digest, coverage) if sentence else ""
    return f"{sentence} {count}." if count else sentence


# --- several days, for a reader who was away


def render_catch_up(days: MultiDayDigest) -> Post:
    return build_catch_up(days)[0]


def build_catch_up(days: MultiDayDigest) -> tuple[Post, tuple[LeadLine, ...]]:
    """Render a line for each day, then reverts, repairs, bugs, risks and actions of all of them."""
    whole, coverage = days.combined, days.coverage
    title = _format_title(whole, days.name, days.span.title, coverage)
    own_urls, actions, riskiest = collect_urls(whole), _group_actions(whole), _list_other_risks(whole)
    less = _choose_less_wanted(whole, riskiest, actions)
    widest = _LeadLimits(touches=_OF_DAYS, less=less)
    counted = [(each, _format_merge_count(each, each.coverage) or "not known") for each in days.digests]

    def build(words: int, sentence: int, *, links: bool) -> list[Block]:
        """Return the blocks, with whole sentences of a day of up to ``words`` together."""
        limits = replace(widest, sentence=sentence)
        urls = own_urls if links else {}
        dated = [(each.day.date, _render_day(each, count, words, links=links)) for each, count in counted]
        dated += _render_unknown_days(days)
        gaps = _explain_gaps(whole, coverage, sentence)
        blocks = [make_header(title), *([make_sentence(gaps)] if gaps else [])]
        if whole.touches and whole.says_of_touches:
            context = HitContext.build((entry.pull for entry in whole.entries), whole.outcomes)
            blocks += render_touches(whole.touches, context, limits.touches)
        blocks += [*render_pending(whole.pending, days.span.days[0].start), *render_other_news(whole.other_news)]
        blocks += _render_week(days)
        if news := render_news_line(whole.deprecations, ", with /prdigest deprecations"):
            blocks.append(news)
        blocks.append(make_list("Day by day", (line for _, line in sorted(dated, key=itemgetter(0)))))
        blocks += render_outcomes(whole.standing_outcomes, whole.older_reverts)
        blocks += render_breaking(whole.breaking)
        blocks += _render_findings(whole.findings, own_urls, urls, limits)
        blocks += _render_risky_changes(whole, riskiest, coverage, urls, limits)
        blocks += _render_actions(actions, own_urls, urls, limits)
        notes = (truncate_text(" · ".join(_list_caveats(days)), 600), format_coverage(whole, coverage))
        return [*blocks, *(make_context(note) for note in notes if note)]

    # links in prose, and then words, are left out where they would not fit
    versions = ((40, 60, True), (25, 40, False), (12, 15, False), (0, 0, False))
    blocks = choose_fitting_blocks(build(words, sentence, links=links) for words, sentence, links in versions)
    gaps = _explain_gaps(whole, coverage, _MAX_NOTIFIED_REASON)
    lines = _list_lines(whole, widest, actions, riskiest)
    return Post(escape_mrkdwn(f"{title}. {gaps}" if gaps else title), tuple(blocks)), tuple(lines)


def _render_week(days: MultiDayDigest) -> Iterator[Block]:
    """Yield the tags that appeared, and what the only reader watches."""
    if days.tags:
        rest = len(days.tags) - MAX_LISTED
        names = ", ".join(days.tags[-MAX_LISTED:]) + (f" {format_more(rest)}" if rest > 0 else "")
        yield make_sentence(f"New tags: {names}. /prdigest release {days.tags[-1]} says what that means for you.")
    if days.watched:
        yield make_list("You watch", render_lines(days.watched, MAX_LISTED, lambda each: [make_text(each)]))


def _render_day(digest: Digest, count: str, words: int, *, links: bool) -> list[Element]:
    date = make_text(_format_short_date(digest.day.date), bold=True)
    text = keep_sentences(collapse_lines(digest.overview.text), words)
    if not digest.entries or not text:
        return [date, make_text(f" · {count}")]
    facts = " (without the model)" if digest.overview.fallback else ""
    prose = make_prose(text, collect_urls(digest) if links else {}, _MAX_OVERVIEW_LENGTH)
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
        dates.setdefault(digest.count_caveats, []).append(_format_short_date(digest.day.date))
    yield from (f"{', '.join(those)}: {caveat}" for caveat, those in dates.items() if caveat)


def _format_short_date(date: dt.date) -> str:
    return f"{date:%a} {date.day} {date:%b}"


# --- what both leads list


def _list_other_risks(digest: Digest) -> tuple[Entry, ...]:
    """Return the riskiest entries without those whose bugs have lines of their own."""
    told = {bug.entry.number for bug in digest.findings}
    return tuple(entry for entry in digest.riskiest_entries if entry.number not in told)


def _choose_less_wanted(
    digest: Digest, riskiest: Sequence[Entry], actions: Mapping[str, _Action]
) -> frozenset[tuple[LeadRule, int]]:
    """Return the lines that are less wanted: a few of a lead, and none that is the first of its section."""
    if not digest.less_wanted:
        return frozenset()
    entries = {entry.number: entry for entry in digest.entries}
    sections = (
        [(bug.rule, bug.entry.number) for bug in digest.findings],
        [(LeadRule.RISKY, entry.number) for entry in riskiest],
        [(rank_action(text).rule, numbers[0]) for text, numbers in actions.values()],
    )
    refused = (
        (rule, number)
        for section in sections
        for rule, number in section[1:]
        if digest.find_feature(entries[number], rule) in digest.less_wanted
    )
    return frozenset(islice(refused, MAX_LESS_WANTED))


def _list_lines(
    digest: Digest, limits: _LeadLimits, actions: Mapping[str, _Action], riskiest: Sequence[Entry]
) -> Iterator[LeadLine]:
    """Yield the lines of a lead in its order, each with its rule, and last what a rule kept out."""
    outcomes = digest.standing_outcomes
    if digest.touches:
        taken_back = HitContext.build((), outcomes).taken_back
        hits = sort_hits(digest.touches, taken_back).ignore_coverage()
        yield from (LeadLine(hit.number, LeadRule.TOUCHES_US) for hit in hits[: limits.touches.hits])
    most = count_outcome_lines(len(outcomes) + len(digest.older_reverts), limits)
    for outcome in outcomes[:most]:
        is_repair = outcome.kind is OutcomeKind.REPAIRED
        yield LeadLine(outcome.pull.number, LeadRule.REPAIRED if is_repair else LeadRule.REVERTED)
    for merge in digest.breaking[: limits.breaking]:
        yield LeadLine(merge.number, LeadRule.GONE_FOR_CALLERS)
    yield from (LeadLine(each.entry.number, each.rule) for each in _select_findings(digest.findings, limits))
    yield from (LeadLine(entry.number, LeadRule.RISKY) for entry in _select_risks(riskiest, limits))
    for text, numbers in _select_actions(actions.values(), limits):
        yield from (LeadLine(number, rank_action(text).rule) for number in numbers)
    waiting = (entry.number for entry in digest.entries if not entry.is_reachable)
    yield from (LeadLine(number, LeadRule.NOT_REACHABLE) for number in waiting)
    yield from (LeadLine(number, LeadRule.LESS_WANTED) for _, number in sorted(limits.less))


def _select_findings(findings: Sequence[OpenFinding], limits: _LeadLimits) -> Sequence[OpenFinding]:
    """Return the findings that have a line. One that is too long for it is not cut: the next one has its place."""
    others = (each for each in findings if (each.rule, each.entry.number) not in limits.less)
    short = (each for each in others if render_finding_line(each.entry.pull, each.finding, {}, limits))
    return tuple(islice(short, limits.findings))


def _select_risks(riskiest: Sequence[Entry], limits: _LeadLimits) -> Sequence[Entry]:
    return [entry for entry in riskiest if (LeadRule.RISKY, entry.number) not in limits.less][: limits.risks]


def _render_findings(
    findings: Sequence[OpenFinding], own_urls: Mapping[int, str], urls: Mapping[int, str], limits: _LeadLimits
) -> Iterator[Block]:
    """Yield the bugs that the AI bug review found: of each what goes wrong, when, and who notices it."""
    shown, lines, named = _select_findings(findings, limits), list[list[Element]](), set[int]()
    for entry, finding, _ in shown:
        # of several in one merge the first has its title
        title = "" if entry.number in named else keep_title(entry.pull)
        named.add(entry.number)
        link = make_link(entry.pull.url, f"#{entry.number} {title}".rstrip(), bold=True)
        band = make_text(format_band(entry.risk, tells_history=False))
        lines.append([link, make_text(" — "), *render_finding_line(entry.pull, finding, urls, limits), band])
    # the others of a merge that has a line are in its details
    if rest := [*dict.fromkeys(each.entry.number for each in findings if each.entry.number not in named)]:
        numbers = render_numbers(rest, own_urls, limits.numbers)
        lines.append([make_text(f"{format_more(len(rest), _ELSEWHERE)}: "), *numbers])
    if lines:
        yield make_list("AI bug review", lines)


def _render_risky_changes(
    digest: Digest,
    riskiest: Sequence[Entry],
    coverage: ReadCoverage,
    urls: Mapping[int, str],
    limits: _LeadLimits,
    index: SentenceIndex = EMPTY_INDEX,
) -> Iterator[Block]:
    """Yield the riskiest entries; if all was read, that nothing stands out. ``index`` is above it."""
    entries = _select_risks(riskiest, limits)
    if entries:
        # what holds for all is said once
        is_new = len(entries) > 1 and all(entry.risk.without_history for entry in entries)
        title = render_riskiest_title(is_reduced=digest.is_reduced, is_new=is_new)
        lines = [
            render_risk(entry, urls, limits=limits, index=index, tells_history=not is_new) for entry in entries
        ]
        if rest := [entry for entry in riskiest if entry not in entries]:
            more = make_text(f"{format_more(len(rest), _ELSEWHERE)}: ")
            lines.append([more, *render_numbers([entry.number for entry in rest], collect_urls(digest))])
        yield make_block(make_section(title), make_bullets(lines))
    elif coverage.is_complete and digest.view.only is ViewLevel.BREAKING:
        yield make_sentence("None of these is rated risky." if digest.breaking else "Nothing breaks callers.")
    elif coverage.is_complete and digest.entries and not digest.findings:
        yield make_sentence("Nothing stands out as risky.")


# an action, and the numbers of those that require it
_Action = tuple[str, list[int]]


def _group_actions(digest: Digest) -> dict[str, _Action]:
    """Return each action of a digest once, with the numbers of those that require it, by its words alone.

    Those that the line of a risk says already are left out.
    """
    told = (*digest.riskiest_entries, *(bug.entry for bug in digest.findings))
    claims = {entry.number: normalize_sentence(get_claim(entry)) for entry in told}
    grouped: dict[str, _Action] = {}
    for text, number in digest.actions:
        words = normalize_sentence(text) or text
        if collapse_lines(text) and claims.get(number) != words:
            grouped.setdefault(words, (text, []))[1].append(number)
    return grouped


def _select_actions(actions: Iterable[_Action], limits: _LeadLimits) -> list[_Action]:
    """Return the actions that have a line, whole or not at all: where one is too long, the next has its place."""
    others = (action for action in actions if (rank_action(action[0]).rule, action[1][0]) not in limits.less)
    return [action for action in others if keep_short(action[0], limits.sentence)][: limits.actions]


def _render_actions(
    grouped: Mapping[str, _Action],
    own_urls: Mapping[int, str],
    urls: Mapping[int, str],
    limits: _LeadLimits,
    index: SentenceIndex = EMPTY_INDEX,
) -> Iterator[Block]:
    """Yield what readers may have to do, without what ``index`` says. ``own_urls`` are those of the day."""
    actions = [action for words, action in grouped.items() if not index.has_words(words)]
    short = _select_actions(actions, limits)
    lines = [
        [
            *make_prose(collapse_lines(text), urls, MAX_SENTENCE),
            make_text(" ("),
            *render_numbers(numbers, own_urls, limits.numbers),
            make_text(")"),
        ]
        for text, numbers in short
    ]
    if rest := [action for action in actions if action not in short]:
        others = [number for _, numbers in rest for number in numbers]
        lines.append(
            [
                make_text(f"{format_more(len(rest), _ELSEWHERE)}: "),
                *render_numbers(others, own_urls, limits.numbers),
            ]
        )
    if lines:
        yield make_list("May need action", lines)


# --- how complete it is


def format_coverage(digest: Digest, coverage: ReadCoverage) -> str:
    """Format which merges were not fully read, then how the day was read and what that cost."""
    return " · ".join([*list_notes(digest, coverage), *list_facts(digest)])


def list_notes(digest: Digest, coverage: ReadCoverage) -> list[str]:
    """List what is not shown, and which merges were not fully read, as clauses. How many is in the coverage."""
    can_count = digest.entries or coverage.is_complete
    shown = f"{len(digest.entries)} of {digest.merged_count:,} shown" if can_count else "shown"
    notes = [f"{shown}: {digest.view}"] if digest.view and digest.merged_count else []
    notes += [f"muted for you: {format_numbers([each.number for each in digest.muted])}"] if digest.muted else []
    # these are judged by nothing above
    branches: dict[str, list[int]] = {}
    for pull in digest.elsewhere:
        branches.setdefault(shorten_branch(pull), []).append(pull.number)
    notes += [f"merged into {branch}: {format_numbers(numbers)}" for branch, numbers in branches.items()]
    notes += _list_unread(digest) if digest.entries else ()
    return [*notes, *([digest.count_caveats] if digest.count_caveats else []), *list_judges(digest.touches)]


def _list_unread(digest: Digest) -> Iterator[str]:
    if unread := [entry.number for entry in digest.unreadable_entries]:
        yield f"could not be read: {format_numbers(unread)}"
    # where the budget ran short, each reason is said; of a model that failed the numbers are enough
    by_reason: dict[str, list[int]] = {"": []}
    for entry in digest.fallback_entries:
        if not entry.summary.is_unread:
            fallback = entry.summary.fallback
            reason = f" because {describe_fallback(fallback)}" if is_for_budget(fallback) else ""
            by_reason.setdefault(reason, []).append(entry.number)
    yield from (
        f"facts only{reason}: {format_numbers(numbers)}" for reason, numbers in by_reason.items() if numbers
    )
    if is_for_budget(digest.overview.fallback):
        yield f"no overview because {describe_fallback(digest.overview.fallback)}"
    clipped = [
        entry.number
        for entry in digest.entries
        if entry.summary.coverage is not Coverage.FULL and not entry.summary.is_fallback
    ]
    if clipped:
        yield f"not from full diffs: {format_numbers(clipped)}"


def list_facts(digest: Digest) -> list[str]:
    """List how the entries of a day were read, and for how many US dollars; nothing for a day without any."""
    if not digest.entries:
        return []
    total, read = len(digest.entries), len(digest.entries) - len(digest.fallback_entries)
    is_full = all(
        each.summary.coverage is Coverage.FULL and each.pull.files is not None for each in digest.entries
    )
    review, cost = digest.review_coverage, digest.cost
    everything = f"All {total} read in full" if total > 1 else "Read in full"
    return [
        *([everything] if is_full and read == total else []),
        *(
            [f"AI bug review: {review.reviewed:,} of {review.eligible:,}"]
            if 0 < review.eligible <= review.reviewed
            else []
        ),
        *(["cost unknown"] if cost is None else []),
        *([f"${cost:.2f}" if cost >= 0.005 else "under $0.01"] if cost else []),
    ]
