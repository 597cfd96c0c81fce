"""Tally of what a piece of work costs, a digest or an answer, and the log of such work in the ledger.

The tally belongs to a piece of work, not to a service, and is passed on with it as its deadline is
(:mod:`bot.platform.deadlines`): through every call, and into the threads of an executor.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from bot.domain.errors import StoreUnavailable
from bot.domain.operations.ledger import Expense, WorkKind, build_work_entry
from bot.services.costs.budget import Budget

log = logging.getLogger(__name__)


class CostTally:
    """The expense of one piece of work so far. Threads may add to it at the same time."""

    def __init__(self, around: CostTally | None = None) -> None:
        self._around = around
        self._expense = Expense()
        self._lock = threading.Lock()

    @property
    def expense(self) -> Expense:
        """What the work has cost so far."""
        return self._expense

    def add_expense(self, expense: Expense) -> None:
        """Add an expense, also to the work of which this is a part."""
        with self._lock:
            self._expense += expense
        if self._around:
            self._around.add_expense(expense)


_CURRENT_TALLY: ContextVar[CostTally | None] = ContextVar("tally", default=None)


@contextmanager
def tally_costs() -> Iterator[CostTally]:
    """Yield the tally of the block's work."""
    tally = CostTally(_CURRENT_TALLY.get())
    token = _CURRENT_TALLY.set(tally)
    try:
        yield tally
    finally:
        _CURRENT_TALLY.reset(token)


def note_expense(expense: Expense) -> None:
    """Add an expense to the tally of the current work, if it has one."""
    tally = _CURRENT_TALLY.get()
    if tally:
        tally.add_expense(expense)


class WorkLog:
    """Log of digests and answers."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget

    def add_work(self, kind: WorkKind, expense: Expense) -> None:
        """Add a digest or an answer. Without the store it is left out: the work itself is done and shown."""
        self._add_entry(kind, expense, 1)

    def add_expense(self, kind: WorkKind, expense: Expense) -> None:
        """Add to what all digests or answers cost: an attempt that failed, or a repair."""
        if expense != Expense():
            self._add_entry(kind, expense, 0)

    def _add_entry(self, kind: WorkKind, expense: Expense, count: int) -> None:
        try:
            self._budget.record_unlimited(build_work_entry(self._budget.get_date(), kind, expense, count))
        except StoreUnavailable as error:
            log.warning("the cost of a %s is not recorded: %s", kind, error)
