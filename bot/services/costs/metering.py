"""Metering of model calls: reservation of their cost, settlement by the reported usage, limits per minute."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace

from bot.domain.errors import BudgetExceeded, ModelError
from bot.domain.keyspace.names import build_calls_rate
from bot.domain.operations.budget import BudgetHold, BudgetRefusal, CallPurpose
from bot.domain.operations.ledger import CallKind, CallOrigin, Expense, build_call_entry
from bot.domain.operations.usage import NO_USAGE, PriceList, Usage
from bot.platform import deadlines
from bot.ports import Chat, ChatEvent, ChatModel, Completion, Model, Prompt, RateLimiter, TurnUsage
from bot.services.costs.billing import OPERATOR, BillingAccount, get_account
from bot.services.costs.budget import Budget
from bot.services.costs.cost_tally import note_expense

log = logging.getLogger(__name__)

# the least number of characters of English and code in a token
_CHARACTERS_PER_TOKEN = 3
# seconds: work with that much time left waits; other work, which a person waits for, gets facts at once
_MIN_SECONDS_TO_WAIT = 300.0
_PAUSE_SECONDS = 1.0


@dataclass
class CallCharge:
    """The usage of one call, None as long as it is not reported."""

    usage: Usage | None = None


class CallMeter:
    """Meter of model calls within the budget. ``limiter`` counts each user's calls in a minute."""

    def __init__(
        self,
        budget: Budget,
        limiter: RateLimiter,
        prices: PriceList,
        sleep: Callable[[float], None] = deadlines.sleep,
    ) -> None:
        self._budget = budget
        self._limiter = limiter
        self._prices = prices
        self._sleep = sleep

    @contextmanager
    def charge_call(
        self, model: str, purpose: CallPurpose, kind: CallKind, expected: Usage
    ) -> Iterator[CallCharge]:
        """Charge the call of the block to the account of the current work; the block sets its usage.

        Raises:
            BudgetExceeded: the budget is used up, or there were too many calls in this minute.
        """
        charge, account = CallCharge(), get_account()
        is_limited = account.payer != OPERATOR
        hold = self._reserve_cost(account, model, purpose, expected) if is_limited else None
        try:
            yield charge
        except ModelError as error:
            charge.usage = charge.usage or error.usage
            raise
        finally:
            # a call that ends otherwise, such as with the process, is billed for its input all the same
            used = replace(expected, output=0) if charge.usage is None else charge.usage
            self._settle_cost(hold, account, kind, used, self._prices.cautious_cost(model, used))

    def _settle_cost(
        self, hold: BudgetHold | None, account: BillingAccount, kind: CallKind, used: Usage, dollars: float
    ) -> None:
        """Settle a call and add it to the ledger; one that used nothing, as it was refused, is no call there."""
        entry = None
        if used != NO_USAGE:
            note_expense(Expense(1, used, dollars))
            entry = build_call_entry(self._budget.get_date(), kind, _find_origin(account), used, dollars)
        if hold:
            self._budget.settle_cost(hold, dollars, entry)
        elif entry:
            self._budget.record_unlimited(entry, dollars)

    def _reserve_cost(
        self, account: BillingAccount, model: str, purpose: CallPurpose, expected: Usage
    ) -> BudgetHold:
        try:
            # what is read a second time has a budget of its own, and takes no turn of what was asked for
            if purpose is not CallPurpose.SECOND_READING:
                self._wait_for_turn(account.payer)
            return self._budget.reserve_cost(account.payer, purpose, self._prices.cautious_cost(model, expected))
        except BudgetExceeded as error:
            _log_refusal(account, error)
            raise

    def _wait_for_turn(self, payer: str) -> None:
        """Wait while a user has too many calls in a minute, if there is time for it."""
        while payer and not self._limiter.try_acquire(build_calls_rate(payer)):
            if deadlines.get_seconds_left() < _MIN_SECONDS_TO_WAIT:
                raise BudgetExceeded(BudgetRefusal.TOO_MANY_CALLS)
            self._sleep(_PAUSE_SECONDS)


class MeteredModel:
    """A ``Model`` whose calls are metered."""

    def __init__(self, model: Model, meter: CallMeter) -> None:
        self._model = model
        self._meter = meter

    def complete(self, prompt: Prompt) -> Completion:
        """Return the completion of a prompt. Raises BudgetExceeded besides what the model raises."""
        characters = len(prompt.system) + len(prompt.user) + len(json.dumps(prompt.schema))
        expected = Usage(input=characters // _CHARACTERS_PER_TOKEN, output=prompt.max_tokens)
        kind = CallKind.OVERVIEW if prompt.need is CallPurpose.OVERVIEW else CallKind.SUMMARY
        with self._meter.charge_call(prompt.model, prompt.need, kind, expected) as charge:
            completion = self._model.complete(prompt)
            charge.usage = completion.usage
        return completion


class MeteredChat:
    """A ``ChatModel`` whose calls are metered."""

    def __init__(self, chat: ChatModel, meter: CallMeter) -> None:
        self._chat = chat
        self._meter = meter

    def stream_turn(self, chat: Chat) -> Generator[ChatEvent, None, None]:
        """Yield the events of the model's next turn. Raises BudgetExceeded besides what the model raises."""
        turns = [asdict(turn) for turn in chat.turns]
        characters = len(chat.system) + len(json.dumps([*chat.tools, *turns], default=str))
        expected = Usage(cache_write=characters // _CHARACTERS_PER_TOKEN, output=chat.max_tokens)
        is_reading = chat.need is CallPurpose.SECOND_READING
        kind = CallKind.SECOND_READING if is_reading else CallKind.QUESTION
        charged_call = self._meter.charge_call(chat.model, chat.need, kind, expected)
        with charged_call as charge, closing(self._chat.stream_turn(chat)) as events:
            for event in events:
                if isinstance(event, TurnUsage):
                    charge.usage = event.usage
                yield event


def _find_origin(account: BillingAccount) -> CallOrigin:
    """Return who caused the calls of an account."""
    if account.payer == OPERATOR:
        return CallOrigin.TERMINAL
    return CallOrigin.PERSON if account.payer else CallOrigin.SCHEDULE


def _log_refusal(account: BillingAccount, error: BudgetExceeded) -> None:
    """Log a refusal once for each piece of work: a day has hundreds of calls."""
    if error.refusal not in account.refusals:
        log.info("no more model calls for %s: %s", account.payer or "the schedule", error)
    account.refusals.add(error.refusal)
