"""Dates and times as Slack shows them: a format with tokens, in the reader's time zone."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from markupsafe import Markup, escape

from localslack.blockkit.links import render_link
from localslack.blockkit.names import Names

_TOKEN = re.compile(r"\{(\w{1,30})\}")
# documented: dates less than six months away have no year
_NEAR = timedelta(days=183)
_RELATIVE_DAYS = {-1: "yesterday", 0: "today", 1: "tomorrow"}
_TIME = Markup('<time datetime="{}" title="{}">{}</time>')
_FULL = "{date_long} at {time_secs}"
_STEPS = (("day", 86_400), ("hour", 3_600), ("minute", 60))


def render_date(timestamp: object, form: str, names: Names, url: str = "", fallback: str = "") -> Markup:
    """Render a Unix timestamp in this format; return the fallback where it is not a timestamp."""
    try:
        at = datetime.fromtimestamp(int(str(timestamp)), UTC).astimezone(names.zone)
    except (ValueError, OverflowError, OSError):
        return escape(fallback)
    now = names.now() if names.now else None
    shown = _TIME.format(at.isoformat(), format_date(at, _FULL, None), format_date(at, form, now))
    return render_link(url, shown)


def format_date(at: datetime, form: str, now: datetime | None) -> str:
    """Return the format with its tokens filled in; unknown tokens stay as they are."""
    here = now.astimezone(at.tzinfo) if now else None

    def fill_token(token: re.Match[str]) -> str:
        value = _TOKENS[token[1]](at, here) if token[1] in _TOKENS else token[0]
        return value[:1].upper() + value[1:] if token.start() == 0 else value

    return _TOKEN.sub(fill_token, form)


def _format_day(at: datetime) -> str:
    ending = "th" if 10 < at.day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(at.day % 10, "th")
    return f"{at:%B} {at.day}{ending}"


def _format_year(at: datetime, now: datetime | None) -> str:
    return "" if now and abs(at - now) < _NEAR else f", {at.year}"


def _format_date_only(at: datetime, now: datetime | None) -> str:
    return f"{_format_day(at)}{_format_year(at, now)}"


def _format_short(at: datetime, now: datetime | None) -> str:
    return f"{at:%b} {at.day}{_format_year(at, now)}"


def _format_long(at: datetime, now: datetime | None) -> str:
    return f"{at:%A}, {_format_date_only(at, now)}"


def _format_divider(at: datetime, now: datetime | None) -> str:
    return f"{at:%A}, {_format_day(at)}" + ("" if now and at.year == now.year else f", {at.year}")


def _prefer_relative_day(
    plain: Callable[[datetime, datetime | None], str],
) -> Callable[[datetime, datetime | None], str]:
    def format_pretty(at: datetime, now: datetime | None) -> str:
        away = (at.date() - now.date()).days if now else None
        return _RELATIVE_DAYS[away] if away in _RELATIVE_DAYS else plain(at, now)

    return format_pretty


def _format_clock(at: datetime, seconds: str = "") -> str:
    # as in a client set to 24 hours, like the page's own times of messages
    return f"{at:%H:%M}{seconds}"


def _format_ago(at: datetime, now: datetime | None) -> str:
    if now is None:
        return _format_date_only(at, now)
    away = int((now - at).total_seconds())
    unit, length = next((step for step in _STEPS if abs(away) >= step[1]), ("second", 1))
    count = abs(away) // length
    span = f"{count} {unit}{'' if count == 1 else 's'}"
    return f"{span} ago" if away >= 0 else f"in {span}"


_TOKENS: dict[str, Callable[[datetime, datetime | None], str]] = {
    "date_num": lambda at, _: f"{at:%Y-%m-%d}",
    "date_slash": lambda at, _: f"{at:%d/%m/%Y}",
    "date_long_full": lambda at, _: f"{at:%B} {at.day}, {at.year}",
    "date": _format_date_only,
    "date_short": _format_short,
    "date_long": _format_long,
    "date_pretty": _prefer_relative_day(_format_date_only),
    "date_short_pretty": _prefer_relative_day(_format_short),
    "date_long_pretty": _prefer_relative_day(_format_long),
    "day_divider_pretty": _prefer_relative_day(_format_divider),
    "time": lambda at, _: _format_clock(at),
    "time_secs": lambda at, _: _format_clock(at, f":{at:%S}"),
    "ago": _format_ago,
}
