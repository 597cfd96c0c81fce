"""Families of keys: what the keys of a kind hold, how they are built and how long they live."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import Literal

RedisType = Literal["string", "hash", "list", "zset"]

_FIELD_PATTERN = re.compile(r"\{\w+\}")


@cache
def _parse_pattern(pattern: str) -> tuple[str, str, int]:
    """Return the part before the first field, the pattern for ``str.format``, and the number of fields."""
    return (
        _FIELD_PATTERN.split(pattern)[0],
        _FIELD_PATTERN.sub("{}", pattern),
        len(_FIELD_PATTERN.findall(pattern)),
    )


# all that were declared in modules that are imported
FAMILIES: list[KeyFamily] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFamily:
    """Keys of one ``pattern``, in which each ``{field}`` stands for a text; a pattern without fields is one key.

    ``type`` is Redis' name of the type. ``survives_reset``: its content is the same in every Slack.
    ``outlives_message``: it names a message, but holds nothing that was written there, or what others wrote too.
    They expire ``lifetime`` after they were written, at the latest; None if they don't.
    """

    pattern: str
    type: RedisType
    content: str
    survives_reset: bool = False
    outlives_message: bool = False
    lifetime: timedelta | None = None

    def __post_init__(self) -> None:
        FAMILIES.append(self)

    @property
    def prefix(self) -> str:
        """The beginning of its keys, with the colon; the whole key if there is only one."""
        return _parse_pattern(self.pattern)[0]

    def build_key(self, *parts: object) -> str:
        """Build the key with these values of the fields. Raises ValueError for a wrong number of values."""
        _, template, count = _parse_pattern(self.pattern)
        if len(parts) != count:
            raise ValueError(f"{self.pattern} has {count} fields, not {len(parts)}")
        return template.format(*parts)

    def has_key(self, key: str) -> bool:
        """Return whether a key belongs to this family."""
        return key.startswith(self.prefix) if self.prefix != self.pattern else key == self.pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class DurableFamily(KeyFamily):
    """Keys without an expiry."""

    lifetime: None = field(default=None, init=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiringFamily(KeyFamily):
    """Keys that expire ``lifetime`` after they were written, at the latest."""

    lifetime: timedelta
