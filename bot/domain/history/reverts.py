"""Reverts: pull requests that undo another, according to their titles, descriptions and merge commits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from bot.domain.history.mentions import Mention
from bot.domain.history.merge_index import Earlier, title_key, with_number
from bot.domain.history.revert_claims import claim_of
from bot.domain.pull_requests.models import PullRequest
from bot.domain.text.description import prose

# how long reverts are looked for after a day: four of five come within a week
WATCHED = timedelta(days=7)

_AND = re.compile(r"[\"\u201d],? (?:and|&) [\"\u201c]")
_LAST_NUMBER = re.compile(r"\(?#(?P<number>\d{1,9})\)?$")
# the words of a temporary change about itself
_MEANT_TO_GO_TITLE = re.compile(
    r"\btemporarily\b|[\[(]\s*(?:temp|tmp|temporary)\s*[\])]|\btemporary\s+(?:fix|work-?around|pin|hack|patch|solution|"
    r"change|measure|skip|revert|mitigation|bump|disabl)|\bwork-?around\s+(?:until|till)\b|\bto be reverted\b",
    re.I,
)
_MEANT_TO_GO_BODY = re.compile(
    r"^(?:- )?temporarily\b|\bthis(?: PR| pull request| change| commit| patch)? (?:(?:is|was) (?:only |just )?"
    r"(?:meant to be )?(?:an? )?temporary\b|(?:only )?temporarily\b)|\bwork-?around (?:until|till)\b"
    r"|\bto be reverted (?:once|when|after|as soon|later|before|in|by)\b"
    r"|\b(?:will|should|must|shall)(?: be)? revert(?:ed| this| it)(?: back)? (?:once|when|after|as soon|later)\b",
    re.I | re.M,
)
_MAY_GO = re.compile(r"tempora|work-?around|revert", re.I)


@dataclass(frozen=True, slots=True)
class Revert:
    """A pair of pull requests: ``by`` reverts ``number`` or, if ``is_partial``, a part of it."""

    number: int
    by: int
    is_partial: bool = False


def reverts_among(pulls: Iterable[PullRequest]) -> tuple[Revert, ...]:
    """Return the reverts for which both pull requests are among ``pulls``; other quoted numbers do not count.

    The end of a temporary change is no revert. The time is linear except for a sort.
    """
    merged = tuple(pulls)
    earlier = Earlier(merged)
    return tuple(revert for pull in merged for revert in reverts_in(pull, earlier))


def reverts_in(pull: PullRequest, earlier: Earlier) -> tuple[Revert, ...]:
    """Return the reverts that one pull request makes, by number."""
    claim = claim_of(pull)
    partial_by_number: dict[int, bool] = {}
    for mention, is_partial in (*claim.named, *claim.perhaps):
        if target := earlier.named(mention, pull):
            partial_by_number[target.number] = partial_by_number.get(target.number, False) or is_partial
    for titled in _titled(claim.titles, pull, earlier, frozenset(partial_by_number)):
        partial_by_number.setdefault(titled.number, claim.is_partial)
    planned = {target.number for each in claim.planned if (target := earlier.named(each, pull))}
    return tuple(
        Revert(number, pull.number, partial_by_number[number] or claim.is_partial)
        for number in sorted(partial_by_number.keys() - planned)
        if not _was_meant_to_go(earlier.by_number[number])
    )


def with_pairs(numbers: Iterable[int], reverts: Iterable[Revert]) -> frozenset[int]:
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


def standing(reverts: Iterable[Revert], pulls: Iterable[PullRequest]) -> tuple[Revert, ...]:
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


def gone_of(held: Iterable[Revert]) -> frozenset[int]:
    """Return the numbers that are fully reverted, given the reverts that hold."""
    return frozenset(revert.number for revert in held if not revert.is_partial)


def is_revert(pull: PullRequest) -> bool:
    """Return whether the pull request says that it reverts another; ``Revert "Revert …"`` does too.

    References to other commits in the joined messages of a branch's commits are not considered, since they can't
    be judged without these commits: :func:`reverts_among` finds what they revert.
    """
    claim = claim_of(pull)
    return bool(claim.named or claim.titles)


def _titled(
    titles: tuple[str, ...], by: PullRequest, earlier: Earlier, exact: frozenset[int]
) -> Iterator[PullRequest]:
    """Yield the pull request meant by the first title that has a match, else by the parts of the first title."""
    for title in titles:
        if target := _meant(title, by, earlier, exact):
            yield target
            return
    for part in _AND.split(titles[0]) if titles else ():
        if target := _meant(part, by, earlier, exact):
            yield target


def _meant(title: str, by: PullRequest, earlier: Earlier, exact: frozenset[int]) -> PullRequest | None:
    """Return the pull request that a title means.

    Titles are not unique ("Bump version"): if there is an exact reference, the title must be unambiguous too.
    """
    like = earlier.titled(title, by)
    verbatim = [pull for pull in like if with_number(pull.title) == with_number(title)]
    number = _LAST_NUMBER.search(title)
    numbered = earlier.named(Mention(int(number["number"])), by) if number and not verbatim else None
    if not exact:
        return numbered or (like[-1] if like else None)
    if numbered:
        return numbered if title_key(numbered.title) == title_key(title) else None
    return like[0] if len(like) == 1 else None


def _was_meant_to_go(pull: PullRequest) -> bool:
    """Return whether a change calls itself temporary. A revert never counts: its revert is a reland."""
    says_so = _MEANT_TO_GO_TITLE.search(pull.title) or (
        _MAY_GO.search(pull.body) and _MEANT_TO_GO_BODY.search(prose(pull.body))
    )
    return bool(says_so) and not is_revert(pull)
