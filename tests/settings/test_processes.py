"""Each process reads the settings that ``docs/settings.md`` says it reads, seen as its parts start."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from datetime import UTC, datetime
from typing import Any

import pytest
from redis import Redis

from bot import processes
from bot.container import Wiring
from bot.services.operations.deadlines import ShutdownSignal
from bot.settings import Process, Settings, get_setting_use
from tests.adapters.worlds import REPO, ScriptedGitHub
from tests.emulators.claude.server import ClaudeEmulator
from tests.emulators.slack.server import SlackEmulator

# read by the command line; where there is no REDIS_URL; in the place of a token
ELSEWHERE = {
    "prdigest_log_level",
    "prdigest_state_dir",
    "github_app_id",
    "github_app_private_key",
    "github_app_installation_id",
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
        }.items():
            monkeypatch.setenv(name, value)
        yield RecordingSettings()


def now() -> datetime:
    return datetime.now(UTC)


def start_web(settings: Settings, wiring: Wiring) -> AbstractContextManager[object]:
    return processes._serve_web(settings, wiring, host="127.0.0.1")


def start_worker(settings: Settings, wiring: Wiring) -> AbstractContextManager[object]:
    return processes._start_workers(settings, wiring, ShutdownSignal(), last_work=1.0)


def start_clock(_: Settings, wiring: Wiring) -> AbstractContextManager[object]:
    return processes._start_clock(wiring, now, ShutdownSignal())


def use_web(wiring: Wiring) -> None:
    """What commands ask for that name no day and no zone."""
    wiring.get_today()
    wiring.subscriptions.get_channel_zone("C0DIGEST")


def use_worker(wiring: Wiring) -> None:
    """What the jobs use."""
    wiring.get_display_name(wiring.repositories.default)
    scheduling = wiring.subscriptions
    _ = (scheduling.outcome_watcher, scheduling.home, scheduling.subscription_commands, scheduling.forms)


def use_clock(wiring: Wiring) -> None:
    """A minute."""
    _ = wiring.subscriptions.subscription_repository.list_all()


PARTS = {
    Process.WEB: (start_web, use_web),
    Process.WORKER: (start_worker, use_worker),
    Process.CLOCK: (start_clock, use_clock),
}


@pytest.mark.parametrize("process", PARTS)
def test_a_process_reads_the_settings_that_say_so(process: Process, settings: Settings) -> None:
    start, use = PARTS[process]
    declared = {
        name for name, field in Settings.model_fields.items() if process in get_setting_use(field).processes
    }
    with closing(Wiring(settings, now, time.sleep)) as wiring:
        READ.clear()
        wiring.ownership.claim_store()
        with start(settings, wiring):
            use(wiring)
        # to close it, each process looks whether there is a model to close
        read = frozenset(READ)
    assert read - declared == set()
    assert declared - read <= ELSEWHERE
