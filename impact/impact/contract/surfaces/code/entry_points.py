"""Entry points: those that a package registers, and the groups in which it looks for plugins."""

from __future__ import annotations

import ast
import configparser
import re
from collections.abc import Iterator, Mapping

from impact.contract.models import ContractClass
from impact.contract.surfaces.code.python_file import PythonFile, find_argument, get_last_name, read_string
from impact.contract.surfaces.facts import Fact, shorten_text
from impact.contract.surfaces.texts.toml_text import Table, find_key_line, read_table

_GROUP = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)+", re.A)
_LOOKUPS = ("entry_points", "plugins_by_group", "iter_entry_points")


def list_project_entry_points(text: str, project: Table) -> Iterator[Fact]:
    plugins = read_table(project, "project", "entry-points")
    groups: dict[str, Table] = {"console_scripts": read_table(project, "project", "scripts")}
    groups["gui_scripts"] = read_table(project, "project", "gui-scripts")
    groups |= {name: read_table(plugins, name) for name in plugins}
    for group, table in groups.items():
        for name, target in table.items():
            if isinstance(target, str):
                yield _make_fact(group, name, target, find_key_line(text, name, target))


def list_setup_entry_points(file: PythonFile) -> Iterator[Fact]:
    for call, _ in file.calls:
        value = find_argument(call, "entry_points") if get_last_name(call.func) == "setup" else None
        if isinstance(value, ast.Name):
            value = file.constants.get(value.id)
        if isinstance(value, ast.Dict):
            for key, items in zip(value.keys, value.values, strict=True):
                group = read_string(file, key)
                if group and isinstance(items, ast.List | ast.Tuple):
                    for item in items.elts:
                        name, mark, target = (read_string(file, item) or "").partition("=")
                        if mark:
                            yield _make_fact(group, name.strip(), target.strip(), item.lineno)


def list_setup_cfg_entry_points(text: str) -> Iterator[Fact]:
    parser = configparser.RawConfigParser(strict=False, delimiters=("=",))
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    section: Mapping[str, str] = (
        dict(parser.items("options.entry_points")) if parser.has_section("options.entry_points") else {}
    )
    for group, lines in section.items():
        for line in lines.split("\n"):
            name, mark, target = line.partition("=")
            if mark:
                yield _make_fact(
                    group, name.strip(), target.strip(), find_key_line(text, name.strip(), target.strip())
                )


def list_plugin_groups(file: PythonFile) -> Iterator[Fact]:
    """Yield the groups in which a package looks for the plugins of others."""
    for call, _ in file.calls:
        if get_last_name(call.func).endswith(_LOOKUPS):
            group = read_string(file, find_argument(call, "group", 0))
            if group and _GROUP.fullmatch(group):
                yield _make_group(group, call.lineno, is_loose=True)
    for name, value in file.constants.items():
        group = read_string(file, value)
        if group and name.endswith("_GROUP") and "PLUGIN" in name and _GROUP.fullmatch(group):
            yield _make_group(group, value.lineno, is_loose=False)


def _make_group(group: str, line: int, *, is_loose: bool) -> Fact:
    return Fact(ContractClass.ENTRY_POINT, group, line, text=f"plugins in the group {group}", is_loose=is_loose)


def _make_fact(group: str, name: str, target: str, line: int) -> Fact:
    text = shorten_text(f"{group}: {name} = {target}")
    return Fact(ContractClass.ENTRY_POINT, f"{group}:{name}", line, text=text, default=target)
