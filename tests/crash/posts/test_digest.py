import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from localslack.server.local_slack import UPLOAD
from redis import Redis

from tests.crash.overlap import StoreSlot, overlapping
from tests.helpers.processes.command import Caught, Process
from tests.helpers.world import CHANNEL, SMALL_DAY, add_small_day, world

# the calls of a whole run before which nothing is posted: a kill in them is one before the first of the others
LOOKS = [("auth.test", 0), ("conversations.history", 0)]
# every other call, in order, with how many of its kind go before it
CALLS = [
    ("chat.postMessage", 0),
    ("chat.getPermalink", 0),
    ("chat.postMessage", 1),
    ("files.getUploadURLExternal", 0),
    (UPLOAD, 0),
    ("files.completeUploadExternal", 0),
]


class _Killer:
    """Kills a process after the effect of one call and before its answer."""

    def __init__(self, method: str, skip: int) -> None:
        self._method = method
        self._skip = skip
        self._lock = threading.Lock()
        self._process: Process | None = None
        self.struck = False

    def aim(self, start: Callable[[], Caught]) -> Caught:
        """Start the process; its calls wait until it is known whom to kill."""
        with self._lock:
            capture = start()
            self._process = capture.process
        return capture

    def __call__(self, method: str, _arguments: dict[str, Any]) -> None:
        with self._lock:
            if self.struck or method != self._method:
                return
            self._skip -= 1
            if self._skip < 0 and self._process:
                self.struck = True
                self._process.kill()
                self._process.wait()


def _start(settings: dict[str, str], folder: Path) -> Caught:
    return Caught("digest", *SMALL_DAY, "--channel", CHANNEL, settings=settings, folder=folder)


def _killed_and_run_again(call: tuple[str, int], store_url: str, place: int, folder: Path) -> None:
    with world(f"{store_url}?db={place}") as there:
        add_small_day(there.github)
        killer = _Killer(*call)
        there.slack.after = killer
        killer.aim(lambda: _start(there.settings, folder)).await_end(timeout=60)
        assert killer.struck, f"{call} was never made"
        second = _start(there.settings, folder).await_end(timeout=60)
        assert (second.returncode, second.stderr) == (0, "")
        assert second.stdout.startswith("Posted: ")
        _, replies = there.digest()
        assert [reply["text"] for reply in replies if not reply.get("files")] == ["Part 1: Engine and scheduling"]
        assert len(there.slack.files) == 1
        assert len(there.claude.requests) == 7, "what was rendered before the kill is what is posted after it"


def test_a_digest_survives_kill_9_after_any_call_that_posts(store: Redis, store_url: str, tmp_path: Path) -> None:
    with ThreadPoolExecutor(len(CALLS)) as pool:
        runs = [
            pool.submit(_killed_and_run_again, call, store_url, place, tmp_path)
            for place, call in enumerate(CALLS, 1)
        ]
    for run in runs:
        run.result()


def test_the_list_of_calls_is_that_of_a_whole_run(store: Redis, store_url: str, tmp_path: Path) -> None:
    with world(store_url) as there:
        add_small_day(there.github)
        assert _start(there.settings, tmp_path).await_end(timeout=60).stderr == ""
        assert [method for method, _ in there.slack.calls] == [method for method, _ in LOOKS + CALLS]


@pytest.mark.parametrize("signal", ["kill", "terminate"])
@overlapping(nullcontext)
def test_a_kill_before_the_first_call_to_slack_loses_nothing(slot: StoreSlot, signal: str) -> None:
    with world(slot.url) as there:
        add_small_day(there.github)
        run = _start(there.settings, slot.folder)
        there.claude.latency = 0.2
        while not there.claude.requests and run.process.poll() is None:
            threading.Event().wait(0.02)
        getattr(run.process, signal)()
        run.await_end(timeout=30)
        assert _start(there.settings, slot.folder).await_end(timeout=60).stderr == ""
        there.digest()
