"""The services that say what merges do to a team's code."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from bot.container.connections.from_settings import get_display_name
from bot.container.digests.services import DigestServices
from bot.container.foundation import Foundation
from bot.container.touches.contracts import (
    build_contract_lister,
    build_contract_reader,
    build_deprecation_ledgers,
    find_tag_commit,
)
from bot.container.touches.profiles import (
    build_known_profiles,
    build_profile_refresher,
    build_profile_store,
    build_touch_decisions,
)
from bot.ports import ProfileStore
from bot.services.contract.deprecations import DeprecationLedgers
from bot.services.contract.lister import ContractLister
from bot.services.contract.reader import ContractReader
from bot.services.digest.since import KeptWork, SincePageBuilder
from bot.services.digest.touched_day import MoveReader, StepReader, TouchedDayReader
from bot.services.profile.known_profiles import KnownProfiles
from bot.services.profile.refresher import ProfileRefresher
from bot.services.slack.answers.plan_answers import PlanAnswerBuilder
from bot.services.slack.answers.touch_answers import TouchAnswerBuilder
from bot.services.touches.agent_tasks import AgentTasks
from bot.services.touches.decisions import TouchDecisions
from bot.services.touches.lister import TouchLister
from bot.services.touches.pins import PinFinder
from bot.services.touches.reports import TouchReports
from bot.services.touches.suspects import SuspectFinder
from bot.services.touches.upgrade import UpgradePlanner


@dataclass(frozen=True, slots=True)
class TouchServices:
    """The profiles, what reads and judges merges by them, and what people said about the hits."""

    profiles: ProfileStore
    refresher: ProfileRefresher
    contracts: ContractReader
    reports: TouchReports
    decisions: TouchDecisions
    answers: TouchAnswerBuilder
    plans: PlanAnswerBuilder
    ledgers: DeprecationLedgers
    tasks: AgentTasks

    def add_to_digests(self, digests: DigestServices) -> DigestServices:
        """Return the services of digests with the profiles that merges may be checked against."""
        reader = TouchedDayReader(self.reports, self.decisions.note_shown)
        steps = StepReader(self.ledgers.list_used_steps, self.profiles.get_profile)
        return replace(
            digests,
            profiles=build_known_profiles(self.profiles),
            read_touches=reader.read_day,
            list_steps=steps.list_day,
            list_moves=MoveReader(self.profiles.get_entry).list_day,
            get_profile=self.profiles.get_profile,
        )


def build_touch_services(base: Foundation, digests: DigestServices) -> TouchServices:
    """Build them. Raises ConfigurationError if a setting of GitHub is missing, and StoreUnavailable."""
    profiles, contracts = build_profile_store(base), build_contract_reader(base, digests)
    known = build_known_profiles(profiles)
    reports = TouchReports(known, contracts, base.settings.prdigest_concurrency)
    decisions = build_touch_decisions(base)
    lister = build_contract_lister(base, digests, contracts)
    touches = TouchLister(lister, reports, known, decisions, partial(get_display_name, base.settings))
    finder = build_suspect_finder(base, lister, profiles)
    return TouchServices(
        profiles,
        build_profile_refresher(base, profiles),
        contracts,
        reports,
        decisions,
        TouchAnswerBuilder(lister, touches, decisions, finder),
        _build_plans(base, digests, lister, UpgradeParts(known, contracts, reports)),
        build_deprecation_ledgers(base),
        AgentTasks(digests.pulls, reports, known, digests.paths.get_path_classes),
    )


def build_suspect_finder(base: Foundation, lister: ContractLister, profiles: ProfileStore) -> SuspectFinder:
    """Build what finds the merges that explain an error."""
    return SuspectFinder(lister, profiles, lambda: base.sources.background, base.get_today)


def build_upgrade_planner(
    base: Foundation, lister: ContractLister, profiles: KnownProfiles, reports: TouchReports
) -> UpgradePlanner:
    """Build what plans the way from a pin to now. Raises StoreUnavailable."""
    ledgers = build_deprecation_ledgers(base)
    return UpgradePlanner(reports, profiles, ledgers, build_pins(base), lister.list_merges, base.get_today)


@dataclass(frozen=True, slots=True)
class UpgradeParts:
    """What plans are made of."""

    profiles: KnownProfiles
    contracts: ContractReader
    reports: TouchReports


def _build_plans(
    base: Foundation, digests: DigestServices, lister: ContractLister, parts: UpgradeParts
) -> PlanAnswerBuilder:
    """Build what answers those who come back or move on."""
    ledgers, name_of = build_deprecation_ledgers(base), partial(get_display_name, base.settings)
    planner = build_upgrade_planner(base, lister, parts.profiles, parts.reports)
    return PlanAnswerBuilder(planner, build_pages(base, digests, lister, parts.contracts), ledgers, name_of)


def build_pins(base: Foundation) -> PinFinder:
    """Build what finds the merge of a commit or a tag."""
    return PinFinder(lambda: base.sources.background, partial(find_tag_commit, base))


def build_pages(
    base: Foundation, digests: DigestServices, lister: ContractLister, contracts: ContractReader
) -> SincePageBuilder:
    """Build what makes one page of what was read of some merges."""
    kept = KeptWork(digests.entries.get_cached_summary, digests.entries.get_review, contracts)
    name_of = partial(get_display_name, base.settings)
    timeline = digests.history.timeline
    return SincePageBuilder(lister.list_merges, kept, timeline, digests.paths.get_path_classes, name_of)
