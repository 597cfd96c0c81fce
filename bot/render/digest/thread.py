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
    """The messages of the thread, in order."""
    blocks = [found for label, entries in digest.groups() for found in _group(label, entries, digest)]
    return tuple(_post(blocks, f"Part {place}") for place, blocks in enumerate(_split(blocks), 1))


def threads(digests: Iterable[Digest]) -> tuple[Post, ...]:
    """The same for several days: each post says which day it belongs to."""
    return tuple(_dated(post, digest) for digest in digests for post in thread(digest))


def _dated(post: Post, digest: Digest) -> Post:
    day = f"{digest.day.date:%A} {digest.day.date.day} {digest.day.date:%B}"
    return Post(escape(f"{day}, ") + post.text, (header(day), *post.blocks))


def _post(blocks: tuple[Block, ...], name: str) -> Post:
    labels = [str(found["elements"][0]["elements"][0]["text"]) for found in blocks]
    return Post(escape(f"{name}: {', '.join(dict.fromkeys(labels))}"), blocks)


def _split(blocks: Iterable[Block]) -> Iterator[tuple[Block, ...]]:
    held: list[Block] = []
    for found in blocks:
        too_long = characters([*held, found]) > MOST_CHARACTERS or len(held) == MOST_BLOCKS
        if held and too_long:
            yield tuple(held)
            held = []
        held.append(found)
    if held:
        yield tuple(held)


def _group(label: str, entries: Iterable[Entry], digest: Digest) -> Iterator[Block]:
    items: list[list[Element]] = []
    known = addresses(digest)
    for entry in entries:
        item = _entry(entry, digest, known)
        if items and characters([*items, item]) > _BLOCK_CHARACTERS:
            yield _titled(label, items)
            items = []
        items.append(item)
    if items:
        yield _titled(label, items)


def _titled(label: str, items: list[list[Element]]) -> Block:
    return block(section([text(shorten(one_line(label), 100) or OTHER, bold=True)]), bullets(items))


def _entry(entry: Entry, digest: Digest, known: Mapping[int, str]) -> list[Element]:
    title = shorten(one_line(entry.pull.title), 160)
    found = [link(entry.pull.url, f"#{entry.number}"), text(f" {title}", bold=not entry.summary.is_trivial)]
    if not entry.summary.is_fallback:
        found += [text(": "), *prose(entry.summary.headline, known, 160)]
    return [*found, *lands_again(entry), text(f" ({_facts(entry, digest)})", italic=True)]


def _facts(entry: Entry, digest: Digest) -> str:
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
    """What became of it, such as ``reverted after 1.4 h by #9``."""
    for found in digest.outcomes:
        if found.pull.number == entry.number:
            undone = "" if found.stands else ", which was itself reverted"
            yield f"{found.fate} after {duration(found.lasted)} by #{found.by.number}{undone}"
