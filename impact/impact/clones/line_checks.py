"""What a type checker says of a team's tree along a line of upstream commits: files in a folder, without a memory.

The whole tree is checked at both ends of the line. Which merge began what fails, those merges say that change its
name; where they are several or none, the files in which it fails are checked in between, and those that the rules
doubt a merge for. What was checked is kept by the contents of both trees.
"""

from __future__ import annotations

import hashlib
import math
import re
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, pairwise
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from impact.checker.diagnostics import (
    CheckedMerges,
    CheckedState,
    Diagnostic,
    Finding,
    Place,
    build_finding,
    list_new,
    name_use,
)
from impact.checker.program import MOST_SECONDS, REQUEST, CheckerFailed, find_program, run_program
from impact.clones.kept_readings import KeptReadings, NewByCommit
from impact.clones.upstream_line import CloneMerge
from impact.contract.models import PYTHON_CLASSES, ChangeKind, ContractClass, MergeContract
from impact.git.clone_trees import CloneTrees
from impact.python.module_names import name_module
from impact.python.outline import build_outline
from impact.python.syntax import parse_source, walk_statements
from impact.source.models import BlobVersion, SourceFile, SourceProblem

Value = TypeVar("Value")
# files of one side, and characters of what is written; vLLM has 1,000 in its package, and 20 million characters
_MAX_FILES, _MAX_SIZE = 12_000, 200_000_000
# bytes of the name of a file or folder that each disk takes
_MAX_NAME = 200
# changes after which nothing fails for a checker that did not before
_HARMLESS = frozenset({ChangeKind.ADDED, ChangeKind.BEHAVIOUR, ChangeKind.DEFAULT, ChangeKind.DEPRECATED})
_SUBJECTS = PYTHON_CLASSES | {ContractClass.CONFIGURATION}
# places of a line: what fails at the second and not so at the first, each with those that may have begun it
_Span = tuple[int, int, list[tuple[Finding, Sequence[int]]]]
# merges that change a name with the same last part, for it to say something
_MOST_SUSPECTS = 3
_GETATTR = "__getattr__"
# what stands for a file that can't be read: it has every name, of every type
_ANY_NAME = f"from typing import Any\n\ndef {_GETATTR}(name: str) -> Any: ...\n"


def check_line(
    upstream: CloneTrees,
    team: Iterable[SourceFile],
    packages: Sequence[str],
    line: Sequence[str],
    contracts: Iterable[MergeContract],
    doubts: Mapping[str, Collection[Place]],
    kept: KeptReadings | None = None,
    folder: Path | None = None,
    until: float = math.inf,
    processes: int = 1,
) -> CheckedMerges:
    """Return what fails at the last commit of a line and not at its first, and what of doubted merges does.

    Args:
        upstream: the trees of upstream, from a clone or a mirror.
        team: the team's files, of which the Python ones are checked.
        packages: the names under which the team imports upstream.
        line: hashes of upstream's commits in order: the one before the first merge, then those of the merges.
        contracts: what merges of the line change. On four months, the merges that change the name that fails were
            in 423 of 426 cases those from which on it failed, or one of them was.
        doubts: by the commit of a merge, the places of the team that the rules say break. Where the end of the
            line shows nothing of this merge there, their files are checked right before and after it.
        kept: what was kept of earlier checks.
        folder: where files are written, in a folder that is removed at the end; else the system's.
        until: when the last check has to be over, by ``time.monotonic``.
        processes: checks at the same time, each with a folder of its own and 230 MB of memory.
    """
    try:
        with CheckedStates(upstream, team, packages, kept, folder, until, processes) as states:
            return states.check_line(line, contracts, doubts)
    except CheckerFailed as error:
        return CheckedMerges(alone=str(error))


def list_commits(merges: Iterable[CloneMerge]) -> list[str]:
    """Return the line of some merges, in order: each after the commit before it."""
    steps = (sha for merge in merges for sha in (merge.parent, merge.commit.sha) if sha)
    return list(dict.fromkeys(steps))


