"""Instants as Slack shows them: a format with tokens, on the reader's own clock."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from markupsafe import Markup, escape

from localslack.blockkit.links import linked
from localslack.blockkit.names import Names

_TOKEN = re.compile(r"\{(\w{1,30})\}")
# documented: the year is left out of dates that are less than six months away
_NEAR = timedelta(days=183)
_NEXT = {-1: "yesterday", 0: "today", 1: "tomorrow"}
_TIME = Markup('<time datetime="{}" title="{}">{}</time>')
_FULL = "{date_long} at {time_secs}"
_STEPS = (("day", 86_400), ("hour", 3_600), ("minute", 60))


def date_html(timestamp: object, form: str, names: Names, url: str = "", fallback: str = "") -> Markup:
    """An instant in seconds since 1970 in this form; the fallback where it is no instant."""
    try:
        at = datetime.fromtimestamp(int(str(timestamp)), UTC).astimezone(names.zone)
    except (ValueError, OverflowError, OSError):
        return escape(fallback)
    now = names.now() if names.now else None
    shown = _TIME.format(at.isoformat(), date_text(at, _FULL, None), date_text(at, form, now))
    return linked(url, shown)


def date_text(at: datetime, form: str, now: datetime | None) -> str:
    """The form with its tokens filled in; those that nobody knows stay as they are."""
    here = now.astimezone(at.tzinfo) if now else None

    def filled(token: re.Match[str]) -> str:
        found = _TOKENS[token[1]](at, here) if token[1] in _TOKENS else token[0]
        return found[:1].upper() + found[1:] if token.start() == 0 else found

    return _TOKEN.sub(filled, form)


def _day(at: datetime) -> str:
    ending = "th" if 10 < at.day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(at.day % 10, "th")
    return f"{at:%B} {at.day}{ending}"


def _year(at: datetime, now: datetime | None) -> str:
    return "" if now and abs(at - now) < _NEAR else f", {at.year}"


def _date(at: datetime, now: datetime | None) -> str:
    return f"{_day(at)}{_year(at, now)}"


def _short(at: datetime, now: datetime | None) -> str:
    return f"{at:%b} {at.day}{_year(at, now)}"


def _long(at: datetime, now: datetime | None) -> str:
    return f"{at:%A}, {_date(at, now)}"


def _divider(at: datetime, now: datetime | None) -> str:
    return f"{at:%A}, {_day(at)}" + ("" if now and at.year == now.year else f", {at.year}")


def _pretty(plain: Callable[[datetime, datetime | None], str]) -> Callable[[datetime, datetime | None], str]:
    def shown(at: datetime, now: datetime | None) -> str:
        away = (at.date() - now.date()).days if now else None
        return _NEXT[away] if away in _NEXT else plain(at, now)

    return shown


def _clock(at: datetime, seconds: str = "") -> str:
    # as a client shows it that is set to 24 hours, which is how the page writes the times of messages
    return f"{at:%H:%M}{seconds}"


def _ago(at: datetime, now: datetime | None) -> str:
    if now is None:
        return _date(at, now)
    away = int((now - at).total_seconds())
    unit, length = next((step for step in _STEPS if abs(away) >= step[1]), ("second", 1))
    count = abs(away) // length
    said = f"{count} {unit}{'' if count == 1 else 's'}"
    return f"{said} ago" if away >= 0 else f"in {said}"


_TOKENS: dict[str, Callable[[datetime, datetime | None], str]] = {
    "date_num": lambda at, _: f"{at:%Y-%m-%d}",
    "date_slash": lambda at, _: f"{at:%d/%m/%Y}",
    "date_long_full": lambda at, _: f"{at:%B} {at.day}, {at.year}",
    "date": _date,
    "date_short": _short,
    "date_long": _long,
    "date_pretty": _pretty(_date),
    "date_short_pretty": _pretty(_short),
    "date_long_pretty": _pretty(_long),
    "day_divider_pretty": _pretty(_divider),
    "time": lambda at, _: _clock(at),
    "time_secs": lambda at, _: _clock(at, f":{at:%S}"),
    "ago": _ago,
}
