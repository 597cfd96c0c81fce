"""One page on all that was merged since a day: no model is called for it, and no file is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bot.domain.digest.models import Entry
from bot.domain.history.pull_outcomes import RevertIndex
from bot.domain.pull_requests.models import PullRequest, Repository, remove_duplicates
from bot.domain.pull_requests.path_classes import PathClassesLookup
from bot.domain.pull_requests.reference import Reference
from bot.domain.summaries.models import SummarisedPullRequest
from bot.domain.time.date_range import Span
from bot.features.digest.stories import SincePage, build_stories
from bot.services.history.day_context import DayContext
from bot.services.history.merge_lists import MergeList
from bot.services.history.merge_timeline import LOOK_AHEAD, LOOK_BACK, MergeTimeline
from bot.services.summaries.entry_cache import ReviewLookup
from impact.contract.models import MergeContract
from impact.profile.models import Profile
from impact.touches.judgement import judge_merges
from impact.touches.models import TouchReport


@dataclass(frozen=True, slots=True)
class KeptWork:
    """What was made of merges before: their summaries, reviews and contracts; None where there is none."""

    get_summary: Callable[[Reference], SummarisedPullRequest | None]
    get_review: ReviewLookup
    get_contract: Callable[[PullRequest], MergeContract | None]


class SincePageBuilder:
    """Builder of pages. ``list_merges`` lists the merges of some days; ``name_of`` names a repository.

    ``timeline`` has the recorded merges around them.
    """

    def __init__(
        self,
        list_merges: Callable[[Repository, Span], MergeList],
        kept: KeptWork,
        timeline: MergeTimeline,
        classes_of: PathClassesLookup,
        name_of: Callable[[Repository], str],
    ) -> None:
        self._list_merges = list_merges
        self._kept = kept
        self._timeline = timeline
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
        references = (Reference(repository, pull.number) for pull in merged.pulls)
        read = [each for reference in references if (each := self._kept.get_summary(reference))]
        # without a summary nothing is rated, and the merges around are not needed
        around = self._read_around(repository, span) if read else ()
        index = self._timeline.index_pulls(remove_duplicates([*merged.pulls, *around]))
        stories = build_stories(index.select(pull.number for pull in merged.pulls))
        kept = [pull for story in stories.stories for pull in story.pulls]
        report, unread = self._judge(kept, profile) if profile else (None, 0)
        return SincePage(
            self._name_of(repository),
            span,
            len(merged.pulls),
            stories,
            {entry.number: entry for entry in self._rate(repository, read, index)} if read else {},
            report,
            unread,
            merged.caveats,
        )

    def _read_around(self, repository: Repository, span: Span) -> Sequence[PullRequest]:
        """Return what is recorded around the days, for the rules that look back."""
        since, until = span.days[0].start - LOOK_BACK, span.days[-1].end + LOOK_AHEAD
        return self._timeline.read_merges_or_none(repository, since, until)

    def _rate(
        self, repository: Repository, read: Sequence[SummarisedPullRequest], index: RevertIndex
    ) -> Iterator[Entry]:
        """Yield what was summarised before, rated by all merges of the index."""
        loaded = [each.pull for each in read]
        context = DayContext.from_index(index, (pull.number for pull in loaded))
        risks = context.assess_pulls(loaded, loaded, self._classes_of(repository))
        for each, risk in zip(read, risks, strict=True):
            yield Entry.from_summarised(each, risk, self._kept.get_review(each.pull))

    def _judge(self, pulls: Sequence[PullRequest], profile: Profile) -> tuple[TouchReport, int]:
        """Return what merges mean for a profile, and how many of them nobody has read yet."""
        contracts = [each for pull in pulls if (each := self._kept.get_contract(pull))]
        return judge_merges(profile.name, profile, contracts), len(pulls) - len(contracts)
