"""A local clone, read with the ``git`` program: plumbing commands, which no alias, pager or hook touches."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import IO, NoReturn

from bot.adapters.git.records import FORMAT, commits_in
from bot.domain.errors import PrdigestError, UsageError
from bot.domain.history.commits import Commit
from bot.domain.pull_requests.models import Repository
from bot.domain.text.strings import one_line, quoted, shorten
from bot.ports.git import CloneFacts

# a clone may be somebody else's: its own settings start no program, and nothing of it is fetched or locked
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_SETTINGS = (
    "advice.graftFileDeprecated=false",
    "core.attributesFile=/dev/null",
    "core.bigFileThreshold=512m",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "log.showSignature=false",
)
_DIFF = ("-z", "-r", "--root", "--always", "--raw", "--numstat", "--no-abbrev", "--no-ext-diff", "--no-textconv")
_TEXT = ("--encoding=UTF-8", f"--format={FORMAT}")
# GitHub takes what is at least half the same for a rename, and looks among as many files
_RENAMES = ("--find-renames=50%", "-l1000")
# how git titles the merge of a branch into somebody's own work
_OWN_WORK = (
    "Merge branch '{}' into ",
    "Merge branch '{}' of ",
    "Merge remote-tracking branch 'origin/{}'",
    "Merge remote-tracking branch 'upstream/{}'",
)
# commits between two calls of a progress
_STEP = 100
_GITHUB = re.compile(
    r"(?:https?://|ssh://|git://)?(?:[^@/\s]{1,200}@)?(?:www\.)?github\.com[:/]/?(?P<name>[^/\s]+/[^/\s]+?)/?"
)


class GitClone:
    """A clone in a folder: bare or not, also a worktree. Without ``branch`` it is the default branch's line."""

    def __init__(self, path: Path, branch: str | None = None, program: str = "git") -> None:
        self._path = path
        self._wanted = branch
        self._program = program

    def facts(self) -> CloneFacts:
        """What it is a clone of.

        Raises:
            UsageError: there is no such folder, clone, branch or program; the sentence says which.
        """
        branch, _ = self._head
        url = self._asked("config", "--get", "remote.origin.url")
        shallow = self._asked("rev-parse", "--is-shallow-repository")
        return CloneFacts(branch, named_on_github(url), shallow == "true")

    def commits(self, since: datetime, progress: Callable[[int, int], None]) -> Iterator[Commit]:
        """Stream them, oldest first; a shallow clone's oldest, whose change is unknown, is left out.

        Raises:
            UsageError: objects are missing, as in a partial clone.
        """
        wanted = self._line(since)
        with tempfile.TemporaryFile() as lines:
            # a file, so that git and we never wait for each other
            lines.write("".join(f"{line}\n" for line in wanted).encode())
            lines.seek(0)
            found = self._streamed(lines, "diff-tree", "--stdin", *_DIFF, *_RENAMES, *_TEXT)
            for done, commit in enumerate(commits_in(found), 1):
                yield commit
                if done % _STEP == 0 or done == len(wanted):
                    progress(done, len(wanted))

    def _line(self, since: datetime) -> list[str]:
        """Each commit since then with its first parent, as diff-tree takes them.

        All are listed: git itself stops at the first that is older, though clocks go wrong.
        """
        facts = self.facts()
        tips = [self._head[1]]
        while more := self._beside(tips, facts.branch, since):
            tips += more
        said = self._output("rev-list", "--first-parent", "--date-order", "--timestamp", "--parents", *tips, "--")
        found = []
        for line in reversed(said.splitlines()):
            time, sha, *parents = line.split()
            if int(time) >= since.timestamp() and (parents or not facts.is_shallow):
                found.append(" ".join([sha, *parents[:1]]))
        return found

    def _beside(self, tips: list[str], branch: str, since: datetime) -> list[str]:
        """What else the branch was, where somebody merged it into work of his own and pushed that in its place.

        Its first parents are that work then, and what had been merged in the meantime is the second parent's line.
        """
        subjects = tuple(subject.format(branch) for subject in _OWN_WORK)
        narrowed = [f"--grep={subject}" for subject in subjects]
        said = self._output(
            "rev-list", "--first-parent", "--merges", "--format=%ct %P%n%s", "-F", *narrowed, *tips, "--"
        ).split("\n")
        found = {}
        for merge, subject in zip(said[1::3], said[2::3], strict=False):
            time, *parents = merge.split(" ")
            if subject.startswith(subjects) and time.isdecimal() and int(time) >= since.timestamp():
                found.update(dict.fromkeys(parents[1:]))
        return [sha for sha in found if sha not in tips]

    @cached_property
    def _head(self) -> tuple[str, str]:
        """The branch's name and its commit."""
        self._check()
        for ref in self._refs():
            sha = self._asked("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
            if sha:
                return self._name(ref), sha
        if self._wanted is not None:
            raise UsageError(f"{self._named} has no branch {quoted(self._wanted)}: name another one as --branch.")
        raise UsageError(f"{self._named} has no commits on its default branch: name another one as --branch.")

    def _refs(self) -> tuple[str, ...]:
        if self._wanted is None:
            return ("refs/remotes/origin/HEAD", "HEAD")
        # the local branch may be long behind
        return (f"refs/remotes/origin/{self._wanted}", f"refs/heads/{self._wanted}")

    def _name(self, ref: str) -> str:
        name = self._asked("symbolic-ref", "--quiet", ref) or ref
        return name.removeprefix("refs/heads/").removeprefix("refs/remotes/origin/")

    def _check(self) -> None:
        # a file has nothing in it
        if not os.access(f"{self._path}/.", os.X_OK):
            raise UsageError(f"{self._named} is no folder to be read: give --clone the folder of a git clone.")
        self._output("rev-parse", "--git-dir")

    @property
    def _named(self) -> str:
        return quoted(str(self._path))

    def _asked(self, *arguments: str) -> str:
        """What a question is answered with; nothing where the answer is no."""
        return self._run(*arguments).stdout.decode("utf-8", "replace").strip()

    def _output(self, *arguments: str) -> str:
        done = self._run(*arguments)
        if done.returncode:
            self._fail(done.stderr)
        return done.stdout.decode("utf-8", "replace")

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(  # noqa: S603 (arguments of ours, and no shell)
                self._command(*arguments),
                env=self._environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
        except OSError as error:
            raise UsageError("The git program is missing: install git, which reads the clone.") from error

    def _streamed(self, lines: IO[bytes], *arguments: str) -> Iterator[bytes]:
        """What a command writes, in pieces. Who stops reading ends it."""
        with tempfile.TemporaryFile() as complaints:
            process = subprocess.Popen(  # noqa: S603 (arguments of ours, and no shell)
                self._command(*arguments),
                env=self._environment,
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
                self._fail(complaints.read())

    def _command(self, *arguments: str) -> list[str]:
        settings = [part for each in _SETTINGS for part in ("-c", each)]
        return [self._program, "--no-pager", *settings, "-C", str(self._path), *arguments]

    @property
    def _environment(self) -> dict[str, str]:
        # variables of git would lead to another repository or start programs; a folder inside of a clone is none
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        return {**kept, **_ENVIRONMENT, "GIT_CEILING_DIRECTORIES": str(self._path.resolve().parent)}

    def _fail(self, stderr: bytes) -> NoReturn:
        said = stderr.decode("utf-8", "replace")
        if "dubious ownership" in said:
            raise UsageError(
                f"{self._named} belongs to another user, so git refuses it: allow it with"
                " git config --global --add safe.directory and its full path."
            )
        if "not a git repository" in said:
            raise UsageError(f"{self._named} is no git clone: give --clone the top folder of one.")
        if self._asked("config", "--get-regexp", r"^(extensions\.partialclone|remote\..*\.promisor)$"):
            raise UsageError(
                f"{self._named} is a partial clone that lacks the contents of files: clone it without --filter."
            )
        told = shorten(one_line(said), 300).rstrip(".")
        raise PrdigestError(f"git could not read {self._named} ({told}): run git fsck in it, or clone it again.")


def named_on_github(url: str) -> Repository | None:
    """The repository of an address on GitHub; the address itself may hold a password and is shown nowhere."""
    found = _GITHUB.fullmatch(url)
    if not found:
        return None
    try:
        return Repository.parse(found["name"])
    except UsageError:
        return None
