"""Messages about what merges change for others, and what that does to a team's code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING
from urllib.parse import quote

from bot.features.merges.others import render_others
from bot.features.merges.view import format_more, keep_short, make_list, render_lines
from bot.features.touches.lines import (
    LEDGER_DAYS,
    MAX_CELL,
    HitContext,
    PendingHits,
    TouchLimits,
    TouchVerdict,
    count_other_places,
    describe_nothing,
    format_class_title,
    format_kind,
    list_contract_rows,
    list_judges,
    make_code,
    make_place_cell,
    make_sentence,
    make_title,
    make_verdict_row,
    name_level,
    name_verdict,
    render_action,
    render_deprecation,
    render_effect,
    render_hit_line,
    render_hit_start,
    render_line_link,
    render_number,
    render_pending,
    shorten_code,
    shorten_name,
    shorten_start,
    sort_hits,
)
from bot.features.touches.upgrade_view import describe_difference
from bot.platform.markdown import escape_line, write_address, write_code
from bot.platform.pulls.models import PullRequest
from bot.platform.slack.blocks import (
    MAX_TABLE_ROWS,
    MIN_TABLE_ROWS,
    UNNAMED,
    Attachment,
    Block,
    Element,
    Post,
    choose_fitting_blocks,
    escape_mrkdwn,
    make_block,
    make_bullets,
    make_context,
    make_header,
    make_link,
    make_prose,
    make_section,
    make_table,
    make_text,
)
from bot.text import format_count
from impact.contract.deprecations import DeprecationState
from impact.contract.table import ContractTableRow
from impact.coverage import CoveredList
from impact.repository import GITHUB_WEB, Repository
from impact.source.models import DiffSide
from impact.text.strings import collapse_lines, truncate_text
from impact.touches.breakage.suspects import Suspect, SuspectReport
from impact.touches.models import MergeTouches, TouchReport
from impact.touches.profile_index import UsedDeprecation

if TYPE_CHECKING:
    # they import the SDKs, for which the help of commands must not wait
    from bot.features.touches.contracts import ContractList
    from bot.features.touches.decisions import LevelScore

StatedDeprecation = tuple[DeprecationState, UsedDeprecation]

_MAX_NOTES = 1_500  # characters
_MAX_DIFFERENCE = 48
_MAX_ADDRESS = 1_000


def _render_post(title: str, versions: Iterable[list[Block]]) -> Post:
    """Return the first version that fits into a message, below its title."""
    blocks = choose_fitting_blocks([make_header(title), *blocks] for blocks in versions)
    return Post(escape_mrkdwn(title), tuple(blocks))


def _shorten(text: str, length: int) -> str:
    return truncate_text(collapse_lines(text), length)


# --- contract changes: rows by class, what was removed first, each with a link to its line

# the rows of a class, and the words of the line before and after, which 0 leaves out; tried until a message fits
_CONTRACT_LIMITS = ((40, 12), (25, 8), (15, 8), (8, 6), (8, 0), (5, 0), (4, 0), (3, 0), (2, 0))


def render_contract_list(contract_list: ContractList) -> Post:
    return _render_contract_post(contract_list)[0]


def _render_contract_post(contract_list: ContractList) -> tuple[Post, int]:
    rows = contract_list.contracts.derive(list_contract_rows)
    hidden = 0

    def list_versions() -> Iterator[list[Block]]:
        nonlocal hidden
        for limits in _CONTRACT_LIMITS:
            blocks, hidden = _render_contracts(contract_list, rows, *limits)
            yield blocks

    return _render_post(_format_contract_title(contract_list, rows), list_versions()), hidden


def _format_contract_title(contract_list: ContractList, rows: CoveredList[ContractTableRow]) -> str:
    count = rows.label(lambda number: f" · {format_count(number, 'contract change')}")
    return f"{_shorten(contract_list.name, 60)} · {contract_list.span.title}{count}"


def render_contract_file(contract_list: ContractList) -> Attachment | None:
    if not _render_contract_post(contract_list)[1]:
        return None
    rows = contract_list.contracts.derive(list_contract_rows)
    title = _format_contract_title(contract_list, rows)
    pulls = {pull.number: pull for pull in contract_list.pulls}

    def show(rows: Sequence[ContractTableRow]) -> Iterator[str]:
        for subject, group in groupby(rows, lambda row: row.change.subject):
            of_class = list(group)
            yield f"\n## {format_class_title(subject, len(of_class))}\n"
            for row in of_class:
                change, pull = row.change, pulls.get(row.number)
                number = f"[#{row.number}]({write_address(pull.url)})" if pull else f"#{row.number}"
                target = f" → {write_code(change.new_name)}" if change.new_name else ""
                line = describe_difference(change)
                place = write_code(f"{change.path}:{change.line}")
                difference = f": {line}" if line and not target else ""
                yield f"- {number} {format_kind(change)} {write_code(change.name)}{target}{difference} ({place})"

    lines = [f"# {escape_line(title)}", *rows.render(escape_line, show, "")]
    days = f"{contract_list.span.first}-{contract_list.span.last}"
    return Attachment(f"contract-{days}.md", title, "\n".join(lines) + "\n")


def _render_contracts(
    contract_list: ContractList, rows: CoveredList[ContractTableRow], most: int, words: int
) -> tuple[list[Block], int]:
    pulls, hidden = {pull.number: pull for pull in contract_list.pulls}, 0

    def show(rows: Sequence[ContractTableRow]) -> Iterator[Block]:
        nonlocal hidden
        groups = [(subject, [*group]) for subject, group in groupby(rows, lambda row: row.change.subject)]
        shown = [row for _, group in groups for row in group[:most]][:MAX_TABLE_ROWS]
        if len(shown) >= MIN_TABLE_ROWS:
            hidden = len(rows) - len(shown)
            counts = ", ".join(f"{_SHORT.get(subject, subject)} {len(group):,}" for subject, group in groups)
            cells = [_render_contract_cells(row, pulls.get(row.number)) for row in shown]
            some = f"{len(shown):,} of " if hidden else ""
            caption = f"{some}{format_count(len(rows), 'contract change')} by kind, removed first"
            yield make_table(caption, _CONTRACT_COLUMNS, cells)
            yield make_context(f"By kind: {counts}")
            return
        for subject, of_class in groups:
            items = [_render_contract_row(row, pulls.get(row.number), words) for row in of_class[:most]]
            if len(of_class) > most:
                hidden += len(of_class) - most
                items.append([make_text(f"and {len(of_class) - most:,} more")])
            heading = make_section([make_text(format_class_title(subject, len(of_class)), bold=True)])
            yield make_block(heading, make_bullets(items))

    blocks = rows.render(make_sentence, show, "No merge of these days changes what others depend on.")
    merged, filters = format_count(contract_list.merged, "merge"), contract_list.filters
    shown = len(contract_list.pulls)
    notes = [
        f"{shown:,} of {merged}, {_shorten(filters, 200)}" if filters else merged,
        f"{format_count(hidden, 'more row')} in the file; path: narrows them" if hidden else "",
        rows.coverage.name_files(),
        *contract_list.notes,
    ]
    return [*blocks, make_context(truncate_text(" · ".join(filter(None, notes)), _MAX_NOTES))], hidden


_CONTRACT_COLUMNS = ("Name", "Kind", "Change", "Difference", "Merge")
# of the classes whose names are too wide for a cell
_SHORT = {"environment variable": "variable", "configuration field": "config field"}
_SHORT |= {"request or response field": "API field"}


def _render_contract_cells(row: ContractTableRow, pull: PullRequest | None) -> list[list[Element]]:
    """Return the cells of a row. The name links to the line; a difference is whole, or left to that link."""
    change, label = row.change, shorten_start(shorten_name(row.change.name), ".", MAX_CELL)
    name = [make_link(link["url"], label) for link in render_line_link(change, pull)[1:-1] if label]
    difference = make_code(shorten_start(shorten_name(change.new_name), ".", MAX_CELL))
    if not difference and change.before and change.after:
        text = describe_difference(change).partition("; order: ")[0]
        difference = make_prose(keep_short(text, len(text), _MAX_DIFFERENCE), {}, _MAX_DIFFERENCE)
    return [
        name or make_code(label),
        [make_text(_SHORT.get(change.subject, change.subject))],
        [make_text(format_kind(change))],
        difference,
        render_number(row.number, pull),
    ]


def _render_contract_row(row: ContractTableRow, pull: PullRequest | None, words: int) -> list[Element]:
    """Return a row: the merge, what happened, the name, the new name or the line before and after, and a link."""
    change = row.change
    return [
        *render_number(row.number, pull),
        make_text(f" {format_kind(change)} ", bold=True),
        *make_code(shorten_name(change.name)),
        *_render_difference(row, words),
        *render_line_link(change, pull),
    ]


def _render_difference(row: ContractTableRow, words: int) -> list[Element]:
    """Return what stands behind a name: a mark and its new name, or the line before and after."""
    change, elements = row.change, list[Element]()
    if change.new_name:
        elements += [make_text(" → "), *make_code(shorten_name(change.new_name))]
    elif words:
        # a flag that nothing else is known of is its own line
        is_both = change.before and change.after
        texts = (text for text in (change.before, change.after) if is_both or text != change.name)
        codes = [code for text in texts if (code := make_code(shorten_code(text, words)))]
        for place, code in enumerate(codes):
            elements += [make_text(" → " if place else ": "), *code]
    return elements


# --- deprecations: what is used first

_STATES = {
    DeprecationState.OVERDUE: "Overdue: the release of the deadline is out",
    DeprecationState.DUE: "Due: the next release may remove it",
    DeprecationState.ANNOUNCED: "Announced",
    DeprecationState.REMOVED: "Removed",
}
NO_DEPRECATIONS = f"I know of no deprecation, and I have read all merges of the last {LEDGER_DAYS} days."


def sort_deprecations(entries: Iterable[StatedDeprecation]) -> list[StatedDeprecation]:
    """Return the entries by state: those that are used first, then by deadline."""
    states = list(_STATES)
    return sorted(
        entries, key=lambda each: (states.index(each[0]), not each[1].uses, each[1].entry.when, each[1].entry.name)
    )


def render_deprecations(name: str, entries: CoveredList[StatedDeprecation], url: str) -> Post:
    count = entries.label(lambda number: format_count(number, "deprecation"))
    title = f"{_shorten(name, 60)} · {count or 'Deprecations'}"
    ordered = entries.derive(sort_deprecations)

    def show(most: int, entries: Sequence[StatedDeprecation]) -> Iterator[Block]:
        for state, heading in _STATES.items():
            of_state = [used for each, used in entries if each is state]
            if of_state:
                yield make_list(heading, render_lines(of_state, most, lambda used: render_deprecation(used, url)))
        yield make_context("Due and overdue by the releases and tags of the repository")

    versions = (ordered.render(make_sentence, partial(show, most), NO_DEPRECATIONS) for most in (20, 12, 6, 3))
    return _render_post(title, versions)


# --- the hits of some days, and what became of all of them

# what is tried until a message fits
_TOUCH_LIMITS = ((20, 9, 14, 18), (12, 9, 14, 18), (12, 6, 8, 10), (8, 0, 6, 6), (4, 0, 0, 0))
# hits with buttons: nobody decides about more at once, and each takes three blocks
MAX_ROWS = 8
_MAX_VERDICTS = 20


def render_touch_list(
    title: str,
    report: TouchReport,
    context: HitContext,
    verdicts: Mapping[int, Sequence[str]],
    notes: Sequence[str] = (),
    pending: PendingHits | None = None,
) -> Post:
    """Render hits; ``verdicts`` are what became of them, by their numbers."""
    waiting = render_pending(pending)
    versions = (_render_hits(report, context, verdicts, notes, TouchLimits(*limits)) for limits in _TOUCH_LIMITS)
    return _render_post(_shorten(title, 150), ([*waiting, *blocks] for blocks in versions))


def _render_hits(
    report: TouchReport,
    context: HitContext,
    verdicts: Mapping[int, Sequence[str]],
    notes: Sequence[str],
    limits: TouchLimits,
) -> list[Block]:
    with_row = min(MAX_ROWS, limits.hits)

    def show(hits: Sequence[MergeTouches]) -> Iterator[Block]:
        yield make_block(make_title(report, len(hits)))
        for hit in hits[:with_row]:
            others = context.others.get(hit.number)
            below = [make_bullets(render_others(others), indent=1)] if others and limits.code else []
            yield make_block(make_bullets([render_hit_line(hit, context, limits)]), *below)
            if pull := context.pulls.get(hit.number):
                yield make_verdict_row(pull, report.profile)
        rest, more = hits[with_row : limits.hits], format_more(len(hits) - limits.hits, ": ask for fewer days")
        is_table = len(rest) >= MIN_TABLE_ROWS
        if is_table:
            rows = [_render_hit_cells(hit, context, limits, verdicts) for hit in rest]
            yield make_table(f"{format_count(len(rows), 'more merge')}", _HIT_COLUMNS, rows)
        render = _render_hit_hint if is_table else render_hit_line
        items = [item for hit in rest if (item := render(hit, context, limits))]
        if len(hits) > limits.hits:
            items.append([make_text(more)])
        if items:
            yield make_block(make_bullets(items))
        elements: list[Element] = []
        # of those that are listed without buttons, and in no table
        unlisted = hits[limits.hits :] if is_table else hits[with_row:]
        judged = [hit.number for hit in unlisted if hit.number in verdicts]
        for number in judged[:_MAX_VERDICTS]:
            words = ", ".join(verdicts[number])
            elements += [make_text("; ")] if elements else []
            elements += [*render_number(number, context.pulls.get(number)), make_text(f" {words}")]
        if elements:
            yield make_block(make_section([make_text("What became of them: ", bold=True), *elements]))

    nothing = describe_nothing(report) if report.merges else "Nothing was merged on these days."
    blocks = sort_hits(report, context.taken_back).render(make_sentence, show, nothing)
    line = " · ".join(filter(None, (report.touching.coverage.name_files(), *notes, *list_judges(report))))
    return [*blocks, make_context(truncate_text(line, _MAX_NOTES))] if line else blocks


_HIT_COLUMNS = ("Merge", "Said", "Your code", "What happens")


def _render_hit_cells(
    hit: MergeTouches, context: HitContext, limits: TouchLimits, verdicts: Mapping[int, Sequence[str]]
) -> list[list[Element]]:
    verdict = [make_text(", ".join(verdicts[hit.number]))] if hit.number in verdicts else []
    start = [render_hit_start(hit, context), verdict]
    if not hit.touches:
        return [*start, [], [make_text(name_level(hit.level))]]
    touch, pull = hit.touches[0], context.pulls.get(hit.number)
    effect = [*render_effect(touch, limits.reason), *render_line_link(touch.change, pull)]
    return [*start, make_place_cell(touch.use.path, touch.use.line, count_other_places(hit)), effect]


def _render_hit_hint(hit: MergeTouches, context: HitContext, limits: TouchLimits) -> list[Element]:
    """Return what a cell has no room for: what to do, and how the team adapted before."""
    hint = render_action(hit.touches[0], limits.action)[1:] if hit.touches else []
    hint += [make_text(" "), *context.lessons[hit.number]] if hit.number in context.lessons else []
    return [*render_number(hit.number, context.pulls.get(hit.number)), *hint] if hint else []


def render_touch_score(profile: str, scores: Iterable[LevelScore]) -> Post:
    levels = list(scores)
    blocks = [make_sentence("No warning was shown for this profile yet.")]
    if any(score.shown for score in levels):
        blocks = [make_block(make_bullets([make_text(_format_score(score))] for score in levels))]
        blocks.append(make_context("A warning counts once, with what was said about it last."))
    return _render_post(f"How accurate were the warnings for {_shorten(profile, 40)}?", [blocks])


def _format_score(score: LevelScore) -> str:
    if not score.shown:
        return f"{name_level(score.level)}: none shown"
    counts = {TouchVerdict.OURS: score.ours, TouchVerdict.DONE: score.done, TouchVerdict.NOT_US: score.not_us}
    parts = [*(f"{count} {name_verdict(verdict)}" for verdict, count in counts.items()), f"{score.open} open"]
    share = f"; {score.right} of {score.judged} were right" if score.judged else ""
    return f"{name_level(score.level)}: {format_count(score.shown, 'warning')} ({', '.join(parts)}){share}"


# --- the merges that explain an error


def render_suspects(name: str, repository: Repository, report: SuspectReport) -> Post:
    title = f"What broke us? · {_shorten(name, 60)} · since {_shorten(report.since, 160)}"
    address = f"{GITHUB_WEB}/{repository}"
    return _render_post(title, (_render_suspects(address, report, limit) for limit in (160, 60, 0)))


def _render_suspects(address: str, report: SuspectReport, limit: int) -> list[Block]:
    """Return the blocks below the title; ``limit`` is in characters, for the lines before and after."""

    def show(suspects: Sequence[Suspect]) -> Iterator[Block]:
        yield make_sentence(count_suspects(report, len(suspects)))
        yield make_block(make_bullets(_render_suspect(address, each, limit) for each in suspects))

    blocks = report.suspects.render(make_sentence, show, describe_no_suspect(report))
    if error := describe_error_line(report):
        looked_for = make_section([make_text("Looked for: ", bold=True), make_text(error, code=True)])
        blocks.append(make_block(looked_for))
    notes = give_advice(report)
    return [*blocks, make_context(notes)] if notes else blocks


def _render_suspect(address: str, suspect: Suspect, limit: int) -> list[Element]:
    """Return a suspect's line: its number, title, reason, the line that it rests on, and its points."""
    has_number = suspect.number > 0
    page = f"{address}/pull/{suspect.number}" if has_number else f"{address}/commit/{suspect.commit}"
    elements = [
        make_link(page, name_suspect(suspect), bold=True),
        make_text(" "),
        *make_prose(suspect.title, {}, 120),
        make_text(" – "),  # noqa: RUF001 (a dash)
        *make_prose(f"It {suspect.reason}.", {}, 300),
    ]
    if change := suspect.change:
        place = f"{_shorten(change.path, 160) or UNNAMED}:{change.line}"
        # what is gone is in the pull request alone, and some paths fill a message
        line_url = f"{address}/blob/{suspect.commit}/{quote(change.path)}#L{change.line}"
        has_own = change.side is not DiffSide.OLD and len(line_url) <= _MAX_ADDRESS
        elements += [make_text(" "), make_link(line_url if has_own else page, place)]
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


