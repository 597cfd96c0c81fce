"""What a coding agent needs to adapt a team's code to one merge, all of it from facts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.domain.pull_requests.diff import DiffLine, split_hunks
from bot.domain.pull_requests.models import ChangedFile, PullRequest
from impact.contract.models import ContractChange, MergeContract
from impact.profile.models import Profile, Use
from impact.touches.models import MergeTouches, Touch

# lines around a migrated one: a hunk may be a whole file
_CONTEXT_LINES = 6
_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class MigrationHunk:
    """A part of the diff in which upstream changed its own callers; None among the ``lines`` is a gap."""

    path: str
    header: str
    lines: tuple[DiffLine | None, ...]


@dataclass(frozen=True, slots=True)
class AgentTask:
    """The facts about a merge that touches a profile's code.

    ``hunks`` are upstream's own migrations. ``other_hunks`` is how many more of the diff change a line with one of
    the changed names. ``tests`` are the team's tests that use what changed, ``upstream_tests`` those that
    upstream changed itself. ``has_diff``: the diff is known.
    """

    pull: PullRequest
    merge: MergeTouches
    profile: Profile
    hunks: tuple[MigrationHunk, ...] = ()
    other_hunks: int = 0
    tests: tuple[Use, ...] = ()
    upstream_tests: tuple[str, ...] = ()
    has_diff: bool = True


def build_agent_task(
    pull: PullRequest,
    merge: MergeTouches,
    contract: MergeContract,
    profile: Profile,
    is_test: Callable[[str], bool],
) -> AgentTask:
    """Build the task for a merge. ``is_test`` says whether a path of upstream is one of a test.

    ``pull`` has its files if they are known.
    """
    changes = [touch.change for touch in merge.touches]
    files = pull.files or ()
    hunks, others = _select_hunks(files, changes, contract)
    return AgentTask(
        pull,
        merge,
        profile,
        tuple(hunks),
        others,
        tuple(_list_tests(profile.uses, merge.touches)),
        tuple(file.path for file in files if file.status != "removed" and is_test(file.path)),
        has_diff=any(file.patch for file in files),
    )


def _list_tests(uses: Iterable[Use], touches: Sequence[Touch]) -> Iterator[Use]:
    """Yield one use of each test of the team that uses what a merge changed."""
    names = {name for touch in touches for use in touch.uses for name in (use.name, *use.definitions)}
    seen: set[str] = set()
    for use in uses:
        if use.is_test and use.path not in seen and not names.isdisjoint((use.name, *use.definitions)):
            seen.add(use.path)
            yield use


def _select_hunks(
    files: Iterable[ChangedFile], changes: Sequence[ContractChange], contract: MergeContract
) -> tuple[list[MigrationHunk], int]:
    """Return the hunks with upstream's migrations, and how many others change a line with a changed name."""
    migrated = _group_lines(changes, contract)
    words = {change.name.rpartition(".")[2] for change in changes}
    own = {change.path for change in changes}
    hunks: list[MigrationHunk] = []
    others = 0
    for file in files:
        line_numbers = migrated.get(file.path, frozenset())
        # GitHub leaves out the diffs of large files
        others += bool(line_numbers) and not file.patch
        for header, lines in split_hunks(file.patch or ""):
            near = [line for line in line_numbers if lines[0].new <= line <= lines[-1].new]
            if near:
                hunks.append(MigrationHunk(file.path, header, tuple(_cut_lines(lines, near))))
            elif file.path not in own and _names_any(lines, words):
                others += 1
    return hunks, others


def _group_lines(changes: Sequence[ContractChange], contract: MergeContract) -> Mapping[str, frozenset[int]]:
    """Return the migrated lines by the paths of their files."""
    lines: defaultdict[str, set[int]] = defaultdict(set)
    for change in changes:
        for migration in contract.migrations.get(change.name, ()):
            lines[migration.path].add(migration.line)
    return {path: frozenset(each) for path, each in lines.items()}


def _names_any(lines: Iterable[DiffLine], words: set[str]) -> bool:
    """Return whether a removed line has one of the words."""
    return any(line.mark == "-" and not words.isdisjoint(_WORD.findall(line.text)) for line in lines)


def _cut_lines(lines: Sequence[DiffLine], near: Sequence[int]) -> Iterator[DiffLine | None]:
    """Yield the lines around some lines of the new file, with a gap for each run that is left out."""
    is_after_gap = False
    for line in lines:
        if any(abs(line.new - number) <= _CONTEXT_LINES for number in near):
            is_after_gap = False
            yield line
        elif not is_after_gap:
            is_after_gap = True
            yield None
