"""An index of merged pull requests with what they say that they revert, and the reverts among them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Generic

from impact.errors import attempt
from impact.history.mentions import Mention
from impact.history.merge_index import M, MergeIndex, build_numbered_title_key, build_title_key
from impact.history.merges import WrittenMerge
from impact.history.revert_claims import RevertClaim, parse_claim
from impact.history.reverts import Revert
from impact.text.description import extract_prose

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
