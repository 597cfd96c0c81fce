"""Whether a name of Python code exists in a tree, by griffe: the bot's own reader is what is measured."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import griffe

from impact.contract.models import ContractChange, ContractClass

_MAX_STEPS = 10
_MEMBERS = frozenset({ContractClass.METHOD, ContractClass.ATTRIBUTE})


class TreeNames:
    def __init__(self, read: Callable[[str], str | None]) -> None:
        self._read = read
        self._modules: dict[str, griffe.Module | None] = {}
        self._texts: dict[str, str] = {}

    def has_name(self, change: ContractChange) -> bool:
        if change.subject is ContractClass.MODULE:
            return self._get_module(change.name) is not None
        owner, _, name = change.name.rpartition(".")
        if change.subject in _MEMBERS:
            return self._has_member(owner, name, set())
        module, rest = self._split(change.name)
        return bool(module) and len(rest) == 1 and self._find(module, rest[0], _MAX_STEPS) is not None

    def _get_module(self, name: str) -> griffe.Module | None:
        if name not in self._modules:
            self._modules[name] = self._visit(name)
        return self._modules[name]

    def _visit(self, name: str) -> griffe.Module | None:
        base = name.replace(".", "/")
        for path in (f"{base}/__init__.py", f"{base}.py"):
            text = self._read(path)
            if text is not None:
                self._texts[name] = text
                return griffe.visit(name, Path("/tree") / path, text)
        return None

    def _split(self, name: str) -> tuple[str, list[str]]:
        parts = name.split(".")
        for length in range(len(parts) - 1, 0, -1):
            if self._get_module(".".join(parts[:length])):
                return ".".join(parts[:length]), parts[length:]
        return "", parts

    def _find(self, module: str, name: str, steps: int) -> Any:
        """Return what a name in a module stands for; True for what lies outside of the tree."""
        outline = self._get_module(module)
        if outline is None or not steps:
            return True
        member = outline.members.get(name)
        if isinstance(member, griffe.Alias):
            owner, _, last = member.target_path.rpartition(".")
            return self._find(owner, last, steps - 1) if self._get_module(owner) else True
        if member is not None:
            return member
        for each in outline.members.values():
            if isinstance(each, griffe.Alias) and each.wildcard and self._find(each.wildcard, name, steps - 1):
                return True
        is_given = "__getattr__" in outline.members and self._names(module, name)
        return is_given or self._get_module(f"{module}.{name}") or None

    def _names(self, module: str, name: str) -> bool:
        """Return whether the text of a module has a name: its ``__getattr__`` gives no other."""
        return re.search(rf"\b{re.escape(name)}\b", self._texts[module]) is not None

    def _has_member(self, owner: str, name: str, seen: set[str]) -> bool:
        module, rest = self._split(owner)
        if owner in seen or not module:
            return False
        seen.add(owner)
        member = self._find(module, rest[0], _MAX_STEPS)
        for part in rest[1:]:
            member = member.members.get(part) if hasattr(member, "members") else None
        if not isinstance(member, griffe.Class):
            return False
        return name in member.members or any(
            self._has_member(getattr(base, "canonical_path", str(base)).partition("[")[0], name, seen)
            for base in member.bases
        )
