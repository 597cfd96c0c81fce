"""What model calls cost, what for, and what is left of the budgets: ``/prdigest usage`` and ``prdigest usage``.

The sums are those of the ledger; its days are those of ``PRDIGEST_TIMEZONE``, as those of the budgets.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from typing import Any, ClassVar, Self

from bot.app import App
from bot.errors import UsageError
from bot.features.subscriptions.rules import RunOutcome
from bot.features.subscriptions.tables import RUN_LOG
from bot.platform.commands import AllowedRepositories, QueryOptions
from bot.platform.costs import Budget, CallKind, CallOrigin, WorkKind
from bot.platform.jobs import job
from bot.platform.slack.answers import Share, build_answer
from bot.platform.slack.blocks import (
    SHARE_DIGEST,
    Element,
    Post,
    escape_mrkdwn,
    make_block,
    make_bullets,
    make_context,
    make_header,
    make_section,
    make_text,
)
from bot.platform.slack.requests import Audience, SlackRequest
from bot.platform.store.spending import COST_LEDGER, MICRODOLLARS
from bot.text import format_count
from bot.usage import CallPurpose
from impact.text.strings import quote_input

_MONTH = re.compile(r"(\d{4})-(\d\d)", re.A)
_CALL_AMOUNTS = ("calls", "input", "output", "cache_read", "cache_write", "cache_write_hour", "microdollars")
_MAX_RUNS = 50  # in which the last digest is looked for
_KINDS = {
    CallKind.SUMMARY: "Summaries",
    CallKind.OVERVIEW: "Overviews",
    CallKind.SECOND_READING: "AI bug review",
    CallKind.QUESTION: "Questions",
}
_WORKS = {WorkKind.DIGEST: "Digests", WorkKind.ANSWER: "Answers to questions"}
_PURPOSES = {
    CallPurpose.SECOND_READING: "the AI bug review",
    CallPurpose.OVERVIEW: "overviews",
    CallPurpose.SMALL: "summaries of small pull requests",
    CallPurpose.USUAL: "all other model calls",
}


# --- what is asked for


@dataclass(frozen=True, slots=True)
class UsageRequest:
    kind: ClassVar[str] = "usage"
    month: dt.date | None = None
    is_private: bool = False

    @classmethod
    def parse(cls, text: str, today: dt.date) -> UsageRequest:
        """Parse the text after the command, with or without its first word. Raises UsageError."""
        options = QueryOptions.parse(text, ())
        words = options.arguments
        words = words[1:] if words and words[0].lower() == cls.kind else words
        if len(words) > 1:
            raise UsageError(f"I don't understand {quote_input(' '.join(words))}: add one month, such as 2026-11.")
        return cls(parse_month(words[0], today) if words else None, options.is_private)

    def require_known(self, _: AllowedRepositories) -> Self:
        """Return the request: it concerns no repository."""
        return self

    def __str__(self) -> str:
        return f"{self.kind} {self.month:%Y-%m}" if self.month else self.kind


def parse_month(text: str, today: dt.date) -> dt.date:
    """Return the first day of a month that is written as 2026-11. Raises UsageError, also for one to come."""
    match = _MONTH.fullmatch(text)
    if not match or not 1 <= int(match[2]) <= 12 or int(match[1]) < 1:
        raise UsageError(f"{quote_input(text)} is not a month: write it as 2026-11.")
    month = dt.date(int(match[1]), int(match[2]), 1)
    if month > today:
        raise UsageError(f"{month:%Y-%m} is still to come: choose a month up to {today:%Y-%m}.")
    return month


@job("usage")
def answer_usage(app: App, asker: SlackRequest, request: UsageRequest, audience: Audience) -> None:
    app.replies.give_answer(
        asker,
        "usage",
        audience,
        lambda: build_answer(
            asker.name, render_usage(read_usage(app, request.month)), Share(SHARE_DIGEST, request), None, ""
        ),
    )


# --- what the ledger and the budgets say


@dataclass(frozen=True, slots=True)
class CallTotal:
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    dollars: float = 0.0

    @property
    def prompt_tokens(self) -> int:
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class WorkTotal:
    count: int = 0
    tokens: int = 0
    dollars: float = 0.0


@dataclass(frozen=True, slots=True)
class CostTotals(CallTotal):
    by_kind: Mapping[CallKind, CallTotal] = field(default_factory=dict)
    dollars_by_origin: Mapping[CallOrigin, float] = field(default_factory=dict)
    work: Mapping[WorkKind, WorkTotal] = field(default_factory=dict)
    summaries_from_cache: int = 0
    summaries_made: int = 0


def sum_days(days: Iterable[Mapping[str, int]]) -> CostTotals:
    """Return the totals of the amounts of some days. Names of later versions are left out."""
    amounts = Counter[str]()
    for day in days:
        amounts.update(day)

    def sum_calls(kinds: Iterable[CallKind], origins: Iterable[CallOrigin] = CallOrigin) -> CallTotal:
        call = Counter[str]()
        for kind, origin in product(kinds, origins):
            call.update({name: amounts[f"call:{kind}:{origin}:{name}"] for name in _CALL_AMOUNTS})
        written = call["cache_write"] + call["cache_write_hour"]
        dollars = call["microdollars"] / MICRODOLLARS
        return CallTotal(call["calls"], call["input"], call["output"], call["cache_read"], written, dollars)

    def sum_work(kind: WorkKind) -> WorkTotal:
        count, tokens, micro = (amounts[f"work:{kind}:{name}"] for name in ("count", "tokens", "microdollars"))
        return WorkTotal(count, tokens, micro / MICRODOLLARS)

    by_origin = {origin: sum_calls(CallKind, [origin]).dollars for origin in CallOrigin}
    return CostTotals(
        **asdict(sum_calls(CallKind)),
        by_kind={kind: total for kind in CallKind if (total := sum_calls([kind])).calls},
        dollars_by_origin={origin: dollars for origin, dollars in by_origin.items() if dollars},
        work={kind: work for kind in WorkKind if (work := sum_work(kind)).count},
        summaries_from_cache=amounts["cache:hits"],
        summaries_made=amounts["cache:misses"],
    )


@dataclass(frozen=True, slots=True)
class Spending:
    """US dollars that count toward the budget of a day or a month, and what is left; without one, None is."""

    dollars: float
    limit: float | None
    left: float | None


@dataclass(frozen=True, slots=True)
class LastDigest:
    """The digest that was posted last: its repository and days, and what it took."""

    title: str
    tokens: int
    dollars: float


@dataclass(frozen=True, slots=True)
class UsageReport:
    """The costs of today and of a month, by the ledger, and what counts toward the budgets.

    ``month`` is its first day; of one that is not ``is_kept``, not all days are known any more. What concerns
    today and the budgets is None for an earlier month. ``zone`` is where days begin. Without ``prices_known``,
    dollars are not what calls cost. ``left_out`` are the purposes for which no calls are made now, since a budget
    runs low; the least important first.
    """

    month: dt.date
    zone: str
    month_total: CostTotals
    today_total: CostTotals | None = None
    day_budget: Spending | None = None
    month_budget: Spending | None = None
    prices_known: bool = True
    left_out: tuple[CallPurpose, ...] = ()
    last_digest: LastDigest | None = None
    is_kept: bool = True

    def dump_json(self) -> dict[str, Any]:
        names = [purpose.name.lower() for purpose in self.left_out]
        return asdict(self) | {"month": f"{self.month:%Y-%m}", "left_out": names}


def read_usage(app: App, month: dt.date | None = None) -> UsageReport:
    budget, today = app.budget, app.get_today()
    first = (month or today.date).replace(day=1)
    dates = [first.replace(day=day) for day in range(1, calendar.monthrange(first.year, first.month)[1] + 1)]
    days = dict(zip(dates, budget.spending.read_ledger(dates), strict=True))
    # what stands in for a model costs nothing
    has_prices = bool(app.prices.prices or app.sources.stands_in)
    is_kept = today.date - first <= COST_LEDGER.lifetime
    total = sum_days(days.values())
    report = UsageReport(first, str(today.zone), total, prices_known=has_prices, is_kept=is_kept)
    if today.date not in days:
        return report
    report = replace(report, today_total=sum_days([days[today.date]]), last_digest=_find_last_digest(app))
    return add_budgets(report, budget, budget.read_spending_today(), budget.read_spending_of_month())


def add_budgets(report: UsageReport, budget: Budget, today: float, month: float) -> UsageReport:
    """Add what counts toward the budgets of a day and of a month, in US dollars."""
    amounts = ((today, budget.daily), (month, budget.monthly))
    spendings = [
        Spending(dollars, limit, None if limit is None else max(0.0, limit - dollars))
        for dollars, limit in amounts
    ]
    left_out = tuple(
        purpose
        for purpose in CallPurpose
        if any(limit is not None and dollars >= purpose.share * limit for dollars, limit in amounts)
    )
    return replace(report, day_budget=spendings[0], month_budget=spendings[1], left_out=left_out)


def _find_last_digest(app: App) -> LastDigest | None:
    for run in app.tables.list_recent(RUN_LOG, _MAX_RUNS):
        digest = app.digest_records.load_digest(run.key) if run.outcome is RunOutcome.POSTED else None
        if digest:
            title = f"{digest.spec.repository}, {digest.spec.span.title}"
            return LastDigest(title, digest.record.tokens, digest.record.microdollars / MICRODOLLARS)
    return None


# --- how it looks


def render_usage(report: UsageReport) -> Post:
    title, totals = f"Model usage in {report.month:%B %Y}", report.month_total
    blocks = [make_header(title), make_block(make_bullets(_list_amounts(report)))]
    if totals.by_kind:
        kinds = [
            [make_text(f"{_KINDS[kind]}: {_format_calls(calls, prices_known=report.prices_known)}")]
            for kind, calls in totals.by_kind.items()
        ]
        heading = make_section([make_text("What the calls of the month were for", bold=True)])
        blocks.append(make_block(heading, make_bullets(kinds)))
    if facts := [[make_text(fact)] for fact in _list_facts(report)]:
        blocks.append(make_block(make_bullets(facts)))
    if report.left_out:
        purposes = ", ".join(_PURPOSES[each] for each in report.left_out)
        omitted = f"Left out now, because a limit is near or reached: {purposes}."
        blocks.append(make_block(make_section([make_text(omitted, bold=True)])))
    order = ", ".join(f"{_PURPOSES[each]} at {each.share:.0%}" for each in CallPurpose)
    note = (
        f"As a limit comes near, the bot leaves out {order}. Digests are then made of facts. "
        f"Days are those of {report.zone}."
    )
    return Post(escape_mrkdwn(title), (*blocks, make_context(note)))


def _list_amounts(report: UsageReport) -> Iterator[list[Element]]:
    amounts = [("Today", report.today_total, report.day_budget)] if report.today_total else []
    month = "This month" if report.today_total else f"{report.month:%B}"
    for name, totals, spending in (*amounts, (month, report.month_total, report.month_budget)):
        none = "No model was called" if report.is_kept else "I no longer keep its calls, so I can't tell"
        used = _format_calls(totals, prices_known=report.prices_known) if totals.calls else none
        if spending and spending.limit is not None:
            spent, limit, left = map(_format_dollars, (spending.dollars, spending.limit, spending.left or 0.0))
            used += f"; {spent} of the limit of {limit} used, {left} left"
        elif spending:
            used += "; no limit is set"
        yield [make_text(f"{name}: ", bold=True), make_text(used)]


def _list_facts(report: UsageReport) -> Iterator[str]:
    totals, last = report.month_total, report.last_digest
    for kind, work in totals.work.items():
        average = f"{_format_dollars(work.dollars / work.count)} and {_format_tokens(work.tokens // work.count)}"
        yield f"{_WORKS[kind]}: {work.count:,}, on average {average}"
    if last:
        yield f"Last digest ({last.title}): {_format_dollars(last.dollars)} and {_format_tokens(last.tokens)}"
    parts = []
    if shown := totals.summaries_from_cache + totals.summaries_made:
        parts.append(f"{totals.summaries_from_cache / shown:.0%} of summaries came from the cache")
    if read := totals.prompt_tokens:
        parts.append(f"{totals.cache_read_tokens / read:.0%} of what models read came from their prompt cache")
    if parts:
        yield "; ".join(parts)
    if dollars := totals.dollars_by_origin.get(CallOrigin.TERMINAL):
        yield f"Commands in a terminal: {_format_dollars(dollars)}, which counts toward no limit"
    if not report.prices_known:
        yield (
            "The prices of the model's server are not set (PRDIGEST_MODEL_PRICES). I can't tell what its calls "
            "cost, and no budget limits them."
        )


def _format_calls(total: CallTotal, *, prices_known: bool) -> str:
    calls = format_count(total.calls, "call")
    cost = _format_dollars(total.dollars) if prices_known or total.dollars else "An unknown cost"
    return f"{cost} for {calls} and {_format_tokens(total.tokens)}"


def _format_dollars(dollars: float) -> str:
    """Format US dollars; amounts below a cent are not rounded to nothing."""
    return f"${dollars:,.2f}" if dollars >= 0.005 or not dollars else "under $0.01"


def _format_tokens(tokens: int) -> str:
    return f"{tokens / 1_000_000:.1f} million tokens" if tokens >= 1_000_000 else format_count(tokens, "token")
