"""Whether one contract change explains one error, and why, as a clause that goes on from "it"."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from typing import NamedTuple

from impact.contract.models import PYTHON_CLASSES, ChangeKind, ContractChange, ContractClass
from impact.profile.models import Profile
from impact.python.models import Parameter, ParameterKind, Signature
from impact.python.signatures import POSITIONAL
from impact.touches.breakage.traceback_names import ErrorKind, ErrorLine

# the words of a class name: NPUOffloadingSpec is NPU, Offloading and Spec
_CLASS_WORD = re.compile(r"[A-Z]{1,60}(?![a-z])|[A-Z]?[a-z0-9]{1,60}")
_MAX_WORDS = 12
# words that a base has and its subclasses leave out
_BASE_WORDS = frozenset(("base", "abstract", "interface", "abc", "mixin", "impl"))
# a class that a profile knows, with other ancestors: the profile may not follow every base
_UNLISTED_SHARE = 0.4
# names that end in different words are no kin: a scheduler is no worker
_LEAST_LIKENESS = 0.4


class Kinship:
    """Kinship of classes, from 0 for none to 1 for a known ancestor."""

    def __init__(self, profiles: Iterable[Profile] = ()) -> None:
        # the upstream ancestors by the last part of a class's name
        self._ancestors: dict[str, set[str]] = defaultdict(set)
        for profile in profiles:
            for derived in profile.classes.values():
                self._ancestors[_get_last(derived.name)].update(derived.ancestors)

    def measure(self, name: str, ancestor: str) -> float:
        last, base = _get_last(name), _get_last(ancestor)
        if not last or not base:
            return 0.0
        if last == base:
            return 1.0
        known = self._ancestors.get(last)
        if known is None:
            return compare_class_names(last, base)
        if ancestor in known:
            return 1.0
        return 0.9 if base in map(_get_last, known) else _UNLISTED_SHARE * compare_class_names(last, base)


def _get_last(name: str) -> str:
    return name.rpartition(".")[2]


@lru_cache(maxsize=4096)
def compare_class_names(name: str, base: str) -> float:
    """Return how much a class is named as its base would be: 0.9 if the base's name is its end, 0 if unlike."""
    words, base_words = (
        [each.lower() for each in _CLASS_WORD.findall(text)[-_MAX_WORDS:]] for text in (name, base)
    )
    if words[-1:] != base_words[-1:]:
        base_words = [word for word in base_words if word not in _BASE_WORDS]
    if not words or not base_words or words[-1] != base_words[-1]:
        return 0.0
    if words[-len(base_words) :] == base_words:
        # "Scheduler" is the end of many names, "OffloadingSpec" of few
        return 0.9 if len(base_words) > 1 else 0.75
    likeness = SequenceMatcher(None, words, base_words).ratio()
    return 0.85 * likeness if likeness > _LEAST_LIKENESS else 0.0


GONE = frozenset((ChangeKind.REMOVED, ChangeKind.MOVED, ChangeKind.RENAMED))
_NEW = frozenset((ChangeKind.ADDED, ChangeKind.ADDED_MEMBER, ChangeKind.ABSTRACT_MEMBER))
# what makes a field required
_REQUIRING = _NEW | {ChangeKind.DEFAULT, ChangeKind.RENAMED}
_MEMBERS = frozenset(
    (ContractClass.METHOD, ContractClass.ATTRIBUTE, ContractClass.CONFIGURATION, ContractClass.API_FIELD)
)
_VERBS = {ChangeKind.REMOVED: "removes", ChangeKind.MOVED: "moves", ChangeKind.RENAMED: "renames"}
_MAX_SHOWN = 80


class Explanation(NamedTuple):
    """How surely something explains an error, from 0 to 1, and why; the change that it rests on, if any."""

    strength: float
    clause: str
    change: ContractChange | None = None


@dataclass(frozen=True)
class ChangeNames:
    change: ContractChange

    @cached_property
    def parts(self) -> tuple[str, ...]:
        return tuple(self.change.name.replace("::", ".").split("."))

    @property
    def last(self) -> str:
        """The last part: a method, an attribute, a class, a function."""
        return self.parts[-1]

    @cached_property
    def owner(self) -> str:
        """The full name of the class that a member belongs to; empty for what is no member."""
        is_member = len(self.parts) > 1 and self.parts[-2].lstrip("_")[:1].isupper()
        return ".".join(self.parts[:-1]) if is_member else ""

    @property
    def owner_name(self) -> str:
        """The class's own name."""
        return _get_last(self.owner)

    @property
    def shown(self) -> str:
        """The name as a reader sees it: a member with its class."""
        return f"{self.owner_name}.{self.last}" if self.owner else self.last

    @property
    def quoted(self) -> str:
        return show_name(self.shown)

    @property
    def verb(self) -> str:
        """What the merge does to it."""
        return _VERBS.get(self.change.kind, "adds" if self.change.kind in _NEW else "changes")

    @property
    def heir(self) -> str:
        return f" to {show_name(self.change.new_name)}" if self.change.new_name else ""

    @cached_property
    def old_parameters(self) -> Mapping[str, Parameter]:
        """The parameters before, by name."""
        return _index_parameters(self.change.old_signature)

    @cached_property
    def new_parameters(self) -> Mapping[str, Parameter]:
        """The parameters after, by name."""
        return _index_parameters(self.change.new_signature)


