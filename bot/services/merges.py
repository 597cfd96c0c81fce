"""The merges of several days as one list."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bot.domain.pulls import PullRequest, newest_first
from bot.ports import Merged


@dataclass(frozen=True, slots=True)
class Merges:
    """The pull requests merged in some days, newest first, each once; and what may be missing from them."""

    pulls: tuple[PullRequest, ...]
    doubts: tuple[str, ...]


def merges_of(lists: Iterable[Merged]) -> Merges:
    """Put the lists of days together."""
    known = tuple(lists)
    found = {pull.number: pull for each in known for pull in each.pulls}
    doubts = dict.fromkeys(each.doubt for each in known if each.doubt)
    return Merges(newest_first(tuple(found.values())), tuple(doubts))
