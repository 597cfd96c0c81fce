"""Names that a module gave to others without defining them: re-exports, and what its ``__getattr__`` gave."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from impact.contract.models import ChangeKind, ContractChange, ContractClass
from impact.contract.python.moves import Matches, Place
from impact.contract.python.rows import make_row
from impact.contract.python.snapshots import Snapshot
from impact.python.models import ModuleOutline
from impact.source.models import DiffSide


def list_lost_exports(before: Snapshot, after: Snapshot, matches: Matches) -> Iterator[ContractChange]:
    """Yield the names that packages no longer re-export, and those that modules no longer give when asked."""
    successors = {pair.old.name: pair.new.name for pair in matches.pairs}
    for module, outline in before.modules.items():
        if module not in after.modules:
            continue
        for local, target in outline.imports.items() if outline.is_package else ():
            is_own = target.partition(".")[0] == module.partition(".")[0]
            if is_own and after.lacks_name(module, local):
                yield from _describe_export(outline, local, target, (before, after), successors)
        for name in sorted(outline.dynamic - outline.definitions.keys() - outline.imports.keys()):
            if lacks_dynamic(after, module, name):
                yield _describe_dynamic(outline, name)


def list_lost_imports(before: Snapshot, after: Snapshot) -> Iterator[ContractChange]:
    """Yield the names that modules, which are no packages, imported and do not have any more."""
    for module, outline in before.modules.items():
        imports = {} if outline.is_package or module not in after.modules else outline.imports
        for local, target in imports.items():
            is_own = local in outline.typing_only or local in outline.definitions
            if is_own or not after.lacks_name(module, local):
                continue
            source, _, last = target.rpartition(".")
            is_there = not source or not after.lacks_name(source, last)
            new_name, name = target if is_there else "", f"{module}.{local}"
            kind = ChangeKind.MOVED if new_name else ChangeKind.REMOVED
            subject, side = _guess_class(local), DiffSide.OLD
            yield ContractChange(subject, kind, name, name, new_name, module, 1, side, new_name=new_name)


def lacks_dynamic(after: Snapshot, module: str, name: str) -> bool:
    """Return whether a name that a module's ``__getattr__`` gave before is no longer among those that it gives."""
    outline = after.get_module(module)
    if outline is None or outline.stars or name in outline.definitions or name in outline.imports:
        return False
    return name not in outline.dynamic and (bool(outline.dynamic) or not outline.has_getattr)


def _describe_export(
    outline: ModuleOutline, local: str, target: str, sides: tuple[Snapshot, Snapshot], successors: dict[str, str]
) -> Iterator[ContractChange]:
    match = sides[0].find_definition(target)
    if match is None:
        return
    old = Place(*match)
    is_there = sides[1].find_definition(old.name) is not None
    new_name = successors.get(old.name) or (old.name if is_there else "")
    name = f"{outline.module}.{local}"
    yield replace(
        make_row(ChangeKind.REMOVED, old),
        kind=ChangeKind.MOVED if new_name else ChangeKind.REMOVED,
        name=name,
        before=name,
        after=new_name,
        new_name=new_name,
        path=outline.module,
        line=1,
    )


def _describe_dynamic(outline: ModuleOutline, name: str) -> ContractChange:
    full_name = f"{outline.module}.{name}"
    function = outline.definitions.get("__getattr__")
    line = function.line if function else 1
    return ContractChange(
        _guess_class(name),
        ChangeKind.REMOVED,
        full_name,
        before=full_name,
        after="",
        path=outline.module,
        line=line,
        side=DiffSide.OLD,
    )


def _guess_class(name: str) -> ContractClass:
    if name.upper() == name:
        return ContractClass.CONSTANT
    return ContractClass.CLASS if name.lstrip("_")[:1].isupper() else ContractClass.FUNCTION
