"""Lists of the merges of several days, read at the same time and combined into one."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from bot.domain.errors import DayUnavailable
from bot.domain.pull_requests.models import PullRequest, Repository, sort_newest_first
from bot.domain.time.date_range import Span
from bot.domain.time.day import LocalDay
from bot.ports import DayMerges
from bot.services.operations.worker_threads import DeadlineExecutor

DayLister = Callable[[Repository, LocalDay], DayMerges]


@dataclass(frozen=True, slots=True)
class MergeList:
    """The pull requests merged in some days, newest first, each once, and the caveats of that list.

    ``unavailable`` are the days without a list.
    """

    pulls: tuple[PullRequest, ...]
    caveats: tuple[str, ...]
    unavailable: tuple[dt.date, ...] = ()


def list_day(merged_on: DayLister, repository: Repository, day: LocalDay) -> DayMerges | DayUnavailable:
    """List what was merged on a day, or return the error that says why the list is unavailable.

    Raises:
        Exception: what ``merged_on`` raises apart from DayUnavailable.
    """
    try:
        return merged_on(repository, day)
    except DayUnavailable as error:
        return error


def combine_lists(lists: Iterable[DayMerges | DayUnavailable]) -> MergeList:
    """Combine the lists of days. A day without a list becomes a caveat.

    Raises:
        DayUnavailable: no day has a list.
    """
    days = tuple(lists)
    available = [each for each in days if isinstance(each, DayMerges)]
    unavailable = [each for each in days if isinstance(each, DayUnavailable)]
    if unavailable and not available:
        raise unavailable[-1]
    by_number = {pull.number: pull for each in available for pull in each.pulls}
    day_caveats = [
        *(str(each).rstrip(".") for each in unavailable),
        *(each.caveat for each in available if each.caveat),
    ]
    return MergeList(sort_newest_first(tuple(by_number.values())), tuple(dict.fromkeys(day_caveats)))


class MergeLister:
    """Lister of merges. ``merged_on`` lists those of a day, and is called for ``workers`` days at a time."""

    def __init__(self, merged_on: DayLister, workers: int) -> None:
        self._merged_on = merged_on
        self._workers = workers

    def list_days(self, repository: Repository, days: Iterable[LocalDay]) -> Sequence[DayMerges | DayUnavailable]:
        """Return the list of each day, or the error that says why there is none. Raises as :func:`list_day`."""
        with DeadlineExecutor(self._workers, "merges") as crew:
            return crew.map_items(partial(list_day, self._merged_on, repository), days)

    def list_merges(self, repository: Repository, span: Span) -> MergeList:
        """Return the merges of some days, without files.

        Raises:
            DayUnavailable: no day has a list.
            Exception: what ``merged_on`` raises.
        """
        lists = self.list_days(repository, span.days)
        days = zip(span.days, lists, strict=True)
        unavailable = tuple(day.date for day, each in days if isinstance(each, DayUnavailable))
        return replace(combine_lists(lists), unavailable=unavailable)
