"""The lead message: what a reader with a minute and a phone needs; everything else is in its thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bot.domain.digest.models import Digest
from bot.domain.operations.budget import BUDGET_REASONS
from bot.domain.text.strings import collapse_lines, truncate_text
from bot.ports import Post
from bot.render.blocks.message_limits import choose_fitting_blocks
from bot.render.blocks.mrkdwn import escape_mrkdwn
from bot.render.blocks.rich_text import (
    Block,
    make_block,
    make_bullets,
    make_header,
    make_prose,
    make_section,
    make_text,
)
from bot.render.digest import sentences
from bot.render.digest.shared_parts import (
    collect_urls,
    render_actions,
    render_coverage,
    render_numbers,
    render_outcomes,
    render_risky_changes,
)

_MAX_THEMES = 4


def render_lead(digest: Digest) -> Post:
    """Render the message in the channel: at most 10 blocks, however busy the day was."""
    # links in prose are left out where they would not fit; every pull request that is listed keeps its own
    blocks = choose_fitting_blocks(_render_blocks(digest, urls) for urls in (collect_urls(digest), {}))
    # what a phone's notification shows and a screen reader reads instead of the blocks
    fallback = [
        sentences.format_headline(digest),
        *([digest.overview.text] if digest.entries and digest.overview.text else []),
    ]
    return Post(escape_mrkdwn(truncate_text(collapse_lines(". ".join(fallback)), 800)), tuple(blocks))


def _render_blocks(digest: Digest, urls: Mapping[int, str]) -> list[Block]:
    """Return the blocks; ``urls`` are the addresses of the numbers that become links in prose."""
    outcomes = render_outcomes(digest.standing_outcomes, digest.older_reverts, sentences.OUTCOMES_ELSEWHERE)
    blocks = [make_header(sentences.format_headline(digest)), *_render_overview(digest, urls), *outcomes]
    blocks += [
        *render_risky_changes(digest, urls),
        *render_actions(digest, urls),
        *_render_themes(digest, urls),
        *render_coverage(digest),
    ]
    return blocks


def _render_overview(digest: Digest, urls: Mapping[int, str]) -> Iterator[Block]:
    """Yield the overview and, if no model wrote it, the reason."""
    if not digest.entries:
        return
    paragraphs = []
    if digest.overview.text:
        paragraphs.append(make_section(make_prose(digest.overview.text, urls, 700)))
    if digest.overview.fallback:
        # if the budget runs short, the overview is dropped before the summaries
        is_alone = (
            len(digest.fallback_entries) == len(digest.entries) or digest.overview.fallback not in BUDGET_REASONS
        )
        note = sentences.format_fallback_note(digest.overview.fallback, is_alone=is_alone)
        below = "\n" if paragraphs else ""
        paragraphs.append(make_section([make_text(below + truncate_text(collapse_lines(note), 300), italic=True)]))
    if paragraphs:
        yield make_block(*paragraphs)


def _render_themes(digest: Digest, urls: Mapping[int, str]) -> Iterator[Block]:
    """Yield the themes with the numbers of their pull requests."""
    themes = digest.overview.themes[:_MAX_THEMES]
    items = [
        [make_text(f"{collapse_lines(theme.title)}: "), *render_numbers(theme.numbers, urls)] for theme in themes
    ]
    if items:
        yield make_block(make_section([make_text(sentences.THEMES_TITLE, bold=True)]), make_bullets(items))
