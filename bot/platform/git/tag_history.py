"""Which tags hold a commit, and which copies of it were made for them: from all commits, without any file."""

from __future__ import annotations

import re
from collections.abc import Mapping
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
# copies of one merge with what took them back: a project has few branches of releases
_MAX_COPIES = 40
# what a command line can name; a branch of releases picks some hundreds
_MAX_PICKED = 10_000
# what `git cherry-pick -x` writes; people write fewer digits
_PICKED = re.compile(r"cherry[- ]picked from commit ([0-9a-f]{7,40})", re.I)
# what `git revert` writes
_REVERTS, _REVERT_MARK = re.compile(r"This reverts commit ([0-9a-f]{7,40})", re.I), "This reverts commit "
_QUOTED = re.compile(r'Revert "(?P<subject>.+)"')
# tags of builds and candidates are no releases
_RELEASE = re.compile(r"v?\d{1,4}(?:\.\d{1,6}){1,3}(?:\.?post\d{1,6})?", re.A)
_CANDIDATE = re.compile(
    rf"(?P<of>{_RELEASE.pattern})[-_.]?(?:rc|a|b|alpha|beta|dev|pre)[-_.]?\d{{0,4}}", re.A | re.I
)
# the numbers at the end of a subject: a copy has that of its own pull request behind that of the merge
_DIGITS, _PLACED = re.compile(r"\d{1,9}", re.A), re.compile(r"\(#(\d{1,9})\)", re.A)
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

    @property
    def order(self) -> tuple[int, ...]:
        """The numbers of its version."""
        return tuple(map(int, _DIGITS.findall(self.version)))


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
    """A merge, or a copy outside of the default branch, by what that says of itself; and the tags that hold it."""

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
        """Return a merge, then its copies in tags, by the commit, the number or the title that they name.

        A tag that holds a later commit outside of the default branch that takes one back does not hold that.
        """


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
        own = ("--first-parent", f"^{build_revision(start)}", build_revision(end))
        every = self._list_commits(repository, "", *own)
        outside = self._list_commits(repository, "%b", *own, f"^{BRANCH}")
        copies, reverts = list[_Commit](), list[_Commit]()
        for each in outside:
            # a later commit comes first
            if not any(revert.takes_back(each) for revert in reverts):
                (reverts if each.is_revert else copies).append(each)
        own_shas = {each.sha for each in outside}
        picked = [sha for each in copies for sha in _PICKED.findall(each.body)]
        known = ("--no-walk", "--ignore-missing", *picked[:_MAX_PICKED])
        origins = self._list_commits(repository, "", *known) if picked else []
        commits = (each for each in every if each.sha not in own_shas)
        return CommitWay(
            {
                each.sha: max(each.numbers[-1:], default=0)
                for each in commits
                if not any(revert.takes_back(each) for revert in reverts)
            },
            frozenset(number for each in (*copies, *reverts, *origins) for number in each.numbers),
        )

    def _list_commits(self, repository: Repository, body: str, *arguments: str) -> list[_Commit]:
        shown = f"--format=%H%x00%s%x00{body}%x01"
        with self.reader.open_command(repository, "log", "--topo-order", shown, *arguments, "--") as process:
            output, is_whole = read_output(process)
        if not is_whole:
            raise SourceUnavailable(f"{repository} has too many commits to be read.")
        records = (each.strip("\n").split("\0", 2) for each in output.decode("utf-8", "replace").split("\x01"))
        return [_Commit(*each) for each in records if len(each) == 3 and clean_hash(each[0])]

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
        merge = _Commit(commit, f"{_NUMBERS.sub('', title)} (#{number})")
        # a title of two words may be another change's
        names = [f"(#{number})", commit[:7], *([merge.title] if merge.title.count(" ") > 2 else [])]
        patterns = (f"--grep={each}" for each in (*names, _REVERT_MARK, 'Revert "'))
        listed = self._list_commits(repository, "%b", "--tags", "--not", BRANCH, "-F", *patterns)
        chain = [merge]
        for each in reversed(listed):
            if each.copies(merge) or any(map(each.takes_back, chain)):
                chain.append(each)
        if len(chain) > _MAX_COPIES:
            raise SourceUnavailable(f"{repository} has too many copies of that commit.")
        held = dict[str, tuple[Tag, ...]]()
        for place, each in reversed([*enumerate(chain)]):
            gone = {tag.name for later in chain[place + 1 :] if later.takes_back(each) for tag in held[later.sha]}
            tags = self.list_tags(repository, each.sha)
            held[each.sha] = tuple(tag for tag in tags if tag.name not in gone)
        shown = [merge, *(each for each in reversed(chain[1:]) if each.copies(merge))]
        return tuple(CommitCopy(each.sha, clean_title(each.subject), held[each.sha]) for each in shown)


@dataclass(frozen=True, slots=True)
class _Commit:
    sha: str
    subject: str
    body: str = ""

    @property
    def title(self) -> str:
        return _NUMBERS.sub("", self.subject).strip()

    @property
    def numbers(self) -> list[int]:
        """The numbers at the end of its subject, which a revert has only in its quotes."""
        end = _NUMBERS.search(self.subject)
        return [int(each) for each in _DIGITS.findall(end[0])] if end else []

    @property
    def is_revert(self) -> bool:
        return bool(_REVERTS.search(self.body) or _QUOTED.match(self.subject))

    def copies(self, merge: _Commit) -> bool:
        """Return whether it says that it is a copy of a merge."""
        if any(map(merge.sha.startswith, _PICKED.findall(self.body))) or self.title == merge.title:
            return True
        # a revert names the same number, inside of its quotes
        named = self.numbers if self.subject.startswith("Revert ") else map(int, _PLACED.findall(self.subject))
        return merge.numbers[-1] in named

    def takes_back(self, other: _Commit) -> bool:
        """Return whether it says that it reverts another one, or what that is a copy of."""
        shas, origins = _REVERTS.findall(self.body), (other.sha, *_PICKED.findall(other.body))
        if any(origin.startswith(sha) for sha in shas for origin in origins):
            return True
        quoted = _QUOTED.match(self.subject)
        reverted = _Commit("", quoted["subject"]) if quoted else None
        if reverted and reverted.numbers and other.numbers:
            return not set(reverted.numbers).isdisjoint(other.numbers)
        return bool(reverted and reverted.title == other.title)
