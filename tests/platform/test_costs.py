from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import cast

import pytest
from redis import Redis

from bot.dates import LocalDay, parse_zone
from bot.errors import BudgetExceeded, ModelBusy, SlackUnavailable
from bot.features.usage import CostTotals, sum_days
from bot.platform import deadlines
from bot.platform.costs import (
    OPERATOR,
    Budget,
    CallKind,
    CallMeter,
    CallOrigin,
    MeteredChat,
    MeteredModel,
    RateLimiter,
    bill_to,
    tally_costs,
)
from bot.platform.metrics import Instruments
from bot.platform.models import Chat, ChatEvent, Completion, Prompt, TextDelta, TextPart, Turn, TurnEnd, TurnUsage
from bot.platform.models.claude import CLAUDE
from bot.platform.store.connection import connect_server
from bot.platform.store.spending import SpendingStore
from bot.platform.worker_threads import DeadlineExecutor
from bot.usage import BudgetRefusal, CallPurpose, Usage
from tests.helpers.doubles import CountingLimiter, Sleeps
from tests.helpers.talks import converse

HAIKU = "claude-haiku-5-5"
ADA, BEN = "T0TEAM:U0ADA", "T0TEAM:U0BEN"
DAY = LocalDay(datetime(2026, 3, 2).date(), parse_zone("UTC"))  # noqa: DTZ001 (a date)
# ten cents by haiku's price
USED = Usage(input=50_000, output=190_000)
DIME = CLAUDE.prices.cautious_cost(HAIKU, USED)
PROMPT = Prompt(HAIKU, "v1", "system", "user", {}, 100)
# what went in of a call of which nothing else is known, by its length
EXPECTED = CLAUDE.prices.cautious_cost(HAIKU, Usage(cache_write=36))
CHAT = Chat(HAIKU, "system", (), (Turn("person", (TextPart("Why?"),)),), 100, 25.0, 60.0)


@dataclass
class Model:
    outcome: Callable[[], Usage] = lambda: USED
    calls: int = 0

    def complete(self, prompt: Prompt) -> Completion:
        self.calls += 1
        return Completion("{}", self.outcome())

    def stream_turn(self, chat: Chat) -> Generator[ChatEvent, None, None]:
        self.calls += 1
        yield TextDelta("Because")
        yield TurnUsage(self.outcome())
        yield TextDelta(" of that.")
        yield TurnEnd(Turn("model"))


def make_meter(
    budget: Budget, limiter: RateLimiter, sleep: Callable[[float], None] = deadlines.sleep
) -> CallMeter:
    return CallMeter(Instruments(), CLAUDE.prices, budget, limiter, sleep)


@dataclass
class Till:
    """A meter over a real store, with a dollar for everybody and thirty cents for each."""

    store: Redis
    model: Model = field(default_factory=Model)
    limit: int = 1_000
    sleeps: Sleeps = field(default_factory=Sleeps)

    def __post_init__(self) -> None:
        self.budget = Budget(SpendingStore(self.store), lambda: DAY, 1.0, 0.3)
        self.meter = make_meter(self.budget, CountingLimiter(self.limit), self.sleeps)

    def call(self, payer: str = ADA, need: CallPurpose = CallPurpose.USUAL) -> None:
        with bill_to(payer):
            self.call_here(need)

    def call_here(self, need: CallPurpose = CallPurpose.USUAL) -> None:
        MeteredModel(self.model, self.meter).complete(replace(PROMPT, need=need))

    def catch_refusal(self, payer: str = ADA, need: CallPurpose = CallPurpose.USUAL) -> str:
        with pytest.raises(BudgetExceeded) as caught:
            self.call(payer, need)
        return str(caught.value)

    def spent_by(self, payer: str) -> float:
        return SpendingStore(self.store).get_spending(f"{DAY.date}:{payer}")

    def totals(self) -> CostTotals:
        return sum_days(SpendingStore(self.store).read_ledger([DAY.date]))

    def count_holds(self) -> int:
        holds = (cast("list[bytes]", self.store.zrange(key, 0, -1)) for key in self.store.scan_iter("held:*"))
        return sum(b":settled:" not in each for each in chain.from_iterable(holds))


@pytest.fixture
def till(store: Redis) -> Iterator[Till]:
    made = Till(store)
    yield made
    assert made.count_holds() == 0, "whatever became of the calls"


def test_a_person_pays_what_was_reported_until_theirs_is_used_up(till: Till) -> None:
    for _ in range(3):
        till.call()
    assert till.spent_by(ADA) == pytest.approx(3 * DIME)
    assert (till.catch_refusal(), till.model.calls) == (BudgetRefusal.PERSON_USED.clause, 3)
    till.call(BEN)
    assert till.budget.read_spending_today() == pytest.approx(4 * DIME)


