"""Which pull requests take back another, as their titles, descriptions and merge commits say it."""

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

# how long after some days what takes back of them is looked for: four of five reverts come within a week
WATCHED = timedelta(days=7)

_AND = re.compile(r"[\"\u201d],? (?:and|&) [\"\u201c]")
_LAST_NUMBER = re.compile(r"\(?#(?P<number>\d{1,9})\)?$")
# a change that was meant to go says so of itself
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
    """``by`` takes back ``number`` or, where ``is_partial``, a part of it."""

    number: int
    by: int
    is_partial: bool = False


def reverts_among(pulls: Iterable[PullRequest]) -> tuple[Revert, ...]:
    """The reverts of which both halves are among ``pulls``; a quoted number counts only if it is there.

    The end of a change that was planned to be temporary is none. The time taken is linear but for a sort.
    """
    known = tuple(pulls)
    earlier = Earlier(known)
    return tuple(revert for pull in known for revert in reverts_in(pull, earlier))


def reverts_in(pull: PullRequest, earlier: Earlier) -> tuple[Revert, ...]:
    """What one pull request takes back, by number."""
    claim = claim_of(pull)
    found: dict[int, bool] = {}
    for mention, is_partial in (*claim.named, *claim.perhaps):
        if named := earlier.named(mention, pull):
            found[named.number] = found.get(named.number, False) or is_partial
    for meant in _titled(claim.titles, pull, earlier, frozenset(found)):
        found.setdefault(meant.number, claim.is_partial)
    planned = {target.number for each in claim.planned if (target := earlier.named(each, pull))}
    return tuple(
        Revert(number, pull.number, found[number] or claim.is_partial)
        for number in sorted(found.keys() - planned)
        if not _was_meant_to_go(earlier.by_number[number])
    )


def with_pairs(numbers: Iterable[int], reverts: Iterable[Revert]) -> frozenset[int]:
    """The numbers with the other halves of their pairs, and with theirs: a revert may itself be taken back."""
    others: dict[int, list[int]] = {}
    for revert in reverts:
        others.setdefault(revert.number, []).append(revert.by)
        others.setdefault(revert.by, []).append(revert.number)
    found, new = set(numbers), list(numbers)
    while new:
        more = {other for number in new for other in others.get(number, ())} - found
        found |= more
        new = list(more)
    return frozenset(found)


def standing(reverts: Iterable[Revert], pulls: Iterable[PullRequest]) -> tuple[Revert, ...]:
    """The reverts that still hold, whole and partial: one that was itself reverted takes nothing back.

    One that was taken back only in part still holds.
    """
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
    """What is no longer there, of reverts that hold: what was taken back in part is."""
    return frozenset(revert.number for revert in held if not revert.is_partial)


def is_revert(pull: PullRequest) -> bool:
    """Whether the pull request says that it takes another back; of ``Revert "Revert …"`` that is true as well.

    Of what the messages of a branch's commits, put together, say of other commits it can't be known without these:
    :func:`reverts_among` finds what they take back.
    """
    claim = claim_of(pull)
    return bool(claim.named or claim.titles)


def _titled(
    titles: tuple[str, ...], by: PullRequest, earlier: Earlier, exact: frozenset[int]
) -> Iterator[PullRequest]:
    """What is meant by the first title that means something, or by its parts."""
    for title in titles:
        if target := _meant(title, by, earlier, exact):
            yield target
            return
    for part in _AND.split(titles[0]) if titles else ():
        if target := _meant(part, by, earlier, exact):
            yield target


def _meant(title: str, by: PullRequest, earlier: Earlier, exact: frozenset[int]) -> PullRequest | None:
    """Titles are not unique ("Bump version"): where something exact is said, only one that is."""
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
    """A revert was not: who takes it back lands again what was there."""
    says_so = _MEANT_TO_GO_TITLE.search(pull.title) or (
        _MAY_GO.search(pull.body) and _MEANT_TO_GO_BODY.search(prose(pull.body))
    )
    return bool(says_so) and not is_revert(pull)
