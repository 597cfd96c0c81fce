"""One pull request in a window of its own: the second reading, the four complete sections, quotes and files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, tzinfo
from typing import Any

from bot.domain.digest.models import Entry
from bot.domain.pull_requests.models import ChangedFile, PullRequest
from bot.domain.pull_requests.reference import Reference
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
from bot.render.conversations.notices import describe_error
from bot.render.review.findings import render_review
from bot.render.summaries import sentences
from bot.render.summaries.post import format_facts, render_key_points, render_title
from bot.render.summaries.quotes import render_quote

View = dict[str, Any]

# characters of a section and of a text of a finding, which have some hundred: the first that fit are used
_SIZES = ((2_800, 600), (1_000, 150))
# Slack accepts 250,000 as JSON, in which an emoji takes twelve
_MAX_VIEW_LENGTH = 240_000
_MAX_FILES = 20
_MAX_FINDINGS = 12


def render_details_view(entry: Entry, zone: tzinfo = UTC) -> View:
    """Render the window of an entry; times are in ``zone``."""
    blocks: list[Block] = []
    for section, finding in _SIZES:
        blocks = _render_blocks(entry, section, finding, zone)
        if len(json.dumps(blocks)) <= _MAX_VIEW_LENGTH:
            break
    return _build_view(entry.number, blocks)


def _render_blocks(entry: Entry, section: int, finding: int, zone: tzinfo) -> list[Block]:
    """Return the blocks; ``section`` and ``finding`` are the characters of a section and of a finding's texts."""
    pull = entry.pull
    return [
        render_title(pull),
        *render_key_points(entry),
        *render_review(entry, _MAX_FINDINGS, finding),
        *_render_sections(entry, section),
        *_render_evidence(entry),
        *_render_files(pull),
        make_context(format_facts(entry, zone)),
    ]


def render_loading_view(reference: Reference) -> View:
    """Render the window for the time while the pull request is read."""
    sentence = make_text(sentences.format_loading(reference))
    return _build_view(reference.number, [make_block(make_section([sentence]))])


def render_error_view(error: Exception, reference: str, number: int) -> View:
    """Render the window for an error, with the reference that is in the log too."""
    return _build_view(number, [make_block(make_section([make_text(describe_error(error, reference))]))])


def _build_view(number: int, blocks: list[Block]) -> View:
    """Build a window; Slack allows 24 characters in a title."""
    title = {"type": "plain_text", "text": f"#{number}"}
    close = {"type": "plain_text", "text": sentences.CLOSE_LABEL}
    return {"type": "modal", "title": title, "close": close, "blocks": blocks}


def _render_sections(entry: Entry, length: int) -> Iterator[Block]:
    """Yield the sections of the summary."""
    for name, content in entry.summary.sections:
        yield make_block(make_section([make_text(f"{name}\n", bold=True), *make_prose(content, {}, length)]))


def _render_evidence(entry: Entry) -> Iterator[Block]:
    """Yield the quotes, if there are any."""
    if entry.summary.evidence:
        items = [render_quote(entry.pull, evidence) for evidence in entry.summary.evidence]
        yield make_block(make_section([make_text(sentences.QUOTES_TITLE, bold=True)]), make_bullets(items))


def _render_files(pull: PullRequest) -> Iterator[Block]:
    """Yield the largest files."""
    items: list[list[Element]] = [_render_file(file) for file in pull.largest_files[:_MAX_FILES]]
    rest = pull.changed_files - len(items)
    if items and rest > 0:
        items.append([make_link(f"{pull.url}/files", sentences.format_more_files(rest))])
    if items:
        yield make_block(make_section([make_text(sentences.FILES_TITLE, bold=True)]), make_bullets(items))


def _render_file(file: ChangedFile) -> list[Element]:
    """Return the line of a file."""
    path = make_text(truncate_text(collapse_lines(file.path), 160) or sentences.UNNAMED_FILE, code=True)
    return [path, make_text(f" {sentences.format_changed_file(file)}")]
