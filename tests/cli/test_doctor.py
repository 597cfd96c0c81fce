"""``prdigest doctor`` as an operator runs it: a process, its lines, its exit code."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from redis import Redis

from bot.platform.store.connection import RedisCache
from bot.platform.store.keys import LAST_TICK
from tests.helpers.processes.command import prdigest
from tests.helpers.world import CHANNEL, World, world

pytestmark = pytest.mark.slow


@pytest.fixture
def there(store: Redis, store_url: str) -> Iterator[World]:
    with world(store_url) as made:
        made.github.add("octo/engine")
        needed = {"PRDIGEST_REPO": "octo/engine", "PRDIGEST_CHANNEL": CHANNEL, "SLACK_APP_TOKEN": "xapp-test"}
        made.settings.update(needed)
        yield made


@contextmanager
def running(store: Redis) -> Iterator[None]:
    """A clock and a worker, as far as the store can tell."""
    RedisCache(store).put(LAST_TICK.build_key(), datetime.now(UTC).isoformat(), timedelta(days=1))
    stopped = threading.Event()

    def beat() -> None:
        while not stopped.wait(0.05):
            store.zadd("dramatiq:__heartbeats__", {"worker": time.time() * 1_000})

    thread = threading.Thread(target=beat)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def test_a_good_installation_passes_every_check(there: World, store: Redis, tmp_path: Path) -> None:
    with running(store):
        done = prdigest("doctor", settings=there.settings, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    shown = done.stdout.splitlines()
    assert shown[0] == "No problems found."
    assert {line[0] for line in shown[1:]} == {"✓", "–"}  # noqa: RUF001 (a dash)
    assert "Paths defaults" not in done.stdout
    assert "\x1b" not in done.stdout


def test_every_failure_says_what_to_do_and_the_process_fails(there: World, tmp_path: Path) -> None:
    wrong = {"GITHUB_TOKEN": "ghp_wrong", "PRDIGEST_CHANNEL": "C0NOWHERE", "PRDIGEST_CHANEL": "C0DIGEST"}
    settings = {**there.settings, **wrong, "PYTHONIOENCODING": "ascii"}
    done = prdigest("doctor", settings=settings, folder=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    shown = done.stdout.splitlines()
    failures = [at for at, line in enumerate(shown) if line.startswith("FAIL ")]
    assert shown[0] == "3 problems to fix:"
    assert failures == [1, 3, 5]
    assert all(shown[at + 1].startswith("     -> ") for at in failures)
    assert "FAIL Settings: PRDIGEST_CHANEL is not a setting: did you mean PRDIGEST_CHANNEL?" in shown
    assert "-    Worker: not running (never started)" in shown


def test_scripts_get_json_and_the_same_exit_code(there: World, tmp_path: Path) -> None:
    done = prdigest("doctor", "--json", "--paths", settings=there.settings, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    statuses = {each["name"]: each["status"] for each in json.loads(done.stdout)}
    assert statuses["GitHub token"] == "ok"
    assert (statuses["Clock process"], statuses["Worker"], statuses["Schedule"]) == ("note", "note", "note")
    assert statuses["Paths defaults, product"] == "note"
