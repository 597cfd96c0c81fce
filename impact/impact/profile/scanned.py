"""What one file says, by its text alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from impact.profile.models import MAX_LINE_LENGTH, Use, UseKind
from impact.python.models import Signature

# uses of a file that are kept: the largest files of a plugin have 2,000
_MAX_USES = 20_000


@dataclass(slots=True)
class ScannedClass:
    """A class of the team. ``bases`` and the values of ``members`` are symbols, empty if unknown.

    ``members`` are the names that its body defines or its methods set on ``self``. ``methods`` are those that it
    defines as functions, ``own`` those that are set before others read them: fields, and what a
    constructor sets. Of a class that makes its constructor of its fields, ``required`` are those without a
    default.
    """

    name: str
    path: str
    line: int
    bases: tuple[str, ...] = ()
    members: dict[str, str] = field(default_factory=dict)
    methods: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    calls_super_init: bool = True
    is_abstract: bool = False
    is_data: bool = False
    required: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class FileUses:
    """What a file uses. Names in ``uses`` are symbols, also of what other files of the team define.

    ``names`` are the imports and aliases of the module with what they stand for, ``values`` what its functions
    return and its variables hold, ``functions`` the signatures of its functions. ``problem`` says why the file
    could not be read, as a clause. ``content`` stands for its text.
    """

    path: str
    module: str = ""
    uses: tuple[Use, ...] = ()
    classes: tuple[ScannedClass, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    stars: tuple[str, ...] = ()
    problem: str = ""
    functions: Mapping[str, Signature] = field(default_factory=dict)
    content: str = ""


@dataclass(frozen=True, slots=True)
class FileText:
    path: str
    text: str
    packages: tuple[str, ...]
    is_test: bool = False

    @property
    def lines(self) -> Sequence[str]:
        return self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


class UseCollector:
    """Collects the uses of a file, each once."""

    def __init__(self, file: FileText) -> None:
        self._file, self._lines = file, file.lines
        self._uses: dict[Use, None] = {}

    def add(self, kind: UseKind, name: str, line: int, **extra: Any) -> None:
        """Add a use at a line, which counts from 1. ``extra`` are further fields of it."""
        if len(self._uses) < _MAX_USES:
            text = self._lines[line - 1].strip()[:MAX_LINE_LENGTH] if 0 < line <= len(self._lines) else ""
            self._uses.setdefault(
                Use(kind, name, self._file.path, line, text, is_test=self._file.is_test, **extra)
            )

    def list_uses(self) -> tuple[Use, ...]:
        """Return the uses as they were met. A string that says what to replace is no other use."""
        replaced = {(use.name, use.line) for use in self._uses if use.kind is UseKind.PATCH}
        return tuple(
            use for use in self._uses if use.kind is not UseKind.NAMED or (use.name, use.line) not in replaced
        )
