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
    """The message in the channel: at most 10 blocks, whatever the day was like."""
    # links in prose are left out where they would not fit; every pull request that is listed keeps its own
    blocks = first_that_fits(_blocks(digest, known) for known in (addresses(digest), {}))
    # what a phone's notification and a screen reader give instead of the blocks
    spoken = [headline(digest), *([digest.overview.text] if digest.entries and digest.overview.text else [])]
    return Post(escape(shorten(one_line(". ".join(spoken)), 800)), tuple(blocks))


def _blocks(digest: Digest, known: Mapping[int, str]) -> list[Block]:
    taken_back = reverted(digest.standing, digest.older_reverts, ", in the thread")
    blocks = [header(headline(digest)), *_overview(digest, known), *taken_back]
    blocks += [*risky(digest, known), *actions(digest, known), *_themes(digest, known), *coverage_line(digest)]
    return blocks


def headline(digest: Digest) -> str:
    """Name, date and count, such as ``vLLM · Saturday 28 February 2026 · 18 merged``."""
    date = f"{digest.day.date:%A} {digest.day.date.day} {digest.day.date:%B %Y}"
    return f"{digest.name} · {date}{digest.zone_note} · {merges(digest)}"


def merges(digest: Digest) -> str:
    """``18 merged``, ``nothing merged``; ``4 of 18 merged`` where a view leaves some out."""
    if not digest.merged:
        return "nothing merged"
    return f"{len(digest.entries)} of {digest.merged:,} merged" if digest.view else f"{digest.merged:,} merged"


def _overview(digest: Digest, known: Mapping[int, str]) -> Iterator[Block]:
    if not digest.entries:
        return
    paragraphs = []
    if digest.overview.text:
        paragraphs.append(section(prose(digest.overview.text, known, 700)))
    if digest.overview.fallback:
        # where money runs short the overview is given up before what the model says of each
        is_alone = len(digest.fallbacks) == len(digest.entries) or digest.overview.fallback not in SAVING
        what = "what you see are facts alone" if is_alone else "this paragraph is made of facts alone"
        note = f"Without the model ({digest.overview.fallback}): {what}."
        below = "\n" if paragraphs else ""
        paragraphs.append(section([text(below + shorten(one_line(note), 300), italic=True)]))
    if paragraphs:
        yield block(*paragraphs)


def _themes(digest: Digest, known: Mapping[int, str]) -> Iterator[Block]:
    themes = digest.overview.themes[:_MOST_THEMES]
    items = [[text(f"{one_line(theme.title)}: "), *numbers(theme.numbers, known)] for theme in themes]
    if items:
        yield block(section([text("Themes", bold=True)]), bullets(items))
