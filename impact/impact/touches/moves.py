"""The earlier merges that touch a team's code since it changed, and those that no longer do."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from datetime import datetime

from impact.contract.models import MergeContract
from impact.errors import attempt_all
from impact.profile.models import Profile
from impact.profile.moves import MovedHit, ProfileMove
from impact.touches.judgement import judge_merge
from impact.touches.models import MergeTouches, TouchLevel
from impact.touches.profile_index import ProfileIndex

# more of each are no news for a reader, but another profile
_MAX_HITS = 20


def judge_both(
    before: Profile, after: Profile, contracts: Iterable[MergeContract]
) -> Sequence[tuple[MergeTouches, MergeTouches]]:
    """Return what each merge means for two states of a profile; one that can't be judged is left out."""
    old, new = ProfileIndex(before), ProfileIndex(after)

    def judge_all(merges: Sequence[MergeContract]) -> list[tuple[MergeTouches, MergeTouches]]:
        return [(judge_merge(contract, old), judge_merge(contract, new)) for contract in merges]

    return attempt_all(judge_all, tuple(contracts), lambda contract: f"#{contract.number}")[0]


def build_move(
    pairs: Iterable[tuple[MergeTouches, MergeTouches]], at: datetime, behind: Container[int] = ()
) -> ProfileMove:
    """Build the move at an instant (UTC), the strongest first. What is ``behind`` the pin can't begin to touch."""
    pairs = tuple(pairs)
    began = [then for first, then in pairs if is_hit(then) and not is_hit(first) and then.number not in behind]
    ended = [first for first, then in pairs if is_hit(first) and not is_hit(then)]
    return ProfileMove(at, _list_hits(began), _list_hits(ended))


def is_hit(merge: MergeTouches) -> bool:
    return merge.level > TouchLevel.NO


def _list_hits(merges: list[MergeTouches]) -> tuple[MovedHit, ...]:
    ordered = sorted(merges, key=lambda merge: (-merge.level, -merge.score, -merge.number))
    return tuple(
        MovedHit(merge.number, merge.touches[0].change.name if merge.touches else "")
        for merge in ordered[:_MAX_HITS]
    )
