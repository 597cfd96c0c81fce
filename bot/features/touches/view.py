"""Messages about what merges change for others, and what that does to a team's code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING
from urllib.parse import quote

from bot.dates import Span
from bot.features.merges.view import format_more
from bot.features.touches.lines import (
    HitContext,
    TouchLimits,
    TouchVerdict,
    format_class_title,
    format_kind,
    list_contract_rows,
    make_code,
    make_title,
    make_verdict_row,
    name_level,
    name_verdict,
    render_deprecation,
    render_hit_line,
    render_line_link,
    render_number,
    render_touches,
    shorten_code,
    shorten_name,
    sort_hits,
)
from bot.platform.pulls.models import PullRequest
from bot.platform.slack.blocks import (
    UNNAMED,
    Block,
    Element,
    choose_fitting_blocks,
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
from bot.platform.slack.messages import Post
from bot.text import format_count
from impact.contract.deprecations import DeprecationState
from impact.contract.models import UnreadFile
from impact.contract.table import ContractTableRow
from impact.repository import GITHUB_WEB, Repository
from impact.source.models import DiffSide
from impact.text.strings import collapse_lines, truncate_text
from impact.touches.breakage.suspects import Suspect, SuspectReport
from impact.touches.deprecations import UsedDeprecation
from impact.touches.models import TouchReport

if TYPE_CHECKING:
    # they import the SDKs, for which the help of commands must not wait
    from bot.features.touches.contracts import ContractList
    from bot.features.touches.decisions import LevelScore

StatedDeprecation = tuple[DeprecationState, UsedDeprecation]

_MAX_NOTES = 1_500  # characters


def _render_post(title: str, versions: Iterable[list[Block]]) -> Post:
    """Return the first version that fits into a message, below its title."""
    blocks = choose_fitting_blocks([make_header(title), *blocks] for blocks in versions)
    return Post(escape_mrkdwn(title), tuple(blocks))


def _make_sentence(text: str) -> Block:
    return make_block(make_section([make_text(text)]))


def _shorten(text: str, length: int) -> str:
    return truncate_text(collapse_lines(text), length)


def _format_unread(unread: Sequence[UnreadFile]) -> str:
    names = ", ".join(f"{collapse_lines(file.path)} ({file.reason})" for file in unread[:5])
    more = f", and {len(unread) - 5:,} more" if len(unread) > 5 else ""
    return truncate_text(f"Could not be read: {names}{more}", 600)


# --- contract changes: rows by class, what was removed first, each with a link to its line

# the rows of a class, and the words of the line before and after, which 0 leaves out; tried until a message fits
_CONTRACT_LIMITS = ((40, 12), (25, 8), (15, 8), (8, 6), (8, 0), (4, 0), (2, 0))


def render_contract_list(contract_list: ContractList) -> Post:
    rows = list_contract_rows(contract_list.contracts)
    name, days = _shorten(contract_list.name, 60), contract_list.span.title
    title = f"{name} · {days} · {format_count(len(rows), 'contract change')}"
    return _render_post(title, (_render_contracts(contract_list, rows, *limits) for limits in _CONTRACT_LIMITS))


def _render_contracts(
    contract_list: ContractList, rows: Sequence[ContractTableRow], most: int, words: int
) -> list[Block]:
    pulls = {pull.number: pull for pull in contract_list.pulls}
    blocks, hidden = [], 0
    for subject, group in groupby(rows, lambda row: row.change.subject):
        of_class = list(group)
        items = [_render_contract_row(row, pulls.get(row.number), words) for row in of_class[:most]]
        if len(of_class) > most:
            hidden += len(of_class) - most
            items.append([make_text(f"and {len(of_class) - most:,} more")])
        heading = make_section([make_text(format_class_title(subject, len(of_class)), bold=True)])
        blocks.append(make_block(heading, make_bullets(items)))
    if not rows:
        blocks.append(_make_sentence("No merge of these days changes what others depend on."))
    merged, filters = format_count(contract_list.merged, "merge"), contract_list.filters
    notes = [
        f"{len(contract_list.contracts):,} of {merged}, {_shorten(filters, 200)}" if filters else merged,
        f"{format_count(hidden, 'row')} left out: ask for fewer days, or filter with path:." if hidden else "",
        _format_unread(contract_list.unread) if contract_list.unread else "",
        *dict.fromkeys(contract_list.caveats),
    ]
    return [*blocks, make_context(truncate_text(" · ".join(filter(None, notes)), _MAX_NOTES))]


def _render_contract_row(row: ContractTableRow, pull: PullRequest | None, words: int) -> list[Element]:
    """Return a row: the merge, what happened, the name, the new name or the line before and after, and a link."""
    change = row.change
    elements = [
        *render_number(row.number, pull),
        make_text(f" {format_kind(change)} ", bold=True),
        *make_code(shorten_name(change.name)),
    ]
    if change.new_name:
        elements += [make_text(" → "), *make_code(shorten_name(change.new_name))]
    elif words:
        # a flag that nothing else is known of is its own line
        texts = [
            text
            for text in (change.before, change.after)
            if text != change.name or (change.before and change.after)
        ]
        codes = [code for text in texts if (code := make_code(shorten_code(text, words)))]
        for place, code in enumerate(codes):
            elements += [make_text(" → " if place else ": "), *code]
    return [*elements, *render_line_link(change, pull)]


# --- deprecations: what is used first

_STATES = {
    DeprecationState.OVERDUE: "Overdue: the release of the deadline is out",
    DeprecationState.DUE: "Due: the next release may remove it",
    DeprecationState.ANNOUNCED: "Announced",
    DeprecationState.REMOVED: "Removed",
}
NO_DEPRECATIONS = "No merge that I have read deprecates anything."


def sort_deprecations(entries: Iterable[StatedDeprecation]) -> list[StatedDeprecation]:
    """Return the entries by state: those that are used first, then by deadline."""
    states = list(_STATES)
    return sorted(
        entries, key=lambda each: (states.index(each[0]), not each[1].uses, each[1].entry.when, each[1].entry.name)
    )


def render_deprecations(name: str, entries: Sequence[StatedDeprecation], url: str) -> Post:
    title = f"{_shorten(name, 60)} · {format_count(len(entries), 'deprecation')}"
    return _render_post(title, (_render_states(sort_deprecations(entries), url, most) for most in (20, 12, 6, 3)))


def _render_states(entries: Sequence[StatedDeprecation], url: str, most: int) -> list[Block]:
    blocks = []
    for state, heading in _STATES.items():
        lines = [render_deprecation(used, url) for each, used in entries if each is state]
        if lines:
            rest = [[make_text(f"and {len(lines) - most} more")]] if len(lines) > most else []
            section = make_section([make_text(heading, bold=True)])
            blocks.append(make_block(section, make_bullets([*lines[:most], *rest])))
    note = "From the merges that I have read; due and overdue by the releases and tags of the repository"
    return [*blocks, make_context(note)] if entries else [_make_sentence(NO_DEPRECATIONS)]


# --- the hits of some days, and what became of all of them


# what is tried until a message fits
_TOUCH_LIMITS = ((20, 9, 14, 18), (12, 9, 14, 18), (12, 6, 8, 10), (8, 0, 6, 6), (4, 0, 0, 0))
# hits with buttons: nobody decides about more at once, and each takes three blocks
MAX_ROWS = 8
_MAX_VERDICTS = 20


def render_touch_list(
    name: str,
    span: Span,
    report: TouchReport,
    pulls: Sequence[PullRequest],
    verdicts: Mapping[int, Sequence[TouchVerdict]],
    caveats: Sequence[str] = (),
) -> Post:
    """Render the hits of some days; ``verdicts`` are what people said, by the number of the pull request."""
    title = f"What touches {_shorten(report.profile, 40)} · {_shorten(name, 60)} · {span.title}"
    context = HitContext.build(pulls, ())
    versions = (_render_hits(report, context, verdicts, caveats, TouchLimits(*limits)) for limits in _TOUCH_LIMITS)
    return _render_post(title, versions)


def _render_hits(
    report: TouchReport,
    context: HitContext,
    verdicts: Mapping[int, Sequence[TouchVerdict]],
    caveats: Sequence[str],
    limits: TouchLimits,
) -> list[Block]:
    hits = sort_hits(report, context.taken_back)
    with_row = min(MAX_ROWS, limits.hits)
    if hits:
        blocks = [make_block(make_title(report))]
        for hit in hits[:with_row]:
            blocks.append(make_block(make_bullets([render_hit_line(hit, context, limits)])))
            if pull := context.pulls.get(hit.number):
                blocks.append(make_verdict_row(pull, report.profile))
        items = [render_hit_line(hit, context, limits) for hit in hits[with_row : limits.hits]]
        if len(hits) > limits.hits:
            items.append([make_text(format_more(len(hits) - limits.hits, ": ask for fewer days"))])
        blocks += [make_block(make_bullets(items))] if items else []
    else:
        nothing = list(render_touches(report, context))
        blocks = nothing or [_make_sentence("Nothing was merged on these days.")]
    elements: list[Element] = []
    # of those that are listed without buttons
    judged = [hit.number for hit in hits[with_row:] if hit.number in verdicts]
    for number in judged[:_MAX_VERDICTS]:
        words = ", ".join(map(name_verdict, verdicts[number]))
        elements += [make_text("; ")] if elements else []
        elements += [*render_number(number, context.pulls.get(number)), make_text(f" {words}")]
    if elements:
        blocks.append(make_block(make_section([make_text("What people said: ", bold=True), *elements])))
    notes = [*([_format_unread(report.unread)] if report.unread else []), *dict.fromkeys(caveats)]
    return [*blocks, make_context(truncate_text(" · ".join(notes), _MAX_NOTES))] if notes else blocks


def render_touch_score(profile: str, scores: Iterable[LevelScore]) -> Post:
    levels = list(scores)
    if any(score.shown for score in levels):
        blocks = [
            make_block(make_bullets([make_text(_format_score(score))] for score in levels)),
            make_context("A hit counts once, with what was said about it last."),
        ]
    else:
        blocks = [_make_sentence("No hit of this profile was shown yet.")]
    return _render_post(f"What became of the hits of {_shorten(profile, 40)}", [blocks])


def _format_score(score: LevelScore) -> str:
    if not score.shown:
        return f"{name_level(score.level)}: none shown"
    counts = {TouchVerdict.OURS: score.ours, TouchVerdict.DONE: score.done, TouchVerdict.NOT_US: score.not_us}
    parts = [*(f"{count} {name_verdict(verdict)}" for verdict, count in counts.items()), f"{score.open} open"]
    share = f"; {score.right} of {score.judged} were right" if score.judged else ""
    return f"{name_level(score.level)}: {format_count(score.shown, 'hit')} ({', '.join(parts)}){share}"


# --- the merges that explain an error


def render_suspects(name: str, repository: Repository, report: SuspectReport) -> Post:
    title = f"What broke us? · {_shorten(name, 60)} · since {_shorten(report.since, 160)}"
    address = f"{GITHUB_WEB}/{repository}"
    return _render_post(title, (_render_suspects(address, report, limit) for limit in (160, 60, 0)))


def _render_suspects(address: str, report: SuspectReport, limit: int) -> list[Block]:
    """Return the blocks below the title; ``limit`` is in characters, for the lines before and after."""
    blocks = [_make_sentence(count_suspects(report))]
    if error := describe_error_line(report):
        blocks.insert(
            0, make_block(make_section([make_text("Looked for: ", bold=True), make_text(error, code=True)]))
        )
    if report.suspects:
        blocks.append(make_block(make_bullets(_render_suspect(address, each, limit) for each in report.suspects)))
    notes = describe_gaps(report)
    return [*blocks, make_context(notes)] if notes else blocks


def _render_suspect(address: str, suspect: Suspect, limit: int) -> list[Element]:
    """Return a suspect's line: its number, title, reason, the line that it rests on, and its points."""
    has_number = suspect.number > 0
    page = f"{address}/pull/{suspect.number}" if has_number else f"{address}/commit/{suspect.commit}"
    elements = [
        make_link(page, name_suspect(suspect), bold=True),
        make_text(f" {_shorten(suspect.title, 120)} – "),  # noqa: RUF001 (a dash)
        *make_prose(f"It {suspect.reason}.", {}, 300),
    ]
    if change := suspect.change:
        place = f"{_shorten(change.path, 160) or UNNAMED}:{change.line}"
        # what is gone is in the pull request alone
        line_url = f"{address}/blob/{suspect.commit}/{quote(change.path)}#L{change.line}"
        elements += [make_text(" "), make_link(page if change.side is DiffSide.OLD else line_url, place)]
        lines = (_shorten(each, limit) for each in (change.before, change.after) if limit)
        for number, line in enumerate(filter(None, lines)):
            elements += [make_text(" → " if number else " "), make_text(line, code=True)]
    return [*elements, make_text(f" · {format_points(suspect)}", italic=True)]


