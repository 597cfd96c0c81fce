"""The answer to "What broke us?": in Slack, in a terminal, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import quote

from bot.domain.pull_requests.diff import DiffSide
from bot.domain.pull_requests.models import GITHUB_WEB, Repository
from bot.domain.text.redaction import redact_text
from bot.domain.text.strings import collapse_lines, remove_invisible, truncate_text
from bot.ports import Post
from bot.render.blocks.message_limits import choose_fitting_blocks
from bot.render.blocks.mrkdwn import escape_mrkdwn
from bot.render.blocks.rich_text import (
    Block,
    Element,
    make_block,
    make_bullets,
    make_context,
    make_header,
    make_link,
    make_prose,
    make_section,
    make_text,
)
from bot.render.blocks.sentences import UNNAMED
from bot.render.touches import sentences
from impact.contract.models import ContractChange
from impact.documents import describe_suspects
from impact.touches.breakage.suspects import Suspect, SuspectReport

_MAX_TITLE, _MAX_ERROR, _MAX_REASON, _MAX_PATH = 120, 200, 300, 160
_MAX_TERMINAL_LINE = 160
_INDENT = "   "


def render_suspects(name: str, repository: Repository, report: SuspectReport) -> Post:
    """Render the suspects as a message; ``name`` is that of the repository in headings."""
    title = sentences.format_suspect_title(
        name=truncate_text(collapse_lines(name), 60), since=_clean(report.since)
    )
    address = f"{GITHUB_WEB}/{repository}"
    blocks = choose_fitting_blocks(
        [make_header(title), *_render_blocks(address, report, limit)] for limit in (160, 60, 0)
    )
    return Post(escape_mrkdwn(title), tuple(blocks))


def _render_blocks(address: str, report: SuspectReport, limit: int) -> Iterator[Block]:
    """Yield the blocks below the title; ``limit`` is in characters, for the lines before and after."""
    if error := _describe_error(report):
        yield make_block(
            make_section([make_text(sentences.format_searched(""), bold=True), make_text(error, code=True)])
        )
    yield make_block(make_section([make_text(_format_count(report))]))
    if report.suspects:
        yield make_block(make_bullets(_render_suspect(address, each, limit) for each in report.suspects))
    if notes := [*_list_notes(report)]:
        yield make_context(" ".join(notes))


def _render_suspect(address: str, suspect: Suspect, limit: int) -> list[Element]:
    """Return a suspect's line: its number, title, reason, the line that it rests on, and its points."""
    number = _name_merge(suspect)
    elements = [
        make_link(_make_page(address, suspect), number, bold=True),
        make_text(f" {truncate_text(collapse_lines(suspect.title), _MAX_TITLE)} – "),  # noqa: RUF001 (a dash)
        *make_prose(sentences.format_reason(suspect.reason), {}, _MAX_REASON),
    ]
    if change := suspect.change:
        elements += [make_text(" "), _make_place(address, suspect, change), *_render_lines(change, limit)]
    return [*elements, make_text(f" · {_format_marks(suspect)}", italic=True)]


def _name_merge(suspect: Suspect) -> str:
    """Return the number of a merge; a commit without a pull request has a negative one, so its hash."""
    return f"#{suspect.number}" if suspect.number > 0 else suspect.commit[:10]


def _make_page(address: str, suspect: Suspect) -> str:
    """Return the address of a merge's page."""
    return f"{address}/pull/{suspect.number}" if suspect.number > 0 else f"{address}/commit/{suspect.commit}"


def _make_place(address: str, suspect: Suspect, change: ContractChange) -> Element:
    """Return the changed line's place; what is gone is in the pull request alone."""
    place = f"{truncate_text(collapse_lines(change.path), _MAX_PATH) or UNNAMED}:{change.line}"
    if change.side is DiffSide.OLD:
        return make_link(_make_page(address, suspect), place)
    return make_link(f"{address}/blob/{suspect.commit}/{quote(change.path)}#L{change.line}", place)


def _render_lines(change: ContractChange, limit: int) -> list[Element]:
    """Return the line before and after."""
    lines = (truncate_text(collapse_lines(each), limit) for each in (change.before, change.after) if limit)
    texts = [line for line in lines if line]
    elements: list[Element] = []
    for text in texts:
        elements += [make_text(" → " if elements else " "), make_text(text, code=True)]
    return elements


def _format_marks(suspect: Suspect) -> str:
    """Return the points, and that it was reverted."""
    reverted = [sentences.format_reverted(suspect.reverted_by)] if suspect.reverted_by is not None else []
    return " · ".join([sentences.format_points(suspect.score), *reverted])


def _describe_error(report: SuspectReport) -> str:
    """Return the line of the first error; empty if there is none."""
    return truncate_text(collapse_lines(report.trace.errors[0].text), _MAX_ERROR) if report.trace.errors else ""


def _format_count(report: SuspectReport) -> str:
    """Return how many merges explain the error."""
    return sentences.format_suspect_count(
        suspects=len(report.suspects) + report.omitted,
        merges=report.merges,
        since=_clean(report.since),
        until=_clean(report.until),
    )


def _list_notes(report: SuspectReport) -> Iterator[str]:
    """Yield what the list leaves out, and what to do if it is empty."""
    if report.trace.is_empty:
        yield sentences.NO_NAMES
    elif not report.suspects:
        yield sentences.NOTHING_FITS_HINT
    if report.omitted:
        yield sentences.format_omitted(report.omitted)
    if report.unread:
        yield sentences.format_unread_merges(report.unread)


def format_suspects(report: SuspectReport) -> str:
    """Format the suspects for a terminal."""
    error = _describe_error(report)
    head = [*([sentences.format_searched(error)] if error else []), _format_count(report)]
    parts = ["\n".join(head), *(_format_suspect(place, each) for place, each in enumerate(report.suspects, 1))]
    parts += [" ".join(_list_notes(report))]
    return redact_text(remove_invisible("\n\n".join(part for part in parts if part)))


def _format_suspect(place: int, suspect: Suspect) -> str:
    """Return the lines of one suspect."""
    lines = [
        f"{place}. {_name_merge(suspect)} {_clean(suspect.title)}",
        f"{_INDENT}{suspect.commit[:10]} · {suspect.merged_at:%Y-%m-%d} · {_format_marks(suspect)}",
        f"{_INDENT}{_clean(sentences.format_reason(suspect.reason), _MAX_REASON)}",
    ]
    if change := suspect.change:
        lines.append(f"{_INDENT}{_clean(change.path)}:{change.line}")
        lines += [f"{_INDENT}- {_clean(change.before)}"] * bool(change.before)
        lines += [f"{_INDENT}+ {_clean(change.after)}"] * bool(change.after)
    return "\n".join(lines)


def _clean(text: str, limit: int = _MAX_TERMINAL_LINE) -> str:
    """Return a text from outside on one line of bounded length."""
    return truncate_text(collapse_lines(text), limit)


def format_suspects_json(report: SuspectReport) -> str:
    """Format the suspects as JSON."""
    return redact_text(json.dumps(describe_suspects(report), ensure_ascii=False, indent=2))
