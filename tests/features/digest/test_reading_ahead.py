import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from github import Auth
from localslack.loopback import Request, Response
from redis import Redis

from bot.errors import StoreUnavailable
from bot.features.digest.rules import Digest
from bot.features.digest.service import DigestUse, build_digest
from bot.features.merges.summary import SummarisedPullRequest
from bot.features.summaries.reading import read_pull_request
from bot.platform import deadlines
from bot.platform.deadlines import ProcessShutdown, ShutdownSignal, bound_work
from bot.platform.github.caches import FileCache, SourceFileCache
from bot.platform.github.client import GitHubClient
from bot.platform.github.pulls import GitHubPullRequests
from bot.platform.github.source_files import GitHubSourceFiles
from bot.platform.models import Model
from bot.platform.models.slots import hold_model_slot
from bot.platform.pulls.models import PullRequest
from bot.platform.store.tables import Store
from tests.emulators.claude.server import ClaudeEmulator, Refusal, Step, default_answer
from tests.emulators.github.server import GitHubEmulator
from tests.emulators.github.store import changed_file, pull
from tests.emulators.github.trees import Entry, FixedTree, TreeCommit
from tests.helpers.apps import make_digest_app
from tests.helpers.builders import DAY, NOON, REPOSITORY
from tests.helpers.doubles import MemoryStore

WORKERS, PULLS = 2, 7
# those that are at the model, and as many again
AT_MOST = 2 * WORKERS
# seconds that no test takes unless it fails
LONG = 20.0

Read = Callable[[PullRequest], SummarisedPullRequest]


class Watch:
    """Counts what happens in any thread; waits for a count."""

    def __init__(self) -> None:
        self.counts = Counter[str]()
        self._changed = threading.Condition()

    def note(self, name: str) -> int:
        with self._changed:
            self.counts[name] += 1
            self._changed.notify_all()
            return self.counts[name]

    def wait_for(self, name: str, count: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: self.counts[name] >= count, LONG), f"no {count} {name}"


class WatchedGitHub(GitHubEmulator):
    """Notes the patches and files that are asked for; ``ahead`` is the most files without an answer of the model.

    After the list, the first call to a path that contains ``failing`` fails.
    """

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.ahead = 0
        self.failing = ""
        self.failures = 1
        self._watch = watch

    def handle(self, request: Request) -> Response:
        if request.path.endswith("/files"):
            asked = self._watch.note("patches")
            if asked == 1 and self.failing:
                for _ in range(self.failures):
                    self.fail_next("404", match=self.failing)
        answer = super().handle(request)
        if b"... on Blob" in request.body:
            asked = self._watch.note("files")
            self.ahead = max(self.ahead, asked - self._watch.counts["answers"])
        return answer


@dataclass
class House:
    """A day of seven pull requests, and a builder of its digest over HTTP."""

    github: WatchedGitHub
    claude: ClaudeEmulator
    model: Model
    cache: Store
    watch: Watch
    cached: MemoryStore = field(default_factory=MemoryStore)

    def build(self, change: Callable[[Read], Read] = lambda read: read) -> Digest:
        client = GitHubClient(self.github.url, Auth.Token(self.github.token))
        pulls = FileCache(GitHubPullRequests(client, lambda: NOON + timedelta(days=2)), self.cache)
        sources = SourceFileCache(GitHubSourceFiles(client), self.cache)
        app = make_digest_app(pulls, workers=WORKERS, model=self.model, source_files=sources, cached=self.cached)
        app.__dict__["refresh_summary"] = change(partial(read_pull_request, app))
        return build_digest(app, REPOSITORY, DAY, "Engine", use=DigestUse.REPORT)

    def answer_after(self, **counts: int) -> None:
        """Let the model answer nothing before all of this has happened so often."""

        def respond(body: dict[str, Any]) -> Step:
            self.watch.note("questions")
            for name, count in counts.items():
                self.watch.wait_for(name, count)
            self.watch.note("answers")
            return default_answer(body)

        self.claude.respond = respond


@pytest.fixture
def house(claude: ClaudeEmulator, model: Model, store: Redis) -> Iterator[House]:
    watch = Watch()
    with WatchedGitHub(watch) as github:
        for number in range(1, PULLS + 1):
            files = [changed_file(f"src/part_{number}.py", "@@ -1,1 +1,2 @@\n start\n+end")]
            record = pull(number, merged_at=NOON + timedelta(minutes=number), files=files)
            github.add(str(REPOSITORY), record)
            tree = FixedTree({file["filename"]: Entry(b"start\nend\n") for file in files})
            github.add_commit(str(REPOSITORY), TreeCommit(str(record.merge_commit_sha), tree))
        yield House(github, claude, model, Store(store), watch)


