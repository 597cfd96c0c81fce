"""Requests for what model calls cost: ``/prdigest usage`` and ``/prdigest usage 2026-11``."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import ClassVar, Self

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.errors import UsageError
from bot.domain.pull_requests.query_options import QueryOptions
from bot.domain.text.strings import quote_input

USAGE_WORD = "usage"
_MONTH = re.compile(r"(\d{4})-(\d\d)", re.A)


@dataclass(frozen=True, slots=True)
class UsageRequest:
    """A request for the costs of a month, by its first day; without one, of today and this month."""

    kind: ClassVar[str] = USAGE_WORD
    month: dt.date | None = None
    is_private: bool = False

    @classmethod
    def parse(cls, text: str, today: dt.date) -> UsageRequest:
        """Parse the text after the command, with or without its first word. Raises UsageError."""
        options = QueryOptions.parse(text, ())
        words = options.arguments
        words = words[1:] if [each.lower() for each in words[:1]] == [USAGE_WORD] else words
        if len(words) > 1:
            raise UsageError(f"I don't understand {quote_input(' '.join(words))}: add one month, such as 2026-11.")
        return cls(parse_month(words[0], today) if words else None, is_private=options.is_private)

    def require_known(self, _: AllowedRepositories) -> Self:
        """Return the request: it concerns no repository."""
        return self

    def __str__(self) -> str:
        return f"{USAGE_WORD} {self.month:%Y-%m}" if self.month else USAGE_WORD


def parse_month(text: str, today: dt.date) -> dt.date:
    """Return the first day of a month that is written as 2026-11. Raises UsageError, also for one to come."""
    match = _MONTH.fullmatch(text)
    if not match or not 1 <= int(match[2]) <= 12 or int(match[1]) < 1:
        raise UsageError(f"{quote_input(text)} is not a month: write it as 2026-11.")
    month = dt.date(int(match[1]), int(match[2]), 1)
    if month > today:
        raise UsageError(f"{month:%Y-%m} is still to come: choose a month up to {today:%Y-%m}.")
    return month
