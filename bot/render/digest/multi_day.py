"""Several days in one message, for a reader who was away."""

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


def catch_up_post(catch_up: CatchUp) -> Post:
    """Render a line for each day, then the reverts, risks and actions of all of them."""
    days = f"{catch_up.span.title}{catch_up.whole.zone_note}"
    title = f"{shorten(one_line(catch_up.name), 60)} · {days} · {_count(catch_up)}"
    # links in prose, and then words, are left out where they would not fit
    versions = ((200, True), (120, False), (60, False))
    blocks = first_that_fits(_blocks(title, catch_up, limit, links=links) for limit, links in versions)
    return Post(escape(title), tuple(blocks))


def _blocks(title: str, catch_up: CatchUp, limit: int, *, links: bool) -> list[Block]:
    """Return the blocks; ``limit`` is in characters, for the sentences of a day."""
    whole = catch_up.whole
    urls = addresses(whole) if links else {}
    dated = [*_known(catch_up, limit, links=links), *_unknown(catch_up)]
    items = [item for _, item in sorted(dated, key=itemgetter(0))]
    days = block(section([text("Day by day", bold=True)]), bullets(items))
    outcomes = reverted(whole.standing, whole.older_reverts)
    what_matters = [*outcomes, *risky(whole, urls), *actions(whole, urls)]
    return [header(title), days, *what_matters, *coverage_line(whole), *_doubts(catch_up)]


def _count(catch_up: CatchUp) -> str:
    """Format the number of merges and, if not all days are available, on how many of them."""
    available = f" · {len(catch_up.digests)} of {len(catch_up.span)} days available" if catch_up.unknown else ""
    return merges(catch_up.whole) + available


def _known(catch_up: CatchUp, limit: int, *, links: bool) -> Iterator[tuple[dt.date, list[Element]]]:
    """Yield a line for each day that has a digest."""
    for digest in catch_up.digests:
        yield digest.day.date, _day(digest, addresses(digest) if links else {}, limit)


def _unknown(catch_up: CatchUp) -> Iterator[tuple[dt.date, list[Element]]]:
    """Yield a line for each run of days that have no digest for the same reason."""

    def run(placed: tuple[int, Unknown]) -> tuple[int, str]:
        return placed[1].date.toordinal() - placed[0], placed[1].reason

    for (_, reason), days in groupby(enumerate(catch_up.unknown), run):
        first, *_, last = [each.date for _, each in days] * 2
        dates = _short(first)
        if last != first:
            dates += f" – {_short(last)}"  # noqa: RUF001 (a dash)
        yield first, [text(dates, bold=True), text(f" · {reason}")]


def _day(digest: Digest, urls: dict[int, str], limit: int) -> list[Element]:
    """Return the line of a day."""
    count = merges(digest)
    date = text(_date(digest), bold=True)
    if not digest.entries or not digest.overview.text:
        return [date, text(f" · {count}")]
    facts = " (without the model)" if digest.overview.fallback else ""
    return [date, text(f" · {count}{facts}: "), *prose(digest.overview.text, urls, limit)]


def _doubts(catch_up: CatchUp) -> Iterator[Block]:
    """Yield the days with a different count or missing parts, each caveat once."""
    dates: dict[str, list[str]] = {}
    for digest in catch_up.digests:
        for caveat in (count_difference(digest), *digest.missing):
            dates.setdefault(caveat, []).append(_date(digest))
    caveats = [f"{', '.join(those)}: {caveat}" for caveat, those in dates.items() if caveat]
    if caveats:
        yield context(shorten(" · ".join(caveats), 600))


def _date(digest: Digest) -> str:
    """Format the date of a digest, such as ``Sat 28 Feb``."""
    return _short(digest.day.date)


def _short(date: dt.date) -> str:
    """Format a date, such as ``Sat 28 Feb``."""
    return f"{date:%a} {date.day} {date:%b}"
