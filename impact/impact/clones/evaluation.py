"""Evaluation of touches: the past of an upstream and a downstream clone, replayed and measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import islice

from impact.checker.diagnostics import LEFT_OUT, Witness
from impact.clones.clone_contracts import extract_contracts
from impact.clones.kept_readings import KeptReadings
from impact.clones.line_checks import list_commits
from impact.clones.processes import divide, map_apart
from impact.clones.tree_scan import DownstreamTree, ProgressCallback
from impact.clones.upstream_line import CloneMerge, UpstreamCommits, read_upstream
from impact.clones.upstream_reader import UpstreamReader
from impact.clones.windows import PinChange, ReplayWindow, list_pinned_windows, list_weekly_windows, mine_pins
from impact.contract.models import MergeContract
from impact.errors import UsageError
from impact.evaluation.adaptations import NamingCommit, TouchTruth, mine_truth
from impact.evaluation.imported_files import count_imported, detect_packages, list_imported_names
from impact.evaluation.touch_evaluation import TouchCase, TouchEvaluation, WindowSummary, evaluate_cases
from impact.evaluation.window import EvaluationWindow
from impact.git.clone_trees import CloneTrees
from impact.repository import Repository
from impact.source.models import BlobVersion
from impact.text.strings import count_common
from impact.touches.judgement import find_doubts, judge_merge
from impact.touches.models import TouchLevel
from impact.touches.profile_index import ProfileIndex

# a process reads both trees before its first window: fewer windows are not worth it
_LEAST_SHARE = 4
_MAX_FILES = 12_000


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """What to replay. ``pins`` are windows of their own; with ``finds_pins``, those of the downstream's history.

    Without ``truth``, it is read from the downstream's commit messages. ``name`` is that of the profile. With
    ``has_checker``, a type checker judges beside the rules, where it is installed. What is read is ``kept``.
    ``repository`` is upstream's, where its merges do not name it.
    """

    dates: EvaluationWindow
    name: str
    pins: tuple[PinChange, ...] = ()
    finds_pins: bool = False
    truth: TouchTruth | None = None
    processes: int = 2
    has_checker: bool = True
    kept: KeptReadings | None = None
    repository: Repository | None = None


def evaluate_touches(
    upstream: CloneTrees, downstream: CloneTrees, options: ReplayOptions, progress: ProgressCallback
) -> TouchEvaluation:
    """Replay the merges of some dates and measure how they were judged.

    ``progress`` counts the merges that are read, and then those that are judged. Raises UsageError: a clone can't
    be read, or has nothing at these dates.
    """
    windows = _choose_windows(upstream, downstream, options)
    hashes = {sha for window in windows for sha in window.merges}
    line = read_upstream(
        upstream, [each for each in upstream.list_line() if each.sha in hashes], options.repository
    )
    tasks = _build_tasks(windows, line)
    if not tasks:
        raise UsageError(
            f"No pull request was merged upstream from {options.dates.since} to {options.dates.until}: "
            "choose other dates or another --upstream."
        )
    packages = detect_packages(upstream.list_files(tasks[0].window.upstream))
    truth = options.truth or _mine_truth(downstream, line, packages)
    merges = [merge for task in tasks for merge in task.merges]
    contracts = iter(extract_contracts(upstream, merges, progress, options.kept))
    tasks = [replace(task, contracts=tuple(islice(contracts, len(task.merges)))) for task in tasks]
    replay = (upstream, downstream, options.name, packages, options.kept, options.has_checker)
    processes = max(1, min(options.processes, len(tasks) // _LEAST_SHARE))
    parts = divide(tasks, [len(task.merges) for task in tasks], processes)
    results: list[WindowResult] = []
    for result in map_apart(start_replay, replay, parts) if processes > 1 else map(start_replay(*replay), tasks):
        results.append(result)
        progress(sum(len(each.cases) for each in results), len(merges))
    results.sort(key=lambda result: result.number)
    return evaluate_cases(
        options.name,
        line.title or ", ".join(packages),
        options.dates,
        [result.summary for result in results],
        [case for result in results for case in result.cases],
        truth,
    )


def _choose_windows(upstream: CloneTrees, downstream: CloneTrees, options: ReplayOptions) -> list[ReplayWindow]:
    """Return the windows between pins, and weeks for the merges that these don't have."""
    pins = options.pins
    if options.finds_pins and upstream.list_line():
        packages = detect_packages(upstream.list_files(upstream.list_line()[-1].sha))
        pins = tuple(mine_pins(upstream, downstream, options.dates, packages))
    pinned = list_pinned_windows(upstream, downstream, options.dates, pins)
    gone = [sha for window in pinned for sha in window.merges]
    return [*pinned, *list_weekly_windows(upstream, downstream, options.dates, gone)]


