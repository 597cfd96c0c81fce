"""Models whose calls are paid for: reserved before, settled by the usage that is reported, bounded in a minute."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Protocol, TypeVar

from bot.domain.errors import BudgetSpent, ModelError
from bot.domain.operations.budget import TOO_MANY, Need
from bot.domain.operations.usage import Usage, cautious_cost
from bot.ports import Chat, ChatModel, Completion, Limiter, Model, Prompt, Reply
from bot.services.operations import deadlines
from bot.services.operations.budget import Budget
from bot.services.operations.payer import OPERATOR, Account, get_account

log = logging.getLogger(__name__)

# characters of English and code in a token, at the least
_CHARACTERS = 3
# seconds: work that has as much left is slowed down; whoever waits for other work gets facts at once
_UNHURRIED = 300.0
_PAUSE = 1.0


class _Used(Protocol):
    @property
    def usage(self) -> Usage: ...


U = TypeVar("U", bound=_Used)


class Meter:
    """Lets calls through as far as there is money. ``limiter`` counts each person's calls in a minute."""

    def __init__(self, budget: Budget, limiter: Limiter, sleep: Callable[[float], None] = deadlines.sleep) -> None:
        self._budget = budget
        self._limiter = limiter
        self._sleep = sleep

    def pay(self, model: str, need: Need, expected: Usage, call: Callable[[], U]) -> U:
        """Make a call on the account of the work at hand.

        Raises:
            BudgetSpent: there is no more money, or there were too many calls in this minute.
            ModelError: what the call raises; what it took is paid.
        """
        own = get_account()
        if own.payer == OPERATOR:
            return call()
        try:
            self._wait_turn(own.payer)
            hold = self._budget.hold(own.payer, need, cautious_cost(model, expected))
        except BudgetSpent as error:
            _note(own, error)
            raise
        # of a call that ends otherwise, as when the process does, what went in is billed all the same
        used = replace(expected, output=0)
        try:
            result = call()
            used = result.usage
        except ModelError as error:
            used = error.usage
            raise
        finally:
            self._budget.settle(hold, cautious_cost(model, used))
        return result

    def _wait_turn(self, payer: str) -> None:
        """Wait while a person has too many calls in a minute, where there is time for it."""
        while payer and not self._limiter.admits(f"calls:{payer}"):
            if deadlines.left() < _UNHURRIED:
                raise BudgetSpent(TOO_MANY)
            self._sleep(_PAUSE)


class MeteredModel:
    """``Model``."""

    def __init__(self, model: Model, meter: Meter) -> None:
        self._model = model
        self._meter = meter

    def complete(self, prompt: Prompt) -> Completion:
        """Ask once. Raises BudgetSpent besides what the model raises."""
        characters = len(prompt.system) + len(prompt.user) + len(json.dumps(prompt.schema))
        expected = Usage(input=characters // _CHARACTERS, output=prompt.max_tokens)
        return self._meter.pay(prompt.model, prompt.need, expected, lambda: self._model.complete(prompt))


class MeteredChat:
    """``ChatModel``."""

    def __init__(self, chat: ChatModel, meter: Meter) -> None:
        self._chat = chat
        self._meter = meter

    def converse(self, chat: Chat, hear: Callable[[str], bool]) -> Reply:
        """The model's next turn. Raises BudgetSpent besides what the model raises."""
        turns = [asdict(turn) for turn in chat.turns]
        characters = len(chat.system) + len(json.dumps([*chat.tools, *turns], default=str))
        expected = Usage(cache_write=characters // _CHARACTERS, output=chat.max_tokens)
        return self._meter.pay(chat.model, Need.USUAL, expected, lambda: self._chat.converse(chat, hear))


def _note(own: Account, error: BudgetSpent) -> None:
    """The log has it once for each piece of work: a day has hundreds of calls."""
    if str(error) not in own.refusals:
        log.info("no more model calls for %s: %s", own.payer or "the schedule", error)
    own.refusals.add(str(error))
