"""What other public downstreams of the same upstream did about a merge: how many run past it, who needed a change.

Their titles, paths and lines are a stranger's: shown as data, and never as a link or an instruction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from bot.platform.markdown import escape_line, write_address, write_code, write_fence
from bot.platform.pulls.models import PullRequest
from bot.platform.slack.blocks import Element, make_link, make_text
from bot.text import format_count
from impact.coverage import COMPLETE, Coverage, CoveredPart
from impact.history.causes import FollowingCommit, Response
from impact.repository import Repository
from impact.text.strings import collapse_lines, truncate_text

# commits that are named of a merge, and lines of an excerpt in a message
_MAX_COMMITS, MAX_LINES = 3, 4
_MAX_TITLE, _MAX_PATH = 100, 120
_HASH_LENGTH = 8
_WORDS = {
    Response.ADAPTED: "adapted to it",
    Response.FIXED: "fixed its code",
    Response.REVERTED: "reverted its change",
}


@dataclass(frozen=True, slots=True)
class SeenCommit:
    """A commit of another downstream about a merge, and when the bot read it first (UTC)."""

    followed: FollowingCommit
    seen_at: datetime


@dataclass(frozen=True, slots=True)
class OtherHistory:
    """What is known of a downstream. Times are in UTC.

    ``pin`` is what its tree pins, as it names that; ``pinned_at`` is when that was merged, None if nobody knows.
    ``problem`` is why it could not be read the last time, as a clause; what was read before stays.
    """

    repository: Repository
    read_at: datetime | None = None
    pin: str = ""
    pinned_at: datetime | None = None
    commits: tuple[SeenCommit, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class OtherCommit:
    """What one of them did about a merge. ``url`` is the page of its commit."""

    by: str
    url: str
    followed: FollowingCommit

    @property
    def label(self) -> str:
        return f"{self.by} {self.followed.commit[:_HASH_LENGTH]}"

    @property
    def words(self) -> str:
        return _WORDS[self.followed.response]


@dataclass(frozen=True, slots=True)
class OthersOfMerge:
    """What others did about one merge: the names of those that run past it, and the first commit of each.

    Of ``total`` downstreams, ``coverage`` says which were not read, or pin nothing that is known.
    """

    passed: tuple[str, ...] = ()
    commits: tuple[OtherCommit, ...] = ()
    total: int = 0
    coverage: Coverage = COMPLETE

    @property
    def is_telling(self) -> bool:
        return bool(self.passed or self.commits)


NO_OTHERS = OthersOfMerge()
NO_OTHERS_KNOWN: Mapping[int, OthersOfMerge] = MappingProxyType({})


def find_others(histories: Sequence[OtherHistory], pull: PullRequest) -> OthersOfMerge:
    """Return what others did about a merge into the default branch; nothing of another one."""
    if not histories or not pull.is_merged or pull.other_branch:
        return NO_OTHERS
    passed = (each for each in histories if each.pinned_at and each.pinned_at >= pull.merge_time)
    unread = [each for each in histories if each.problem or each.pinned_at is None]
    reason = next((each.problem for each in unread if each.problem), "they pin no merge that is known")
    part = CoveredPart("other downstreams", len(unread), len(histories), reason)
    commits = [
        OtherCommit(each.repository.name, f"{pull.web}/{each.repository}/commit/{first.commit}", first)
        for each in histories
        for first in [next((one.followed for one in each.commits if one.followed.number == pull.number), None)]
        if first
    ]
    commits.sort(key=lambda each: each.followed.at)
    names = tuple(each.repository.name for each in passed)
    return OthersOfMerge(names, tuple(commits), len(histories), Coverage.of(part) if unread else COMPLETE)


def find_all_others(histories: Sequence[OtherHistory], pulls: Iterable[PullRequest]) -> dict[int, OthersOfMerge]:
    """Return what others did about some merges, by number, without those of which nothing is known."""
    found_others = {pull.number: find_others(histories, pull) for pull in pulls} if histories else {}
    return {number: each for number, each in found_others.items() if each.is_telling}


def describe_others(others: OthersOfMerge) -> list[str]:
    """Return sentences: what was not read, then how many run past it, then what they changed."""
    if not others.total:
        return []
    told = " ".join(filter(None, [_explain_gaps(others), _count(others)]))
    return [f"Others: {told}", *map(_describe_commit, others.commits[:_MAX_COMMITS])]


def _explain_gaps(others: OthersOfMerge) -> str:
    return others.coverage.explain_gaps(is_empty=not others.is_telling)


def list_excerpts(others: OthersOfMerge) -> Iterator[str]:
    """Yield lines of the commits that changed something that the merge changed, each behind its commit."""
    for commit in others.commits[:_MAX_COMMITS]:
        yield from (f"{commit.label}: {line}" for line in commit.followed.excerpt)


def _count(others: OthersOfMerge) -> str:
    """Return ``2 of 3 downstreams run past it (alpha, beta), 1 needed a change.``; empty if nobody can tell."""
    if not (others.is_telling or others.coverage.is_complete):
        return ""
    runs = "runs" if len(others.passed) == 1 else "run"
    names = f" ({', '.join(others.passed)})" if others.passed else ""
    needed = f", {len(others.commits)} needed a change" if others.commits else ""
    return f"{len(others.passed)} of {format_count(others.total, 'downstream')} {runs} past it{names}{needed}."


def _describe_commit(commit: OtherCommit) -> str:
    followed = commit.followed
    place = f" in {truncate_text(collapse_lines(followed.path), _MAX_PATH)}" if followed.path else ""
    title = truncate_text(collapse_lines(followed.title), _MAX_TITLE)
    return f"{commit.label} of {followed.at:%Y-%m-%d} {commit.words}{place}: {title}"


def render_others(others: OthersOfMerge) -> Iterator[list[Element]]:
    """Yield lines: how many run past it, and the commits of those that needed a change, each as a link."""
    told = " ".join(filter(None, [_explain_gaps(others), _count(others)]))
    yield [make_text("Others: ", bold=True), make_text(told)]
    yield from map(render_other, others.commits[:_MAX_COMMITS])


def render_other(commit: OtherCommit) -> list[Element]:
    followed = commit.followed
    path = truncate_text(collapse_lines(followed.path), _MAX_PATH)
    title = truncate_text(collapse_lines(followed.title).replace("`", ""), _MAX_TITLE)
    return [
        make_link(commit.url, commit.label),
        make_text(f" {commit.words}"),
        *([make_text(" in "), make_text(path, code=True)] if path else []),
        *([make_text(f": {title}", italic=True)] if title else []),
    ]


def write_example(commit: OtherCommit) -> Iterator[str]:
    """Yield a commit as Markdown, with its excerpt in a fence that it can't end."""
    followed = commit.followed
    link = f"[{escape_line(commit.label)}]({write_address(commit.url)})"
    title = escape_line(truncate_text(collapse_lines(followed.title), _MAX_TITLE))
    yield f"- {link} {escape_line(commit.words)}: {title}"
    if followed.excerpt:
        yield f"    in {write_code(truncate_text(collapse_lines(followed.path), _MAX_PATH))}\n"
        yield write_fence("\n".join(followed.excerpt), "diff")
