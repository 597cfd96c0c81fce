"""The contract changes of a merge in everything but plain Python names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.domain.contract.models import ChangeKind, ContractChange, ContractClass, FileVersions
from bot.domain.contract.surfaces.comparison import compare_facts
from bot.domain.contract.surfaces.file_facts import FileFacts, read_file_facts, resolve_references


def list_surface_changes(versions: Sequence[FileVersions]) -> tuple[ContractChange, ...]:
    """Return what a merge changes of variables, flags, fields, endpoints, metrics, messages, ops and dependencies.

    A fact that moves from one changed file to another is no change. What can't be read changes nothing.
    """
    changed = [pair for pair in versions if not _is_same(pair)]
    old = resolve_references([read_file_facts(pair.old) for pair in changed])
    new = resolve_references([read_file_facts(pair.new) for pair in changed])
    changes = list(compare_facts(old, new))
    known = {(change.subject, change.name) for change in changes if change.kind is ChangeKind.DEPRECATED}
    changes += _list_announced(old, new, known)
    return tuple(sorted(changes, key=lambda change: (change.path, change.line, change.name, change.kind)))


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
                notice.text,
                after.path,
                notice.line,
                deadline=notice.deadline,
            )
