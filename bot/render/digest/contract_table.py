"""The contract changes of a day as a table at the end of its thread: by class, what was removed first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from bot.domain.digest.models import Digest
from bot.domain.digest.touches import ContractRow, list_contract_rows
from bot.domain.pull_requests.models import PullRequest
from bot.render.blocks.rich_text import Block, Element, make_block, make_bullets, make_section, make_text
from bot.render.digest import touch_sentences as sentences
from bot.render.digest.touches import make_code, render_line_link, render_number, shorten_code, shorten_name
from impact.contract.models import ContractClass

# of each class; the command lists all
_MAX_ROWS = 12
_MAX_CODE_WORDS = 12


def render_contract_table(digest: Digest) -> Iterator[Block]:
    """Yield a block for each class of contract changes."""
    rows = list_contract_rows(digest.contracts)
    pulls = {entry.number: entry.pull for entry in digest.entries}
    for subject, group in groupby(rows, lambda row: row.change.subject):
        yield _render_class(subject, list(group), pulls)


def _render_class(subject: ContractClass, rows: list[ContractRow], pulls: Mapping[int, PullRequest]) -> Block:
    """Return the rows of a class under its title."""
    items = [_render_row(row, pulls.get(row.number)) for row in rows[:_MAX_ROWS]]
    if len(rows) > _MAX_ROWS:
        items.append([make_text(sentences.format_more_hits(len(rows) - _MAX_ROWS, ""))])
    title = sentences.format_class_title(subject, len(rows))
    return make_block(make_section([make_text(title, bold=True)]), make_bullets(items))


def _render_row(row: ContractRow, pull: PullRequest | None) -> list[Element]:
    """Return a row: the merge, the name, what happened to it, and the line before and after."""
    change = row.change
    before, after = (shorten_code(text, _MAX_CODE_WORDS) for text in (change.before, change.after))
    new_name = make_code(shorten_name(change.new_name))
    # what differs may be cut off
    shown = () if before == after else (make_code(before), make_code(after))
    versions = [part for part in ((new_name,) if new_name else shown) if part]
    return [
        *render_number(row.number, pull),
        make_text(" "),
        *make_code(shorten_name(change.name)),
        make_text(f" {sentences.format_kind(change)}", bold=True),
        *_join_versions(versions),
        *render_line_link(change, pull),
    ]


def _join_versions(versions: list[list[Element]]) -> Iterator[Element]:
    """Yield the versions of a line, with an arrow between them."""
    for place, version in enumerate(versions):
        yield make_text(" → " if place else ": ")
        yield from version
