"""Suspects: the merges of a range whose changes explain an error, the likeliest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from impact.contract.models import ContractChange, MergeContract, cover_contracts
from impact.coverage import COMPLETE, Coverage, CoveredList
from impact.errors import attempt_all
from impact.history.merges import WrittenMerge
from impact.history.revert_index import RevertIndex
from impact.history.reverts import list_reverted_numbers, select_standing
from impact.touches.breakage.change_names import ChangeNames, Explanation
from impact.touches.breakage.error_lines import ErrorLine
from impact.touches.breakage.explanations import explain_error
from impact.touches.breakage.kinship import Kinship
from impact.touches.breakage.mentions import MentionIndex
from impact.touches.breakage.traceback_names import TraceNames

# points, from 0 to 100, below which a merge explains nothing
LEAST_SCORE = 35.0
# the most that an explanation, the code on the way and names in the text can give
_STRUCTURE_SHARE, _FRAME_SHARE, _NAME_SHARE = 0.9, 0.5, 0.4
# a merge that was reverted before the end of the range has no effect there
_REVERTED_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Suspect:
    """A merge that may have caused an error.

    ``reason`` is a clause that goes on from "it". ``change`` is what it rests on, None if only titles or files
    say so. ``reverted_by`` is the number of the merge that reverted it within the range.
    """

    number: int
    title: str
    commit: str
    merged_at: datetime
    score: float
    reason: str
    change: ContractChange | None = None
    reverted_by: int | None = None


@dataclass(frozen=True, slots=True)
class SuspectRange:
    """The merges between two commits; ``reverts`` has, by the number of a reverted merge, that of its revert."""

    contracts: Sequence[MergeContract]
    reverts: Mapping[int, int]
    # of what else was to be read, such as lists of days
    coverage: Coverage = COMPLETE

    @classmethod
    def build(
        cls, contracts: Sequence[MergeContract], merges: Sequence[WrittenMerge], coverage: Coverage = COMPLETE
    ) -> SuspectRange:
        """Return a range; ``merges`` are all of it, and say what they revert."""
        held = select_standing(RevertIndex(merges).reverts, merges)
        reverted = list_reverted_numbers(held)
        reverts = {each.number: each.by for each in held if each.number in reverted and not each.is_partial}
        return cls(contracts, reverts, coverage)


@dataclass(frozen=True, slots=True)
class SuspectReport:
    """The suspects for an error among ``merges`` merges.

    ``since`` and ``until`` name the ends of the range as the reader wrote them. ``omitted`` suspects fit less than
    those that are listed.
    """

    trace: TraceNames
    since: str
    until: str
    merges: int
    suspects: CoveredList[Suspect] = field(default_factory=CoveredList)
    omitted: int = 0


def build_report(
    trace: TraceNames, merges: SuspectRange, since: str, until: str, limit: int, kinship: Kinship
) -> SuspectReport:
    def rank(contracts: Sequence[MergeContract]) -> tuple[Suspect, ...]:
        return rank_suspects(trace, SuspectRange(contracts, merges.reverts), kinship)

    suspects, failed = attempt_all(rank, merges.contracts, lambda contract: f"#{contract.number}")
    listed = CoveredList(suspects[:limit], merges.coverage + cover_contracts(merges.contracts, failed))
    return SuspectReport(trace, since, until, len(merges.contracts), listed, max(0, len(suspects) - limit))


def rank_suspects(
    trace: TraceNames, merges: SuspectRange, kinship: Kinship, least: float = LEAST_SCORE
) -> tuple[Suspect, ...]:
    """Return the merges that explain an error with at least ``least`` points, the likeliest first."""
    index = MentionIndex(trace, merges.contracts)
    suspects = (
        _rate_merge(trace, contract, kinship, index, place) for place, contract in enumerate(merges.contracts)
    )
    judged = [_mark_revert(each, merges.reverts.get(each.number)) for each in suspects]
    fitting = [each for each in judged if each.score >= least]
    return tuple(sorted(fitting, key=lambda each: (each.score, each.merged_at), reverse=True))


def _rate_merge(
    trace: TraceNames, contract: MergeContract, kinship: Kinship, index: MentionIndex, place: int
) -> Suspect:
    structure, change = _explain_errors(trace.errors, contract, kinship)
    frames, frame_change = index.rate_frames(contract)
    names, name_change = index.rate_names(place)
    shares = (
        (_STRUCTURE_SHARE * structure.strength, structure.clause, change),
        (_FRAME_SHARE * frames.strength, frames.clause, frame_change),
        (_NAME_SHARE * names.strength, names.clause, name_change),
    )
    _, clause, explaining = max(shares, key=lambda each: each[0])
    rest = 1.0
    for share, _, _ in shares:
        rest *= 1 - share
    return Suspect(
        contract.number,
        contract.title,
        contract.commit,
        contract.merged_at,
        round(100 * (1 - rest), 1),
        clause,
        explaining,
    )


def _mark_revert(suspect: Suspect, reverted_by: int | None) -> Suspect:
    if reverted_by is None:
        return suspect
    return Suspect(
        suspect.number,
        suspect.title,
        suspect.commit,
        suspect.merged_at,
        round(suspect.score * _REVERTED_SHARE, 1),
        suspect.reason,
        suspect.change,
        reverted_by,
    )


def _explain_errors(
    errors: Sequence[ErrorLine], contract: MergeContract, kinship: Kinship
) -> tuple[Explanation, ContractChange | None]:
    best, explaining = Explanation(0.0, ""), None
    for change in contract.changes:
        names = ChangeNames(change)
        for error in errors:
            result = explain_error(error, names, kinship)
            if result and result.strength > best.strength:
                best, explaining = result, change
    return best, explaining
