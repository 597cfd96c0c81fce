"""Whether a call fits a signature, by Python's rules for binding arguments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, auto

from impact.python.models import CallShape, Parameter, ParameterKind, Signature
from impact.python.signatures import POSITIONAL

_NAMED = (ParameterKind.POSITIONAL, ParameterKind.KEYWORD_ONLY)
_ATTRIBUTE, _AWAIT = "attribute", "await"
_ASYNC_GENERATORS = frozenset({"AsyncGenerator", "AsyncIterator", "AsyncIterable"})
_AWAITABLES = frozenset({"Awaitable", "Coroutine", "Future", "Task"})


class ProblemKind(Enum):
    """Why a call can't fit: too much by position, an argument twice, an unknown one, or one that lacks."""

    TOO_MANY = auto()
    TWICE = auto()
    UNKNOWN = auto()
    MISSING = auto()


@dataclass(frozen=True, slots=True)
class BindingProblem:
    """Why a call can't fit, and at which parameter; too many arguments have none."""

    kind: ProblemKind
    name: str = ""


def drop_receiver(signature: Signature) -> Signature:
    """Return the signature of a method as its callers see it: without ``self`` or ``cls``."""
    first = signature.parameters[:1]
    if signature.is_static or not first or first[0].kind not in POSITIONAL:
        return signature
    return replace(signature, parameters=signature.parameters[1:])


def describe_way(old: Signature, new: Signature) -> str:
    """Return how something is used in another way than before, whatever its parameters; empty if it is not.

    The answer is the end of a sentence about its name.
    """
    before, after = get_way(old), get_way(new)
    if before == after:
        return "is a function now" if old.is_class and not new.is_class and not new.is_property else ""
    if _ATTRIBUTE in {before, after}:
        return "is an attribute now" if after == _ATTRIBUTE else "is a method now"
    if after == _AWAIT:
        return "must be awaited now"
    if before == _AWAIT and not after:
        return "is no longer awaited"
    return f"is used by `{after}` now" if after else f"is no longer used by `{before}`"


def get_way(signature: Signature) -> str:
    """Return by which word a result is used: none for a plain call, also one that gives values one by one."""
    returns = signature.returns.strip("'\"").partition("[")[0].rpartition(".")[2]
    if signature.is_property:
        return _ATTRIBUTE
    if signature.is_context:
        return "async with" if signature.is_async else "with"
    if returns in _ASYNC_GENERATORS or (signature.is_async and signature.is_generator):
        return "async for"
    return _AWAIT if signature.is_async or returns in _AWAITABLES else ""


def can_bind(signature: Signature, shape: CallShape) -> bool:
    """Return whether a call may fit. With ``*`` or ``**`` in it, only what is certain counts."""
    return not find_binding_problem(signature, shape)


def find_binding_problem(signature: Signature, shape: CallShape) -> BindingProblem | None:
    """Return why a call can't fit, None if it may fit.

    ``signature`` is as callers see it. Arguments behind ``*`` or ``**`` are unknown and may fill what is missing.
    """
    slots = [each for each in signature.parameters if each.kind in POSITIONAL]
    if shape.positional > len(slots) and not _has_kind(signature, ParameterKind.REST):
        return BindingProblem(ProblemKind.TOO_MANY)
    filled = {each.name for each in slots[: shape.positional]}
    named = {each.name for each in signature.parameters if each.kind in _NAMED}
    for keyword in shape.keywords:
        if keyword in filled and keyword in named:
            return BindingProblem(ProblemKind.TWICE, keyword)
        if keyword not in named and not _has_kind(signature, ParameterKind.KEYWORDS):
            return BindingProblem(ProblemKind.UNKNOWN, keyword)
    missing = _find_missing(signature, filled | (named & set(shape.keywords)), shape)
    return BindingProblem(ProblemKind.MISSING, missing) if missing else None


def list_required(signature: Signature) -> tuple[Parameter, ...]:
    """Return the parameters that a caller has to pass."""
    return tuple(each for each in signature.parameters if _is_required(each))


def _find_missing(signature: Signature, passed: set[str], shape: CallShape) -> str:
    """Return the first required parameter that the call can't pass, empty for none."""
    for each in signature.parameters:
        if not _is_required(each) or each.name in passed:
            continue
        may_be_in_star = shape.has_star and each.kind in POSITIONAL
        may_be_in_double_star = shape.has_double_star and each.kind in _NAMED
        if not may_be_in_star and not may_be_in_double_star:
            return each.name
    return ""


def _is_required(parameter: Parameter) -> bool:
    return parameter.default is None and parameter.kind not in (ParameterKind.REST, ParameterKind.KEYWORDS)


def _has_kind(signature: Signature, kind: ParameterKind) -> bool:
    return any(each.kind is kind for each in signature.parameters)