@dataclass(eq=False, slots=True)
class _WrittenTrees:
    """A folder with both trees: what is written of upstream, what of it can't be read, and the sizes of all."""

    folder: Path
    at: dict[str, BlobVersion] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)
    sizes: dict[str, int] = field(default_factory=dict)
    size: int = 0

    def write(self, place: str, text: str) -> None:
        self.size += len(text) - self.sizes.get(place, 0)
        self.sizes[place] = len(text)
        if self.size > _MAX_SIZE:
            raise CheckerFailed("the trees are larger than what is checked")
        file = self.folder / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", errors="replace", newline="")


class CheckedStates:
    """What the checker says of a team's tree at commits of upstream. It is a context, which removes its folder.

    Its methods raise CheckerFailed: a check takes too long or too much. Without the checker, there is none.
    """

    def __init__(
        self,
        upstream: CloneTrees,
        team: Iterable[SourceFile],
        packages: Sequence[str],
        kept: KeptReadings | None = None,
        folder: Path | None = None,
        until: float = math.inf,
        processes: int = 1,
    ) -> None:
        self._parent, self._until = folder, until
        self._program = find_program()
        self._upstream, self._kept = upstream, kept
        self._packages = frozenset(packages)
        self._team = self._place_team(team)
        self._paths = {place: file.path for place, file in self._team.items()}
        self._texts = {file.path: file.text for file in self._team.values()}
        places = (part for place, file in self._team.items() for part in (place, file.path, file.text))
        self._name = _hash_all(REQUEST, *sorted(packages), "", *places)
        self._names: dict[str, str] = {}
        self._states: dict[str, CheckedState] = {}
        # whether what can't be read can't be the next time, too
        self._is_lasting = True
        self._checks: list[str] = []
        self._pool = ThreadPoolExecutor(processes)
        self._trees: list[_WrittenTrees] = []
        self._free: list[_WrittenTrees | None] = [None] * processes
        # upstream is read by one thread at a time
        self._reading = Lock()

    def __enter__(self) -> CheckedStates:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        for trees in self._trees:
            shutil.rmtree(trees.folder, ignore_errors=True)

    def check_line(
        self,
        line: Sequence[str],
        contracts: Iterable[MergeContract],
        doubts: Mapping[str, Collection[Place]],
    ) -> CheckedMerges:
        """Return what fails at the last commit of a line and not at its first, or right after a doubted merge."""
        findings, paths = self._find_net(line, contracts), frozenset(self._texts)
        steps = []
        for before, after in pairwise(line):
            told = {(each.use.path, at) for each in findings.get(after, ()) for at in each.lines}
            doubted = frozenset(path for path, at in doubts.get(after, ()) if (path, at) not in told) & paths
            if doubted:
                steps.append((before, after, doubted))
        looked: dict[str, frozenset[str]] = {}
        for (_, after, doubted), here in zip(steps, self._map(self._compare, steps), strict=True):
            if here is None:
                continue
            looked[after] = doubted
            known = set(map(name_use, findings.get(after, ())))
            if more := [each for each in here if name_use(each) not in known]:
                findings[after] = (*findings.get(after, ()), *more)
        return CheckedMerges(findings, looked, paths, checks=len(self._checks))

    def _map(self, function: Callable[..., Value], arguments: Iterable[Sequence[Any]]) -> Iterator[Value]:
        return self._pool.map(lambda each: function(*each), arguments)

    def _find_net(self, line: Sequence[str], contracts: Iterable[MergeContract]) -> NewByCommit:
        """Return what is new at the last commit of a line, by the commits that began it."""
        name = _hash_all(self._name, *line)
        known = self._kept.checked_lines.load([name]) if self._kept else {}
        if name in known:
            return known[name]
        list(self._map(self._check, [(line[0], self._texts), (line[-1], self._texts)]))
        last = self._compare(line[0], line[-1], self._texts)
        if last is None:
            raise CheckerFailed("a file of upstream could be read at one end of the merges alone")
        suspects, begun = _find_suspects(line, contracts), defaultdict[int, list[Finding]](list)
        every: list[tuple[Finding, Sequence[int]]]
        every = [(each, _list_steps(suspects, each)) for each in last]
        spans: list[_Span] = [(0, len(line) - 1, every)]
        while spans:
            parts = []
            for low, high, new in spans:
                # one of its own steps, if one is in between
                every = [
                    (each, [at for at in steps if low < at <= high] or range(low + 1, high + 1))
                    for each, steps in new
                ]
                for each, steps in every:
                    if len(steps) == 1:
                        begun[steps[0]].append(each)
                if left := [part for part in every if len(part[1]) > 1]:
                    parts.append((line, low, high, left))
            spans = [half for halves in self._map(self._halve, parts) for half in halves]
        net = {line[at]: tuple(begun[at]) for at in sorted(begun)}
        if self._kept and self._is_lasting:
            self._kept.checked_lines.keep({name: net})
        return net

    def _halve(
        self, line: Sequence[str], low: int, high: int, new: Sequence[tuple[Finding, Sequence[int]]]
    ) -> tuple[_Span, _Span]:
        places, paths = sorted({at for _, steps in new for at in steps}), {each.use.path for each, _ in new}
        # right before a step: what an earlier one broke may have been mended in between
        half = places[(len(places) + 1) // 2] - 1
        early, late = (
            set(map(name_use, self._compare(line[start], line[end], paths) or ()))
            for start, end in ((low, half), (half, high))
        )
        # it may fail in another way again
        rest = [part for part in new if name_use(part[0]) in late or name_use(part[0]) not in early]
        return (low, half, [part for part in new if name_use(part[0]) in early]), (half, high, rest)

    def _compare(self, before: str, after: str, paths: Collection[str]) -> list[Finding] | None:
        """Return what fails in some files only after; None where a file could be read at one of both alone."""
        if not paths or self._name_state(before) == self._name_state(after):
            return []
        old, new = self._check(before, paths), self._check(after, paths)
        if old.unread != new.unread:
            return None
        sides = [[each for path in paths for each in state.files[path]] for state in (old, new)]
        return [build_finding(each, self._texts[each.path]) for each in list_new(*sides)]

    def _check(self, commit: str, paths: Collection[str]) -> CheckedState:
        """Return what the checker says of some of the team's files, or of more, with upstream at a commit."""
        name = self._name_state(commit)
        known = self._kept.checked_states.load([name]) if self._kept and name not in self._states else {}
        state = self._states.get(name) or known.get(name, CheckedState())
        missing = {place for place, path in self._paths.items() if path in paths and path not in state.files}
        if missing:
            looked = missing if 2 * len(missing) < len(self._paths) else self._paths.keys()
            trees = self._free.pop()
            try:
                with self._reading:
                    trees = self._move(trees, commit)
                seconds = min(MOST_SECONDS, self._until - time.monotonic())
                places = sorted(missing) if looked is missing else ()
                checked = run_program(self._program, trees.folder, places, seconds=seconds)
                unread = frozenset(trees.unread)
            finally:
                self._free.append(trees)
            self._checks.append(commit)
            by_path: dict[str, list[Diagnostic]] = {self._paths[place]: [] for place in looked}
            for each in checked:
                if each.path in looked:
                    path = self._paths[each.path]
                    by_path[path].append(replace(each, path=path))
            files = {**state.files, **{path: tuple(some) for path, some in by_path.items()}}
            state = CheckedState(files, unread)
            if self._kept and self._is_lasting:
                self._kept.checked_states.keep({name: state})
        self._states[name] = state
        return state

    def _name_state(self, commit: str) -> str:
        """Return what stands for all that a check depends on with upstream at a commit."""
        if commit not in self._names:
            with self._reading:
                files = sorted(self._list_upstream(commit).items())
            parts = (part for place, version in files for part in (place, version.path, version.blob))
            self._names[commit] = _hash_all(self._name, *parts)
        return self._names[commit]

    def _list_upstream(self, commit: str) -> dict[str, BlobVersion]:
        return {
            place: BlobVersion(path, blob)
            for path, blob in self._upstream.list_files(commit).items()
            if path.endswith(".py") and (place := _place_file(path)) and self._is_upstream(place)
        }

    def _place_team(self, team: Iterable[SourceFile]) -> dict[str, SourceFile]:
        """Return the team's files by where they are written. A copy of upstream would hide upstream."""
        placed: dict[str, SourceFile] = {}
        for file in team:
            place = _place_file(file.path) or f"script_{len(placed)}.py"
            if file.path.endswith(".py") and not file.problem and not self._is_upstream(place):
                placed.setdefault(place, file)
            if len(placed) > _MAX_FILES:
                raise CheckerFailed("your tree has more files than are checked")
        return placed

    def _is_upstream(self, place: str) -> bool:
        return place.partition("/")[0].removesuffix(".py") in self._packages

    def _move(self, trees: _WrittenTrees | None, commit: str) -> _WrittenTrees:
        """Return both trees, or new ones, with what is different at another commit written."""
        files = self._list_upstream(commit)
        if len(files) > _MAX_FILES:
            raise CheckerFailed("upstream has more files than are checked")
        try:
            if trees is None:
                trees = _WrittenTrees(Path(tempfile.mkdtemp(prefix="impact-checker-", dir=self._parent)))
                self._trees.append(trees)
                (trees.folder / "upstream").mkdir()
                for place, ours in self._team.items():
                    trees.write(f"team/{place}", ours.text)
            for place in trees.at.keys() - files.keys():
                _remove_file(trees.folder / "upstream", place)
            for place, version in files.items():
                if trees.at.get(place) != version:
                    file = self._upstream.read_file(version)
                    trees.write(f"upstream/{place}", _ANY_NAME if file.problem else replace_getattr(file))
                    (trees.unread.add if file.problem else trees.unread.discard)(place)
                    self._is_lasting &= file.problem is not SourceProblem.UNAVAILABLE
        except (OSError, ValueError) as error:
            raise CheckerFailed("the files for the type checker can't be written") from error
        trees.unread &= files.keys()
        trees.at = files
        return trees


def _find_suspects(line: Sequence[str], contracts: Iterable[MergeContract]) -> dict[str, set[int]]:
    """Return the places of the merges that change a name: by the name, its last two parts, and its last one."""
    places = {commit: at for at, commit in enumerate(line)}
    suspects = defaultdict[str, set[int]](set)
    for contract in contracts:
        if contract.commit not in places:
            continue
        for change in (*contract.changes, *contract.unlisted):
            if change.subject in _SUBJECTS and change.kind not in _HARMLESS:
                for key in chain(*map(_list_keys, filter(None, (change.name, change.new_name)))):
                    suspects[key].add(places[contract.commit])
    return suspects


def _list_steps(suspects: Mapping[str, set[int]], finding: Finding) -> list[int]:
    """Return the places of the merges that change what a finding names, as exactly as there are any."""
    names = (*finding.names, finding.use.name)
    # a class and a member of it are named apart
    names += tuple(f"{first}.{name.rpartition('.')[2]}" for first in names for name in names if "." not in first)
    keys = zip(*map(_list_keys, names), strict=True)
    *exact, last = (set[int]().union(*(suspects.get(key, ()) for key in some)) for some in keys)
    # what many change has a common name
    return sorted(next(filter(None, exact), last if len(last) <= _MOST_SUSPECTS else ()))


def _list_keys(name: str) -> tuple[str, str, str]:
    ends = name.removesuffix(".__init__").split(".")[-2:]
    return name, f"..{'.'.join(ends)}", f".{ends[-1]}"


# the same paths are at each commit of a line, and a path takes 20 microseconds
@lru_cache(maxsize=4 * _MAX_FILES)
def _place_file(path: str) -> str:
    """Return the path of a module by its name alone, without a folder of sources; empty for what is no module."""
    named = name_module(path)
    if named is None:
        return ""
    name, is_package = named
    parts = [*name.split("."), *(["__init__"] if is_package else ())]
    return "" if any(len(part.encode()) > _MAX_NAME for part in parts) else f"{'/'.join(parts)}.py"


def _remove_file(root: Path, place: str) -> None:
    """Remove a file with the folders that are empty then: they would be packages without code."""
    file = root / place
    file.unlink()
    for folder in file.parents:
        if folder == root or any(folder.iterdir()):
            return
        folder.rmdir()


def _hash_all(*parts: str) -> str:
    name = hashlib.blake2b(digest_size=20)
    for part in parts:
        data = part.encode(errors="surrogatepass")
        name.update(b"%d:%b" % (len(data), data))
    return name.hexdigest()


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
