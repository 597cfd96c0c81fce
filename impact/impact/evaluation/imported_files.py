"""The baseline of a replay: a merge changes a file that the downstream imports."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Sequence

from impact.python.module_names import name_module
from impact.python.syntax import parse_source


def list_imported_names(text: str, packages: Sequence[str]) -> frozenset[str]:
    """Return the names that a file imports from packages: modules, and what it takes from them."""
    names: list[str] = []
    tree = parse_source(text) if any(package in text for package in packages) else None
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Import):
            names += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names += (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
    return frozenset(name for name in names if name.partition(".")[0] in packages)


def count_imported(paths: Iterable[str], names: Collection[str]) -> int:
    modules = {module[0] for path in paths if (module := name_module(path))}
    return sum(module in names for module in modules)


def detect_packages(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the top-level packages of a Python repository, by the files of its tree: what others import."""
    packages = {
        name[0] for path in paths if path.endswith("/__init__.py") and (name := name_module(path)) and name[1]
    }
    return tuple(sorted(each for each in packages if "." not in each and each not in _NO_PACKAGES))


# folders of repositories that may be packages and that nobody imports from outside
_NO_PACKAGES = frozenset(
    "test tests testing doc docs example examples benchmark benchmarks tool tools script scripts ci setup build "
    "examples_and_tests conf config utils third_party requirements docker evals".split()
)
