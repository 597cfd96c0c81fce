"""What model calls cost: who pays, what the budgets allow, and how each call is counted.

Budgets are US dollars of a local day, of its month, and of a person on a day. The payer is a person, by workspace
and user, or the bot itself, which has an empty name, for what it posts on schedule.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from contextvars import ContextVar
from dataclasses import asdict, astuple, dataclass, field, replace
from enum import StrEnum
from uuid import uuid4

from dramatiq.rate_limits import WindowRateLimiter
from dramatiq.rate_limits.backends import RedisBackend
from redis import Redis

from bot.dates import LocalDay
from bot.errors import BudgetExceeded, ModelBusy, ModelError, StoreUnavailable
from bot.platform import deadlines
from bot.platform.metrics import Instruments
from bot.platform.models import Chat, ChatEvent, ChatModel, Completion, Model, Prompt, TurnUsage
from bot.platform.slack.requests import SlackRequest
from bot.platform.store.connection import UNPREFIXED, Keyspace, translate_redis_errors
from bot.platform.store.keys import REQUEST_RATE, build_calls_rate, build_person_name
from bot.platform.store.spending import NOTHING, BudgetHold, SpendingStore, to_microdollars
from bot.usage import NO_USAGE, BudgetRefusal, CallPurpose, PriceList, Usage

log = logging.getLogger(__name__)

# work from the command line: its user limits it there, and the budgets for Slack do not apply
OPERATOR = "operator"
# of the total, that all people together may spend, so that the rest remains for scheduled digests; a morning of 43
# pull requests costs a few per cent of the usual ten dollars
PEOPLE_SHARE = 0.75
# the least number of characters of English and code in a token
_CHARACTERS_PER_TOKEN = 3
# seconds: work with that much time left waits; other work, which a person waits for, gets facts at once
_MIN_SECONDS_TO_WAIT = 300.0
_PAUSE_SECONDS = 1.0
_SPENT_SENTENCES = {
    BudgetRefusal.DAY_USED: "Today's model budget is used up; it resets at midnight ({zone}).",
    BudgetRefusal.PERSON_USED: "You have used up your budget for today; it resets at midnight ({zone}).",
    BudgetRefusal.MONTH_USED: "This month's model budget is used up; it resets on {first} ({zone}).",
}
_NEARLY = {
    BudgetRefusal.DAY_USED: BudgetRefusal.DAY_NEARLY_USED,
    BudgetRefusal.MONTH_USED: BudgetRefusal.MONTH_NEARLY_USED,
}


# --- what the ledger counts


class CallKind(StrEnum):
    SUMMARY = "summary"
    OVERVIEW = "overview"
    SECOND_READING = "reading"
    QUESTION = "question"


class CallOrigin(StrEnum):
    """Who caused a model call: the schedule, a person in Slack, or a command in a terminal."""

    SCHEDULE = "schedule"
    PERSON = "person"
    TERMINAL = "terminal"


class WorkKind(StrEnum):
    """A piece of work whose whole cost is counted."""

    DIGEST = "digest"
    ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class Expense:
    """The tokens and US dollars of some work, and how many summaries it took from the cache or had made."""

    tokens: int = 0
    dollars: float = 0.0
    cache_hits: int = 0
    cache_misses: int = 0

    def __add__(self, other: Expense) -> Expense:
        return Expense(*(one + more for one, more in zip(astuple(self), astuple(other), strict=True)))


def count_call(kind: CallKind, origin: CallOrigin, usage: Usage, dollars: float) -> dict[str, int]:
    amounts = {"calls": 1, "microdollars": to_microdollars(dollars), **asdict(usage)}
    return {f"call:{kind}:{origin}:{name}": amount for name, amount in amounts.items() if amount}


def count_work(kind: WorkKind, expense: Expense, count: int = 1) -> dict[str, int]:
    """Return what a digest or an answer adds to the ledger; ``count`` is 0 for a failed attempt or a repair."""
    amounts = {
        f"work:{kind}:count": count,
        f"work:{kind}:tokens": expense.tokens,
        f"work:{kind}:microdollars": to_microdollars(expense.dollars),
        "cache:hits": expense.cache_hits,
        "cache:misses": expense.cache_misses,
    }
    return {name: amount for name, amount in amounts.items() if amount}


# --- who pays, and what a piece of work costs. This is passed on with the work as its deadline is: through every
# call, and into the threads of an executor


@dataclass
class BillingAccount:
    """The payer of a piece of work: a person, ``OPERATOR``, or an empty name for the bot itself."""

    payer: str = ""
    refusals: set[BudgetRefusal] = field(default_factory=set)  # why model calls were refused
    expense: Expense = Expense()  # so far
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def origin(self) -> CallOrigin:
        if self.payer == OPERATOR:
            return CallOrigin.TERMINAL
        return CallOrigin.PERSON if self.payer else CallOrigin.SCHEDULE

    def add_expense(self, expense: Expense) -> None:
        """Add to the expense; threads may do so at the same time."""
        with self._lock:
            self.expense += expense


_ACCOUNT: ContextVar[BillingAccount | None] = ContextVar("account", default=None)


def get_account() -> BillingAccount:
    """Return the account of the current work; one of the bot's own if there is none."""
    return _ACCOUNT.get() or BillingAccount()


