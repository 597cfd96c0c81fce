"""Several days in one message, for someone who was away."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from bot.domain.digest.models import Digest
from bot.domain.digest.multi_day import CatchUp, Unknown
from bot.domain.text.strings import one_line, shorten
from bot.ports import Post
from bot.render.blocks.message_limits import first_that_fits
from bot.render.blocks.mrkdwn import escape
from bot.render.blocks.rich_text import Block, Element, block, bullets, context, header, prose, section, text
from bot.render.digest.coverage import count_difference
from bot.render.digest.lead import merges
from bot.render.digest.parts import actions, addresses, coverage_line, reverted, risky


def catch_up_post(found: CatchUp) -> Post:
    """One line for each day, then what was taken back, may hurt or needs action in all of them."""
    days = f"{found.span.title}{found.whole.zone_note}"
    title = f"{shorten(one_line(found.name), 60)} · {days} · {_count(found)}"
    # links in prose, and then words, are left out where they would not fit
    versions = ((200, True), (120, False), (60, False))
    blocks = first_that_fits(_blocks(title, found, limit, links=links) for limit, links in versions)
    return Post(escape(title), tuple(blocks))


def _blocks(title: str, found: CatchUp, limit: int, *, links: bool) -> list[Block]:
    """``limit`` is in characters, for the sentences of a day."""
    whole = found.whole
    known = addresses(whole) if links else {}
    dated = [*_known(found, limit, links=links), *_unknown(found)]
    items = [item for _, item in sorted(dated, key=itemgetter(0))]
    days = block(section([text("Day by day", bold=True)]), bullets(items))
    taken_back = reverted(whole.standing, whole.older_reverts)
    what_matters = [*taken_back, *risky(whole, known), *actions(whole, known)]
    return [header(title), days, *what_matters, *coverage_line(whole), *_doubts(found)]


def _count(found: CatchUp) -> str:
    """What was merged, and on how many of the days that is known, if not on all."""
    known = f" · {len(found.digests)} of {len(found.span)} days available" if found.unknown else ""
    return merges(found.whole) + known


def _known(found: CatchUp, limit: int, *, links: bool) -> Iterator[tuple[dt.date, list[Element]]]:
    """A line for each day that has a digest."""
    for digest in found.digests:
        yield digest.day.date, _day(digest, addresses(digest) if links else {}, limit)


def _unknown(found: CatchUp) -> Iterator[tuple[dt.date, list[Element]]]:
    """A line for each run of days that have none, for the same reason."""

    def run(placed: tuple[int, Unknown]) -> tuple[int, str]:
        return placed[1].date.toordinal() - placed[0], placed[1].reason

    for (_, reason), days in groupby(enumerate(found.unknown), run):
        first, *_, last = [each.date for _, each in days] * 2
        dates = _short(first) if first == last else f"{_short(first)} – {_short(last)}"  # noqa: RUF001 (a dash)
        yield first, [text(dates, bold=True), text(f" · {reason}")]


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
    return _short(digest.day.date)


def _short(date: dt.date) -> str:
    return f"{date:%a} {date.day} {date:%b}"
