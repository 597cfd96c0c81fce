"""Flags whose default changes because a configuration field's does, in a file that the flag is not made in."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from impact.contract.models import ChangeKind, ContractChange, ContractClass
from impact.contract.surfaces.code.fields import read_reference
from impact.contract.surfaces.facts import show_default_change
from impact.python.models import ModuleOutline
from impact.python.module_names import name_module

# where vLLM makes the flags of its engine: each field of the class is one, with the default of the field it names
_MODULE = "engine.arg_utils"
_OWNER = "EngineArgs."
_DEFAULT = re.compile(r" = (?P<default>.{1,200})$")


def list_derived_flags(
    changes: Iterable[ContractChange], load: Callable[[str], ModuleOutline | None], changed: Collection[str]
) -> Iterator[ContractChange]:
    """Yield the new defaults of flags that take them from a field, where the module of the flags didn't change."""
    rows = [
        row for row in changes if row.subject is ContractClass.CONFIGURATION and row.kind is ChangeKind.DEFAULT
    ]
    modules: dict[str, Mapping[str, str]] = {}
    for row in rows:
        name = name_module(row.path)
        package = name[0].split(".", 1)[0] if name else ""
        # where the module itself changed, its flags were compared
        is_changed = f"{package}.{_MODULE}".replace(".", "/") + ".py" in changed
        if package and package not in modules and not is_changed:
            outline = load(f"{package}.{_MODULE}")
            flags: dict[str, str] = {}
            for definition in outline.definitions.values() if outline else ():
                field = definition.name.removeprefix(_OWNER)
                reference = read_reference(definition.value)
                if field != definition.name and reference and not field.startswith("_"):
                    flags[reference] = f"--{field.replace('_', '-')}"
            modules[package] = flags
        flag = modules.get(package, {}).get(row.name)
        if flag:
            before, after = (show_default_change(flag, _read_default(text)) for text in (row.before, row.after))
            yield ContractChange(ContractClass.FLAG, ChangeKind.DEFAULT, flag, before, after, row.path, row.line)


def _read_default(text: str) -> str:
    match = _DEFAULT.search(text)
    default = match["default"] if match else ""
    return {"None": "", "True": "on", "False": "off"}.get(default, default)
