"""Lists of what the merges of some days do to a team's code, with what people said about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.conversations.requests.touch_requests import TouchesRequest
from bot.domain.pull_requests.models import Repository
from bot.domain.touches.decisions import HitKey, TouchDecision, TouchVerdict
from bot.domain.touches.listing import TouchList
from bot.services.contract.lister import ContractLister
from bot.services.touches.decisions import TouchDecisions
from bot.services.touches.reports import TouchReports

if TYPE_CHECKING:
    from bot.features.profiles.service import ProfileEntry, Profiles


class TouchLister:
    """Builder of lists. The hits of a list count as shown. ``name_of`` names a repository for headings."""

    def __init__(
        self,
        lister: ContractLister,
        reports: TouchReports,
        profiles: Profiles,
        decisions: TouchDecisions,
        name_of: Callable[[Repository], str],
    ) -> None:
        self._lister = lister
        self._reports = reports
        self._profiles = profiles
        self._decisions = decisions
        self._name_of = name_of

    def find_entry(self, profile: str, repositories: AllowedRepositories) -> ProfileEntry:
        """Return the entry of a profile.

        Raises UsageError if there is none, or if the bot may not answer about its upstream.
        """
        entry = self._profiles.find_entry(profile)
        repositories.require_known(entry.upstream)
        return entry

    def build_list(self, request: TouchesRequest, entry: ProfileEntry) -> TouchList:
        """List what touches a profile's code. Raises PrdigestError."""
        merged = self._lister.list_merges(entry.upstream, request.span)
        report = self._reports.judge_merges(entry.name, merged.pulls).report
        self._decisions.note_shown(entry.name, entry.upstream, report.touching)
        decisions = self._decisions.list_decisions(entry.name)
        return TouchList(
            self._name_of(entry.upstream),
            request.span,
            report,
            merged.pulls,
            _group_verdicts(decisions, entry.upstream),
            merged.caveats,
        )


def _group_verdicts(
    decisions: Mapping[HitKey, TouchDecision], upstream: Repository
) -> dict[int, tuple[TouchVerdict, ...]]:
    """Return the verdicts of a repository's merges by number, each once, the latest first."""
    verdicts: dict[int, tuple[TouchVerdict, ...]] = {}
    for decision in sorted(decisions.values(), key=lambda each: each.at, reverse=True):
        reference = decision.key.reference
        if str(reference.repository).lower() == str(upstream).lower():
            known = verdicts.get(reference.number, ())
            verdicts[reference.number] = tuple(dict.fromkeys((*known, decision.verdict)))
    return verdicts
