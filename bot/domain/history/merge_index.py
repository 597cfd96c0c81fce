"""Merged pull requests by what later ones call them: their number, their title, their merge commit."""

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
# a title that was cut names a change only where it says enough of it
_SHORTEST_BEGINNING = 30
_MOST_LIKE_IT = 50


def title_key(title: str) -> str:
    """The same for titles that people take for the same, without the number that GitHub puts behind one."""
    key = with_number(title)
    end = len(key)
    # from the end, where each can be: looked for from the front, a row of them takes the square of its length
    while found := _OWN_NUMBER.search(key, max(0, end - _LONGEST_NUMBER), end):
        end = found.start()
    return key[:end]


def with_number(title: str) -> str:
    """As :func:`title_key`, with the number."""
    return " ".join(title.translate(_QUOTES).split()).casefold()


class Earlier:
    """Looks up what was merged before; built once, in time linear but for sorts."""

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
        """What ``by`` mentions, if that is of its repository and was merged before it."""
        own = f"{by.web}/{by.repository}".casefold()
        if f"{mention.web or by.web}/{mention.repository or by.repository}".casefold() != own:
            return None
        found = self.by_number.get(mention.number) if mention.number else self._of_commit(mention.commit)
        return found if found and found.merge_time < by.merge_time else None

    def titled(self, title: str, by: PullRequest) -> tuple[PullRequest, ...]:
        """What was merged before ``by`` under this title, oldest first.

        A title that ends in an ellipsis stands for the only one that begins so, if it is long.
        """
        cut = title.rstrip()
        if cut.endswith(("…", "...")):
            return self._beginning(title_key(cut.rstrip(".…").rstrip(" (")), by)
        # a number behind a title may be part of it
        return self._before(with_number(title), by) or self._before(title_key(title), by)

    def _before(self, key: str, by: PullRequest) -> tuple[PullRequest, ...]:
        found = self._by_title.get(key, ())
        # many may have the title of a bot's: the last few are enough
        count = bisect_left(found, by.merge_time, key=_merge_time)
        return tuple(found[max(0, count - _MOST_LIKE_IT) : count])

    def _beginning(self, key: str, by: PullRequest) -> tuple[PullRequest, ...]:
        if len(key) < _SHORTEST_BEGINNING:
            return ()
        start = bisect_left(self._titles, key)
        like = list(islice(self._titles, start, start + _MOST_LIKE_IT))
        found = [pulls for title in like if title.startswith(key) and (pulls := self._before(title, by))]
        changes = {title_key(pulls[-1].title) for pulls in found}
        return found[0] if len(changes) == 1 else ()

    def _of_commit(self, commit: str) -> PullRequest | None:
        like = self._by_commit.get(commit[:_SHORTEST_HASH], ())
        found = [pull for pull in like if (pull.merge_commit or "").startswith(commit)]
        return found[0] if len(found) == 1 else None


def _merge_time(pull: PullRequest) -> datetime:
    return pull.merge_time
