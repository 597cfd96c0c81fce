"""Filling past days: newest first, once, politely, within a cost, and honest about what is missing."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from redis import Redis

from bot.dates import LocalDay, Span
from bot.errors import (
    GitHubAccessDenied,
    GitHubUnavailable,
    PrdigestError,
    PullRequestNotFound,
    RateLimited,
    RepositoryNotFound,
    StoreUnavailable,
    UsageError,
)
from bot.features.backfill import FILLED_DAYS, BackfillAborted, BackfillOutcome, CostLimit, FilledDay, fill_days
from bot.features.merges.summary import SummarisedPullRequest
from bot.features.summaries.service import keep_summary
from bot.platform.github.caches import FileCache
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.sources import RateAllowance
from bot.platform.store.merge_records import HistoryStore
from bot.platform.store.tables import Store
from bot.settings import load_settings
from impact.repository import Repository
from tests.helpers.apps import make_reading_app
from tests.helpers.builders import DAY, NOON, REPOSITORY, pull
from tests.helpers.checks import is_one_sentence
from tests.helpers.doubles import KnownPulls, StubReader, SummaryResult
from tests.helpers.doubles import Summaries as SummariesDouble

ZONE = DAY.zone
NOW = DAY.end + timedelta(hours=9)
SPAN = Span(date(2026, 2, 26), date(2026, 2, 28), ZONE)
FIRST, SECOND, THIRD = (LocalDay(date(2026, 2, day), ZONE) for day in (28, 27, 26))
AWAY = GitHubUnavailable("GitHub can't be reached: check the network.")


def make_merge(number: int, days_before: int = 0) -> PullRequest:
    return pull(number, merged_at=NOON - timedelta(days=days_before))


# two on the last day, one on the day before, three on the one before that
PULLS = (make_merge(1), make_merge(2), make_merge(3, 1), make_merge(4, 2), make_merge(5, 2), make_merge(6, 2))


@dataclass
class Clock:
    """A time that passes only while somebody sleeps; ``after`` that many pauses something is repaired."""

    now: datetime = NOW
    pauses: list[float] = field(default_factory=list)
    mend: Callable[[], object] = lambda: None
    after: int = 1

    def __call__(self) -> datetime:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += timedelta(seconds=seconds)
        if len(self.pauses) == self.after:
            self.mend()


class SlowFirst(KnownPulls):
    """The newest of forty takes long to read, and each other a moment."""

    def load_files(self, pull: PullRequest) -> PullRequest:
        time.sleep(0.3 if pull.number == 40 else 0.01)
        return super().load_files(pull)


@dataclass
class Rig:
    """A backfill over doubles and a real store. ``model`` empty means that none is set up."""

    store: Redis
    pulls: KnownPulls = field(default_factory=lambda: KnownPulls(PULLS))
    summariser: Any = field(default_factory=SummariesDouble)
    clock: Clock = field(default_factory=Clock)
    model: str = "haiku"
    workers: int = 1
    allowances: Callable[[], list[RateAllowance]] = list
    heard: list[str] = field(default_factory=list)

    @property
    def history(self) -> HistoryStore:
        return HistoryStore(self.store)

    def fill(self, limit: CostLimit | None = None, span: Span = SPAN) -> list[BackfillOutcome]:
        return list(self.start(limit, span))

    def start(
        self, limit: CostLimit | None = None, span: Span = SPAN, repository: Repository = REPOSITORY
    ) -> Iterator[BackfillOutcome]:
        pulls = FileCache(self.pulls, Store(self.store))
        settings = load_settings().model_copy(
            update={"prdigest_summary_model": self.model, "prdigest_concurrency": self.workers}
        )
        app = make_reading_app(
            pulls,
            self.summariser,
            self.store,
            SimpleNamespace(
                model=self.model or None,
                list_allowances=self.allowances,
                stands_in="",
                get_written_review=lambda _: None,
            ),
            settings=settings,
            provider=SimpleNamespace(prices=SimpleNamespace(cautious_cost=lambda _model, _usage: 0.25)),
            now=self.clock,
            sleep=self.clock.sleep,
            merge_history=self.history,
        )
        reader = StubReader(pulls, self.summariser)

        def refresh_summary(pull: PullRequest) -> SummarisedPullRequest:
            read = reader.read_pull_request(pull)
            if pull.merged_at is not None and read.summary.fallback is None:
                keep_summary(app, replace(read, pull=read.pull.remove_patches()))
            return read

        app.__dict__["refresh_summary"] = refresh_summary
        return fill_days(app, repository, span, limit, self.heard.append)

    def list_recorded_numbers(self) -> list[int]:
        merges = self.history.read_merges(REPOSITORY, NOON - timedelta(days=9), NOON + timedelta(days=9))
        assert all(each.files is not None for each in merges)
        return sorted(each.number for each in merges)

    def marks(self) -> dict[str, str]:
        fills = Store(self.store).list_fields(FILLED_DAYS, str(REPOSITORY), ZONE)
        return {day: fill.model for day, fill in fills.items()}


@pytest.fixture
def rig(store: Redis) -> Rig:
    return Rig(store)


def plenty() -> CostLimit:
    return CostLimit(100.0)


class TestFilling:
    def test_days_are_filled_newest_first(self, rig: Rig) -> None:
        outcomes = rig.fill()
        assert outcomes == [BackfillOutcome(FIRST, 2), BackfillOutcome(SECOND, 1), BackfillOutcome(THIRD, 3)]
        assert [call for call in rig.pulls.calls if call.startswith("day")] == [
            "day 2026-02-28",
            "day 2026-02-27",
            "day 2026-02-26",
        ]
        assert rig.list_recorded_numbers() == [1, 2, 3, 4, 5, 6]
        assert (rig.clock.pauses, rig.heard) == ([], [])

    def test_facts_ask_no_model(self, rig: Rig) -> None:
        rig.fill()
        assert rig.summariser.numbers == []
        assert rig.marks() == {"2026-02-26": "", "2026-02-27": "", "2026-02-28": ""}

    def test_within_a_cost_each_is_summarised_and_kept(self, rig: Rig) -> None:
        limit = plenty()
        rig.fill(limit)
        assert sorted(rig.summariser.numbers) == [1, 2, 3, 4, 5, 6]
        assert limit.spent == pytest.approx(3.0)
        assert rig.marks() == {"2026-02-26": "haiku", "2026-02-27": "haiku", "2026-02-28": "haiku"}
        assert len(list(rig.store.scan_iter("entry:*"))) == 6

    def test_without_a_model_a_cost_means_facts(self, rig: Rig) -> None:
        rig.model = ""
        rig.fill(plenty())
        assert set(rig.marks().values()) == {""}

    def test_a_day_without_merges_is_filled_too(self, rig: Rig) -> None:
        rig.pulls.pulls = ()
        assert rig.fill(plenty()) == [BackfillOutcome(FIRST), BackfillOutcome(SECOND), BackfillOutcome(THIRD)]
        assert len(rig.marks()) == 3

    def test_nothing_is_asked_before_the_first_day_is_wanted(self, rig: Rig) -> None:
        days = rig.start()
        assert rig.pulls.calls == []
        next(days)
        assert rig.pulls.calls == ["day 2026-02-28", "files 2", "files 1"]
        assert rig.marks() == {"2026-02-28": ""}

    @pytest.mark.parametrize("workers", [1, 2])
    def test_few_are_read_at_a_time(self, rig: Rig, workers: int) -> None:
        rig.pulls.pulls, rig.workers = tuple(make_merge(n) for n in range(1, 13)), workers
        rig.pulls.latency = 0.01
        rig.fill()
        assert rig.pulls.busy.peak == workers

    def test_a_day_that_is_not_over_is_refused_before_anything_is_asked(self, rig: Rig) -> None:
        with pytest.raises(UsageError, match="2026-03-01 is not over in America/Los_Angeles") as caught:
            rig.start(span=replace(SPAN, last=date(2026, 3, 1)))
        assert is_one_sentence(str(caught.value))
        assert "up to 2026-02-28" in str(caught.value)
        assert rig.pulls.calls == []

    def test_a_day_may_be_filled_the_moment_it_is_over(self, rig: Rig) -> None:
        rig.clock.now = DAY.end
        assert rig.fill()[0] == BackfillOutcome(FIRST, 2)
        rig.clock.now = DAY.end - timedelta(microseconds=1)
        with pytest.raises(UsageError):
            rig.fill()


class TestAgain:
    def test_what_was_filled_is_skipped_without_a_call(self, rig: Rig) -> None:
        rig.fill(plenty())
        rig.pulls.calls.clear()
        again = rig.fill(plenty())
        assert again == [BackfillOutcome(day, was_filled=True) for day in (FIRST, SECOND, THIRD)]
        assert (rig.pulls.calls, len(rig.summariser.numbers)) == ([], 6)

    def test_more_days_ask_for_the_new_ones_alone(self, rig: Rig) -> None:
        rig.fill(span=replace(SPAN, first=SPAN.last))
        rig.pulls.calls.clear()
        assert [outcome.was_filled for outcome in rig.fill()] == [True, False, False]
        assert "day 2026-02-28" not in rig.pulls.calls

    def test_summaries_after_facts_are_made(self, rig: Rig) -> None:
        rig.fill()
        assert [outcome.was_filled for outcome in rig.fill(plenty())] == [False] * 3
        assert set(rig.marks().values()) == {"haiku"}

    def test_facts_after_summaries_are_there(self, rig: Rig) -> None:
        rig.fill(plenty())
        assert all(outcome.was_filled for outcome in rig.fill())
        assert set(rig.marks().values()) == {"haiku"}

    def test_another_model_reads_again(self, rig: Rig) -> None:
        rig.fill(plenty())
        rig.model = "sonnet"
        rig.fill(plenty())
        assert len(rig.summariser.numbers) == 12
        assert set(rig.marks().values()) == {"sonnet"}

    def test_summaries_that_are_gone_are_made_again_and_facts_are_not(self, rig: Rig) -> None:
        rig.fill(plenty())
        rig.clock.now += timedelta(days=91)
        assert all(outcome.was_filled for outcome in rig.fill())
        assert not any(outcome.was_filled for outcome in rig.fill(plenty()))

    def test_an_interrupted_day_is_begun_again_and_the_ones_before_are_not(self, rig: Rig) -> None:
        rig.pulls.failing["files 3"] = KeyboardInterrupt()  # type: ignore[assignment]
        with pytest.raises(KeyboardInterrupt):
            rig.fill()
        assert (rig.marks(), rig.list_recorded_numbers()) == ({"2026-02-28": ""}, [1, 2])
        rig.pulls.failing.clear()
        assert [outcome.was_filled for outcome in rig.fill()] == [True, False, False]
        assert rig.list_recorded_numbers() == [1, 2, 3, 4, 5, 6]

    def test_after_an_interrupt_what_has_not_begun_never_begins(self, rig: Rig) -> None:
        rig.pulls.pulls, rig.workers = tuple(make_merge(n) for n in range(1, 41)), 2
        rig.pulls.latency = 0.01
        rig.pulls.failing["files 38"] = KeyboardInterrupt()  # type: ignore[assignment]
        with pytest.raises(KeyboardInterrupt):
            rig.fill()
        assert len(rig.pulls.calls) < 10

    def test_several_at_once_fill_the_same(self, rig: Rig) -> None:
        rig.pulls.latency = 0.002
        with ThreadPoolExecutor(3) as pool:
            runs = [pool.submit(rig.fill, limit) for limit in (None, plenty(), plenty())]
            assert all(outcome.is_filled for run in runs for outcome in run.result())
        assert rig.list_recorded_numbers() == [1, 2, 3, 4, 5, 6]
        assert set(rig.marks().values()) == {"haiku"}


class TestNotFilled:
    def test_a_day_whose_count_is_in_doubt_is_named_and_tried_again(self, rig: Rig) -> None:
        rig.pulls.counted = {"2026-02-27": 2}
        outcomes = rig.fill()
        assert outcomes[1] == BackfillOutcome(
            SECOND, 1, failure_reason="possibly incomplete: the commits of main show 2 merges, not 1"
        )
        assert [outcome.is_filled for outcome in outcomes] == [True, False, True]
        assert rig.list_recorded_numbers() == [1, 2, 3, 4, 5, 6]
        rig.pulls.counted.clear()
        assert [outcome.was_filled for outcome in rig.fill()] == [True, False, True]
        assert len(rig.marks()) == 3

    def test_so_is_a_day_whose_count_was_not_checked(self, rig: Rig) -> None:
        rig.pulls.counted = {"2026-02-27": None}
        assert "count not checked" in rig.fill()[1].failure_reason

    def test_a_pull_request_that_is_gone_is_named(self, rig: Rig) -> None:
        for number in (4, 6):
            rig.pulls.failing[f"files {number}"] = PullRequestNotFound("It is gone.")
        outcomes = rig.fill()
        assert outcomes[2] == BackfillOutcome(THIRD, 3, failure_reason="not readable: #6, #4")
        assert "2026-02-26" not in rig.marks()
        assert (rig.clock.pauses, len(rig.store.hkeys("history:octo/engine:2026-02-26"))) == ([], 3)

    def test_a_failure_is_tried_again(self, rig: Rig) -> None:
        rig.pulls.failing["files 3"] = AWAY
        rig.clock.mend, rig.clock.after = rig.pulls.failing.clear, 2
        assert all(outcome.is_filled for outcome in rig.fill())
        assert rig.clock.pauses == [5, 10]
        assert rig.heard == [
            "GitHub does not answer: waiting until 17:00:05 UTC",
            "",
            "GitHub does not answer: waiting until 17:00:15 UTC",
            "",
        ]

    @pytest.mark.parametrize("call", ["day 2026-02-27", "files 3"])
    def test_one_that_stays_is_named_and_the_next_day_goes_on(self, rig: Rig, call: str) -> None:
        rig.pulls.failing[call] = AWAY
        outcomes = rig.fill()
        assert outcomes[1] == BackfillOutcome(SECOND, failure_reason="GitHub can't be reached: check the network")
        assert [outcome.is_filled for outcome in outcomes] == [True, False, True]
        assert rig.clock.pauses == [5, 10, 20, 40]
        assert set(rig.marks()) == {"2026-02-26", "2026-02-28"}

    def test_a_list_that_names_what_is_gone_is_no_end(self, rig: Rig) -> None:
        rig.pulls.failing["day 2026-02-27"] = PullRequestNotFound("octo/engine has no pull request #3.")
        assert [outcome.is_filled for outcome in rig.fill()] == [True, False, True]

    @pytest.mark.parametrize(
        "error",
        [GitHubAccessDenied("The token."), RepositoryNotFound("No such repository."), StoreUnavailable("Away.")],
        ids=lambda error: type(error).__name__,
    )
    @pytest.mark.parametrize("call", ["day 2026-02-27", "files 3"])
    def test_what_no_other_day_would_help_ends_it_at_once(self, rig: Rig, call: str, error: PrdigestError) -> None:
        rig.pulls.failing[call] = error
        days = rig.start()
        assert next(days) == BackfillOutcome(FIRST, 2)
        with pytest.raises(type(error)) as caught:
            next(days)
        assert (caught.value, rig.clock.pauses) == (error, [])


class TestLimits:
    def test_a_pause_that_github_asks_for_is_made(self, rig: Rig) -> None:
        rig.pulls.failing["files 2"] = RateLimited("Later.", 1_200.0)
        rig.clock.mend = rig.pulls.failing.clear
        assert all(outcome.is_filled for outcome in rig.fill())
        assert rig.clock.pauses == [1_200.0]
        assert rig.heard == ["GitHub limits the rate: waiting until 17:20:00 UTC", ""]

    def test_without_a_time_it_is_a_minute_and_longer_each_time(self, rig: Rig) -> None:
        rig.pulls.failing["day 2026-02-27"] = RateLimited("Later.")
        with pytest.raises(RateLimited):
            rig.fill()
        assert rig.clock.pauses == [60, 120, 240, 480]
        assert rig.marks() == {"2026-02-28": ""}

    def test_what_was_read_before_a_pause_is_not_asked_for_again(self, rig: Rig) -> None:
        rig.pulls.failing["files 5"] = RateLimited("Later.", 60.0)
        rig.clock.mend = rig.pulls.failing.clear
        rig.fill()
        counts = [rig.pulls.calls.count(f"files {number}") for number in (6, 5, 4)]
        # the next one may be under way when the pause begins, which takes no time here
        assert counts in ([1, 2, 1], [1, 2, 2])

    def test_the_first_refusal_ends_what_runs_beside_it(self, rig: Rig) -> None:
        rig.workers, rig.pulls = 2, SlowFirst(tuple(make_merge(n) for n in range(1, 41)))
        rig.pulls.failing["files 39"] = RateLimited("Later.", 60.0)
        asked: list[str] = []

        def mend() -> None:
            asked.extend(rig.pulls.calls)
            rig.pulls.failing.clear()

        rig.clock.mend = mend
        rig.fill(span=replace(SPAN, first=SPAN.last))
        assert len(asked) < 10

    def test_the_last_tenth_is_left_to_the_bot(self, rig: Rig) -> None:
        short = RateAllowance(480, 5_000, NOW + timedelta(minutes=10))
        other = RateAllowance(9_000, 10_000, NOW + timedelta(minutes=50))
        rig.allowances = lambda: [other, short] if not rig.clock.pauses else [other]
        rig.fill()
        assert rig.clock.pauses == [601.0]
        assert rig.heard == ["480 of 5,000 GitHub calls are reserved for others: waiting until 17:10:01 UTC", ""]

    def test_of_two_limits_the_later_one_counts(self, rig: Rig) -> None:
        both = [RateAllowance(1, 5_000, NOW + timedelta(minutes=minutes)) for minutes in (3, 7)]
        rig.allowances = lambda: both if not rig.clock.pauses else []
        rig.fill()
        assert rig.clock.pauses == [421.0]

    def test_a_limit_that_was_reset_a_moment_ago_is_no_long_wait(self, rig: Rig) -> None:
        gone = RateAllowance(1, 5_000, NOW - timedelta(seconds=5))
        rig.allowances = lambda: [gone] if not rig.clock.pauses else []
        rig.fill()
        assert rig.clock.pauses == [1.0]

    @pytest.mark.slow
    def test_it_looks_before_each_day_and_each_fifty_pull_requests(self, rig: Rig) -> None:
        looks: list[int] = []

        def look() -> list[RateAllowance]:
            looks.append(len(rig.pulls.calls))
            return []

        rig.allowances = look
        rig.pulls.pulls = tuple(make_merge(n) for n in range(1, 121))
        rig.fill(span=replace(SPAN, first=SPAN.last))
        assert looks == [0, 1, 51, 101]
        assert rig.list_recorded_numbers() == list(range(1, 121))

    def test_an_interrupt_ends_a_pause(self, rig: Rig) -> None:
        def raise_interrupt() -> None:
            raise KeyboardInterrupt

        rig.pulls.failing["files 3"] = RateLimited("Later.", 3_600.0)
        rig.clock.mend = raise_interrupt
        with pytest.raises(KeyboardInterrupt):
            rig.fill()
        assert rig.marks() == {"2026-02-28": ""}

    def test_pauses_are_made_by_the_one_who_asked(self, rig: Rig) -> None:
        threads: set[int] = set()
        rig.pulls.failing["files 3"] = RateLimited("Later.", 60.0)

        def mend() -> None:
            threads.add(threading.get_ident())
            rig.pulls.failing.clear()

        rig.clock.mend = mend
        rig.fill()
        assert threads == {threading.get_ident()}


class TestCost:
    def test_a_limit_that_is_reached_ends_it_and_a_higher_one_goes_on(self, rig: Rig) -> None:
        limit = CostLimit(1.5)
        days = rig.start(limit)
        assert [next(days).day, next(days).day] == [FIRST, SECOND]
        with pytest.raises(BackfillAborted, match=r"limit of \$1\.50 is reached") as caught:
            next(days)
        assert is_one_sentence(str(caught.value).replace("$1.50", ""))
        assert (limit.spent, rig.marks()) == (1.5, {"2026-02-27": "haiku", "2026-02-28": "haiku"})
        assert [outcome.was_filled for outcome in rig.fill(plenty())] == [True, True, False]
        assert len(rig.summariser.numbers) == 6

    def test_calls_under_way_are_all_that_exceeds_it(self, rig: Rig) -> None:
        rig.workers, rig.summariser.latency = 2, 0.01
        limit = CostLimit(0.1)
        with pytest.raises(BackfillAborted):
            rig.fill(limit)
        assert limit.spent <= 1.0

    @pytest.mark.parametrize("most", [0.0, float("nan")])
    def test_a_limit_of_nothing_asks_no_model(self, rig: Rig, most: float) -> None:
        with pytest.raises(BackfillAborted):
            rig.fill(CostLimit(most))
        assert rig.summariser.numbers == []

    def test_a_price_that_is_not_known_counts_as_the_dearest(self, rig: Rig) -> None:
        priced = rig.summariser
        rig.summariser = lambda pull: replace(priced(pull), cost=None)
        limit = plenty()
        rig.fill(limit)
        assert limit.spent == 6 * 0.25

    def test_what_the_model_said_before_costs_nothing(self, rig: Rig) -> None:
        priced = rig.summariser
        rig.summariser = lambda pull: SummaryResult(priced(pull).summary, from_cache=True, cost=None)
        limit = plenty()
        rig.fill(limit)
        assert limit.spent == 0.0

    def test_a_pull_request_without_a_summary_is_named_and_its_day_has_facts(self, rig: Rig) -> None:
        self._refuse(rig, 3)
        outcomes = rig.fill(plenty())
        assert outcomes[1] == BackfillOutcome(SECOND, 1, failure_reason="without a summary: #3")
        assert rig.marks() == {"2026-02-26": "haiku", "2026-02-27": "", "2026-02-28": "haiku"}
        assert [outcome.was_filled for outcome in rig.fill()] == [True] * 3

    def test_a_model_that_is_away_is_not_asked_for_ever(self, rig: Rig) -> None:
        rig.pulls.pulls = tuple(make_merge(n) for n in range(1, 41))
        rig.summariser.away = True
        with pytest.raises(BackfillAborted, match=r"no summary 5 times in a row \(no model is set up\)") as caught:
            rig.fill(plenty())
        assert len(rig.summariser.numbers) == 5
        assert is_one_sentence(str(caught.value))

    @pytest.mark.slow
    def test_failures_in_between_are_no_end(self, rig: Rig) -> None:
        rig.pulls.pulls = tuple(make_merge(n) for n in range(1, 41))
        self._refuse(rig, *range(2, 41, 2))
        assert rig.fill(plenty())[0].failure_reason.count("#") == 20

    def _refuse(self, rig: Rig, *numbers: int) -> None:
        willing, away = rig.summariser, SummariesDouble(away=True)
        rig.summariser = lambda pull: (away if pull.number in numbers else willing)(pull)


def test_what_was_recorded_before_an_error_stays(rig: Rig) -> None:
    rig.pulls.failing["day 2026-02-26"] = StoreUnavailable("Away.")
    with pytest.raises(StoreUnavailable):
        rig.fill()
    assert rig.list_recorded_numbers() == [1, 2, 3]


def test_what_is_kept_of_a_day_tells_when_and_stays(rig: Rig) -> None:
    rig.fill(plenty())
    filled = Store(rig.store).get_field(FILLED_DAYS, "2026-02-28", str(REPOSITORY), ZONE)
    assert filled == FilledDay(NOW.astimezone(UTC), "haiku")
    assert rig.store.ttl(f"backfilled:{REPOSITORY}:{ZONE}") == -1


def test_what_can_not_be_read_of_a_day_is_filled_again(rig: Rig) -> None:
    rig.store.hset(f"backfilled:{REPOSITORY}:{ZONE}", "2026-02-28", "pfacts")
    assert not rig.fill()[0].was_filled


def test_typed_in_other_letters_it_is_the_same_repository(rig: Rig) -> None:
    rig.fill()
    span, app_calls = replace(SPAN, first=SPAN.last), len(rig.pulls.calls)
    assert list(rig.start(span=span, repository=Repository("OCTO", "Engine"))) == [
        BackfillOutcome(FIRST, was_filled=True)
    ]
    assert len(rig.pulls.calls) == app_calls


THEN = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
FACTS, HAIKU = FilledDay(THEN), FilledDay(THEN, "haiku")
YEARS, WEEKS = timedelta(days=900), timedelta(days=89)
COVERED: dict[str, tuple[FilledDay, str, timedelta, bool]] = {
    "facts for facts": (FACTS, "", WEEKS, True),
    "facts stay": (FACTS, "", YEARS, True),
    "facts for summaries": (FACTS, "haiku", WEEKS, False),
    "summaries for facts": (HAIKU, "", YEARS, True),
    "summaries for summaries": (HAIKU, "haiku", WEEKS, True),
    "summaries are gone": (HAIKU, "haiku", timedelta(days=90), False),
    "of another model": (HAIKU, "sonnet", WEEKS, False),
}


@pytest.mark.parametrize(("fill", "model", "later", "expected"), COVERED.values(), ids=COVERED)
def test_a_fill_covers_what_is_wanted(fill: FilledDay, model: str, later: timedelta, expected: bool) -> None:
    assert fill.is_complete_for(model, THEN + later) is expected


@pytest.mark.parametrize(
    ("left", "limit", "expected"), [(499, 5_000, True), (500, 5_000, False), (0, 60, True), (6, 60, False)]
)
def test_the_last_tenth_is_for_others(left: int, limit: int, expected: bool) -> None:
    assert RateAllowance(left, limit, THEN).is_short is expected
