"""Evaluation of touches: the past of an upstream and a downstream clone, replayed and measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

from impact.clones.clone_contracts import extract_contracts
from impact.clones.kept_readings import KeptReadings
from impact.clones.replay import Replay, WindowResult, WindowTask
from impact.clones.upstream_line import UpstreamLine, read_upstream
from impact.clones.windows import (
    Lines,
    PinChange,
    ReplayWindow,
    list_pinned_windows,
    list_weekly_windows,
    mine_pins,
)
from impact.errors import UsageError
from impact.evaluation.adaptations import NamingCommit, mine_truth
from impact.evaluation.imported_files import detect_packages
from impact.evaluation.touch_cases import TouchTruth
from impact.evaluation.touch_evaluation import TouchEvaluation, evaluate_cases
from impact.evaluation.window import EvaluationWindow
from impact.git.clone_trees import CloneTrees, TreesOpener
from impact.repository import Repository

Progress = Callable[[int, int], None]
_ReplayArguments = tuple["ReplayClones", Sequence[str], "ReplayOptions"]
# a process reads both trees before its first window: fewer windows are not worth it
_LEAST_SHARE = 4


@dataclass(frozen=True, slots=True)
class ReplayClones:
    """The clones of a replay. ``open_trees`` works in another process, too."""

    upstream: Path
    downstream: Path
    open_trees: TreesOpener
    upstream_branch: str | None = None
    downstream_branch: str | None = None
    repository: Repository | None = None

    def open_both(self, stack: ExitStack) -> tuple[CloneTrees, CloneTrees]:
        """Open the clones until the end of a stack."""
        return (
            stack.enter_context(self.open_trees(self.upstream, self.upstream_branch)),
            stack.enter_context(self.open_trees(self.downstream, self.downstream_branch)),
        )


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """What to replay. ``pins`` are windows of their own; with ``finds_pins``, those of the downstream's history.

    Without ``truth``, it is read from the downstream's commit messages. ``name`` is that of the profile. With
    ``has_checker``, a type checker judges beside the rules, where it is installed. What is read is ``kept``.
    """

    dates: EvaluationWindow
    name: str
    pins: tuple[PinChange, ...] = ()
    finds_pins: bool = False
    truth: TouchTruth | None = None
    processes: int = 2
    has_checker: bool = True
    kept: KeptReadings | None = None


def evaluate_touches(clones: ReplayClones, options: ReplayOptions, progress: Progress) -> TouchEvaluation:
    """Replay the merges of some dates and measure how they were judged.

    ``progress`` counts the merges that are read, and then those that are judged. Raises UsageError: a clone can't
    be read, or has nothing at these dates.
    """
    with ExitStack() as stack:
        upstream, downstream = clones.open_both(stack)
        lines = Lines(upstream.list_line(), downstream.list_line())
        windows = _choose_windows(upstream, downstream, lines, options)
        hashes = (sha for window in windows for sha in window.merges)
        line = read_upstream(upstream, lines.upstream, hashes, clones.repository)
        tasks = _build_tasks(windows, line)
        if not tasks:
            raise UsageError(
                f"No pull request was merged upstream from {options.dates.since} to {options.dates.until}: "
                "choose other dates or another --upstream."
            )
        packages = detect_packages(upstream.list_files(tasks[0].window.upstream))
        truth = options.truth or _mine_truth(downstream, lines, line, packages)
        merges = [merge for task in tasks for merge in task.merges]
        contracts = iter(extract_contracts(upstream, merges, progress, options.kept))
        tasks = [replace(task, contracts=tuple(islice(contracts, len(task.merges)))) for task in tasks]
    results = _replay(clones, options, packages, tasks, progress)
    return evaluate_cases(
        options.name,
        line.title or ", ".join(packages),
        options.dates,
        [result.summary for result in results],
        [case for result in results for case in result.cases],
        truth,
    )


def _choose_windows(
    upstream: CloneTrees, downstream: CloneTrees, lines: Lines, options: ReplayOptions
) -> list[ReplayWindow]:
    """Return the windows between pins, and weeks for the merges that these don't have."""
    pins = options.pins
    if options.finds_pins and lines.upstream:
        packages = detect_packages(upstream.list_files(lines.upstream[-1].sha))
        pins = tuple(mine_pins(upstream, downstream, lines, options.dates, packages))
    pinned = list_pinned_windows(upstream, downstream, lines, options.dates, pins)
    gone = [sha for window in pinned for sha in window.merges]
    return [*pinned, *list_weekly_windows(lines, options.dates, gone)]


def _build_tasks(windows: Iterable[ReplayWindow], line: UpstreamLine) -> list[WindowTask]:
    known = (
        (window, tuple(line.merges[sha] for sha in window.merges if sha in line.merges)) for window in windows
    )
    return [WindowTask(number, *each) for number, each in enumerate(each for each in known if each[1])]


def _mine_truth(downstream: CloneTrees, lines: Lines, line: UpstreamLine, packages: Sequence[str]) -> TouchTruth:
    merged = {merge.number: merge.commit.committed_at for merge in line.merges.values()}
    begin = min(merged.values())
    later = [commit for commit in lines.downstream if commit.committed_at >= begin]
    commits = (NamingCommit(each.committed_at, each.message) for each in downstream.iterate_commits(later))
    # a fork, or a clone without an origin, may have another name
    return mine_truth(commits, dict.fromkeys((line.repository.name, *packages)), merged)


def _replay(
    clones: ReplayClones,
    options: ReplayOptions,
    packages: Sequence[str],
    tasks: Sequence[WindowTask],
    progress: Progress,
) -> list[WindowResult]:
    """Return the results of all windows, from as many processes as are worth it."""
    total = sum(len(task.merges) for task in tasks)
    processes = max(1, min(options.processes, len(tasks) // _LEAST_SHARE))
    # they are read already
    arguments = (clones, packages, replace(options, truth=None))
    results: list[WindowResult] = []
    for result in _replay_here(arguments, tasks) if processes == 1 else _replay_apart(arguments, tasks, processes):
        results.append(result)
        progress(sum(len(each.cases) for each in results), total)
    return sorted(results, key=lambda result: result.number)


def _replay_here(arguments: _ReplayArguments, tasks: Sequence[WindowTask]) -> Iterator[WindowResult]:
    with ExitStack() as stack:
        yield from map(_open_replay(stack, *arguments).replay_window, tasks)


def _replay_apart(
    arguments: _ReplayArguments, tasks: Sequence[WindowTask], processes: int
) -> Iterator[WindowResult]:
    """Yield results from other processes as they arrive."""
    # a fork would share the pipes and threads of this process
    executor = ProcessPoolExecutor(processes, get_context("spawn"), _start_process, arguments)
    try:
        futures = [executor.submit(_replay_in_process, task) for task in tasks]
        yield from (future.result() for future in as_completed(futures))
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


# the replay of this process, if it is one of several
_OWN_REPLAY: list[Replay] = []


def _start_process(*arguments: *_ReplayArguments) -> None:
    # what is open ends with the process
    _OWN_REPLAY.append(_open_replay(ExitStack(), *arguments))


def _replay_in_process(task: WindowTask) -> WindowResult:
    return _OWN_REPLAY[0].replay_window(task)


def _open_replay(
    stack: ExitStack, clones: ReplayClones, packages: Sequence[str], options: ReplayOptions
) -> Replay:
    both = clones.open_both(stack)
    return Replay(*both, options.name, packages, options.kept, has_checker=options.has_checker)
