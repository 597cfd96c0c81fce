"""Each process reads the settings that ``docs/settings.md`` says it reads, seen as its parts start."""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import generate_latest
from redis import Redis

import bot.features
from bot import processes
from bot.app import App, open_app, prepare_listeners, prepare_worker
from bot.connections.sources import get_display_name
from bot.features.reviews.service import find_reviewer
from bot.features.subscriptions.incidents import Incident, IncidentKind, report_incident
from bot.features.subscriptions.tables import list_subscriptions
from bot.monitoring import monitor_process
from bot.platform.deadlines import ShutdownSignal
from bot.platform.models.registry import PROVIDERS
from bot.settings import Process, Settings, get_setting_use
from tests.emulators.claude.server import ClaudeEmulator
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.worlds import REPO, ScriptedGitHub

FEATURES = "".join(path.read_text() for path in (Path(bot.features.__file__).parent).rglob("*.py"))
# read by the command line; where there is no REDIS_URL; where there is a mirror; in the place of a token; when the
# provider of models is chosen, before all else; by a provider that is not the first; by the jobs of features
ELSEWHERE = {
    "prdigest_log_level",
    "prdigest_log_format",
    "prdigest_state_dir",
    "prdigest_mirror_days",
    "github_app_id",
    "github_app_private_key",
    "github_app_installation_id",
    "prdigest_model_provider",
    *(name for name in Settings.model_fields if f"settings.{name}" in FEATURES),
    *(
        variable.lower()
        for provider in PROVIDERS[1:]
        for variable in (
            provider.key_variable,
            provider.address_variable,
            provider.prices_variable,
            *provider.required_variables,
            *provider.option_variables,
        )
    ),
}


class RecordingSettings(Settings):
    """Settings that note which of them are read."""

    def __getattribute__(self, name: str) -> Any:
        if name in Settings.model_fields:
            READ.add(name)
        return super().__getattribute__(name)


READ: set[str] = set()


@pytest.fixture(name="settings")
def make_settings(
    claude: ClaudeEmulator, slack: SlackEmulator, store: Redis, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Settings]:
    """All that a process needs, on the loopback."""
    store.ping()
    with ScriptedGitHub() as github:
        for name, value in {
            "GITHUB_API_URL": github.url,
            "GITHUB_TOKEN": github.token,
            "ANTHROPIC_BASE_URL": claude.url,
            "ANTHROPIC_API_KEY": claude.api_key,
            "SLACK_API_URL": slack.url,
            "SLACK_BOT_TOKEN": slack.token,
            "SLACK_SIGNING_SECRET": "secret",
            "REDIS_URL": store_url,
            "PORT": "0",
            "PRDIGEST_REPO": REPO,
            "PRDIGEST_CHANNEL": "C0DIGEST",
            "PRDIGEST_METRICS_ADDRESS": "0",
        }.items():
            monkeypatch.setenv(name, value)
        yield RecordingSettings()


def now() -> datetime:
    return datetime.now(UTC)


def start_web(base: App) -> AbstractContextManager[object]:
    return processes._serve_web(base, host="127.0.0.1")


def start_worker(base: App) -> AbstractContextManager[object]:
    return processes._start_workers(base, ShutdownSignal(), last_work=1.0)


def start_clock(base: App) -> AbstractContextManager[object]:
    return processes._start_clock(base, ShutdownSignal())


def use_web(base: App) -> None:
    base.get_today()
    listening = prepare_listeners(base.hurry())
    listening.get_channel_zone("C0DIGEST")
    assert listening.repositories.default


def report_late(base: App) -> None:
    """What clocks and workers do with a digest of any subscription, that of the settings among them."""
    first = list_subscriptions(base)[0]
    assert base.repositories.default == first.repository
    kind, at = IncidentKind.MISSING, base.now()
    report_incident(base, Incident("digest", kind, "octo/engine", "away", at, None, first.channel))


def use_worker(base: App) -> None:
    report_late(base)
    get_display_name(base.settings, prepare_worker(base).repositories.default)
    find_reviewer(base)


def use_clock(base: App) -> None:
    report_late(base)


PARTS = {
    Process.WEB: (start_web, use_web),
    Process.WORKER: (start_worker, use_worker),
    Process.CLOCK: (start_clock, use_clock),
}


@pytest.mark.slow
@pytest.mark.parametrize("process", PARTS)
def test_a_process_reads_the_settings_that_say_so(process: Process, settings: Settings) -> None:
    start, use = PARTS[process]
    declared = {
        name for name, field in Settings.model_fields.items() if process in get_setting_use(field).processes
    }
    with open_app(settings, now, time.sleep) as base:
        READ.clear()
        base.claim_store()
        with monitor_process(base, process), start(base):
            generate_latest(base.instruments.registry)
            use(base)
        # to close it, each process looks whether there is a model to close
        read = frozenset(READ)
    assert read - declared == set()
    assert declared - read <= ELSEWHERE
