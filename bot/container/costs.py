"""What bounds the cost of model calls."""

from __future__ import annotations

from dataclasses import dataclass

from bot.adapters.metrics import Instruments, ObservedChat, ObservedModel
from bot.adapters.redis import RedisRateLimiter, RedisSpendingStore
from bot.container.foundation import Foundation
from bot.domain.operations.usage import NO_PRICES, PriceList
from bot.ports import ChatModel, Model
from bot.services.operations.budget import Budget
from bot.services.operations.metering import CallMeter, MeteredChat, MeteredModel
from bot.services.review.review_budget import ReviewBudget


@dataclass(frozen=True, slots=True)
class CostServices:
    """The budgets, and the meter of model calls; None if the writer is no model, which costs nothing.

    ``instruments`` count the calls that the meter lets through.
    """

    budget: Budget
    meter: CallMeter | None
    reviews: ReviewBudget
    instruments: Instruments
    prices: PriceList

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
    budget = Budget(spending, base.get_today, settings.prdigest_daily_budget, settings.prdigest_user_budget)
    reviews = ReviewBudget(spending, base.get_today, settings.prdigest_review_budget)
    if base.sources.stands_in:
        return CostServices(budget, None, reviews, base.instruments, NO_PRICES)
    limiter = RedisRateLimiter(base.expiring_store, settings.prdigest_user_calls, base.keyspace)
    prices = base.provider.prices
    return CostServices(budget, CallMeter(budget, limiter, prices), reviews, base.instruments, prices)
