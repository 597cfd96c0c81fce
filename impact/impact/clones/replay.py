"""The replay of windows: each upstream merge judged by what the downstream had before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from impact.checker.diagnostics import LEFT_OUT, Witness
from impact.clones.clone_upgrade import CloneUpgradeReader, DownstreamTree
from impact.clones.kept_readings import KeptReadings
from impact.clones.line_changes import LineChanges
from impact.clones.line_checks import check_line, list_commits
from impact.clones.replay_cache import FileCache
from impact.clones.tree_scan import read_modules
from impact.clones.upstream_line import CloneMerge
from impact.clones.windows import ReplayWindow
from impact.contract.models import MergeContract
from impact.evaluation.imported_files import count_imported, list_imported_names
from impact.evaluation.touch_cases import TouchCase, WindowSummary
from impact.git.clone_trees import CloneTrees
from impact.source.models import BlobVersion, SourceFile
from impact.touches.judgement import find_doubts, judge_merge
from impact.touches.models import TouchLevel
from impact.touches.profile_index import ProfileIndex


@dataclass(frozen=True, slots=True)
class WindowTask:
    """A window to replay with its merges, oldest first, and their contracts. ``number`` counts windows from 0."""

    number: int
    window: ReplayWindow
    merges: tuple[CloneMerge, ...]
    contracts: tuple[MergeContract, ...] = ()


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
        kept: KeptReadings | None,
        *,
        has_checker: bool,
    ) -> None:
        self._reader = CloneUpgradeReader(upstream, kept=kept)
        self._upstream, self._downstream, self._kept = upstream, downstream, kept
        self._name, self._packages = name, tuple(packages)
        self._has_checker = has_checker
        self._imports = FileCache(downstream, self._list_imports)

    def replay_window(self, task: WindowTask) -> WindowResult:
        """Judge the merges of a window."""
        window = task.window
        files = self._downstream.list_files(window.downstream)
        names = self._collect_imports(files)
        tree = DownstreamTree(self._downstream, self._name, datetime.now(UTC), window.downstream, self._packages)
        profile = self._reader.scan(tree, window.upstream)
        index = ProfileIndex(profile)
        changes = LineChanges(self._downstream, files, self._downstream.list_files(window.later))
        checked = LEFT_OUT
        if self._has_checker:
            team, doubts = read_modules(self._downstream, window.downstream), find_doubts(task.contracts, index)
            way = list_commits(task.merges)
            checked = check_line(self._upstream, team, self._packages, way, task.contracts, doubts, self._kept)
        cases = tuple(
            _judge(task.number, merge, contract, names, index, changes, checked.get_witness(contract.commit))
            for merge, contract in zip(task.merges, task.contracts, strict=True)
        )
        lines = {(use.path, use.line) for use in profile.uses}
        changed = sum(changes.has_changed(*line) for line in lines)
        summary = WindowSummary(
            window.title, window.downstream, len(cases), len(profile.uses), len(lines), changed, checked.alone
        )
        return WindowResult(task.number, summary, cases)

    def _collect_imports(self, files: Mapping[str, str]) -> frozenset[str]:
        """Return the upstream names that the tree imports."""
        versions = (BlobVersion(path, blob) for path, blob in files.items() if path.endswith(".py"))
        return frozenset().union(*map(self._imports.get_value, versions))

    def _list_imports(self, file: SourceFile) -> frozenset[str]:
        return list_imported_names(file.text, self._packages)


def _judge(
    window: int,
    merge: CloneMerge,
    contract: MergeContract,
    names: frozenset[str],
    index: ProfileIndex,
    changes: LineChanges,
    witness: Witness | None,
) -> TouchCase:
    commit, touches = merge.commit, judge_merge(contract, index, witness)
    breaking = [each for each in touches.touches if each.level is TouchLevel.BREAKS]
    lines = {(use.path, use.line) for touch in breaking for use in touch.uses}
    case = TouchCase(
        merge.number,
        commit.committed_at.astimezone(UTC).date(),
        window,
        commit.lines,
        count_imported(commit.paths, names),
        touches.level,
        touches.score,
        hit_lines=len(lines),
        changed_lines=sum(changes.has_changed(*line) for line in lines),
        figures=touches.figures,
    )
    if not touches.touches:
        return case
    change, use = touches.touches[0].change, touches.touches[0].use
    target = f" -> {change.new_name}" if change.new_name else ""
    text = f"{change.kind} {change.subject} {change.name}{target}"
    return replace(case, change=text, use=f"{use.path}:{use.line} {use.kind} {use.name}")
