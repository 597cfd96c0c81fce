"""Which pull requests take back another, as their titles and descriptions say it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from bot.domain.pulls import PullRequest
from bot.domain.texts import without_comments

# what GitHub's "Revert" button and git write: the title, "Reverts owner/repo#N", "This reverts commit sha".
# Each part of a pattern begins where the one before can't go on, so that no text makes the search slow.
_TAGS = r"^[^\w\[]*(?:\[[^\]]*\][^\w\[]*)*"
_NUMBER = r"#(?P<number>\d{1,9})(?!\d)"
_TITLE = re.compile(rf'{_TAGS}Revert\s+["“](?P<title>.+)["”]\s*(?:\({_NUMBER}\))?', re.I)
_TITLE_NUMBER = re.compile(rf"{_TAGS}Revert\b[^#\"]*{_NUMBER}", re.I)
_BODY_NUMBER = re.compile(
    rf"^[ \t]*(?:this[ \t]+)?reverts?[ \t]+(?P<repository>[\w.-]+/[\w.-]+)?{_NUMBER}", re.I | re.M
)
_BODY_COMMIT = re.compile(r"\breverts?\s+commit\s+(?P<sha>[0-9a-f]{7,40})", re.I)


# how long after some days what takes back of them is looked for: four of five reverts come within a week
WATCHED = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Revert:
    """``by`` takes back ``number``."""

    number: int
    by: int
    is_partial: bool = False


def reverts_among(pulls: Iterable[PullRequest]) -> tuple[Revert, ...]:
    """The reverts of which both halves are among ``pulls``; a quoted number counts only if it is there."""
    known = tuple(pulls)
    found = [Revert(number, pull.number) for pull in known for number in sorted(_targets(pull, known))]
    return tuple(found)


def with_pairs(numbers: Iterable[int], reverts: Iterable[Revert]) -> frozenset[int]:
    """The numbers with the other halves of their pairs, and with theirs: a revert may itself be taken back."""
    found, pairs = frozenset(numbers), [{revert.number, revert.by} for revert in reverts]
    while more := {number for pair in pairs if not found.isdisjoint(pair) for number in pair - found}:
        found |= more
    return found


def standing(reverts: Iterable[Revert], pulls: Iterable[PullRequest]) -> tuple[Revert, ...]:
    """The reverts that still hold: one that was itself reverted takes nothing back."""
    merged = {pull.number: (pull.merge_time, pull.number) for pull in pulls}
    held: list[Revert] = []
    gone: set[int] = set()
    for revert in sorted(reverts, key=lambda revert: merged[revert.by], reverse=True):
        if revert.by not in gone:
            gone.add(revert.number)
            held.append(revert)
    return tuple(held)


def is_revert(pull: PullRequest) -> bool:
    """Whether the pull request says that it takes another back."""
    says_so = _TITLE.search(pull.title) or _TITLE_NUMBER.search(pull.title)
    return bool(says_so or _commits(pull) or _by_number(pull))


def _targets(pull: PullRequest, known: tuple[PullRequest, ...]) -> set[int]:
    earlier = {other.number for other in known if other.merge_time < pull.merge_time}
    exact = (_by_number(pull) | _by_commit(pull, known)) & earlier
    # titles are not unique ("Bump version"): they count only where nothing more exact is said
    return exact or _by_title(pull, known) & earlier


def _by_number(pull: PullRequest) -> set[int]:
    own = str(pull.repository).lower()
    said = _BODY_NUMBER.finditer(without_comments(pull.body))
    in_body = [found for found in said if (found["repository"] or own).lower() == own]
    in_title = [_TITLE.search(pull.title), _TITLE_NUMBER.search(pull.title)]
    return {int(found["number"]) for found in (*in_title, *in_body) if found and found["number"]}


def _by_title(pull: PullRequest, known: tuple[PullRequest, ...]) -> set[int]:
    found = _TITLE.search(pull.title)
    return {other.number for other in known if found and other.title.strip() == found["title"].strip()}


def _by_commit(pull: PullRequest, known: tuple[PullRequest, ...]) -> set[int]:
    shas = tuple(_commits(pull))
    return {other.number for other in known if shas and (other.merge_commit or "").startswith(shas)}


def _commits(pull: PullRequest) -> list[str]:
    return [found["sha"].lower() for found in _BODY_COMMIT.finditer(without_comments(pull.body))]
