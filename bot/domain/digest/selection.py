"""The selection of the pull requests that a digest shows."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from bot.domain.digest.models import Entry
from bot.domain.digest.view import DigestView, ViewLevel
from bot.domain.history.pull_outcomes import MergeOutcome
from bot.domain.review.ranking import is_worth_listing
from impact.history.outcomes import OutcomeKind
from impact.history.reverts import Revert


def select_entries(
    view: DigestView,
    entries: Iterable[Entry],
    reverts: Iterable[Revert],
    outcomes: Iterable[MergeOutcome] = (),
    touching: Collection[int] = (),
) -> tuple[Entry, ...]:
    """Return the entries that a view shows.

    Reverted pull requests and their reverts are always shown, and so are those that touch the profile. Of a view
    of these alone, ``entries`` are already what it shows. ``reverts`` are those of the day, ``outcomes`` those
    known of the days around it.
    """
    if view.only is ViewLevel.TOUCHING:
        return tuple(entries)
    paired = {number for revert in reverts for number in (revert.number, revert.by)}
    reverted = (outcome for outcome in outcomes if outcome.stands and outcome.kind is not OutcomeKind.REPAIRED)
    paired |= {number for outcome in reverted for number in (outcome.pull.number, outcome.by.number)}
    kept = paired.union(touching)
    return tuple(entry for entry in entries if entry.number in kept or _is_important_enough(view.only, entry))


def _is_important_enough(only: ViewLevel, entry: Entry) -> bool:
    match only:
        case ViewLevel.ALL | ViewLevel.TOUCHING:
            return True
        case ViewLevel.SUBSTANTIAL:
            return not entry.summary.is_trivial
        case ViewLevel.RISKY:
            # a review adds and hides nothing; a pull request that could not be read may be risky
            return entry.risk.is_listed or is_worth_listing(entry) or entry.pull.files is None
