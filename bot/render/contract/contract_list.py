"""The answer to ``/prdigest contract``: rows by class, what was removed first, each with a link to its line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from bot.domain.contract.listing import ContractList
from bot.domain.digest.touches import list_contract_rows
from bot.domain.pull_requests.models import PullRequest
from bot.domain.text.strings import collapse_lines, truncate_text
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
    make_section,
    make_text,
)
from bot.render.contract import sentences
from bot.render.digest.touches import (
    format_class_title,
    format_kind,
    make_code,
    render_line_link,
    render_number,
    shorten_code,
    shorten_name,
)
from impact.contract.models import ContractClass
from impact.contract.table import ContractTableRow

_MAX_NOTES_LENGTH = 1_500


@dataclass(frozen=True, slots=True)
class _Limits:
    """How many rows a class has, and how many words the line before and after; 0 leaves the line out."""

    rows: int
    words: int


# what is tried until a message fits
_VERSIONS = tuple(_Limits(*each) for each in ((40, 12), (25, 8), (15, 8), (8, 6), (8, 0), (4, 0), (2, 0)))


def render_contract_list(contract_list: ContractList) -> Post:
    """Render the list as a message."""
    rows = list_contract_rows(contract_list.contracts)
    name = truncate_text(collapse_lines(contract_list.name), 60)
    title = sentences.format_list_title(name=name, days=contract_list.span.title, count=len(rows))
    blocks = choose_fitting_blocks(_render_blocks(title, contract_list, rows, limits) for limits in _VERSIONS)
    return Post(escape_mrkdwn(title), tuple(blocks))


def _render_blocks(
    title: str, contract_list: ContractList, rows: Sequence[ContractTableRow], limits: _Limits
) -> list[Block]:
    pulls = {pull.number: pull for pull in contract_list.pulls}
    groups = [(subject, list(group)) for subject, group in groupby(rows, lambda row: row.change.subject)]
    hidden = sum(max(len(group) - limits.rows, 0) for _, group in groups)
    blocks = [make_header(title)]
    if not rows:
        blocks.append(make_block(make_section([make_text(sentences.NOTHING)])))
    blocks += [_render_class(subject, group, pulls, limits) for subject, group in groups]
    notes = " · ".join(_list_notes(contract_list, hidden))
    return [*blocks, make_context(truncate_text(notes, _MAX_NOTES_LENGTH))]


def _render_class(
    subject: ContractClass, rows: Sequence[ContractTableRow], pulls: Mapping[int, PullRequest], limits: _Limits
) -> Block:
    """Return the rows of a class under its title."""
    items = [_render_row(row, pulls.get(row.number), limits) for row in rows[: limits.rows]]
    if len(rows) > limits.rows:
        items.append([make_text(sentences.format_more_rows(len(rows) - limits.rows))])
    title = format_class_title(subject, len(rows))
    return make_block(make_section([make_text(title, bold=True)]), make_bullets(items))


def _render_row(row: ContractTableRow, pull: PullRequest | None, limits: _Limits) -> list[Element]:
    """Return a row: the merge, what happened, the name, the new name or the line before and after, and a link."""
    change = row.change
    return [
        *render_number(row.number, pull),
        make_text(f" {format_kind(change)} ", bold=True),
        *make_code(shorten_name(change.name)),
        *_render_versions(row, limits),
        *render_line_link(change, pull),
    ]


def _render_versions(row: ContractTableRow, limits: _Limits) -> list[Element]:
    change = row.change
    if change.new_name:
        return [make_text(" → "), *make_code(shorten_name(change.new_name))]
    if not limits.words:
        return []
    # a flag that nothing else is known of is its own line
    told = [
        text for text in (change.before, change.after) if text != change.name or (change.before and change.after)
    ]
    texts = (shorten_code(text, limits.words) for text in told)
    versions = [code for text in texts if (code := make_code(text))]
    elements: list[Element] = []
    for place, code in enumerate(versions):
        elements += [make_text(" → " if place else ": "), *code]
    return elements


def _list_notes(contract_list: ContractList, hidden: int) -> Iterator[str]:
    """Yield what was looked at, and what the list leaves out."""
    yield sentences.format_merges(
        merged=contract_list.merged, matching=len(contract_list.contracts), filters=contract_list.filters
    )
    if hidden:
        yield sentences.format_hidden_rows(hidden)
    if contract_list.unread:
        yield sentences.format_unread(contract_list.unread)
    yield from dict.fromkeys(contract_list.caveats)
