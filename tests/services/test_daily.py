"""The digest of a day: in order, complete, with bounded work, and ended cleanly by an error."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from bot.adapters.store import RedisCache
from bot.domain.days import LocalDay
from bot.domain.digest import CountCheck, Digest, Entry, Overview
from bot.domain.errors import (
    GitHubUnavailable,
    PrdigestError,
    PullRequestNotFound,
    RateLimited,
    RepositoryNotFound,
    StoreUnavailable,
)
from bot.domain.packing import Coverage
from bot.domain.pulls import PullRequest, Repository
from bot.domain.reverts import Revert
from bot.domain.summaries import fallback_summary
from bot.ports import Model
from bot.services.asking import Asker
from bot.services.daily import DailyDigest
from bot.services.overview import Overviewer
from bot.services.reading import Reader
from bot.services.summarise import Summarised, Summariser
from tests.emulators.claude import ClaudeEmulator, Refusal
from tests.services.doubles import ScriptedPulls, Sleeps
from tests.support import DAY, REPOSITORY, changed_file, pull, summary

Summarise = Callable[[PullRequest], Summarised]


def at_once(pull: PullRequest) -> Summarised:
    if pull.files is None:
        return Summarised(fallback_summary(pull, "its files could not be loaded", Coverage.NONE))
    return Summarised(summary(), cost=0.5)


def overview(repository: Repository, day: LocalDay, entries: tuple[Entry, ...]) -> Overview:
    return Overview(f"{len(entries)} in {repository} on {day.date}.", cost=1.0)


def nothing(_done: int, _total: int) -> None:
    """A progress that nobody watches."""


def build(
    pulls: ScriptedPulls,
    summarise: Summarise = at_once,
    workers: int = 4,
    progress: Callable[[int, int], None] = nothing,
) -> Digest:
    reader = Reader(pulls, summarise)
    daily = DailyDigest(pulls, reader.read, overview, reader.with_files, workers)
    return daily.build(REPOSITORY, DAY, "Engine", progress)


def listed(*numbers: int) -> ScriptedPulls:
    return ScriptedPulls(tuple(pull(number, files=None) for number in numbers))


def test_the_entries_keep_the_order_of_the_list_however_long_each_takes() -> None:
    def slow_first(pull: PullRequest) -> Summarised:
        time.sleep(0.05 if pull.number < 3 else 0)
        return at_once(pull)

    found = build(listed(1, 2, 3, 4, 5), slow_first)
    assert [entry.number for entry in found.entries] == [1, 2, 3, 4, 5]


def test_a_digest_holds_name_day_count_overview_and_cost() -> None:
    found = build(listed(1, 2))
    assert (found.name, found.day, found.repository) == ("Engine", DAY, REPOSITORY)
    assert found.count == CountCheck(2, "octo/engine on 2026-02-28")
    assert found.overview.text == "2 in octo/engine on 2026-02-28."
    assert found.cost == 2.0


def test_each_entry_has_its_files_risk_and_area() -> None:
    pulls = listed(1)
    pulls.files = (changed_file("engine/core.py", 500, 500),)
    (entry,) = build(pulls).entries
    assert (entry.pull.files, entry.area) == (pulls.files, "Engine and scheduling")
    assert entry.risk.points > 0


@pytest.mark.parametrize(
    "error",
    [GitHubUnavailable("GitHub is away."), PullRequestNotFound("It is gone."), RateLimited("Later.", 3_600.0)],
    ids=lambda error: type(error).__name__,
)
def test_a_pull_request_whose_files_fail_does_not_end_the_digest(error: PrdigestError) -> None:
    pulls = listed(1, 2, 3)
    pulls.failing = {2: error}
    found = build(pulls)
    assert [entry.number for entry in found.entries] == [1, 2, 3]
    assert [entry.number for entry in found.fallbacks] == [2]
    assert [entry.pull.files is None for entry in found.entries] == [False, True, False]


def test_progress_goes_from_nothing_to_all_in_the_callers_thread() -> None:
    seen: list[tuple[int, int]] = []
    threads: set[int] = set()

    def progress(done: int, total: int) -> None:
        seen.append((done, total))
        threads.add(threading.get_ident())

    build(listed(*range(1, 21)), progress=progress)
    assert seen == [(done, 20) for done in range(21)]
    assert threads == {threading.get_ident()}


@pytest.mark.parametrize("error", [RepositoryNotFound("No such repository."), RateLimited("Later.", 60.0)])
def test_a_list_that_can_not_be_had_ends_it(error: PrdigestError) -> None:
    pulls = listed(1)
    pulls.refuses = error
    with pytest.raises(type(error)) as caught:
        build(pulls)
    assert caught.value is error


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), StoreUnavailable("The store is away."), KeyError("a fault")]
)
def test_after_an_error_what_has_not_begun_never_begins(error: BaseException) -> None:
    begun: list[int] = []

    def fail_at_third(pull: PullRequest) -> Summarised:
        begun.append(pull.number)
        time.sleep(0.02)
        if pull.number == 3:
            raise error
        return at_once(pull)

    with pytest.raises(type(error)):
        build(listed(*range(1, 101)), fail_at_third, workers=2)
    after = len(begun)
    assert after < 30
    time.sleep(0.1)
    assert len(begun) == after


def test_an_interrupt_of_the_caller_cancels_what_has_not_begun() -> None:
    begun: list[int] = []

    def slow(pull: PullRequest) -> Summarised:
        begun.append(pull.number)
        time.sleep(0.02)
        return at_once(pull)

    def interrupted(done: int, _total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(listed(*range(1, 101)), slow, workers=2, progress=interrupted)
    assert len(begun) < 30


def test_a_revert_within_the_day_is_known() -> None:
    first = pull(7, title="Count once", files=None)
    second = pull(5, title='Revert "Count once" (#7)', files=None)
    assert second.merge_time > first.merge_time
    assert build(ScriptedPulls((second, first))).reverts == (Revert(number=7, by=5),)


# --- with the model on the loopback


def with_model(pulls: ScriptedPulls, model: Model, cache: RedisCache, workers: int) -> Digest:
    asker = Asker(model, cache, Sleeps())
    reader = Reader(pulls, Summariser(asker, "claude-haiku-5-5", 30_000).summarise)
    overviewer = Overviewer(asker, "claude-sonnet-5-5")
    daily = DailyDigest(pulls, reader.read, overviewer.overview, reader.with_files, workers)
    return daily.build(REPOSITORY, DAY, "Engine", nothing)


@pytest.mark.parametrize("workers", [1, 4])
def test_no_more_than_the_workers_ask_at_a_time(
    claude: ClaudeEmulator, model: Model, cache: RedisCache, workers: int
) -> None:
    claude.latency = 0.05
    found = with_model(listed(*range(1, 13)), model, cache, workers)
    assert claude.in_flight_peak == workers
    assert (len(claude.requests), len(found.fallbacks)) == (13, 0)
    assert claude.problems == []


def test_a_day_without_merges_makes_no_call(claude: ClaudeEmulator, model: Model, cache: RedisCache) -> None:
    found = with_model(listed(), model, cache, 4)
    assert (found.entries, found.overview.text, claude.requests) == ((), "Nothing was merged.", [])
    assert found.cost == 0.0


def test_a_second_digest_of_the_day_costs_nothing(claude: ClaudeEmulator, model: Model, cache: RedisCache) -> None:
    with_model(listed(1, 2, 3), model, cache, 4)
    again = with_model(listed(1, 2, 3), model, cache, 4)
    assert (len(claude.requests), again.cost) == (4, 0.0)
    assert all(entry.from_cache for entry in again.entries)


def test_a_refused_summary_leaves_the_others(claude: ClaudeEmulator, model: Model, cache: RedisCache) -> None:
    claude.script(Refusal())
    found = with_model(listed(1, 2, 3), model, cache, 1)
    assert [entry.number for entry in found.fallbacks] == [1]
    assert found.overview.fallback == ""
