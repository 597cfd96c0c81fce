"""What a merge changes in plain Python code: from both versions of each changed file."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from impact.contract.models import ChangeKind, ContractChange, ContractClass, FileVersions, Migration
from impact.contract.python.callers import list_call_shapes, list_migrations
from impact.contract.python.deprecation_rows import ModuleText, list_deprecation_rows
from impact.contract.python.exports import list_lost_exports, list_lost_imports
from impact.contract.python.members import ClassComparison, compare_kinds
from impact.contract.python.moves import Matches, Pair, Place, match_names
from impact.contract.python.rows import compare_definitions, make_row
from impact.contract.python.snapshots import OutlineLoader, Snapshot
from impact.path_globs import PathGlobs
from impact.python.fingerprint import hash_lines
from impact.python.models import CallShape, DefinitionKind, ModuleOutline
from impact.python.module_names import is_python, name_module
from impact.python.outline import build_outline
from impact.source.models import DiffSide, SourceFile

# gives the outline of a file by its path and text
OutlineReader = Callable[[str, str], ModuleOutline | None]
# tests, examples and tools are no contract, though they call it
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
    outlines = [_OutlinePair(each, read) for each in versions if is_python(each.path)]
    readable = [each for each in outlines if each.is_readable]
    contract = [each for each in readable if each.is_contract]
    before = _make_snapshot([each.old for each in contract], [each.new for each in contract], load)
    after = _make_snapshot([each.new for each in contract], [each.old for each in contract], load)
    comparison = _Comparison(before, after, _list_renamed(contract))
    deprecated = list_deprecation_rows(_list_texts(contract, "old"), _list_texts(contract, "new"))
    rows = [*comparison.list_changes(), *deprecated]
    changes = sorted((_fill_path(each, before, after) for each in rows if not each.is_doubtful), key=_get_order)
    unlisted = [each for each in rows if each.is_doubtful] + list(comparison.list_unlisted())
    both = [(each.versions, each.old[0], each.new[0]) for each in readable if each.old and each.new]
    return PythonChanges(
        tuple(dict.fromkeys(changes)),
        list_migrations(changes, [each.versions for each in readable], both),
        list_call_shapes(changes, (each.new[0] for each in readable if each.new)),
        tuple(file.path for each in outlines for file in each.unparsed),
        tuple(dict.fromkeys(_fill_path(each, before, after) for each in unlisted)),
        {name: lines for each in contract for name, lines in each.list_lost_lines()},
    )


class _OutlinePair:
    """The outlines of a changed file on both sides, with their paths."""

    def __init__(self, versions: FileVersions, read: OutlineReader) -> None:
        self.versions = versions
        self.old, self.new = _read(versions.old, read), _read(versions.new, read)
        sides = ((versions.old, self.old), (versions.new, self.new))
        missing = [file for file, outline in sides if file and not outline]
        self.is_readable = not missing
        self.unparsed = [file for file in missing if not file.problem and name_module(file.path)]

    def list_lost_lines(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the functions that have another body now, each with the lines that are gone from it."""
        if not (self.old and self.new and self.versions.old and self.versions.new):
            return
        texts = self.versions.old.text.split("\n"), self.versions.new.text.split("\n")
        for name, old in self.old[0].definitions.items():
            new = self.new[0].definitions.get(name)
            if new and old.signature and old.body != new.body:
                before, after = (
                    hash_lines("\n".join(lines[each.line : each.end_line]))
                    for lines, each in zip(texts, (old, new), strict=True)
                )
                if before - after:
                    yield f"{self.old[0].module}.{name}", tuple(sorted(before - after)[:_MAX_LINES])

    @property
    def is_contract(self) -> bool:
        """Whether others can import it, on both sides: it is no test, example or tool."""
        return all(is_contract_path(each[1]) for each in (self.old, self.new) if each)


def _list_texts(pairs: Iterable[_OutlinePair], side: Literal["old", "new"]) -> Iterator[ModuleText]:
    for pair in pairs:
        file, known = getattr(pair.versions, side), getattr(pair, side)
        if file and known:
            yield ModuleText(known[0], file.text)


def is_contract_path(path: str) -> bool:
    """Return whether what is in a file counts as contract: it is installed, and no test, example or tool."""
    first, slash, _ = path.partition("/")
    if not slash or first in _BUILD_FOLDERS:
        return False
    return _GENERATED.has_match(path) or not _OWN_USE.has_match(path)


def _read(file: SourceFile | None, read: OutlineReader) -> tuple[ModuleOutline, str] | None:
    if file is None or file.problem or name_module(file.path) is None:
        return None
    outline = read(file.path, file.text)
    return (outline, file.path) if outline else None


