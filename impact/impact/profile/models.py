"""A profile: every use of an upstream repository in a team's own tree; its name, its JSON, and a search in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import cache

from pydantic import TypeAdapter

from impact.coverage import Coverage, CoveredList, CoveredPart, UnreadFile, explain_files, holds_text
from impact.errors import READING_FAILED, UsageError, attempt_all
from impact.python.models import CallShape, Signature
from impact.text.strings import quote_input

# characters of a used line that are kept
MAX_LINE_LENGTH = 200
NOT_A_PROFILE = "That is not a profile: use a file that prdigest profile scan wrote."
# of the JSON
_VERSION = 1
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
# characters of what somebody looks for: longer texts are in no name
_MAX_QUERY = 300


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


@dataclass(frozen=True, slots=True)
class MovedHit:
    """A merge that touches since a move, or no longer does, and the name that it changed."""

    number: int
    name: str


@dataclass(frozen=True, slots=True)
class ProfileMove:
    """A move of a profile to another commit, when the bot saw it (UTC), and what became of earlier merges."""

    at: datetime
    began: tuple[MovedHit, ...] = ()
    ended: tuple[MovedHit, ...] = ()


def parse_profile_name(text: str) -> str:
    """Return the name of a profile in lower case. Raises UsageError for what is none."""
    name = text.strip().lower()
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{quote_input(text)} is not a name of a profile: use up to 40 letters, digits, dots and dashes."
        )
    return name


def dump_profile(profile: Profile) -> str:
    """Return a profile as JSON on one line, the same for equal ones. Fields with default values are left out."""
    fields = _build_adapter().dump_python(profile, mode="json", exclude_defaults=True)
    for each in fields.get("classes", {}).values():
        each.update({name: sorted(each[name]) for name in ("members",) if name in each})
    return json.dumps({"version": _VERSION, **fields})


def parse_profile(text: str) -> Profile:
    """Return the profile of a text. Raises UsageError if it is none that this version reads."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(NOT_A_PROFILE) from error
    version = fields.pop("version", None) if isinstance(fields, dict) else None
    if isinstance(version, int) and version > _VERSION:
        raise UsageError("That profile is of another version of prdigest: scan the tree again.")
    if version != _VERSION:
        raise UsageError(NOT_A_PROFILE)
    try:
        return _build_adapter().validate_python(fields)
    except (ValueError, RecursionError) as error:
        raise UsageError(NOT_A_PROFILE) from error


@cache
def _build_adapter() -> TypeAdapter[Profile]:
    # it takes milliseconds to build: once, when it is first needed
    return TypeAdapter(Profile)


def find_uses(profile: Profile, text: str) -> CoveredList[Use]:
    """Return uses of a name's last parts or in a path, in the tree's order, else those that contain the text."""
    query = text.strip().strip("`/").removesuffix("()").casefold()[:_MAX_QUERY]

    def search(uses: Sequence[Use]) -> tuple[Use, ...]:
        exact = [use for use in uses if _is_named(use, query)]
        matches = exact or [use for use in uses if any(query in each for each in _list_texts(use))]
        return tuple(sorted(matches, key=lambda use: (use.path, use.line, use.name)))

    uses, failed = attempt_all(search, profile.uses if query else (), lambda use: use.path)
    return CoveredList(uses, profile.note_defects(use.path for use in failed).coverage)


def _is_named(use: Use, query: str) -> bool:
    """Return whether a use is of a name with these last parts, or in a file or folder of this path."""
    path = use.path.casefold()
    names = (use.name, *use.definitions)
    return (
        any(f".{name.casefold()}".endswith(f".{query}") for name in names)
        or f"{path}/".startswith(f"{query}/")
        or f"/{path}".endswith(f"/{query}")
    )


def _list_texts(use: Use) -> tuple[str, ...]:
    return tuple(text.casefold() for text in (use.name, *use.definitions, use.path, use.owner))
