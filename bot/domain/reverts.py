"""Which pull requests take back another, as their titles and descriptions say it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from bot.domain.pulls import PullRequest

# what GitHub's "Revert" button and git write: the title, "Reverts owner/repo#N", "This reverts commit sha"
_TITLE = re.compile(r'^\W*(?:\[[^\]]*\]\W*)*Revert\s+["“](?P<title>.+)["”]\s*(?:\(#(?P<number>\d+)\))?', re.I)
_TITLE_NUMBER = re.compile(r"^\W*(?:\[[^\]]*\]\W*)*Revert\b[^#\"]*#(?P<number>\d+)", re.I)
_BODY_NUMBER = re.compile(r"^\s*(?:this\s+)?reverts?\s+(?:[\w.-]+/[\w.-]+)?#(?P<number>\d+)", re.I | re.M)
_BODY_COMMIT = re.compile(r"\breverts?\s+commit\s+(?P<sha>[0-9a-f]{7,40})", re.I)


@dataclass(frozen=True, slots=True)
class Revert:
    """``by`` takes back ``number``."""

    number: int
    by: int


def reverts_among(pulls: Iterable[PullRequest]) -> tuple[Revert, ...]:
    """The reverts of which both halves are among ``pulls``; a quoted number counts only if it is there."""
    known = tuple(pulls)
    found = [Revert(number, pull.number) for pull in known for number in sorted(_targets(pull, known))]
    return tuple(found)


def is_revert(pull: PullRequest) -> bool:
    """Whether the pull request says that it takes another back."""
    return bool(_TITLE.search(pull.title) or _TITLE_NUMBER.search(pull.title) or _BODY_COMMIT.search(pull.body))


def _targets(pull: PullRequest, known: tuple[PullRequest, ...]) -> set[int]:
    earlier = {other.number for other in known if other.merge_time < pull.merge_time}
    named = _by_number(pull) | _by_title(pull, known) | _by_commit(pull, known)
    return named & earlier


def _by_number(pull: PullRequest) -> set[int]:
    matches = [_TITLE.search(pull.title), _TITLE_NUMBER.search(pull.title), *_BODY_NUMBER.finditer(pull.body)]
    return {int(match["number"]) for match in matches if match and match["number"]}


def _by_title(pull: PullRequest, known: tuple[PullRequest, ...]) -> set[int]:
    found = _TITLE.search(pull.title)
    return {other.number for other in known if found and other.title.strip() == found["title"].strip()}


def _by_commit(pull: PullRequest, known: tuple[PullRequest, ...]) -> set[int]:
    shas = [found["sha"].lower() for found in _BODY_COMMIT.finditer(pull.body)]
    return {other.number for other in known if any((other.merge_commit or "").startswith(sha) for sha in shas)}
