"""The commits of a branch, and the merged pull requests that their messages name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from bot.domain.errors import UsageError
from bot.domain.pull_requests.models import Account, ChangedFile, PullRequest, Repository

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
class Commit:
    """A commit of a branch and its changes against the first parent. The time is the committer's, in UTC."""

    sha: str
    committed_at: datetime
    author: str
    message: str
    files: tuple[ChangedFile, ...]


@dataclass(frozen=True, slots=True)
class BranchCommits:
    """The pull requests of a branch, oldest first, and its ``direct`` commits, which name none.

    Direct commits are represented as pull requests with negative numbers, so that their reverts are found in the
    same way.
    """

    pulls: tuple[PullRequest, ...]
    direct: tuple[PullRequest, ...]


class _MergeReference(NamedTuple):
    number: int
    title: str


def sort_commits(commits: Iterable[Commit], repository: Repository, branch: str) -> BranchCommits:
    """Separate merges of pull requests from direct commits; the first commit with a number is its merge."""
    pulls: dict[int, PullRequest] = {}
    direct: list[PullRequest] = []
    for commit in commits:
        reference = parse_merge_message(commit.message, repository)
        if reference is None or reference.number in pulls:
            title = commit.message.partition("\n")[0]
            direct.append(
                _build_pull_request(commit, _MergeReference(-1 - len(direct), title), repository, branch)
            )
        else:
            pulls[reference.number] = _build_pull_request(commit, reference, repository, branch)
    ordered = sorted(pulls.values(), key=lambda pull: (pull.merge_time, pull.number))
    return BranchCommits(tuple(ordered), tuple(direct))


def detect_repository(commits: Iterable[Commit]) -> Repository | None:
    """Return the repository that most reverts and merges name, None if it is not a valid one.

    It is for a clone whose origin is not on GitHub.
    """
    counts = Counter(
        match["repository"] for commit in commits if (match := _REPOSITORY_REFERENCE.search(commit.message))
    )
    for name, _ in counts.most_common(1):
        with suppress(UsageError):
            return Repository.parse(name)
    return None


def detect_reference(messages: Iterable[str]) -> Repository | None:
    """Return the repository whose pull requests most messages refer to, None if there is no valid one."""
    counts = Counter(name for message in messages for name in set(_REFERENCE.findall(message)))
    for name, _ in counts.most_common(1):
        with suppress(UsageError):
            return Repository.parse(name)
    return None


def parse_merge_message(message: str, repository: Repository) -> _MergeReference | None:
    """Return number and title of the pull request of ``repository`` that a commit message names as its merge."""
    subject, _, rest = message.partition("\n")
    title, mark, number = subject.rstrip().rpartition("(#")
    if squash := _SQUASH.fullmatch(mark + number):
        return _MergeReference(int(squash["number"]), title.strip())
    merge = _MERGE.fullmatch(subject.rstrip())
    # several numbers are a batch, whose parts can't be told apart
    if not merge or merge["rest"].startswith(" #"):
        return None
    # merged subtrees and forks name the repository of their origin
    if merge["place"] and merge["place"].casefold() != str(repository).casefold():
        return None
    return _MergeReference(int(merge["number"]), _parse_merged_title(merge["rest"], rest) or subject.strip())


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


def _build_pull_request(
    commit: Commit, reference: _MergeReference, repository: Repository, branch: str
) -> PullRequest:
    author = Account(commit.author)
    return PullRequest(
        repository=repository,
        number=reference.number,
        title=reference.title,
        # a clone has no descriptions; a squash commit has the messages of its branch instead
        body="",
        author=author,
        merged_by=author,
        merged_at=commit.committed_at,
        merge_commit=commit.sha,
        head_commit=commit.sha,
        additions=sum(file.additions for file in commit.files),
        deletions=sum(file.deletions for file in commit.files),
        changed_files=len(commit.files),
        base=branch,
        files=commit.files,
        commit_message=commit.message,
    )