@contextmanager
def bill_to(payer: str, refusals: set[BudgetRefusal] | None = None) -> Iterator[BillingAccount]:
    """Bill the model calls of the block to another account than that of the work around it."""
    account = BillingAccount(payer, set() if refusals is None else refusals)
    token = _ACCOUNT.set(account)
    try:
        yield account
    finally:
        _ACCOUNT.reset(token)


def tally_costs() -> AbstractContextManager[BillingAccount]:
    """Bill the block to the same payer as the work around it, and tally what it costs by itself."""
    around = get_account()
    return bill_to(around.payer, around.refusals)


def name_payer(asker: SlackRequest) -> str:
    """Return the name under which a person's calls are counted."""
    return build_person_name(asker.team, asker.user)


# --- what the budgets allow


@dataclass
class Budget:
    """The budgets in US dollars, with the ledger. Without a ``monthly`` one, months are counted and not bounded.

    ``reviews`` is what reviews for bugs may cost on a local day. Calls that run at the same time may exceed the
    others by their own cost at most. Every method may raise StoreUnavailable, if it does not say otherwise.
    """

    spending: SpendingStore
    today: Callable[[], LocalDay]
    daily: float
    personal: float
    monthly: float | None = None
    reviews: float = 0.0

    def read_spending_today(self) -> float:
        return self.spending.get_spending(f"{self.today().date}")

    def read_spending_of_month(self) -> float:
        return self.spending.get_spending(f"{self.today().date:%Y-%m}")

    def explain_refusal(self, asker: SlackRequest) -> str:
        """Return why the model gives no answer, as a sentence for the asker; empty if it may."""
        today = self.today()
        for name, dollars, refusal in self._list_caps(today.date, name_payer(asker), CallPurpose.USUAL):
            if self.spending.get_spending(name) >= dollars:
                return _SPENT_SENTENCES[refusal].format(zone=today.zone, first=find_next_month(today.date))
        return ""

    def reserve_cost(self, payer: str, purpose: CallPurpose, dollars: float) -> BudgetHold:
        """Reserve the expected cost of a call until it is settled. Raises BudgetExceeded if not enough is left."""
        date = self.today().date
        totals = (f"{date}", f"{date:%Y-%m}")
        people = (f"{date}:{payer}", *(f"{total}:people" for total in totals)) if payer else ()
        hold = BudgetHold(uuid4().hex, dollars, (*people, *totals))
        caps = self._list_caps(date, payer, purpose)
        reached = self.spending.reserve_budget(hold, [(name, cap) for name, cap, _ in caps])
        if reached is not None:
            raise BudgetExceeded(caps[reached][2])
        return hold

    def reserve_review(self, dollars: float) -> BudgetHold | None:
        """Reserve what a review may cost; None if that is not left today, whatever runs at the same time."""
        name = f"{self.today().date}:reviews"
        hold = BudgetHold(uuid4().hex, dollars, (name,))
        # a cap is reached once the sum before a reservation is
        return None if self.spending.reserve_budget(hold, [(name, self.reviews - dollars)]) is not None else hold

    def settle_cost(self, hold: BudgetHold | None, dollars: float, amounts: Mapping[str, int] = NOTHING) -> None:
        """Replace a reservation by the real cost of a call, and add amounts to the ledger of today.

        Without a reservation, the cost counts toward no cap. If this raises, a reservation expires in minutes.
        """
        date = self.today().date
        hold = hold or BudgetHold(uuid4().hex, 0.0, (f"{date}:terminal",))
        self.spending.settle_hold(hold, max(0.0, dollars), date, amounts)

    def add_work(self, kind: WorkKind, expense: Expense, count: int = 1) -> None:
        """Add a digest or an answer to the ledger, see :func:`count_work`. Without the store it is left out."""
        if amounts := count_work(kind, expense, count):
            try:
                self.settle_cost(None, 0.0, amounts)
            except StoreUnavailable as error:
                log.warning("the cost of a %s is not recorded: %s", kind, error)

    def _list_caps(
        self, date: dt.date, payer: str, purpose: CallPurpose
    ) -> list[tuple[str, float, BudgetRefusal]]:
        """Return names, a person's own first, with the dollars that reach their caps and the reason then."""
        own = [(f"{date}:{payer}", self.personal, BudgetRefusal.PERSON_USED)] if payer else []
        shared = []
        for total, dollars, refusal in (
            (f"{date}", self.daily, BudgetRefusal.DAY_USED),
            (f"{date:%Y-%m}", self.monthly, BudgetRefusal.MONTH_USED),
        ):
            if dollars is not None:
                shared.append((total, dollars, refusal))
                shared += [(f"{total}:people", PEOPLE_SHARE * dollars, refusal)] if payer else []
        is_usual = purpose is CallPurpose.USUAL
        reduced = [(name, purpose.share * dollars, _NEARLY[refusal]) for name, dollars, refusal in shared]
        return [*own, *shared, *(() if is_usual else reduced)]


