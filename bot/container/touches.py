"""The services that say what merges do to a team's code."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from bot.adapters.redis import RedisProfileStore, RedisTouchStore
from bot.container.contract import build_contract_lister, build_contract_reader
from bot.container.digests import DigestServices
from bot.container.foundation import Foundation
from bot.container.from_settings import get_display_name
from bot.ports import ProfileStore
from bot.services.contract.reader import ContractReader
from bot.services.slack.touch_answers import TouchAnswerBuilder
from bot.services.touches.decisions import TouchDecisions
from bot.services.touches.lister import TouchLister
from bot.services.touches.reports import TouchReports
from bot.services.touches.suspects import SuspectFinder


@dataclass(frozen=True, slots=True)
class TouchServices:
    """The profiles, what reads and judges merges by them, and what people said about the hits."""

    profiles: ProfileStore
    contracts: ContractReader
    reports: TouchReports
    decisions: TouchDecisions
    answers: TouchAnswerBuilder


def build_touch_services(base: Foundation, digests: DigestServices) -> TouchServices:
    """Build them. Raises ConfigurationError if a setting of GitHub is missing, and StoreUnavailable."""
    profiles, contracts = build_profile_store(base), build_contract_reader(base, digests)
    reports = TouchReports(profiles, contracts, base.settings.prdigest_concurrency)
    decisions = TouchDecisions(RedisTouchStore(base.store, base.keyspace), base.now)
    lister = build_contract_lister(base, digests, contracts)
    touches = TouchLister(lister, reports, decisions, partial(get_display_name, base.settings))
    finder = SuspectFinder(lister, profiles, lambda: base.sources.background, base.get_today)
    answers = TouchAnswerBuilder(lister, touches, decisions, finder)
    return TouchServices(profiles, contracts, reports, decisions, answers)


def build_profile_store(base: Foundation) -> ProfileStore:
    """Build the store of profiles. Raises StoreUnavailable."""
    return RedisProfileStore(base.store, base.keyspace)
