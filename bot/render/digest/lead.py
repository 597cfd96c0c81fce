"""The lead message: what a reader with a minute and a phone needs. Everything else is in its thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bot.domain.digest.models import Digest
from bot.domain.operations.budget import SAVING
from bot.domain.text.strings import one_line, shorten
from bot.ports import Post
from bot.render.blocks.message_limits import first_that_fits
from bot.render.blocks.mrkdwn import escape
from bot.render.blocks.rich_text import Block, block, bullets, header, prose, section, text
from bot.render.digest.parts import actions, addresses, coverage_line, numbers, reverted, risky

_MOST_THEMES = 4


def lead(digest: Digest) -> Post:
    """Render the message in the channel: at most 10 blocks, however busy the day was."""
    # links in prose are left out where they would not fit; every pull request that is listed keeps its own
    blocks = first_that_fits(_blocks(digest, urls) for urls in (addresses(digest), {}))
    # what a phone's notification shows and a screen reader reads instead of the blocks
    fallback = [headline(digest), *([digest.overview.text] if digest.entries and digest.overview.text else [])]
    return Post(escape(shorten(one_line(". ".join(fallback)), 800)), tuple(blocks))


def _blocks(digest: Digest, urls: Mapping[int, str]) -> list[Block]:
    """Return the blocks; ``urls`` are the addresses of the numbers that become links in prose."""
    outcomes = reverted(digest.standing, digest.older_reverts, ", in the thread")
    blocks = [header(headline(digest)), *_overview(digest, urls), *outcomes]
    blocks += [*risky(digest, urls), *actions(digest, urls), *_themes(digest, urls), *coverage_line(digest)]
    return blocks


def headline(digest: Digest) -> str:
    """Format name, date and count, such as ``vLLM · Saturday 28 February 2026 · 18 merged``."""
    date = f"{digest.day.date:%A} {digest.day.date.day} {digest.day.date:%B %Y}"
    return f"{digest.name} · {date}{digest.zone_note} · {merges(digest)}"


def merges(digest: Digest) -> str:
    """Format ``18 merged`` or ``nothing merged``; ``4 of 18 merged`` if a view hides some."""
    if not digest.merged:
        return "nothing merged"
    return f"{len(digest.entries)} of {digest.merged:,} merged" if digest.view else f"{digest.merged:,} merged"


def _overview(digest: Digest, urls: Mapping[int, str]) -> Iterator[Block]:
    """Yield the overview and, if no model wrote it, the reason."""
    if not digest.entries:
        return
    paragraphs = []
    if digest.overview.text:
        paragraphs.append(section(prose(digest.overview.text, urls, 700)))
    if digest.overview.fallback:
        # if the budget runs short, the overview is dropped before the summaries
        is_alone = len(digest.fallbacks) == len(digest.entries) or digest.overview.fallback not in SAVING
        what = "what you see are facts alone" if is_alone else "this paragraph is made of facts alone"
        note = f"Without the model ({digest.overview.fallback}): {what}."
        below = "\n" if paragraphs else ""
        paragraphs.append(section([text(below + shorten(one_line(note), 300), italic=True)]))
    if paragraphs:
        yield block(*paragraphs)


def _themes(digest: Digest, urls: Mapping[int, str]) -> Iterator[Block]:
    """Yield the themes with the numbers of their pull requests."""
    themes = digest.overview.themes[:_MOST_THEMES]
    items = [[text(f"{one_line(theme.title)}: "), *numbers(theme.numbers, urls)] for theme in themes]
    if items:
        yield block(section([text("Themes", bold=True)]), bullets(items))
