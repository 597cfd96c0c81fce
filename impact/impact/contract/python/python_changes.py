"""What a merge changes in plain Python code, and in upstream's own uses of it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from impact.contract.deprecations import read_deadline
from impact.contract.models import (
    LOST,
    ChangeKind,
    ContractChange,
    ContractClass,
    FileVersions,
    MergeContract,
    Migration,
)
from impact.contract.python.definitions import (
    CLASSES,
    ClassComparison,
    compare_definitions,
    compare_kinds,
    make_row,
)
from impact.contract.python.snapshots import OutlineLoader, Pair, Place, Snapshot, match_names
from impact.coverage import UnreadFile
from impact.path_globs import PathGlobs
from impact.python.code_reader import hash_lines
from impact.python.deprecations import list_deprecations
from impact.python.models import CallShape, CallSite, ModuleOutline
from impact.python.module_names import GETATTR, is_python, name_module
from impact.python.outline import build_outline
from impact.source.models import DiffSide, SourceFile

# gives the outline of a file by its path and text
OutlineReader = Callable[[str, str], ModuleOutline | None]
# what nobody imports from outside: CI, tests, documents, builds and scripts, in the syntax of .gitignore; what is
# generated or comes from others counts all the same
_OWN_USE = PathGlobs(
    (
        ".github/ .gitlab/ .circleci/ .buildkite/ .ci/ /ci/ azure-pipelines* Jenkinsfile* .pre-commit*"
        " /tools/pre_commit/ .vscode/"
        " test/ tests/ __tests__/ __mocks__/ testdata/ test_data/ fixtures/ e2e/ integration-tests/"
        " integration_tests/ test_*.py conftest.py *_test.* *_tests.* *.test.* *.spec.*"
        " docs/ doc/ website/ examples/ example/ samples/ LICENSE* NOTICE* CHANGELOG* AUTHORS*"
        " /requirements/ setup.py BUILD BUCK TARGETS WORKSPACE* /cmake/ Dockerfile* /docker/ docker-compose*"
        " /benchmarks/ /benchmark/ /bench/ /scripts/ /tools/ /hack/ /dev/"
    ).split()
)
_GENERATED = PathGlobs(
    (
        "vendor/ vendored/ third_party/ third-party/ node_modules/ generated/ dist/ *_pb2.py *_pb2.pyi"
        " *_pb2_grpc.py *.generated.* __snapshots__/"
    ).split()
)
_BUILD_FOLDERS = frozenset({"csrc", "cmake", "docker", "setup"})
_UNPARSED = "this version of Python can't parse it"
# the share of a module's names that go to one place for the module to have moved there
_MIN_MODULE_SHARE = 0.6
# lines of a function that are looked for in the team's
_MAX_LINES = 100


def compare_python(
    merge: MergeContract,
    versions: Sequence[FileVersions],
    load: OutlineLoader,
    read: OutlineReader = build_outline,
) -> MergeContract:
    """Return a merge with its changes of Python names, how its files call them now, and what can't be parsed."""
    pairs: list[tuple[ReadFile | None, ReadFile | None]] = []
    unread: list[UnreadFile] = []
    for each in (each for each in versions if is_python(each.path)):
        old, new = _read(each.old, read), _read(each.new, read)
        missing = [file for file, known in ((each.old, old), (each.new, new)) if file and not known]
        unparsed = (file.path for file in missing if not file.problem and name_module(file.path))
        unread += (UnreadFile(path, _UNPARSED) for path in unparsed)
        pairs += [] if missing else [(old, new)]
    # what others can import, on both sides: no tests, examples and tools, though they call it
    contract = [pair for pair in pairs if all(is_contract_path(each[0].path) for each in pair if each)]
    olds, news = (
        ([each for each in side if each] for side in zip(*contract, strict=True)) if contract else ([], [])
    )
    before, after = _make_snapshot(olds, news, load), _make_snapshot(news, olds, load)
    own = [(old, new) for old, new in contract if old and new]
    renamed = {old.module: new.module for (_, old), (_, new) in own if old.module != new.module}
    comparison = _Comparison(before, after, renamed)
    rows = [*comparison.list_changes(), *_list_deprecated(olds, news)]
    changes = [_fill_path(each, before, after) for each in rows if not each.is_doubtful]
    changes.sort(key=lambda each: (each.path, each.line, each.name, each.kind))
    unlisted = [each for each in rows if each.is_doubtful] + list(comparison.list_unlisted())
    return replace(
        merge,
        changes=tuple(dict.fromkeys(changes)),
        migrations=_list_migrations(changes, [(old, new) for old, new in pairs if old and new]),
        calls=_list_call_shapes(changes, (new[1] for _, new in pairs if new)),
        unread=tuple(unread),
        unlisted=tuple(dict.fromkeys(_fill_path(each, before, after) for each in unlisted)),
        lines={name: lines for pair in own for name, lines in _list_lost_lines(*pair)},
    )


