"""An index of merged pull requests by number, title and merge commit."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from itertools import islice

from bot.domain.history.mentions import Mention
from bot.domain.pull_requests.models import PullRequest

_OWN_NUMBER = re.compile(r"\s?\(#\d{1,9}\)\Z")
_LONGEST_NUMBER = 13  # characters that it matches
_QUOTES = str.maketrans({"\u201c": '"', "\u201d": '"', "\u2018": "'", "\u2019": "'", "`": None, "\\": None})
_SHORTEST_HASH = 7
# characters: a truncated title identifies a change only if it is long enough
_SHORTEST_BEGINNING = 30
_MOST_LIKE_IT = 50


def title_key(title: str) -> str:
    """Return a key that is equal for equivalent titles, without the number that GitHub appends."""
    key = with_number(title)
    end = len(key)
    # from the end: a search from the front takes quadratic time for a row of numbers
    while match := _OWN_NUMBER.search(key, max(0, end - _LONGEST_NUMBER), end):
        end = match.start()
    return key[:end]


def with_number(title: str) -> str:
    """Return the key of :func:`title_key`, with the number."""
    return " ".join(title.translate(_QUOTES).split()).casefold()


class Earlier:
    """An index of merges; it is built once, in linear time except for sorts."""

    def __init__(self, pulls: Iterable[PullRequest]) -> None:
        self.by_number = {pull.number: pull for pull in pulls}
        self._by_title: dict[str, list[PullRequest]] = defaultdict(list)
        self._by_commit: dict[str, list[PullRequest]] = defaultdict(list)
        for pull in sorted(self.by_number.values(), key=lambda pull: (pull.merge_time, pull.number)):
            for key in {title_key(pull.title), with_number(pull.title)}:
                self._by_title[key].append(pull)
            if pull.merge_commit:
                self._by_commit[pull.merge_commit[:_SHORTEST_HASH]].append(pull)
        self._titles = sorted(self._by_title)

    def named(self, mention: Mention, by: PullRequest) -> PullRequest | None:
        """Return the pull request that ``by`` mentions if it is of the same repository and was merged before."""
        own = f"{by.web}/{by.repository}".casefold()
        if f"{mention.web or by.web}/{mention.repository or by.repository}".casefold() != own:
            return None
        pull = self.by_number.get(mention.number) if mention.number else self._of_commit(mention.commit)
        return pull if pull and pull.merge_time < by.merge_time else None

    def titled(self, title: str, by: PullRequest) -> tuple[PullRequest, ...]:
        """Return the pull requests with this title that were merged before ``by``, oldest first.

        A long title that ends in an ellipsis stands for the only one with that beginning.
        """
        cut = title.rstrip()
        if cut.endswith(("…", "...")):
            return self._beginning(title_key(cut.rstrip(".…").rstrip(" (")), by)
        # a number at the end of a title may be part of it
        return self._before(with_number(title), by) or self._before(title_key(title), by)

    def _before(self, key: str, by: PullRequest) -> tuple[PullRequest, ...]:
        pulls = self._by_title.get(key, ())
        # a bot may use the same title very often: the last few are enough
        count = bisect_left(pulls, by.merge_time, key=_merge_time)
        return tuple(pulls[max(0, count - _MOST_LIKE_IT) : count])

    def _beginning(self, key: str, by: PullRequest) -> tuple[PullRequest, ...]:
        if len(key) < _SHORTEST_BEGINNING:
            return ()
        start = bisect_left(self._titles, key)
        titles = list(islice(self._titles, start, start + _MOST_LIKE_IT))
        groups = [same for title in titles if title.startswith(key) and (same := self._before(title, by))]
        keys = {title_key(pulls[-1].title) for pulls in groups}
        return groups[0] if len(keys) == 1 else ()

    def _of_commit(self, commit: str) -> PullRequest | None:
        candidates = self._by_commit.get(commit[:_SHORTEST_HASH], ())
        matches = [pull for pull in candidates if (pull.merge_commit or "").startswith(commit)]
        return matches[0] if len(matches) == 1 else None


def _merge_time(pull: PullRequest) -> datetime:
    return pull.merge_time