def find_next_month(date: dt.date) -> dt.date:
    return (date.replace(day=1) + dt.timedelta(days=32)).replace(day=1)


# --- how calls are counted


@dataclass
class RunningCall:
    """A call while it runs; without a usage as long as that is not reported."""

    usage: Usage | None = None


@dataclass(frozen=True)
class CallMeter:
    """Meter that counts and logs each call, and charges budgets. ``limiter`` counts a user's calls in a minute."""

    instruments: Instruments
    prices: PriceList
    budget: Budget | None = None
    limiter: RateLimiter | None = None
    sleep: Callable[[float], None] = deadlines.sleep

    @contextmanager
    def meter_call(
        self, model: str, purpose: CallPurpose, kind: CallKind, expected: Usage
    ) -> Iterator[RunningCall]:
        """Meter the call of the block, which sets its usage. Raises BudgetExceeded, also for too many calls."""
        account, hold = get_account(), None
        if self.budget and account.origin is not CallOrigin.TERMINAL:
            hold = self._reserve_cost(self.budget, account, model, purpose, expected)
        call, began, result = RunningCall(), time.monotonic(), "failed"
        try:
            yield call
            result = "ok"
        except GeneratorExit:
            # the reader needs no more text
            result = "ok"
            raise
        except ModelError as error:
            call.usage = call.usage or error.usage
            result = "busy" if isinstance(error, ModelBusy) else "failed"
            raise
        finally:
            seconds, reported = time.monotonic() - began, call.usage or NO_USAGE
            dollars = self.prices.cost(model, reported) or 0.0
            self.instruments.count_model_call(model, purpose.name.lower(), result, seconds, reported, dollars)
            if self.budget:
                # a call that ends otherwise, such as with the process, is billed for its input all the same
                used = replace(expected, output=0) if call.usage is None else call.usage
                self._settle_cost(self.budget, account, hold, model, kind, used)

    def _reserve_cost(
        self, budget: Budget, account: BillingAccount, model: str, purpose: CallPurpose, expected: Usage
    ) -> BudgetHold:
        try:
            # what is read a second time has a budget of its own, and takes no turn of what was asked for
            if purpose is not CallPurpose.SECOND_READING:
                self._wait_for_turn(account.payer)
            return budget.reserve_cost(account.payer, purpose, self.prices.cautious_cost(model, expected))
        except BudgetExceeded as error:
            # once for each piece of work: a day has hundreds of calls
            if error.refusal not in account.refusals:
                log.info("no more model calls for %s: %s", account.payer or "the schedule", error)
            account.refusals.add(error.refusal)
            raise

    def _settle_cost(
        self,
        budget: Budget,
        account: BillingAccount,
        hold: BudgetHold | None,
        model: str,
        kind: CallKind,
        used: Usage,
    ) -> None:
        dollars, amounts = self.prices.cautious_cost(model, used), {}
        # one that used nothing, as it was refused, is no call in the ledger
        if used != NO_USAGE:
            account.add_expense(Expense(used.tokens, dollars))
            amounts = count_call(kind, account.origin, used, dollars)
        if hold or amounts:
            budget.settle_cost(hold, dollars, amounts)

    def _wait_for_turn(self, payer: str) -> None:
        while payer and self.limiter and not self.limiter.try_acquire(build_calls_rate(payer)):
            if deadlines.get_seconds_left() < _MIN_SECONDS_TO_WAIT:
                raise BudgetExceeded(BudgetRefusal.TOO_MANY_CALLS)
            self.sleep(_PAUSE_SECONDS)


