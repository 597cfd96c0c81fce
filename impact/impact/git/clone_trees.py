"""A local clone: its commits and files, read with plumbing commands, which no alias, pager or hook affects."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import NoReturn

from impact.errors import ImpactError, UsageError
from impact.git.commands import LOOK_SECONDS, BlobReader, read_piece, start_git
from impact.repository import Repository
from impact.source.models import BlobChange, BlobVersion, LineCommit, SourceFile, TreeCommit, is_tag
from impact.text.strings import collapse_lines, quote_input, truncate_text

_DIFF_OPTIONS = ("-z", "-r", "--root", "--always", "--raw", "--no-abbrev", "--no-ext-diff", "--no-textconv")
_FORMAT_OPTIONS = ("--encoding=UTF-8", "--format=%H%x00%ct%x00%an%x00%B")
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
_HASH = re.compile(r"[0-9a-f]{7,64}", re.A)
# a file that is missing ends the list of changes; more of them are a partial clone, where renames can't be seen
_MAX_FAILURES = 10
_GITHUB_URL = re.compile(
    r"(?:https?://|ssh://|git://)?(?:[^@/\s]{1,200}@)?(?:www\.)?github\.com[:/]/?(?P<name>[^/\s]+/[^/\s]+?)/?"
)
# what git says of a clone that it refuses, and what to do about it
_REFUSALS = {
    "dubious ownership": "belongs to another user, so git refuses to read it: run git config --global --add "
    "safe.directory with its full path.",
    "not a git repository": "is not a git clone: set --clone to the top folder of one.",
}
# characters; an adaptation may name many causes
_MAX_MESSAGE = 20_000
# bytes kept of one part, a message or a path: far more than is kept of either in the end
_MAX_PART = 1 << 16
# a damaged commit may be later than a datetime allows, or have no time at all
_MAX_SECONDS = 253_370_764_800
# Python refuses to parse thousands of digits
_MAX_DIGITS = 100
# parts of ``mode mode hash hash status``
_FACTS_OF_CHANGE = 5
_SURROGATES = re.compile("[\ud800-\udfff]")
# all but tabs and line breaks
_CONTROLS = re.compile("[\0-\x08\v\f\x0e-\x1f\x7f-\x9f]")


def remove_controls(text: str) -> str:
    """Return a text without what steers terminals or can't be encoded."""
    return _CONTROLS.sub("", _SURROGATES.sub("\ufffd", text))


@dataclass(frozen=True, slots=True)
class CloneFacts:
    """Facts about a clone: the branch that is read, and the repository on GitHub if it was cloned from there."""

    branch: str
    repository: Repository | None
    is_shallow: bool


