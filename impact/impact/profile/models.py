"""A profile: every use of an upstream repository in a team's own tree, with its file and line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from impact.coverage import Coverage, CoveredPart, UnreadFile, explain_files, holds_text
from impact.errors import READING_FAILED
from impact.python.models import CallShape, Signature

# characters of a used line that are kept
MAX_LINE_LENGTH = 200


class UseKind(StrEnum):
    """How something is used, as a verb phrase for a person: "imports", "overrides"."""

    IMPORT = "imports"
    CALL = "calls"
    POSSIBLE_CALL = "may call the method"
    READ = "reads"
    SUBCLASS = "extends"
    OVERRIDE = "overrides"
    INHERITED = "uses the inherited"
    SET = "sets"
    PATCH = "replaces"
    NAMED = "names in a string"
    COPY = "has a copy of"
    OP = "calls the op"
    ENTRY_POINT = "registers at the entry point"
    ENVIRONMENT = "sets or reads the variable"
    FLAG = "passes the flag"
    METRIC = "queries the metric"
    API_FIELD = "sends or reads the field"
    ENDPOINT = "calls the endpoint"
    CONFIGURATION = "sets the configuration field"
    PIN = "pins"


# uses of what is not Python code: they are known by the name that users write
PLAIN_KINDS = frozenset(
    {
        UseKind.OP,
        UseKind.ENTRY_POINT,
        UseKind.ENVIRONMENT,
        UseKind.FLAG,
        UseKind.METRIC,
        UseKind.API_FIELD,
        UseKind.ENDPOINT,
        UseKind.CONFIGURATION,
        UseKind.PIN,
    }
)


@dataclass(frozen=True, slots=True)
class Use:
    """A use of an upstream name at a line of the team's tree.

    ``name`` is a full dotted name of Python code, or what users write otherwise. For code it is the name that
    the tree imports; ``definitions`` are the names under which upstream defines it, which follow re-exports and,
    for members, every upstream class in the order of resolution that defines it. ``owner`` is the team's class
    or function it stands in. ``call`` is how it is called, ``signature`` the team's own one of an override or a
    replacement, or the own fields of a class that is made. ``is_guarded``: an ``except ImportError``,
    ``hasattr``, ``getattr`` with a default or a version check stands around it. A POSSIBLE_CALL is on an object of
    unknown type: its name is that of the method alone, and before links are made, a call that may turn out to be
    one has it as its definition; a replacement has the function of the team that it puts there. A NAMED use
    without a dot is a string that may be the name of a class. ``lines`` are hashes of the lines of a function of
    the team's own.
    """

    kind: UseKind
    name: str
    path: str
    line: int
    text: str = ""
    definitions: tuple[str, ...] = ()
    owner: str = ""
    call: CallShape | None = None
    signature: Signature | None = None
    body: str = ""
    lines: tuple[str, ...] = ()
    is_guarded: bool = False
    is_test: bool = False


@dataclass(frozen=True, slots=True)
class DerivedClass:
    """A class of the team with upstream ancestors.

    ``ancestors`` are upstream class names in the order of resolution, also those behind the team's own classes.
    ``members`` are names that it or a class of the team between it and upstream defines or sets on ``self``.
    ``calls_super_init``: its constructor runs the upstream one, or it has none of its own. ``is_called``: the
    team's own code, without its tests, makes instances of it.
    """

    name: str
    path: str
    line: int
    ancestors: tuple[str, ...] = ()
    members: frozenset[str] = frozenset()
    calls_super_init: bool = True
    is_abstract: bool = False
    is_called: bool = False


@dataclass(frozen=True, slots=True)
class Profile:
    """What a tree uses of ``packages`` of an upstream repository. ``scanned_at`` is in UTC.

    ``source`` is the repository or folder that was scanned, ``commit`` its commit, empty if it has none.
    ``explains``: names, paths and used lines may be shown to a model. ``contents`` stand for those of the files
    with uses, by path.
    """

    name: str
    packages: tuple[str, ...]
    source: str
    commit: str
    scanned_at: datetime
    uses: tuple[Use, ...] = ()
    classes: Mapping[str, DerivedClass] = field(default_factory=dict)
    files: int = 0
    unread: tuple[UnreadFile, ...] = ()
    explains: bool = True
    contents: Mapping[str, str] = field(default_factory=dict)

    @property
    def coverage(self) -> Coverage:
        unread = [file for file in self.unread if holds_text(file)]
        total = max(self.files, len(self.unread))
        return Coverage((CoveredPart("files of your code", len(unread), total, explain_files(unread)),))

    def note_defects(self, paths: Iterable[str]) -> Profile:
        """Return the profile with more files unread, those with which a defect was met."""
        unread = dict.fromkeys((*self.unread, *(UnreadFile(path, READING_FAILED) for path in paths)))
        return replace(self, unread=tuple(unread))
