"""The keys of one deployment: what stands before each of them, so that several can share a server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from redis import Redis

# it stands in none of our names before their first colon, so that no key can be read as another deployment's
_BETWEEN = "/"
_MEANING = re.compile(r"([*?\[\]\\^-])")


@dataclass(frozen=True, slots=True)
class Keyspace:
    """Makes keys of names and names of keys. Without a ``prefix`` they are the same."""

    prefix: str = ""

    def make(self, name: str) -> str:
        """The key of a name."""
        return f"{self._beginning}{name}"

    def find(self, client: Redis, pattern: str = "*") -> Iterator[str]:
        """The names of this deployment's keys in a store that match a pattern. Raises RedisError."""
        escaped = _MEANING.sub(r"\\\1", self._beginning)
        for key in client.scan_iter(f"{escaped}{pattern}", count=1_000):
            name = cast("bytes", key).decode(errors="replace").removeprefix(self._beginning)
            # without a prefix, every key matches
            if _BETWEEN not in name.partition(":")[0]:
                yield name

    @property
    def _beginning(self) -> str:
        return f"{self.prefix}{_BETWEEN}" if self.prefix else ""


# of a store that nobody shares
WHOLE = Keyspace()
