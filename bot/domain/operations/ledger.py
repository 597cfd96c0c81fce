"""The ledger of costs: what each day's model calls, digests and answers took, in tokens and US dollars.

A day is one of ``PRDIGEST_TIMEZONE``, as for the budgets, so that the figures of both agree. Amounts are whole
numbers, so that any number of processes can add to them: tokens, counts, and millionths of a dollar.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from bot.domain.operations.usage import NO_USAGE, Usage

MICRODOLLARS = 1_000_000
_USAGE_FIELDS = ("input", "output", "cache_read", "cache_write", "cache_write_hour")


class CallKind(StrEnum):
    """What a model call is for."""

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
class LedgerEntry:
    """What is added to the ledger of a local day at once: amounts by name."""

    date: dt.date
    amounts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Expense:
    """The calls, tokens and US dollars of some work, and how many summaries it took from the cache or had made."""

    calls: int = 0
    usage: Usage = NO_USAGE
    dollars: float = 0.0
    cache_hits: int = 0
    cache_misses: int = 0

    @property
    def tokens(self) -> int:
        """All tokens, read and written."""
        return self.usage.prompt_tokens + self.usage.output

    def __add__(self, other: Expense) -> Expense:
        return Expense(
            self.calls + other.calls,
            self.usage + other.usage,
            self.dollars + other.dollars,
            self.cache_hits + other.cache_hits,
            self.cache_misses + other.cache_misses,
        )


@dataclass(frozen=True, slots=True)
class WorkTotal:
    """How many pieces of work there were, and what all of them took."""

    count: int = 0
    tokens: int = 0
    dollars: float = 0.0

    @property
    def average_dollars(self) -> float:
        """The US dollars of one; 0 if there was none."""
        return self.dollars / self.count if self.count else 0.0


@dataclass(frozen=True, slots=True)
class CostTotals:
    """The sum of some days of the ledger. Kinds and origins without a call are left out."""

    by_kind: Mapping[CallKind, Expense] = field(default_factory=dict)
    by_origin: Mapping[CallOrigin, float] = field(default_factory=dict)
    work: Mapping[WorkKind, WorkTotal] = field(default_factory=dict)
    cache_hits: int = 0
    cache_misses: int = 0

    @property
    def total(self) -> Expense:
        """All calls together."""
        return sum(self.by_kind.values(), Expense())

    @property
    def cache_share(self) -> float | None:
        """The share of summaries that came from the cache; None if none was shown."""
        shown = self.cache_hits + self.cache_misses
        return self.cache_hits / shown if shown else None


def build_call_entry(
    date: dt.date, kind: CallKind, origin: CallOrigin, usage: Usage, dollars: float
) -> LedgerEntry:
    """Build the entry of a model call."""
    amounts = {"calls": 1, "microdollars": to_microdollars(dollars)}
    amounts |= {name: getattr(usage, name) for name in _USAGE_FIELDS}
    return LedgerEntry(
        date, {f"call:{kind}:{origin}:{name}": amount for name, amount in amounts.items() if amount}
    )


def build_work_entry(date: dt.date, kind: WorkKind, expense: Expense, count: int = 1) -> LedgerEntry:
    """Build the entry of a digest or an answer. Its calls have entries of their own.

    ``count`` is 0 for what is added to a piece of work that was counted, or will be.
    """
    amounts = {"count": count, "tokens": expense.tokens, "microdollars": to_microdollars(expense.dollars)}
    named = {f"work:{kind}:{name}": amount for name, amount in amounts.items()}
    named |= {"cache:hits": expense.cache_hits, "cache:misses": expense.cache_misses}
    return LedgerEntry(date, {name: amount for name, amount in named.items() if amount})


def sum_days(days: Iterable[Mapping[str, int]]) -> CostTotals:
    """Return the totals of the amounts of some days. Names of later versions are left out."""
    amounts: Counter[str] = Counter()
    for day in days:
        amounts.update(day)
    by_kind = {kind: _sum_kind(amounts, kind) for kind in CallKind}
    by_origin = {origin: _sum_origin(amounts, origin) for origin in CallOrigin}
    return CostTotals(
        by_kind={kind: expense for kind, expense in by_kind.items() if expense.calls},
        by_origin={origin: dollars for origin, dollars in by_origin.items() if dollars},
        work={kind: total for kind in WorkKind if (total := _read_work(amounts, kind)).count},
        cache_hits=amounts["cache:hits"],
        cache_misses=amounts["cache:misses"],
    )


def to_microdollars(dollars: float) -> int:
    """Return millionths of a US dollar, rounded: exact in sums."""
    return round(dollars * MICRODOLLARS)


def _sum_kind(amounts: Mapping[str, int], kind: CallKind) -> Expense:
    def add_up(name: str) -> int:
        return sum(amounts.get(f"call:{kind}:{origin}:{name}", 0) for origin in CallOrigin)

    usage = Usage(**{name: add_up(name) for name in _USAGE_FIELDS})
    return Expense(add_up("calls"), usage, add_up("microdollars") / MICRODOLLARS)


def _sum_origin(amounts: Mapping[str, int], origin: CallOrigin) -> float:
    return sum(amounts.get(f"call:{kind}:{origin}:microdollars", 0) for kind in CallKind) / MICRODOLLARS


def _read_work(amounts: Mapping[str, int], kind: WorkKind) -> WorkTotal:
    count, tokens, micro = (amounts.get(f"work:{kind}:{name}", 0) for name in ("count", "tokens", "microdollars"))
    return WorkTotal(count, tokens, micro / MICRODOLLARS)