def count_suspects(report: SuspectReport, listed: int) -> str:
    return f"{format_count(listed + report.omitted, 'suspect')} among {_format_range(report)}."


def describe_no_suspect(report: SuspectReport) -> str:
    if not report.merges:
        return f"Nothing was merged ({_format_ends(report)})."
    return f"None of {_format_range(report)} explains this error."


def _format_range(report: SuspectReport) -> str:
    return f"{format_count(report.merges, 'merge')} ({_format_ends(report)})"


def _format_ends(report: SuspectReport) -> str:
    return f"{_shorten(report.since, 160)}..{_shorten(report.until, 160)}"


def give_advice(report: SuspectReport) -> str:
    """Return what the asker may do about a report, and how many suspects it leaves out."""
    notes = []
    if report.trace.is_empty:
        example = "`ImportError: cannot import name 'x' from 'a.b'`"
        notes.append(f"I see no name in this error: paste its last line, such as {example}.")
    elif report.suspects.is_empty and report.suspects.coverage.is_complete:
        notes.append(
            "Perhaps the cause is older, or the error says too little: choose an earlier start, or paste the "
            "whole traceback."
        )
    if report.omitted:
        notes.append(f"{format_count(report.omitted, 'more suspect')} with fewer points.")
    return " ".join(notes)
