"""What became of single merges, as far as later merges are recorded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from bot.features.merges.outcomes import MergeOutcome, RevertIndex
from bot.features.merges.timeline import LOOK_AHEAD, MergeTimeline
from bot.platform.pulls.models import PullRequest, Reference, remove_duplicates
from impact.history.outcomes import find_outcomes
from impact.repository import Repository


def find_recorded_outcomes(
    timeline: MergeTimeline, pulls: Iterable[PullRequest]
) -> Mapping[Reference, MergeOutcome]:
    """Return the outcomes that stand, of the merged ones among pull requests, within two weeks of each merge.

    The record is read once for merges of a repository that lie close together. Without the store there are none.
    """
    by_repository: dict[Repository, list[PullRequest]] = defaultdict(list)
    for pull in pulls:
        if pull.is_merged:
            by_repository[pull.repository].append(pull)
    outcomes = (
        outcome
        for merges in by_repository.values()
        for group in _group_merges(merges)
        for outcome in _find_in_group(timeline, group)
    )
    return {Reference(outcome.pull.repository, outcome.pull.number): outcome for outcome in outcomes}


def _group_merges(pulls: Iterable[PullRequest]) -> Iterator[Sequence[PullRequest]]:
    """Yield merges, oldest first, in groups whose two weeks overlap."""
    group: list[PullRequest] = []
    for pull in sorted(pulls, key=lambda pull: pull.merge_time):
        if group and pull.merge_time >= group[-1].merge_time + LOOK_AHEAD:
            yield group
            group = []
        group.append(pull)
    if group:
        yield group


def _find_in_group(timeline: MergeTimeline, group: Sequence[PullRequest]) -> Iterator[MergeOutcome]:
    since, until = group[0].merge_time, group[-1].merge_time + LOOK_AHEAD
    recorded = timeline.read_merges_or_none(group[0].repository, since, until)
    index = timeline.index_pulls(remove_duplicates([*group, *recorded]))
    for pull in group:
        yield from _find_of_merge(index, pull)


def _find_of_merge(index: RevertIndex, pull: PullRequest) -> Iterator[MergeOutcome]:
    """Yield the first outcome of a merge that stands, by the merges of its own two weeks."""
    until = pull.merge_time + LOOK_AHEAD
    later = (each.number for each in index.merges.by_number.values() if pull.merge_time <= each.merge_time < until)
    outcomes = find_outcomes(index.select(dict.fromkeys([pull.number, *later])))
    standing = [each for each in outcomes if each.pull.number == pull.number and each.stands]
    yield from standing[:1]
