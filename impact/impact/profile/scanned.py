from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from impact.profile.models import Use
from impact.python.models import Signature


@dataclass(frozen=True, slots=True)
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
    members: Mapping[str, str] = field(default_factory=dict)
    methods: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    calls_super_init: bool = True
    is_abstract: bool = False
    is_data: bool = False
    required: frozenset[str] = frozenset()


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
