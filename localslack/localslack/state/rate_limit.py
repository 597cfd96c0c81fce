"""The pace of posts: one a second in each channel, and some at once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from localslack.errors import SlackError

BURST = 5  # posts that may come at once: Slack promises one a second and says only that bursts are fine


@dataclass(frozen=True)
class TokenBucket:
    """How many posts a channel takes at once, and when that was true."""

    posts_left: float
    updated_at: float

    def refill(self, now: float, rate: float) -> TokenBucket:
        return TokenBucket(min(BURST, self.posts_left + (now - self.updated_at) * rate), now)


@dataclass
class PostRateLimiter:
    """One post a second and channel, in the measure of ``rate``; None is no pace at all."""

    _buckets: dict[str, TokenBucket] = field(default_factory=dict)

    def take_token(self, channel: str, now: float, rate: float | None) -> None:
        if rate is None:
            return
        bucket = self._buckets.get(channel, TokenBucket(BURST, now)).refill(now, rate)
        self._buckets[channel] = bucket
        if bucket.posts_left < 1:
            raise SlackError("ratelimited")
        self._buckets[channel] = replace(bucket, posts_left=bucket.posts_left - 1)
