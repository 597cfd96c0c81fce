"""The commits of a branch, and the merged pull requests that they say they are."""

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

# "Title (#7)" (GitHub); no number begins with 0
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
# what GitHub's "Revert" button writes, and merges that name their repository
_SPEAKS = re.compile(r"(?:^Reverts|\AMerge) (?P<repository>[\w.-]{1,100}/[\w.-]{1,100})#\d", re.M | re.A)


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of a branch with what it changed against its first parent; the time is the committer's, in UTC."""

    sha: str
    committed_at: datetime
    author: str
    message: str
    files: tuple[ChangedFile, ...]


@dataclass(frozen=True, slots=True)
class Merges:
    """The pull requests of a branch, oldest first, and its ``direct`` commits, which name none.

    Direct commits have the shape of pull requests, so that their reverts are found alike, and negative numbers.
    """

    pulls: tuple[PullRequest, ...]
    direct: tuple[PullRequest, ...]


class _Named(NamedTuple):
    number: int
    title: str


def merges_of(commits: Iterable[Commit], repository: Repository, branch: str) -> Merges:
    """Sort the commits of a branch; of several that name the same pull request the first is its merge."""
    pulls: dict[int, PullRequest] = {}
    direct: list[PullRequest] = []
    for commit in commits:
        named = named_in(commit.message, repository)
        if named is None or named.number in pulls:
            title = commit.message.partition("\n")[0]
            direct.append(_pull(commit, _Named(-1 - len(direct), title), repository, branch))
        else:
            pulls[named.number] = _pull(commit, named, repository, branch)
    ordered = sorted(pulls.values(), key=lambda pull: (pull.merge_time, pull.number))
    return Merges(tuple(ordered), tuple(direct))


def spoken_of(commits: Iterable[Commit]) -> Repository | None:
    """The repository that its own reverts and merges name, for a clone that came from elsewhere than GitHub."""
    counted = Counter(found["repository"] for each in commits if (found := _SPEAKS.search(each.message)))
    for name, _ in counted.most_common(1):
        with suppress(UsageError):
            return Repository.parse(name)
    return None


def named_in(message: str, repository: Repository) -> _Named | None:
    """Number and title of the pull request of ``repository`` whose merge a commit message tells of."""
    subject, _, rest = message.partition("\n")
    title, mark, number = subject.rstrip().rpartition("(#")
    if squash := _SQUASH.fullmatch(mark + number):
        return _Named(int(squash["number"]), title.strip())
    found = _MERGE.fullmatch(subject.rstrip())
    # several numbers are a batch, of which nobody can tell the parts
    if not found or found["rest"].startswith(" #"):
        return None
    # merged subtrees and forks name the repository that they come from
    if found["place"] and found["place"].casefold() != str(repository).casefold():
        return None
    return _Named(int(found["number"]), _merged_title(found["rest"], rest) or subject.strip())


def _merged_title(rest: str, body: str) -> str:
    if rest.startswith(":"):
        return rest[1:].strip()
    first = next((line.strip() for line in body.split("\n") if line.strip()), "")
    bors = _BORS_TITLE.fullmatch(first)
    return bors["title"] if bors else first


def _pull(commit: Commit, named: _Named, repository: Repository, branch: str) -> PullRequest:
    author = Account(commit.author)
    return PullRequest(
        repository=repository,
        number=named.number,
        title=named.title,
        # its description stands in no clone; a squash commit has the messages of its branch instead
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
