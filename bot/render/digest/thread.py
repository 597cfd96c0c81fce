"""The thread under the lead message: every pull request once, grouped, split where a message would be too long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from bot.domain.digest.models import Digest, Entry
from bot.domain.pull_requests.areas import OTHER
from bot.domain.summaries.diff_packing import Coverage
from bot.domain.text.strings import one_line, shorten
from bot.ports import Post
from bot.render.blocks.message_limits import MOST_BLOCKS, MOST_CHARACTERS
from bot.render.blocks.mrkdwn import escape
from bot.render.blocks.rich_text import (
    Block,
    Element,
    block,
    bullets,
    characters,
    header,
    link,
    prose,
    section,
    text,
)
from bot.render.digest.parts import addresses, duration, lands_again
from bot.render.summaries.facts import size

# of one block: a third of a message, so that a large group is cut at a pull request and not pushed to the next
_BLOCK_CHARACTERS = 3_000


def thread(digest: Digest) -> tuple[Post, ...]:
    """Render the messages of the thread, in order."""
    blocks = [part for label, entries in digest.groups() for part in _group(label, entries, digest)]
    return tuple(_post(blocks, f"Part {place}") for place, blocks in enumerate(_split(blocks), 1))


def threads(digests: Iterable[Digest]) -> tuple[Post, ...]:
    """Render the threads of several days: each message says which day it belongs to."""
    return tuple(_dated(post, digest) for digest in digests for post in thread(digest))


def _dated(post: Post, digest: Digest) -> Post:
    """Return a message with its day as the headline."""
    day = f"{digest.day.date:%A} {digest.day.date.day} {digest.day.date:%B}"
    return Post(escape(f"{day}, ") + post.text, (header(day), *post.blocks))


def _post(blocks: tuple[Block, ...], name: str) -> Post:
    """Build a message from its blocks; its fallback text has the labels of the groups."""
    labels = [str(part["elements"][0]["elements"][0]["text"]) for part in blocks]
    return Post(escape(f"{name}: {', '.join(dict.fromkeys(labels))}"), blocks)


def _split(blocks: Iterable[Block]) -> Iterator[tuple[Block, ...]]:
    """Yield the blocks in parts that fit a message."""
    current: list[Block] = []
    for part in blocks:
        too_long = characters([*current, part]) > MOST_CHARACTERS or len(current) == MOST_BLOCKS
        if current and too_long:
            yield tuple(current)
            current = []
        current.append(part)
    if current:
        yield tuple(current)


def _group(label: str, entries: Iterable[Entry], digest: Digest) -> Iterator[Block]:
    """Yield the blocks of a group, each short enough to fit a message beside others."""
    items: list[list[Element]] = []
    urls = addresses(digest)
    for entry in entries:
        item = _entry(entry, digest, urls)
        if items and characters([*items, item]) > _BLOCK_CHARACTERS:
            yield _titled(label, items)
            items = []
        items.append(item)
    if items:
        yield _titled(label, items)


def _titled(label: str, items: list[list[Element]]) -> Block:
    """Return a list with its title as one block."""
    return block(section([text(shorten(one_line(label), 100) or OTHER, bold=True)]), bullets(items))


def _entry(entry: Entry, digest: Digest, urls: Mapping[int, str]) -> list[Element]:
    """Return the line of a pull request."""
    title = shorten(one_line(entry.pull.title), 160)
    elements = [link(entry.pull.url, f"#{entry.number}"), text(f" {title}", bold=not entry.summary.is_trivial)]
    if not entry.summary.is_fallback:
        elements += [text(": "), *prose(entry.summary.headline, urls, 160)]
    return [*elements, *lands_again(entry), text(f" ({_facts(entry, digest)})", italic=True)]


def _facts(entry: Entry, digest: Digest) -> str:
    """Format size, author, merge and outcome on one line."""
    pull = entry.pull
    parts = [
        size(pull),
        f"{pull.author.login}, merged {digest.day.local(pull.merge_time):%H:%M} by {pull.merged_by.login}",
        *_ends(entry, digest),
        *([entry.summary.lack] if entry.summary.is_fallback else []),
        *([f"diff {entry.summary.coverage}"] if entry.summary.coverage is not Coverage.FULL else []),
    ]
    return "; ".join(parts)


def _ends(entry: Entry, digest: Digest) -> Iterator[str]:
    """Yield the outcomes of an entry, such as ``reverted after 1.4 h by #9``."""
    for outcome in digest.outcomes:
        if outcome.pull.number == entry.number:
            undone = "" if outcome.stands else ", which was itself reverted"
            yield f"{outcome.fate} after {duration(outcome.lasted)} by #{outcome.by.number}{undone}"
