"""A local clone, read with plumbing commands of ``git``, which no alias, pager or hook affects."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import IO, NoReturn

from impact.errors import ImpactError, UsageError
from impact.git.commands import INSTALL_GIT, build_command, build_environment
from impact.git.diff_tree import LOG_FORMAT, Commit, parse_commits, parse_instant
from impact.repository import Repository
from impact.source.trees import LineCommit
from impact.text.strings import collapse_lines, quote_input, truncate_text

_DIFF_OPTIONS = ("-z", "-r", "--root", "--always", "--raw", "--no-abbrev", "--no-ext-diff", "--no-textconv")
_FORMAT_OPTIONS = ("--encoding=UTF-8", f"--format={LOG_FORMAT}")
# GitHub treats files that are at least half the same as renames, and compares as many files
_RENAME_OPTIONS = ("--find-renames=50%", "-l1000")
# git's titles for the merge of a branch into local work
_SIDE_MERGE_TITLES = (
    "Merge branch '{}' into ",
    "Merge branch '{}' of ",
    "Merge remote-tracking branch 'origin/{}'",
    "Merge remote-tracking branch 'upstream/{}'",
)
# the modes of regular files, executable or not, begin with it
_REGULAR_MODE = "100"
_FIRST_INSTANT = datetime.fromtimestamp(0, UTC)
# commits between two calls of ``progress``
_PROGRESS_STEP = 100
_GITHUB_URL = re.compile(
    r"(?:https?://|ssh://|git://)?(?:[^@/\s]{1,200}@)?(?:www\.)?github\.com[:/]/?(?P<name>[^/\s]+/[^/\s]+?)/?"
)


@dataclass(frozen=True, slots=True)
class CloneFacts:
    """Facts about a clone: the branch that is read, and the repository on GitHub if it was cloned from there."""

    branch: str
    repository: Repository | None
    is_shallow: bool


class GitClone:
    """A clone in a folder, bare or not, or a worktree. Without ``branch``, the default branch is read."""

    def __init__(self, path: Path, branch: str | None = None, program: str = "git") -> None:
        self._path = path
        self._requested_branch = branch
        self._program = program

    def read_facts(self) -> CloneFacts:
        """Return which branch is read, and of which repository. Raises UsageError, which names what is missing."""
        branch, _ = self._head
        url = self._query_git("config", "--get", "remote.origin.url")
        shallow = self._query_git("rev-parse", "--is-shallow-repository")
        return CloneFacts(branch, parse_github_url(url), shallow == "true")

    def iterate_commits(self, since: datetime, progress: Callable[[int, int], None]) -> Iterator[Commit]:
        """Yield the commits since an instant (UTC), oldest first, without the oldest of a shallow clone.

        Raises UsageError if objects are missing, as in a partial clone.
        """
        line = self.list_line(since)
        for done, commit in enumerate(parse_commits(self.stream_changes(line)), 1):
            yield commit
            if done % _PROGRESS_STEP == 0 or done == len(line):
                progress(done, len(line))

    def stream_changes(
        self, line: Iterable[LineCommit], *, has_contents: bool = True, counts_lines: bool = True
    ) -> Iterator[bytes]:
        """Yield, in pieces, what git writes about the changes of commits against their first parents.

        Without ``has_contents``, no file is read: there are no numbers of lines, and no renames. Without
        ``counts_lines``, only what may be renamed is read. Raises UsageError if objects are missing.
        """
        revisions = (" ".join(filter(None, (commit.sha, commit.parent))) for commit in line)
        with tempfile.TemporaryFile() as lines:
            # a file instead of a pipe, so that git and this process never wait for each other
            lines.write("".join(f"{revision}\n" for revision in revisions).encode())
            lines.seek(0)
            options = (*_DIFF_OPTIONS, *(("--numstat",) if counts_lines else ()), *_RENAME_OPTIONS)
            options = options if has_contents else _DIFF_OPTIONS
            yield from self._stream_output(lines, "diff-tree", "--stdin", *options, *_FORMAT_OPTIONS)

    def list_line(self, since: datetime = _FIRST_INSTANT) -> list[LineCommit]:
        """Return the commits since an instant (UTC) on the branch's first-parent line, oldest first.

        All commits are listed and filtered here: git itself stops at the first older one, even if a clock was
        wrong. The oldest commit of a shallow clone is left out.
        """
        facts = self.read_facts()
        tips = [self._head[1]]
        while more := self._find_side_lines(tips, facts.branch, since):
            tips += more
        output = self._read_output(
            "rev-list", "--first-parent", "--date-order", "--timestamp", "--parents", *tips, "--"
        )
        commits = []
        for line in reversed(output.splitlines()):
            time, sha, *parents = line.split()
            if int(time) >= since.timestamp() and (parents or not facts.is_shallow):
                commits.append(LineCommit(sha, parents[0] if parents else "", parse_instant(time)))
        return commits

    def find_commit(self, revision: str) -> str:
        """Return the full hash of a commit by its hash, which may be short; empty if there is none."""
        return self._query_git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")

    def find_merge_base(self, revision: str) -> str:
        """Return the newest commit that a revision shares with the branch, as a full hash; empty without one."""
        return self._query_git("merge-base", f"{revision}^{{commit}}", self._head[1])

    def list_files(self, commit: str) -> dict[str, str]:
        """Return the hash of each regular file of a commit by its path. Raises ImpactError."""
        output = self._read_output("ls-tree", "-r", "-z", "--full-tree", commit)
        entries = (record.partition("\t") for record in output.split("\0") if record.startswith(_REGULAR_MODE))
        return {sys.intern(path): facts.split(" ")[2] for facts, _, path in entries}

    def find_lines(self, commit: str, texts: Collection[str]) -> list[tuple[str, str]] | None:
        """Return the path and text of each line of a commit that has one of some texts; None if it can't tell."""
        patterns = [part for text in texts for part in ("-e", text)]
        process = self._run_git("grep", "-I", "-F", "-z", *patterns, commit, "--", ":/")
        if process.returncode > 1:
            return None
        # a path may have any character but one
        line = re.compile(rf"^{re.escape(commit)}:([^\0]+)\0(.*)$", re.M)
        return line.findall(process.stdout.decode("utf-8", "replace"))

    def _find_side_lines(self, tips: list[str], branch: str, since: datetime) -> list[str]:
        """Return further commits to list from, where the branch was merged into local work that then replaced it.

        The first parents are then that work, and what had been merged in the meantime is the second parent's line.
        """
        subjects = tuple(subject.format(branch) for subject in _SIDE_MERGE_TITLES)
        narrowed = [f"--grep={subject}" for subject in subjects]
        output = self._read_output(
            "rev-list", "--first-parent", "--merges", "--format=%ct %P%n%s", "-F", *narrowed, *tips, "--"
        ).split("\n")
        parents_of_merges = {}
        for merge, subject in zip(output[1::3], output[2::3], strict=False):
            time, *parents = merge.split(" ")
            if subject.startswith(subjects) and time.isdecimal() and int(time) >= since.timestamp():
                parents_of_merges.update(dict.fromkeys(parents[1:]))
        return [sha for sha in parents_of_merges if sha not in tips]

    @cached_property
    def _head(self) -> tuple[str, str]:
        """The branch's name and the hash of its last commit."""
        # the path may be a file, which has no entries
        if not os.access(f"{self._path}/.", os.X_OK):
            raise UsageError(
                f"{self._quoted_path} is not a readable folder: set --clone to the folder of a git clone."
            )
        self._read_output("rev-parse", "--git-dir")
        for ref in self._list_refs():
            sha = self._query_git("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
            if sha:
                return self._resolve_branch_name(ref), sha
        if self._requested_branch is not None:
            raise UsageError(
                f"{self._quoted_path} has no branch {quote_input(self._requested_branch)}: choose another "
                "one with --branch."
            )
        raise UsageError(
            f"{self._quoted_path} has no commits on its default branch: choose another one with --branch."
        )

    def _list_refs(self) -> tuple[str, ...]:
        if self._requested_branch is None:
            return ("refs/remotes/origin/HEAD", "HEAD")
        # the local branch may be far behind the remote one
        return (f"refs/remotes/origin/{self._requested_branch}", f"refs/heads/{self._requested_branch}")

    def _resolve_branch_name(self, ref: str) -> str:
        """Return the branch that a reference points to, without a prefix."""
        name = self._query_git("symbolic-ref", "--quiet", ref) or ref
        return name.removeprefix("refs/heads/").removeprefix("refs/remotes/origin/")

    @property
    def _quoted_path(self) -> str:
        return quote_input(str(self._path))

    def _query_git(self, *arguments: str) -> str:
        """Run a git command and return its trimmed output; empty if it fails."""
        return self._run_git(*arguments).stdout.decode("utf-8", "replace").strip()

    def _read_output(self, *arguments: str) -> str:
        """Run a git command and return its output. Raise UsageError or ImpactError if it fails."""
        process = self._run_git(*arguments)
        if process.returncode:
            self._raise_failure(process.stderr)
        return process.stdout.decode("utf-8", "replace")

    def _run_git(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        """Run a git command to its end. Raise UsageError if there is no git program."""
        try:
            return subprocess.run(  # noqa: S603 (arguments of ours, and no shell)
                build_command(self._program, self._path, *arguments),
                env=build_environment(self._path),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
        except OSError as error:
            raise UsageError(INSTALL_GIT) from error

    def _stream_output(self, lines: IO[bytes], *arguments: str) -> Iterator[bytes]:
        """Yield the output of a git command in pieces. Closing the generator ends the command."""
        with tempfile.TemporaryFile() as complaints:
            process = subprocess.Popen(  # noqa: S603 (arguments of ours, and no shell)
                build_command(self._program, self._path, *arguments),
                env=build_environment(self._path),
                stdin=lines,
                stdout=subprocess.PIPE,
                stderr=complaints,
            )
            with process:
                try:
                    while process.stdout and (piece := process.stdout.read(1 << 16)):
                        yield piece
                except BaseException:
                    process.kill()
                    raise
            if process.returncode:
                complaints.seek(0)
                self._raise_failure(complaints.read())

    def _raise_failure(self, stderr: bytes) -> NoReturn:
        """Raise UsageError or ImpactError for the error output of a git command."""
        message = stderr.decode("utf-8", "replace")
        if "dubious ownership" in message:
            raise UsageError(
                f"{self._quoted_path} belongs to another user, so git refuses to read it: run git config "
                "--global --add safe.directory with its full path."
            )
        if "not a git repository" in message:
            raise UsageError(f"{self._quoted_path} is not a git clone: set --clone to the top folder of one.")
        if self._query_git("config", "--get-regexp", r"^(extensions\.partialclone|remote\..*\.promisor)$"):
            raise UsageError(
                f"{self._quoted_path} is a partial clone without the contents of files: clone it without --filter."
            )
        detail = truncate_text(collapse_lines(message), 300).rstrip(".")
        raise ImpactError(
            f"git could not read {self._quoted_path} ({detail}): run git fsck in it, or clone it again."
        )


def parse_github_url(url: str) -> Repository | None:
    """Return the repository of a GitHub address, None for others. It may hold a password: show it nowhere."""
    match = _GITHUB_URL.fullmatch(url)
    if not match:
        return None
    try:
        return Repository.parse(match["name"])
    except UsageError:
        return None
