"""How often GitHub may be asked."""

import time
from dataclasses import dataclass

LIMIT_MESSAGE = "API rate limit exceeded for user ID 1."
# calls per window in seconds: REST 5,000 an hour (60 without a token), search 30 a minute
LIMITS = {"core": (5000, 3600), "anonymous": (60, 3600), "graphql": (5000, 3600), "search": (30, 60)}


@dataclass
class Budget:
    limit: int
    window: int
    used: int = 0
    reset: float = 0.0

    def take(self, count: int) -> bool:
        """Count calls in the present window; False if it is used up."""
        if time.time() >= self.reset:
            self.used, self.reset = 0, time.time() + self.window
        allowed = count == 0 or self.used < self.limit
        self.used += count if allowed else 0
        return allowed

    def facts(self) -> dict[str, int]:
        left = self.limit - self.used
        return {"limit": self.limit, "used": self.used, "remaining": left, "reset": int(self.reset)}
