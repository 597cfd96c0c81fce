"""The remaining calls under a service's rate limit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

# 500 of GitHub's 5,000 calls an hour: enough for the digests of seven of the busiest days observed, or for a
# morning of commands
_RESERVED_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class RateAllowance:
    """``remaining`` of ``limit`` calls until ``resets_at`` (aware), when the full limit is available again."""

    remaining: int
    limit: int
    resets_at: datetime

    @property
    def is_short(self) -> bool:
        """Whether less than a tenth is left: the rest is reserved for requests that cannot wait."""
        return self.remaining < self.limit * _RESERVED_SHARE