class CloneTrees:
    """A clone in a folder, bare or not, or a worktree, which no method changes. Each may raise ImpactError.

    Without ``branch``, the default branch is read. ``clean`` returns what is kept of a commit's message. Texts of
    files are read as they are. ``check`` is called each half second in which git says nothing: what it raises ends
    git and the call.
    """

    def __init__(
        self,
        path: Path,
        branch: str | None = None,
        clean: Callable[[str], str] = remove_controls,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._path, self._branch, self._clean, self._check = path, branch, clean, check
        self._blobs = BlobReader(path, check)

    def __reduce__(self) -> tuple[type[CloneTrees], tuple[Path, str | None, Callable[[str], str]]]:
        # another process opens the clone again
        return CloneTrees, (self._path, self._branch, self._clean)

    def close(self) -> None:
        self._blobs.close()

    def read_facts(self) -> CloneFacts:
        """Return which branch is read, and of which repository. Raises UsageError, which names what is missing."""
        branch, _ = self._head
        url = self._query_git("config", "--get", "remote.origin.url")
        shallow = self._query_git("rev-parse", "--is-shallow-repository")
        return CloneFacts(branch, parse_github_url(url), shallow == "true")

    def list_line(self) -> tuple[LineCommit, ...]:
        """Return the commits on the branch's first-parent line, oldest first, without a shallow clone's oldest."""
        return self._line

    def find_commit(self, revision: str) -> str:
        """Return the full hash of a commit by its hash, which may be short; empty if there is none."""
        text = revision.strip().casefold()
        return self._resolve(text) if _HASH.fullmatch(text) else ""

    def find_head(self) -> str:
        """Return the full hash of the commit that is checked out; empty if there is none."""
        return self._resolve("HEAD")

    def find_tag(self, tag: str) -> str:
        """Return the branch's last commit that a tag holds, as of a release branch; empty if there is none."""
        return self._query_git("merge-base", f"refs/tags/{tag}^{{commit}}", self._head[1]) if is_tag(tag) else ""

    def find_mentions(self, texts: Iterable[str]) -> list[LineCommit]:
        """Return the commits of the line whose messages have one of some texts, the newest first."""
        patterns = [f"--grep={text}" for text in texts]
        if not patterns:
            return []
        output = self._read_output(
            "rev-list", "--first-parent", "--timestamp", "--parents", "-F", *patterns, self._head[1], "--"
        )
        rows = (row.split() for row in output.splitlines())
        return [LineCommit(sha, [*parents, ""][0], parse_instant(time)) for time, sha, *parents in rows]

    def iterate_commits(self, line: Sequence[LineCommit], *, counts_lines: bool = True) -> Iterator[TreeCommit]:
        """Yield some commits of the line with what each changed, in their order.

        To count the changed lines takes ten times as long as all else. Where a content is missing, the lines and
        inexact renames of that commit are not known.
        """
        done, failures = 0, 0
        while done < len(line):
            try:
                for commit in self.read_commits(line[done:], counts_lines=counts_lines):
                    yield commit
                    done += 1
            except ImpactError:
                failures += 1
                # the one that it stopped at, or all that are left
                plain = line[done : done + 1] if failures <= _MAX_FAILURES else line[done:]
                yield from self.read_commits(plain, has_contents=False)
                done += len(plain)

    def read_commits(
        self, line: Iterable[LineCommit], *, has_contents: bool = True, counts_lines: bool = True
    ) -> Iterator[TreeCommit]:
        """Yield commits with their changes against their first parents.

        Without ``has_contents``, no file is read: there are no numbers of lines, and no renames. Without
        ``counts_lines``, only what may be renamed is read. Raises UsageError if objects are missing, as in a
        partial clone.
        """
        options = (*_DIFF_OPTIONS, *(("--numstat",) if counts_lines else ()), *_RENAME_OPTIONS)
        options = options if has_contents else _DIFF_OPTIONS
        revisions = (" ".join(filter(None, (commit.sha, commit.parent))) for commit in line)
        lines = "".join(f"{revision}\n" for revision in revisions)
        output = self._stream_output(lines, "diff-tree", "--stdin", *options, *_FORMAT_OPTIONS)
        return parse_commits(output, self._clean)

    def list_files(self, commit: str) -> Mapping[str, str]:
        """Return the hash of each regular file of a commit by its path."""
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

    def read_file(self, version: BlobVersion) -> SourceFile:
        """Return a file with its text, or with its problem: a missing one is unavailable."""
        return self._blobs.read_file(version)

    @cached_property
    def _line(self) -> tuple[LineCommit, ...]:
        facts, tips = self.read_facts(), [self._head[1]]
        while more := self._find_side_lines(tips, facts.branch):
            tips += more
        output = self._read_output(
            "rev-list", "--first-parent", "--date-order", "--timestamp", "--parents", *tips, "--"
        )
        commits = []
        for line in reversed(output.splitlines()):
            time, sha, *parents = line.split()
            if parents or not facts.is_shallow:
                commits.append(LineCommit(sha, parents[0] if parents else "", parse_instant(time)))
        return tuple(commits)

    def _find_side_lines(self, tips: list[str], branch: str) -> list[str]:
        """Return further commits to list from, where the branch was merged into local work that then replaced it.

        The first parents are then that work, and what had been merged in the meantime is the second parent's line.
        """
        subjects = tuple(subject.format(branch) for subject in _SIDE_MERGE_TITLES)
        narrowed = [f"--grep={subject}" for subject in subjects]
        output = self._read_output(
            "rev-list", "--first-parent", "--merges", "--format=%P%n%s", "-F", *narrowed, *tips, "--"
        ).split("\n")
        merges = zip(output[1::3], output[2::3], strict=False)
        others = (parents.split(" ")[1:] for parents, subject in merges if subject.startswith(subjects))
        return [sha for sha in dict.fromkeys(each for some in others for each in some) if sha not in tips]

    @cached_property
    def _head(self) -> tuple[str, str]:
        """The branch's name and the hash of its last commit."""
        # the path may be a file, which has no entries
        if not os.access(f"{self._path}/.", os.X_OK):
            raise UsageError(f"{self._name} is not a readable folder: set --clone to the folder of a git clone.")
        self._read_output("rev-parse", "--git-dir")
        # the local branch may be far behind the remote one
        named = (f"refs/remotes/origin/{self._branch}", f"refs/heads/{self._branch}")
        for ref in ("refs/remotes/origin/HEAD", "HEAD") if self._branch is None else named:
            if sha := self._resolve(ref):
                branch = self._query_git("symbolic-ref", "--quiet", ref) or ref
                return branch.removeprefix("refs/heads/").removeprefix("refs/remotes/origin/"), sha
        lacks = "commits on its default branch" if self._branch is None else f"branch {quote_input(self._branch)}"
        raise UsageError(f"{self._name} has no {lacks}: choose another one with --branch.")

    @property
    def _name(self) -> str:
        return quote_input(str(self._path))

    def _resolve(self, revision: str) -> str:
        return self._query_git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")

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
        with start_git(self._path, *arguments, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            try:
                while True:
                    with suppress(subprocess.TimeoutExpired):
                        output, complaints = process.communicate(timeout=LOOK_SECONDS)
                        break
                    self._check()
            except BaseException:
                process.kill()
                raise
        return subprocess.CompletedProcess(arguments, process.returncode, output, complaints)

    def _stream_output(self, lines: str, *arguments: str) -> Iterator[bytes]:
        """Yield the output of a git command in pieces. Closing the generator ends the command."""
        # a file instead of a pipe, so that git and this process never wait for each other
        with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as complaints:
            asked.write(lines.encode())
            asked.seek(0)
            with start_git(self._path, *arguments, stdin=asked, stderr=complaints) as process:
                try:
                    while process.stdout and (piece := read_piece(process.stdout, self._check)):
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
        for words, refusal in _REFUSALS.items():
            if words in message:
                raise UsageError(f"{self._name} {refusal}")
        if self._query_git("config", "--get-regexp", r"^(extensions\.partialclone|remote\..*\.promisor)$"):
            raise UsageError(
                f"{self._name} is a partial clone without the contents of files: clone it without --filter."
            )
        detail = truncate_text(collapse_lines(message), 300).rstrip(".")
        raise ImpactError(f"git could not read {self._name} ({detail}): run git fsck in it, or clone it again.")


def parse_github_url(url: str) -> Repository | None:
    """Return the repository of a GitHub address, None for others. It may hold a password: show it nowhere."""
    match = _GITHUB_URL.fullmatch(url)
    try:
        return Repository.parse(match["name"]) if match else None
    except UsageError:
        return None


def open_clone_trees(
    path: Path, branch: str | None = None, clean: Callable[[str], str] = remove_controls
) -> AbstractContextManager[CloneTrees]:
    """Open a clone for the block. ``clean`` returns what is kept of a commit's message."""
    return closing(CloneTrees(path, branch, clean))


# --- the records that ``git diff-tree -z --raw --numstat`` writes. Every part ends with a zero byte, and paths are
# read by count, so that nothing in a message or a path can be read as something else


def parse_commits(pieces: Iterable[bytes], clean: Callable[[str], str] = remove_controls) -> Iterator[TreeCommit]:
    """Yield the commits of what git writes, in pieces; ``clean`` returns what is kept of a message."""
    parts = _split_parts(pieces)
    part = next(parts, None)
    while part is not None:
        sha, (seconds, author, message) = part, (next(parts, "") for _ in range(3))
        # a line break separates the message from what follows it
        sides, lines = [], {}
        while (part := next(parts, None)) is not None and part.lstrip("\n").startswith(":"):
            sides.append(_parse_sides(part, parts))
        while part is not None and part.count("\t") >= 2:
            added, deleted, path = part.split("\t", 2)
            # of a rename, both paths follow
            path = path or (next(parts, ""), next(parts, ""))[1]
            # binary files have no lines
            lines[path] = (_parse_count(added), _parse_count(deleted))
            part = next(parts, None)
        yield TreeCommit(
            sha.strip(),
            parse_instant(seconds),
            clean(message)[:_MAX_MESSAGE].strip(),
            tuple(BlobChange(old, new, *lines.get(path, (0, 0))) for path, old, new in sides if old or new),
            remove_controls(author),
        )


def _split_parts(pieces: Iterable[bytes]) -> Iterator[str]:
    """Yield the parts between zero bytes, each cut at 65,536 bytes, because a message may have any length."""
    rest = b""
    for piece in pieces:
        first, *others = piece.split(b"\0")
        rest += first[: _MAX_PART - len(rest)]
        for other in others:
            yield rest.decode("utf-8", "replace")
            rest = other[:_MAX_PART]
    if rest.strip():
        yield rest.decode("utf-8", "replace")


def _parse_sides(part: str, parts: Iterator[str]) -> tuple[str, BlobVersion | None, BlobVersion | None]:
    """Read ``:modes hashes status`` and a path, for a rename the old and the new one; no side that is no file."""
    facts = part.lstrip("\n:").split(" ")
    # the same few thousand paths repeat
    old = new = sys.intern(next(parts, ""))
    if facts[-1][:1] in "RC":
        new = sys.intern(next(parts, ""))
    if len(facts) != _FACTS_OF_CHANGE:
        return new, None, None
    before, after = (
        BlobVersion(path, blob) if mode.startswith(_REGULAR_MODE) else None
        for path, mode, blob in zip((old, new), facts[:2], facts[2:4], strict=True)
    )
    return new, before, after


def parse_instant(seconds: str) -> datetime:
    """Return the instant (UTC) of a commit's time in seconds; of a damaged one, an instant that can be used."""
    return datetime.fromtimestamp(min(_parse_count(seconds), _MAX_SECONDS), UTC)


def _parse_count(text: str) -> int:
    """Return a count, 0 for what is not a number of at most 100 digits."""
    is_count = text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS
    return int(text) if is_count else 0
