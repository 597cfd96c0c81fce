"""The days that a question names, in the format of the bot's tools."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable

_ONE_DAY = dt.timedelta(days=1)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH_PATTERN = rf"(?P<month>{'|'.join(_MONTHS)})[a-z]*"
_ISO_PATTERN = r"(?a:\d{4}-\d\d-\d\d)"
_DAY_PATTERN = r"(?P<day>(?a:\d{1,2}))(?:st|nd|rd|th)?"
_YEAR_PATTERN = r"(?:,? (?P<year>(?a:\d{4})))?"
# words about merges, unlike "what must we do today?"
_MERGE_PATTERN = re.compile(r"\b(?:merg|land|ship|chang|new\b|happen|revert|went|added|came|update)")
_DUTY_PATTERN = re.compile(r"\b(?:should|must|need|can|do (?:i|we)|to do)\b")


def parse_days(question: str, today: dt.date) -> str:
    """Return the days that a question names, such as ``2026-02-27``, ``yesterday`` or ``7d``; empty for none."""
    text = " ".join(question.casefold().split())
    for pattern, format_days in _DAY_PARSERS:
        if (match := pattern.search(text)) and (days := format_days(match, today)):
            return days
    if re.search(r"\btoday\b", text) and (_MERGE_PATTERN.search(text) or not _DUTY_PATTERN.search(text)):
        return "today"
    return ""


def _remove_spaces(match: re.Match[str], _: dt.date) -> str:
    """Return the match without spaces."""
    return re.sub(r"\s+", "", match[0])


def _make_last_days(count: int) -> Callable[[re.Match[str], dt.date], str]:
    """Return a function that returns a number of days."""
    return lambda match, today: f"{count}d"


def _format_day_count(match: re.Match[str], _: dt.date) -> str:
    """Return the number of days of the match."""
    return f"{match['count']}d"


def _parse_date(match: re.Match[str], today: dt.date) -> str:
    """Return the date of the match; empty for an impossible one. Without a year it is the last such date."""
    month = _MONTHS.index(match["month"]) + 1
    years: Iterable[int] = [int(match["year"])] if match["year"] else (today.year, today.year - 1)
    for year in years:
        try:
            date = dt.date(year, month, int(match["day"]))
        except ValueError:
            continue
        if match["year"] or date <= today:
            return str(date)
    return ""


def _parse_weekday(match: re.Match[str], today: dt.date) -> str:
    """Return the last such day before today or, with "since", all days from it on."""
    back = (today.weekday() - _WEEKDAYS.index(match["weekday"]) - 1) % 7 + 1
    date = today - back * _ONE_DAY
    return f"{date}..{today}" if match["since"] else str(date)


_DAY_PARSERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], dt.date], str]], ...] = (
    (re.compile(rf"\b{_ISO_PATTERN}(?: ?\.{{2,3}} ?{_ISO_PATTERN})?\b"), _remove_spaces),
    (re.compile(rf"\b{_DAY_PATTERN} (?:of )?{_MONTH_PATTERN}\b{_YEAR_PATTERN}"), _parse_date),
    (re.compile(rf"\b{_MONTH_PATTERN} {_DAY_PATTERN}\b{_YEAR_PATTERN}"), _parse_date),
    (re.compile(r"\b(?P<count>(?a:\d{1,3})) ?d(?:ays?)?\b"), _format_day_count),
    (re.compile(r"\bday before yesterday\b"), lambda _, today: str(today - 2 * _ONE_DAY)),
    (re.compile(r"\bsince yesterday\b"), _make_last_days(2)),
    (re.compile(r"\byesterday\b"), lambda _, __: "yesterday"),
    (re.compile(r"\b(?:tomorrow|next (?:week|month))\b"), lambda _, today: str(today + _ONE_DAY)),
    (re.compile(r"\b(?:this|last|past|the|whole|previous) week\b"), _make_last_days(7)),
    (re.compile(r"\b(?:this|last|past|whole|previous) month\b"), _make_last_days(30)),
    (re.compile(rf"\b(?P<since>since )?(?:on |last )?(?P<weekday>{'|'.join(_WEEKDAYS)})\b"), _parse_weekday),
)
