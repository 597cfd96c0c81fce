"""The profile of a tree: what its files use, through its own modules and classes, up to upstream."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from impact.coverage import UnreadFile
from impact.errors import READING_FAILED, attempt_all
from impact.profile.models import PLAIN_KINDS, DerivedClass, Profile, Use, UseKind
from impact.profile.pins import read_revisions
from impact.profile.plain_uses import FileUses, ScannedClass
from impact.profile.symbols import SUPER, follow_part, is_telling_method
from impact.python.models import Parameter, ParameterKind, Signature
from impact.source.models import find_hashes

T = TypeVar("T")
# classes of the team above one, and bases of one, that are followed: a tree of thousands takes their square
_MAX_CLASSES = 60
# steps from one name to the next; more are a circle
_MAX_STEPS = 25
# a tree may pin commits of other repositories, too, and several versions
_MAX_REVISIONS = 6
# what a class of the team defines or sets itself, of which upstream may have one too
OWN_KINDS = frozenset({UseKind.OVERRIDE, UseKind.SET, UseKind.COPY})


def build_profile(
    name: str, source: str, commit: str, scanned_at: datetime, packages: Sequence[str], files: Iterable[FileUses]
) -> Profile:
    """Return the profile of a tree. Its names lead through the team's own modules, and not yet into upstream."""
    scans = sorted(files, key=lambda each: each.path)

    def read_scans(scans: Sequence[FileUses]) -> tuple[tuple[Use, ...], dict[str, DerivedClass], tuple[str, ...]]:
        tree = TeamTree(scans, packages)
        classes = tree.list_derived()
        called = {tree.resolve(use.name) for scan in scans for use in scan.uses if _makes_instance(use)}
        classes |= {name: replace(classes[name], is_called=True) for name in classes.keys() & called}
        uses = dict.fromkeys(use for scan in scans for use in _list_uses(scan, tree, classes))
        return tuple(uses), classes, tuple(tree.cut)

    (uses, classes, cut), failed = attempt_all(read_scans, scans, lambda scan: scan.path)
    problems = [(scan.path, scan.problem) for scan in scans if scan.problem]
    problems += [(scan.path, READING_FAILED) for scan in failed]
    problems += [(path, "its classes have more bases than are followed") for path in cut]
    unread = tuple(UnreadFile(*problem) for problem in problems)
    contents = {scan.path: scan.content for scan in scans if scan.content}
    return Profile(
        name, tuple(packages), source, commit, scanned_at, uses, classes, len(scans), unread, contents=contents
    )


def _list_uses(scan: FileUses, tree: TeamTree, classes: dict[str, DerivedClass]) -> Iterator[Use]:
    for use in scan.uses:
        if use.kind in PLAIN_KINDS or (use.kind is UseKind.POSSIBLE_CALL and _is_possible(use, tree)):
            yield use
            continue
        if use.kind is UseKind.NAMED and "." not in use.name:
            if use.name not in tree.class_names:
                yield use
            continue
        name = use.name if use.kind is UseKind.COPY else tree.resolve(use.name)
        if name in classes and (made := _read_construction(use, name, tree)):
            yield made
        elif name is not None and _concerns_upstream(use, name, tree, classes):
            yield _complete(replace(use, name=name), tree)
        elif use.kind is UseKind.CALL and _is_possible(use, tree):
            # of a wrapper, say, that gives whatever the wrapped object has
            yield replace(use, kind=UseKind.POSSIBLE_CALL, name=use.name.rpartition(".")[2])


def _makes_instance(use: Use) -> bool:
    return use.kind is UseKind.CALL and not use.is_test and use.name.rpartition(".")[2][:1].isupper()