def test_a_talk_is_paid_for_in_the_same_way(till: Till) -> None:
    with bill_to(ADA):
        chat = MeteredChat(till.model, till.meter)
        for _ in range(3):
            converse(chat, CHAT)
        with pytest.raises(BudgetExceeded):
            converse(chat, CHAT)
    assert till.spent_by(ADA) == pytest.approx(3 * DIME)


def test_a_second_reading_takes_no_turn_of_what_was_asked_for_and_is_dropped_first(store: Redis) -> None:
    till = Till(store, limit=1)
    chat, again = MeteredChat(till.model, till.meter), replace(CHAT, need=CallPurpose.SECOND_READING)
    with bill_to(""):
        for _ in range(8):
            converse(chat, again)
        with pytest.raises(BudgetExceeded, match=BudgetRefusal.DAY_NEARLY_USED.clause):
            converse(chat, again)
        converse(chat, CHAT)
    with bill_to(ADA):
        till.call(ADA)
    assert till.sleeps == []


def streaming(till: Till) -> Generator[ChatEvent, None, None]:
    return MeteredChat(till.model, till.meter).stream_turn(CHAT)


def test_nothing_is_reserved_for_a_talk_that_is_not_begun(till: Till) -> None:
    with bill_to(ADA), closing(streaming(till)):
        assert till.count_holds() == 0
    assert (till.model.calls, till.spent_by(ADA)) == (0, 0.0)


@pytest.mark.parametrize(("heard", "paid"), [(1, EXPECTED), (2, DIME), (3, DIME), (4, DIME)])
def test_who_hears_no_more_pays_what_was_told_until_then(till: Till, heard: int, paid: float) -> None:
    with bill_to(ADA), closing(streaming(till)) as events:
        for _ in range(heard):
            next(events)
        assert till.count_holds() == 5, "for the person, and for all people and all calls of the day and the month"
    assert till.spent_by(ADA) == pytest.approx(paid, abs=2e-6)


def test_a_talk_that_breaks_off_costs_what_it_told_before(till: Till) -> None:
    class Breaking(Model):
        def stream_turn(self, chat: Chat) -> Generator[ChatEvent, None, None]:
            yield TurnUsage(USED)
            raise ModelBusy("the model stopped before the end of its answer")

    till.model = Breaking()
    with bill_to(ADA), pytest.raises(ModelBusy):
        list(streaming(till))
    assert till.spent_by(ADA) == pytest.approx(DIME)


def test_a_talk_that_is_refused_at_once_costs_nothing(till: Till) -> None:
    class Refusing(Model):
        def stream_turn(self, chat: Chat) -> Generator[ChatEvent, None, None]:
            yield from ()
            raise ModelBusy("the model is busy")

    till.model = Refusing()
    with bill_to(ADA), pytest.raises(ModelBusy):
        list(streaming(till))
    assert till.spent_by(ADA) == 0.0


@pytest.mark.parametrize(
    ("payer", "origin"), [(ADA, CallOrigin.PERSON), ("", CallOrigin.SCHEDULE), (OPERATOR, CallOrigin.TERMINAL)]
)
def test_the_ledger_has_every_call_with_its_tokens_by_what_it_was_for(
    till: Till, payer: str, origin: CallOrigin
) -> None:
    till.budget = Budget(SpendingStore(till.store), lambda: DAY, 10.0, 10.0)
    till.meter = make_meter(till.budget, CountingLimiter(till.limit))
    for need in (CallPurpose.USUAL, CallPurpose.SMALL, CallPurpose.OVERVIEW):
        till.call(payer, need)
    with bill_to(payer):
        converse(MeteredChat(till.model, till.meter), replace(CHAT, need=CallPurpose.SECOND_READING))
    cost_totals = till.totals()
    assert {kind: expense.calls for kind, expense in cost_totals.by_kind.items()} == {
        CallKind.SUMMARY: 2,
        CallKind.OVERVIEW: 1,
        CallKind.SECOND_READING: 1,
    }
    summaries = cost_totals.by_kind[CallKind.SUMMARY]
    assert (summaries.input_tokens, summaries.output_tokens) == (2 * USED.input, 2 * USED.output)
    assert cost_totals.dollars_by_origin == {origin: pytest.approx(4 * DIME)}
    assert cost_totals.tokens == 4 * USED.tokens


def test_the_ledger_of_a_day_is_exact_however_many_processes_write_it(store: Redis, store_url: str) -> None:
    def call_often(_: int) -> None:
        with connect_server(store_url) as own:
            elsewhere = Till(own)
            elsewhere.budget = Budget(SpendingStore(own), lambda: DAY, 1_000.0, 1_000.0)
            elsewhere.meter = make_meter(elsewhere.budget, CountingLimiter(1_000))
            for _ in range(20):
                elsewhere.call(BEN)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(call_often, range(4)))
    cost_totals = Till(store).totals()
    assert (cost_totals.calls, cost_totals.input_tokens) == (80, 80 * USED.input)
    assert cost_totals.dollars == pytest.approx(80 * DIME)


