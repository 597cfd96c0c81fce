"""Where pull requests, discussions and releases come from: GitHub or a sample."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from bot.dates import LocalDay
from bot.platform.pulls.models import Account, PullRequest
from bot.text import format_count
from impact.contract.deprecations import Release
from impact.coverage import Coverage, CoveredPart
from impact.repository import GITHUB_WEB, Repository
from impact.text.strings import remove_comments

# --- discussions

# All of it is strangers' text: what people say, not what is so.

# a remark with nothing but a command to a bot, such as "/retest" or "@mergify rebase"
_COMMAND = re.compile(r"\s*(?:/[a-z][\w-]*|@[\w-]{1,39})(?:[ \t]+[\w/.:-]{1,60}){0,4}\s*", re.I)
_MAX_COMMAND_LENGTH = 120
# characters of the line above a text
_HEAD_LENGTH = 120


class Role(StrEnum):
    AUTHOR = "author"
    MEMBER = "member"
    BOT = "bot"
    OTHER = "not a member"


class RemarkKind(StrEnum):
    ISSUE = "issue"
    COMMENT = "comment"
    APPROVAL = "approving review"
    REFUSAL = "review that requests changes"
    REVIEW = "review"
    RESOLVED = "resolved thread"
    OPEN = "unresolved thread"


@dataclass(frozen=True, slots=True)
class Remark:
    """A text that somebody wrote about a pull request.

    ``anchor`` names it within the pull request: the end of its address (``issuecomment-12``), or ``issue-12``.
    ``path`` is the file of a thread. ``title`` and ``state`` are those of an issue. ``written_at`` is None if it
    is unknown.
    """

    anchor: str
    kind: RemarkKind
    author: Account
    role: Role
    written_at: datetime | None
    text: str
    path: str = ""
    title: str = ""
    state: str = ""

    @property
    def is_noise(self) -> bool:
        """Whether it is a bot's, a command to one, or says nothing. A verdict without words says something."""
        if self.kind is RemarkKind.ISSUE:
            return False
        if self.role is Role.BOT:
            return True
        text = remove_comments(self.text).strip()
        if not text:
            return self.kind not in (RemarkKind.APPROVAL, RemarkKind.REFUSAL)
        return len(text) <= _MAX_COMMAND_LENGTH and bool(_COMMAND.fullmatch(text))


@dataclass(frozen=True, slots=True)
class Discussion:
    """The remarks about a pull request, oldest first within each kind.

    ``unlisted`` is the number of comments, reviews and threads that were not requested, because they are too many.
    ``is_partial``: GitHub did not send all that was requested. ``web`` is the address of the GitHub's pages.
    """

    repository: Repository
    number: int
    title: str
    remarks: tuple[Remark, ...] = ()
    unlisted: int = 0
    is_partial: bool = False
    web: str = GITHUB_WEB

    @property
    def url(self) -> str:
        return f"{self.web}/{self.repository}/pull/{self.number}"

    def build_remark_url(self, remark: Remark) -> str:
        if remark.kind is RemarkKind.ISSUE:
            return f"{self.web}/{self.repository}/issues/{remark.anchor.removeprefix('issue-')}"
        return f"{self.url}#{remark.anchor}"

    @property
    def told(self) -> tuple[Remark, ...]:
        return tuple(remark for remark in self.remarks if not remark.is_noise)


def shorten_remarks(remarks: Iterable[Remark], most: int) -> tuple[Remark, ...]:
    """Return the newest remarks of ``most`` characters together; issues, members and the author go first."""
    listed = tuple(remarks)
    order = sorted(range(len(listed)), key=lambda place: (_rank(listed[place]), -place))
    chosen: set[int] = set()
    for place in order:
        most -= len(listed[place].text) + _HEAD_LENGTH
        if most < 0:
            break
        chosen.add(place)
    return tuple(remark for place, remark in enumerate(listed) if place in chosen)


def _rank(remark: Remark) -> int:
    if remark.kind is RemarkKind.ISSUE:
        return 0
    return 1 if remark.role in (Role.AUTHOR, Role.MEMBER) else 2


# --- sources

# 500 of GitHub's 5,000 calls an hour: enough for the digests of seven of the busiest days observed, or for a
# morning of commands
_RESERVED_SHARE = 0.1

# pull requests that a caveat names
_MAX_NUMBERS = 8


@dataclass(frozen=True, slots=True)
class RateAllowance:
    """``remaining`` of ``limit`` calls until ``resets_at`` (aware), when the full limit is available again."""

    remaining: int
    limit: int
    resets_at: datetime

    @property
    def is_short(self) -> bool:
        """Whether less than a tenth is left: the rest is reserved for requests that cannot wait."""
        return self.remaining < self.limit * _RESERVED_SHARE


