"""One page on all that was merged since a day: no model is called for it, and no file is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.domain.digest.models import Entry
from bot.domain.digest.since_page import SincePage
from bot.domain.digest.stories import build_stories
from bot.domain.profile.models import Profile
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.pull_requests.path_classes import PathClassesLookup
from bot.domain.pull_requests.reference import Reference
from bot.domain.summaries.models import SummarisedPullRequest
from bot.domain.time.date_range import Span
from bot.domain.touches.judgement import judge_merge
from bot.domain.touches.models import TouchLevel, TouchReport
from bot.domain.touches.profile_index import ProfileIndex
from bot.services.contract.reader import ContractReader
from bot.services.history.day_context import DayContext
from bot.services.history.merge_lists import MergeList
from bot.services.summaries.entry_cache import ReviewLookup


@dataclass(frozen=True, slots=True)
class KeptWork:
    """What was made of merges before: their summaries, reviews and contracts; None where there is none."""

    get_summary: Callable[[Reference], SummarisedPullRequest | None]
    get_review: ReviewLookup
    contracts: ContractReader


class SincePageBuilder:
    """Builder of pages. ``list_merges`` lists the merges of some days; ``name_of`` names a repository."""

    def __init__(
        self,
        list_merges: Callable[[Repository, Span], MergeList],
        kept: KeptWork,
        classes_of: PathClassesLookup,
        name_of: Callable[[Repository], str],
    ) -> None:
        self._list_merges = list_merges
        self._kept = kept
        self._classes_of = classes_of
        self._name_of = name_of

    def build_page(self, repository: Repository, span: Span, profile: Profile | None = None) -> SincePage:
        """Build the page. ``profile`` is one of this repository.

        Raises:
            PrdigestError: the merges of no day can be listed, or the store does not answer.
        """
        return self.build_from(repository, span, self._list_merges(repository, span), profile)

    def build_from(
        self, repository: Repository, span: Span, merged: MergeList, profile: Profile | None = None
    ) -> SincePage:
        """Build the page of these merges, such as those of a range. Raises StoreUnavailable."""
        stories = build_stories(merged.pulls)
        kept = [pull for story in stories.stories for pull in story.pulls]
        report, unread = self._judge(kept, profile) if profile else (None, 0)
        return SincePage(
            self._name_of(repository),
            span,
            len(merged.pulls),
            stories,
            {entry.number: entry for entry in self._list_entries(repository, merged.pulls)},
            report,
            unread,
            merged.caveats,
        )

    def _list_entries(self, repository: Repository, pulls: Sequence[PullRequest]) -> list[Entry]:
        """Return what was summarised before, rated together by the merges of the days."""
        references = (Reference(repository, pull.number) for pull in pulls)
        read = [each for reference in references if (each := self._kept.get_summary(reference))]
        loaded = [each.pull for each in read]
        risks = DayContext.from_pulls(pulls).assess_pulls(loaded, loaded, self._classes_of(repository))
        return [
            Entry.from_summarised(each, risk, self._kept.get_review(each.pull))
            for each, risk in zip(read, risks, strict=True)
        ]

    def _judge(self, pulls: Sequence[PullRequest], profile: Profile) -> tuple[TouchReport, int]:
        """Return what merges mean for a profile, and how many of them nobody has read yet."""
        index = ProfileIndex(profile)
        contracts = [each for pull in pulls if (each := self._kept.contracts.get_cached(pull))]
        judged = [judge_merge(contract, index) for contract in contracts]
        touching = [merge for merge in judged if merge.level > TouchLevel.NO]
        touching.sort(key=lambda merge: (-merge.level, -merge.score, -merge.number))
        unread = tuple(dict.fromkeys(file for contract in contracts for file in contract.unread))
        report = TouchReport(profile.name, len(contracts), len(profile.uses), tuple(touching), unread)
        return report, len(pulls) - len(contracts)