def test_a_refused_call_is_none_in_the_ledger(till: Till) -> None:
    for _ in range(3):
        till.call()
    till.catch_refusal()
    till.model.outcome = failing(busy(Usage()))
    with pytest.raises(ModelBusy):
        till.call(BEN)
    assert till.totals().calls == 3


def count_scripts(store: Redis) -> int:
    statistics = cast("dict[str, dict[str, int]]", store.info("commandstats"))
    return statistics["cmdstat_evalsha"]["calls"]


def test_a_call_takes_two_scripts_of_the_store_and_the_ledger_is_in_one_of_them(till: Till) -> None:
    # which also leaves the scripts with the store
    till.call("")
    before = count_scripts(till.store)
    till.call("")
    assert count_scripts(till.store) - before == 2
    assert till.totals().calls == 2


def test_a_piece_of_work_knows_what_it_cost_with_all_its_threads(till: Till) -> None:
    with bill_to("") as around:
        till.call_here()
        with tally_costs() as part, DeadlineExecutor(2, "test") as crew:
            crew.map_items(MeteredModel(till.model, till.meter).complete, [PROMPT, PROMPT])
        till.call_here()
    assert part.expense.tokens == 2 * USED.tokens
    assert part.expense.dollars == pytest.approx(2 * DIME)
    assert around.expense.tokens == 2 * USED.tokens, "of itself"


def test_who_pays_for_a_part_is_told_why_calls_of_it_were_refused(till: Till) -> None:
    with bill_to(ADA) as around, tally_costs() as part:
        for _ in range(3):
            till.call_here()
        with pytest.raises(BudgetExceeded):
            till.call_here()
    assert (part.payer, around.refusals) == (ADA, {BudgetRefusal.PERSON_USED})


def test_whoever_runs_the_bot_is_asked_for_nothing_and_nobody_pays_as_the_bot(till: Till) -> None:
    for _ in range(20):
        till.call(OPERATOR)
    assert till.budget.read_spending_today() == 0.0
    MeteredModel(till.model, till.meter).complete(PROMPT)
    assert till.budget.read_spending_today() == pytest.approx(DIME)


def failing(error: BaseException) -> Callable[[], Usage]:
    def fail() -> Usage:
        raise error

    return fail


def busy(usage: Usage) -> ModelBusy:
    error = ModelBusy("busy")
    error.usage = usage
    return error


ENDS: dict[str, tuple[BaseException, float]] = {
    "refused before anything was read": (busy(Usage()), 0.0),
    "broken off": (busy(USED), DIME),
    "what is outside the model": (SlackUnavailable("away"), CLAUDE.prices.cautious_cost(HAIKU, Usage(input=4))),
    "the end of the process": (deadlines.ProcessShutdown(), CLAUDE.prices.cautious_cost(HAIKU, Usage(input=4))),
}


@pytest.mark.parametrize(("error", "paid"), ENDS.values(), ids=ENDS)
def test_however_a_call_ends_it_is_settled(till: Till, error: BaseException, paid: float) -> None:
    till.model.outcome = failing(error)
    with pytest.raises(type(error)):
        till.call()
    assert till.spent_by(ADA) == pytest.approx(paid, abs=2e-6)


def test_why_calls_were_refused_is_known_to_the_work_with_all_its_threads(till: Till) -> None:
    for _ in range(3):
        till.call()
    with bill_to(ADA) as account, DeadlineExecutor(2, "test") as crew:
        model = MeteredModel(till.model, till.meter)
        with pytest.raises(BudgetExceeded):
            crew.map_items(model.complete, [PROMPT, PROMPT])
    assert account.refusals == {BudgetRefusal.PERSON_USED}


def test_too_many_in_a_minute_are_refused_where_somebody_waits(till: Till) -> None:
    till.meter = make_meter(till.budget, CountingLimiter(2), till.sleeps)
    till.model.outcome = Usage
    with deadlines.bound_work(120.0):
        till.call()
        till.call()
        assert till.catch_refusal() == BudgetRefusal.TOO_MANY_CALLS.clause
        till.call(BEN)
    assert (till.model.calls, list(till.sleeps)) == (3, [])


def test_too_many_in_a_minute_wait_where_there_is_time(store: Redis) -> None:
    waits: list[float] = []

    class Patient(RateLimiter):
        """``RateLimiter`` that has room again after three looks."""

        def __init__(self) -> None:
            """It has no store."""

        def try_acquire(self, name: str) -> bool:
            return len(waits) >= 3

    meter = make_meter(Budget(SpendingStore(store), lambda: DAY, 1.0, 0.3), Patient(), waits.append)
    with deadlines.bound_work(1_200.0), bill_to(ADA):
        MeteredModel(Model(), meter).complete(PROMPT)
    assert waits == [1.0] * 3


def test_the_bots_own_calls_are_not_counted_by_the_minute(till: Till) -> None:
    till.meter = make_meter(till.budget, RateLimiter(till.store, 1), till.sleeps)
    for _ in range(5):
        till.call("")
    assert till.model.calls == 5
