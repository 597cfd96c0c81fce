"""The replay of windows: each upstream merge judged by what the downstream had before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC

from bot.domain.evaluation.imported_files import count_imported, list_imported_names
from bot.domain.evaluation.touch_cases import TouchCase, WindowSummary
from bot.domain.source.models import SourceFile
from bot.domain.source.trees import BlobVersion
from bot.ports.clone_trees import CloneTrees
from bot.services.touches.replay_cache import FileCache, UpstreamTree
from bot.services.touches.upstream_line import CloneMerge
from bot.services.touches.windows import ReplayWindow


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

    def __init__(self, upstream: CloneTrees, downstream: CloneTrees, name: str, packages: Sequence[str]) -> None:
        self._upstream = UpstreamTree(upstream)
        self._downstream = downstream
        self._packages = tuple(packages)
        self._imports = FileCache(downstream, self._list_imports)

    def replay_window(self, task: WindowTask) -> WindowResult:
        """Judge the merges of a window."""
        window = task.window
        files = self._downstream.list_files(window.downstream)
        names = self._collect_imports(files)
        cases = tuple(self._judge(task, merge, names) for merge in task.merges)
        summary = WindowSummary(window.title, window.downstream, len(cases))
        return WindowResult(task.number, summary, cases)

    def _judge(self, task: WindowTask, merge: CloneMerge, names: frozenset[str]) -> TouchCase:
        commit = merge.commit
        return TouchCase(
            merge.number,
            commit.committed_at.astimezone(UTC).date(),
            task.number,
            commit.lines,
            count_imported(commit.paths, names),
        )

    def _collect_imports(self, files: Mapping[str, str]) -> frozenset[str]:
        """Return the upstream names that the tree imports."""
        versions = (BlobVersion(path, blob) for path, blob in files.items() if path.endswith(".py"))
        return frozenset().union(*map(self._imports.get_value, versions))

    def _list_imports(self, file: SourceFile) -> frozenset[str]:
        return list_imported_names(file.text, self._packages)
