from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import quote, urlsplit

from bot.errors import PullRequestNotFound, UsageError
from impact.repository import GITHUB_WEB, Repository
from impact.text.strings import quote_input

# GitHub Enterprise Cloud with data residency has its pages at NAME.ghe.com and its API at api.NAME.ghe.com
_DATA_RESIDENCY_SUFFIX = ".ghe.com"


def derive_web_address(api: str) -> str:
    """Return the address of the web pages of the GitHub whose API is at ``api``.

    GitHub Enterprise Server has its API at ``/api/v3`` of the same host (docs.github.com, "Quickstart for GitHub
    REST API"). All other API addresses are taken for proxies of GitHub.com.
    """
    url = urlsplit(api)
    if (url.hostname or "").endswith(_DATA_RESIDENCY_SUFFIX):
        return f"https://{url.netloc.removeprefix('api.')}"
    if url.path.rstrip("/").endswith("/api/v3"):
        return f"{url.scheme}://{url.netloc}"
    return GITHUB_WEB


@dataclass(frozen=True, slots=True)
class Account:
    """A GitHub account. GitHub sends null for a deleted account, which it shows as ``ghost``."""

    login: str
    is_bot: bool = False

    def build_page_url(self, web: str) -> str:
        """Return the address of the account's page on the GitHub whose pages are at ``web``."""
        if not self.is_bot:
            return f"{web}/{self.login}"
        is_server = web != GITHUB_WEB and not web.endswith(_DATA_RESIDENCY_SUFFIX)
        return f"{web}/{'github-apps' if is_server else 'apps'}/{self.login}"


GHOST = Account("ghost")


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file of a pull request, as in GitHub's REST "files" response.

    ``patch`` is None where GitHub sends none: the file is binary, only renamed, empty, or too large. It is empty
    where no diff is available at all, as in sample data. ``unread`` is the number of changed lines that the
    patch lacks because it was truncated, or because the whole patch was unreadable.
    """

    path: str
    status: str
    additions: int
    deletions: int
    patch: str | None = None
    previous_path: str | None = None
    unread: int = 0

    def replace_patch(self, patch: str | None, unread: int) -> ChangedFile:
        return replace(self, patch=patch, unread=unread)

    @property
    def is_unreadable(self) -> bool:
        """Whether the patch was unreadable. Always false for a file whose patches are not loaded."""
        return self.patch is None and self.unread > 0

    @property
    def changed_lines(self) -> int:
        return self.additions + self.deletions


@dataclass(frozen=True, slots=True)
class LinkedIssue:
    """An issue of the same repository that a pull request says it closes."""

    number: int
    title: str


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request. Times are UTC. ``files`` is None until the files are loaded.

    ``changed_files`` is GitHub's count; the list of files stops at 3,000. ``commit_message`` is the full message
    of the merge commit, empty if it is unknown. ``default_branch`` is that of the repository, empty if the source
    does not say. ``web`` is the address of the GitHub's pages. ``linked_issues``
    are at most five; empty in what was stored before they were read.
    """

    repository: Repository
    number: int
    title: str
    body: str
    author: Account
    merged_by: Account
    merged_at: datetime | None
    merge_commit: str | None
    head_commit: str
    additions: int
    deletions: int
    changed_files: int
    state: str = "MERGED"
    base: str = ""
    default_branch: str = ""
    labels: tuple[str, ...] = ()
    files: tuple[ChangedFile, ...] | None = None
    commit_message: str = ""
    web: str = GITHUB_WEB
    linked_issues: tuple[LinkedIssue, ...] = ()

    @property
    def url(self) -> str:
        return self.build_sibling_url(self.number)

    def build_sibling_url(self, number: int) -> str:
        return f"{self.web}/{self.repository}/pull/{number}"

    @property
    def commit(self) -> str:
        """The commit for links to lines: the merge commit, or the head of an open pull request."""
        return self.merge_commit or self.head_commit

    @property
    def is_merged(self) -> bool:
        return self.merged_at is not None

    @property
    def merge_time(self) -> datetime:
        """The time of the merge. Raises ValueError if there was none; a day holds only merged ones."""
        if self.merged_at is None:
            raise ValueError(f"#{self.number} is not merged")
        return self.merged_at

    @property
    def other_branch(self) -> str:
        """The branch that it goes into if that is not the default one; empty otherwise, or where nobody knows."""
        return self.base if self.default_branch and self.base != self.default_branch else ""

    @property
    def changed_lines(self) -> int:
        return self.additions + self.deletions

    @property
    def largest_files(self) -> tuple[ChangedFile, ...]:
        """The files, most changed lines first; empty if the files are not loaded."""
        return tuple(sorted(self.files or (), key=lambda file: (-file.changed_lines, file.path)))

    def remove_patches(self) -> PullRequest:
        """Return a copy without the patches of its files, which are by far its largest part."""
        if self.files is None:
            return self
        return replace(self, files=tuple(replace(file, patch=None) for file in self.files))

    def build_line_url(self, path: str, line: int) -> str:
        """Return the address of a line of a file at :attr:`commit`; ``line`` starts at 1."""
        return f"{self.web}/{self.repository}/blob/{self.commit}/{quote(path)}#L{line}"


