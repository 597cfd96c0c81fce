from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from impact.contract.models import LOST, ContractChange, FileVersions, MergeContract
from impact.contract.python.python_changes import OutlineReader, compare_python, is_contract_path
from impact.contract.python.snapshots import OutlineLoader
from impact.contract.surfaces.comparison import FactsReader, LineFinder, list_surface_changes, read_file_facts
from impact.coverage import UnreadFile
from impact.errors import READING_FAILED, attempt_all
from impact.python.models import ModuleOutline
from impact.python.module_names import name_module
from impact.python.outline import build_outline
from impact.source.models import SourceFile

# part of the keys of kept contracts: raise it when the rules of the extraction change
EXTRACTION_VERSION = "6"
# a line that is ``kwargs.pop("name")`` alone: what is done with a value that is taken is not known
_TAKEN_OUT = re.compile(r"^[ \t]{0,100}kw\w{0,20}\.pop\(\s{0,40}[\"'](\w{1,100})[\"']", re.A | re.M)
_READ = re.compile(
    r"(?:\S[ \t]{0,9}kw\w{0,20}\.pop\(|\bkw\w{0,20}(?:\.get\(|\[))\s{0,40}[\"'](\w{1,100})[\"']", re.A
)


def extract_contract(
    merge: MergeContract,
    versions: Sequence[FileVersions],
    load: OutlineLoader,
    read: OutlineReader = build_outline,
    read_facts: FactsReader = read_file_facts,
    find: LineFinder | None = None,
) -> MergeContract:
    """Return a merge with what it changes for others, from both versions of each changed file.

    ``load`` gives the outlines of modules that did not change, as they are after the merge; it may return None.
    ``read`` and ``read_facts`` may keep what they read, as the version before a merge was that after another one.
    ``find`` gives the lines of the whole tree after the merge that have one of some names.
    A file with which a defect is met is unread, and the others are read without it.
    """

    def read_files(pairs: Sequence[FileVersions]) -> MergeContract:
        python = compare_python(merge, pairs, load, read)
        changes = (*python.changes, *list_surface_changes(pairs, load, read_facts, find))
        return replace(
            python,
            changes=changes,
            files=_list_paths(pairs),
            unread=tuple(dict.fromkeys((*list_unread(pairs), *python.unread))),
            ignored=_find_taken(_TAKEN_OUT, changes, pairs),
            accepted=_find_taken(_READ, changes, pairs),
        )

    contract, failed = attempt_all(read_files, versions, lambda pair: f"{pair.path} of #{merge.number}")
    if not failed:
        return contract
    unread = (UnreadFile(path, READING_FAILED) for path in _list_paths(failed))
    return replace(contract, files=_list_paths(versions), unread=(*contract.unread, *unread))


def _find_taken(
    pattern: re.Pattern[str], changes: Iterable[ContractChange], versions: Iterable[FileVersions]
) -> tuple[str, ...]:
    """Return the names that are gone and that the changed code still looks for in its keyword arguments."""
    lost: set[str] = set()
    for each in changes:
        if each.kind in LOST:
            lost.add(each.last_name)
        elif each.old_signature and each.new_signature:
            old, new = ({one.name for one in side.parameters} for side in (each.old_signature, each.new_signature))
            lost |= old - new
    texts = (pair.new.text for pair in versions if pair.new and is_contract_path(pair.new.path))
    names = {name for text in texts for name in pattern.findall(text)} if lost else set()
    return tuple(sorted(names & lost))


def extract_merge(
    merge: MergeContract, versions: Sequence[FileVersions], packages: Sequence[SourceFile]
) -> MergeContract:
    """Return a merge with what it changes; ``packages`` are files beside the changed ones to look in."""
    files = {named[0]: file for file in packages if (named := name_module(file.path))}

    @cache
    def load(module: str) -> ModuleOutline | None:
        file = files.get(module)
        return build_outline(file.path, file.text) if file else None

    return extract_contract(merge, versions, load)


def list_unread(versions: Iterable[FileVersions]) -> Iterator[UnreadFile]:
    files = (file for pair in versions for file in (pair.old, pair.new))
    return (UnreadFile(file.path, str(file.problem)) for file in files if file and file.problem)


def _list_paths(versions: Iterable[FileVersions]) -> tuple[str, ...]:
    return tuple(sorted({each.path for pair in versions for each in (pair.old, pair.new) if each}))
