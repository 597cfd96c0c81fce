import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import pytest
from redis import Redis

from bot.app import App
from bot.features.merges.review import BugReview, ReviewCoverage
from bot.features.merges.risk import Risk
from bot.features.merges.summary import Fallback, FallbackReason
from bot.features.merges.view import Entry
from bot.features.reviews.service import DEFECT, NO_TIME, STORE_AWAY, add_kept_reviews, get_review, review_entries
from bot.platform import deadlines
from bot.platform.costs import Budget, CallMeter, MeteredChat, RateLimiter
from bot.platform.metrics import Instruments
from bot.platform.models.claude import CLAUDE
from bot.platform.pulls.paths import DEFAULT_PATH_CLASSES, PathClass, PathClasses, PathSettings
from bot.platform.store.connection import connect_server
from bot.platform.store.spending import SpendingStore
from bot.usage import BudgetRefusal, CallPurpose
from tests.emulators.claude.server import Failure, Refusal, Text
from tests.features.reviews.changes import CHANGE, CONFIRMED, MODEL, SEVEN, Desk, report
from tests.helpers.apps import make_reading_app
from tests.helpers.builders import DAY, REPOSITORY, changed_file, entry, failed, summary
from tests.helpers.checks import closed_port
from tests.helpers.doubles import KnownPulls, Sleeps

CUSTOM = PathClasses(((PathClass.DOCS, ("*.txt",)),))
TODAY = f"{DAY.date}:reviews"


def risky(number: int, points: float = 12.0, **fields: Any) -> Entry:
    made = replace(SEVEN, number=number, title=f"Split faster {number}", merge_commit=f"{number:040x}")
    return replace(entry(number), pull=replace(made, **fields), risk=Risk(points, ()))


@dataclass
class Day:
    """A reviewer of days over the store; ``chat`` is metered where there is a ``daily`` budget."""

    desk: Desk
    store: Redis
    dollars: float = 1.0
    daily: float = 0.0
    workers: int = 4
    paths: PathClasses = DEFAULT_PATH_CLASSES
    diff_tokens: int = 15_000

    @property
    def spending(self) -> SpendingStore:
        return SpendingStore(self.store)

    @property
    def app(self) -> App:
        chat = self.desk.chat
        if self.daily:
            budget = Budget(self.spending, lambda: DAY, self.daily, 1.0)
            limiter = RateLimiter(self.store, 1)
            chat = MeteredChat(chat, CallMeter(Instruments(), CLAUDE.prices, budget, limiter, Sleeps()))
        app = make_reading_app(
            KnownPulls(),
            None,
            self.store,
            chat=chat,
            code=self.desk.code,
            budget=Budget(self.spending, lambda: DAY, 0.0, 0.0, reviews=self.dollars),
            paths=PathSettings(default=self.paths),
        )
        settings = {
            "prdigest_concurrency": self.workers,
            "prdigest_answer_model": MODEL,
            "prdigest_diff_tokens": self.diff_tokens,
        }
        app.settings, app.sleep = app.settings.model_copy(update=settings), self.desk.sleeps
        return app

    def read(self, *entries: Entry) -> tuple[dict[int, str], ReviewCoverage]:
        read, coverage = review_entries(self.app, REPOSITORY, entries, DEFAULT_PATH_CLASSES)
        assert [each.number for each in read] == [each.number for each in entries]
        return {each.number: each.review.verdict.value for each in read if each.review}, coverage

    def find(self, entry: Entry) -> BugReview | None:
        return get_review(self.app, entry.pull)

    @property
    def spent(self) -> float:
        return self.spending.get_spending(TODAY)

    @property
    def asked(self) -> list[int]:
        """The numbers of the pull requests that the model was asked about, in order."""
        texts = (json.dumps(request["messages"][0]) for request in self.desk.claude.requests)
        return [int(text.partition("engine #")[2].partition(":")[0]) for text in texts]


@pytest.fixture
def day(desk: Desk, store: Redis) -> Day:
    return Day(desk, store)


