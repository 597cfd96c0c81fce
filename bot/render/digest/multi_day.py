"""Several days in one message, for a reader who was away."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from bot.domain.digest.models import Digest
from bot.domain.digest.multi_day import MultiDayDigest, UnknownDay
from bot.domain.text.strings import collapse_lines, truncate_text
from bot.ports import Post
from bot.render.blocks.message_limits import choose_fitting_blocks
from bot.render.blocks.mrkdwn import escape_mrkdwn
from bot.render.blocks.rich_text import (
    Block,
    Element,
    make_block,
    make_bullets,
    make_context,
    make_header,
    make_prose,
    make_section,
    make_text,
)
from bot.render.digest import sentences
from bot.render.digest.coverage import describe_count_difference
from bot.render.digest.shared_parts import (
    collect_urls,
    group_actions,
    render_actions,
    render_coverage,
    render_outcomes,
    render_risky_changes,
)
from bot.render.digest.touch_sentences import BY_DEPRECATIONS
from bot.render.digest.touches import HitContext, render_news_line, render_touches


def render_catch_up(catch_up: MultiDayDigest) -> Post:
    """Render a line for each day, then the reverts, risks and actions of all of them."""
    days = f"{catch_up.span.title}{catch_up.combined.zone_note}"
    title = f"{truncate_text(collapse_lines(catch_up.name), 60)} · {days} · {_format_count(catch_up)}"
    # links in prose, and then words, are left out where they would not fit
    versions = ((200, True), (120, False), (60, False))
    blocks = choose_fitting_blocks(
        _render_blocks(title, catch_up, limit, links=links) for limit, links in versions
    )
    return Post(escape_mrkdwn(title), tuple(blocks))


def _render_blocks(title: str, catch_up: MultiDayDigest, limit: int, *, links: bool) -> list[Block]:
    """Return the blocks; ``limit`` is in characters, for the sentences of a day."""
    whole = catch_up.combined
    urls = collect_urls(whole) if links else {}
    dated = [*_render_available_days(catch_up, limit, links=links), *_render_missing_days(catch_up)]
    items = [item for _, item in sorted(dated, key=itemgetter(0))]
    days = make_block(make_section([make_text(sentences.DAYS_TITLE, bold=True)]), make_bullets(items))
    outcomes = render_outcomes(whole.standing_outcomes, whole.older_reverts)
    actions = render_actions(group_actions(whole), collect_urls(whole), urls)
    context = HitContext.build((entry.pull for entry in whole.entries), whole.outcomes)
    touches = render_touches(whole.touches, context) if whole.touches else ()
    news = render_news_line(whole.deprecations, BY_DEPRECATIONS)
    what_matters = [*outcomes, *render_risky_changes(whole, whole.riskiest_entries, urls), *actions]
    return [
        make_header(title),
        *touches,
        *([news] if news else []),
        days,
        *what_matters,
        *render_coverage(whole),
        *_render_caveats(catch_up),
    ]


def _format_count(catch_up: MultiDayDigest) -> str:
    """Format the number of merges and, if not all days are available, on how many of them."""
    count = sentences.format_merge_count(catch_up.combined)
    if not catch_up.unknown_days:
        return count
    return count + sentences.format_available_days(available=len(catch_up.digests), all_days=len(catch_up.span))


def _render_available_days(
    catch_up: MultiDayDigest, limit: int, *, links: bool
) -> Iterator[tuple[dt.date, list[Element]]]:
    """Yield a line for each day that has a digest."""
    for digest in catch_up.digests:
        yield digest.day.date, _render_day(digest, collect_urls(digest) if links else {}, limit)


def _render_missing_days(catch_up: MultiDayDigest) -> Iterator[tuple[dt.date, list[Element]]]:
    """Yield a line for each run of days that have no digest for the same reason."""

    def get_run_key(placed: tuple[int, UnknownDay]) -> tuple[int, str]:
        """Return a key that days in a row with the same reason share."""
        return placed[1].date.toordinal() - placed[0], placed[1].reason

    for (_, reason), days in groupby(enumerate(catch_up.unknown_days), get_run_key):
        first, *_, last = [each.date for _, each in days] * 2
        dates = sentences.format_short_date(first)
        if last != first:
            dates += f" – {sentences.format_short_date(last)}"  # noqa: RUF001 (a dash)
        yield first, [make_text(dates, bold=True), make_text(f" · {reason}")]


def _render_day(digest: Digest, urls: dict[int, str], limit: int) -> list[Element]:
    """Return the line of a day."""
    count = sentences.format_merge_count(digest)
    date = make_text(_format_date(digest), bold=True)
    if not digest.entries or not digest.overview.text:
        return [date, make_text(f" · {count}")]
    facts = sentences.WITHOUT_MODEL if digest.overview.fallback else ""
    return [date, make_text(f" · {count}{facts}: "), *make_prose(digest.overview.text, urls, limit)]


def _render_caveats(catch_up: MultiDayDigest) -> Iterator[Block]:
    """Yield the days with a different count or missing parts, each caveat once."""
    dates: dict[str, list[str]] = {}
    for digest in catch_up.digests:
        for caveat in (describe_count_difference(digest), *digest.missing):
            dates.setdefault(caveat, []).append(_format_date(digest))
    caveats = [f"{', '.join(those)}: {caveat}" for caveat, those in dates.items() if caveat]
    if caveats:
        yield make_context(truncate_text(" · ".join(caveats), 600))


def _format_date(digest: Digest) -> str:
    """Format the date of a digest, such as ``Sat 28 Feb``."""
    return sentences.format_short_date(digest.day.date)