@dataclass(frozen=True)
class MeteredModel:
    """A ``Model`` whose calls are metered; they also raise BudgetExceeded."""

    model: Model
    meter: CallMeter

    def complete(self, prompt: Prompt) -> Completion:
        characters = len(prompt.system) + len(prompt.user) + len(json.dumps(prompt.schema))
        expected = Usage(input=characters // _CHARACTERS_PER_TOKEN, output=prompt.max_tokens)
        kind = CallKind.OVERVIEW if prompt.need is CallPurpose.OVERVIEW else CallKind.SUMMARY
        with self.meter.meter_call(prompt.model, prompt.need, kind, expected) as call:
            completion = self.model.complete(prompt)
            call.usage = completion.usage
        return completion


@dataclass(frozen=True)
class MeteredChat:
    """A ``ChatModel`` whose calls are metered; they also raise BudgetExceeded."""

    chat: ChatModel
    meter: CallMeter

    def stream_turn(self, chat: Chat) -> Generator[ChatEvent, None, None]:
        turns = [asdict(turn) for turn in chat.turns]
        characters = len(chat.system) + len(json.dumps([*chat.tools, *turns], default=str))
        expected = Usage(cache_write=characters // _CHARACTERS_PER_TOKEN, output=chat.max_tokens)
        is_reading = chat.need is CallPurpose.SECOND_READING
        kind = CallKind.SECOND_READING if is_reading else CallKind.QUESTION
        metered_call = self.meter.meter_call(chat.model, chat.need, kind, expected)
        with metered_call as call, closing(self.chat.stream_turn(chat)) as events:
            for event in events:
                if isinstance(event, TurnUsage):
                    call.usage = event.usage
                yield event


class RateLimiter:
    def __init__(self, client: Redis, limit: int, keys: Keyspace = UNPREFIXED) -> None:
        self._backend = RedisBackend(client=client)
        self._limit = limit
        self._keys = keys

    def try_acquire(self, name: str) -> bool:
        """Count a request, and return whether it is within the limit. A refused one does not count."""
        key = self._keys.add_prefix(REQUEST_RATE.build_key(name))
        seconds = int(REQUEST_RATE.lifetime.total_seconds())
        window = WindowRateLimiter(self._backend, key, limit=self._limit, window=seconds)  # type: ignore[no-untyped-call]
        with translate_redis_errors(), window.acquire(raise_on_failure=False) as admitted:
            return bool(admitted)