def _index_parameters(signature: Signature | None) -> Mapping[str, Parameter]:
    return {each.name: each for each in signature.parameters} if signature else {}


def show_name(name: str) -> str:
    return f"`{name[:_MAX_SHOWN]}`"


def explain_error(error: ErrorLine, names: ChangeNames, kinship: Kinship) -> Explanation | None:
    """Return how a change explains an error; None if it doesn't."""
    explain = _EXPLAINERS.get(error.kind)
    result = explain(error, names, kinship) if explain else None
    return result._replace(change=names.change) if result and result.strength > 0 else None


# --- arguments

# another class has a member of the same name, and nothing says that the two are kin
_STRANGER = 0.3
# the function changed, but not the argument that the error is about
_OTHER_ARGUMENT = 0.1
_CONSTRUCTORS = frozenset(("__init__", "__new__", "__post_init__", "init"))


class _Place(NamedTuple):
    """How surely a change's function is the one of an error (``own``), or overrides it (``kin``)."""

    own: float
    kin: float


def _locate(error: ErrorLine, names: ChangeNames, kinship: Kinship) -> _Place:
    is_constructor = error.function in _CONSTRUCTORS
    if is_constructor and names.change.subject is ContractClass.CLASS:
        owner = names.change.name
    elif error.function == names.last or (is_constructor and names.last in _CONSTRUCTORS):
        owner = names.owner
    else:
        return _Place(0.0, 0.0)
    last, base = _get_last(error.owner), _get_last(owner)
    if last and last == base:
        # a subclass in another package may have the same name
        return _Place(1.0, 0.85)
    if not last:
        # Python before 3.10 names no class; each has a constructor, and few have another function's name
        unsure = 0.3 if is_constructor else 0.7
        return _Place(1.0 if not base and not is_constructor else unsure, unsure)
    if not base:
        return _Place(0.0, 0.0)
    return _Place(0.0, max(kinship.measure(last, owner), 0.0 if is_constructor else _STRANGER))


def _rate_owner(
    owner: str, names: ChangeNames, kinship: Kinship, *, unknown: float, stranger: float = _STRANGER
) -> float:
    """Return how surely the class of an error is the one that a member belongs to, or derives from it."""
    if not owner or not names.owner:
        return unknown
    return max(kinship.measure(owner, names.owner), stranger)


def _explain_unexpected(error: ErrorLine, names: ChangeNames, kinship: Kinship) -> Explanation | None:
    argument = error.names[0]
    if names.last == argument and names.change.subject in _MEMBERS:
        return _explain_field(error, names, kinship)
    place = _locate(error, names, kinship)
    is_old, is_new = argument in names.old_parameters, argument in names.new_parameters
    if is_old and not is_new:
        return Explanation(place.own, f"removes the argument {show_name(argument)} of {names.quoted}")
    if is_new and not is_old:
        own = f", which {show_name(error.owner)} has to take too" if error.owner else ""
        return Explanation(0.97 * place.kin, f"adds the argument {show_name(argument)} to {names.quoted}{own}")
    if names.change.kind in GONE | {ChangeKind.SIGNATURE}:
        return Explanation(_OTHER_ARGUMENT * max(place), f"changes {names.quoted}")
    return None


def _explain_missing(error: ErrorLine, names: ChangeNames, kinship: Kinship) -> Explanation | None:
    """Explain an argument that has to be passed, or that upstream no longer passes to an override."""
    kind, old, new = names.change.kind, names.old_parameters, names.new_parameters
    if error.function in _CONSTRUCTORS and names.last in error.names:
        strength = 0.95 * _rate_owner(error.owner, names, kinship, unknown=0.5, stranger=0.0)
        return Explanation(strength, f"adds the field {names.quoted}") if kind in _REQUIRING else None
    place = _locate(error, names, kinship)
    # what has to be passed now and had not to be before
    required = [
        each
        for each in error.names
        if each in new and new[each].default is None and (each not in old or old[each].default is not None)
    ]
    if required:
        shown = ", ".join(map(show_name, required[:3]))
        share = len(required) / len(error.names)
        return Explanation(share * place.own, f"makes {shown} a required argument of {names.quoted}")
    if lost := next((each for each in error.names if each in old and each not in new), ""):
        clause = f"removes the argument {show_name(lost)} of {names.quoted}, so nobody passes it"
        return Explanation(0.95 * place.kin, clause)
    if kind in (ChangeKind.SIGNATURE, ChangeKind.RENAMED):
        return Explanation(_OTHER_ARGUMENT * max(place), f"changes {names.quoted}")
    return None


