"""Lists of the merges of several days, combined into one."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bot.domain.errors import DayUnavailable
from bot.domain.pull_requests.models import PullRequest, Repository, sort_newest_first
from bot.domain.time.day import LocalDay
from bot.ports import DayMerges

DayLister = Callable[[Repository, LocalDay], DayMerges]


@dataclass(frozen=True, slots=True)
class MergeList:
    """The pull requests merged in some days, newest first, each once, and the caveats of that list.

    ``unavailable`` are the days without a list, where the reader of the list notes them.
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
