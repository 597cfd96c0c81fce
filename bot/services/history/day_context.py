"""The merges around a day, and the rating of pull requests by what they tell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from bot.domain.history.file_history import FileHistory
from bot.domain.history.outcomes import MergeOutcome, find_outcomes
from bot.domain.history.relands import Reland, find_relands
from bot.domain.history.revert_index import RevertIndex
from bot.domain.history.reverts import Revert
from bot.domain.pull_requests.models import PullRequest, remove_duplicates
from bot.domain.pull_requests.path_classes import PathClasses
from bot.domain.risk.assessment import Risk, assess_pull_request
from bot.services.summaries.reader import log_defect


@dataclass(frozen=True, slots=True)
class DayContext:
    """The merges of a day, before it and since, newest first, with the reverts and relands among them.

    Their texts are parsed once, when the context is built. ``day_reverts`` are the reverts for which both pull
    requests are of the day. ``reverting_numbers`` are those of all merges that say that they revert another.
    ``caveat`` is a clause that says what could not be read.
    """

    pulls: tuple[PullRequest, ...]
    outcomes: tuple[MergeOutcome, ...]
    relands: tuple[Reland, ...]
    day_reverts: tuple[Revert, ...]
    reverting_numbers: frozenset[int]
    caveat: str = ""

    @classmethod
    def from_pulls(
        cls, of_day: Iterable[PullRequest], around: Iterable[PullRequest] = (), caveat: str = ""
    ) -> DayContext:
        """Build the context of the merges of a day and of those ``around`` it."""
        own = tuple(of_day)
        merges = remove_duplicates([*own, *around])
        index = RevertIndex(merges)
        # the long texts are not needed any more, and would take most of the memory
        light = tuple(replace(pull, body="", commit_message="") for pull in merges)
        day_reverts = index.select(dict.fromkeys(pull.number for pull in own)).reverts
        return cls(light, find_outcomes(index), find_relands(index), day_reverts, index.reverting_numbers, caveat)

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
            is_revert = pull.number in self.reverting_numbers
            return assess_pull_request(pull, classes, history, reverts_another=is_revert)
        except Exception as error:
            log_defect(pull, error)
            return Risk(0.0, (), without_history=True)