def test_what_is_product_is_read_riskiest_first_and_larger_before_smaller(day: Day) -> None:
    day.workers = 1
    entries = (
        risky(1, 4.5),
        risky(2, 17.0),
        risky(3, 3.9),
        risky(4, 20.0, files=(changed_file("docs/a.md"),)),
        risky(5, 20.0, merged_at=None),
        replace(risky(6), summary=summary(fallback=Fallback(FallbackReason.UNREADABLE))),
        replace(risky(7), summary=summary(fallback=failed("the model is busy"))),
        replace(risky(8), risk=Risk(30.0, (), may_be_listed=False)),
        risky(9, 20.0, files=None),
        risky(10, 4.5, additions=900),
    )
    day.desk.claude.respond = lambda body: report(CONFIRMED)
    verdicts, coverage = day.read(*entries)
    assert day.asked == [2, 7, 10, 1, 3]
    assert verdicts == dict.fromkeys(day.asked, "confirmed")
    assert (coverage.eligible, coverage.reviewed, coverage.stop) == (5, 5, "")
    assert coverage.cost == pytest.approx(day.spent, abs=1e-5)
    assert coverage.cost


@pytest.mark.slow
def test_a_second_run_makes_no_call_and_costs_nothing(day: Day, store: Redis) -> None:
    first = day.read(risky(1), risky(2))
    day.dollars = 0.0001
    again, coverage = day.read(risky(1), risky(2))
    assert (again, coverage) == (first[0], ReviewCoverage(2, 2, "", 0.0))
    kept, known = add_kept_reviews((risky(1), risky(3)), lambda pull: get_review(day.app, pull))
    assert ([bool(each.review) for each in kept], known) == ([True, False], ReviewCoverage(1, 1))
    assert len(day.desk.claude.requests) == 2
    (key, *_) = store.keys("review:*")
    assert 89 * 86_400 < store.ttl(key) <= 90 * 86_400


def test_another_model_or_class_or_commit_reads_again(day: Day) -> None:
    day.read(risky(1))
    assert day.find(risky(1))
    assert not day.find(risky(1, merge_commit="f" * 40))
    assert not replace(day, diff_tokens=9_000).find(risky(1))
    assert not replace(day, paths=CUSTOM).find(risky(1))


@pytest.mark.parametrize("text", ["{", "[]", '{"version": 99}', '{"version": 1, "review": {"findings": 3}}', ""])
def test_what_another_version_kept_is_read_again(text: str, day: Day, store: Redis) -> None:
    day.read(risky(1))
    (key,) = store.keys("review:*")
    store.set(key, text)
    assert day.find(risky(1)) is None
    assert day.read(risky(1))[1].reviewed == 1


def test_two_workers_read_a_pull_request_once(day: Day) -> None:
    day.desk.claude.latency = 0.1
    with ThreadPoolExecutor(3) as pool:
        day_results = list(pool.map(lambda _: day.read(risky(1), risky(2)), range(3)))
    assert sorted(day.asked) == [1, 2]
    assert {each[1].reviewed for each in day_results} == {2}
    assert sum(each[1].cost or 0 for each in day_results) == pytest.approx(day.spent, abs=1e-5)


# what ends it


@pytest.mark.slow
def test_the_cap_holds_over_processes_and_channels(day: Day) -> None:
    reserved = day.desk.reviewer.start_cost(SEVEN).reserved
    day.dollars, day.desk.claude.latency = 4.5 * reserved, 0.05
    numbers = iter(range(1, 1_000))
    # a review that costs about half of what it reserves
    day.desk.claude.respond = lambda body: Text("{" + " " * int(reserved * 1.0e5))

    def read(_: int) -> ReviewCoverage:
        return day.read(*(risky(next(numbers)) for _ in range(8)))[1]

    with ThreadPoolExecutor(3) as pool:
        coverages = list(pool.map(read, range(3)))
    assert {each.stop for each in coverages} == {BudgetRefusal.REVIEWS_USED.clause}
    assert 0.4 * day.dollars < day.spent <= day.dollars


