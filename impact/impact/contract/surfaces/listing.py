"""The contract changes of a merge in everything but plain Python names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from impact.contract.models import ChangeKind, ContractChange, ContractClass, FileVersions
from impact.contract.surfaces.comparison import LineFinder, compare_facts
from impact.contract.surfaces.derived_flags import list_derived_flags
from impact.contract.surfaces.facts import shorten_pair
from impact.contract.surfaces.file_facts import FileFacts, join_files, read_file_facts
from impact.python.models import ModuleOutline
from impact.source.models import SourceFile

OutlineLoader = Callable[[str], ModuleOutline | None]
FactsReader = Callable[[SourceFile | None], FileFacts]


def _load_nothing(_module: str) -> None:
    """Know no module."""


def list_surface_changes(
    versions: Sequence[FileVersions],
    load: OutlineLoader = _load_nothing,
    read: FactsReader = read_file_facts,
    find: LineFinder | None = None,
) -> tuple[ContractChange, ...]:
    """Return what a merge changes of variables, flags, fields, endpoints, metrics, messages, ops and dependencies.

    A fact that moves from one changed file to another is no change. What can't be read changes nothing. ``load``
    gives modules that didn't change, for the flags that take their defaults from a changed field. ``read`` may
    keep what it read. ``find`` gives the lines of the tree after the merge that have one of some names.
    """
    changed = [pair for pair in versions if not _is_same(pair)]
    old = join_files([read(pair.old) for pair in changed])
    new = join_files([read(pair.new) for pair in changed])
    changes = list(compare_facts(old, new, _VariableTables(load).is_new, find))
    known = {(change.subject, change.name) for change in changes if change.kind is ChangeKind.DEPRECATED}
    changes += _list_announced(old, new, known)
    changes += list_derived_flags(changes, load, {pair.path for pair in versions})
    return tuple(sorted(changes, key=lambda change: (change.path, change.line, change.name, change.kind)))


class _VariableTables:
    """The modules in which packages declare their variables."""

    def __init__(self, load: OutlineLoader) -> None:
        self._load = load
        self._tables: dict[str, ModuleOutline | None] = {}

    def is_new(self, name: str) -> bool:
        """Return whether a variable is known to be declared nowhere else; what is unknown is not new."""
        # VLLM_PORT is declared by vllm
        package = name.split("_", 1)[0].lower()
        if package not in self._tables:
            self._tables[package] = self._load(f"{package}.envs")
        table = self._tables[package]
        return table is not None and name not in table.definitions


def _is_same(pair: FileVersions) -> bool:
    return pair.old is not None and pair.new is not None and pair.old == pair.new


def _list_announced(
    old: Sequence[FileFacts], new: Sequence[FileFacts], known: set[tuple[ContractClass, str]]
) -> Iterator[ContractChange]:
    """Yield the deprecations that code announces and didn't announce before."""
    seen = known | {(notice.subject, notice.name) for file in old for notice in file.notices}
    for before, after in zip(old, new, strict=True):
        if not (before.is_read and after.is_read):
            continue
        for notice in after.notices:
            if (notice.subject, notice.name) in seen:
                continue
            seen.add((notice.subject, notice.name))
            yield ContractChange(
                notice.subject,
                ChangeKind.DEPRECATED,
                notice.name,
                "",
                shorten_pair("", notice.text)[1],
                after.path,
                notice.line,
                deadline=notice.deadline,
            )
