"""What people read about the bot itself: the cost of model calls, lost jobs, a store that is nearly full."""

from __future__ import annotations

import datetime as dt

from bot.domain.operations.budget import CallPurpose
from bot.domain.operations.ledger import CallKind, CallOrigin, CostTotals, Expense, WorkKind, WorkTotal
from bot.domain.operations.lost_job import LossReason
from bot.domain.operations.usage_report import LastDigest, Spending
from bot.domain.text.strings import format_count

NO_PRICES = (
    "The prices of the model's server are not set (PRDIGEST_MODEL_PRICES). Its calls count as $0.00, and no "
    "budget limits them."
)
NOTHING_USED = "No model was called."
TODAY, MONTH = "Today", "This month"
PURPOSES_TITLE = "What the calls of the month were for"
_MILLION = 1_000_000
_KINDS = {
    CallKind.SUMMARY: "Summaries",
    CallKind.OVERVIEW: "Overviews",
    CallKind.SECOND_READING: "Second reading",
    CallKind.QUESTION: "Questions",
}
_PURPOSES = {
    CallPurpose.SECOND_READING: "the second reading",
    CallPurpose.OVERVIEW: "overviews",
    CallPurpose.SMALL: "summaries of small pull requests",
    CallPurpose.USUAL: "all other model calls",
}
# clauses about a job, for operators
LOSS_REASONS = {
    LossReason.FAILED: "the last try failed; the worker's log says why",
    LossReason.ENDLESS: "it crashed three times and is not run again; prdigest doctor lists it for a week",
}
MORE_MEMORY = "Raise maxmemory of the server, or set maxmemory-policy to volatile-lru, before writes fail."
_WORKS = {WorkKind.DIGEST: "Digests", WorkKind.ANSWER: "Answers to questions"}


def format_title(month: dt.date) -> str:
    """Return the heading, such as ``Model usage in November 2026``."""
    return f"Model usage in {month:%B %Y}"


def format_dollars(dollars: float) -> str:
    """Format US dollars; amounts below a cent are not rounded to nothing."""
    return f"${dollars:,.2f}" if dollars >= 0.005 or not dollars else "under $0.01"


def format_tokens(tokens: int) -> str:
    """Format a number of tokens, such as ``1.2 million tokens``."""
    return f"{tokens / _MILLION:.1f} million tokens" if tokens >= _MILLION else format_count(tokens, "token")


def format_expense(expense: Expense) -> str:
    """Return what calls took."""
    calls = format_count(expense.calls, "call")
    return f"{format_dollars(expense.dollars)} for {calls} and {format_tokens(expense.tokens)}"


def format_spending(spending: Spending) -> str:
    """Return how much of a budget is spent and left."""
    if spending.limit is None or spending.left is None:
        return "no limit is set"
    spent, limit = format_dollars(spending.dollars), format_dollars(spending.limit)
    return f"{spent} of the limit of {limit} used, {format_dollars(spending.left)} left"


def format_kind(kind: CallKind, expense: Expense) -> str:
    """Return what the calls of a kind took."""
    return f"{_KINDS[kind]}: {format_expense(expense)}"


def format_work(kind: WorkKind, work: WorkTotal) -> str:
    """Return how many digests or answers there were, and what one took on average."""
    average = format_dollars(work.average_dollars)
    return f"{_WORKS[kind]}: {work.count:,}, on average {average} and {format_tokens(work.tokens // work.count)}"


def format_last_digest(last: LastDigest) -> str:
    """Return what the last digest took."""
    return f"Last digest ({last.title}): {format_dollars(last.dollars)} and {format_tokens(last.tokens)}"


def format_cache(totals: CostTotals) -> str:
    """Return how much came from the caches; empty if nothing was read."""
    share, total = totals.cache_share, totals.total.usage
    parts = [] if share is None else [f"{share:.0%} of summaries came from the cache"]
    if total.prompt_tokens:
        parts.append(
            f"{total.cache_read / total.prompt_tokens:.0%} of what models read came from their prompt cache"
        )
    return "; ".join(parts)


def format_terminal(totals: CostTotals) -> str:
    """Return what commands in a terminal cost, which no budget limits; empty if they cost nothing."""
    dollars = totals.by_origin.get(CallOrigin.TERMINAL)
    return f"Commands in a terminal: {format_dollars(dollars)}, which counts toward no limit" if dollars else ""


def format_omissions(purposes: tuple[CallPurpose, ...]) -> str:
    """Return what is left out now."""
    return f"Left out now, because a limit is near or reached: {', '.join(_PURPOSES[each] for each in purposes)}."


def format_order(zone: str) -> str:
    """Return in which order things are left out as a limit comes near, and where days begin."""
    order = ", ".join(f"{_PURPOSES[each]} at {each.share:.0%}" for each in CallPurpose)
    facts = "Digests are then made of facts."
    return f"As a limit comes near, the bot leaves out {order}. {facts} Days are those of {zone}."