def test_the_budget_of_the_day_starts_anew(day: Day) -> None:
    day.dollars = 0.01
    assert day.read(risky(1))[1] == ReviewCoverage(1, 0, BudgetRefusal.REVIEWS_USED.clause, 0.0)
    day.dollars = 1.0
    assert day.read(risky(1))[1].reviewed == 1


def test_the_general_budget_drops_reviews_first(day: Day) -> None:
    day.daily, day.workers = 1.0, 1
    budget = Budget(day.spending, lambda: DAY, day.daily, 1.0)
    budget.settle_cost(budget.reserve_cost("", CallPurpose.USUAL, 0.5), 0.81)
    verdicts, coverage = day.read(risky(1), risky(2))
    assert (verdicts, coverage) == ({}, ReviewCoverage(2, 0, BudgetRefusal.DAY_NEARLY_USED.clause, 0.0))
    assert day.desk.claude.requests == []
    assert day.spending.get_spending(str(DAY.date)) == pytest.approx(0.81)


def test_a_review_is_counted_in_both_budgets(day: Day) -> None:
    day.daily = 5.0
    _, coverage = day.read(risky(1), risky(2))
    assert coverage.reviewed == 2, "the limit of calls in a minute does not count them"
    assert day.spending.get_spending(str(DAY.date)) == pytest.approx(day.spent, abs=1e-5)


@pytest.mark.slow
def test_a_failure_is_counted_and_ends_nothing(day: Day) -> None:
    day.workers = 1
    day.desk.claude.script(Refusal(), *[Failure(529, "overloaded_error")] * 3, Text("no"), Text("no"))
    verdicts, coverage = day.read(risky(1, 20.0), risky(2, 19.0), risky(3, 18.0), risky(4, 17.0))
    assert verdicts == {4: "nothing"}
    assert (coverage.eligible, coverage.reviewed) == (4, 1)
    assert coverage.stop == "3 reviews failed (the model declined to answer)"
    assert coverage.cost == pytest.approx(day.spent, abs=1e-5), "what failed is paid for"


@pytest.mark.slow
def test_a_model_that_is_away_is_not_asked_for_each(day: Day) -> None:
    day.workers = 2
    day.desk.claude.respond = lambda body: Failure(401, "authentication_error")
    _, coverage = day.read(*map(risky, range(1, 21)))
    assert (coverage.eligible, coverage.reviewed) == (20, 0)
    assert coverage.stop
    assert 3 <= len(day.desk.claude.requests) <= 4


def test_a_defect_leaves_the_others_and_the_digest(day: Day) -> None:
    broken: Any = 3
    verdicts, coverage = day.read(risky(1, body=broken), risky(2))
    assert (verdicts, coverage.reviewed, coverage.stop) == ({2: "nothing"}, 1, f"1 review failed ({DEFECT})")
    everywhere = risky(3, files=(replace(CHANGE, patch=broken),))
    assert day.read(everywhere)[1] == ReviewCoverage(1, 0, DEFECT, 0.0)


def test_no_review_makes_a_digest_late(day: Day) -> None:
    # a quarter of it is for reviews, and none needs less than fifteen seconds
    with deadlines.bound_work(50.0):
        verdicts, coverage = day.read(risky(1), risky(2))
    assert (verdicts, coverage) == ({}, ReviewCoverage(2, 0, NO_TIME, 0.0))
    assert day.desk.claude.requests == []


def test_the_end_of_the_process_ends_it(day: Day) -> None:
    ending, day.desk.claude.latency = deadlines.ShutdownSignal(), 20.0
    timer = threading.Timer(0.2, ending.trigger)
    timer.start()
    with deadlines.bound_work(100.0, ending), pytest.raises(deadlines.ProcessShutdown):
        day.read(risky(1))
    timer.join()


@pytest.mark.slow
def test_without_the_store_a_digest_goes_on(desk: Desk) -> None:
    with connect_server(f"redis://127.0.0.1:{closed_port()}") as away:
        assert Day(desk, away).read(risky(1)) == ({}, ReviewCoverage(1, 0, STORE_AWAY, 0.0))
