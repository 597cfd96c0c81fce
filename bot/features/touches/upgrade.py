"""The way from the merge that a team's code stands on to now."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bot.app import App
from bot.dates import Span, get_today
from bot.errors import TimeLimitExceeded, UsageError
from bot.features.merges.outcomes import RevertIndex
from bot.features.profiles.service import ProfileEntry
from bot.features.touches.contracts import list_merges, read_contracts, state_deprecations
from bot.features.touches.requests import MAX_UPGRADE_DAYS
from bot.platform import deadlines
from bot.platform.progress import note_progress
from bot.platform.pulls.models import PullRequest
from bot.text import format_count
from impact.contract.deprecations import DeprecationState
from impact.contract.models import MergeContract
from impact.coverage import Coverage
from impact.history.reverts import select_standing
from impact.repository import Repository
from impact.touches.profile_index import ProfileIndex
from impact.touches.upgrade import UpgradePlan, UpgradeRange, build_upgrade_plan

# merges between two looks at how far it is
_STEP = 50


def plan_upgrade(app: App, pin: PullRequest, entry: ProfileEntry) -> UpgradePlan:
    """Plan the way from a merge to the last one.

    Raises UsageError if it is too long ago; RateLimited or TimeLimitExceeded if it takes longer, where what was
    read is kept.
    """
    profile = app.profiles.require_scanned(entry)
    merges, coverage = _list_since(app, entry.upstream, pin)
    contracts = _read_steps(app, merges)
    commits = [pin.commit, *(pull.commit for pull in merges)]
    deprecations = state_deprecations(app, entry.upstream)
    way = UpgradeRange(
        pin.commit,
        commits[-1],
        contracts,
        dict(zip(commits[1:], commits, strict=False)),
        select_standing(RevertIndex(merges).reverts, merges),
        deprecations=tuple(used.entry for state, used in deprecations if state is not DeprecationState.REMOVED),
        url=f"{pin.web}/{entry.upstream}",
        coverage=coverage + entry.coverage,
    )
    return build_upgrade_plan(way, ProfileIndex(profile))


def _list_since(app: App, upstream: Repository, pin: PullRequest) -> tuple[list[PullRequest], Coverage]:
    """Return the merges after another one, oldest first, and how much of their list was read."""
    today = app.get_today()
    span = Span(get_today(pin.merge_time, today.zone).date, today.date, today.zone)
    if len(span) > MAX_UPGRADE_DAYS:
        raise UsageError(
            f"That commit is {len(span)} days old, and I look back {MAX_UPGRADE_DAYS}: on a clone, run "
            f"prdigest upgrade --upstream CLONE --from {pin.commit[:10]} --profile NAME."
        )
    merged = list_merges(app, upstream, span)
    later = [pull for pull in merged.pulls if pull.merge_time > pin.merge_time and pull.base == pin.base]
    return sorted(later, key=lambda pull: (pull.merge_time, pull.number)), merged.coverage


def _read_steps(app: App, pulls: Sequence[PullRequest]) -> list[MergeContract]:
    """Return what each merge changes for others, in order. Another attempt continues where this one ended."""
    contracts: list[MergeContract] = []

    def note_all(done: int, _of_step: int) -> None:
        note_progress(len(contracts) + done, len(pulls))

    for start in range(0, len(pulls), _STEP):
        try:
            contracts += _read_step(app, pulls[start : start + _STEP], note_all)
        except TimeLimitExceeded as error:
            raise TimeLimitExceeded(
                f"I have read {len(contracts):,} of {format_count(len(pulls), 'merge')}, and keep them: ask "
                "again, and I go on from there. On a clone, prdigest upgrade takes a few minutes."
            ) from error
    return contracts


def _read_step(
    app: App, pulls: Sequence[PullRequest], note: Callable[[int, int], None]
) -> tuple[MergeContract, ...]:
    if not deadlines.get_seconds_left():
        raise TimeLimitExceeded(deadlines.TOO_LONG)
    return read_contracts(app, pulls, must_wait=True, note=note)
