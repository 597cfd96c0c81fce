"""The keys of one deployment: what stands before each of them, so that several can share a server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from redis import Redis

# it stands in none of our names before their first colon, so that no key can be read as another deployment's
_SEPARATOR = "/"
_GLOB_CHARACTERS = re.compile(r"([*?\[\]\\^-])")


@dataclass(frozen=True, slots=True)
class Keyspace:
    """Makes keys of names and names of keys. Without a ``prefix`` they are the same."""

    prefix: str = ""

    def add_prefix(self, name: str) -> str:
        """The key of a name."""
        return f"{self._key_prefix}{name}"

    def iterate_names(self, client: Redis, pattern: str = "*") -> Iterator[str]:
        """The names of this deployment's keys in a store that match a pattern. Raises RedisError."""
        escaped = _GLOB_CHARACTERS.sub(r"\\\1", self._key_prefix)
        for key in client.scan_iter(f"{escaped}{pattern}", count=1_000):
            name = cast("bytes", key).decode(errors="replace").removeprefix(self._key_prefix)
            # without a prefix, every key matches
            if _SEPARATOR not in name.partition(":")[0]:
                yield name

    @property
    def _key_prefix(self) -> str:
        return f"{self.prefix}{_SEPARATOR}" if self.prefix else ""


# of a store that nobody shares
UNPREFIXED = Keyspace()
