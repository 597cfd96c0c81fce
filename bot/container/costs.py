"""What bounds the cost of model calls."""

from __future__ import annotations

from dataclasses import dataclass

from bot.adapters.metrics import Instruments, ObservedChat, ObservedModel
from bot.adapters.redis import RedisCostLedger, RedisRateLimiter, RedisRunLog, RedisSpendingStore
from bot.container.foundation import Foundation
from bot.container.records import build_digest_records
from bot.domain.operations.usage import NO_PRICES, PriceList
from bot.ports import ChatModel, CostLedger, Model
from bot.services.costs.budget import Budget
from bot.services.costs.cost_tally import WorkLog
from bot.services.costs.metering import CallMeter, MeteredChat, MeteredModel
from bot.services.costs.usage_reader import UsageReader
from bot.services.review.review_budget import ReviewBudget


@dataclass(frozen=True, slots=True)
class CostServices:
    """The budgets, the meter of model calls, and the ledger with what writes digests and answers to it.

    ``meter`` is None if the writer is no model, which costs nothing. ``instruments`` count the calls that the
    meter lets through.
    """

    budget: Budget
    meter: CallMeter | None
    reviews: ReviewBudget
    instruments: Instruments
    prices: PriceList
    ledger: CostLedger
    works: WorkLog

    def add_meter(self, model: Model) -> Model:
        """Return the model with the meter, if there is one, and with a count of its calls."""
        observed = ObservedModel(model, self.instruments, self.prices)
        return MeteredModel(observed, self.meter) if self.meter else observed

    def add_chat_meter(self, chat: ChatModel) -> ChatModel:
        """Return the chat model with the meter, if there is one, and with a count of its calls."""
        observed = ObservedChat(chat, self.instruments, self.prices)
        return MeteredChat(observed, self.meter) if self.meter else observed


def build_cost_services(base: Foundation) -> CostServices:
    """Build the budget and the meter. Raises StoreUnavailable."""
    settings = base.settings
    spending = RedisSpendingStore(base.expiring_store, base.keyspace)
    budget = Budget(
        spending,
        base.get_today,
        settings.prdigest_daily_budget,
        settings.prdigest_user_budget,
        monthly=settings.prdigest_monthly_budget,
    )
    reviews = ReviewBudget(spending, base.get_today, settings.prdigest_review_budget)
    ledger = RedisCostLedger(base.expiring_store, base.keyspace)
    works = WorkLog(budget)
    if base.sources.stands_in:
        return CostServices(budget, None, reviews, base.instruments, NO_PRICES, ledger, works)
    limiter = RedisRateLimiter(base.expiring_store, settings.prdigest_user_calls, base.keyspace)
    prices = base.provider.prices
    meter = CallMeter(budget, limiter, prices)
    return CostServices(budget, meter, reviews, base.instruments, prices, ledger, works)


def build_usage_reader(base: Foundation, costs: CostServices) -> UsageReader:
    """Build the reader of what model calls cost. Raises StoreUnavailable."""
    return UsageReader(
        costs.ledger,
        costs.budget,
        RedisRunLog(base.store, base.keyspace),
        build_digest_records(base),
        base.get_today,
        # what stands in for a model costs nothing
        has_prices=bool(costs.prices.prices or base.sources.stands_in),
    )