def _build_tasks(windows: Iterable[ReplayWindow], line: UpstreamCommits) -> list[WindowTask]:
    merges = {merge.commit.sha: merge for merge in line.merges}
    read = ((window, tuple(merges[sha] for sha in window.merges if sha in merges)) for window in windows)
    return [WindowTask(number, *each) for number, each in enumerate(each for each in read if each[1])]


def _mine_truth(downstream: CloneTrees, line: UpstreamCommits, packages: Sequence[str]) -> TouchTruth:
    merged = {merge.number: merge.commit.committed_at for merge in line.merges}
    begin = min(merged.values())
    later = [commit for commit in downstream.list_line() if commit.committed_at >= begin]
    commits = (NamingCommit(each.committed_at, each.message) for each in downstream.iterate_commits(later))
    # a fork, or a clone without an origin, may have another name
    return mine_truth(commits, dict.fromkeys((line.repository.name, *packages)), merged)


# --- one window


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


def start_replay(
    upstream: CloneTrees,
    downstream: CloneTrees,
    name: str,
    packages: Sequence[str],
    kept: KeptReadings | None,
    has_checker: bool,  # noqa: FBT001 (a process passes arguments by place)
) -> Callable[[WindowTask], WindowResult]:
    """Return what replays windows one after the other, and keeps what it read of each content."""
    reader = UpstreamReader(upstream, kept=kept)
    # a tree has some thousand files, of which few are others in the next window
    list_imports = lru_cache(_MAX_FILES)(
        lambda each: list_imported_names(downstream.read_file(each).text, packages)
    )

    def replay_window(task: WindowTask) -> WindowResult:
        window = task.window
        files = downstream.list_files(window.downstream)
        modules = (BlobVersion(path, blob) for path, blob in files.items() if path.endswith(".py"))
        names = frozenset[str]().union(*map(list_imports, modules))
        profile = reader.scan(
            DownstreamTree(downstream, name, datetime.now(UTC), window.downstream, packages), window.upstream
        )
        index = ProfileIndex(profile)
        changes = LineChanges(downstream, files, downstream.list_files(window.later))
        checked = LEFT_OUT
        if has_checker:
            doubts = find_doubts(task.contracts, index)
            way = list_commits(task.merges)
            # other windows are checked at the same time
            checked = reader.check(downstream, profile, way, task.contracts, doubts, processes=1)
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

    return replay_window


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


class LineChanges:
    """The changed lines between two trees. A file that is gone has all its lines changed, a moved one none."""

    def __init__(self, trees: CloneTrees, before: Mapping[str, str], after: Mapping[str, str]) -> None:
        self._trees = trees
        self._before = before
        self._after = after
        self._blobs = frozenset(after.values())
        self._kept: dict[str, frozenset[int]] = {}

    def has_changed(self, path: str, line: int) -> bool:
        """Return whether a line of a file, counted from 1, is gone or different."""
        blob = self._before.get(path)
        if blob is None or blob in self._blobs:
            return False
        if path not in self._kept:
            self._kept[path] = self._find_kept(path)
        return line not in self._kept[path]

    def _find_kept(self, path: str) -> frozenset[int]:
        """Return the numbers of the lines of a file that are the same later."""
        if path not in self._after:
            return frozenset()
        old, new = (
            self._trees.read_file(BlobVersion(path, files[path])).lines for files in (self._before, self._after)
        )
        start = count_common(old, new)
        end = count_common(old[start:][::-1], new[start:][::-1])
        kept = {*range(start), *range(len(old) - end, len(old))}
        matcher = SequenceMatcher(None, old[start : len(old) - end], new[start : len(new) - end], autojunk=True)
        for block in matcher.get_matching_blocks():
            kept.update(range(start + block.a, start + block.a + block.size))
        return frozenset(line + 1 for line in kept)
