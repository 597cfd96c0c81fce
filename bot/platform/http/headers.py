"""What headers of unknown origin say: the pause that a service asks for, and its clock."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

from urllib3.exceptions import InvalidHeader
from urllib3.util import Retry

# seconds; a longer pause is a mistake, or not from the service
MAX_RETRY_AFTER = 86_400
_PARSER = Retry(retry_after_max=MAX_RETRY_AFTER)
# SDKs of models take fractions, which are no part of HTTP
_NUMBER = re.compile(r"\s*([0-9]{1,20})(?:\.[0-9]*)?\s*")
_DIGITS = re.compile(r"\s*[0-9]+\s*")


def parse_retry_after(retry_after: str | None) -> float | None:
    """Parse a ``Retry-After`` header: the seconds from now that it asks for, at least 0 and at most a day.

    The header holds a number, whole or not, or an HTTP date; a past date means 0. Return None if it is missing or
    holds something else, such as a negative number.
    """
    if not retry_after:
        return None
    if _NUMBER.fullmatch(retry_after):
        return min(float(retry_after), float(MAX_RETRY_AFTER))
    if _DIGITS.fullmatch(retry_after):
        # Python parses no number of that many digits
        return float(MAX_RETRY_AFTER)
    try:
        return float(_PARSER.parse_retry_after(retry_after))
    except (InvalidHeader, ValueError, OverflowError, TypeError, IndexError):
        return None


def parse_server_time(headers: Mapping[str, str]) -> datetime | None:
    """Parse the ``Date`` header of an HTTP answer, which is exact to the second. Return None if there is none."""
    try:
        return parsedate_to_datetime({name.lower(): value for name, value in headers.items()}["date"])
    except (KeyError, ValueError):
        return None
