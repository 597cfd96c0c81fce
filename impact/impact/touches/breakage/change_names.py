"""The parts of a change's name, and words about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from impact.contract.models import ChangeKind, ContractChange, ContractClass
from impact.python.models import Parameter, Signature
from impact.touches.breakage.error_lines import ErrorLine
from impact.touches.breakage.kinship import Kinship

GONE = frozenset((ChangeKind.REMOVED, ChangeKind.MOVED, ChangeKind.RENAMED))
NEW = frozenset((ChangeKind.ADDED, ChangeKind.ADDED_MEMBER, ChangeKind.ABSTRACT_MEMBER))
MEMBERS = frozenset(
    (ContractClass.METHOD, ContractClass.ATTRIBUTE, ContractClass.CONFIGURATION, ContractClass.API_FIELD)
)
# another class has a member of the same name, and nothing says that the two are kin
STRANGER = 0.3
_MAX_SHOWN = 80


class Explanation(NamedTuple):
    """How surely a change explains an error, from 0 to 1, and why."""

    strength: float
    clause: str


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
        return self.owner.rpartition(".")[2]

    @property
    def shown(self) -> str:
        """The name as a reader sees it: a member with its class."""
        return f"{self.owner_name}.{self.last}" if self.owner else self.last

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


def rate_owner(owner: str, names: ChangeNames, kinship: Kinship, *, unknown: float, stranger: float) -> float:
    """Return how surely the class of an error is the one that a member belongs to, or derives from it."""
    if not owner or not names.owner:
        return unknown
    return max(kinship.measure(owner.rpartition(".")[2], names.owner), stranger)


def describe_end(names: ChangeNames) -> str:
    verbs = {ChangeKind.MOVED: "moves", ChangeKind.RENAMED: "renames"}
    return verbs.get(names.change.kind, "removes")


def describe_heir(names: ChangeNames) -> str:
    return f" to {show_name(names.change.new_name)}" if names.change.new_name else ""


def describe_kind(names: ChangeNames) -> str:
    if names.change.kind in GONE:
        return describe_end(names)
    return "adds" if names.change.kind in NEW else "changes"


def explain_field(error: ErrorLine, names: ChangeNames, kinship: Kinship) -> Explanation | None:
    """Explain a field of a data class, a configuration or a request that isn't accepted."""
    if names.last.lstrip("-") not in error.names or names.change.kind not in GONE:
        return None
    strength = rate_owner(error.owner, names, kinship, unknown=0.85, stranger=STRANGER)
    return Explanation(strength, f"{describe_end(names)} the field {show_name(names.shown)}{describe_heir(names)}")
