"""Names of profiles, which people type in commands and which are part of keys."""

from __future__ import annotations

import re

from bot.domain.errors import UsageError
from bot.domain.text.strings import quote_input

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")


def parse_profile_name(text: str) -> str:
    """Return the name of a profile in lower case. Raises UsageError for what is none."""
    name = text.strip().lower()
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{quote_input(text)} is not a name of a profile: use up to 40 letters, digits, dots and dashes."
        )
    return name