def _read_construction(use: Use, name: str, tree: TeamTree) -> Use | None:
    """Return the call of a class of the team as one of the constructor that it has from upstream, if it has."""
    split = tree.split_member(name)
    if use.kind is not UseKind.CALL or use.call is None or split is None:
        return None
    if any(tree.is_own(split[0], each) for each in ("__init__", "__new__")):
        return None
    shape = use.call
    line = [each for each in tree.list_own_line(split[0]) if each.is_data]
    # its own fields come after those of its bases; one with a default may be passed, or not
    required = {field for each in line for field in each.required}
    own = {field for each in line for field in each.own}
    if shape.positional and own != required:
        return None
    positional = shape.positional - len(required.difference(shape.keywords)) if shape.positional else 0
    keywords = tuple(each for each in shape.keywords if each not in own)
    call = replace(shape, positional=max(positional, 0), keywords=keywords)
    fields = Signature(tuple(Parameter(each, ParameterKind.KEYWORD_ONLY) for each in sorted(own)))
    return replace(use, name=f"{name}.__init__", call=call, signature=fields if own else None)


def _complete(use: Use, tree: TeamTree) -> Use:
    if use.kind is UseKind.CALL and _is_possible(use, tree):
        return replace(use, definitions=(use.name.rpartition(".")[2],))
    if use.kind is UseKind.PATCH and use.definitions:
        return replace(use, definitions=(), signature=tree.find_signature(use.definitions[0]))
    return use


def _is_possible(use: Use, tree: TeamTree) -> bool:
    """Return whether a call may be one of a method of upstream, whatever its object is."""
    # it is not if the team has such a method itself, and too likely by chance if the name says little. In tests
    # most such objects are stand-ins.
    method = use.name.rpartition(".")[2]
    return not use.is_test and is_telling_method(method) and method not in tree.methods


def _concerns_upstream(use: Use, name: str, tree: TeamTree, classes: dict[str, DerivedClass]) -> bool:
    """Return whether a use may be one of upstream: by its name, or by a class that extends upstream."""
    if use.kind is UseKind.COPY or name.partition(".")[0] in tree.packages:
        return True
    member = tree.split_member(name)
    if member is None or not member[1] or member[0].name not in classes:
        return False
    if use.kind in OWN_KINDS or len(member[1]) > 1 or f".{SUPER}." in use.name:
        return True
    return not tree.is_own(member[0], member[1][0])


def list_pinned_revisions(profile: Profile, repository: str) -> tuple[str, ...]:
    """Return the commits that a tree pins, else the tags of its versions; ``repository`` is a bare name.

    Those that most lines name come first: a line that was forgotten names an older one.
    """
    pins = [use for use in profile.uses if use.kind is UseKind.PIN]
    hashes = Counter(pinned[0] for use in pins if (pinned := find_hashes(use.text.lower())))
    if not hashes:
        own = {each.lower().replace("-", "_") for each in (repository, *profile.packages)}
        chosen = (use for use in pins if use.name.lower().replace("-", "_") in own)
        hashes = Counter(each for use in chosen for each in read_revisions(use.text, use.name))
    return tuple(revision for revision, _ in hashes.most_common(_MAX_REVISIONS))


