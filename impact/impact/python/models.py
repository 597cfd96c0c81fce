from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class ParameterKind(StrEnum):
    """How a parameter is passed, in Python's own terms."""

    POSITIONAL_ONLY = "positional only"
    POSITIONAL = "positional or keyword"
    REST = "rest of the positional ones"
    KEYWORD_ONLY = "keyword only"
    KEYWORDS = "rest of the keywords"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter. ``default`` and ``annotation`` are source texts; a ``default`` of None means required."""

    name: str
    kind: ParameterKind = ParameterKind.POSITIONAL
    default: str | None = None
    annotation: str = ""


@dataclass(frozen=True, slots=True)
class Signature:
    """Parameters as written, with ``self`` or ``cls``. ``returns`` is the source of an annotation.

    ``results`` are the numbers of values that it returns as a tuple, with 0 for what may be anything;
    ``needed`` are the parameters that must not be ``None``, whatever their default.
    ``is_class``: it is the constructor of a class, for a comparison with a function of its name.
    ``is_generator``: it has ``yield`` in it. ``is_context``: a decorator makes a context manager of it.
    ``is_settable``: a property that can be set.
    """

    parameters: tuple[Parameter, ...] = ()
    returns: str = ""
    is_async: bool = False
    is_static: bool = False
    is_class_method: bool = False
    is_property: bool = False
    results: tuple[int, ...] = ()
    needed: tuple[str, ...] = ()
    is_class: bool = False
    is_generator: bool = False
    is_context: bool = False
    is_settable: bool = False


class DefinitionKind(StrEnum):
    FUNCTION = "function"
    CLASS = "class"
    METHOD = "method"
    FIELD = "field"
    ATTRIBUTE = "attribute"
    CONSTANT = "constant"


@dataclass(frozen=True, slots=True)
class Definition:
    """A name that a module or a class in it defines.

    ``name`` is qualified within the module: ``Scheduler.schedule``. A FIELD is an annotated or assigned name in a
    class body; an ATTRIBUTE is set on ``self`` in a method. ``value`` is the source text of a constant, field or
    attribute, ``annotation`` that of its type. ``bases`` and ``decorators`` are resolved by the module's imports,
    as in ``vllm.config.ModelConfig``. ``body`` is a hash of what a function does without its comments, docstring
    and annotations. ``is_conditional``: it stands under ``if`` or ``try``, so another definition may take its
    place. ``is_data``: a dataclass, pydantic model, msgspec struct or named tuple, whose fields are its
    constructor; the ``signature`` of a class is what its own fields make of it, also of one with a constructor.
    """

    name: str
    kind: DefinitionKind
    line: int
    end_line: int
    signature: Signature | None = None
    bases: tuple[str, ...] = ()
    decorators: tuple[str, ...] = ()
    value: str = ""
    annotation: str = ""
    body: str = ""
    is_abstract: bool = False
    is_conditional: bool = False
    is_data: bool = False


@dataclass(frozen=True, slots=True)
class CallShape:
    """What a call passes. ``unpacked`` is into how many names its result is taken apart, 0 for none."""

    positional: int = 0
    keywords: tuple[str, ...] = ()
    has_star: bool = False
    has_double_star: bool = False
    unpacked: int = 0


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call in a module: its dotted text (``self.kv_cache.allocate``), and the scope that it stands in."""

    name: str
    shape: CallShape
    line: int
    scope: str = ""


@dataclass(frozen=True, slots=True)
class ModuleOutline:
    """What a module offers to others. Names in ``imports`` are local ones, with what they stand for.

    ``imports`` has those of the top level, also under ``if`` and ``try``, which others can import from here.
    ``typing_only`` are the names and members that only type checkers see, which are not there for others.
    ``stars`` are modules imported with ``*``. ``dynamic`` are names that a module's ``__getattr__`` gives, by
    the string literals in it and in the tables that it reads; ``has_getattr`` says that there is one that may give
    others, too. ``exported``: what a star takes, None if nothing says so. ``open_classes`` get members whose
    names only running code knows, those with ``.*`` behind them attributes alone.
    """

    module: str
    is_package: bool
    definitions: Mapping[str, Definition] = field(default_factory=dict)
    imports: Mapping[str, str] = field(default_factory=dict)
    stars: tuple[str, ...] = ()
    dynamic: frozenset[str] = frozenset()
    has_getattr: bool = False
    calls: tuple[CallSite, ...] = ()
    typing_only: frozenset[str] = frozenset()
    exported: frozenset[str] | None = None
    open_classes: frozenset[str] = frozenset()
    _members: dict[str, dict[str, Definition]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def list_members(self, name: str) -> Mapping[str, Definition]:
        """Return the members of a class by their last names, without those of the classes in it."""
        if not self._members:
            for full_name, definition in self.definitions.items():
                owner, _, last = full_name.rpartition(".")
                if full_name not in self.typing_only:
                    self._members.setdefault(owner, {})[last] = definition
        return self._members.get(name, {})

    def gives_star(self, name: str) -> bool:
        """Return whether ``from module import *`` takes a name that is here."""
        return name in self.exported if self.exported is not None else not name.startswith("_")

    def may_give(self, owner: str, *, is_method: bool) -> bool:
        """Return whether objects of a class may have members that the class does not list."""
        members = self.list_members(owner)
        asks = "__getattr__" in members or "__getattribute__" in members
        return asks or owner in self.open_classes or (not is_method and f"{owner}.*" in self.open_classes)
