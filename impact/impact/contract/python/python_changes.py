"""What a merge changes in plain Python code: from both versions of each changed file."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from impact.contract.deadlines import read_deadline
from impact.contract.models import ChangeKind, ContractChange, ContractClass, FileVersions, Migration
from impact.contract.python.callers import ReadFile, list_call_shapes, list_migrations
from impact.contract.python.matching import Pair, match_names
from impact.contract.python.members import ClassComparison, compare_kinds
from impact.contract.python.rows import CLASSES, compare_definitions, make_row
from impact.contract.python.snapshots import OutlineLoader, Place, Snapshot
from impact.path_globs import PathGlobs
from impact.python.code_reader import hash_lines
from impact.python.deprecations import Deprecation, list_deprecations
from impact.python.models import CallShape, DefinitionKind, ModuleOutline
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
# the share of a module's names that go to one place for the module to have moved there
_MIN_MODULE_SHARE = 0.6
# lines of a function that are looked for in the team's
_MAX_LINES = 100


@dataclass(frozen=True, slots=True)
class PythonChanges:
    """The changes of Python names, how upstream's own callers were changed, and how they call the names.

    ``unlisted`` and ``lines`` are as in ``MergeContract``; ``unparsed`` are the files that can't be parsed.
    """

    changes: tuple[ContractChange, ...] = ()
    migrations: Mapping[str, tuple[Migration, ...]] = field(default_factory=dict)
    calls: Mapping[str, tuple[CallShape, ...]] = field(default_factory=dict)
    unparsed: tuple[str, ...] = ()
    unlisted: tuple[ContractChange, ...] = ()
    lines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def compare_python(
    versions: Sequence[FileVersions], load: OutlineLoader, read: OutlineReader = build_outline
) -> PythonChanges:
    pairs: list[tuple[ReadFile | None, ReadFile | None]] = []
    unparsed: list[str] = []
    for each in (each for each in versions if is_python(each.path)):
        old, new = _read(each.old, read), _read(each.new, read)
        missing = [file for file, known in ((each.old, old), (each.new, new)) if file and not known]
        unparsed += (file.path for file in missing if not file.problem and name_module(file.path))
        pairs += [] if missing else [(old, new)]
    # what others can import, on both sides: no tests, examples and tools, though they call it
    contract = [pair for pair in pairs if all(is_contract_path(each[0].path) for each in pair if each)]
    olds, news = (
        ([each for each in side if each] for side in zip(*contract, strict=True)) if contract else ([], [])
    )
    before, after = _make_snapshot(olds, news, load), _make_snapshot(news, olds, load)
    both = [(old, new) for old, new in pairs if old and new]
    own = [(old, new) for old, new in contract if old and new]
    renamed = {old.module: new.module for (_, old), (_, new) in own if old.module != new.module}
    comparison = _Comparison(before, after, renamed)
    rows = [*comparison.list_changes(), *_list_deprecated(olds, news)]
    changes = sorted((_fill_path(each, before, after) for each in rows if not each.is_doubtful), key=_get_order)
    unlisted = [each for each in rows if each.is_doubtful] + list(comparison.list_unlisted())
    return PythonChanges(
        tuple(dict.fromkeys(changes)),
        list_migrations(changes, both),
        list_call_shapes(changes, (new[1] for _, new in pairs if new)),
        tuple(unparsed),
        tuple(dict.fromkeys(_fill_path(each, before, after) for each in unlisted)),
        {name: lines for pair in own for name, lines in _list_lost_lines(*pair)},
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
        self._before, self._after, self._renamed = before, after, renamed
        self._pairs, self._lost = match_names(before, after)
        self._gone = frozenset(before.modules) & after.gone
        self._moved = self._find_moved_modules()

    def list_changes(self) -> Iterator[ContractChange]:
        """Yield all changes: of modules, of names, and of what the names stand for."""
        yield from self._list_modules()
        yield from self._list_lost_names()
        for pair in self._pairs:
            yield from self._describe_move(pair)
            if not pair.is_comparable:
                continue
            if pair.old.kind is not pair.new.kind:
                yield from compare_kinds(pair, self._before, self._after)
                continue
            yield from compare_definitions(pair.old, pair.new)
            if pair.old.kind is DefinitionKind.CLASS:
                yield from ClassComparison(pair, self._before, self._after).list_changes()

    def list_unlisted(self) -> Iterator[ContractChange]:
        """Yield what modules only imported, and what classes had from a base that they lost."""
        yield from self._list_lost_imports()
        for pair in self._pairs:
            if pair.is_comparable and pair.old.kind is DefinitionKind.CLASS:
                yield from ClassComparison(pair, self._before, self._after).list_lost_with_bases()

    def _list_modules(self) -> Iterator[ContractChange]:
        for module in sorted(self._gone):
            if not self._is_silent_loss(module):
                yield _make_loss(ContractClass.MODULE, module, self._moved.get(module, ""), module)

    def _is_silent_loss(self, module: str) -> bool:
        """Return whether a module without its file may be imported: unless one went with it and none came."""
        inner = f"{module}."
        if any(name.startswith(inner) for name in self._after.modules):
            return True
        is_package = self._before.modules[module].is_package
        return is_package and not any(name.startswith(inner) for name in self._after.gone)

    def _find_moved_modules(self) -> dict[str, str]:
        """Return the modules that are gone, each with the one that has most of its names."""
        targets: dict[str, Counter[str]] = defaultdict(Counter)
        totals: Counter[str] = Counter(each.outline.module for each in self._lost)
        for pair in self._pairs:
            totals[pair.old.outline.module] += 1
            targets[pair.old.outline.module][pair.new.outline.module] += 1
        moved = {}
        for module in self._gone:
            best = targets[module].most_common(1)
            if best and best[0][1] >= _MIN_MODULE_SHARE * totals[module]:
                moved[module] = best[0][0]
            elif module in self._renamed and not totals[module]:
                moved[module] = self._renamed[module]
        return moved

    def _list_lost_names(self) -> Iterator[ContractChange]:
        for place in self._lost:
            module = place.outline.module
            # or the row of the module says it
            if module not in self._after.gone or module in self._moved or self._is_silent_loss(module):
                yield make_row(ChangeKind.REMOVED, place)
        successors = {pair.old.name: pair.new.name for pair in self._pairs}
        for outline in self._list_remaining():
            for local, target in outline.imports.items() if outline.is_package else ():
                is_own = target.partition(".")[0] == outline.module.partition(".")[0]
                is_lost = is_own and self._after.lacks_name(outline.module, local)
                if is_lost and (old := self._before.find_definition(target)):
                    is_there = self._after.find_definition(old.name) is not None
                    new_name = successors.get(old.name) or (old.name if is_there else "")
                    row = _make_loss(CLASSES[old.kind], f"{outline.module}.{local}", new_name, outline.module)
                    yield replace(row, old_signature=old.definition.signature)
            for name in sorted(outline.dynamic - outline.definitions.keys() - outline.imports.keys()):
                if self._lacks_dynamic(outline.module, name):
                    function = outline.definitions.get(GETATTR)
                    row = _make_loss(_guess_class(name), f"{outline.module}.{name}", "", outline.module)
                    yield replace(row, line=function.line if function else 1)

    def _list_remaining(self) -> list[ModuleOutline]:
        """Return the modules, as they were, that are there after the merge."""
        return [outline for name, outline in self._before.modules.items() if name in self._after.modules]

    def _lacks_dynamic(self, module: str, name: str) -> bool:
        """Return whether a name that a module's ``__getattr__`` gave before is no longer among those it gives."""
        outline = self._after.modules[module]
        if outline.stars or name in outline.definitions or name in outline.imports:
            return False
        return name not in outline.dynamic and (bool(outline.dynamic) or not outline.has_getattr)

    def _list_lost_imports(self) -> Iterator[ContractChange]:
        """Yield the names that modules, which are no packages, imported and do not have any more."""
        for outline in self._list_remaining():
            for local, target in outline.imports.items() if not outline.is_package else ():
                is_own = local in outline.typing_only or local in outline.definitions
                if not is_own and self._after.lacks_name(outline.module, local):
                    source, _, last = target.rpartition(".")
                    new_name = target if not source or not self._after.lacks_name(source, last) else ""
                    yield _make_loss(_guess_class(local), f"{outline.module}.{local}", new_name, outline.module)

    def _describe_move(self, pair: Pair) -> Iterator[ContractChange]:
        """Yield the row of a name that stands elsewhere, unless the row of its module says so."""
        old, new = pair.old, pair.new
        if old.name == new.name:
            return
        is_same = old.definition.name == new.definition.name
        if is_same and self._moved.get(old.outline.module) == new.outline.module:
            return
        is_renamed = old.outline.module == new.outline.module
        kind = ChangeKind.RENAMED if is_renamed else ChangeKind.MOVED
        row = make_row(kind, new, before=old, new_name=new.name)
        is_alias = pair.is_importable and not self._is_called_at(old)
        yield replace(row, before=old.name, after=new.name, is_importable=pair.is_importable, is_alias=is_alias)

    def _is_called_at(self, old: Place) -> bool:
        """Return whether the module that had a definition still calls it by its name."""
        outline = self._after.get_module(old.outline.module)
        return outline is not None and any(call.name == old.definition.name for call in outline.calls)


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
    known = {_get_key(each) for file, _ in before for each in list_deprecations(file.text)}
    for file, outline in after:
        for each in list_deprecations(file.text):
            if _get_key(each) not in known:
                known.add(_get_key(each))
                definition = outline.definitions.get(each.name) if each.name != GETATTR else None
                module = ContractClass.MODULE, ChangeKind.DEPRECATED, outline.module, outline.module, ""
                row = ContractChange(*module, outline.module, each.line)
                if definition:
                    row = make_row(ChangeKind.DEPRECATED, Place(outline, definition))
                    row = replace(row, before=row.after, line=each.line)
                message = each.message or row.after
                yield replace(row, after=message, deadline=read_deadline(each.message))


def _get_key(deprecation: Deprecation) -> tuple[str, str]:
    return deprecation.name.rpartition(".")[2], deprecation.message


def _fill_path(change: ContractChange, before: Snapshot, after: Snapshot) -> ContractChange:
    sides = (before, after) if change.side is DiffSide.OLD else (after, before)
    for side in sides:
        path = side.paths.get(change.path)
        if path:
            return replace(change, path=path)
    return replace(change, path=change.path.replace(".", "/") + ".py")


def _get_order(change: ContractChange) -> tuple[str, int, str, str]:
    return change.path, change.line, change.name, change.kind
