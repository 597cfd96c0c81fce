"""Pull requests and the accounts, files and repositories they speak of."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import quote, urlsplit

from bot.domain.errors import UsageError
from bot.domain.text.strings import quoted

GITHUB = "https://github.com"
# GitHub's own rule for names: letters, digits, '-', '_', '.', never just dots, and owners without '.'. Accounts of
# people whom an enterprise manages end with '_' and its short name (docs.github.com, "Username considerations")
_REPOSITORY = re.compile(r"(?P<owner>[A-Za-z0-9][A-Za-z0-9_-]*)/(?P<name>(?!\.{1,2}$)[A-Za-z0-9._-]{1,100})")
# GitHub Enterprise Cloud with data residency has its pages at NAME.ghe.com and its interface at api.NAME.ghe.com
_RESIDENT = ".ghe.com"


def web_address(api: str) -> str:
    """Where the pages are of the GitHub that has its interface at ``api``.

    GitHub Enterprise Server has it at ``/api/v3`` of the same host (docs.github.com, "Quickstart for GitHub REST
    API"). Whatever else stands in front of an interface, the pages are those of GitHub.com.
    """
    asked = urlsplit(api)
    if (asked.hostname or "").endswith(_RESIDENT):
        return f"https://{asked.netloc.removeprefix('api.')}"
    if asked.path.rstrip("/").endswith("/api/v3"):
        return f"{asked.scheme}://{asked.netloc}"
    return GITHUB


@dataclass(frozen=True, slots=True)
class Repository:
    """A GitHub repository, ``owner/name``."""

    owner: str
    name: str

    @classmethod
    def parse(cls, text: str, web: str = GITHUB) -> Repository:
        """Read ``owner/name``, also from a pasted address of the GitHub whose pages are at ``web``.

        Raises:
            UsageError: the text is neither.
        """
        trimmed = text.strip().removeprefix(f"{web}/").removesuffix("/").removesuffix(".git")
        found = _REPOSITORY.fullmatch(trimmed)
        if not found:
            raise UsageError(
                f"{quoted(text)} is no repository: write it as owner/name, such as vllm-project/vllm."
            )
        return cls(found["owner"], found["name"])

    def __str__(self) -> str:
        return f"{self.owner}/{self.name}"


@dataclass(frozen=True, slots=True)
class Account:
    """Who did something. GitHub gives a deleted account as nothing; it shows it as ``ghost``."""

    login: str
    is_bot: bool = False

    def page(self, web: str) -> str:
        """Its address at the GitHub whose pages are at ``web``."""
        if not self.is_bot:
            return f"{web}/{self.login}"
        is_server = web != GITHUB and not web.endswith(_RESIDENT)
        return f"{web}/{'github-apps' if is_server else 'apps'}/{self.login}"


GHOST = Account("ghost")


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file of a pull request, as GitHub's REST "files" call gives it.

    ``patch`` is None where GitHub sends none: binary, only renamed, empty, or too large. It is empty where no diff
    is to be had at all, as in a sample of facts. ``unread`` are the changed lines that it lacks because it was cut
    when it was read; of a file that has no patch, because that could not be read.
    """

    path: str
    status: str
    additions: int
    deletions: int
    patch: str | None = None
    previous_path: str | None = None
    unread: int = 0

    def with_patch(self, patch: str | None, unread: int) -> ChangedFile:
        """The same with a patch, of which so many changed lines could not be read."""
        return replace(self, patch=patch, unread=unread)

    @property
    def is_odd(self) -> bool:
        """Whether there is a patch, and it can't be read. Not known of one without patches."""
        return self.patch is None and self.unread > 0

    @property
    def changed_lines(self) -> int:
        return self.additions + self.deletions


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request. Times are UTC. ``files`` is None until they were loaded.

    ``changed_files`` is GitHub's count; the list of files stops at 3,000. ``commit_message`` is that of the merge
    commit, subject and all; empty where it is not known. ``web`` is where its GitHub has its pages.
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
    labels: tuple[str, ...] = ()
    files: tuple[ChangedFile, ...] | None = None
    commit_message: str = ""
    web: str = GITHUB

    @property
    def url(self) -> str:
        return self.sibling_url(self.number)

    def sibling_url(self, number: int) -> str:
        """Address of another pull request of its repository."""
        return f"{self.web}/{self.repository}/pull/{number}"

    @property
    def commit(self) -> str:
        """The commit that a link to a line refers to: the merge, or the head while it is open."""
        return self.merge_commit or self.head_commit

    @property
    def is_merged(self) -> bool:
        return self.merged_at is not None

    @property
    def merge_time(self) -> datetime:
        """The time of the merge.

        Raises:
            ValueError: the pull request is not merged; a day holds only merged ones.
        """
        if self.merged_at is None:
            raise ValueError(f"#{self.number} is not merged")
        return self.merged_at

    @property
    def changed_lines(self) -> int:
        return self.additions + self.deletions

    @property
    def largest_files(self) -> tuple[ChangedFile, ...]:
        """The files with the most changed lines first; none where they were not loaded."""
        return tuple(sorted(self.files or (), key=lambda file: (-file.changed_lines, file.path)))

    def without_patches(self) -> PullRequest:
        """The same less the patches of its files, by far the largest part."""
        if self.files is None:
            return self
        return replace(self, files=tuple(replace(file, patch=None) for file in self.files))

    def line_url(self, path: str, line: int) -> str:
        """Address of a line of a file at :attr:`commit`; ``line`` counts from 1."""
        return f"{self.web}/{self.repository}/blob/{self.commit}/{quote(path)}#L{line}"


def newest_first(pulls: tuple[PullRequest, ...]) -> tuple[PullRequest, ...]:
    """By merge time, newest first; merges within one second by number, highest first."""
    return tuple(sorted(pulls, key=lambda pull: (pull.merge_time, pull.number), reverse=True))


def each_once(pulls: Iterable[PullRequest]) -> tuple[PullRequest, ...]:
    """Newest first; of several that have one number the first, with the files of the first that has them.

    What was recorded has files, and only the beginning of its description: who lists it has the whole.
    """
    found: dict[int, PullRequest] = {}
    for pull in pulls:
        first = found.setdefault(pull.number, pull)
        if first.files is None and pull.files is not None:
            found[pull.number] = replace(first, files=pull.files)
    return newest_first(tuple(found.values()))
