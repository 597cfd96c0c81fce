"""Merged pull requests as far as their texts are read, and what the messages of commits say of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from impact.errors import UsageError, attempt
from impact.repository import GITHUB_WEB, Repository
from impact.source.models import TreeCommit


class WrittenMerge(Protocol):
    """A merged pull request: one of GitHub, or what a commit of a clone says of it.

    ``merge_time`` is in UTC. ``commit_message`` is the full message of the merge commit, empty if it is unknown.
    ``web`` is the address of the GitHub's pages.
    """

    @property
    def repository(self) -> Repository: ...
    @property
    def number(self) -> int: ...
    @property
    def title(self) -> str: ...
    @property
    def body(self) -> str: ...
    @property
    def commit_message(self) -> str: ...
    @property
    def merge_commit(self) -> str | None: ...
    @property
    def merge_time(self) -> datetime: ...
    @property
    def web(self) -> str: ...


@dataclass(frozen=True, slots=True)
class ClonedMerge:
    """A merge as its commit says, with a negative number if it names none. A squash has its branch's messages."""

    repository: Repository
    number: int
    title: str
    commit_message: str
    merge_commit: str
    merge_time: datetime
    body: str = ""
    web: str = GITHUB_WEB


# "Title (#7)" (GitHub); numbers do not begin with 0
_SQUASH = re.compile(r"\(#(?P<number>[1-9]\d{0,8})\)", re.A)
# "Merge pull request #7 from owner/branch" (GitHub), "Merge #7" and "Merge #7: title" (bors, and people),
# "Auto merge of #7 - owner:branch, r=reviewer" (homu), "Merge owner/name#7: title" (scripts such as Bitcoin's),
# and that of Azure, "Merged PR 7: title"
_MERGE = re.compile(
    r"(?:Merge (?:(?:pull request|PR) |(?P<place>[\w.-]{1,100}/[\w.-]{1,100}))?#|Auto merge of #|Merged PR )"
    r"(?P<number>[1-9]\d{0,8})(?!\d)(?P<rest>.*)",
    re.A,
)
_BORS_TITLE = re.compile(r"\d{1,9}: (?P<title>.*?)(?: r=\S.*)?")
_PERSON_TRAILER = re.compile(r"(?:Co-authored|Signed-off|Reviewed|Acked|Tested)-by: ", re.I)
# the text of GitHub's "Revert" button, and merges that name their repository
_REPOSITORY_REFERENCE = re.compile(
    r"(?:^Reverts|\AMerge) (?P<repository>[\w.-]{1,100}/[\w.-]{1,100})#\d", re.M | re.A
)

# "owner/name#7" and the address of a pull request
_REFERENCE = re.compile(r"(?<![\w.-])([\w.-]{1,100}/[\w.-]{1,100})(?:#|/pull/)[1-9]", re.A)


@dataclass(frozen=True, slots=True)
class BranchMerges:
    """The merges of a branch, and its ``direct`` commits, whose negative numbers make reverts found alike."""

    merges: tuple[ClonedMerge, ...]
    direct: tuple[ClonedMerge, ...]


def sort_merges(commits: Iterable[TreeCommit], repository: Repository) -> BranchMerges:
    """Separate merges of pull requests from direct commits; the first commit with a number is its merge."""
    merges: dict[int, ClonedMerge] = {}
    direct: list[ClonedMerge] = []
    for commit in commits:
        reference = attempt(commit.sha, parse_merge_message, commit.message, repository)
        number, title = reference or (0, "")
        if not number or number in merges:
            number, title = -1 - len(direct), commit.message.partition("\n")[0]
        merge = ClonedMerge(repository, number, title, commit.message, commit.sha, commit.committed_at)
        if number < 0:
            direct.append(merge)
        else:
            merges[number] = merge
    ordered = sorted(merges.values(), key=lambda merge: (merge.merge_time, merge.number))
    return BranchMerges(tuple(ordered), tuple(direct))


def detect_repository(messages: Iterable[str]) -> Repository | None:
    """Return the repository that most reverts and merges name, for a clone of no GitHub origin."""
    matches = map(_REPOSITORY_REFERENCE.search, messages)
    return _parse_most_common(match["repository"] for match in matches if match)


def detect_reference(messages: Iterable[str]) -> Repository | None:
    """Return the repository whose pull requests most messages refer to, None if there is no valid one."""
    return _parse_most_common(name for message in messages for name in set(_REFERENCE.findall(message)))


def _parse_most_common(names: Iterable[str]) -> Repository | None:
    for name, _ in Counter(names).most_common(1):
        with suppress(UsageError):
            return Repository.parse(name)
    return None


def parse_merge_message(message: str, repository: Repository) -> tuple[int, str] | None:
    """Return number and title of the pull request of ``repository`` that a commit message names as its merge."""
    subject, _, rest = message.partition("\n")
    title, mark, number = subject.rstrip().rpartition("(#")
    if squash := _SQUASH.fullmatch(mark + number):
        return int(squash["number"]), title.strip()
    merge = _MERGE.fullmatch(subject.rstrip())
    # several numbers are a batch, whose parts can't be told apart
    if not merge or merge["rest"].startswith(" #"):
        return None
    # merged subtrees and forks name the repository of their origin
    if merge["place"] and merge["place"].casefold() != str(repository).casefold():
        return None
    return int(merge["number"]), _parse_merged_title(merge["rest"], rest) or subject.strip()


def extract_description(message: str) -> str:
    """Return what a merge's message says besides its title, without the lines that name people.

    GitHub puts the description of a squashed pull request there, or the messages of its branch; a merge commit
    has the title in its body.
    """
    subject, _, rest = message.partition("\n")
    if _MERGE.fullmatch(subject.rstrip()):
        rest = rest.lstrip().partition("\n")[2]
    return "\n".join(line for line in rest.split("\n") if not _PERSON_TRAILER.match(line)).strip()


def _parse_merged_title(rest: str, body: str) -> str:
    if rest.startswith(":"):
        return rest[1:].strip()
    first = next((line.strip() for line in body.split("\n") if line.strip()), "")
    bors = _BORS_TITLE.fullmatch(first)
    return bors["title"] if bors else first
