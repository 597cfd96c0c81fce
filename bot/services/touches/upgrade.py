"""The way from a pin to now, from GitHub's lists and what was read of each merge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.conversations.requests.plan_requests import MAX_UPGRADE_DAYS, UpgradeRequest
from bot.domain.errors import UsageError
from bot.domain.history.pull_outcomes import RevertIndex
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.time.date_range import Span
from bot.domain.time.day import LocalDay, get_today
from bot.services.contract.deprecations import DeprecationLedgers
from bot.services.history.merge_lists import MergeList
from bot.services.touches.pins import Pin, PinFinder
from bot.services.touches.reports import TouchReports
from impact.contract.deprecations import Deprecation, DeprecationState
from impact.history.reverts import select_standing
from impact.profile.models import Profile
from impact.touches.profile_index import ProfileIndex
from impact.touches.upgrade import UpgradePlan, UpgradeRange, build_upgrade_plan

if TYPE_CHECKING:
    from bot.features.profiles.service import ProfileEntry, Profiles


class UpgradePlanner:
    """Planner of upgrades. ``list_merges`` lists the merges of some days."""

    def __init__(
        self,
        reports: TouchReports,
        profiles: Profiles,
        ledgers: DeprecationLedgers,
        pins: PinFinder,
        list_merges: Callable[[Repository, Span], MergeList],
        today: Callable[[], LocalDay],
    ) -> None:
        self._reports = reports
        self._profiles = profiles
        self._ledgers = ledgers
        self._pins = pins
        self._list_merges = list_merges
        self._today = today

    def find_entry(self, profile: str, repositories: AllowedRepositories) -> ProfileEntry:
        """Return the entry of a profile. Raises UsageError if there is none, or its upstream is not allowed."""
        entry = self._profiles.find_entry(profile)
        repositories.require_known(entry.upstream)
        return entry

    def require_scanned(self, entry: ProfileEntry) -> Profile:
        """Return what the code of a profile uses. Raises UsageError as ``Profiles.require_scanned``."""
        return self._profiles.require_scanned(entry)

    def find_pin(self, request: UpgradeRequest, entry: ProfileEntry) -> Pin:
        """Return the request's pin, or that of the profile. Raises as ``PinFinder.find_pin``."""
        return self._pins.find_pin(entry.upstream, request.start, self._profiles.require_scanned(entry))

    def build_plan(self, pin: PullRequest, entry: ProfileEntry) -> UpgradePlan:
        """Plan the way from a merge to the last one.

        Raises:
            UsageError: it is too long ago.
            RateLimited, TimeLimitExceeded: it takes longer; what was read is kept.
            PrdigestError: the merges can't be listed.
        """
        profile = self._profiles.require_scanned(entry)
        merges = self._list_since(entry.upstream, pin)
        contracts = self._reports.read_steps(merges)
        commits = [pin.commit, *(pull.commit for pull in merges)]
        way = UpgradeRange(
            pin.commit,
            commits[-1],
            contracts,
            dict(zip(commits[1:], commits, strict=False)),
            select_standing(RevertIndex(merges).reverts, merges),
            deprecations=tuple(self._list_pressing(entry.upstream)),
            url=f"{pin.web}/{entry.upstream}",
        )
        return build_upgrade_plan(way, ProfileIndex(profile))

    def _list_since(self, upstream: Repository, pin: PullRequest) -> list[PullRequest]:
        """Return what was merged after a pin, oldest first."""
        today = self._today()
        span = Span(get_today(pin.merge_time, today.zone).date, today.date, today.zone)
        if len(span) > MAX_UPGRADE_DAYS:
            raise UsageError(
                f"That commit is {len(span)} days old, and I look back {MAX_UPGRADE_DAYS}: on a clone, run "
                f"prdigest upgrade --upstream CLONE --from {pin.commit[:10]} --profile NAME."
            )
        merged = self._list_merges(upstream, span).pulls
        later = [pull for pull in merged if pull.merge_time > pin.merge_time and pull.base == pin.base]
        return sorted(later, key=lambda pull: (pull.merge_time, pull.number))

    def _list_pressing(self, upstream: Repository) -> Sequence[Deprecation]:
        """Return the deprecations that still stand."""
        entries = self._ledgers.list_entries(upstream)
        return [used.entry for state, used in entries if state is not DeprecationState.REMOVED]
