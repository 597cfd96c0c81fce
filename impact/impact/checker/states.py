"""A team's tree beside upstream at several commits: Python files in a folder of ours, each state checked once."""

from __future__ import annotations

import math
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from impact.checker.diagnostics import CheckedMerges, Diagnostic, Finding, find_new
from impact.checker.program import MOST_SECONDS, CheckerFailed, find_program, run_program
from impact.git.clone_trees import CloneTrees
from impact.python.blocks import walk_statements
from impact.python.module_names import name_module
from impact.python.outline import build_outline
from impact.python.parsing import parse_source
from impact.source.models import SourceFile
from impact.source.trees import BlobVersion

# files of one side, and characters of what is written; vLLM has 1,000 in its package, and 20 million characters
_MAX_FILES, _MAX_SIZE = 12_000, 200_000_000
# states that are kept: a day of vLLM has some 25
_MAX_STATES = 64
_GETATTR = "__getattr__"
# what stands for a file that can't be read: it has every name, of every type
_ANY_NAME = f"from typing import Any\n\ndef {_GETATTR}(name: str) -> Any: ...\n"

_State = frozenset[tuple[str, str]]


class CheckedStates:
    """What the checker says of a team's tree at commits of upstream. It is a context, which removes its folder.

    That is made in ``folder``, or else in the system's. ``until``, by ``time.monotonic``, a check may go on.
    Its methods raise CheckerFailed: the checker is not installed, or a check takes too long or too much.
    """

    def __init__(
        self,
        upstream: CloneTrees,
        team: Iterable[SourceFile],
        packages: Sequence[str],
        folder: Path | None = None,
        until: float = math.inf,
    ) -> None:
        self._until = until
        self._program = find_program()
        self._upstream = upstream
        self._packages = frozenset(packages)
        self._at: dict[str, str] = {}
        self._unread = set[str]()
        self._states: dict[_State, tuple[tuple[Diagnostic, ...], frozenset[str]]] = {}
        self._size = 0
        self._folder = Path(tempfile.mkdtemp(prefix="impact-checker-", dir=folder))
        try:
            self._texts = self._write_team(team)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> CheckedStates:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def paths(self) -> frozenset[str]:
        """The files of the team that are checked."""
        return frozenset(self._texts)

    def list_findings(self, before: str, after: str) -> tuple[Finding, ...]:
        """Return what fails in the team's tree with upstream at a commit, and did not at an earlier one.

        Nothing can be said where a file could be read at only one of them.
        """
        if not self._texts:
            return ()
        (old, unread_before), (new, unread_after) = self._check(before), self._check(after)
        return () if old is new or unread_before != unread_after else find_new(old, new, self._texts)

    def list_net_findings(self, line: Sequence[str]) -> dict[str, tuple[Finding, ...]]:
        """Return what fails at the last commit of a line and not at its first, by the commit that began it.

        What fails in between alone is left out, and where nothing new fails, no commit in between is looked at.
        """
        last = self.list_findings(line[0], line[-1]) if len(line) > 1 else ()
        if not last or len(line) == 2:
            return {line[-1]: last} if last else {}
        half = len(line) // 2
        left = {(each.kind, each.use.path, each.use.line) for each in last}
        parts = {**self.list_net_findings(line[: half + 1]), **self.list_net_findings(line[half:])}
        return {
            commit: tuple(each for each in findings if (each.kind, each.use.path, each.use.line) in left)
            for commit, findings in parts.items()
        }

    def _write_team(self, team: Iterable[SourceFile]) -> dict[str, str]:
        """Write the team's files, and return their texts by path. A copy of upstream would hide upstream."""
        (self._folder / "upstream").mkdir()
        (self._folder / "team").mkdir()
        texts: dict[str, str] = {}
        self._paths: dict[str, str] = {}
        for file in team:
            place = _place_file(file.path) or f"script_{len(texts)}.py"
            if file.problem or not file.path.endswith(".py") or place in self._paths or self._is_upstream(place):
                continue
            if self._write(f"team/{place}", file.text):
                self._paths[place] = file.path
                texts[file.path] = file.text
            if len(texts) > _MAX_FILES:
                raise CheckerFailed("your tree has more files than are checked")
        return texts

    def _check(self, commit: str) -> tuple[tuple[Diagnostic, ...], frozenset[str]]:
        """Return what the checker says with upstream at a commit, and upstream's files that can't be read."""
        files = {
            place: BlobVersion(path, blob)
            for path, blob in self._upstream.list_files(commit).items()
            if path.endswith(".py") and (place := _place_file(path)) and self._is_upstream(place)
        }
        state = frozenset((place, version.blob) for place, version in files.items())
        if state not in self._states:
            self._move(files)
            checked = run_program(
                self._program, self._folder, seconds=min(MOST_SECONDS, self._until - time.monotonic())
            )
            if len(self._states) >= _MAX_STATES:
                del self._states[next(iter(self._states))]
            self._states[state] = tuple(self._restore_paths(checked)), frozenset(self._unread & files.keys())
        return self._states[state]

    def _restore_paths(self, checked: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
        for each in checked:
            if each.path in self._paths:
                yield Diagnostic(each.kind, self._paths[each.path], each.line, each.message, each.details)

    def _move(self, files: Mapping[str, BlobVersion]) -> None:
        """Write what is different at another commit."""
        if len(files) > _MAX_FILES:
            raise CheckerFailed("upstream has more files than are checked")
        for place in self._at.keys() - files.keys():
            (self._folder / "upstream" / place).unlink(missing_ok=True)
        for place, version in files.items():
            if self._at.get(place) != version.blob:
                file = self._upstream.read_file(version)
                (self._unread.add if file.problem else self._unread.discard)(place)
                self._write(f"upstream/{place}", _ANY_NAME if file.problem else replace_getattr(file))
        self._at = {place: version.blob for place, version in files.items()}

    def _is_upstream(self, place: str) -> bool:
        return place.partition("/")[0].removesuffix(".py") in self._packages

    def _write(self, place: str, text: str) -> bool:
        """Write a file into the folder; False for a path that the disk does not take."""
        self._size += len(text)
        if self._size > _MAX_SIZE:
            raise CheckerFailed("the trees are larger than what is checked")
        file = self._folder / place
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", errors="replace", newline="")
        except (OSError, ValueError):
            return False
        return True


def _place_file(path: str) -> str:
    """Return the path of a module by its name alone, without a folder of sources; empty for what is no module."""
    named = name_module(path)
    if named is None:
        return ""
    name, is_package = named
    return f"{name.replace('.', '/')}{'/__init__' if is_package else ''}.py"


def replace_getattr(file: SourceFile) -> str:
    """Return a module's text with the names that its ``__getattr__`` knows in place of it."""
    outline = build_outline(file.path, file.text) if f"def {_GETATTR}" in file.text else None
    if outline is None or not outline.dynamic:
        return file.text
    tree, lines = parse_source(file.text), file.text.split("\n")
    for statement, _ in walk_statements(tree.body if tree else []):
        if getattr(statement, "name", "") == _GETATTR:
            at = getattr(statement, "lineno", 1) - 1
            lines[at] = re.sub(rf"\b{_GETATTR}\b", "_get_no_attribute", lines[at], count=1)
    names = sorted(outline.dynamic - outline.definitions.keys() - outline.imports.keys())
    return "\n".join([*lines, "import typing as _typing", *(f"{name}: _typing.Any" for name in names), ""])


def check_merges(
    upstream: CloneTrees,
    team: Iterable[SourceFile],
    packages: Sequence[str],
    merges: Sequence[tuple[str, str]],
    progress: Callable[[int, int], None],
    folder: Path | None = None,
    until: float = math.inf,
) -> CheckedMerges:
    """Return what fails from each of some merges on, given as the commits before and after it, in order."""
    findings: dict[str, tuple[Finding, ...]] = {}
    try:
        with CheckedStates(upstream, team, packages, folder, until) as states:
            for done, (before, after) in enumerate(merges, 1):
                findings[after] = states.list_findings(before, after)
                progress(done, len(merges))
            return CheckedMerges(findings, states.paths)
    except CheckerFailed as error:
        return CheckedMerges(alone=str(error))


def check_way(
    upstream: CloneTrees,
    team: Iterable[SourceFile],
    packages: Sequence[str],
    line: Sequence[str],
    folder: Path | None = None,
    until: float = math.inf,
) -> CheckedMerges:
    """Return what fails at the end of a line of commits and not at its first one."""
    try:
        with CheckedStates(upstream, team, packages, folder, until) as states:
            return CheckedMerges(states.list_net_findings(line), states.paths)
    except CheckerFailed as error:
        return CheckedMerges(alone=str(error))
