"""Contract changes of a merge, and the versions of files that they are read from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from impact.coverage import Coverage, CoveredPart, UnreadFile, explain_files, holds_text
from impact.errors import READING_FAILED
from impact.python.models import CallShape, Signature
from impact.source.models import DiffSide, SourceFile


class ContractClass(StrEnum):
    MODULE = "module"
    FUNCTION = "function"
    CLASS = "class"
    METHOD = "method"
    ATTRIBUTE = "attribute"
    CONSTANT = "constant"
    ENVIRONMENT = "environment variable"
    FLAG = "flag"
    CONFIGURATION = "configuration field"
    ENDPOINT = "endpoint"
    API_FIELD = "request or response field"
    METRIC = "metric"
    WIRE = "wire format"
    OP = "op"
    ENTRY_POINT = "entry point"
    DEPENDENCY = "dependency"


# names of Python code; all others are known by what users write
PYTHON_CLASSES = frozenset(map(ContractClass, "module function class method attribute constant".split()))
FIELDS = frozenset({ContractClass.CONFIGURATION, ContractClass.API_FIELD, ContractClass.WIRE})


class ChangeKind(StrEnum):
    """What happened to it. BEHAVIOUR is a body that changed behind the same signature; tables leave it out."""

    REMOVED = "removed"
    MOVED = "moved"
    RENAMED = "renamed"
    SIGNATURE = "signature"
    DEFAULT = "default"
    ADDED = "added"
    ADDED_MEMBER = "added member"
    ABSTRACT_MEMBER = "new abstract member"
    RETURN = "return"
    DEPRECATED = "deprecated"
    BEHAVIOUR = "behaviour"


# the old name is not where it was
LOST = frozenset({ChangeKind.REMOVED, ChangeKind.MOVED, ChangeKind.RENAMED})


@dataclass(frozen=True, slots=True)
class FileVersions:
    """A changed file before and after a merge; None where there is none. A renamed one has two paths."""

    old: SourceFile | None
    new: SourceFile | None

    @property
    def path(self) -> str:
        """Its path after the merge, or before it if it is gone."""
        file = self.new or self.old
        return file.path if file else ""


@dataclass(frozen=True, slots=True)
class Deadline:
    """When something deprecated goes: a version (``v0.15``) or a date as text, and what takes its place."""

    when: str = ""
    replacement: str = ""


@dataclass(frozen=True, slots=True)
class ContractChange:
    """A change of one name that others depend on.

    ``name`` is the full dotted name of Python code (``vllm.v1.core.scheduler.Scheduler.schedule``); of others it
    is what users write: ``VLLM_USE_V1``, ``--max-model-len``, ``POST /v1/score``, ``vllm:num_requests_running``.
    ``before`` and ``after`` are one line each, as a reader sees them. ``line`` counts from 1 on ``side``.
    ``new_name`` is set if it was moved or renamed. ``is_importable``: the old name can still be used, by a shim,
    an alias or a re-export. ``is_alias``: its module doesn't call it any more, so that to replace it is in vain.
    ``is_doubtful``: a base that can't be read may still give it.
    """

    subject: ContractClass
    kind: ChangeKind
    name: str
    before: str
    after: str
    path: str
    line: int
    side: DiffSide = DiffSide.NEW
    new_name: str = ""
    is_importable: bool = False
    is_alias: bool = False
    is_doubtful: bool = False
    old_signature: Signature | None = None
    new_signature: Signature | None = None
    deadline: Deadline | None = None

    @property
    def is_old_line(self) -> bool:
        return self.side is DiffSide.OLD

    @property
    def last_name(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def called_name(self) -> str:
        """The last part of the name by which something is used: of a constructor, that of its class."""
        owner, _, last = self.name.rpartition(".")
        return owner.rpartition(".")[2] if last == "__init__" else last


@dataclass(frozen=True, slots=True)
class Migration:
    """How the merge changed one of upstream's own callers: a line before and after, by the new file's lines."""

    path: str
    line: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class MergeContract:
    """What a merge changes for others. ``merged_at`` is in UTC.

    ``migrations`` has, by a change's name, how upstream's own callers were changed. ``calls`` has, by the last
    part of a name, how the changed files call it after the merge. ``files`` are the changed paths on both sides.
    ``ignored`` are names that are gone and that upstream still takes out of keyword arguments, such as with a
    warning; ``accepted`` those that it reads there. ``unlisted`` are changes that concern only who uses the name,
    and are in no table: what a module only imported, what a class had from a base, what a new base may still give.
    ``lines`` has, by the name of a function, hashes of the lines that are gone from it.
    """

    number: int
    commit: str
    merged_at: datetime
    title: str = ""
    changes: tuple[ContractChange, ...] = ()
    migrations: Mapping[str, tuple[Migration, ...]] = field(default_factory=dict)
    calls: Mapping[str, tuple[CallShape, ...]] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    unread: tuple[UnreadFile, ...] = ()
    ignored: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()
    unlisted: tuple[ContractChange, ...] = ()
    lines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def cover_contracts(contracts: Iterable[MergeContract], failed: Iterable[MergeContract] = ()) -> Coverage:
    """Return how much of what merges changed was read. Files that hold no text are not missed.

    ``failed`` are those of them with which a defect was met.
    """
    unlisted = [UnreadFile(name_merge(contract.number), READING_FAILED) for contract in failed]
    merges, paths = 0, set[tuple[int, str]]()
    unread: dict[tuple[int, str], UnreadFile] = {}
    for contract in contracts:
        merges += 1
        paths.update((contract.number, path) for path in contract.files)
        for file in contract.unread:
            if file.path == name_merge(contract.number):
                unlisted.append(file)
            elif holds_text(file):
                unread[contract.number, file.path] = file
    files = [*unread.values()]
    parts = [
        CoveredPart("merges", len(unlisted), merges, explain_files(unlisted)),
        CoveredPart("changed files", len(files), len(paths | unread.keys()), explain_files(files)),
    ]
    return Coverage(tuple(part for part in parts if part.total), tuple(dict.fromkeys((*unlisted, *files))))


def name_merge(number: int) -> str:
    """Return what stands in place of a path where the changed files of a merge are not known."""
    return f"#{number}"
