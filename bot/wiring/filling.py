"""What fills past days, built of the settings and the adapters."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from bot.adapters.github_limits import GitHubLimits
from bot.adapters.history import RedisBackfilled
from bot.config import Settings
from bot.domain.costs import Usage, cautious_cost
from bot.services.backfill import Backfill, Summaries
from bot.services.pace import Pace
from bot.wiring.credentials import github_auth

if TYPE_CHECKING:
    from bot.wiring.root import Wiring

# pull requests read at a time: nobody waits for it, and the running bot uses the same token
_AT_A_TIME = 2


def backfill_of(
    root: Wiring, settings: Settings, now: Callable[[], datetime], sleep: Callable[[float], None]
) -> Backfill:
    """Fills history and caches for past days."""
    limits = GitHubLimits(settings.github_api_url, github_auth(settings))
    model = settings.prdigest_summary_model
    # a diff and an answer of full length
    dearest = cautious_cost(model, Usage(input=settings.prdigest_diff_tokens, output=6_000))
    return Backfill(
        root.pulls,
        Summaries(root.entries.read, model, dearest) if root.has_model else None,
        root.history,
        RedisBackfilled(root.store),
        Pace(limits.left, now, sleep),
        now,
        min(settings.prdigest_concurrency, _AT_A_TIME),
    )
