"""The merges of several days as one list."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bot.domain.errors import DayUnavailable
from bot.domain.pull_requests.models import PullRequest, Repository, newest_first
from bot.domain.time.day import LocalDay
from bot.ports import Merged

MergedOn = Callable[[Repository, LocalDay], Merged]


@dataclass(frozen=True, slots=True)
class Merges:
    """The pull requests merged in some days, newest first, each once; and what may be missing from them."""

    pulls: tuple[PullRequest, ...]
    doubts: tuple[str, ...]


def list_day(merged_on: MergedOn, repository: Repository, day: LocalDay) -> Merged | DayUnavailable:
    """List what was merged on a day, or tell why that is not known. Raises what else ``merged_on`` raises."""
    try:
        return merged_on(repository, day)
    except DayUnavailable as error:
        return error


def merges_of(lists: Iterable[Merged | DayUnavailable]) -> Merges:
    """Put the lists of days together; a day of which none is known is a doubt.

    Raises:
        DayUnavailable: there is not one list.
    """
    days = tuple(lists)
    known = [each for each in days if isinstance(each, Merged)]
    unknown = [each for each in days if isinstance(each, DayUnavailable)]
    if unknown and not known:
        raise unknown[-1]
    found = {pull.number: pull for each in known for pull in each.pulls}
    doubts = [*(str(each).rstrip(".") for each in unknown), *(each.doubt for each in known if each.doubt)]
    return Merges(newest_first(tuple(found.values())), tuple(dict.fromkeys(doubts)))
