"""The pauses that services ask for, from headers that anybody may have written."""

from __future__ import annotations

import re

from urllib3.exceptions import InvalidHeader
from urllib3.util import Retry

# seconds; who asks for more has made a mistake, or is somebody else
LONGEST_ASKED = 86_400
_PARSER = Retry(retry_after_max=LONGEST_ASKED)
# SDKs of models take fractions, which are no part of HTTP
_NUMBER = re.compile(r"\s*([0-9]{1,20})(?:\.[0-9]*)?\s*")
_DIGITS = re.compile(r"\s*[0-9]+\s*")


def seconds_asked(retry_after: str | None) -> float | None:
    """Read a ``Retry-After``: the seconds it asks for, from now, a day at most and never negative.

    That is a number, whole or not, or an HTTP date; one in the past asks for nothing. None where it is missing, or
    something else, such as a negative number.
    """
    if not retry_after:
        return None
    if _NUMBER.fullmatch(retry_after):
        return min(float(retry_after), float(LONGEST_ASKED))
    if _DIGITS.fullmatch(retry_after):
        # Python reads no number of that many digits
        return float(LONGEST_ASKED)
    try:
        return float(_PARSER.parse_retry_after(retry_after))
    except (InvalidHeader, ValueError, OverflowError, TypeError, IndexError):
        return None
