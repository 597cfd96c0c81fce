"""When the outcomes of the pull requests of a digest are checked."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from bot.domain.keyspace.keys import LAST_OUTCOME_CHECK
from bot.domain.pull_requests.models import Repository
from bot.domain.subscriptions.due_items import OutcomeCheck
from bot.domain.subscriptions.models import DigestSpec
from bot.ports import Cache, DueQueue, PostedDigestIndex

# a revert is reported within hours; each check is one call to GitHub, or two
CHECK_INTERVAL = timedelta(hours=6)
# a digest considers the merges of the day after its own; one that is posted later may lack later ones
_LATE_AFTER = timedelta(days=2)


class OutcomeCheckPlanner:
    """Planner of the checks of a repository, from the first digest on that shows it."""

    def __init__(
        self, cache: Cache, index: PostedDigestIndex, due_queue: DueQueue, now: Callable[[], datetime]
    ) -> None:
        self._cache = cache
        self._index = index
        self._due_queue = due_queue
        self._now = now

    def plan_checks(self, spec: DigestSpec, key: str) -> None:
        """Have the repository of a posted digest checked from now on. Raises StoreUnavailable.

        Doing so twice changes nothing.
        """
        now, last = self._now(), spec.span.days[-1]
        self._index.add(spec.repository, last.end, key)
        self._set_check_start(
            spec.repository, last.date if now >= last.end + _LATE_AFTER else now.astimezone(UTC).date()
        )
        self._due_queue.add(OutcomeCheck(spec.repository), now + CHECK_INTERVAL)

    def _set_check_start(self, repository: Repository, date: dt.date) -> None:
        """Have the next check begin at a UTC date, unless it begins earlier."""
        current = self._cache.get(build_check_key(repository))
        if current is None or str(date) < current:
            self._cache.put(build_check_key(repository), str(date), LAST_OUTCOME_CHECK.lifetime)


def build_check_key(repository: Repository) -> str:
    """Return the key of the UTC date of a repository's last check."""
    return LAST_OUTCOME_CHECK.build_key(repository)