def sort_newest_first(pulls: tuple[PullRequest, ...]) -> tuple[PullRequest, ...]:
    """Sort by merge time, newest first; merges of the same second by number, highest first."""
    return tuple(sorted(pulls, key=lambda pull: (pull.merge_time, pull.number), reverse=True))


def remove_duplicates(pulls: Iterable[PullRequest]) -> tuple[PullRequest, ...]:
    """Remove duplicate numbers and sort newest first. The first of each number is kept.

    If the first has no files, it gets those of the next one that has them: recorded pull requests have files but
    only the beginning of the description, listed ones have the full description.
    """
    by_number: dict[int, PullRequest] = {}
    for pull in pulls:
        first = by_number.setdefault(pull.number, pull)
        if first.files is None and pull.files is not None:
            by_number[pull.number] = replace(first, files=pull.files)
    return sort_newest_first(tuple(by_number.values()))


# the numbers of a repository begin at 1
_DIGITS = r"(?!0+\b)(\d{1,9})"
_NUMBER = re.compile(rf"#?{_DIGITS}")
# as on pages that group digits: 35,617
_GROUPED_NUMBER = re.compile(r"#?[1-9]\d{0,2}(?:,\d{3}){1,2}")
_QUALIFIED = re.compile(rf"([\w.-]+/[\w.-]+)#{_DIGITS}")
NO_REPOSITORY = "No repository: pass --repo owner/name or set PRDIGEST_REPO."
_PAGE = re.compile(rf"/([\w.-]+/[\w.-]+)/pull/{_DIGITS}(?:[/?#].*)?")


@dataclass(frozen=True, slots=True)
class Reference:
    repository: Repository
    number: int

    def __str__(self) -> str:
        """Return ``owner/name#35617``."""
        return f"{self.repository}#{self.number}"

    def build_missing_error(self) -> PullRequestNotFound:
        return PullRequestNotFound(f"{self.repository} has no pull request #{self.number}.")


def parse_reference(text: str, default: Repository | None, web: str = GITHUB_WEB) -> Reference:
    """Parse a reference that a person entered; ``default`` is for a bare number. Raises UsageError."""
    trimmed = text.strip()
    qualified = _QUALIFIED.fullmatch(trimmed)
    if not qualified and trimmed.startswith(web):
        qualified = _PAGE.fullmatch(trimmed, len(web))
    if qualified:
        return Reference(Repository.parse(qualified[1]), int(qualified[2]))
    bare = _NUMBER.fullmatch(trimmed)
    if not bare:
        raise UsageError(
            f"I couldn't find a pull request number in {quote_input(text)}: write 35617, #35617, "
            "owner/repo#35617 or its web address."
        )
    if default is None:
        raise UsageError(NO_REPOSITORY)
    return Reference(default, int(bare[1]))


def ungroup_number(word: str) -> str:
    """Return ``35617`` for ``35,617``, and any other word as it is."""
    return word.replace(",", "") if _GROUPED_NUMBER.fullmatch(word) else word
