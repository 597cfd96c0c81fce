"""Keys of one deployment: a prefix before each of them, so that several can share a server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from redis import Redis

# no name has it before its first colon, so no key can be mistaken for another deployment's
_SEPARATOR = "/"
_GLOB_CHARACTERS = re.compile(r"([*?\[\]\\^-])")


@dataclass(frozen=True, slots=True)
class Keyspace:
    """Conversion of names to keys and back. Without a ``prefix`` they are the same."""

    prefix: str = ""

    def add_prefix(self, name: str) -> str:
        return f"{self.prefix}{_SEPARATOR}{name}" if self.prefix else name

    def iterate_names(self, client: Redis, pattern: str = "*") -> Iterator[str]:
        """Yield the names of this deployment's keys in a store that match a pattern. Raises RedisError."""
        prefix = f"{self.prefix}{_SEPARATOR}" if self.prefix else ""
        escaped = _GLOB_CHARACTERS.sub(r"\\\1", prefix)
        for key in client.scan_iter(f"{escaped}{pattern}", count=1_000):
            name = cast("bytes", key).decode(errors="replace").removeprefix(prefix)
            # without a prefix, every key matches
            if _SEPARATOR not in name.partition(":")[0]:
                yield name


# for a store that is not shared
UNPREFIXED = Keyspace()
