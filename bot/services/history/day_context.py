"""The merges around a day, and the rating of pull requests by what they tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from bot.domain.history.file_history import FileHistory
from bot.domain.history.pull_outcomes import MergeOutcome, RevertIndex
from bot.domain.history.relands import Reland, find_relands
from bot.domain.pull_requests.models import PullRequest, remove_duplicates
from bot.domain.pull_requests.path_classes import PathClasses
from bot.domain.risk.assessment import Risk, assess_pull_request
from bot.domain.summaries.defects import log_defect
from impact.history.outcomes import find_outcomes
from impact.history.revert_claims import RevertClaim
from impact.history.reverts import Revert


@dataclass(frozen=True, slots=True)
class DayContext:
    """The merges of a day, before it and since, newest first, with the reverts and relands among them.

    Their texts are parsed once, when the index is built. ``day_reverts`` are the reverts for which both pull
    requests are of the day. ``claims`` say which merges revert another, by number. ``caveat`` is a clause that
    says what could not be read.
    """

    pulls: tuple[PullRequest, ...]
    outcomes: tuple[MergeOutcome, ...]
    relands: tuple[Reland, ...]
    day_reverts: tuple[Revert, ...]
    claims: Mapping[int, RevertClaim]
    caveat: str = ""

    @classmethod
    def from_pulls(cls, of_day: Iterable[PullRequest], around: Iterable[PullRequest] = ()) -> DayContext:
        """Build the context of the merges of a day and of those ``around`` it."""
        own = tuple(of_day)
        index = RevertIndex(remove_duplicates([*own, *around]))
        return cls.from_index(index, (pull.number for pull in own))

    @classmethod
    def from_index(cls, index: RevertIndex, of_day: Iterable[int], caveat: str = "") -> DayContext:
        """Build the context of an index of merges, newest first, from the numbers of those of a day."""
        # the long texts are not needed any more, and would take most of the memory
        light = tuple(replace(pull, body="", commit_message="") for pull in index.merges.by_number.values())
        day_reverts = index.select(dict.fromkeys(of_day)).reverts
        return cls(light, find_outcomes(index), find_relands(index), day_reverts, index.claims, caveat)

    def is_revert(self, number: int) -> bool:
        """Return whether a merge of the context says that it reverts another; False for others."""
        claim = self.claims.get(number)
        return claim is not None and claim.is_revert

    def select_claims(self, numbers: Iterable[int]) -> Mapping[int, RevertClaim]:
        """Return the claims of merges by number, as far as they are here."""
        return {number: self.claims[number] for number in numbers if number in self.claims}

    def assess_pulls(
        self, pulls: Iterable[PullRequest], of_day: Iterable[PullRequest], classes: PathClasses
    ) -> list[Risk]:
        """Rate pull requests of the day whose files are loaded. This is the only rating in a digest or a list.

        ``of_day`` are the merges of the day, with their files as far as they are loaded: what was merged earlier
        on the same day counts too.
        """
        history = FileHistory(remove_duplicates([*of_day, *self.pulls]), self.outcomes, classes, self.relands)
        return [self._assess_isolated(pull, classes, history) for pull in pulls]

    def _assess_isolated(self, pull: PullRequest, classes: PathClasses, history: FileHistory) -> Risk:
        """Rate a pull request. If that meets a defect, log it and return a risk without points."""
        try:
            return assess_pull_request(pull, classes, history, reverts_another=self.is_revert(pull.number))
        except Exception as error:
            log_defect(pull, error)
            return Risk(0.0, (), without_history=True)