def _explain_count(error: ErrorLine, names: ChangeNames, kinship: Kinship) -> Explanation | None:
    change = names.change
    if change.old_signature is None or change.new_signature is None or change.kind is ChangeKind.BEHAVIOUR:
        return None
    place = _locate(error, names, kinship)
    old, new = _count_positional(change.old_signature), _count_positional(change.new_signature)
    if error.expected is None or error.passed is None or old == new:
        return Explanation(0.4 * max(place), f"changes {names.quoted}")
    fewer = place.own * (1.0 if new == error.expected and old >= error.passed else 0.4)
    fits = new == error.passed and old == error.expected
    more = place.kin * (0.97 if fits else 0.85 if old <= error.expected < error.passed <= new else 0.4)
    return Explanation(max(fewer, more), f"changes the number of arguments of {names.quoted}")


def _count_positional(signature: Signature) -> int:
    """Return how many positional arguments fit; very many if there is ``*args``."""
    kinds = [each.kind for each in signature.parameters]
    return 1_000 if ParameterKind.REST in kinds else sum(kind in POSITIONAL for kind in kinds)


def _explain_repeated(error: ErrorLine, names: ChangeNames, kinship: Kinship) -> Explanation | None:
    argument = error.names[0]
    old, new = list(names.old_parameters), list(names.new_parameters)
    place = _locate(error, names, kinship) if error.function else _Place(0.55, 0.55)
    if not error.function and names.change.kind in GONE and argument in old:
        return Explanation(0.45, f"{names.verb} {names.quoted}, which took {show_name(argument)}")
    if argument in new and (argument not in old or old.index(argument) != new.index(argument)):
        clause = f"passes or places the argument {show_name(argument)} of {names.quoted} in another way"
        return Explanation(0.9 * max(place), clause)
    return None


# --- names that are not there

# what Python itself and test doubles are called in "'X' object has no attribute 'y'"
_BUILTINS = frozenset(
    "NoneType tuple list dict bool int str float set bytes function method type object generator coroutine Tensor "
    "MagicMock Mock SimpleNamespace builtin_function_or_method".split()
)
# a name that can still be used by a shim explains little
_SHIM_SHARE = 0.2


def _explain_loss(strength: float, names: ChangeNames, shown: str) -> Explanation:
    share = _SHIM_SHARE if names.change.is_importable else 1.0
    return Explanation(share * strength, f"{names.verb} {show_name(shown)}{names.heir}")


def _explain_import(error: ErrorLine, names: ChangeNames, _: Kinship) -> Explanation | None:
    change, name = names.change, error.names[0]
    full = f"{error.owner}.{name}" if error.owner else ""
    if change.kind not in GONE or change.subject not in PYTHON_CLASSES:
        return None
    if full == change.name:
        strength = 1.0
    elif names.last == name and not names.owner:
        # it may be imported through a package that had it from there
        strength = 0.8 if full.partition(".")[0] in ("", names.parts[0]) else 0.5
    else:
        is_within = change.subject is ContractClass.MODULE and full.startswith(f"{change.name}.")
        strength = 0.7 if is_within else 0.0
    return _explain_loss(strength, names, change.name)


def _explain_module(error: ErrorLine, names: ChangeNames, _: Kinship) -> Explanation | None:
    change = names.change
    if change.subject is ContractClass.DEPENDENCY and change.name.replace("-", "_").startswith(error.owner):
        return Explanation(0.7, f"changes the dependency {show_name(change.name)}")
    if change.kind not in GONE or change.subject not in PYTHON_CLASSES:
        return None
    is_within = change.subject is ContractClass.MODULE and error.owner.startswith(f"{change.name}.")
    part = 0.6 if change.name.startswith(f"{error.owner}.") else 0.0
    return _explain_loss(1.0 if change.name == error.owner else 0.95 if is_within else part, names, change.name)


def _explain_attribute(error: ErrorLine, names: ChangeNames, kinship: Kinship) -> Explanation | None:
    change = names.change
    # of a class that is called through ``super()``, the name isn't known
    owner = "" if error.owner == "super" else error.owner
    is_builtin = owner in _BUILTINS
    if owner and not _get_last(owner).lstrip("_")[:1].isupper() and not is_builtin:
        return _explain_import(error, names, kinship)
    if names.last != error.names[0] or change.subject not in PYTHON_CLASSES | _MEMBERS:
        return None
    # an object of a plain type is of another one than before, so its class is unknown
    strength = 0.5 if is_builtin else _rate_owner(owner, names, kinship, unknown=0.7, stranger=0.4)
    if change.kind in GONE:
        return _explain_loss(strength, names, names.shown)
    if change.kind in _NEW and names.owner:
        # a value of a plain type lacks what no upstream class gave it
        share = 0.5 if is_builtin else 0.9
        return Explanation(share * strength, f"adds {names.quoted}, which others now expect")
    return None if change.kind is ChangeKind.BEHAVIOUR else Explanation(0.4, f"changes {names.quoted}")


