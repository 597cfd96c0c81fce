"""What a merge changes for others in everything but plain Python names, from the facts of both versions."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import partial
from itertools import chain
from pathlib import PurePosixPath

from impact.contract.models import FIELDS, ChangeKind, ContractChange, ContractClass, FileVersions
from impact.contract.python.snapshots import OutlineLoader
from impact.contract.surfaces.facts import (
    Fact,
    FileFacts,
    build_python_file,
    read_schema,
    shorten_pair,
    show_default,
)
from impact.contract.surfaces.fields import (
    list_field_classes,
    list_flag_classes,
    list_flag_overrides,
    list_flags,
    make_field_flags,
    read_reference,
    replace_default,
)
from impact.contract.surfaces.registrations import (
    list_endpoints,
    list_metrics,
    list_plugin_groups,
    list_python_ops,
    list_python_variables,
    list_setup_entry_points,
    list_warnings,
)
from impact.contract.surfaces.texts import (
    is_requirements,
    list_requirements,
    list_setup_dependencies,
    list_text_facts,
)
from impact.python.module_names import is_python, name_module
from impact.python.syntax import parse_source
from impact.source.models import DiffSide, SourceFile

# upstream's own tests and samples use the contract; they don't define it
_OUTSIDE = frozenset(("tests", "test", ".buildkite", ".github"))
_OUTSIDE_AT_TOP = frozenset(("benchmarks", "tools", "doc", "docs", "testing", "examples"))
_DEVELOPMENT = frozenset(("test", "tests", "dev", "lint", "docs", "benchmarks", "examples"))
_WORD = re.compile(r"[a-z0-9]+")
# a file without any of these words states nothing that the surfaces look for
# each is looked for on its own: a pattern that begins with plain text is found ten times as fast
_HINT_WORDS = (
    "environ getenv add_argument option( Option( BaseModel TypedDict Request) Response) deprecat"
    " plugins_by_group entry_points custom_op .define( triton_op"
).split()
_METRICS = [name for word in ("gauge", "counter", "histogram", "summary") for name in (word, word.capitalize())]
_HINTS = [
    re.compile(pattern)
    for pattern in (
        r"class \w{0,100}(?:Config|Args|Settings)\b",
        r"Struct\b",
        r"_GROUP\b",
        r"@\w{1,40}\.(?:get|post|put|delete|patch|head|options|websocket|route|api_route)\(",
        r"\.add_(?:get|post|put|delete|patch|api_route|route|url_rule|api_websocket_route)\(",
        *(rf"{name}\w{{0,20}}\(" for name in _METRICS),
    )
]
_PYTHON_READERS = (
    list_python_variables,
    list_flags,
    list_endpoints,
    list_metrics,
    list_python_ops,
    list_plugin_groups,
)
_MAX_LEVELS = 3
# folders in which every data class is configuration
_CONFIGURATION_FILE = re.compile(r"(?:^|/)config(?:/|\.py$)")


def is_outside(path: str) -> bool:
    """Return whether a file is a test, a sample or documentation, which define no contract."""
    folders = PurePosixPath(path).parts[:-1]
    return not _OUTSIDE.isdisjoint(folders) or not _OUTSIDE_AT_TOP.isdisjoint(folders[:1])


def is_for_development(path: str) -> bool:
    """Return whether a list of requirements is one of tests, documentation or tools, by its path."""
    return not _DEVELOPMENT.isdisjoint(_WORD.findall(path.lower()))


def read_file_facts(file: SourceFile | None) -> FileFacts:
    """List what a version of a file states; it is empty where there is no file."""
    if file is None:
        return FileFacts("")
    path = file.path
    facts: Iterable[Fact] | None = None
    if file.problem is None:
        if is_requirements(path):
            facts = list_requirements(file.text)
        elif is_outside(path):
            facts = ()
        elif is_python(path):
            return _read_python(path, file.text)
        else:
            facts = list_text_facts(path, file.text)
    return FileFacts(path, is_read=False) if facts is None else FileFacts(path, tuple(facts))


def _read_python(path: str, text: str) -> FileFacts:
    is_sure = path.endswith("setup.py") or _CONFIGURATION_FILE.search(path)
    if not (is_sure or any(word in text for word in _HINT_WORDS) or any(each.search(text) for each in _HINTS)):
        return FileFacts(path)
    tree = parse_source(text)
    if tree is None:
        return FileFacts(path, is_read=False)
    python = build_python_file(path, text, tree)
    classes = tuple(list_field_classes(python))
    fields = [field for owner in classes for field in owner.fields]
    facts = [*chain.from_iterable(read(python) for read in _PYTHON_READERS), *fields]
    if PurePosixPath(path).name == "setup.py":
        facts += [*list_setup_entry_points(python), *list_setup_dependencies(python)]
    notices = tuple(list_warnings(python, {field.last_name: field for field in fields}))
    flag_classes, overrides = list_flag_classes(python), list_flag_overrides(python)
    return FileFacts(path, tuple(facts), classes, notices, flag_classes, overrides)


def join_files(files: list[FileFacts]) -> list[FileFacts]:
    """Add what only all files of a version together say: flags made of inherited fields, and their defaults."""
    known = {name for file in files for name in file.flag_classes}
    classes = [item for file in files for item in file.classes] if known else []
    # a class below a class below one that is known: more levels are not seen
    for _ in range(_MAX_LEVELS):
        known |= {item.name for item in classes if known.intersection(item.bases)}
    files = [replace(file, facts=(*file.facts, *_list_field_flags(file, known))) for file in files]
    fields = {
        fact.name: fact for file in files for fact in file.facts if fact.subject is ContractClass.CONFIGURATION
    }
    return [replace(file, facts=tuple(_resolve(fact, fields) for fact in file.facts)) for file in files]


def _list_field_flags(file: FileFacts, owners: set[str]) -> Iterator[Fact]:
    for owner in (each for each in file.classes if each.name in owners):
        for field in (each for each in owner.fields if each.last_name not in owner.fixed):
            yield from make_field_flags(field, file.overrides.get(field.last_name, {}))


def _resolve(fact: Fact, fields: dict[str, Fact]) -> Fact:
    source = fields.get(fact.reference) if fact.reference else None
    if source is None or (source.reference and not source.is_default_known):
        return fact
    if fact.subject is not ContractClass.FLAG:
        text = fact.text.replace(fact.default, source.default, 1)
        return replace(fact, default=source.default, text=text, is_default_known=True)
    default = "" if source.default == "None" else source.default
    return replace(replace_default(fact, default, is_switch="bool" in source.shape.split()), is_default_known=True)


# --- both versions

FactsReader = Callable[[SourceFile | None], FileFacts]
# gives the path and the text of each line that has one of some names; None if the tree can't be read
LineFinder = Callable[[Collection[str]], Sequence[tuple[str, str]] | None]
# what any file may define or read
_TREE_WIDE = {ContractClass.ENVIRONMENT, ContractClass.FLAG, ContractClass.METRIC, ContractClass.ENTRY_POINT}
_MAX_LINE = 1_000
# what is still accepted, as its help says
WITHOUT_EFFECT = "(no longer has an effect)"
_NO_EFFECT = re.compile(r"\bno (?:longer has an? |longer has any )?effect\b|\b(?:is|be) ignored\b", re.I)
_NEVER_RENAMED = frozenset((ContractClass.DEPENDENCY, ContractClass.ENDPOINT, ContractClass.OP))
# names that are less alike are two things, even if they say the same of themselves; or where they say nothing
_MIN_SIMILARITY, _MIN_SIMILARITY_ALONE = 0.5, 0.8
_MAX_CANDIDATES = 40
_MAX_ANCESTORS = 50
# where vLLM makes the flags of its engine: each field of the class is one, with the default of the field it names
_FLAG_MODULE = "engine.arg_utils"
_FLAG_OWNER = "EngineArgs."
_UNSET = " unset by default"
_DEFAULT = re.compile(r" = (?P<default>.{1,200})$")
_SHOWN = {"None": "", "True": "on", "False": "off"}


@dataclass(frozen=True, slots=True, eq=False)
class PlacedFact:
    fact: Fact
    path: str
    pair: int


_Facts = list[PlacedFact]
# of each class of one version of the changed files: its fields and its bases
_Classes = Mapping[str, tuple[set[str], set[str]]]


def list_surface_changes(
    versions: Sequence[FileVersions],
    load: OutlineLoader = lambda _module: None,
    read: FactsReader = read_file_facts,
    find: LineFinder | None = None,
) -> tuple[ContractChange, ...]:
    """Return what a merge changes of variables, flags, fields, endpoints, metrics, messages, ops and dependencies.

    A fact that moves from one changed file to another is no change. What can't be read changes nothing. ``load``
    gives modules that didn't change, for the flags that take their defaults from a changed field. ``read`` may
    keep what it read. ``find`` gives the lines of the tree after the merge that have one of some names; without
    it, nobody knows whether what code read in the files is read elsewhere.
    """
    changed = [pair for pair in versions if pair.old != pair.new]
    old, new = join_files([read(pair.old) for pair in changed]), join_files([read(pair.new) for pair in changed])
    changes = list(_compare_facts(old, new, load, find))
    seen = {(change.subject, change.name) for change in changes if change.kind is ChangeKind.DEPRECATED}
    seen |= {(notice.subject, notice.name) for file in old for notice in file.notices}
    # the deprecations that code announces and didn't announce before
    for pair, (before, after) in enumerate(zip(old, new, strict=True)):
        for notice in after.notices if before.is_read and after.is_read else ():
            if (notice.subject, notice.name) not in seen:
                seen.add((notice.subject, notice.name))
                changes.append(_make_row(ChangeKind.DEPRECATED, None, PlacedFact(notice, after.path, pair)))
    changes += [*_list_derived_flags(changes, load, {pair.path for pair in versions})]
    return tuple(sorted(changes, key=lambda change: (change.path, change.line, change.name, change.kind)))


def _compare_facts(
    old: Sequence[FileFacts], new: Sequence[FileFacts], load: OutlineLoader, find: LineFinder | None
) -> Iterator[ContractChange]:
    """Yield the changes from the old to the new version of each file, both in the same order."""
    removed: dict[Hashable, PlacedFact] = {}
    added: dict[Hashable, PlacedFact] = {}
    groups: dict[tuple[ContractClass, str], tuple[_Facts, _Facts]] = defaultdict(lambda: ([], []))
    for place, files in enumerate(zip(old, new, strict=True)):
        for side, file in enumerate(files) if all(file.is_read for file in files) else ():
            for fact in file.facts:
                groups[fact.subject, fact.name][side].append(PlacedFact(fact, file.path, place))
    for befores, afters in groups.values():
        pairs, left_old, left_new = _pair_group(befores, afters)
        for pair in pairs:
            yield from _compare_pair(*pair)
        for left, others, remains in ((left_old, afters, removed), (left_new, befores, added)):
            for item in left:
                if not others or item.fact.is_local:
                    key = item.fact.subject, item.fact.name, item.pair if item.fact.is_local else -1
                    remains.setdefault(key, item)
    # what belongs to something that is gone, or new, goes without saying
    lost, news = ({item.fact.name for item in remains.values()} for remains in (removed, added))
    tables = _index_classes(old), _index_classes(new)
    gone = [
        item
        for item in removed.values()
        if item.fact.owner not in lost
        and (find and item.fact.subject in _TREE_WIDE if item.fact.is_loose else _is_own(item.fact, *tables))
    ]
    kept = _list_kept({item.fact.name for item in gone if item.fact.subject in _TREE_WIDE}, find)
    gone = [item for item in gone if item.fact.name not in kept]
    fresh = [
        item
        for item in added.values()
        if item.fact.owner not in news and _is_own(item.fact, *tables[::-1]) and _is_declared(item.fact, load)
    ]
    pairs = _match_renamed(gone, fresh)
    renamed = {item for pair in pairs for item in pair}
    yield from (_make_row(ChangeKind.RENAMED, *pair) for pair in pairs)
    yield from (_make_row(ChangeKind.REMOVED, item, None) for item in gone if item not in renamed)
    yield from (_make_row(ChangeKind.ADDED, None, item) for item in fresh if item not in renamed)


def _pair_group(old: _Facts, new: _Facts) -> tuple[list[tuple[PlacedFact, PlacedFact]], _Facts, _Facts]:
    """Pair what differs, and return what is left: what is said alike goes first, within a file before others."""
    pairs = []
    for is_alike, is_by_file in ((True, True), (True, False), (False, True), (False, False)):
        if not (old and new):
            break
        make_key = partial(_make_key, is_alike=is_alike, is_by_file=is_by_file)
        waiting: dict[Hashable, deque[PlacedFact]] = defaultdict(deque)
        for item in new:
            waiting[make_key(item)].append(item)
        matched = [(item, same.popleft()) for item in old if (same := waiting[make_key(item)])]
        done = {item for pair in matched for item in pair}
        old, new = ([item for item in side if item not in done] for side in (old, new))
        pairs += [] if is_alike else matched
    return pairs, old, new


def _make_key(item: PlacedFact, *, is_alike: bool, is_by_file: bool) -> Hashable:
    fact = item.fact
    # what moves from an installation to its tests is gone from it
    place = item.pair if is_by_file else fact.is_local and is_for_development(item.path)
    return place, (fact.default, fact.shape, fact.is_deprecated) if is_alike else ()


def _compare_pair(before: PlacedFact, after: PlacedFact) -> Iterator[ContractChange]:
    old, new = before.fact, after.fact
    is_flag, is_other_shape = new.subject is ContractClass.FLAG, old.shape != new.shape
    # of a flag that is made elsewhere the shape is unknown
    if is_other_shape and (not is_flag or (old.shape and new.shape)):
        yield _make_row(ChangeKind.SIGNATURE, before, after)
    is_known = not (old.reference or new.reference) or (old.is_default_known and new.is_default_known)
    # a value in place of a switch says it all
    if old.default != new.default and is_known and not (is_flag and is_other_shape):
        yield _make_row(ChangeKind.DEFAULT, before, after)
    if new.is_deprecated and not old.is_deprecated:
        yield _make_row(ChangeKind.DEPRECATED, before, after)


def _make_row(kind: ChangeKind, before: PlacedFact | None, after: PlacedFact | None) -> ContractChange:
    """Return a change by what was said before and after; one of them is there at least."""
    sides = [each for each in (before, after) if each]
    fact, placed = sides[0].fact, sides[-1]
    texts = [each.fact.text if each else "" for each in (before, after)]
    if kind is ChangeKind.DEFAULT and fact.subject is ContractClass.FLAG:
        texts = [show_default(text, "", _UNSET) if text == fact.name else text for text in texts]
    if kind is ChangeKind.DEPRECATED and _NO_EFFECT.search(placed.fact.help):
        texts[1] = f"{texts[1]} {WITHOUT_EFFECT}"
    is_op = fact.subject is ContractClass.OP and kind is ChangeKind.SIGNATURE
    schemas = [read_schema(each.fact.shape) if is_op else None for each in (sides[0], placed)]
    return ContractChange(
        fact.subject,
        kind,
        fact.name,
        *shorten_pair(*texts),
        placed.path,
        placed.fact.line,
        DiffSide.NEW if after else DiffSide.OLD,
        new_name=placed.fact.name if kind is ChangeKind.RENAMED else "",
        deadline=placed.fact.deadline if kind in {ChangeKind.DEPRECATED, ChangeKind.REMOVED} else None,
        old_signature=schemas[0],
        new_signature=schemas[1],
    )


# --- what is gone, and what is new


def _list_kept(names: set[str], find: LineFinder | None) -> set[str]:
    """Return the names that the tree still has between quotes or, as scripts read variables, behind a dollar."""
    lines = (find(names) if find and names else None) or ()
    texts = [text[:_MAX_LINE] for path, text in lines if not is_outside(path)]
    patterns = {name: re.compile(rf"([\"'`]){re.escape(name)}\1|\$\{{?{re.escape(name)}\b") for name in names}
    return {name for name, pattern in patterns.items() if any(map(pattern.search, texts))}


def _is_declared(fact: Fact, load: OutlineLoader) -> bool:
    """Return whether a name is new where it is declared: a variable that code reads may be declared elsewhere."""
    if not (fact.is_loose and fact.subject is ContractClass.ENVIRONMENT):
        return True
    # VLLM_PORT is declared by vllm
    table = load(f"{fact.name.split('_', 1)[0].lower()}.envs")
    return table is not None and fact.name not in table.definitions


def _index_classes(files: Iterable[FileFacts]) -> _Classes:
    classes: dict[str, tuple[set[str], set[str]]] = {}
    for item in (item for file in files for item in file.classes):
        fields, bases = classes.setdefault(item.name, (set(), set()))
        fields.update(field.last_name for field in item.fields)
        bases.update(item.bases)
    return classes


def _is_own(fact: Fact, own: _Classes, other: _Classes) -> bool:
    """Return whether the other version lacks a field, also in bases; what is no field it lacks anyway."""
    owner, mark, field = fact.name.rpartition(".")
    if fact.subject not in FIELDS or not mark or owner not in own:
        return True
    # a class that is gone or new as a whole is a change of its module
    if owner not in other:
        return False
    waiting, seen = [owner], {owner}
    while waiting and len(seen) < _MAX_ANCESTORS:
        fields, bases = other.get(waiting.pop(), (set(), set()))
        if field in fields:
            return False
        waiting += bases - seen
        seen |= bases
    # a base of the other version alone that is not among the files may have it
    return all(base in other for base in other[owner][1] - own[owner][1])


def _match_renamed(gone: _Facts, fresh: _Facts) -> list[tuple[PlacedFact, PlacedFact]]:
    """Pair a name that is gone with a new one in the same file that says the same and is alike, if only one is."""
    buckets: dict[Hashable, tuple[_Facts, _Facts]] = defaultdict(lambda: ([], []))
    for side, items in enumerate((gone, fresh)):
        for item in items:
            fact = item.fact
            owner = fact.name.rpartition(".")[0] if fact.subject in FIELDS else ""
            key = fact.subject, item.pair, owner, fact.default, fact.shape.replace(fact.name, "")
            buckets[key][side].append(item)
    likely = [
        (old, new)
        for before, after in buckets.values()
        if max(len(before), len(after)) <= _MAX_CANDIDATES
        for old in before
        for new in after
        if _is_renamed(old.fact, new.fact)
    ]
    uses = Counter(item for pair in likely for item in pair)
    return [(old, new) for old, new in likely if uses[old] == uses[new] == 1]


def _is_renamed(old: Fact, new: Fact) -> bool:
    if old.subject in _NEVER_RENAMED:
        return False
    similarity = SequenceMatcher(None, old.last_name[:100], new.last_name[:100]).ratio()
    if old.help and old.help == new.help:
        return similarity >= _MIN_SIMILARITY
    return similarity >= _MIN_SIMILARITY_ALONE and bool(old.default or old.shape)


# --- flags of another file


def _list_derived_flags(
    changes: Sequence[ContractChange], load: OutlineLoader, changed: Collection[str]
) -> Iterator[ContractChange]:
    """Yield the new defaults of flags that take them from a field, where their own module didn't change."""
    for row in changes:
        name = name_module(row.path)
        module = f"{name[0].split('.', 1)[0]}.{_FLAG_MODULE}" if name else ""
        is_default = row.subject is ContractClass.CONFIGURATION and row.kind is ChangeKind.DEFAULT
        # where the module itself changed, its flags were compared
        is_other = is_default and name and f"{module.replace('.', '/')}.py" not in changed
        outline = load(module) if is_other else None
        for definition in outline.definitions.values() if outline else ():
            field = definition.name.removeprefix(_FLAG_OWNER)
            is_flag = field != definition.name and not field.startswith("_")
            if is_flag and read_reference(definition.value) == row.name:
                flag = f"--{field.replace('_', '-')}"
                matches = [_DEFAULT.search(text) for text in (row.before, row.after)]
                values = [match["default"] if match else "" for match in matches]
                texts = [show_default(flag, _SHOWN.get(value, value), _UNSET) for value in values]
                yield replace(row, subject=ContractClass.FLAG, name=flag, before=texts[0], after=texts[1])