def _read(file: SourceFile | None, read: OutlineReader) -> ReadFile | None:
    is_module = file is not None and not file.problem and name_module(file.path) is not None
    outline = read(file.path, file.text) if file and is_module else None
    return (file, outline) if file and outline else None


def is_contract_path(path: str) -> bool:
    """Return whether what is in a file counts as contract: it is installed, and no test, example or tool."""
    first, slash, _ = path.partition("/")
    if not slash or first in _BUILD_FOLDERS:
        return False
    return _GENERATED.has_match(path) or not _OWN_USE.has_match(path)


def _make_snapshot(own: Sequence[ReadFile], others: Iterable[ReadFile], load: OutlineLoader) -> Snapshot:
    modules = {outline.module: outline for _, outline in own}
    paths = {outline.module: file.path for file, outline in own}
    return Snapshot(modules, paths, frozenset(outline.module for _, outline in others) - modules.keys(), load)


def _fill_path(change: ContractChange, before: Snapshot, after: Snapshot) -> ContractChange:
    first, second = (before.paths, after.paths) if change.is_old_line else (after.paths, before.paths)
    other = f"{change.path.replace('.', '/')}.py"
    return replace(change, path=first.get(change.path) or second.get(change.path) or other)


def _list_lost_lines(before: ReadFile, after: ReadFile) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the functions that have another body now, each with the lines that are gone from it."""
    texts = before[0].text.split("\n"), after[0].text.split("\n")
    for name, old in before[1].definitions.items():
        new = after[1].definitions.get(name)
        if new and old.signature and old.body != new.body:
            own, others = (
                hash_lines("\n".join(lines[each.line : each.end_line]))
                for lines, each in zip(texts, (old, new), strict=True)
            )
            if own - others:
                yield f"{before[1].module}.{name}", tuple(sorted(own - others)[:_MAX_LINES])


class _Comparison:
    """The Python code of the changed files before and after a merge."""

    def __init__(self, before: Snapshot, after: Snapshot, renamed: Mapping[str, str]) -> None:
        self._before, self._after = before, after
        self._pairs, self._lost = match_names(before, after)
        self._gone = frozenset(before.modules) & after.gone
        self._moved = self._find_moved_modules(renamed)
        # as they were
        self._remaining = [each for name, each in before.modules.items() if name in after.modules]

    def list_changes(self) -> Iterator[ContractChange]:
        """Yield all changes: of modules, of names, and of what the names stand for."""
        for module in sorted(self._gone):
            if not self._is_silent_loss(module):
                yield _make_loss(ContractClass.MODULE, module, self._moved.get(module, ""), module)
        for place in self._lost:
            # or the row of the module says it
            if place.module not in self._gone or place.module in self._moved or self._is_silent_loss(place.module):
                yield make_row(ChangeKind.REMOVED, place, None)
        yield from self._list_lost_exports()
        for pair in self._pairs:
            yield from self._describe_move(pair)
            if not pair.is_comparable:
                continue
            if pair.old.kind is not pair.new.kind:
                yield from compare_kinds(pair.old, pair.new, self._before, self._after)
                continue
            yield from compare_definitions(pair.old, pair.new)
            if pair.old.is_class:
                yield from ClassComparison(pair.old, pair.new, self._before, self._after).list_changes()

    def list_unlisted(self) -> Iterator[ContractChange]:
        """Yield what modules only imported, and what classes had from a base that they lost."""
        for outline in self._remaining:
            for local, target in outline.imports.items() if not outline.is_package else ():
                is_own = local in outline.typing_only or local in outline.definitions
                if not is_own and self._after.lacks_name(outline.module, local):
                    source, _, last = target.rpartition(".")
                    new_name = target if not source or not self._after.lacks_name(source, last) else ""
                    yield _make_loss(_guess_class(local), f"{outline.module}.{local}", new_name, outline.module)
        for pair in self._pairs:
            if pair.old.is_class and pair.is_comparable:
                yield from ClassComparison(pair.old, pair.new, self._before, self._after).list_lost_with_bases()

    def _is_silent_loss(self, module: str) -> bool:
        """Return whether a module without its file may be imported: unless one went with it and none came."""
        inner = f"{module}."
        if any(name.startswith(inner) for name in self._after.modules):
            return True
        is_package = self._before.modules[module].is_package
        return is_package and not any(name.startswith(inner) for name in self._after.gone)

    def _find_moved_modules(self, renamed: Mapping[str, str]) -> dict[str, str]:
        """Return the modules that are gone, each with the one that has most of its names."""
        targets: dict[str, Counter[str]] = defaultdict(Counter)
        totals: Counter[str] = Counter(each.module for each in self._lost)
        for pair in self._pairs:
            totals[pair.old.module] += 1
            targets[pair.old.module][pair.new.module] += 1
        moved = {}
        for module in self._gone:
            best = targets[module].most_common(1)
            if best and best[0][1] >= _MIN_MODULE_SHARE * totals[module]:
                moved[module] = best[0][0]
            elif module in renamed and not totals[module]:
                moved[module] = renamed[module]
        return moved

    def _list_lost_exports(self) -> Iterator[ContractChange]:
        """Yield what packages imported for others, and what ``__getattr__`` gave."""
        successors = {pair.old.name: pair.new.name for pair in self._pairs}
        for outline in self._remaining:
            for local, target in outline.imports.items() if outline.is_package else ():
                is_own = target.partition(".")[0] == outline.module.partition(".")[0]
                is_lost = is_own and self._after.lacks_name(outline.module, local)
                if is_lost and (old := self._before.find_definition(target)):
                    is_there = self._after.find_definition(old.name) is not None
                    new_name = successors.get(old.name) or (old.name if is_there else "")
                    row = _make_loss(CLASSES[old.kind], f"{outline.module}.{local}", new_name, outline.module)
                    yield replace(row, old_signature=old.signature)
            new = self._after.modules[outline.module]
            # what else it may give now is not known
            is_open = bool(new.stars) or (new.has_getattr and not new.dynamic)
            known = outline.definitions, outline.imports, new.definitions, new.imports, new.dynamic
            function = outline.definitions.get(GETATTR)
            for name in () if is_open else sorted(outline.dynamic):
                if not any(name in names for names in known):
                    row = _make_loss(_guess_class(name), f"{outline.module}.{name}", "", outline.module)
                    yield replace(row, line=function.line if function else 1)

    def _describe_move(self, pair: Pair) -> Iterator[ContractChange]:
        """Yield the row of a name that stands elsewhere, unless the row of its module says so."""
        old, new = pair.old, pair.new
        is_same = old.definition.name == new.definition.name
        if old.name == new.name or (is_same and self._moved.get(old.module) == new.module):
            return
        outline = self._after.get_module(old.module)
        is_called = outline is not None and any(call.name == old.definition.name for call in outline.calls)
        yield replace(
            make_row(ChangeKind.RENAMED if old.module == new.module else ChangeKind.MOVED, old, new),
            before=old.name,
            after=new.name,
            new_name=new.name,
            is_importable=pair.is_importable,
            is_alias=pair.is_importable and not is_called,
        )


def _make_loss(subject: ContractClass, name: str, new_name: str, module: str) -> ContractChange:
    """Return the row of a name that a module does not define itself: it is gone, or has moved."""
    kind = ChangeKind.MOVED if new_name else ChangeKind.REMOVED
    return ContractChange(subject, kind, name, name, new_name, module, 1, DiffSide.OLD, new_name=new_name)


def _guess_class(name: str) -> ContractClass:
    if name.upper() == name:
        return ContractClass.CONSTANT
    return ContractClass.CLASS if name.lstrip("_")[:1].isupper() else ContractClass.FUNCTION


def _list_deprecated(before: Iterable[ReadFile], after: Iterable[ReadFile]) -> Iterator[ContractChange]:
    """Yield what is deprecated after a merge and was not before, also where it stood elsewhere."""
    known = {
        (each.name.rpartition(".")[2], each.message) for file, _ in before for each in list_deprecations(file.text)
    }
    for file, outline in after:
        for each in list_deprecations(file.text):
            key = each.name.rpartition(".")[2], each.message
            if key in known:
                continue
            known.add(key)
            definition = outline.definitions.get(each.name) if each.name != GETATTR else None
            module = outline.module
            row = ContractChange(
                ContractClass.MODULE, ChangeKind.DEPRECATED, module, module, "", module, each.line
            )
            if definition:
                row = make_row(ChangeKind.DEPRECATED, None, Place(outline, definition))
                row = replace(row, before=row.after, line=each.line)
            yield replace(row, after=each.message or row.after, deadline=read_deadline(each.message))


# --- upstream's own uses of the changed names

_WORD = re.compile(r"[^\W\d]\w*")
# examples of one change that are kept, lines of a part that are looked at, characters of a line
_MAX_MIGRATIONS = 3
_MAX_HUNK = 60
_MAX_LINE = 200
_MAX_SHAPES = 40
_MAX_CALL_LINES = 12
# of the words of two lines
_MIN_LIKENESS = 0.5
ReadFile: TypeAlias = tuple[SourceFile, ModuleOutline]
_ByName: TypeAlias = Mapping[str, list[ContractChange]]


def _list_call_shapes(
    changes: Iterable[ContractChange], outlines: Iterable[ModuleOutline]
) -> dict[str, tuple[CallShape, ...]]:
    """Return how changed files call the changed names after the merge, by the last parts of the names."""
    last_names = {name for each in changes for name in (each.last_name, each.called_name)}
    shapes: dict[str, dict[CallShape, None]] = defaultdict(dict)
    for call in (call for outline in outlines for call in outline.calls):
        last = call.name.rpartition(".")[2]
        # what goes to a base does not go to those who override it
        if last in last_names and not call.name.startswith("super().") and len(shapes[last]) < _MAX_SHAPES:
            shapes[last][call.shape] = None
    return {name: tuple(each) for name, each in shapes.items() if each}


def _list_migrations(
    changes: Iterable[ContractChange], files: Sequence[tuple[ReadFile, ReadFile]]
) -> dict[str, tuple[Migration, ...]]:
    """Return how the files that are there before and after a merge use changed names otherwise, by the names."""
    called, gone = defaultdict[str, list[ContractChange]](list), defaultdict[str, list[ContractChange]](list)
    for change in changes:
        if change.kind in {ChangeKind.SIGNATURE, ChangeKind.RETURN}:
            called[change.called_name].append(change)
        elif change.kind in LOST:
            gone[change.called_name].append(change)
    migrations: dict[str, list[Migration]] = defaultdict(list)
    for old, new in files if called else ():
        for name, migration in _list_call_migrations(old, new, called):
            migrations[name].append(migration)
    for (old_file, _), (new_file, _) in files if gone else ():
        for start, removed, added in list_hunks(old_file.text, new_file.text):
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
            names = {change.new_name.rpartition(".")[2], change.called_name} - {""}
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


def list_hunks(before: str, after: str) -> Iterator[tuple[int, list[str], list[str]]]:
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