def name_suspect(suspect: Suspect) -> str:
    return f"#{suspect.number}" if suspect.number > 0 else suspect.commit[:10]


def format_points(suspect: Suspect) -> str:
    reverted = f" · reverted by #{suspect.reverted_by}" if suspect.reverted_by is not None else ""
    return f"{suspect.score:.0f} of 100 points{reverted}"


def describe_error_line(report: SuspectReport) -> str:
    return _shorten(report.trace.errors[0].text, 200) if report.trace.errors else ""


def count_suspects(report: SuspectReport) -> str:
    ends = f"{_shorten(report.since, 160)}..{_shorten(report.until, 160)}"
    among, count = f"{format_count(report.merges, 'merge')} ({ends})", len(report.suspects) + report.omitted
    return f"{format_count(count, 'suspect')} among {among}." if count else f"None of {among} explains this error."


def describe_gaps(report: SuspectReport) -> str:
    notes = []
    if report.trace.is_empty:
        example = "`ImportError: cannot import name 'x' from 'a.b'`"
        notes.append(f"I see no name in this error: paste its last line, such as {example}.")
    elif not report.suspects:
        notes.append(
            "Perhaps the cause is older, or the error says too little: choose an earlier start, or paste the "
            "whole traceback."
        )
    if report.omitted:
        notes.append(f"{format_count(report.omitted, 'more suspect')} with fewer points.")
    if report.unread:
        notes.append(f"{format_count(report.unread, 'merge')} with files that could not be read.")
    return " ".join(notes)
