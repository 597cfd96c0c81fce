"""How a merge changed upstream's own uses of the names that it changed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from impact.contract.models import ChangeKind, ContractChange, FileVersions, Migration
from impact.contract.python.line_pairs import Hunk, list_hunks
from impact.python.models import CallShape, CallSite, ModuleOutline
from impact.python.module_names import is_python

_WORD = re.compile(r"[^\W\d]\w*")
# examples of one change that are kept, lines of a part that are looked at, characters of a line
_MAX_MIGRATIONS = 3
_MAX_HUNK = 60
_MAX_LINE = 200
_MAX_SHAPES = 40
_MAX_CALL_LINES = 12
_QUIET = frozenset({ChangeKind.BEHAVIOUR, ChangeKind.ADDED_MEMBER, ChangeKind.ADDED, ChangeKind.DEFAULT})
_NAME_KINDS = frozenset({ChangeKind.REMOVED, ChangeKind.MOVED, ChangeKind.RENAMED})
_CONSTRUCTOR = "__init__"
OutlinePair = tuple[FileVersions, ModuleOutline, ModuleOutline]


def get_called_name(change: ContractChange) -> str:
    """Return the last part of the name by which something is used: of a constructor, that of its class."""
    owner, _, last = change.name.rpartition(".")
    return owner.rpartition(".")[2] if last == _CONSTRUCTOR else last


def list_call_shapes(
    changes: Iterable[ContractChange], outlines: Iterable[ModuleOutline]
) -> dict[str, tuple[CallShape, ...]]:
    """Return how changed files call the changed names after the merge, by the last parts of the names."""
    last_names = {name.rpartition(".")[2] for each in changes for name in (each.name, get_called_name(each))}
    shapes: dict[str, dict[CallShape, None]] = defaultdict(dict)
    for outline in outlines:
        for call in outline.calls:
            last = call.name.rpartition(".")[2]
            # what goes to a base does not go to those who override it
            is_for_base = call.name.startswith("super().")
            if last in last_names and not is_for_base and len(shapes[last]) < _MAX_SHAPES:
                shapes[last][call.shape] = None
    return {name: tuple(each) for name, each in shapes.items() if each}


def list_migrations(
    changes: Sequence[ContractChange], versions: Iterable[FileVersions], outlines: Sequence[OutlinePair]
) -> dict[str, tuple[Migration, ...]]:
    migrations: dict[str, list[Migration]] = defaultdict(list)
    loud = [each for each in changes if each.kind not in _QUIET]
    for name, migration in _list_call_migrations(loud, outlines):
        migrations[name].append(migration)
    for name, migration in _list_line_migrations(loud, versions):
        migrations[name].append(migration)
    return {name: tuple(dict.fromkeys(each))[:_MAX_MIGRATIONS] for name, each in migrations.items()}


def _list_call_migrations(
    changes: Sequence[ContractChange], outlines: Sequence[OutlinePair]
) -> Iterator[tuple[str, Migration]]:
    """Yield calls of functions with another signature that pass other arguments now."""
    names_by_call: dict[str, list[str]] = defaultdict(list)
    for change in changes:
        if change.kind in {ChangeKind.SIGNATURE, ChangeKind.RETURN}:
            names_by_call[get_called_name(change)].append(change.name)
    for versions, old, new in outlines if names_by_call else ():
        before, after = _group_calls(old.calls, names_by_call), _group_calls(new.calls, names_by_call)
        for key, sites in after.items():
            for first, second in zip(before.get(key, ()), sites, strict=False):
                if first.shape != second.shape:
                    migration = _show_calls(versions, first, second)
                    yield from ((name, migration) for name in names_by_call[key[1]])


def _group_calls(
    calls: Iterable[CallSite], called_names: Mapping[str, list[str]]
) -> dict[tuple[str, str], list[CallSite]]:
    groups: dict[tuple[str, str], list[CallSite]] = defaultdict(list)
    for call in calls:
        last = call.name.rpartition(".")[2]
        if last in called_names:
            groups[call.scope, last].append(call)
    return groups


def _show_calls(versions: FileVersions, old: CallSite, new: CallSite) -> Migration:
    before = _join_call(versions.old.text if versions.old else "", old.line)
    after = _join_call(versions.new.text if versions.new else "", new.line)
    return Migration(versions.path, new.line, before, after)


def _join_call(text: str, line: int) -> str:
    lines = text.split("\n")[line - 1 : line - 1 + _MAX_CALL_LINES]
    depth, parts = 0, []
    for each in lines:
        parts.append(each.strip())
        depth += sum(map(each.count, "([{")) - sum(map(each.count, ")]}"))
        if depth <= 0:
            break
    return " ".join(parts)[:_MAX_LINE]


def _list_line_migrations(
    changes: Sequence[ContractChange], versions: Iterable[FileVersions]
) -> Iterator[tuple[str, Migration]]:
    """Yield lines that had a name that is gone, with what stands in their place."""
    changes_by_name: dict[str, list[ContractChange]] = defaultdict(list)
    for change in changes:
        if change.kind in _NAME_KINDS:
            changes_by_name[get_called_name(change)].append(change)
    for each in versions if changes_by_name else ():
        if each.old is None or each.new is None or not is_python(each.path):
            continue
        for hunk in list_hunks(each.old.text, each.new.text):
            yield from _read_hunk(hunk, each.path, changes_by_name)


def _read_hunk(
    hunk: Hunk, path: str, changes_by_name: Mapping[str, list[ContractChange]]
) -> Iterator[tuple[str, Migration]]:
    added = hunk.added[:_MAX_HUNK]
    for line in hunk.removed[:_MAX_HUNK]:
        if line in added:
            continue
        for word in changes_by_name.keys() & set(_WORD.findall(line[:_MAX_LINE])):
            for change in changes_by_name[word]:
                if path != change.path:
                    index = _choose_line(line, change, added)
                    after = "" if index is None else added[index].strip()[:_MAX_LINE]
                    yield change.name, Migration(path, hunk.new + (index or 0), line.strip()[:_MAX_LINE], after)


def _choose_line(line: str, change: ContractChange, added: Sequence[str]) -> int | None:
    """Return which added line took the place of one: it has the new name, and the most words in common."""
    words = set(_WORD.findall(line[:_MAX_LINE]))
    names = {change.new_name.rpartition(".")[2], get_called_name(change)} - {""}
    best, most = None, 0.0
    for index, each in enumerate(added):
        others = set(_WORD.findall(each[:_MAX_LINE]))
        if not others:
            continue
        score = len(words & others) / len(words | others) + bool(names & others)
        if score > most:
            best, most = index, score
    return best if most >= 0.5 else None
