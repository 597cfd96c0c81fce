"""An app in which a test has put what its feature uses."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

from redis import Redis

from bot.app import App
from bot.domain.history.pull_outcomes import RevertIndex
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.risk.assessment import Risk, assess_pull_request
from bot.domain.time.day import LocalDay
from bot.platform.models.registry import PROVIDERS
from bot.platform.store.tables import Store
from bot.services.history.day_context import DayContext
from bot.services.summaries.entry_cache import EntryCache
from bot.services.summaries.reader import PullRequestReader
from bot.services.summaries.summarizer import SummaryResult
from bot.settings import load_settings
from tests.helpers.builders import DAY
from tests.services.doubles import MemoryCache, Summaries


def make_app(store: Redis | None = None, sources: Any = None, **parts: Any) -> App:
    """Return an app over a real store, if it needs one, at the end of a day.

    ``parts`` take the place of its properties.
    """
    app = App(load_settings(), lambda: DAY.end, time.sleep, PROVIDERS[0], sources, ExitStack())
    if store is not None:
        parts = {"store": store, "expiring_store": store, "tables": Store(store), **parts}
    app.__dict__.update(parts)
    return app


def make_digest_app(
    pulls: Any,
    summarise: Callable[[PullRequest], SummaryResult] | None = None,
    workers: int = 4,
    **parts: Any,
) -> App:
    """Return an app that builds digests of these pull requests. Without ``parts`` it has no store and no model."""
    reader, cache = parts.get("reader") or PullRequestReader(pulls, summarise or Summaries()), MemoryCache()
    made: dict[str, Any] = {
        "settings": load_settings().model_copy(update={"prdigest_concurrency": workers}),
        "pulls": pulls,
        "day_lists": pulls,
        "reader": reader,
        "cache": cache,
        "entries": EntryCache(pulls, reader, cache, "v1", assess_pull_request),
        "timeline": LoneDay(),
        "day_timeline": parts.get("timeline") or LoneDay(),
        "track_record": SimpleNamespace(is_reduced=lambda repository: False),
        "reviews": None,
        "completion": None,
        "get_channel_zone": lambda channel: DAY.zone,
    }
    nothing: Any = None
    return make_app(nothing, parts.pop("sources", SimpleNamespace(source_mirror=None)), **made | parts)


class LoneDay:
    """A timeline without history: no merge is known but those of the day itself."""

    def load_day_context(self, repository: Repository, day: LocalDay, merged: Sequence[PullRequest]) -> DayContext:
        return DayContext.from_pulls(merged)

    def record_merges(self, pulls: Sequence[PullRequest]) -> None:
        pass

    def read_merges_or_none(self, *_: object) -> tuple[PullRequest, ...]:
        return ()

    def index_pulls(self, pulls: Iterable[PullRequest]) -> RevertIndex:
        return RevertIndex(pulls)

    def assess_risk(self, pull: PullRequest) -> Risk:
        return assess_pull_request(pull)
