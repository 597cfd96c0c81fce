"""The merged pull requests that the messages of a branch's commits name, with the files of these commits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bot.platform.pulls.models import Account, ChangedFile, PullRequest
from impact.history.merges import ClonedMerge, sort_merges
from impact.repository import Repository
from impact.source.models import BlobChange, TreeCommit


@dataclass(frozen=True, slots=True)
class BranchCommits:
    """The pull requests of a branch, oldest first, and its ``direct`` commits, which name none.

    Direct commits are represented as pull requests with negative numbers, so that their reverts are found in the
    same way.
    """

    pulls: tuple[PullRequest, ...]
    direct: tuple[PullRequest, ...]


def sort_commits(commits: Iterable[TreeCommit], repository: Repository, branch: str) -> BranchCommits:
    """Separate merges of pull requests from direct commits; the first commit with a number is its merge."""
    listed = tuple(commits)
    by_text = {(commit.sha, commit.message): commit for commit in listed}
    merges = sort_merges(listed, repository)

    def build_pulls(sorted_merges: Iterable[ClonedMerge]) -> tuple[PullRequest, ...]:
        named = ((each, by_text[each.merge_commit, each.commit_message]) for each in sorted_merges)
        return tuple(_build_pull_request(merge, commit, branch) for merge, commit in named)

    return BranchCommits(build_pulls(merges.merges), build_pulls(merges.direct))


def _build_pull_request(merge: ClonedMerge, commit: TreeCommit, branch: str) -> PullRequest:
    author = Account(commit.author)
    files = tuple(map(_build_file, commit.changes))
    return PullRequest(
        repository=merge.repository,
        number=merge.number,
        title=merge.title,
        # a clone has no descriptions; a squash commit has the messages of its branch instead
        body="",
        author=author,
        merged_by=author,
        merged_at=commit.committed_at,
        merge_commit=commit.sha,
        head_commit=commit.sha,
        additions=sum(file.additions for file in files),
        deletions=sum(file.deletions for file in files),
        changed_files=len(files),
        base=branch,
        files=files,
        commit_message=commit.message,
    )


def _build_file(change: BlobChange) -> ChangedFile:
    """Return a changed file with its status in GitHub's words."""
    previous = change.old.path if change.old and change.new and change.old.path != change.path else None
    status = "renamed" if previous else "modified" if change.old and change.new else ""
    status = status or ("added" if change.new else "removed")
    return ChangedFile(change.path, status, change.added, change.deleted, None, previous)
