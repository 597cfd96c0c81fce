"""A touch: a contract change that concerns a use of a profile."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from impact.contract.models import ContractChange, MergeContract, cover_contracts
from impact.coverage import Coverage, CoveredList
from impact.profile.models import Use


class TouchLevel(float, Enum):
    """How much a merge concerns a profile, least first. Stores have the values.

    What STOPS_SILENTLY raises no error: a setting that does nothing any more, a query that returns nothing.
    """

    NO = 0
    TOUCHES = 1
    MAY_BREAK = 2
    STOPS_SILENTLY = 2.5
    BREAKS = 3

    @property
    def label(self) -> str:
        """Its name in small letters: ``may break``."""
        return self.name.lower().replace("_", " ")


# between a place and what happened there
_VERBS = {
    TouchLevel.BREAKS: "breaks",
    TouchLevel.STOPS_SILENTLY: "silently stops working",
    TouchLevel.MAY_BREAK: "may break (likely; not proved)",
    TouchLevel.TOUCHES: "is touched",
    TouchLevel.NO: "is not touched",
}
_DUTY = "must "


@dataclass(frozen=True, slots=True)
class Touch:
    """A contract change and a use that it concerns. ``use`` is the first of ``uses``, those with the same effect.

    ``reason`` is a sentence about the changed name, or begins with "must" and is one about the use. ``action`` is
    one line that says what to do, empty where nothing is known.
    ``score`` orders touches: more is more certain.
    """

    level: TouchLevel
    change: ContractChange
    uses: tuple[Use, ...]
    reason: str
    score: float
    action: str = ""

    @property
    def use(self) -> Use:
        """The use that is shown."""
        return self.uses[0]

    def tell(self, use: Use) -> str:
        """Return what happens at one of its uses, as a sentence: ``ours/a.py:7 breaks: `f` is gone``."""
        # what was added by hand has no line
        return f"{use.path}{f':{use.line}' if use.line else ''} {self.effect}"

    @property
    def effect(self) -> str:
        """What happens at its uses, as the rest of a sentence that begins with the place."""
        if not self.reason.startswith(_DUTY):
            return f"{_VERBS[self.level]}: {self.reason}"
        is_sure = self.level is TouchLevel.BREAKS
        return self.reason if is_sure else f"may have to {self.reason.removeprefix(_DUTY)}"


@dataclass(frozen=True, slots=True)
class RankFigures:
    """What ranks a merge: whether something breaks or may break, and counts.

    ``names`` counts changed names that are used, ``uses`` those of the changed modules, ``changes`` all changes.
    """

    breaks: bool = False
    may_break: bool = False
    names: int = 0
    uses: int = 0
    changes: int = 0


@dataclass(frozen=True, slots=True)
class MergeTouches:
    """What a merge means for a profile. ``score`` ranks merges, also those of level NO, by ``figures``."""

    number: int
    title: str
    commit: str
    level: TouchLevel
    score: float
    touches: tuple[Touch, ...] = ()
    figures: RankFigures = RankFigures()

    @property
    def is_hit(self) -> bool:
        return self.level > TouchLevel.NO

    @property
    def sort_key(self) -> tuple[float, float, int]:
        """A key that sorts merges: the strongest first, and of equal ones the newest."""
        return -self.level, -self.score, -self.number


@dataclass(frozen=True, slots=True)
class JudgedCommit:
    """A commit and what it means for a profile. ``reverted_by`` is a later one among the same; 0 without one."""

    touches: MergeTouches
    contract: MergeContract
    reverted_by: int = 0

    @property
    def coverage(self) -> Coverage:
        return cover_contracts([self.contract])


@dataclass(frozen=True, slots=True)
class TouchReport:
    """What the merges of some days mean for a profile: those that touch it, strongest first.

    ``merges`` were judged against ``uses`` uses. ``judges`` is a sentence on who judged.
    """

    profile: str
    merges: int
    uses: int
    touching: CoveredList[MergeTouches] = field(default_factory=CoveredList)
    judges: str = ""
