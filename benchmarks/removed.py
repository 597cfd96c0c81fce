"""Whether names that merges are said to remove are really gone, by other readers of Python than ours.

    python -m benchmarks removed --clone ../vllm --merges 300

Some merges of a clone are drawn. Each Python name that one removes is looked for in the tree after it, by griffe
and by the compiler's own table of symbols: through imports, stars and bases. What they still find is printed.
"""

from __future__ import annotations

import argparse
import random
import re
import symtable
from collections.abc import Callable
from datetime import date
from functools import cache
from pathlib import Path

import griffe

from benchmarks.table import Table
from impact.clones.clone_contracts import ContractExtractor
from impact.clones.upstream_line import CloneMerge, read_upstream
from impact.contract.models import PYTHON_CLASSES, ChangeKind, ContractChange
from impact.git.clone_trees import CloneTrees, open_clone_trees
from impact.python.module_names import name_module
from impact.source.models import BlobVersion

_LAST = date(2026, 1, 31)
# imports and bases that lead from one name to another
_MAX_STEPS = 12

TextReader = Callable[[str], tuple[str, str] | None]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--clone", type=Path, required=True, help="a clone of a Python repository")
    parser.add_argument("--merges", type=int, default=300, help="merges to draw (default: 300)")
    parser.add_argument("--until", type=date.fromisoformat, default=_LAST, help=f"last date (default: {_LAST})")
    parser.add_argument("--seed", type=int, default=37, help="another one draws other merges (default: 37)")


def measure_removed(table: Table, options: argparse.Namespace) -> None:
    """Print the names that are said to be removed and that are still there."""
    removed = known = false = 0
    with open_clone_trees(options.clone) as trees:
        extractor = ContractExtractor(trees)
        merges = _draw_merges(trees, options)
        for merge in merges:
            extractor.tree.move_to(merge.parent)
            before = ModuleTree(_open_reader(trees, dict(extractor.tree.files)))
            changes = extractor.extract(merge).changes
            tree = ModuleTree(_open_reader(trees, dict(extractor.tree.files)))
            for change in filter(_is_removed, changes):
                removed += 1
                known += bool(before.find_name(change.name))
                if place := tree.find_name(change.name):
                    false += 1
                    print(f"#{merge.number} {merge.commit.sha[:10]} {change.subject} {change.name}: {place}")
    print(f"{len(merges)} merges until {options.until}, {removed} Python names removed, {known} are found before")
    table.print_row("removed names that are still there", false, 0, "names")


def _draw_merges(trees: CloneTrees, options: argparse.Namespace) -> list[CloneMerge]:
    line = [commit for commit in trees.list_line() if commit.committed_at.date() <= options.until]
    # more than are needed: some commits are no merge
    draw = random.Random(options.seed)  # noqa: S311  the same ones each time
    chosen = draw.sample(line[1:], min(2 * options.merges, len(line) - 1))
    hashes = {commit.sha for commit in chosen}
    upstream = read_upstream(trees, [commit for commit in line if commit.sha in hashes])
    merges = {merge.commit.sha: merge for merge in upstream.merges}
    return [merges[commit.sha] for commit in chosen if commit.sha in merges][: options.merges]


def _is_removed(change: ContractChange) -> bool:
    return change.subject in PYTHON_CLASSES and change.kind is ChangeKind.REMOVED and not change.is_importable


def _open_reader(trees: CloneTrees, files: dict[str, str]) -> TextReader:
    """Return a function that gives the path and the text of a module of a tree; None if there is none."""
    paths = {named[0]: path for path in files if (named := name_module(path))}

    @cache
    def read(module: str) -> tuple[str, str] | None:
        path = paths.get(module)
        return (path, trees.read_file(BlobVersion(path, files[path])).text) if path else None

    return read


class ModuleTree:
    """The modules of a commit, which are read as they are needed."""

    def __init__(self, read: TextReader) -> None:
        self._read = read
        self._modules: dict[str, griffe.Module | None] = {}

    def find_name(self, name: str, steps: int = _MAX_STEPS) -> str:
        """Return how a name is still there: ``bound in vllm.envs``; empty if it is not."""
        parts = name.split(".")
        for length in range(len(parts), 0, -1):
            module = ".".join(parts[:length])
            if self._read(module):
                return self._find_member(module, parts[length:], steps) if steps else ""
        return ""

    def _find_member(self, module: str, parts: list[str], steps: int) -> str:
        if not parts:
            return f"module {module}"
        read, outline = self._read(module), self._visit(module)
        if read is None or outline is None:
            return ""
        member = outline.members.get(parts[0])
        if isinstance(member, griffe.Alias) and member.runtime:
            target = ".".join([member.target_path, *parts[1:]])
            is_own = self._read(member.target_path.partition(".")[0]) is not None
            return self.find_name(target, steps - 1) if is_own else f"imported by {module}"
        if isinstance(member, griffe.Class) and parts[1:]:
            return self._find_in_class(member, parts[1], read[1], steps)
        if member is not None and member.runtime and len(parts) == 1:
            return f"defined in {module}"
        if member is None and len(parts) == 1 and _is_bound(*read, parts[0]):
            return f"bound in {module}"
        aliases = (each for each in outline.members.values() if isinstance(each, griffe.Alias) and each.wildcard)
        stars = (f"{each.target_path}.{'.'.join(parts)}" for each in aliases)
        return next(filter(None, (self.find_name(star, steps - 1) for star in stars)), "")

    def _find_in_class(self, owner: griffe.Class, name: str, text: str, steps: int) -> str:
        if name in owner.members:
            return f"member of {owner.path}"
        lines = text.splitlines()[(owner.lineno or 1) - 1 : owner.endlineno]
        if any(re.search(rf"\b(?:self|cls)\.{name}\s*(?::[^=]+)?=[^=]", line) for line in lines):
            return f"set by {owner.path}"
        bases = (base if isinstance(base, str) else base.canonical_path for base in owner.bases)
        return next(filter(None, (self.find_name(f"{base}.{name}", steps - 1) for base in bases)), "")

    def _visit(self, module: str) -> griffe.Module | None:
        if module not in self._modules:
            path, text = self._read(module) or ("", "")
            try:
                self._modules[module] = griffe.visit(module, filepath=Path(path), code=text)
            except SyntaxError:
                self._modules[module] = None
        return self._modules[module]


def _is_bound(path: str, text: str, name: str) -> bool:
    """Return whether the compiler says that a module binds a name."""
    top = symtable.symtable(text, path, "exec")
    if name not in top.get_identifiers():
        return False
    symbol = top.lookup(name)
    return symbol.is_assigned() or symbol.is_imported()
