from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from itertools import islice
from operator import attrgetter
from typing import Generic, TypeVar

from impact.errors import attempt
from impact.history.mentions import Mention
from impact.history.merges import WrittenMerge

M = TypeVar("M", bound=WrittenMerge)

_OWN_NUMBER = re.compile(r"\s?\(#\d{1,9}\)\Z")
_MAX_NUMBER_LENGTH = 13  # characters that it matches
_QUOTES = str.maketrans({"\u201c": '"', "\u201d": '"', "\u2018": "'", "\u2019": "'", "`": None, "\\": None})
_MIN_HASH_LENGTH = 7
# characters: a truncated title identifies a change only if it is long enough
_MIN_BEGINNING_LENGTH = 30
_MAX_SAME_TITLE = 50


def build_title_key(title: str) -> str:
    """Return a key that is equal for equivalent titles, without the number that GitHub appends."""
    key = build_numbered_title_key(title)
    end = len(key)
    # from the end: a search from the front takes quadratic time for a row of numbers
    while match := _OWN_NUMBER.search(key, max(0, end - _MAX_NUMBER_LENGTH), end):
        end = match.start()
    return key[:end]


def build_numbered_title_key(title: str) -> str:
    """Return the key of :func:`build_title_key`, with the number."""
    return " ".join(title.translate(_QUOTES).split()).casefold()


def _list_keys(title: str) -> set[str]:
    return {build_title_key(title), build_numbered_title_key(title)}


class MergeIndex(Generic[M]):
    """An index of merges; it is built once, in linear time except for sorts."""

    def __init__(self, pulls: Iterable[M]) -> None:
        self.by_number = {pull.number: pull for pull in pulls}
        self._by_title: dict[str, list[M]] = defaultdict(list)
        self._by_commit: dict[str, list[M]] = defaultdict(list)
        for pull in sorted(self.by_number.values(), key=lambda pull: (pull.merge_time, pull.number)):
            for key in attempt(f"#{pull.number}", _list_keys, pull.title) or ():
                self._by_title[key].append(pull)
            if pull.merge_commit:
                self._by_commit[pull.merge_commit[:_MIN_HASH_LENGTH]].append(pull)
        self._titles = sorted(self._by_title)

    def find_mentioned(self, mention: Mention, by: WrittenMerge) -> M | None:
        """Return the pull request that ``by`` mentions if it is of the same repository and was merged before."""
        own = f"{by.web}/{by.repository}".casefold()
        if f"{mention.web or by.web}/{mention.repository or by.repository}".casefold() != own:
            return None
        pull = self.by_number.get(mention.number) if mention.number else self._find_by_commit(mention.commit)
        return pull if pull and pull.merge_time < by.merge_time else None

    def find_titled(self, title: str, by: WrittenMerge) -> tuple[M, ...]:
        """Return earlier merges of a title, oldest first; of a long one that is cut, the only one."""
        cut = title.rstrip()
        if cut.endswith(("…", "...")):
            return self._find_by_beginning(build_title_key(cut.rstrip(".…").rstrip(" (")), by)
        # a number at the end of a title may be part of it
        return self._list_before(build_numbered_title_key(title), by) or self._list_before(
            build_title_key(title), by
        )

    def _list_before(self, key: str, by: WrittenMerge) -> tuple[M, ...]:
        pulls = self._by_title.get(key, ())
        # a bot may use the same title very often: the last few are enough
        count = bisect_left(pulls, by.merge_time, key=attrgetter("merge_time"))
        return tuple(pulls[max(0, count - _MAX_SAME_TITLE) : count])

    def _find_by_beginning(self, key: str, by: WrittenMerge) -> tuple[M, ...]:
        if len(key) < _MIN_BEGINNING_LENGTH:
            return ()
        start = bisect_left(self._titles, key)
        titles = list(islice(self._titles, start, start + _MAX_SAME_TITLE))
        groups = [same for title in titles if title.startswith(key) and (same := self._list_before(title, by))]
        keys = {build_title_key(pulls[-1].title) for pulls in groups}
        return groups[0] if len(keys) == 1 else ()

    def _find_by_commit(self, commit: str) -> M | None:
        candidates = self._by_commit.get(commit[:_MIN_HASH_LENGTH], ())
        matches = [pull for pull in candidates if (pull.merge_commit or "").startswith(commit)]
        return matches[0] if len(matches) == 1 else None
