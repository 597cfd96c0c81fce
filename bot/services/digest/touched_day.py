"""What the merges of a day mean for a profile, and what they change for others."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from bot.domain.errors import PrdigestError
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.time.day import LocalDay
from bot.features.digest.view import format_unknown_hits
from impact.contract.models import MergeContract
from impact.profile.models import Profile
from impact.profile.moves import ProfileMove
from impact.touches.deprecations import DeprecationStep
from impact.touches.models import MergeTouches, TouchReport

if TYPE_CHECKING:
    # it is a feature, and so is this soon
    from bot.features.profiles.service import ProfileEntry

log = logging.getLogger(__name__)


# returns what merges mean for a profile, and their contracts; raises PrdigestError, such as for an unknown profile
TouchJudge = Callable[[str, Sequence[PullRequest]], tuple[TouchReport, tuple[MergeContract, ...]]]


@dataclass(frozen=True, slots=True)
class TouchedDay:
    """The report on a day and the contracts of its merges.

    Without a profile there is no report. ``problem`` is a clause that says why there is none with one.
    """

    report: TouchReport | None = None
    contracts: tuple[MergeContract, ...] = ()
    problem: str = ""

    @property
    def numbers(self) -> frozenset[int]:
        """The numbers of the merges that touch."""
        return frozenset(merge.number for merge in self.report.touching) if self.report else frozenset()

    def select_contracts(self, numbers: Iterable[int]) -> tuple[MergeContract, ...]:
        """Return the contracts of some merges: those that a view shows."""
        shown = frozenset(numbers)
        return tuple(contract for contract in self.contracts if contract.number in shown)

    def add_missing(self, missing: tuple[str, ...]) -> tuple[str, ...]:
        """Return what is missing in a digest, with the report."""
        return (*missing, self.problem) if self.problem else missing


class TouchedDayReader:
    """Reader of what touches.

    ``note_shown`` records the hits of a profile that people are about to see.
    """

    def __init__(
        self,
        judge: TouchJudge,
        note_shown: Callable[[str, Repository, Sequence[MergeTouches]], None],
    ) -> None:
        self._judge = judge
        self._note_shown = note_shown

    def read_day(self, profile: str, pulls: Sequence[PullRequest]) -> TouchedDay:
        """Return what the merges of a day mean for a profile. A problem is part of the result, not an error."""
        if not profile:
            return TouchedDay()
        try:
            report, contracts = self._judge(profile, pulls)
            if pulls:
                self._note_shown(report.profile, pulls[0].repository, report.touching)
        except PrdigestError as error:
            log.warning("what touches %s is not known: %s", profile, error)
            return TouchedDay(problem=format_unknown_hits(profile, str(error)))
        return TouchedDay(report, contracts)


# returns what merges mean for the profile of a name, which may be empty; never raises PrdigestError
TouchReader = Callable[[str, Sequence[PullRequest]], TouchedDay]


def skip_touches(_profile: str, _pulls: Sequence[PullRequest]) -> TouchedDay:
    """Return nothing: there are no profiles."""
    return TouchedDay()


class StepReader:
    """Reader of what became of deprecations. ``list_steps`` returns those of a time that a profile uses."""

    def __init__(
        self,
        list_steps: Callable[[Repository, datetime, datetime, Profile], tuple[DeprecationStep, ...]],
        get_profile: Callable[[str], Profile | None],
    ) -> None:
        self._list_steps = list_steps
        self._get_profile = get_profile

    def list_day(self, name: str, repository: Repository, day: LocalDay) -> tuple[DeprecationStep, ...]:
        """Return the steps of a day that concern the profile of a name; none without one, or after a problem."""
        try:
            profile = self._get_profile(name) if name else None
            return self._list_steps(repository, day.start, day.end, profile) if profile else ()
        except PrdigestError as error:
            log.warning("what is deprecated of %s is not known: %s", name, error)
            return ()


class MoveReader:
    """Reader of the moves of profiles. ``get_entry`` returns the entry of one by its name, None without it."""

    def __init__(self, get_entry: Callable[[str], ProfileEntry | None]) -> None:
        self._get_entry = get_entry

    def list_day(self, name: str, day: LocalDay) -> tuple[ProfileMove, ...]:
        """Return the moves of a day with which earlier merges began or ceased to touch; none after a problem."""
        try:
            entry = self._get_entry(name) if name else None
        except PrdigestError as error:
            log.warning("how %s moved is not known: %s", name, error)
            return ()
        return tuple(move for move in entry.moves if day.start <= move.at < day.end) if entry else ()


# returns the moves of a profile on a day; never raises PrdigestError
MoveLister = Callable[[str, LocalDay], tuple[ProfileMove, ...]]


def skip_moves(_profile: str, _day: LocalDay) -> tuple[ProfileMove, ...]:
    """Return nothing: there are no profiles."""
    return ()


# returns what became on a day of the deprecations that a profile uses; never raises PrdigestError
StepLister = Callable[[str, Repository, LocalDay], tuple[DeprecationStep, ...]]


def skip_steps(_profile: str, _repository: Repository, _day: LocalDay) -> tuple[DeprecationStep, ...]:
    """Return nothing: there are no profiles."""
    return ()
