import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing

import pytest
from redis import Redis

from bot.app import App, open_app, prepare_clock, prepare_listeners, prepare_worker
from bot.errors import UsageError
from bot.features.digest.service import build_digest
from bot.features.subscriptions.schedule import repair_digest
from bot.jobs.queues import DramatiqJobQueue
from bot.mcp.calls import AgentTools
from bot.settings import load_settings
from tests.emulators.github.server import pull
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.builders import DAY, NOON, REPOSITORY
from tests.helpers.checks import eventually
from tests.helpers.processes.jobs import working
from tests.helpers.worlds import MORNING, REPO, ScriptedGitHub

pytestmark = pytest.mark.slow

Env = pytest.MonkeyPatch
TOKENS = {"GITHUB_TOKEN": "ghp_test", "SLACK_BOT_TOKEN": "xoxb-test", "PRDIGEST_REPO": REPO}
PROCESSES: dict[str, tuple[Callable[[App], object], set[str]]] = {
    "worker": (prepare_worker, TOKENS.keys() - {"PRDIGEST_REPO"}),
    "web": (prepare_listeners, {"SLACK_BOT_TOKEN"}),
    "clock": (prepare_clock, {"SLACK_BOT_TOKEN"}),
    "report": (lambda app: (app.pulls, app.model), {"GITHUB_TOKEN"}),
    "mcp": (lambda app: AgentTools(app, "test", time.monotonic, lambda: "id"), {"GITHUB_TOKEN", "PRDIGEST_REPO"}),
}


@pytest.fixture
def settings(monkeypatch: Env, github: ScriptedGitHub, slack: SlackEmulator, store: Redis, store_url: str) -> Env:
    store.ping()
    addresses = {"REDIS_URL": store_url, "GITHUB_API_URL": github.url, "SLACK_API_URL": slack.url}
    for name, value in {**TOKENS, **addresses, "GITHUB_TOKEN": github.token}.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def open_base() -> AbstractContextManager[App]:
    return open_app(load_settings(), lambda: MORNING, time.sleep)


@pytest.mark.parametrize("missing", TOKENS)
@pytest.mark.parametrize("process", PROCESSES)
def test_a_process_needs_the_settings_of_what_it_builds_alone(settings: Env, process: str, missing: str) -> None:
    build, needed = PROCESSES[process]
    settings.delenv(missing)
    with open_base() as base:
        if missing in needed:
            with pytest.raises(UsageError, match=f"Set {missing} |have {missing} set"):
                build(base)
        else:
            assert build(base)


def test_every_connection_to_the_store_is_closed_at_the_end(settings: Env, store: Redis) -> None:
    def count_clients() -> int:
        return len(store.client_list())

    def break_off() -> None:
        with open_base() as base:
            prepare_worker(base)
            base.hurry().store.ping()
            assert count_clients() == before + 2
            raise ValueError("broke off")

    before = count_clients()
    with pytest.raises(ValueError, match="broke off"):
        break_off()
    eventually(lambda: count_clients() == before)


def test_a_digest_is_built_over_a_store_that_may_drop_records(
    settings: Env, github: ScriptedGitHub, store: Redis
) -> None:
    github.add(REPO, pull(1, merged_at=NOON))
    store.config_set("maxmemory-policy", "allkeys-lru")
    try:
        with open_base() as base:
            digest = build_digest(base, REPOSITORY, DAY, "Engine")
    finally:
        store.config_set("maxmemory-policy", "noeviction")
    assert [entry.number for entry in digest.entries] == [1]


def test_a_process_that_only_sends_runs_no_job(
    settings: Env, store: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    with open_base() as base:
        jobs = DramatiqJobQueue(base.store, base.keyspace)
        with closing(jobs), working(jobs.make_workers(1)):
            repair_digest.send_to(jobs, "digest:T:C")
            eventually(lambda: "this process has nothing to run jobs with" in caplog.text)
