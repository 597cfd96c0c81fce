"""Reverts: pull requests that undo another, according to their titles, descriptions and merge commits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from bot.domain.history.mentions import Mention
from bot.domain.history.merge_index import MergeIndex, build_numbered_title_key, build_title_key
from bot.domain.history.revert_claims import parse_claim
from bot.domain.pull_requests.models import PullRequest
from bot.domain.text.description import extract_prose

# how long reverts are looked for after a day: four of five come within a week
WATCH_WINDOW = timedelta(days=7)

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


@dataclass(frozen=True, slots=True)
class Revert:
    """A pair of pull requests: ``by`` reverts ``number`` or, if ``is_partial``, a part of it."""

    number: int
    by: int
    is_partial: bool = False


def find_reverts(pulls: Iterable[PullRequest]) -> tuple[Revert, ...]:
    """Return the reverts for which both pull requests are among ``pulls``; other quoted numbers do not count.

    The end of a temporary change is no revert. The time is linear except for a sort.
    """
    merged = tuple(pulls)
    earlier = MergeIndex(merged)
    return tuple(revert for pull in merged for revert in find_reverts_by(pull, earlier))


def find_reverts_by(pull: PullRequest, earlier: MergeIndex) -> tuple[Revert, ...]:
    """Return the reverts that one pull request makes, by number."""
    claim = parse_claim(pull)
    partial_by_number: dict[int, bool] = {}
    for mention, is_partial in (*claim.exact, *claim.possible):
        if target := earlier.find_mentioned(mention, pull):
            partial_by_number[target.number] = partial_by_number.get(target.number, False) or is_partial
    for titled in _find_titled(claim.titles, pull, earlier, frozenset(partial_by_number)):
        partial_by_number.setdefault(titled.number, claim.is_partial)
    planned = {target.number for each in claim.temporary if (target := earlier.find_mentioned(each, pull))}
    return tuple(
        Revert(number, pull.number, partial_by_number[number] or claim.is_partial)
        for number in sorted(partial_by_number.keys() - planned)
        if not _is_temporary(earlier.by_number[number])
    )


def expand_pairs(numbers: Iterable[int], reverts: Iterable[Revert]) -> frozenset[int]:
    """Return the numbers with those that reverted them or that they reverted, recursively."""
    others: dict[int, list[int]] = {}
    for revert in reverts:
        others.setdefault(revert.number, []).append(revert.by)
        others.setdefault(revert.by, []).append(revert.number)
    connected, new = set(numbers), list(numbers)
    while new:
        more = {other for number in new for other in others.get(number, ())} - connected
        connected |= more
        new = list(more)
    return frozenset(connected)


def select_standing(reverts: Iterable[Revert], pulls: Iterable[PullRequest]) -> tuple[Revert, ...]:
    """Return the full and partial reverts that still hold: those that were not fully reverted themselves."""
    merged = {pull.number: (pull.merge_time, pull.number) for pull in pulls}
    held: list[Revert] = []
    gone: set[int] = set()
    for revert in sorted(reverts, key=lambda revert: merged[revert.by], reverse=True):
        if revert.by not in gone:
            held.append(revert)
            if not revert.is_partial:
                gone.add(revert.number)
    return tuple(held)


def list_reverted_numbers(held: Iterable[Revert]) -> frozenset[int]:
    """Return the numbers that are fully reverted, given the reverts that hold."""
    return frozenset(revert.number for revert in held if not revert.is_partial)


def is_revert(pull: PullRequest) -> bool:
    """Return whether the pull request says that it reverts another; ``Revert "Revert …"`` does too.

    References to other commits in the joined messages of a branch's commits are not considered, since they can't
    be judged without these commits: :func:`reverts_among` finds what they revert.
    """
    claim = parse_claim(pull)
    return bool(claim.exact or claim.titles)


def _find_titled(
    titles: tuple[str, ...], by: PullRequest, earlier: MergeIndex, exact: frozenset[int]
) -> Iterator[PullRequest]:
    """Yield the pull request meant by the first title that has a match, else by the parts of the first title."""
    for title in titles:
        if target := _resolve_title(title, by, earlier, exact):
            yield target
            return
    for part in _TITLE_SEPARATOR.split(titles[0]) if titles else ():
        if target := _resolve_title(part, by, earlier, exact):
            yield target


def _resolve_title(title: str, by: PullRequest, earlier: MergeIndex, exact: frozenset[int]) -> PullRequest | None:
    """Return the pull request that a title means.

    Titles are not unique ("Bump version"): if there is an exact reference, the title must be unambiguous too.
    """
    like = earlier.find_titled(title, by)
    verbatim = [pull for pull in like if build_numbered_title_key(pull.title) == build_numbered_title_key(title)]
    number = _LAST_NUMBER.search(title)
    numbered = earlier.find_mentioned(Mention(int(number["number"])), by) if number and not verbatim else None
    if not exact:
        return numbered or (like[-1] if like else None)
    if numbered:
        return numbered if build_title_key(numbered.title) == build_title_key(title) else None
    return like[0] if len(like) == 1 else None


def _is_temporary(pull: PullRequest) -> bool:
    """Return whether a change calls itself temporary. A revert never counts: its revert is a reland."""
    says_so = _TEMPORARY_TITLE.search(pull.title) or (
        _TEMPORARY_HINT.search(pull.body) and _TEMPORARY_BODY.search(extract_prose(pull.body))
    )
    return bool(says_so) and not is_revert(pull)
