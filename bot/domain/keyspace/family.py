"""Families of keys: what the keys of a kind hold, how they are built and how long they live."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import Literal

Type = Literal["string", "hash", "list", "zset"]

_FIELD = re.compile(r"\{\w+\}")


@cache
def _read_pattern(pattern: str) -> tuple[str, str, int]:
    """Return what stands before the first field, the pattern for ``str.format``, and how many fields it has."""
    return _FIELD.split(pattern)[0], _FIELD.sub("{}", pattern), len(_FIELD.findall(pattern))


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Keys of one ``pattern``, in which each ``{field}`` stands for a text; a pattern without fields is one key.

    ``type`` is as Redis names it. ``survives_reset``: its content is the same in every Slack.
    """

    pattern: str
    type: Type
    content: str
    survives_reset: bool = False

    @property
    def name(self) -> str:
        """The beginning of its keys, which ends in a colon; the key itself where there is one alone."""
        return _read_pattern(self.pattern)[0]

    def key(self, *parts: object) -> str:
        """Build the key of these parts, one for each field. Raises ValueError for another number of them."""
        _, template, count = _read_pattern(self.pattern)
        if len(parts) != count:
            raise ValueError(f"{self.pattern} has {count} fields, not {len(parts)}")
        return template.format(*parts)

    def holds(self, key: str) -> bool:
        """Tell whether a key is of this family."""
        return key.startswith(self.name) if self.name != self.pattern else key == self.pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class Durable(Family):
    """Keys without an expiry. Those that are not exported belong to the one store that they are in."""

    is_exported: bool = True
    lifetime: None = field(default=None, init=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expiring(Family):
    """Keys that expire ``lifetime`` after they were written, at the latest."""

    lifetime: timedelta
