"""The team's own tree: what its names stand for, through its own modules and classes, up to upstream."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from impact.profile.models import DerivedClass
from impact.profile.scanned import FileUses, ScannedClass
from impact.profile.symbols import SUPER, follow_part
from impact.python.models import Signature

T = TypeVar("T")
# classes of the team above one, and bases of one, that are followed: a tree of thousands takes their square
_MAX_CLASSES = 60
# steps from one name to the next; more are a circle
_MAX_STEPS = 25


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
        self._class_names = {each.rpartition(".")[2] for each in self._classes}
        self._methods = {method for each in self._classes.values() for method in each.methods}
        self._bases: dict[str, tuple[str, ...]] = {}
        self._lines: dict[str, tuple[ScannedClass, ...]] = {}
        # the files with classes of which not all bases are followed
        self.cut: dict[str, None] = {}

    def resolve(self, symbol: str) -> str | None:
        """Return where a symbol leads: an upstream path, or a member of a class of the team; None for neither."""
        return self._resolve(symbol, _MAX_STEPS)

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
            names = dict.fromkeys(name for base in self._cut(owner, owner.bases) for name in self._list_base(base))
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

    def has_class(self, name: str) -> bool:
        return name in self._class_names

    def has_method(self, name: str) -> bool:
        return name in self._methods

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
            upstream = self.list_upstream(each)
            if upstream:
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

    def _list_base(self, base: str) -> tuple[str, ...]:
        name = self.resolve(base)
        if name is None:
            return ()
        if self._is_upstream(name):
            return (name,)
        parent = self._classes.get(name)
        return self.list_upstream(parent) if parent else ()

    def _is_upstream(self, symbol: str) -> bool:
        return symbol.partition(".")[0] in self.packages

    def _resolve(self, symbol: str | None, steps: int) -> str | None:
        if symbol is None or steps <= 0:
            return None
        if self._is_upstream(symbol):
            return symbol
        member = self.split_member(symbol)
        if member:
            return self._resolve_member(*member, steps)
        parts = symbol.split(".")
        for length in range(len(parts) - 1, 0, -1):
            file = self._modules.get(".".join(parts[:length]))
            if file:
                return self._resolve_in(file, parts[length:], steps)
        return None

    def _resolve_in(self, file: FileUses, parts: list[str], steps: int) -> str | None:
        head, rest = parts[0], parts[1:]
        if head in file.names:
            return self._resolve(_follow(file.names[head], rest), steps - 1)
        if head in file.values:
            # a function or variable of the team itself is no name of upstream; what is read of its value may be
            return self._resolve(_follow(file.values[head], rest), steps - 1) if rest else None
        for star in file.stars[:_MAX_STEPS]:
            if star != file.module and (name := self._resolve(f"{star}.{'.'.join(parts)}", steps - 5)):
                return name
        return None

    def _resolve_member(self, owner: ScannedClass, parts: list[str], steps: int) -> str | None:
        """Return what a member of a class of the team leads to: itself, or what is read of its value."""
        is_super = parts[:1] == [SUPER]
        rest = parts[1:] if is_super else parts
        line = self.list_own_line(owner)[1:] if is_super else self.list_own_line(owner)
        whole = ".".join((owner.name, *rest))
        if len(rest) < 2:
            return whole
        for each in line:
            value = each.members.get(rest[0])
            if value:
                return self._resolve(_follow(value, rest[1:]), steps - 1)
        return whole if self.list_upstream(owner) else None


def _follow(symbol: str | None, parts: list[str]) -> str | None:
    for part in parts:
        symbol = follow_part(symbol, part)
    return symbol