class TeamTree:
    """The modules and classes of a team. Resolves symbols to upstream, or to members of these classes."""

    def __init__(self, files: Iterable[FileUses], packages: Sequence[str]) -> None:
        self.packages = frozenset(packages)
        self._modules: dict[str, FileUses] = {}
        self._classes: dict[str, ScannedClass] = {}
        for file in files:
            if file.module:
                self._modules.setdefault(file.module, file)
            for each in file.classes:
                self._classes.setdefault(each.name, each)
        self.class_names = {each.rpartition(".")[2] for each in self._classes}
        self.methods = {method for each in self._classes.values() for method in each.methods}
        self._bases: dict[str, tuple[str, ...]] = {}
        self._lines: dict[str, tuple[ScannedClass, ...]] = {}
        # the files with classes of which not all bases are followed
        self.cut: dict[str, None] = {}

    def resolve(self, symbol: str | None, steps: int = _MAX_STEPS) -> str | None:
        """Return where a symbol leads: an upstream path, or a member of a class of the team; None for neither."""
        if symbol is None or steps <= 0:
            return None
        if self._is_upstream(symbol):
            return symbol
        if member := self.split_member(symbol):
            return self._resolve_member(*member, steps)
        parts = symbol.split(".")
        for length in range(len(parts) - 1, 0, -1):
            if file := self._modules.get(".".join(parts[:length])):
                return self._resolve_in(file, parts[length:], steps)
        return None

    def _is_upstream(self, symbol: str) -> bool:
        return symbol.partition(".")[0] in self.packages

    def _resolve_in(self, file: FileUses, parts: list[str], steps: int) -> str | None:
        head, rest = parts[0], parts[1:]
        if head in file.names:
            return self.resolve(_follow(file.names[head], rest), steps - 1)
        if head in file.values:
            # a function or variable of the team itself is no name of upstream; what is read of its value may be
            return self.resolve(_follow(file.values[head], rest), steps - 1) if rest else None
        for star in file.stars[:_MAX_STEPS]:
            if star != file.module and (name := self.resolve(f"{star}.{'.'.join(parts)}", steps - 5)):
                return name
        return None

    def _resolve_member(self, owner: ScannedClass, parts: list[str], steps: int) -> str | None:
        """Return what a member of a class of the team leads to: itself, or what is read of its value."""
        is_super = parts[:1] == [SUPER]
        rest = parts[1:] if is_super else parts
        whole = ".".join((owner.name, *rest))
        if len(rest) < 2:
            return whole
        for each in self.list_own_line(owner)[is_super:]:
            if value := each.members.get(rest[0]):
                return self.resolve(_follow(value, rest[1:]), steps - 1)
        return whole if self.list_upstream(owner) else None

    def split_member(self, name: str) -> tuple[ScannedClass, list[str]] | None:
        parts = name.split(".")
        for length in range(len(parts), 0, -1):
            owner = self._classes.get(".".join(parts[:length]))
            if owner:
                return owner, parts[length:]
        return None

    def list_upstream(self, owner: ScannedClass) -> tuple[str, ...]:
        """Return the upstream classes that a class of the team extends, also through other classes of the team."""
        known = self._bases.get(owner.name)
        if known is None:
            # a class that extends itself ends here
            self._bases[owner.name] = ()
            names: dict[str, None] = {}
            for base in self._cut(owner, owner.bases):
                name = self.resolve(base) or ""
                parent = self._classes.get(name)
                inherited = self.list_upstream(parent) if parent else ()
                names |= dict.fromkeys([name] if self._is_upstream(name) else inherited)
            known = self._bases[owner.name] = self._cut(owner, tuple(names))
        return known

    def list_own_line(self, owner: ScannedClass) -> tuple[ScannedClass, ...]:
        """Return a class and the classes of the team that it extends, nearest first."""
        known = self._lines.get(owner.name)
        if known is None:
            self._lines[owner.name] = (owner,)
            line = {owner.name: owner}
            for base in self._cut(owner, owner.bases):
                parent = self._classes.get(self.resolve(base) or "")
                for each in self.list_own_line(parent) if parent else ():
                    line.setdefault(each.name, each)
            known = self._lines[owner.name] = self._cut(owner, tuple(line.values()))
        return known

    def _cut(self, owner: ScannedClass, items: tuple[T, ...]) -> tuple[T, ...]:
        """Return as many as are followed; of others, the file is told."""
        if len(items) > _MAX_CLASSES:
            self.cut[owner.path] = None
        return items[:_MAX_CLASSES]

    def is_own(self, owner: ScannedClass, member: str) -> bool:
        """Return whether the team itself gives a member to a class before anyone reads it."""
        return any(member in each.methods or member in each.own for each in self.list_own_line(owner))

    def find_signature(self, symbol: str) -> Signature | None:
        """Return the signature of a function of the team, also behind imports; None if it is none."""
        for _ in range(_MAX_STEPS):
            module, _, name = symbol.rpartition(".")
            file = self._modules.get(module)
            if file is None:
                return None
            if name in file.functions:
                return file.functions[name]
            symbol = file.names.get(name, "")
        return None

    def list_derived(self) -> dict[str, DerivedClass]:
        derived = {}
        for each in self._classes.values():
            if upstream := self.list_upstream(each):
                line = self.list_own_line(each)
                derived[each.name] = DerivedClass(
                    each.name,
                    each.path,
                    each.line,
                    upstream,
                    frozenset(member for part in line for member in part.members),
                    all(part.calls_super_init for part in line),
                    each.is_abstract,
                )
        return derived


def _follow(symbol: str | None, parts: list[str]) -> str | None:
    for part in parts:
        symbol = follow_part(symbol, part)
    return symbol
