"""Several days in one message, for someone who was away."""

from __future__ import annotations

from bot.domain.catchup import CatchUp
from bot.domain.digest import Digest
from bot.ports import Post
from bot.render.lead import actions, addresses, coverage_line, reverted, risky
from bot.render.mrkdwn import escape
from bot.render.rich import Block, Element, block, bullets, characters, header, prose, section, text
from bot.render.thread import MOST_CHARACTERS

# characters of a day's overview; numbers in it become links, which count too
_DAY = 200
_SHORT_DAY = 100


def catch_up_post(found: CatchUp) -> Post:
    """One line for each day, then what was taken back, may hurt or needs action in all of them."""
    merged = f"{found.merged:,} merged" if found.merged else "nothing merged"
    title = f"{found.name} · {found.span.title} · {merged}"
    blocks = _blocks(title, found, _DAY)
    if characters(blocks) > MOST_CHARACTERS:
        blocks = _blocks(title, found, _SHORT_DAY)
    return Post(escape(title), tuple(blocks))


def _blocks(title: str, found: CatchUp, limit: int) -> list[Block]:
    whole = found.whole
    items = [_day(digest, limit) for digest in found.digests]
    days = block(section([text("Day by day", bold=True)]), bullets(items))
    return [header(title), days, *reverted(whole), *risky(whole), *actions(whole), *coverage_line(whole)]


def _day(digest: Digest, limit: int) -> list[Element]:
    count = f"{len(digest.entries)} merged" if digest.entries else "nothing merged"
    date = text(f"{digest.day.date:%a} {digest.day.date.day} {digest.day.date:%b}", bold=True)
    if not digest.entries or not digest.overview.text:
        return [date, text(f" · {count}")]
    # links only where there is room for them: an address is longer than what it stands for
    known = addresses(digest) if limit == _DAY else {}
    return [date, text(f" · {count}: "), *prose(digest.overview.text, known, limit)]