@dataclass(frozen=True, slots=True)
class DayMerges:
    """The pull requests merged in a day, newest first, without files, and an independent count of them."""

    pulls: tuple[PullRequest, ...]
    count: CountCheck

    @property
    def coverage(self) -> Coverage:
        return self.count.cover(len(self.pulls))

    @property
    def caveat(self) -> str:
        """What may be missing from the list, as a clause; empty if nothing is."""
        return self.count.describe_caveats(len(self.pulls))


class PullRequests(Protocol):
    """Source of pull requests.

    Every method may raise RepositoryNotFound, GitHubAccessDenied, RateLimited, GitHubUnavailable, or
    ConfigurationError (a setting is wrong).
    """

    def list_merged(self, repository: Repository, day: LocalDay) -> DayMerges:
        """List all pull requests merged in the local day, without files. Raise DayUnavailable."""

    def fetch_pull_request(self, repository: Repository, number: int) -> PullRequest:
        """Fetch one pull request, without files. Raise PullRequestNotFound."""

    def load_files(self, pull: PullRequest) -> PullRequest:
        """Return the same pull request with its files and patches, in GitHub's order."""


class PullRequestBackground(Protocol):
    """Source of what stands around pull requests: what people wrote, and which one a commit came from.

    Both methods may raise what those of :class:`PullRequests` raise.
    """

    def fetch_discussion(self, repository: Repository, number: int) -> Discussion:
        """Fetch what people wrote about a pull request. Raises PullRequestNotFound, DiscussionUnavailable."""

    def find_merges(self, repository: Repository, commits: Sequence[str]) -> Mapping[str, PullRequest]:
        """Return the merged pull request of each commit, without files. One that is unknown is left out.

        ``commits`` are hashes or their beginnings, of at least seven digits.
        """


class Releases(Protocol):
    def list_releases(self, repository: Repository) -> Sequence[Release]:
        """Return the newest releases of a repository, oldest first, without drafts and release candidates.

        A tag that is nothing but a version counts as a release, too. Raises as :class:`PullRequests` does.
        """

    def find_commit(self, repository: Repository, tag: str) -> str:
        """Return the last merge of the default branch that a tag holds, as a full hash; empty without one.

        A tag of a release branch holds commits of its own, which are no merges. Raises as ``list_releases``.
        """


@dataclass(frozen=True, slots=True)
class CountCheck:
    """The number of merges by an independent source, None if it is unavailable, and the name of that source.

    ``unread`` records of GitHub's list are malformed and name no pull request or no merge time. Of those with the
    numbers ``incomplete`` GitHub left out facts, such as labels. Of the commits ``unlinked`` it does not say which
    pull requests they are of. ``note`` is a clause on why there is no count, if
    that is known.
    """

    counted: int | None
    source: str
    unread: int = 0
    note: str = ""
    incomplete: tuple[int, ...] = ()
    unlinked: tuple[str, ...] = ()

    def cover(self, listed: int) -> Coverage:
        """Return how much of a list is known to be there."""
        absent = max(0, (self.counted or 0) - listed, self.unread)
        reason = self.note or f"{self.source} gave none"
        return Coverage.of(
            CoveredPart("merges in GitHub's list", absent, listed + absent),
            CoveredPart("an independent count of the merges", int(self.counted is None), 0, reason),
            CoveredPart("merges' labels, author or commit", len(self.incomplete), listed, "GitHub left them out"),
        )

    def describe_caveats(self, listed: int) -> str:
        """Return as a clause how the counts differ, or that there is none; empty if they agree."""
        parts = []
        if self.counted is None:
            parts.append(self.note or f"count not checked: {self.source} gave no count")
        elif self.counted != listed:
            counted = format_count(self.counted, "merge")
            parts.append(f"possibly incomplete: {self.source} show {counted}, not {listed:,}")
        if self.unread:
            parts.append(f"{format_count(self.unread, 'merge')} in GitHub's list could not be read")
        if self.incomplete:
            numbers = _list_some([f"#{number}" for number in self.incomplete])
            parts.append(f"GitHub left out labels, author or commit of {numbers}, so a filter may miss them")
        if self.unlinked:
            commits = _list_some([commit[:10] for commit in self.unlinked])
            parts.append(f"GitHub does not say which pull request was merged as {commits}")
        return "; ".join(parts)


def _list_some(names: Sequence[str]) -> str:
    others = len(names) - _MAX_NUMBERS
    return ", ".join(names[:_MAX_NUMBERS]) + (f" and {others} more" if others > 0 else "")
