"""An index of merged pull requests: their titles and commits, what they say that they revert, and the reverts."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from operator import attrgetter
from types import MappingProxyType
from typing import Generic, TypeVar

from impact.errors import attempt
from impact.history.mentions import Mention
from impact.history.merges import WrittenMerge
from impact.history.revert_claims import RevertClaim, parse_claim
from impact.history.reverts import Revert
from impact.text.description import extract_prose

M = TypeVar("M", bound=WrittenMerge)

_OWN_NUMBER = re.compile(r"\s?\(#\d{1,9}\)\Z")
_MAX_NUMBER_LENGTH = 13  # characters that it matches
_QUOTES = str.maketrans({"\u201c": '"', "\u201d": '"', "\u2018": "'", "\u2019": "'", "`": None, "\\": None})
_MIN_HASH_LENGTH = 7
# characters: a truncated title identifies a change only if it is long enough
_MIN_BEGINNING_LENGTH = 30
_MAX_SAME_TITLE = 50
_TITLE_SEPARATOR = re.compile(r"[\"\u201d],? (?:and|&) [\"\u201c]")
_LAST_NUMBER = re.compile(r"\(?#(?P<number>\d{1,9})\)?$")
# the words of a temporary change about itself
_TEMPORARY_TITLE = re.compile(
    r"\btemporarily\b|[\[(]\s*(?:temp|tmp|temporary)\s*[\])]|\btemporary\s+(?:fix|work-?around|pin|hack|patch|solution|"
    r"change|measure|skip|revert|mitigation|bump|disabl)|\bwork-?around\s+(?:until|till)\b|\bto be reverted\b",
    re.I,
)
_TEMPORARY_BODY = re.compile(
    r"^(?:- )?temporarily\b|\bthis(?: PR| pull request| change| commit| patch)? (?:(?:is|was) (?:only |just )?"
    r"(?:meant to be )?(?:an? )?temporary\b|(?:only )?temporarily\b)|\bwork-?around (?:until|till)\b"
    r"|\bto be reverted (?:once|when|after|as soon|later|before|in|by)\b"
    r"|\b(?:will|should|must|shall)(?: be)? revert(?:ed| this| it)(?: back)? (?:once|when|after|as soon|later)\b",
    re.I | re.M,
)
_TEMPORARY_HINT = re.compile(r"tempora|work-?around|revert", re.I)


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


class RevertIndex(Generic[M]):
    """An index of merges in which the texts of each are searched once for what it reverts.

    All that looks for reverts, relands and repairs among the same merges shares one index. It is built in linear
    time except for sorts. Pull requests keep the order in which they are passed.
    """

    def __init__(self, pulls: Iterable[M], claims: Mapping[int, RevertClaim] = MappingProxyType({})) -> None:
        """``claims`` are those of pull requests by number that are parsed already; the others are parsed."""
        self.merges = MergeIndex(pulls)
        by_number = self.merges.by_number
        self._claims = {
            n: claims.get(n) or attempt(f"#{n}", parse_claim, each) or RevertClaim()
            for n, each in by_number.items()
        }
        self._by = {n: attempt(f"#{n}", self._find_reverts_by, pull) or () for n, pull in by_number.items()}

    @property
    def reverts(self) -> tuple[Revert, ...]:
        """The reverts within the index: not other quoted numbers, nor the end of a temporary change."""
        return tuple(revert for reverts in self._by.values() for revert in reverts)

    @property
    def claims(self) -> Mapping[int, RevertClaim]:
        return self._claims

    def is_revert(self, number: int) -> bool:
        """Return whether a pull request of the index says that it reverts another. Raise KeyError for others."""
        return self._claims[number].is_revert

    def list_reverts_by(self, number: int) -> tuple[Revert, ...]:
        """Return the reverts that a pull request of the index makes, by number. Raise KeyError for others."""
        return self._by[number]

    def select(self, numbers: Iterable[int]) -> RevertIndex[M]:
        """Return the index of some of the merges; no text is parsed again."""
        return RevertIndex([self.merges.by_number[number] for number in numbers], self._claims)

    def _find_reverts_by(self, pull: M) -> tuple[Revert, ...]:
        claim, merges = self._claims[pull.number], self.merges
        partial_by_number: dict[int, bool] = {}
        for mention, is_partial in (*claim.exact, *claim.possible):
            if target := merges.find_mentioned(mention, pull):
                partial_by_number[target.number] = partial_by_number.get(target.number, False) or is_partial
        for titled in _find_titled(claim.titles, pull, merges, frozenset(partial_by_number)):
            partial_by_number.setdefault(titled.number, claim.is_partial)
        planned = {target.number for each in claim.planned if (target := merges.find_mentioned(each, pull))}
        return tuple(
            Revert(number, pull.number, partial_by_number[number] or claim.is_partial)
            for number in sorted(partial_by_number.keys() - planned)
            if not self._is_temporary(number)
        )

    def _is_temporary(self, number: int) -> bool:
        """Return whether a change calls itself temporary. A revert never counts: its revert is a reland."""
        pull = self.merges.by_number[number]
        says_so = _TEMPORARY_TITLE.search(pull.title) or (
            _TEMPORARY_HINT.search(pull.body) and _TEMPORARY_BODY.search(extract_prose(pull.body))
        )
        return bool(says_so) and not self.is_revert(number)


def _find_titled(
    titles: tuple[str, ...], by: WrittenMerge, earlier: MergeIndex[M], exact: frozenset[int]
) -> Iterator[M]:
    """Yield the pull request meant by the first title that has a match, else by the parts of the first title."""
    for title in titles:
        if target := _resolve_title(title, by, earlier, exact):
            yield target
            return
    for part in _TITLE_SEPARATOR.split(titles[0]) if titles else ():
        if target := _resolve_title(part, by, earlier, exact):
            yield target


def _resolve_title(title: str, by: WrittenMerge, earlier: MergeIndex[M], exact: frozenset[int]) -> M | None:
    """Return the pull request that a title means."""
    # titles are not unique ("Bump version"): if there is an exact reference, the title must be unambiguous too
    like = earlier.find_titled(title, by)
    verbatim = [pull for pull in like if build_numbered_title_key(pull.title) == build_numbered_title_key(title)]
    number = _LAST_NUMBER.search(title)
    numbered = earlier.find_mentioned(Mention(int(number["number"])), by) if number and not verbatim else None
    if not exact:
        return numbered or (like[-1] if like else None)
    if numbered:
        return numbered if build_title_key(numbered.title) == build_title_key(title) else None
    return like[0] if len(like) == 1 else None
