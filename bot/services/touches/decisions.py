"""The record of hits that were shown, and of what people said about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime

from bot.domain.pull_requests.models import Repository
from bot.domain.touches.decisions import (
    HitKey,
    LevelScore,
    ShownHit,
    TouchDecision,
    TouchVerdict,
    build_hit_key,
    score_decisions,
)
from bot.ports import TouchStore
from impact.touches.models import MergeTouches, TouchLevel


class TouchDecisions:
    """Hits by profile with what became of them. ``now`` returns the current aware time.

    Every method may raise StoreUnavailable.
    """

    def __init__(self, store: TouchStore, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now

    def note_shown(self, profile: str, repository: Repository, merges: Iterable[MergeTouches]) -> None:
        """Record that the hits of some merges were shown. Those that were shown before stay as they are."""
        at = self._now().astimezone(UTC)
        hits = [
            ShownHit(
                build_hit_key(repository, merge.number, touch.change),
                touch.level,
                touch.change.kind,
                touch.change.name,
                at,
            )
            for merge in merges
            for touch in merge.touches
            if touch.level > TouchLevel.NO
        ]
        if hits:
            self._store.add_hits(profile, hits)

    def record(
        self, profile: str, hit: HitKey, verdict: TouchVerdict, by: str, at: datetime | None = None
    ) -> TouchDecision:
        """Record what a Slack user (``by``) says about a hit, in place of what was said before.

        ``at`` (aware) is when they said it, by default now. What was said later stays. Return what is recorded.
        """
        decision = TouchDecision(hit, verdict, by, (at or self._now()).astimezone(UTC))
        last = self.list_decisions(profile).get(hit) if at else None
        if last and last.at > decision.at:
            return last
        self._store.put_decision(profile, decision)
        return decision

    def list_decisions(self, profile: str) -> Mapping[HitKey, TouchDecision]:
        """Return what was said about each hit last."""
        return {decision.key: decision for decision in self._store.list_decisions(profile)}

    def list_hits(self, profile: str) -> Mapping[HitKey, ShownHit]:
        """Return the hits that were shown."""
        return {hit.key: hit for hit in self._store.list_hits(profile)}

    def score(self, profile: str) -> tuple[LevelScore, ...]:
        """Return how many hits of each level were shown, and what became of them, strongest level first."""
        return score_decisions(self._store.list_hits(profile), self._store.list_decisions(profile))

    def remove_all(self, profile: str) -> None:
        """Remove what is recorded of a profile."""
        self._store.remove_all(profile)
