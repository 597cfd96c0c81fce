"""The clock of a server."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime


def parse_server_time(headers: Mapping[str, str]) -> datetime | None:
    """Parse the ``Date`` header of an HTTP answer, which is exact to the second. Return None if there is none."""
    try:
        return parsedate_to_datetime({name.lower(): value for name, value in headers.items()}["date"])
    except (KeyError, ValueError):
        return None
