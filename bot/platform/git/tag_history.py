"""Which tags hold a commit, and which copies of it were made for them: from all commits, without any file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.errors import SourceUnavailable
from bot.platform.cleaning import clean_hash, clean_line, clean_title
from bot.platform.git.folder import BRANCH, GitFailure
from bot.platform.git.mirror import GitMirror
from bot.platform.git.reading import MirrorReader, build_revision, read_output
from impact.git.clone_trees import parse_instant
from impact.repository import Repository
from impact.text.strings import remove_invisible

# git's status for "no" to a question
_NO = 1
# copies of one merge that are looked at: a project has few branches of releases
_MAX_COPIES = 20
# what `git cherry-pick -x` writes; people write fewer digits
_PICKED = re.compile(r"cherry[- ]picked from commit ([0-9a-f]{7,40})", re.I)
_NUMBER = re.compile(r"\s{0,3}\(#\d{1,9}\)")
# tags of builds and candidates are no releases
_RELEASE = re.compile(r"v?\d{1,4}(?:\.\d{1,6}){1,3}(?:\.?post\d{1,6})?", re.A)
_CANDIDATE = re.compile(
    rf"(?P<of>{_RELEASE.pattern})[-_.]?(?:rc|a|b|alpha|beta|dev|pre)[-_.]?\d{{0,4}}", re.A | re.I
)
# the numbers at the end of a subject: a copy has that of its own pull request behind that of the merge
_DIGITS = re.compile(r"\d{1,9}")
_NUMBERS = re.compile(r"(?:\s{0,3}\(#\d{1,9}\)){1,3}\s{0,3}\Z")


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag, when it was made, or else its commit (UTC), and the hash of that commit."""

    name: str
    at: datetime
    commit: str = ""

    @property
    def is_release(self) -> bool:
        return _RELEASE.fullmatch(self.name) is not None

    @property
    def is_candidate(self) -> bool:
        return _CANDIDATE.fullmatch(self.name) is not None

    @property
    def version(self) -> str:
        """The release that it is, or is a candidate of."""
        match = _CANDIDATE.fullmatch(self.name)
        return match["of"] if match else self.name


@dataclass(frozen=True, slots=True)
class CommitWay:
    """The commits of the default branch on the way to a tag, and the numbers that those outside of it copy.

    Each commit has the number of the pull request that its subject names, 0 without one.
    """

    commits: Mapping[str, int]
    copied: frozenset[int] = frozenset()

    def has_merge(self, commit: str, number: int) -> bool:
        return commit in self.commits or number in self.copied


@dataclass(frozen=True, slots=True)
class CommitCopy:
    """A commit outside of the default branch that says of which one it is a copy, and the tags that hold it."""

    commit: str
    title: str
    tags: tuple[Tag, ...]


class TagHistory(Protocol):
    """The commits of repositories and their tags. Each method raises SourceUnavailable or MirrorUnavailable."""

    def update(self, repository: Repository) -> None: ...

    def list_tags(self, repository: Repository, commit: str = "") -> tuple[Tag, ...]:
        """Return the tags that hold a commit, or all, oldest first."""

    def list_way(self, repository: Repository, start: str, end: str) -> CommitWay:
        """Return the commits that one commit holds and another one does not, without those of merged branches."""

    def is_part(self, repository: Repository, commit: str, of: str) -> bool:
        """Return whether a commit is in the history of another one."""

    def find_copies(self, repository: Repository, commit: str, number: int, title: str) -> tuple[CommitCopy, ...]:
        """Return the copies of a merge in tags, by the commit, the number or the title that they name."""


