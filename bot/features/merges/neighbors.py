"""The merges around one: what others changed of the same functions just before, and what became of it that day.

Three merges of an hour may touch the same lines, and the diff of each shows its own alone. They come from the
recorded history, so that a summary made anew from the same history is asked for with the same text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bot.app import App
from bot.features.merges.outcomes import MergeOutcome
from bot.features.merges.timeline import NEAR_AFTER, NEAR_BEFORE
from bot.platform.models.packing import PackedChange, flatten_path, render_hunks
from bot.platform.models.prompts import fence_text, limit_lines
from bot.platform.pulls.diff import DiffLine, split_hunks
from bot.platform.pulls.models import ChangedFile, PullRequest
from bot.platform.pulls.paths import PathClass, PathClasses
from bot.text import format_duration
from impact.history.outcomes import OutcomeKind
from impact.text.strings import collapse_lines, truncate_text

# merges whose changes are read, and characters of the changes of one and of all: some 1,500 tokens
_MAX_READ = 8
_MAX_HUNKS, _MAX_TEXT = 2_400, 6_000
_MAX_TITLE, _MAX_NUMBERS = 120, 10
# lines beside a change that belong to it, and of the longest function that belongs to it as a whole
_NEAR, _MAX_FUNCTION = 3, 200
# characters of a line that tells a place; such lines of a file, and else the most lines from where it was
_MIN_LINE, _MAX_PLACES, _MAX_SHIFT = 8, 3, 60
_EXPLAINED = frozenset((PathClass.PRODUCT, PathClass.BUILD, PathClass.SUPPORT))
# what a file imports is next to what another merge imports, and has nothing to do with it
_IMPORT = re.compile(r"\s*(?:$|import\s|from\s|#\s*include|use\s)")
_VERBS = {
    OutcomeKind.REVERTED: "reverts this pull request",
    OutcomeKind.PARTLY: "reverts this pull request in part",
    OutcomeKind.REPAIRED: "repairs what this pull request broke, as it says",
}


@dataclass(frozen=True, slots=True)
class Neighbors:
    """Merges with a changed file in common, with their patches, and outcomes of the one that they are about.

    ``earlier`` are of the 48 hours before, newest first; ``later`` of the 24 hours after, oldest first, as far as
    they are known. The changes of ``unread`` could not be read.
    """

    earlier: tuple[PullRequest, ...] = ()
    later: tuple[PullRequest, ...] = ()
    outcomes: tuple[MergeOutcome, ...] = ()
    unread: tuple[int, ...] = ()


NO_NEIGHBORS = Neighbors()
_BEFORE = "Merged in the 48 hours before, with what they changed of the same functions:"
_SINCE = "Merged since, and not part of what is shown:"


def find_neighbors(app: App, pull: PullRequest) -> Neighbors:
    """Return the recorded merges around one whose files are loaded; none if the store is away, which is logged."""
    if not pull.is_merged or not pull.files:
        return NO_NEIGHBORS
    at = pull.merge_time
    since, until = at - NEAR_BEFORE, at + NEAR_AFTER
    nearby = app.timeline.load_nearby(pull)
    others = [each for each in nearby.pulls if each.number != pull.number and since <= each.merge_time < until]
    if not others:
        return NO_NEIGHBORS
    outcomes = tuple(
        each
        for each in nearby.outcomes
        if each.pull.number == pull.number and each.stands and each.by.merge_time < until
    )
    classes = app.paths.get_path_classes(pull.repository)
    paths = _list_paths(pull, classes)
    sharing = [each for each in others if not paths.isdisjoint(_list_paths(each, classes))]
    before = [each for each in sharing if _get_place(each) < _get_place(pull)][:_MAX_READ]
    after = [each for each in reversed(sharing) if _get_place(each) > _get_place(pull)][:_MAX_READ]
    # what is recorded has no patches
    loaded = {each.number: app.load_files(replace(each, files=None)) for each in (*before, *after)}
    return Neighbors(
        tuple(loaded[each.number] for each in before),
        tuple(loaded[each.number] for each in after),
        outcomes,
        (
            *(number for number, each in loaded.items() if each.files is None),
            *(each.number for each in others if each.files is None),
        ),
    )


def _get_place(pull: PullRequest) -> tuple[object, int]:
    return pull.merge_time, pull.number


def _list_paths(pull: PullRequest, classes: PathClasses) -> set[str]:
    files = [each for each in pull.files or () if classes.classify_path(each.path) in _EXPLAINED]
    return {path for each in files for path in (each.path, each.previous_path) if path}


# --- what the model is shown of them


def describe_surroundings(pull: PullRequest, change: PackedChange, neighbors: Neighbors) -> str:
    """Return what code looked up about a change, between marks: what stands, and the merges around it."""
    files = [file for file in pull.files or () if file.patch]
    places = {file.path: _Places.build(file, change) for file in files}
    places |= {file.previous_path: places[file.path] for file in files if file.previous_path}
    before = [*_list_earlier(pull, places, neighbors)]
    since = [*_list_later(pull, places, neighbors)]
    lines = [_BEFORE, *before] if before else []
    lines += [_SINCE, *since] if since else []
    if neighbors.unread:
        numbers = ", ".join(f"#{number}" for number in neighbors.unread[:_MAX_NUMBERS])
        lines.append(f"Not read, so that they may have changed the same functions, too: {numbers}")
    texts = {"looked_up": change.standing, "other_merges": "\n".join(lines)}
    return "\n\n".join(fence_text(name, text) for name, text in texts.items() if text)


def _list_earlier(pull: PullRequest, places: dict[str, _Places], neighbors: Neighbors) -> Iterator[str]:
    room = _MAX_TEXT
    for each in neighbors.earlier:
        if hunks := [*_list_hunks(each, places, hidden="+")]:
            before = format_duration(pull.merge_time - each.merge_time)
            yield f"#{each.number}, {before} before: {_shorten_title(each)}"
            bounded = limit_lines(hunks, min(room, _MAX_HUNKS), "line", f"the diff of #{each.number} has them")
            room = max(room - len(bounded.text), 0)
            yield bounded.text


def _list_later(pull: PullRequest, places: dict[str, _Places], neighbors: Neighbors) -> Iterator[str]:
    outcomes = {each.by.number: each for each in neighbors.outcomes}
    for outcome in outcomes.values():
        yield f"#{outcome.by.number} {_VERBS[outcome.kind]}: {_shorten_title(outcome.by)}"
    for each in neighbors.later:
        if each.number not in outcomes and any(_list_hunks(each, places, hidden="-")):
            after = format_duration(each.merge_time - pull.merge_time)
            yield f"#{each.number}, {after} after, changes the same functions again: {_shorten_title(each)}"


def _shorten_title(pull: PullRequest) -> str:
    return truncate_text(collapse_lines(pull.title), _MAX_TITLE)


def _list_hunks(pull: PullRequest, places: dict[str, _Places], hidden: str) -> Iterator[str]:
    """Yield the hunks of a merge that are in functions of the change. Lines ``hidden`` are not in the file."""
    for file in pull.files or ():
        path = file.path if file.path in places else file.previous_path or ""
        if file.patch and path in places:
            hunks = [each for each in split_hunks(file.patch) if places[path].holds(each[1], hidden)]
            if hunks:
                yield f"=== {flatten_path(file.path)}"
                yield from render_hunks(hunks, near=1)


@dataclass(frozen=True, slots=True)
class _Places:
    """The lines of a changed file, on both sides, and which of them are near to its changes."""

    places: dict[str, list[tuple[int, DiffLine]]]
    near: Sequence[bool]

    @classmethod
    def build(cls, file: ChangedFile, change: PackedChange) -> _Places:
        annotated = change.changes.get(file.path)
        lines: Sequence[DiffLine]
        if annotated:
            lines, scopes = annotated.lines, (*annotated.old_scopes, *annotated.new_scopes)
        else:
            lines, scopes = [line for _, hunk in split_hunks(file.patch or "") for line in hunk], ()
        changed = [at for at, line in enumerate(lines) if line.is_change]
        near = [False] * len(lines)
        for at in changed:
            first, end = max(at - _NEAR, 0), min(at + _NEAR + 1, len(lines))
            near[first:end] = [True] * (end - first)
        # how many lines are changed before each
        counts = [0]
        for line in lines:
            counts.append(counts[-1] + line.is_change)
        for scope in scopes:
            length = scope.end + 1 - scope.start
            if length <= _MAX_FUNCTION and counts[scope.end + 1] > counts[scope.start]:
                near[scope.start : scope.end + 1] = [True] * length
        places: dict[str, list[tuple[int, DiffLine]]] = {}
        for at, line in enumerate(lines):
            if len(text := line.text.strip()) >= _MIN_LINE:
                places.setdefault(text, []).append((at, line))
        return cls(places, near)

    def holds(self, hunk: Sequence[DiffLine], hidden: str) -> bool:
        """Return whether a changed line of a hunk, or one beside it, stands near to the changes.

        ``hidden`` is the mark of lines of the file that were not there when the hunk was merged, or not any more.
        """
        gone = "-" if hidden == "+" else "+"
        changed = [at for at, line in enumerate(hunk) if line.is_change and not _IMPORT.match(line.text)]
        beside = {at + step for at in changed for step in (-1, 0, 1) if 0 <= at + step < len(hunk)}
        return any(self._is_near(hunk[at], hidden) for at in beside if hunk[at].mark != gone)

    def _is_near(self, line: DiffLine, hidden: str) -> bool:
        places = [(at, other) for at, other in self.places.get(line.text.strip(), ()) if other.mark != hidden]
        if len(places) > _MAX_PLACES:
            return any(self.near[at] for at, other in places if abs(other.old - line.new) <= _MAX_SHIFT)
        return any(self.near[at] for at, _ in places)
