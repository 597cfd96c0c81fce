"""An app in which a test has put what its feature uses."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from redis import Redis

from bot.app import App
from bot.dates import LocalDay
from bot.features.digest.service import TouchedDay, build_overview
from bot.features.merges.requests import DigestRequest, RisksRequest, ScoreRequest
from bot.features.merges.review import NO_REVIEWS
from bot.features.merges.risk import Risk, assess_pull_request
from bot.features.merges.timeline import DayContext, NearbyMerges
from bot.features.risks.rules import TrackRecordScore
from bot.features.risks.service import LENGTHS, ListLength, build_list_answer, build_score_answer
from bot.features.summaries.service import build_summary_answer
from bot.platform.commands import AllowedRepositories
from bot.platform.models import Model
from bot.platform.models.registry import PROVIDERS
from bot.platform.pulls.models import PullRequest, Reference
from bot.platform.pulls.paths import PathSettings
from bot.platform.slack.answers import Answer
from bot.platform.store.tables import Store
from bot.settings import load_settings
from impact.repository import Repository
from tests.helpers.builders import DAY, REPOSITORY
from tests.helpers.doubles import MemoryCache, MemoryStore, StubReader, Summaries, SummaryResult, slack_request

# of apps that a test made, which may have opened connections: closed at its end
OPENED: list[ExitStack] = []


def make_app(store: Redis | None = None, sources: Any = None, **parts: Any) -> App:
    """Return an app over a real store, if it needs one, at the end of a day.

    ``parts`` take the place of its properties.
    """
    sources = sources or SimpleNamespace(stands_in="")
    OPENED.append(ExitStack())
    app = App(load_settings(), lambda: DAY.end, time.sleep, PROVIDERS[0], sources, OPENED[-1])
    if store is not None:
        kept = Store(store)
        parts = {"store": store, "expiring_store": store, "tables": kept, "cached": kept, **parts}
    app.__dict__.update(parts)
    return app


def make_digest_app(
    pulls: Any, summarise: Callable[[PullRequest], SummaryResult] | None = None, workers: int = 4, **parts: Any
) -> App:
    """Return an app that builds digests of these pull requests. Without ``parts`` it has no store and no model.

    ``summarise`` stands in for what reads a pull request and keeps its summary.
    """
    made: dict[str, Any] = {
        "timeline": LoneDay(),
        "day_timeline": parts.get("timeline") or LoneDay(),
        "is_list_reduced": lambda repository: False,
        "get_channel_zone": lambda channel: DAY.zone,
        "cache": MemoryCache(),
        "review_entries": lambda _repository, entries, _classes: (entries, NO_REVIEWS),
    }
    if summarise or "model" not in parts:
        reader = StubReader(pulls, summarise or Summaries())
        made |= {"refresh_summary": reader.read_pull_request, "load_files": reader.load_files}
    sources = SimpleNamespace(
        source_mirror=None,
        source_search=None,
        source_versions=None,
        stands_in="",
        get_written_review=lambda _: None,
    )
    app = make_reading_app(pulls, parts.pop("model", None), None, parts.pop("sources", sources), **made | parts)
    settings = app.settings.model_copy(update={"prdigest_concurrency": workers})
    app.settings = parts.get("settings", settings)
    return app


NO_NEARBY = NearbyMerges((), (), frozenset())


class LoneDay:
    """A timeline without history: no merge is known but those of the day itself."""

    def load_day_context(self, repository: Repository, day: LocalDay, merged: Sequence[PullRequest]) -> DayContext:
        return DayContext.from_pulls(merged)

    def record_merges(self, pulls: Sequence[PullRequest]) -> None:
        pass

    def read_merges_or_none(self, *_: object) -> tuple[PullRequest, ...]:
        return ()

    def load_nearby(self, _: PullRequest) -> NearbyMerges:
        return NO_NEARBY

    def assess_risk(self, pull: PullRequest) -> Risk:
        return assess_pull_request(pull)


def make_reading_app(
    pulls: Any,
    model: Model | None,
    store: Redis | None = None,
    sources: Any = None,
    *,
    lists_less: bool = False,
    **parts: Any,
) -> App:
    """Return an app that reads ``pulls``, and asks a model about them. Without a store it remembers in memory.

    It rates without history, knows no files but those of the pull requests, and reviews nothing.
    """
    nothing = dict.fromkeys(("model", "chat", "source_files", "source_search", "source_versions", "tag_history"))
    sources = sources or SimpleNamespace(stands_in="", get_written_review=lambda _: None, **nothing)
    timeline = SimpleNamespace(
        assess_risk=assess_pull_request,
        read_merges_or_none=lambda *_: (),
        load_nearby=lambda _: NO_NEARBY,
        find_outcomes=lambda _: (),
    )
    own = {"pulls": pulls, "day_lists": pulls, "model": model, "chat": None, "source_files": None}
    memory = {} if store else {"cached": MemoryStore()}
    unnamed = SimpleNamespace(require_known=lambda name, _: name, list_entries=lambda: ())
    profiles = {} if "tables" in parts else {"profiles": unnamed}
    values = {
        **own,
        **memory,
        **profiles,
        "paths": PathSettings(),
        "timeline": timeline,
        # no digest was posted
        "list_digest_keys": lambda *_: (),
        "digest_records": SimpleNamespace(iterate_records=lambda _: ()),
        "repositories": AllowedRepositories(REPOSITORY),
        "read_touches": lambda *_: TouchedDay(),
        "name_repository": lambda _: "Engine",
    }
    app = make_app(store, sources, **{**values, **parts})
    if lists_less:
        app.cached.put(LENGTHS, ListLength(is_reduced=True), str(REPOSITORY))
    return app


NOTHING_POSTED = TrackRecordScore()


@dataclass(frozen=True)
class Answers:
    """The answers of an app to somebody of a name, which may be empty; ``score`` is that of all lists."""

    app: App
    score: TrackRecordScore = NOTHING_POSTED

    def build_summary(self, reference: Reference, asker: str) -> Answer:
        return build_summary_answer(self.app, reference, asker)

    def build_risks(self, request: RisksRequest, asker: str) -> Answer:
        return build_list_answer(self.app, slack_request(name=asker), request)

    def build_score(self, request: ScoreRequest, asker: str) -> Answer:
        return build_score_answer(self.app, slack_request(name=asker), request, self.score)

    def build_overview(self, request: DigestRequest, asker: str, channel: str) -> Answer:
        return build_overview(self.app, request, asker, channel)
