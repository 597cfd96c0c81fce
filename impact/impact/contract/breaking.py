"""Which contract changes are proved to break callers: what is gone, or what old calls and values no longer fit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import PurePosixPath

from impact.contract.models import (
    FIELDS,
    LOST,
    PYTHON_CLASSES,
    ChangeKind,
    ContractChange,
    ContractClass,
    MergeContract,
)
from impact.python.models import ParameterKind, Signature
from impact.python.signatures import describe_way, drop_receiver, list_required, normalize_annotation

# what people write in settings, calls over HTTP and dashboards comes before names of code
_WRITTEN = FIELDS - {ContractClass.WIRE} | {
    ContractClass.FLAG,
    ContractClass.ENVIRONMENT,
    ContractClass.ENDPOINT,
    ContractClass.METRIC,
    ContractClass.ENTRY_POINT,
}
_HAVE_DEFAULTS = FIELDS | {
    ContractClass.FLAG,
    ContractClass.ENVIRONMENT,
    ContractClass.FUNCTION,
    ContractClass.METHOD,
}
_NAMED = frozenset({ParameterKind.POSITIONAL, ParameterKind.KEYWORD_ONLY})
_OPTIONAL = "is optional now"
_FEWER = "takes fewer arguments by position"
# a field of a data class; a plain attribute's value is no default
_ANNOTATED = re.compile(r"\w+\s*:")
_FIELD = re.compile(r"\w+\s*:\s*+(?P<type>[^=]*[^=\s])\s*(?:=.*)?")
_LITERAL = re.compile(r"Literal\[(?P<values>.*)\]")
_LOGGERS = frozenset({"logger", "log", "LOG", "LOGGER"})
# a type in place of another takes what the other took
_WIDER = {"int": "float", "list": "Sequence", "dict": "Mapping"}


@dataclass(frozen=True, slots=True)
class Breakage:
    """A contract change that breaks callers, and how, as the end of a sentence about its name."""

    change: ContractChange
    effect: str


def list_breakages(contract: MergeContract) -> tuple[Breakage, ...]:
    """Return what a merge breaks for callers, each fact once: what people write and what is gone comes first."""
    breakages: dict[tuple[str, ...], Breakage] = {}
    changes = [each for each in contract.changes if _is_public(each)]
    gone = {each.name for each in changes if each.kind in LOST}
    for change in sorted(changes, key=_get_order):
        # a module that is gone takes all that is in it along
        is_within = change.name.rpartition(".")[0] in gone and change.subject in PYTHON_CLASSES
        effect = "" if is_within else describe_breakage(change)
        if effect:
            breakages.setdefault(_get_fact(change, effect), Breakage(change, effect))
    return tuple(breakages.values())


def describe_breakage(change: ContractChange) -> str:
    """Return how a change breaks callers, as the end of a sentence about its name; empty if it is not proved."""
    # a pin says nothing about how this package is called
    if change.subject is ContractClass.DEPENDENCY or not _is_public(change):
        return ""
    match change.kind:
        case ChangeKind.REMOVED | ChangeKind.MOVED | ChangeKind.RENAMED:
            return "" if change.is_importable else describe_loss(change)
        case ChangeKind.SIGNATURE if change.old_signature and change.new_signature:
            pair = change.old_signature, change.new_signature
            return find_refusal(*(map(drop_receiver, pair) if change.subject is ContractClass.METHOD else pair))
        case ChangeKind.SIGNATURE if change.old_signature or change.new_signature:
            return describe_other_kind(change)
        case ChangeKind.SIGNATURE:
            return _describe_other_shape(change)
        case ChangeKind.ABSTRACT_MEMBER:
            return "must be implemented by subclasses"
        case ChangeKind.DEFAULT if change.subject in _HAVE_DEFAULTS or _ANNOTATED.match(change.before):
            effect = describe_default(change)
            return "" if effect == _OPTIONAL else effect
    return ""


def _is_public(change: ContractChange) -> bool:
    parts = change.name.split(".") if change.subject in PYTHON_CLASSES else ()
    is_private = any(part.startswith("_") and not part.endswith("__") for part in parts)
    return not is_private and change.last_name not in _LOGGERS


def describe_loss(change: ContractChange) -> str:
    """Describe what became of a name that was removed, moved or renamed, as the end of a sentence about it."""
    if not change.new_name:
        return "is gone"
    short, before = (".".join(name.split(".")[-2:]) for name in (change.new_name, change.name))
    # what moved may have the same last parts
    return f"is now `{change.new_name if short == before else short}`"


def describe_other_kind(change: ContractChange) -> str:
    """Describe that a value took the place of what was called, or the other way round."""
    return "is a function or class now" if change.new_signature else "can no longer be called"


def describe_default(change: ContractChange) -> str:
    """Describe another default as the end of a sentence about its name."""
    is_flag = change.subject is ContractClass.FLAG
    # without a default: ``--x (required)``, or ``x: int`` of a field
    lacked, lacks = (
        text.endswith(" (required)") if is_flag else bool(_ANNOTATED.match(text)) and not {"=", "…"} & set(text)
        for text in (change.before, change.after)
    )
    return "has another default" if lacked == lacks else "is required now" if lacks else _OPTIONAL


def _describe_other_shape(change: ContractChange) -> str:
    if change.subject is ContractClass.FLAG:
        # the default of a switch is on or off, and that of a value is not
        is_switch = change.after.endswith((" default on", " default off"))
        return "no longer takes a value" if is_switch else "takes a value now"
    if change.subject is ContractClass.METRIC:
        return "has another type or other labels"
    if change.subject is ContractClass.WIRE and PurePosixPath(change.path).suffix == ".proto":
        return "has another type"
    return "accepts fewer values" if change.subject in FIELDS and _is_narrower(change) else ""


def _is_narrower(change: ContractChange) -> bool:
    """Return whether a field refuses a type or a value that it took. What a line leaves out proves nothing."""
    fields = [_FIELD.fullmatch(text) for text in (change.before, change.after)]
    if "…" in change.before + change.after or not all(fields):
        return False
    before, after = ({*_list_options(field["type"])} for field in fields if field)
    is_text = bool(before) and all(each.startswith("'") or each == "str" for each in before)
    if "Any" in after or "object" in after or ("str" in after and is_text):
        return False
    # ``dict[str, int]`` fits into ``Mapping[str, int]``
    parts = [(each, *each.partition("[")) for each in before]
    wider = {each: f"{_WIDER[name]}{mark}{rest}" for each, name, mark, rest in parts if name in _WIDER}
    return any(each not in after and wider.get(each) not in after for each in before)


def _list_options(annotation: str) -> Iterator[str]:
    for option in normalize_annotation(annotation).split(" | "):
        literal = _LITERAL.fullmatch(option)
        yield from (f"'{part.strip()}'" for part in literal["values"].split(",")) if literal else (option,)


# --- signatures


def find_refusal(old: Signature, new: Signature) -> str:
    """Return which calls of the old signature, as callers see it, the new one refuses or takes otherwise.

    The answer is the end of a sentence about the function, empty if every call fits.
    """
    return describe_way(old, new) or _find_lost(old, new) or _find_missing(old, new) or _find_moved(old, new)


def _find_lost(old: Signature, new: Signature) -> str:
    """Return that a parameter can no longer be passed by its name."""
    kinds = {each.name: each.kind for each in new.parameters}
    takes_all = ParameterKind.KEYWORDS in kinds.values()
    for each in old.parameters:
        kind = kinds.get(each.name)
        if each.kind not in _NAMED or kind in _NAMED:
            continue
        if kind is ParameterKind.POSITIONAL_ONLY:
            return f"takes `{each.name}` by position alone"
        if not takes_all:
            return f"no longer takes `{each.name}`"
    return ""


def _find_missing(old: Signature, new: Signature) -> str:
    before = {each.name for each in list_required(old)}
    # another name in a place that has always been filled by position takes what stood there
    filled = sum(each.kind is ParameterKind.POSITIONAL_ONLY for each in list_required(old))
    in_place = set(_list_slots(new)[:filled])
    missing = [each.name for each in list_required(new) if each.name not in before | in_place]
    return f"requires `{missing[0]}`" if missing else ""


def _find_moved(old: Signature, new: Signature) -> str:
    """Return that an argument by position, or one of any name, no longer fits or goes to another parameter."""
    before, after = _list_slots(old), _list_slots(new)
    names = [{each.name for each in version.parameters} for version in (old, new)]
    kinds = [{each.kind for each in version.parameters} for version in (old, new)]
    for name, now in zip_longest(before, after[: len(before)]):
        if now is None and ParameterKind.REST not in kinds[1]:
            return f"takes `{name}` by name alone" if name in names[1] else _FEWER
        if now not in (name, None) and (name in after or now in names[0]):
            return "takes its arguments in another order"
        if now != name and name in names[1]:
            return f"takes `{name}` by name alone"
    lost = kinds[0] - kinds[1]
    if ParameterKind.REST in lost:
        return _FEWER
    return "takes no other arguments by name" if ParameterKind.KEYWORDS in lost else ""


def _list_slots(signature: Signature) -> list[str]:
    kinds = (ParameterKind.POSITIONAL, ParameterKind.POSITIONAL_ONLY)
    return [each.name for each in signature.parameters if each.kind in kinds]


# --- order, and what is one fact


def _get_order(change: ContractChange) -> tuple[bool, bool, int, str]:
    """Return a key: what is gone first, then what people write, then what is near the top of the package."""
    return change.kind not in LOST, change.subject not in _WRITTEN, change.name.count("."), change.name


def _get_fact(change: ContractChange, effect: str) -> tuple[str, ...]:
    """Return what is equal for the same fact: a field is an attribute, a part of a message and a parameter."""
    owner, _, name = change.name.rpartition(".")
    if name == "__init__":
        refused = re.search(r"`(\w+)`", effect)
        return owner.rpartition(".")[2], refused[1] if refused else effect
    if owner and (change.subject in FIELDS or change.subject is ContractClass.ATTRIBUTE):
        return owner.rpartition(".")[2], name
    return change.name, effect
