"""The digests of a trial's days, built by the bot's own services."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from bot.app import open_app
from bot.connections.sources import LiveSources, add_mirror
from bot.dates import LocalDay
from bot.features.digest.rules import Digest
from bot.features.digest.service import DigestUse, build_digest
from bot.platform.models import Model
from bot.platform.models.registry import choose_provider
from bot.settings import Settings
from evals.trial.records import RecordedDays, TreeFiles, TrialSources
from impact.repository import Repository
from impact.text.strings import parse_date

# a trial must not be cut short by the budget of the bot's users
NO_BUDGET = 1_000_000.0
_NAME = "Trial"


@dataclass(frozen=True, slots=True)
class TrialDays:
    """The days of a repository.

    ``records`` is their folder, None to read them from GitHub. ``tree`` is a folder with the files of a release
    near to recorded days.
    """

    repository: Repository
    zone: ZoneInfo
    dates: tuple[str, ...]
    records: Path | None
    tree: Path | None = None

    @property
    def days(self) -> tuple[LocalDay, ...]:
        return tuple(LocalDay(parse_date(date), self.zone) for date in self.dates)

    def build_digests(self, settings: Settings, model: Model) -> tuple[Digest, ...]:
        """Build the digest of each day with an empty store, so that the model is asked about everything.

        Raises:
            PrdigestError: a day is unavailable, or a setting is missing.
        """
        with tempfile.TemporaryDirectory(prefix="trial", ignore_cleanup_errors=True) as folder:
            return self._build_digests(make_trial_settings(settings, self, Path(folder)), model)

    def _build_digests(self, settings: Settings, model: Model) -> tuple[Digest, ...]:
        live = LiveSources(settings, _get_now, choose_provider(settings))
        try:
            sources = self._choose_sources(settings, live, model)
            with open_app(settings, _get_now, time.sleep, sources) as base:
                return tuple(
                    build_digest(base, self.repository, day, _NAME, use=DigestUse.REPORT) for day in self.days
                )
        finally:
            live.close()

    def _choose_sources(self, settings: Settings, live: LiveSources, model: Model) -> TrialSources:
        if self.records is None:
            return TrialSources(
                live.pulls, live.source_files, model, live.source_mirror, source_search=live.source_search
            )
        records = RecordedDays(self.records)
        # a mirror that exists is read, and not brought up to date: records need no network
        files = add_mirror(settings, TreeFiles(records, self.tree))
        return TrialSources(records, files, model, source_search=live.source_search)


def make_trial_settings(settings: Settings, days: TrialDays, state: Path) -> Settings:
    """Return the settings with a store of the trial's own, and without budgets."""
    return settings.model_copy(
        update={
            "prdigest_repo": days.repository,
            "prdigest_repos": (),
            "prdigest_timezone": days.zone,
            "prdigest_daily_budget": NO_BUDGET,
            "prdigest_user_budget": NO_BUDGET,
            "redis_url": None,
            "prdigest_state_dir": state,
        }
    )


def find_dates(records: Path | None, dates: Sequence[str]) -> tuple[str, ...]:
    """Return the given dates; without any, all that are recorded. Raises UsageError."""
    if records is None or dates:
        return tuple(sorted(set(dates)))
    return RecordedDays(records).dates


def _get_now() -> datetime:
    return datetime.now(UTC)
