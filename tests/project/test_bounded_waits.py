"""Nothing waits without a bound, and no bound goes by a clock that people may set."""

import ast
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from bot.errors import TimeLimitExceeded
from bot.platform import deadlines
from bot.platform.worker_threads import DeadlineExecutor, iterate_results, wait_for_result
from tests.project.tools.module_nodes import list_nodes

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
WAITS = {"result", "wait", "join", "acquire", "as_completed", "communicate"}
# functions that wait for several
SEVERAL = {"as_completed", "wait"}
# a wait without a bound, a wait for several, or the time of the day
_POSSIBLE_CALL = re.compile(
    rf"""\b(?:{"|".join(sorted(WAITS))})\(\s*[)#]|\b(?:{"|".join(sorted(SEVERAL))})\(|\btime\.time\b"""
)
# calls that wait and take no bound, by file, with the reason
UNBOUNDED = {
    # until SIGTERM: that is what a thread waits for
    ("bot/processes.py", "stop_event.wait"): 1,
    # waitress's loop ends when its sockets are closed
    ("bot/http_server.py", "loop.join"): 1,
    # a server that was killed
    ("bot/platform/store/embedded/keeper.py", "server.wait"): 1,
    # of futures that are done: iterate_results gave them before
    ("bot/platform/worker_threads.py", "future.result"): 1,
    ("bot/features/backfill.py", "future.result"): 1,
}
# what bounds others; and what may ask the time of the day, with the reason
BOUNDS = (
    "bot/platform/deadlines.py",
    "bot/platform/worker_threads.py",
    "bot/platform/http/bounded_calls.py",
    "bot/platform/store/leases.py",
)
WALL = {
    # the SDK says in its log how long a listener took
    "bot/web.py": 1
}


@cache
def calls_in(path: Path) -> list[ast.Call]:
    source = path.read_text()
    # most modules have no such call, which is seen without parsing them
    if not _POSSIBLE_CALL.search(source):
        return []
    return [node for node in list_nodes(source) if isinstance(node, ast.Call)]


def sources() -> Iterator[Path]:
    for folder in ("bot", "handlers"):
        yield from (ROOT / folder).rglob("*.py")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_each_wait_has_a_bound_or_a_reason() -> None:
    waits = Counter(
        (name_of(path), ast.unparse(call.func))
        for path in sources()
        for call in calls_in(path)
        if isinstance(call.func, ast.Attribute) and call.func.attr in WAITS and not (call.args or call.keywords)
    )
    assert waits == UNBOUNDED


def test_each_wait_for_several_has_a_bound() -> None:
    several = [
        call
        for path in sources()
        for call in calls_in(path)
        if isinstance(call.func, ast.Name) and call.func.id in SEVERAL
    ]
    assert several
    assert all(len(call.args) > 1 or call.keywords for call in several)


def test_no_bound_goes_by_the_time_of_the_day() -> None:
    asked = Counter(
        name_of(path)
        for path in sources()
        for call in calls_in(path)
        if getattr(call.func, "attr", "") == "time" and ast.unparse(call.func) == "time.time"
    )
    assert asked == WALL
    for name in BOUNDS:
        assert "datetime" not in (ROOT / name).read_text()


SOON = 8.0


@pytest.fixture
def hanging() -> Iterator[Callable[[], None]]:
    """Work that never ends by itself."""
    over = threading.Event()

    def hang() -> None:
        over.wait(60)

    yield hang
    over.set()


def seconds_until_late(act: Callable[[], object]) -> float:
    began = time.monotonic()
    with deadlines.bound_work(0.3), pytest.raises(TimeLimitExceeded):
        act()
    return time.monotonic() - began


def test_work_that_waits_for_a_thread_ends_at_its_deadline(hanging: Callable[[], None]) -> None:
    assert seconds_until_late(lambda: wait_for_result(DeadlineExecutor(1, "one").submit(hanging))) < SOON


def test_work_that_waits_for_many_threads_ends_at_its_deadline(hanging: Callable[[], None]) -> None:
    def wait_for_all() -> None:
        crew = DeadlineExecutor(4, "many")
        for _ in iterate_results([crew.submit(hanging) for _ in range(8)]):
            raise AssertionError("none of them ends")

    assert seconds_until_late(wait_for_all) < SOON
    assert seconds_until_late(lambda: DeadlineExecutor(4, "each").map_items(lambda _: hanging(), range(8))) < SOON


def test_the_deadline_of_the_work_holds_in_its_threads_and_theirs(hanging: Callable[[], None]) -> None:
    def within_threads() -> None:
        DeadlineExecutor(1, "outer").map_items(
            lambda _: DeadlineExecutor(1, "inner").map_items(lambda _: hanging(), [1]), [1]
        )

    assert seconds_until_late(within_threads) < SOON
