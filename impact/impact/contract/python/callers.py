"""How a merge changed upstream's own uses of the names that it changed."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from impact.contract.models import LOST, ChangeKind, ContractChange, Migration
from impact.python.models import CallShape, CallSite, ModuleOutline
from impact.source.models import SourceFile

_WORD = re.compile(r"[^\W\d]\w*")
# examples of one change that are kept, lines of a part that are looked at, characters of a line
_MAX_MIGRATIONS = 3
_MAX_HUNK = 60
_MAX_LINE = 200
_MAX_SHAPES = 40
_MAX_CALL_LINES = 12
# of the words of two lines
_MIN_LIKENESS = 0.5
_CONSTRUCTOR = "__init__"
ReadFile: TypeAlias = tuple[SourceFile, ModuleOutline]
_ByName: TypeAlias = Mapping[str, list[ContractChange]]


def get_called_name(change: ContractChange) -> str:
    """Return the last part of the name by which something is used: of a constructor, that of its class."""
    owner, _, last = change.name.rpartition(".")
    return owner.rpartition(".")[2] if last == _CONSTRUCTOR else last


def list_call_shapes(
    changes: Iterable[ContractChange], outlines: Iterable[ModuleOutline]
) -> dict[str, tuple[CallShape, ...]]:
    """Return how changed files call the changed names after the merge, by the last parts of the names."""
    last_names = {name for each in changes for name in (each.last_name, get_called_name(each))}
    shapes: dict[str, dict[CallShape, None]] = defaultdict(dict)
    for call in (call for outline in outlines for call in outline.calls):
        last = call.name.rpartition(".")[2]
        # what goes to a base does not go to those who override it
        if last in last_names and not call.name.startswith("super().") and len(shapes[last]) < _MAX_SHAPES:
            shapes[last][call.shape] = None
    return {name: tuple(each) for name, each in shapes.items() if each}


def list_migrations(
    changes: Iterable[ContractChange], files: Sequence[tuple[ReadFile, ReadFile]]
) -> dict[str, tuple[Migration, ...]]:
    """Return how the files that are there before and after a merge use changed names otherwise, by the names."""
    called, gone = defaultdict[str, list[ContractChange]](list), defaultdict[str, list[ContractChange]](list)
    for change in changes:
        if change.kind in {ChangeKind.SIGNATURE, ChangeKind.RETURN}:
            called[get_called_name(change)].append(change)
        elif change.kind in LOST:
            gone[get_called_name(change)].append(change)
    migrations: dict[str, list[Migration]] = defaultdict(list)
    for old, new in files if called else ():
        for name, migration in _list_call_migrations(old, new, called):
            migrations[name].append(migration)
    for (old_file, _), (new_file, _) in files if gone else ():
        for start, removed, added in _list_hunks(old_file.text, new_file.text):
            lines = removed[:_MAX_HUNK], added[:_MAX_HUNK]
            for name, migration in _list_name_migrations(new_file.path, start, *lines, gone):
                migrations[name].append(migration)
    return {name: tuple(dict.fromkeys(each))[:_MAX_MIGRATIONS] for name, each in migrations.items()}


def _list_call_migrations(old: ReadFile, new: ReadFile, called: _ByName) -> Iterator[tuple[str, Migration]]:
    """Yield calls of functions with another signature that pass other arguments now."""
    sides = defaultdict[tuple[str, str], list[CallSite]](list), defaultdict[tuple[str, str], list[CallSite]](list)
    for (_, outline), groups in zip((old, new), sides, strict=True):
        for call in outline.calls:
            last = call.name.rpartition(".")[2]
            if last in called:
                groups[call.scope, last].append(call)
    for key, sites in sides[1].items():
        for first, second in zip(sides[0].get(key, ()), sites, strict=False):
            if first.shape != second.shape:
                texts = _join_call(old[0].text, first.line), _join_call(new[0].text, second.line)
                migration = Migration(new[0].path, second.line, *texts)
                yield from ((change.name, migration) for change in called[key[1]])


def _join_call(text: str, line: int) -> str:
    depth, parts = 0, []
    for each in text.split("\n")[line - 1 : line - 1 + _MAX_CALL_LINES]:
        parts.append(each.strip())
        depth += sum(map(each.count, "([{")) - sum(map(each.count, ")]}"))
        if depth <= 0:
            break
    return " ".join(parts)[:_MAX_LINE]


def _list_name_migrations(
    path: str, start: int, removed: Sequence[str], added: Sequence[str], gone: _ByName
) -> Iterator[tuple[str, Migration]]:
    """Yield lines that had a name that is gone, with what stands in their place: it has most of their words."""
    for line in removed:
        words = set(_WORD.findall(line[:_MAX_LINE])) if line not in added else set()
        for change in (change for word in gone.keys() & words for change in gone[word] if change.path != path):
            names = {change.new_name.rpartition(".")[2], get_called_name(change)} - {""}
            best, most = None, 0.0
            for index, each in enumerate(added):
                others = set(_WORD.findall(each[:_MAX_LINE]))
                score = len(words & others) / len(words | others) + bool(names & others) if others else 0.0
                if score > most:
                    best, most = index, score
            place = best if most >= _MIN_LIKENESS else None
            after = "" if place is None else added[place].strip()[:_MAX_LINE]
            yield change.name, Migration(path, start + (place or 0), line.strip()[:_MAX_LINE], after)


# --- lines in the place of others


def _list_hunks(before: str, after: str) -> Iterator[tuple[int, list[str], list[str]]]:
    """Yield what changed between the lines that each side has once, in n log n; some lines may be unchanged.

    That is the number of the first new line, from 1, the lines that are gone, and those in their place.
    """
    old, new = before.split("\n"), after.split("\n")
    start = other = 0
    for anchor, other_anchor in [*_list_anchors(old, new), (len(old), len(new))]:
        end, other_end = anchor, other_anchor
        while start < end and other < other_end and old[start] == new[other]:
            start, other = start + 1, other + 1
        while start < end and other < other_end and old[end - 1] == new[other_end - 1]:
            end, other_end = end - 1, other_end - 1
        if start < end or other < other_end:
            yield other + 1, old[start:end], new[other:other_end]
        start, other = anchor + 1, other_anchor + 1


def _list_anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the longest run of lines that both sides have once, in the order of both."""
    counts = Counter(old), Counter(new)
    places = {line: index for index, line in enumerate(new) if counts[1][line] == 1}
    pairs = [(index, places[line]) for index, line in enumerate(old) if counts[0][line] == 1 and line in places]
    ends: list[int] = []
    tops: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(tops[length - 1] if length else -1)
        if length == len(ends):
            ends.append(place)
            tops.append(index)
        else:
            ends[length], tops[length] = place, index
    run = []
    index = tops[-1] if tops else -1
    while index >= 0:
        run.append(pairs[index])
        index = before[index]
    return run[::-1]
