"""The services that say what merges do to a team's code."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from bot.adapters.redis import RedisProfileStore, RedisTouchStore
from bot.container.contract import build_contract_lister, build_contract_reader, build_deprecation_ledgers
from bot.container.digests import DigestServices
from bot.container.foundation import Foundation
from bot.container.from_settings import get_display_name
from bot.ports import ProfileStore
from bot.services.contract.lister import ContractLister
from bot.services.contract.reader import ContractReader
from bot.services.digest.since import KeptWork, SincePageBuilder
from bot.services.slack.plan_answers import PlanAnswerBuilder
from bot.services.slack.touch_answers import TouchAnswerBuilder
from bot.services.touches.decisions import TouchDecisions
from bot.services.touches.lister import TouchLister
from bot.services.touches.reports import TouchReports
from bot.services.touches.upgrade import UpgradePlanner


@dataclass(frozen=True, slots=True)
class TouchServices:
    """The profiles, what reads and judges merges by them, and what people said about the hits."""

    profiles: ProfileStore
    contracts: ContractReader
    reports: TouchReports
    decisions: TouchDecisions
    answers: TouchAnswerBuilder
    plans: PlanAnswerBuilder


def build_touch_services(base: Foundation, digests: DigestServices) -> TouchServices:
    """Build them. Raises ConfigurationError if a setting of GitHub is missing, and StoreUnavailable."""
    profiles, contracts = build_profile_store(base), build_contract_reader(base, digests)
    reports = TouchReports(profiles, contracts, base.settings.prdigest_concurrency)
    decisions = TouchDecisions(RedisTouchStore(base.store, base.keyspace), base.now)
    lister = build_contract_lister(base, digests, contracts)
    touches = TouchLister(lister, reports, decisions, partial(get_display_name, base.settings))
    answers = TouchAnswerBuilder(lister, touches, decisions)
    plans = _build_plans(base, digests, lister, UpgradeParts(profiles, contracts, reports))
    return TouchServices(profiles, contracts, reports, decisions, answers, plans)


@dataclass(frozen=True, slots=True)
class UpgradeParts:
    """What plans are made of."""

    profiles: ProfileStore
    contracts: ContractReader
    reports: TouchReports


def _build_plans(
    base: Foundation, digests: DigestServices, lister: ContractLister, parts: UpgradeParts
) -> PlanAnswerBuilder:
    """Build what answers those who come back or move on."""
    ledgers, name_of = build_deprecation_ledgers(base), partial(get_display_name, base.settings)
    planner = UpgradePlanner(
        parts.reports, parts.profiles, ledgers, base.sources.background, lister.list_merges, base.get_today
    )
    kept = KeptWork(digests.entries.get_cached_summary, digests.entries.get_review, parts.contracts)
    pages = SincePageBuilder(lister.list_merges, kept, digests.paths.get_path_classes, name_of)
    return PlanAnswerBuilder(planner, pages, ledgers, name_of)


def build_profile_store(base: Foundation) -> ProfileStore:
    """Build the store of profiles. Raises StoreUnavailable."""
    return RedisProfileStore(base.store, base.keyspace)
