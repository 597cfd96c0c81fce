"""One pull request as a Slack message."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, tzinfo

from bot.domain.digest.models import Entry
from bot.domain.pull_requests.models import PullRequest
from bot.domain.summaries.diff_packing import Coverage
from bot.domain.text.strings import collapse_lines, truncate_text
from bot.ports import Post
from bot.render.blocks.message_limits import choose_fitting_blocks
from bot.render.blocks.mrkdwn import escape_mrkdwn
from bot.render.blocks.rich_text import (
    Block,
    make_block,
    make_bullets,
    make_context,
    make_header,
    make_link,
    make_prose,
    make_section,
    make_text,
)
from bot.render.digest.shared_parts import format_band
from bot.render.review.findings import render_review
from bot.render.summaries import sentences
from bot.render.summaries.quotes import render_quote

# characters of one section and number of quotes: the first that fit the 9,000 characters of a message
_SIZES = ((1_000, 4), (700, 3), (450, 1))
_MAX_FINDINGS = 2
_MAX_FINDING_LENGTH = 240
_MAX_REASONS_LENGTH = 900
_MAX_FILES = 3


def render_summary(entry: Entry, zone: tzinfo = UTC) -> Post:
    """Render all that is known of an entry; times are in ``zone``."""
    pull = entry.pull
    blocks = choose_fitting_blocks(_render_blocks(entry, length, quotes, zone) for length, quotes in _SIZES)
    return Post(escape_mrkdwn(f"#{pull.number} {truncate_text(pull.title, 200)}"), tuple(blocks))


def _render_blocks(entry: Entry, length: int, quotes: int, zone: tzinfo) -> list[Block]:
    """Return the blocks; a section has up to ``length`` characters."""
    pull = entry.pull
    return [
        render_title(pull),
        *render_key_points(entry),
        *render_review(entry, _MAX_FINDINGS, _MAX_FINDING_LENGTH),
        *_render_sections(entry, length),
        *_render_evidence(entry, quotes),
        *_render_files(pull),
        make_context(format_facts(entry, zone)),
    ]


def render_title(pull: PullRequest) -> Block:
    """Return the heading; the number stands below, where it can be a link."""
    return make_header(collapse_lines(pull.title) or f"#{pull.number}")


def render_key_points(entry: Entry) -> Iterator[Block]:
    """Yield what it is, how risky it is, and what to do."""
    lines = [
        [
            make_link(entry.pull.url, f"#{entry.number}"),
            make_text(" "),
            *make_prose(entry.summary.headline, {}, 200),
        ]
    ]
    lines.append([make_text(sentences.RISK_LABEL, bold=True), make_text(_describe_risk(entry))])
    if entry.summary.action:
        label = make_text(sentences.ACTION_LABEL, bold=True)
        lines.append([label, *make_prose(entry.summary.action, {}, 240)])
    yield make_block(make_bullets(lines))


def _describe_risk(entry: Entry) -> str:
    """Return the band, all reasons, and the rate of repairs in the band; no probability of this one."""
    if entry.pull.files is None:
        return sentences.FILES_NOT_READ
    if entry.is_revert:
        return sentences.IS_REVERT
    reasons = truncate_text("; ".join(entry.risk.reasons), _MAX_REASONS_LENGTH)
    label = format_band(entry.risk) + (f": {reasons}" if reasons else "")
    return f"{label} {sentences.format_band_rate(entry.risk.band)}"


def _render_sections(entry: Entry, length: int) -> Iterator[Block]:
    """Yield the sections of the summary."""
    for name, content in entry.summary.sections:
        yield make_block(make_section([make_text(f"{name}\n", bold=True), *make_prose(content, {}, length)]))


def _render_evidence(entry: Entry, most: int) -> Iterator[Block]:
    """Yield the first quotes, if there are any."""
    items = [render_quote(entry.pull, evidence) for evidence in entry.summary.evidence[:most]]
    if items:
        yield make_block(make_section([make_text(sentences.QUOTES_TITLE, bold=True)]), make_bullets(items))


def _render_files(pull: PullRequest) -> Iterator[Block]:
    """Yield the largest files."""
    lines = [
        f"{truncate_text(collapse_lines(file.path), 120)} {sentences.format_lines(file)}"
        for file in pull.largest_files[:_MAX_FILES]
    ]
    rest = pull.changed_files - len(lines)
    if lines:
        more = [sentences.format_more_files(rest)] if rest > 0 else []
        yield make_context(" · ".join([*lines, *more]))


def format_facts(entry: Entry, zone: tzinfo = UTC) -> str:
    """Format type, size, author and merge, and what was not read; times are in ``zone``."""
    pull = entry.pull
    clipped = entry.summary.coverage is not Coverage.FULL
    parts = [
        entry.summary.type.lower(),
        sentences.format_size(pull),
        f"{pull.author.login}, {sentences.format_merge_state(pull, zone)}",
        *([sentences.format_coverage(entry.summary.coverage)] if clipped else []),
        *([entry.summary.fallback_note] if entry.summary.is_fallback else []),
    ]
    return " · ".join(parts)
