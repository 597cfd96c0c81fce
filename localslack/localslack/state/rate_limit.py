"""The rate limit of posts: one a second in each channel, with a burst."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from localslack.errors import SlackError

BURST = 5  # posts at once: Slack promises one a second and says only that bursts are allowed


@dataclass(frozen=True)
class TokenBucket:
    """The posts that a channel accepts at once, and the time of that count in seconds."""

    posts_left: float
    updated_at: float

    def refill(self, now: float, rate: float) -> TokenBucket:
        """Return the bucket at this time, at ``rate`` posts a second."""
        return TokenBucket(min(BURST, self.posts_left + (now - self.updated_at) * rate), now)


@dataclass
class PostRateLimiter:
    """A limit of ``rate`` posts a second in each channel; None is no limit."""

    _buckets: dict[str, TokenBucket] = field(default_factory=dict)

    def take_token(self, channel: str, now: float, rate: float | None) -> None:
        """Count a post. Raises SlackError if it exceeds the limit."""
        if rate is None:
            return
        bucket = self._buckets.get(channel, TokenBucket(BURST, now)).refill(now, rate)
        self._buckets[channel] = bucket
        if bucket.posts_left < 1:
            raise SlackError("ratelimited")
        self._buckets[channel] = replace(bucket, posts_left=bucket.posts_left - 1)
