"""The digest of a day: in order, complete, with bounded work, and ended cleanly by an error."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from redis import Redis

from bot.adapters.redis.records.history import RedisHistoryStore
from bot.domain.digest.models import CountCheck, Entry
from bot.domain.digest.view import FULL_VIEW, DigestView, ViewLevel
from bot.domain.errors import (
    GitHubUnavailable,
    PrdigestError,
    PullRequestNotFound,
    RateLimited,
    RepositoryNotFound,
    StoreUnavailable,
)
from bot.domain.pull_requests.filters import Filters
from bot.domain.pull_requests.models import Account, PullRequest, Repository
from bot.domain.pull_requests.path_classes import PathClasses
from bot.domain.review.models import BugReview, ReviewCoverage
from bot.domain.summaries.diff_packing import Coverage
from bot.domain.summaries.fallback import Fallback, FallbackReason
from bot.domain.summaries.models import ChangeType, SummarisedPullRequest, build_fallback_summary
from bot.domain.time.day import LocalDay
from bot.features.digest.rules import Digest, Overview
from bot.features.digest.view import render_digest
from bot.platform.models.claude import CLAUDE
from bot.platform.store.connection import SHORT_TIMEOUTS, RedisCache, connect_server
from bot.ports import Model
from bot.services.digest.builder import DigestBuilder, DigestDependencies
from bot.services.digest.overview_writer import OverviewWriter
from bot.services.history.day_context import DayContext
from bot.services.history.merge_timeline import MergeTimeline
from bot.services.summaries.reader import PullRequestReader
from bot.services.summaries.structured_completion import StructuredCompletion
from bot.services.summaries.summarizer import Summariser, SummaryResult
from tests.emulators.claude.server import ClaudeEmulator, Refusal
from tests.helpers.builders import DAY, NOON, REPOSITORY, changed_file, finding, pairs, pull, summary
from tests.helpers.checks import closed_port
from tests.render.accepted import read_post
from tests.services.doubles import KnownPulls, ScriptedPulls, Sleeps, Summaries

Summarise = Callable[[PullRequest], SummaryResult]


def at_once(pull: PullRequest) -> SummaryResult:
    if pull.files is None:
        return SummaryResult(build_fallback_summary(pull, Fallback(FallbackReason.NO_FILES), Coverage.NONE))
    return SummaryResult(summary(), cost=0.5)


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
    reader = PullRequestReader(pulls, summarise)
    daily = DigestBuilder(pulls, reader.read_pull_request, overview, reader.load_files, workers)
    return daily.build(REPOSITORY, DAY, "Engine", progress)


def make_pulls(*numbers: int) -> ScriptedPulls:
    return ScriptedPulls(tuple(pull(number, files=None) for number in numbers))


def test_the_mirror_is_updated_once_before_files_are_read() -> None:
    seen_steps: list[str] = []
    pulls = make_pulls(7, 8)
    reader = PullRequestReader(pulls, at_once)

    def read(each: PullRequest) -> SummarisedPullRequest:
        seen_steps.append(f"read {each.number}")
        return reader.read_pull_request(each)

    dependencies = DigestDependencies(update_mirror=lambda repository: seen_steps.append(f"update {repository}"))
    daily = DigestBuilder(pulls, read, overview, reader.load_files, 1, dependencies=dependencies)
    daily.build(REPOSITORY, DAY, "Engine", nothing)
    assert (seen_steps[0], sorted(seen_steps[1:])) == (f"update {REPOSITORY}", ["read 7", "read 8"])
    DigestBuilder(make_pulls(), read, overview, reader.load_files, 1, dependencies=dependencies).build(
        REPOSITORY, DAY, "Engine", nothing
    )
    assert len(seen_steps) == 3


def test_the_entries_keep_the_order_of_the_list_however_long_each_takes() -> None:
    def slow_first(pull: PullRequest) -> SummaryResult:
        time.sleep(0.05 if pull.number < 3 else 0)
        return at_once(pull)

    day_digest = build(make_pulls(1, 2, 3, 4, 5), slow_first)
    assert [entry.number for entry in day_digest.entries] == [1, 2, 3, 4, 5]


def test_a_digest_holds_name_day_count_overview_and_cost() -> None:
    day_digest = build(make_pulls(1, 2))
    assert (day_digest.name, day_digest.day, day_digest.repository) == ("Engine", DAY, REPOSITORY)
    assert day_digest.count == CountCheck(2, "octo/engine on 2026-02-28")
    assert day_digest.overview.text == "2 in octo/engine on 2026-02-28."
    assert day_digest.cost == 2.0


def test_each_entry_has_its_files_risk_and_area() -> None:
    pulls = make_pulls(1)
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
    pulls = make_pulls(1, 2, 3)
    pulls.failing = {2: error}
    day_digest = build(pulls)
    assert [entry.number for entry in day_digest.entries] == [1, 2, 3]
    assert [entry.number for entry in day_digest.fallback_entries] == [2]
    assert [entry.pull.files is None for entry in day_digest.entries] == [False, True, False]


def test_progress_goes_from_nothing_to_all_in_the_callers_thread() -> None:
    seen: list[tuple[int, int]] = []
    threads: set[int] = set()

    def progress(done: int, total: int) -> None:
        seen.append((done, total))
        threads.add(threading.get_ident())

    build(make_pulls(*range(1, 21)), progress=progress)
    assert seen == [(done, 20) for done in range(21)]
    assert threads == {threading.get_ident()}


@pytest.mark.parametrize("error", [RepositoryNotFound("No such repository."), RateLimited("Later.", 60.0)])
def test_a_list_that_can_not_be_had_ends_it(error: PrdigestError) -> None:
    pulls = make_pulls(1)
    pulls.refuses = error
    with pytest.raises(type(error)) as caught:
        build(pulls)
    assert caught.value is error


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), StoreUnavailable("The store is away."), RateLimited("Later.", 3_600.0)]
)
def test_after_an_error_what_has_not_begun_never_begins(error: BaseException) -> None:
    begun: list[int] = []

    def fail_at_third(pull: PullRequest) -> SummaryResult:
        begun.append(pull.number)
        time.sleep(0.02)
        if pull.number == 3:
            raise error
        return at_once(pull)

    with pytest.raises(type(error)):
        build(make_pulls(*range(1, 101)), fail_at_third, workers=2)
    after = len(begun)
    assert after < 30
    time.sleep(0.1)
    assert len(begun) == after


def test_an_interrupt_of_the_caller_cancels_what_has_not_begun() -> None:
    begun: list[int] = []

    def slow(pull: PullRequest) -> SummaryResult:
        begun.append(pull.number)
        time.sleep(0.02)
        return at_once(pull)

    def raise_interrupt(done: int, _total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(make_pulls(*range(1, 101)), slow, workers=2, progress=raise_interrupt)
    assert len(begun) < 30


def test_a_revert_within_the_day_is_known() -> None:
    first = pull(7, title="Count once", files=None)
    second = pull(5, title='Revert "Count once" (#7)', files=None)
    assert second.merge_time > first.merge_time
    assert pairs(build(ScriptedPulls((second, first))).outcomes) == [(7, 5)]


# --- views

CORE, DOCS = (changed_file("engine/core.py"),), (changed_file("docs/a.md"),)
ADA, BOT = Account("ada-dev"), Account("renovate", is_bot=True)
AWAY = GitHubUnavailable("GitHub is away.")


def build_view(pulls: KnownPulls, view: DigestView, summarise: Summarise = at_once) -> Digest:
    reader = PullRequestReader(pulls, summarise)
    daily = DigestBuilder(pulls, reader.read_pull_request, overview, reader.load_files, 3)
    return daily.build(REPOSITORY, DAY, "Engine", view=view)


def day(*pulls: PullRequest, failing: Iterable[int] = ()) -> KnownPulls:
    return KnownPulls(pulls, {f"files {number}": AWAY for number in failing})


FOUR = (
    pull(4, author=BOT, files=CORE),
    pull(3, author=ADA, files=DOCS, labels=("bug",)),
    pull(2, author=ADA, files=CORE),
    pull(1, author=Account("bob"), files=CORE, labels=("bug",)),
)


@pytest.mark.parametrize(
    ("view", "shown", "read"),
    [
        pytest.param(FULL_VIEW, [1, 2, 3, 4], [1, 2, 3, 4], id="all"),
        pytest.param(DigestView(Filters(not_authors=("bots",))), [1, 2, 3], [1, 2, 3], id="by-author"),
        pytest.param(DigestView(Filters(labels=("BUG",))), [1, 3], [1, 3], id="by-label"),
        pytest.param(DigestView(Filters(paths=("engine",))), [1, 2, 4], [1, 2, 3, 4], id="by-path"),
        pytest.param(
            DigestView(Filters(("docs",), ("Ada-Dev",))), [3], [2, 3], id="files-of-those-alone-that-may-fit"
        ),
        pytest.param(DigestView(Filters(authors=("nobody",))), [], [], id="none"),
        pytest.param(
            DigestView(only=ViewLevel.RISKY), [], [1, 2, 3, 4], id="what-weighs-enough-is-known-after-reading"
        ),
    ],
)
def test_a_view_reads_no_more_than_it_must(view: DigestView, shown: list[int], read: list[int]) -> None:
    pulls = day(*FOUR)
    day_digest = build_view(pulls, view)
    assert [entry.number for entry in day_digest.entries] == shown
    assert sorted(pulls.calls) == ["day 2026-02-28", *(f"files {number}" for number in read)]
    assert (day_digest.view, day_digest.hidden, day_digest.merged_count) == (view, 4 - len(shown), 4)
    assert day_digest.overview.text.startswith(f"{len(shown)} in ")
    assert day_digest.gaps == ()


def test_reviews_come_before_the_view_selects_and_their_coverage_is_kept() -> None:
    middle = [changed_file("csrc/core.cu", 90, 30)]
    pulls = KnownPulls((pull(3, files=middle), pull(2, files=middle), pull(1)))
    reviewed_files: list[tuple[int, bool]] = []

    def review(
        _repository: Repository, entries: tuple[Entry, ...], _classes: PathClasses
    ) -> tuple[tuple[Entry, ...], ReviewCoverage]:
        reviewed_files.extend(
            (each.number, bool(each.pull.files and each.pull.files[0].patch)) for each in entries
        )
        reviewed = (replace(each, review=BugReview((finding(),) if each.number == 2 else ())) for each in entries)
        return tuple(reviewed), ReviewCoverage(2, 1, "it was late", 0.25)

    reader = PullRequestReader(pulls, at_once)
    dependencies = DigestDependencies(review_entries=review)
    daily = DigestBuilder(
        pulls, reader.read_pull_request, overview, reader.load_files, 1, dependencies=dependencies
    )
    day_digest = daily.build(REPOSITORY, DAY, "Engine", view=DigestView(only=ViewLevel.RISKY))
    assert reviewed_files == [(1, True), (2, True), (3, True)]
    assert ([each.number for each in day_digest.entries], day_digest.hidden) == ([2], 2)
    assert day_digest.review_coverage == ReviewCoverage(2, 1, "it was late", 0.25)
    assert day_digest.cost == 0.5 + 1.0 + 0.25


def test_a_view_asks_the_model_of_what_fits_alone() -> None:
    model = Summaries()
    pulls = day(*FOUR)
    reader = PullRequestReader(pulls, model)
    daily = DigestBuilder(pulls, reader.read_pull_request, overview, reader.load_files, 3)
    seen: list[tuple[int, int]] = []
    daily.build(
        REPOSITORY,
        DAY,
        "Engine",
        lambda *done: seen.append(done),
        DigestView(Filters(paths=("docs",)), ViewLevel.SUBSTANTIAL),
    )
    assert (model.numbers, seen) == ([3], [(0, 1), (1, 1)])


def reverting(number: int, other: int, **fields: Any) -> PullRequest:
    """A pull request that takes back another, merged later than any with a number above its own."""
    return pull(number, title=f"Revert #{other}", author=BOT, **fields)


@pytest.mark.parametrize(
    ("pulls", "shown", "reverts"),
    [
        pytest.param([pull(9), reverting(8, 9)], [8, 9], [(9, 8)], id="what-took-it-back"),
        pytest.param([pull(9, author=BOT), pull(8, title="Revert #9")], [8, 9], [(9, 8)], id="what-it-took-back"),
        pytest.param([pull(9), reverting(8, 9), reverting(7, 8)], [7, 8, 9], [(8, 7), (9, 8)], id="a-chain"),
        pytest.param([pull(9), pull(8, author=BOT), reverting(7, 8)], [9], [], id="a-pair-that-does-not-fit"),
    ],
)
def test_what_was_taken_back_comes_with_what_did_so(
    pulls: list[PullRequest], shown: list[int], reverts: list[tuple[int, int]]
) -> None:
    day_digest = build_view(day(*pulls), DigestView(Filters(not_authors=("bots",))))
    assert [entry.number for entry in day_digest.entries] == shown
    assert pairs(day_digest.outcomes) == reverts


def test_what_landed_again_is_not_said_to_be_gone_because_a_filter_hides_that() -> None:
    pulls = day(pull(9), reverting(8, 9), reverting(7, 8))
    assert build_view(pulls, DigestView(Filters(not_authors=("bots",)))).reverted_numbers == {8}


def test_what_the_next_day_took_back_is_shown_though_it_weighs_nothing() -> None:
    trivial = Summaries(summary(type=ChangeType.TRIVIAL))
    next_day = reverting(12, 9, merged_at=NOON + timedelta(days=1))
    back = reverting(8, 3)
    earlier = pull(3, merged_at=NOON - timedelta(days=1))
    pulls = day(pull(9), back, pull(7))
    reader = PullRequestReader(pulls, trivial)
    surroundings = DigestDependencies(
        lambda repository, day, merged: DayContext.from_pulls(merged, [next_day, earlier])
    )
    daily = DigestBuilder(
        pulls, reader.read_pull_request, overview, reader.load_files, 1, dependencies=surroundings
    )
    day_digest = daily.build(REPOSITORY, DAY, "Engine", view=DigestView(only=ViewLevel.SUBSTANTIAL))
    assert sorted(pairs(day_digest.outcomes)) == [(3, 8), (9, 12)]
    assert ({entry.number for entry in day_digest.entries}, day_digest.hidden) == ({8, 9}, 1)


def test_a_pair_is_shown_though_neither_half_weighs_anything() -> None:
    trivial = Summaries(summary(type=ChangeType.TRIVIAL))
    day_digest = build_view(
        day(pull(9), reverting(8, 9), pull(7)), DigestView(only=ViewLevel.SUBSTANTIAL), trivial
    )
    assert ([entry.number for entry in day_digest.entries], day_digest.hidden) == ([8, 9], 1)


@pytest.mark.parametrize(
    ("view", "shown"),
    [
        pytest.param(DigestView(Filters(("engine",), not_authors=("bots",))), [1, 2, 3], id="path"),
        pytest.param(DigestView(Filters(("engine",)), ViewLevel.SUBSTANTIAL), [1, 2, 3, 4], id="substantial"),
        pytest.param(DigestView(Filters(("engine",)), ViewLevel.RISKY), [2, 3], id="risky-of-a-path"),
        pytest.param(DigestView(only=ViewLevel.RISKY), [2, 3], id="risky"),
    ],
)
def test_what_can_not_be_read_is_shown_rather_than_lost(view: DigestView, shown: list[int]) -> None:
    day_digest = build_view(day(*FOUR, failing=[2, 3]), view)
    assert [entry.number for entry in day_digest.entries] == shown
    assert day_digest.gaps == ("facts alone of #2, #3 (its files could not be loaded)",)
    assert day_digest.merged_count == 4


def test_the_count_of_a_view_is_that_of_the_day() -> None:
    pulls = day(*FOUR)
    pulls.counted["2026-02-28"] = 5
    day_digest = build_view(pulls, DigestView(Filters(labels=("bug",))))
    assert day_digest.gaps == ("possibly incomplete: the commits of main show 5 merges, not 4",)


# --- what came before the day, and since

NINE = DAY.end + timedelta(hours=9)
MUCH = (changed_file("engine/core.py", 900, 900),)
LATER = replace(pull(9, title='Revert "Change number 2" (#2)', files=None), merged_at=DAY.end + timedelta(hours=3))


class Records(list[PullRequest]):
    """Keeps what it is told of merges."""

    def __call__(self, pulls: Sequence[PullRequest]) -> None:
        self.extend(pulls)


def chronicle_of(pulls: KnownPulls, store: Redis) -> MergeTimeline:
    return MergeTimeline(lambda: RedisHistoryStore(store), pulls.list_merged, lambda: NINE)


def build_surrounded(
    pulls: KnownPulls,
    dependencies: DigestDependencies,
    view: DigestView = FULL_VIEW,
    of: LocalDay = DAY,
    summarise: Summarise = at_once,
) -> Digest:
    reader = PullRequestReader(pulls, summarise)
    daily = DigestBuilder(
        pulls, reader.read_pull_request, overview, reader.load_files, 3, dependencies=dependencies
    )
    return daily.build(REPOSITORY, of, "Engine", view=view)


def seen_by(chronicle: MergeTimeline) -> DigestDependencies:
    return DigestDependencies(chronicle.load_day_context, chronicle.record_merges)


def test_what_was_reverted_before_the_digest_is_posted_is_said_and_not_listed(store: Redis) -> None:
    heavy = tuple(pull(number, files=MUCH) for number in (1, 2))
    pulls = day(*heavy, LATER)
    day_digest = build_surrounded(pulls, seen_by(chronicle_of(pulls, store)))
    assert [entry.number for entry in day_digest.entries] == [1, 2], "the revert is of the next day"
    assert (pairs(day_digest.outcomes), day_digest.count.counted, day_digest.gaps) == ([(2, 9)], 2, ())
    assert [entry.number for entry in day_digest.riskiest_entries] == [1]
    lead_text = read_post(render_digest(day_digest).lead)
    first, second = lead_text.index("Already reverted or repaired"), lead_text.index("Worth a second look")
    assert "#2 Change number 2, reverted after" in lead_text[first:second]
    assert "#2 " not in lead_text[second : lead_text.index("Details")]


def test_a_revert_that_a_view_does_not_show_is_said_of_what_it_does(store: Redis) -> None:
    pulls = day(*FOUR, replace(LATER, author=BOT))
    day_digest = build_surrounded(
        pulls, seen_by(chronicle_of(pulls, store)), DigestView(Filters(not_authors=("bots",)))
    )
    assert pairs(day_digest.outcomes) == [(2, 9)]
    hidden = build_surrounded(pulls, seen_by(chronicle_of(pulls, store)), DigestView(Filters(paths=("docs",))))
    assert ([entry.number for entry in hidden.entries], hidden.outcomes) == ([3], ())


def test_what_reverts_an_earlier_day_names_what_it_took_back(store: Redis) -> None:
    old = pull(200, title="Count once", merged_at=DAY.start - timedelta(days=20))
    RedisHistoryStore(store).record_merges([old])
    pulls = day(pull(9, title='Revert "Count once" (#200)'), pull(8, title='Revert "Lost long ago" (#3)'))
    day_digest = build_surrounded(pulls, seen_by(chronicle_of(pulls, store)))
    assert (pairs(day_digest.outcomes), [each.number for each in day_digest.older_reverts]) == ([(200, 9)], [8])


def test_the_rules_look_back_at_what_earlier_digests_recorded(store: Redis) -> None:
    before = LocalDay(DAY.date - timedelta(days=1), DAY.zone)
    long_ago = pull(1, merged_at=DAY.start - timedelta(days=100), files=CORE)
    RedisHistoryStore(store).record_merges([long_ago])
    fix = pull(2, title="Fix the counter", merged_at=before.start + timedelta(hours=9), files=CORE)
    pulls = day(fix, pull(3, files=CORE), pull(4, files=DOCS))
    around = seen_by(chronicle_of(pulls, store))
    build_surrounded(pulls, around, of=before)
    core, docs = build_surrounded(pulls, around).entries
    assert [rule.rule for rule in core.risk.fired if rule.rule == "fixes"] == ["fixes"]
    assert "fixes" not in [rule.rule for rule in docs.risk.fired]
    assert [entry.risk.without_history for entry in (core, docs)] == [False, False]


def test_without_the_store_a_digest_is_without_history_and_whole(caplog: pytest.LogCaptureFixture) -> None:
    pulls = day(pull(1, files=MUCH), pull(2, files=MUCH), LATER)
    away = connect_server(f"redis://127.0.0.1:{closed_port()}", timeouts=SHORT_TIMEOUTS)
    day_digest = build_surrounded(pulls, seen_by(chronicle_of(pulls, away)))
    assert [entry.risk.without_history for entry in day_digest.entries] == [True, True]
    assert (pairs(day_digest.outcomes), day_digest.gaps) == ([(2, 9)], ())
    assert "🔴 highest risk, no history yet" in read_post(render_digest(day_digest).lead)
    assert "history is not recorded" in caplog.text


def test_a_next_day_that_can_not_be_had_is_a_gap(store: Redis) -> None:
    pulls = day(*FOUR, LATER)
    pulls.failing["day 2026-03-01"] = AWAY
    around = seen_by(chronicle_of(pulls, store))
    day_digest = build_surrounded(pulls, around)
    assert day_digest.gaps == ("what was reverted since is not known (GitHub is away)",)
    assert (day_digest.merged_count, day_digest.outcomes) == (4, ())
    pulls.failing.clear()
    mended = build_surrounded(pulls, around)
    assert (mended.gaps, pairs(mended.outcomes)) == ((), [(2, 9)])


def test_all_that_was_merged_is_recorded_and_what_was_read_with_its_files() -> None:
    told = Records()
    build_surrounded(day(*FOUR), DigestDependencies(record_merges=told), DigestView(Filters(labels=("bug",))))
    assert {each.number: each.files is not None for each in told} == {4: False, 3: True, 2: False, 1: True}


def test_a_list_that_can_not_be_had_is_not_recorded() -> None:
    pulls, told = day(*FOUR), Records()
    pulls.failing["day 2026-02-28"] = AWAY
    with pytest.raises(GitHubUnavailable):
        build_surrounded(pulls, DigestDependencies(record_merges=told))
    assert told == []


@pytest.mark.parametrize(
    ("sizes", "usual", "sparing"),
    [
        # 240 lines are of the list, 700 and more of its highest band
        pytest.param((240, 900, 700, 300), [2, 3, 4], [2], id="one-of-the-highest-band"),
        pytest.param((240, 300, 1), [2, 1], [], id="none-where-none-is-of-it"),
    ],
)
def test_lists_that_found_no_more_than_chance_are_spared(
    sizes: tuple[int, ...], usual: list[int], sparing: list[int]
) -> None:
    files = [(changed_file("engine/core.py", added),) for added in sizes]
    pulls = day(*(pull(n, title="Rename things", files=each) for n, each in enumerate(files, 1)))
    asked: list[Repository] = []

    def is_sparing(repository: Repository) -> bool:
        asked.append(repository)
        return True

    for day_digest, listed in (
        (build_surrounded(pulls, DigestDependencies()), usual),
        (build_surrounded(pulls, DigestDependencies(is_reduced=is_sparing)), sparing),
    ):
        assert [entry.number for entry in day_digest.riskiest_entries] == listed
    assert asked == [REPOSITORY]


# --- with the model on the loopback


def with_model(pulls: ScriptedPulls, model: Model, cache: RedisCache, workers: int) -> Digest:
    asker = StructuredCompletion(model, cache, Sleeps(), CLAUDE.prices)
    reader = PullRequestReader(pulls, Summariser(asker, "claude-haiku-5-5", 30_000).summarise_pull_request)
    overviewer = OverviewWriter(asker, "claude-sonnet-5-5")
    daily = DigestBuilder(pulls, reader.read_pull_request, overviewer.write_overview, reader.load_files, workers)
    return daily.build(REPOSITORY, DAY, "Engine", nothing)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 4])
def test_no_more_than_the_workers_ask_at_a_time(
    claude: ClaudeEmulator, model: Model, cache: RedisCache, workers: int
) -> None:
    claude.latency = 0.05
    day_digest = with_model(make_pulls(*range(1, 13)), model, cache, workers)
    assert claude.in_flight_peak == workers
    assert (len(claude.requests), len(day_digest.fallback_entries)) == (13, 0)
    assert claude.problems == []


def test_a_day_without_merges_makes_no_call(claude: ClaudeEmulator, model: Model, cache: RedisCache) -> None:
    day_digest = with_model(make_pulls(), model, cache, 4)
    assert (day_digest.entries, day_digest.overview.text, claude.requests) == ((), "Nothing was merged.", [])
    assert day_digest.cost == 0.0


def test_a_second_digest_of_the_day_costs_nothing(claude: ClaudeEmulator, model: Model, cache: RedisCache) -> None:
    with_model(make_pulls(1, 2, 3), model, cache, 4)
    again = with_model(make_pulls(1, 2, 3), model, cache, 4)
    assert (len(claude.requests), again.cost) == (4, 0.0)
    assert all(entry.from_cache for entry in again.entries)


def test_a_refused_summary_leaves_the_others(claude: ClaudeEmulator, model: Model, cache: RedisCache) -> None:
    claude.script(Refusal())
    day_digest = with_model(make_pulls(1, 2, 3), model, cache, 1)
    assert (len(day_digest.entries), len(day_digest.fallback_entries), day_digest.overview.fallback) == (
        3,
        1,
        None,
    )
