"""The remaining calls under a service's rate limit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

# 500 of GitHub's 5,000 calls an hour: enough for the digests of seven of the busiest days observed, or for a
# morning of commands
_RESERVE = 0.1


@dataclass(frozen=True, slots=True)
class Allowance:
    """``left`` of ``limit`` calls until ``resets`` (an aware instant), when the full limit is available again."""

    left: int
    limit: int
    resets: datetime

    @property
    def is_short(self) -> bool:
        """Whether less than a tenth is left: the rest is reserved for requests that cannot wait."""
        return self.left < self.limit * _RESERVE
