"""Several days in one message, for someone who was away."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.catchup import CatchUp
from bot.domain.digest import Digest
from bot.domain.texts import one_line, shorten
from bot.ports import Post
from bot.render.coverage import count_difference
from bot.render.fitting import first_that_fits
from bot.render.lead import merges
from bot.render.mrkdwn import escape
from bot.render.parts import actions, addresses, coverage_line, reverted, risky
from bot.render.rich import Block, Element, block, bullets, context, header, prose, section, text


def catch_up_post(found: CatchUp) -> Post:
    """One line for each day, then what was taken back, may hurt or needs action in all of them."""
    title = (
        f"{shorten(one_line(found.name), 60)} · {found.span.title}{found.whole.zone_note} · {merges(found.whole)}"
    )
    # links in prose, and then words, are left out where they would not fit
    versions = ((200, True), (120, False), (60, False))
    blocks = first_that_fits(_blocks(title, found, limit, links=links) for limit, links in versions)
    return Post(escape(title), tuple(blocks))


def _blocks(title: str, found: CatchUp, limit: int, *, links: bool) -> list[Block]:
    """``limit`` is in characters, for the sentences of a day."""
    whole = found.whole
    known = addresses(whole) if links else {}
    items = [_day(digest, addresses(digest) if links else {}, limit) for digest in found.digests]
    days = block(section([text("Day by day", bold=True)]), bullets(items))
    taken_back = reverted(whole.standing, whole.older_reverts)
    what_matters = [*taken_back, *risky(whole, known), *actions(whole, known)]
    return [header(title), days, *what_matters, *coverage_line(whole), *_doubts(found)]


def _day(digest: Digest, known: dict[int, str], limit: int) -> list[Element]:
    count = merges(digest)
    date = text(_date(digest), bold=True)
    if not digest.entries or not digest.overview.text:
        return [date, text(f" · {count}")]
    facts = " (without the model)" if digest.overview.fallback else ""
    return [date, text(f" · {count}{facts}: "), *prose(digest.overview.text, known, limit)]


def _doubts(found: CatchUp) -> Iterator[Block]:
    """Days whose count is another elsewhere, and what else could not be had of a day; the same is said once."""
    dates: dict[str, list[str]] = {}
    for digest in found.digests:
        for doubt in (count_difference(digest), *digest.missing):
            dates.setdefault(doubt, []).append(_date(digest))
    doubts = [f"{', '.join(those)}: {doubt}" for doubt, those in dates.items() if doubt]
    if doubts:
        yield context(shorten(" · ".join(doubts), 600))


def _date(digest: Digest) -> str:
    return f"{digest.day.date:%a} {digest.day.date.day} {digest.day.date:%b}"