@dataclass(frozen=True)
class GitTagHistory:
    """``TagHistory`` of a mirror of all commits, without files."""

    mirror: GitMirror
    reader: MirrorReader

    def update(self, repository: Repository) -> None:
        self.mirror.update(repository)

    def list_tags(self, repository: Repository, commit: str = "") -> tuple[Tag, ...]:
        holds = (f"--contains={build_revision(commit)}",) if commit else ()
        shown = "--format=%(creatordate:unix)%00%(objectname)%00%(*objectname)%00%(refname:lstrip=2)"
        arguments = ("for-each-ref", *holds, "--sort=creatordate", shown, "refs/tags")
        with self.reader.open_command(repository, *arguments) as process:
            output, is_whole = read_output(process)
        if not is_whole:
            raise SourceUnavailable(f"{repository} has too many tags.")
        # a name holds no line feed, but perhaps what Unicode calls the end of a line
        rows = (line.split("\0", 3) for line in output.decode("utf-8", "replace").split("\n") if line)
        return tuple(
            Tag(remove_invisible(clean_line(name)), parse_instant(at), inner or sha)
            for at, sha, inner, name in rows
        )

    def list_way(self, repository: Repository, start: str, end: str) -> CommitWay:
        own = (f"^{build_revision(start)}", build_revision(end))
        every = self._list_numbers(repository, *own)
        copies = self._list_numbers(repository, *own, f"^{BRANCH}")
        return CommitWay(
            {sha: max(numbers[-1:], default=0) for sha, numbers in every.items() if sha not in copies},
            frozenset(number for numbers in copies.values() for number in numbers),
        )

    def _list_numbers(self, repository: Repository, *revisions: str) -> dict[str, list[int]]:
        """Return the numbers at the end of the subjects of commits, which a revert has only in its quotes."""
        arguments = ("log", "--first-parent", "--format=%H%x00%s", *revisions, "--")
        with self.reader.open_command(repository, *arguments) as process:
            output, is_whole = read_output(process)
        if not is_whole:
            raise SourceUnavailable(f"{repository} has too many commits on that way.")
        rows = (line.partition("\0") for line in output.decode("utf-8", "replace").split("\n") if line)
        ends = ((sha, _NUMBERS.search(subject)) for sha, _, subject in rows)
        return {sha: [int(each) for each in _DIGITS.findall(end[0])] if end else [] for sha, end in ends}

    def is_part(self, repository: Repository, commit: str, of: str) -> bool:
        arguments = ("merge-base", "--is-ancestor", build_revision(commit), build_revision(of))
        with self.reader.open_command(repository, *arguments) as process:
            try:
                process.require_success()
            except GitFailure as failure:
                if failure.status != _NO or failure.stderr:
                    raise
                return False
        return True

    def find_copies(self, repository: Repository, commit: str, number: int, title: str) -> tuple[CommitCopy, ...]:
        plain = _NUMBER.sub("", title).strip()
        # a title of two words may be another change's
        patterns = [f"(#{number})", commit[:7], *([plain] if plain.count(" ") > 2 else [])]
        named, most = (f"--grep={each}" for each in patterns), f"--max-count={_MAX_COPIES}"
        shown = "--format=%H%x00%s%x00%b%x01"
        arguments = ("log", "--tags", "--not", BRANCH, "-F", *named, shown, most, "--")
        with self.reader.open_command(repository, *arguments) as process:
            output, is_whole = read_output(process)
        if not is_whole:
            raise SourceUnavailable(f"The tags of {repository} have too many commits of their own.")
        copies = []
        for sha, subject in _select_copies(output.decode("utf-8", "replace"), commit, number, plain):
            copies.append(CommitCopy(sha, clean_title(subject), self.list_tags(repository, sha)))
        return tuple(copies)


def _select_copies(output: str, commit: str, number: int, title: str) -> Iterator[tuple[str, str]]:
    for record in output.split("\x01"):
        sha, _, rest = record.strip("\n").partition("\0")
        subject, _, body = rest.partition("\0")
        # a revert names the same number, inside of its quotes
        if not clean_hash(sha) or subject.startswith("Revert "):
            continue
        picked = any(commit.startswith(each) for each in _PICKED.findall(body))
        if picked or f"(#{number})" in subject or _NUMBER.sub("", subject).strip() == title:
            yield sha, subject