def _make_snapshot(
    own: Iterable[tuple[ModuleOutline, str] | None],
    others: Iterable[tuple[ModuleOutline, str] | None],
    load: OutlineLoader,
) -> Snapshot:
    known = [each for each in own if each]
    modules = {outline.module: outline for outline, _ in known}
    gone = frozenset(each[0].module for each in others if each) - modules.keys()
    return Snapshot(modules, {outline.module: path for outline, path in known}, gone, load)


def _list_renamed(pairs: Iterable[_OutlinePair]) -> dict[str, str]:
    """Return the modules whose file has another path now."""
    return {
        each.old[0].module: each.new[0].module
        for each in pairs
        if each.old and each.new and each.old[0].module != each.new[0].module
    }


class _Comparison:
    """The Python code of the changed files before and after a merge."""

    def __init__(self, before: Snapshot, after: Snapshot, renamed: Mapping[str, str]) -> None:
        self._before, self._after, self._renamed = before, after, renamed
        self._matches = match_names(before, after)
        self._moved = self._find_moved_modules(self._matches)

    def list_changes(self) -> Iterator[ContractChange]:
        """Yield all changes: of modules, of names, and of what the names stand for."""
        yield from self._list_modules()
        yield from self._list_lost_names()
        for pair in self._matches.pairs:
            yield from self._describe_move(pair)
            if not pair.is_comparable:
                continue
            kinds = {pair.old.definition.kind, pair.new.definition.kind}
            if len(kinds) > 1:
                yield from compare_kinds(pair, self._before, self._after)
                continue
            yield from compare_definitions(pair.old, pair.new)
            if kinds == {DefinitionKind.CLASS}:
                yield from ClassComparison(pair, self._before, self._after).list_changes()

    def list_unlisted(self) -> Iterator[ContractChange]:
        """Yield what modules only imported, and what classes had from a base that they lost."""
        yield from list_lost_imports(self._before, self._after)
        for pair in self._matches.pairs:
            if pair.is_comparable and pair.old.definition.kind is DefinitionKind.CLASS:
                yield from ClassComparison(pair, self._before, self._after).list_lost_with_bases()

    def _list_modules(self) -> Iterator[ContractChange]:
        for module in sorted(self._before.gone_on(self._after)):
            if self._is_silent_loss(module):
                continue
            target = self._moved.get(module, "")
            kind = ChangeKind.MOVED if target else ChangeKind.REMOVED
            yield ContractChange(
                ContractClass.MODULE, kind, module, module, target, module, 1, DiffSide.OLD, new_name=target
            )

    def _is_silent_loss(self, module: str) -> bool:
        """Return whether a module without its file may be imported: unless one went with it and none came."""
        inner = f"{module}."
        if any(name.startswith(inner) for name in self._after.modules):
            return True
        is_package = self._before.modules[module].is_package
        return is_package and not any(name.startswith(inner) for name in self._after.gone)

    def _find_moved_modules(self, matches: Matches) -> dict[str, str]:
        """Return the modules that are gone, each with the one that has most of its names."""
        targets: dict[str, Counter[str]] = defaultdict(Counter)
        totals: Counter[str] = Counter(each.outline.module for each in matches.lost)
        for pair in matches.pairs:
            totals[pair.old.outline.module] += 1
            targets[pair.old.outline.module][pair.new.outline.module] += 1
        moved = {}
        for module in self._before.gone_on(self._after):
            best = targets[module].most_common(1)
            if best and best[0][1] >= _MIN_MODULE_SHARE * totals[module]:
                moved[module] = best[0][0]
            elif module in self._renamed and not totals[module]:
                moved[module] = self._renamed[module]
        return moved

    def _list_lost_names(self) -> Iterator[ContractChange]:
        for place in self._matches.lost:
            module = place.outline.module
            # the row of the module says it
            if module in self._after.gone and module not in self._moved and not self._is_silent_loss(module):
                continue
            yield make_row(ChangeKind.REMOVED, place)
        yield from list_lost_exports(self._before, self._after, self._matches)

    def _describe_move(self, pair: Pair) -> Iterator[ContractChange]:
        """Yield the row of a name that stands elsewhere, unless the row of its module says so."""
        old, new = pair.old, pair.new
        if old.name == new.name:
            return
        if (
            old.definition.name == new.definition.name
            and self._moved.get(old.outline.module) == new.outline.module
        ):
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


def _fill_path(change: ContractChange, before: Snapshot, after: Snapshot) -> ContractChange:
    sides = (before, after) if change.side is DiffSide.OLD else (after, before)
    for side in sides:
        path = side.paths.get(change.path)
        if path:
            return replace(change, path=path)
    return replace(change, path=change.path.replace(".", "/") + ".py")


def _get_order(change: ContractChange) -> tuple[str, int, str, str]:
    return change.path, change.line, change.name, change.kind
