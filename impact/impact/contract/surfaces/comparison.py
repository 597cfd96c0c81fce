"""What changed between the facts of two versions of some files."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from impact.contract.models import ChangeKind, ContractChange, ContractClass
from impact.contract.surfaces.code.fields import FieldClass
from impact.contract.surfaces.facts import Fact, read_schema, shorten_pair, show_default_change
from impact.contract.surfaces.file_facts import FileFacts
from impact.contract.surfaces.scope import is_for_development, is_outside
from impact.source.models import DiffSide

# gives the path and the text of each line that has one of some names; None if the tree can't be read
LineFinder = Callable[[Collection[str]], Sequence[tuple[str, str]] | None]
# what any file may define or read
_TREE_WIDE = frozenset(
    (ContractClass.ENVIRONMENT, ContractClass.FLAG, ContractClass.METRIC, ContractClass.ENTRY_POINT)
)
_MAX_LINE = 1_000
# what is still accepted, as its help says
WITHOUT_EFFECT = "(no longer has an effect)"
_NO_EFFECT = re.compile(r"\bno (?:longer has an? |longer has any )?effect\b|\b(?:is|be) ignored\b", re.I)
_FIELDS = frozenset((ContractClass.CONFIGURATION, ContractClass.API_FIELD, ContractClass.WIRE))
# names that are less alike are two things, even if they say the same of themselves
_MIN_SIMILARITY = 0.5
# without a description, only the names can tell
_MIN_SIMILARITY_ALONE = 0.8
_MAX_CANDIDATES = 40
_MAX_ANCESTORS = 50


@dataclass(frozen=True, slots=True)
class PlacedFact:
    fact: Fact
    path: str
    pair: int


class FieldTable:
    """The classes of one version of the changed files, by name, for what they inherit."""

    def __init__(self, files: Sequence[FileFacts]) -> None:
        self._classes: dict[str, list[FieldClass]] = defaultdict(list)
        for file in files:
            for item in file.classes:
                self._classes[item.name].append(item)
        self._fields = {
            name: frozenset(field.name for item in items for field in item.fields)
            for name, items in self._classes.items()
        }
        self._bases = {
            name: frozenset(base for item in items for base in item.bases) for name, items in self._classes.items()
        }

    def has_class(self, name: str) -> bool:
        return name in self._classes

    def list_bases(self, name: str) -> frozenset[str]:
        return self._bases.get(name, frozenset())

    def has_field(self, owner: str, field: str) -> bool:
        waiting, seen = [owner], {owner}
        while waiting and len(seen) < _MAX_ANCESTORS:
            name = waiting.pop()
            if field in self._fields.get(name, ()):
                return True
            new = self.list_bases(name) - seen
            seen |= new
            waiting += new
        return False


def compare_facts(
    old: Sequence[FileFacts],
    new: Sequence[FileFacts],
    is_new_variable: Callable[[str], bool],
    find: LineFinder | None = None,
) -> Iterator[ContractChange]:
    """Yield the changes from the old to the new version of each file, both in the same order.

    ``is_new_variable`` decides of a variable that code reads whether no other file declares it. Without ``find``,
    which gives lines of the tree after, nobody knows whether what code read in the files is read elsewhere.
    """
    tables = FieldTable(old), FieldTable(new)
    removed, added = _Remains(), _Remains()
    for group in _group_facts(old, new):
        yield from group.compare(removed, added)
    # what belongs to something that is gone, or new, goes without saying
    lost = {item.fact.name for item in removed.list_items()}
    news = {item.fact.name for item in added.list_items()}
    gone = [
        item
        for item in removed.list_items()
        if item.fact.owner not in lost and _is_removed(item.fact, *tables, is_tree_known=find is not None)
    ]
    left = _list_left({item.fact.name for item in gone if item.fact.subject in _TREE_WIDE}, find)
    gone = [item for item in gone if item.fact.name not in left]
    fresh = [
        item
        for item in added.list_items()
        if item.fact.owner not in news
        and _is_added(item.fact, *tables)
        and (not _is_read_only(item) or is_new_variable(item.fact.name))
    ]
    pairs = _match_renamed(gone, fresh)
    for before, after in pairs:
        yield _make_renamed(before, after)
    renamed_old = {id(before) for before, _ in pairs}
    renamed_new = {id(after) for _, after in pairs}
    for item in gone:
        if id(item) not in renamed_old:
            yield _make_removed(item)
    for item in fresh:
        if id(item) not in renamed_new:
            yield _make_added(item)


class _Remains:
    """Facts that only one of the versions states."""

    def __init__(self) -> None:
        self._items: list[PlacedFact] = []
        self._names: set[tuple[ContractClass, str, int]] = set()

    def add(self, item: PlacedFact) -> None:
        key = (item.fact.subject, item.fact.name, item.pair if item.fact.is_local else -1)
        if key not in self._names:
            self._names.add(key)
            self._items.append(item)

    def list_items(self) -> list[PlacedFact]:
        return self._items


@dataclass(slots=True)
class _Group:
    old: list[PlacedFact]
    new: list[PlacedFact]

    def compare(self, removed: _Remains, added: _Remains) -> Iterator[ContractChange]:
        """Yield what changed of facts that both versions state; collect those that only one has."""
        has_old, has_new = bool(self.old), bool(self.new)
        old, new = _drop_equal(self.old, self.new)
        kept = 0
        for by_file in (True, False):
            old, new, pairs = _pair_facts(old, new, by_file=by_file)
            kept += len(pairs)
            for before, after in pairs:
                yield from _compare_pair(before, after)
        for item in old:
            if not has_new or item.fact.is_local:
                removed.add(item)
        for item in new:
            if not has_old or item.fact.is_local:
                added.add(item)


def _group_facts(old: Sequence[FileFacts], new: Sequence[FileFacts]) -> Iterator[_Group]:
    groups: dict[tuple[ContractClass, str], _Group] = {}
    for pair, (before, after) in enumerate(zip(old, new, strict=True)):
        if not (before.is_read and after.is_read):
            continue
        for side, file in (("old", before), ("new", after)):
            for fact in file.facts:
                group = groups.setdefault((fact.subject, fact.name), _Group([], []))
                (group.old if side == "old" else group.new).append(PlacedFact(fact, file.path, pair))
    yield from groups.values()


def _drop_equal(old: list[PlacedFact], new: list[PlacedFact]) -> tuple[list[PlacedFact], list[PlacedFact]]:
    """Leave out what both versions state alike, in the same file or in another one."""
    for by_file in (True, False):
        counts: dict[tuple[object, ...], int] = defaultdict(int)
        for item in new:
            counts[_make_key(item, by_file=by_file)] += 1
        kept: list[PlacedFact] = []
        spent: dict[tuple[object, ...], int] = defaultdict(int)
        for item in old:
            key = _make_key(item, by_file=by_file)
            if spent[key] < counts[key]:
                spent[key] += 1
            else:
                kept.append(item)
        old = kept
        left: list[PlacedFact] = []
        for item in new:
            key = _make_key(item, by_file=by_file)
            if spent[key]:
                spent[key] -= 1
            else:
                left.append(item)
        new = left
    return old, new


def _make_key(item: PlacedFact, *, by_file: bool) -> tuple[object, ...]:
    fact = item.fact
    return (fact.default, fact.shape, fact.is_deprecated, _choose_place(item, by_file=by_file))


def _choose_place(item: PlacedFact, *, by_file: bool) -> object:
    """Return within what facts are compared. What moves from an installation to its tests is gone from it."""
    return item.pair if by_file else item.fact.is_local and is_for_development(item.path)


def _pair_facts(
    old: list[PlacedFact], new: list[PlacedFact], *, by_file: bool
) -> tuple[list[PlacedFact], list[PlacedFact], list[tuple[PlacedFact, PlacedFact]]]:
    """Pair what differs, in the order of the text: first within a file, then across files."""
    waiting: dict[object, list[PlacedFact]] = defaultdict(list)
    for item in reversed(new):
        waiting[_choose_place(item, by_file=by_file)].append(item)
    kept, pairs = [], []
    for item in old:
        candidates = waiting[_choose_place(item, by_file=by_file)]
        if candidates:
            pairs.append((item, candidates.pop()))
        else:
            kept.append(item)
    matched = {id(after) for _, after in pairs}
    return kept, [item for item in new if id(item) not in matched], pairs


def _compare_pair(before: PlacedFact, after: PlacedFact) -> Iterator[ContractChange]:
    old, new = before.fact, after.fact
    # of a flag that is made elsewhere the shape is unknown
    is_shape_known = new.subject is not ContractClass.FLAG or (old.shape and new.shape)
    if old.shape != new.shape and is_shape_known:
        yield _make_change(ChangeKind.SIGNATURE, before, after)
    is_known = not (old.reference or new.reference) or (old.is_default_known and new.is_default_known)
    # a value in place of a switch says it all
    is_flag_changed = new.subject is ContractClass.FLAG and old.shape != new.shape
    if old.default != new.default and is_known and not is_flag_changed:
        yield _make_change(ChangeKind.DEFAULT, before, after)
    if new.is_deprecated and not old.is_deprecated:
        yield _make_change(ChangeKind.DEPRECATED, before, after)


def _make_change(kind: ChangeKind, before: PlacedFact, after: PlacedFact) -> ContractChange:
    new = after.fact
    texts = [_describe(item.fact, kind) for item in (before, after)]
    if kind is ChangeKind.DEPRECATED and _NO_EFFECT.search(new.help):
        texts[1] = f"{texts[1]} {WITHOUT_EFFECT}"
    before_text, after_text = shorten_pair(*texts)
    is_op = new.subject is ContractClass.OP and kind is ChangeKind.SIGNATURE
    return ContractChange(
        new.subject,
        kind,
        new.name,
        before_text,
        after_text,
        after.path,
        new.line,
        deadline=new.deadline if kind is ChangeKind.DEPRECATED else None,
        old_signature=read_schema(before.fact.shape) if is_op else None,
        new_signature=read_schema(new.shape) if is_op else None,
    )


def _describe(fact: Fact, kind: ChangeKind) -> str:
    is_plain = fact.subject is ContractClass.FLAG and fact.text == fact.name
    return show_default_change(fact.name, "") if is_plain and kind is ChangeKind.DEFAULT else fact.text


def _make_renamed(before: PlacedFact, after: PlacedFact) -> ContractChange:
    old, new = before.fact, after.fact
    before_text, after_text = shorten_pair(old.text, new.text)
    return ContractChange(
        old.subject, ChangeKind.RENAMED, old.name, before_text, after_text, after.path, new.line, new_name=new.name
    )


def _make_removed(item: PlacedFact) -> ContractChange:
    fact = item.fact
    return ContractChange(
        fact.subject,
        ChangeKind.REMOVED,
        fact.name,
        shorten_pair(fact.text, "")[0],
        "",
        item.path,
        fact.line,
        DiffSide.OLD,
        deadline=fact.deadline,
    )


def _make_added(item: PlacedFact) -> ContractChange:
    fact = item.fact
    return ContractChange(
        fact.subject, ChangeKind.ADDED, fact.name, "", shorten_pair("", fact.text)[1], item.path, fact.line
    )


def _list_left(names: set[str], find: LineFinder | None) -> set[str]:
    """Return the names that the tree still has between quotes or, as scripts read variables, behind a dollar."""
    lines = (find(names) if find and names else None) or ()
    texts = [text[:_MAX_LINE] for path, text in lines if not is_outside(path)]
    patterns = {name: re.compile(rf"([\"'`]){re.escape(name)}\1|\$\{{?{re.escape(name)}\b") for name in names}
    return {name for name, pattern in patterns.items() if any(map(pattern.search, texts))}


def _is_removed(fact: Fact, old: FieldTable, new: FieldTable, *, is_tree_known: bool) -> bool:
    if fact.is_loose:
        return is_tree_known and fact.subject in _TREE_WIDE
    owner, mark, field = fact.name.rpartition(".")
    if fact.subject not in _FIELDS or not mark or not old.has_class(owner):
        return True
    # a class that is gone as a whole is a change of its module
    if not new.has_class(owner) or new.has_field(owner, field):
        return False
    # a new base that is not among the files may have it
    return all(new.has_class(base) for base in new.list_bases(owner) - old.list_bases(owner))


def _is_read_only(item: PlacedFact) -> bool:
    return item.fact.is_loose and item.fact.subject is ContractClass.ENVIRONMENT


def _is_added(fact: Fact, old: FieldTable, new: FieldTable) -> bool:
    owner, mark, field = fact.name.rpartition(".")
    if fact.subject not in _FIELDS or not mark or not new.has_class(owner):
        return True
    if not old.has_class(owner) or old.has_field(owner, field):
        return False
    return all(old.has_class(base) for base in old.list_bases(owner) - new.list_bases(owner))


def _match_renamed(gone: list[PlacedFact], fresh: list[PlacedFact]) -> list[tuple[PlacedFact, PlacedFact]]:
    """Pair a name that is gone with a new one in the same file that says the same and is alike, if only one is."""
    buckets: dict[tuple[object, ...], tuple[list[PlacedFact], list[PlacedFact]]] = defaultdict(lambda: ([], []))
    for index, items in enumerate((gone, fresh)):
        for item in items:
            buckets[_make_bucket(item)][index].append(item)
    pairs: list[tuple[PlacedFact, PlacedFact]] = []
    for before, after in buckets.values():
        if 0 < len(before) <= _MAX_CANDIDATES and 0 < len(after) <= _MAX_CANDIDATES:
            pairs += _match_bucket(before, after)
    return pairs


def _make_bucket(item: PlacedFact) -> tuple[object, ...]:
    fact = item.fact
    owner = fact.name.rpartition(".")[0] if fact.subject in _FIELDS else ""
    return (fact.subject, item.pair, owner, fact.default, fact.shape.replace(fact.name, ""))


def _match_bucket(before: list[PlacedFact], after: list[PlacedFact]) -> list[tuple[PlacedFact, PlacedFact]]:
    likely: list[tuple[PlacedFact, PlacedFact]] = [
        (old, new) for old in before for new in after if _is_renamed(old.fact, new.fact)
    ]
    olds = [id(old) for old, _ in likely]
    news = [id(new) for _, new in likely]
    return [(old, new) for old, new in likely if olds.count(id(old)) == 1 and news.count(id(new)) == 1]


def _is_renamed(old: Fact, new: Fact) -> bool:
    if old.subject in {ContractClass.DEPENDENCY, ContractClass.ENDPOINT, ContractClass.OP}:
        return False
    first, second = old.name.rpartition(".")[2], new.name.rpartition(".")[2]
    similarity = SequenceMatcher(None, first[:100], second[:100]).ratio()
    if old.help and old.help == new.help:
        return similarity >= _MIN_SIMILARITY
    return similarity >= _MIN_SIMILARITY_ALONE and bool(old.default or old.shape)
