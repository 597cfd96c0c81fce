"""What a service still grants of its limits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

# 500 of GitHub's 5,000 calls an hour: the digests of seven of the busiest days seen, or a morning of commands
_RESERVE = 0.1


@dataclass(frozen=True, slots=True)
class Allowance:
    """``left`` of ``limit`` calls until ``resets`` (an aware instant), when all are granted again."""

    left: int
    limit: int
    resets: datetime

    @property
    def is_short(self) -> bool:
        """Whether the rest belongs to those who can't wait: less than a tenth is left."""
        return self.left < self.limit * _RESERVE