def join_readers() -> None:
    """Wait for the threads of all digests; fail if one stays."""
    for thread in threading.enumerate():
        if thread.name == "digest":
            thread.join(LONG)
            assert not thread.is_alive()


@pytest.mark.slow
def test_the_files_of_the_next_are_read_while_the_model_works_and_no_more_than_these(house: House) -> None:
    house.answer_after(files=AT_MOST, questions=WORKERS)
    built = house.build()
    assert (len(built.entries), built.fallback_entries) == (PULLS, ())
    assert (house.github.ahead, house.claude.in_flight_peak) == (AT_MOST, WORKERS)
    assert len(house.github.calls) == 1 + 2 * PULLS


@pytest.mark.slow
def test_a_second_digest_loads_only_the_list(house: House) -> None:
    house.build()
    asked = len(house.github.calls)
    again = house.build()
    assert (len(house.github.calls) - asked, len(house.claude.requests), again.cost) == (1, PULLS, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", [pytest.param("/pulls/3/files", id="patches"), pytest.param("/graphql", id="files")]
)
def test_what_can_not_be_loaded_ahead_once_is_read_all_the_same(house: House, path: str) -> None:
    house.github.failing = path
    built = house.build()
    assert [entry.number for entry in built.entries] == [*range(PULLS, 0, -1)]
    assert (built.fallback_entries, len(house.claude.requests)) == ((), PULLS)


@pytest.mark.slow
def test_what_can_never_be_loaded_concerns_one_pull_request(house: House) -> None:
    house.github.failing = "/pulls/3/files"
    house.github.failures = 2
    built = house.build()
    assert [entry.number for entry in built.fallback_entries] == [3]
    assert len(house.claude.requests) == PULLS - 1


@pytest.mark.slow
def test_a_refusal_of_the_model_concerns_one_pull_request(house: House) -> None:
    house.claude.script(Refusal())
    built = house.build()
    assert (len(built.entries), len(built.fallback_entries)) == (PULLS, 1)
    assert len(house.github.calls) == 1 + 2 * PULLS


@pytest.mark.slow
@pytest.mark.parametrize("step", [nullcontext, hold_model_slot], ids=["ahead", "at-the-model"])
def test_a_defect_concerns_one_pull_request(
    house: House, step: Callable[[], AbstractContextManager[None]]
) -> None:
    def change(read: Read) -> Read:
        def read_one(each: PullRequest) -> SummarisedPullRequest:
            with step():
                if each.number == 3:
                    raise ValueError("a defect")
            return read(each)

        return read_one

    built = house.build(change)
    assert (len(built.entries), [entry.number for entry in built.unreadable_entries]) == (PULLS, [3])


@pytest.mark.slow
def test_after_an_error_of_one_that_is_loaded_the_waiting_do_not_ask_the_model(house: House) -> None:
    house.answer_after(failures=1)

    def change(read: Read) -> Read:
        def read_one(each: PullRequest) -> SummarisedPullRequest:
            if house.watch.note("begun") == AT_MOST:
                house.watch.wait_for("questions", WORKERS)
                raise StoreUnavailable("The store is away.")
            return read(each)

        return read_one

    with pytest.raises(StoreUnavailable):
        house.build(change)
    house.watch.note("failures")
    join_readers()
    assert len(house.claude.requests) == WORKERS


def test_an_error_of_one_at_the_model_ends_the_digest_and_its_threads(house: House) -> None:
    def change(read: Read) -> Read:
        def read_one(each: PullRequest) -> SummarisedPullRequest:
            with hold_model_slot():
                house.watch.note("holders")
                house.watch.wait_for("holders", WORKERS)
                raise StoreUnavailable("The store is away.")

        return read_one

    with pytest.raises(StoreUnavailable):
        house.build(change)
    join_readers()


@pytest.mark.slow
def test_the_end_of_the_process_ends_those_at_the_model_and_the_waiting(house: House) -> None:
    shutdown = ShutdownSignal()

    def respond(body: dict[str, Any]) -> Step:
        house.watch.note("questions")
        house.watch.wait_for("patches", AT_MOST)
        house.watch.wait_for("questions", WORKERS)
        shutdown.trigger()
        return default_answer(body)

    house.claude.respond = respond
    with pytest.raises(ProcessShutdown), bound_work(LONG, shutdown):
        house.build()
    join_readers()
    assert len(house.claude.requests) == WORKERS


@pytest.mark.slow
def test_each_step_has_the_deadline_of_the_work(house: House) -> None:
    left: list[float] = []

    def change(read: Read) -> Read:
        def read_one(each: PullRequest) -> SummarisedPullRequest:
            left.append(deadlines.get_seconds_left())
            with hold_model_slot():
                left.append(deadlines.get_seconds_left())
            return read(each)

        return read_one

    with bound_work(LONG):
        house.build(change)
    assert (len(left), max(left) <= LONG) == (2 * PULLS, True)