def _explain_abstract(error: ErrorLine, names: ChangeNames, kinship: Kinship) -> Explanation | None:
    if names.last not in error.names or names.change.kind not in _NEW | {ChangeKind.RENAMED}:
        return None
    base = 0.75 if names.change.kind is ChangeKind.ABSTRACT_MEMBER else 0.45
    strength = base + 0.25 * kinship.measure(error.owner, names.owner)
    return Explanation(strength, f"adds the abstract {names.quoted}, which subclasses have to define")


def _explain_field(error: ErrorLine, names: ChangeNames, kinship: Kinship) -> Explanation | None:
    if names.last.lstrip("-") not in error.names or names.change.kind not in GONE:
        return None
    strength = _rate_owner(error.owner, names, kinship, unknown=0.85)
    return Explanation(strength, f"{names.verb} the field {names.quoted}{names.heir}")


def _explain_missing_field(error: ErrorLine, names: ChangeNames, kinship: Kinship) -> Explanation | None:
    if names.last not in error.names or names.change.kind not in _REQUIRING:
        return None
    strength = _rate_owner(error.owner, names, kinship, unknown=0.85)
    return Explanation(strength, f"makes the field {names.quoted} required")


def _explain_flag(error: ErrorLine, names: ChangeNames, _: Kinship) -> Explanation | None:
    flags = [each.lstrip("-").replace("_", "-").removeprefix("no-") for each in (names.change.name, *error.names)]
    if names.change.subject is not ContractClass.FLAG or flags[0] not in flags[1:]:
        return None
    clause = f"{names.verb} the flag {show_name(names.change.name)}{names.heir}"
    return Explanation(1.0 if names.change.kind in GONE else 0.5, clause)


def _explain_key(error: ErrorLine, names: ChangeNames, _: Kinship) -> Explanation | None:
    if error.names[0] not in (names.last, names.change.name) or names.change.kind is ChangeKind.BEHAVIOUR:
        return None
    strength = 0.65 if names.change.kind in GONE else 0.45
    return Explanation(strength, f"{names.verb} {names.quoted}{names.heir}")


def _explain_op(error: ErrorLine, names: ChangeNames, _: Kinship) -> Explanation | None:
    ops = {each.rpartition("::")[2] for each in error.names}
    if names.change.subject is not ContractClass.OP or names.last not in ops:
        return None
    clause = f"{names.verb} the op {show_name(names.change.name)}{names.heir}"
    return Explanation(1.0 if names.change.kind in GONE else 0.8, clause)


def _explain_other(error: ErrorLine, names: ChangeNames, _: Kinship) -> Explanation | None:
    is_its_kind = names.change.kind in _KINDS_BY_EXCEPTION.get(error.exception, ())
    if names.last not in error.names or not is_its_kind or names.change.subject not in PYTHON_CLASSES:
        return None
    return Explanation(0.6, f"{names.verb} {names.quoted}{names.heir}")


_KINDS_BY_EXCEPTION: Mapping[str, frozenset[ChangeKind]] = {
    "TypeError": frozenset((ChangeKind.SIGNATURE, ChangeKind.RETURN, ChangeKind.ABSTRACT_MEMBER)),
    "ImportError": GONE,
    "ModuleNotFoundError": GONE,
    "AttributeError": GONE,
}
_EXPLAINERS: Mapping[ErrorKind, Callable[[ErrorLine, ChangeNames, Kinship], Explanation | None]] = {
    ErrorKind.UNEXPECTED_ARGUMENT: _explain_unexpected,
    ErrorKind.MISSING_ARGUMENT: _explain_missing,
    ErrorKind.ARGUMENT_COUNT: _explain_count,
    ErrorKind.REPEATED_ARGUMENT: _explain_repeated,
    ErrorKind.IMPORT: _explain_import,
    ErrorKind.MODULE: _explain_module,
    ErrorKind.ATTRIBUTE: _explain_attribute,
    ErrorKind.ABSTRACT: _explain_abstract,
    ErrorKind.FIELD: _explain_field,
    ErrorKind.MISSING_FIELD: _explain_missing_field,
    ErrorKind.FLAG: _explain_flag,
    ErrorKind.KEY: _explain_key,
    ErrorKind.NAME: _explain_key,
    ErrorKind.OP: _explain_op,
    ErrorKind.OTHER: _explain_other,
}
