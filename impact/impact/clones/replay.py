"""The replay of windows: each upstream merge judged by what the downstream had before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC

from impact.checker.diagnostics import Witness
from impact.checker.states import CheckedStates
from impact.clones.line_changes import LineChanges
from impact.clones.profile_judge import (
    DownstreamCommit,
    ProfileJudge,
    describe_change,
    describe_use,
    list_hit_uses,
)
from impact.clones.replay_cache import FileCache
from impact.clones.upstream_line import CloneMerge
from impact.clones.windows import ReplayWindow
from impact.evaluation.imported_files import count_imported, list_imported_names
from impact.evaluation.touch_cases import TouchCase, WindowSummary
from impact.git.clone_trees import CloneTrees
from impact.profile.models import Use
from impact.source.models import SourceFile
from impact.source.trees import BlobVersion
from impact.touches.profile_index import ProfileIndex


@dataclass(frozen=True, slots=True)
class WindowTask:
    """A window to replay with its merges, oldest first. ``number`` counts windows from 0."""

    number: int
    window: ReplayWindow
    merges: tuple[CloneMerge, ...]


@dataclass(frozen=True, slots=True)
class WindowResult:
    """A window that was replayed, and its merges as judged."""

    number: int
    summary: WindowSummary
    cases: tuple[TouchCase, ...]


class Replay:
    """Replay of windows one after the other, which keeps what it read of each content."""

    def __init__(
        self,
        upstream: CloneTrees,
        downstream: CloneTrees,
        name: str,
        packages: Sequence[str],
        *,
        has_checker: bool = False,
    ) -> None:
        self._judge = ProfileJudge(upstream, downstream, name, packages)
        self._upstream = upstream
        self._has_checker = has_checker
        self._downstream = downstream
        self._packages = tuple(packages)
        self._imports = FileCache(downstream, self._list_imports)

    def replay_window(self, task: WindowTask) -> WindowResult:
        """Judge the merges of a window."""
        window = task.window
        files = self._downstream.list_files(window.downstream)
        names = self._collect_imports(files)
        index = self._judge.build_index(
            DownstreamCommit(window.downstream, task.merges[0].commit.committed_at, files), window.upstream
        )
        changes = LineChanges(self._downstream, files, self._downstream.list_files(window.later))
        with ExitStack() as stack:
            states = stack.enter_context(self._open_states(files)) if self._has_checker else None
            cases = tuple(
                self._judge_merge(task.number, merge, names, index, changes, states) for merge in task.merges
            )
        return WindowResult(task.number, _summarize(window, index.profile.uses, changes, len(cases)), cases)

    def _judge_merge(
        self,
        window: int,
        merge: CloneMerge,
        names: frozenset[str],
        index: ProfileIndex,
        changes: LineChanges,
        states: CheckedStates | None,
    ) -> TouchCase:
        commit = merge.commit
        witness = Witness(states.list_findings(merge.parent, commit.sha), states.paths) if states else None
        touches = self._judge.judge(merge, index, witness)
        first = touches.touches[0] if touches.touches else None
        lines = {(use.path, use.line) for use in list_hit_uses(touches)}
        return TouchCase(
            merge.number,
            commit.committed_at.astimezone(UTC).date(),
            window,
            commit.lines,
            count_imported(commit.paths, names),
            touches.level,
            touches.score,
            describe_change(first.change) if first else "",
            describe_use(first) if first else "",
            len(lines),
            sum(changes.has_changed(*line) for line in lines),
            touches.figures,
        )

    def _open_states(self, files: Mapping[str, str]) -> CheckedStates:
        versions = (BlobVersion(path, blob) for path, blob in files.items() if path.endswith(".py"))
        return CheckedStates(self._upstream, map(self._downstream.read_file, versions), self._packages)

    def _collect_imports(self, files: Mapping[str, str]) -> frozenset[str]:
        """Return the upstream names that the tree imports."""
        versions = (BlobVersion(path, blob) for path, blob in files.items() if path.endswith(".py"))
        return frozenset().union(*map(self._imports.get_value, versions))

    def _list_imports(self, file: SourceFile) -> frozenset[str]:
        return list_imported_names(file.text, self._packages)


def _summarize(window: ReplayWindow, uses: Sequence[Use], changes: LineChanges, merges: int) -> WindowSummary:
    lines = {(use.path, use.line) for use in uses}
    changed = sum(changes.has_changed(*line) for line in lines)
    return WindowSummary(window.title, window.downstream, merges, len(uses), len(lines), changed)
