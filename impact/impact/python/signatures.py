"""Signatures: of functions, of what stands for one, of several forms of one, and whether calls fit them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import zip_longest

from impact.python.code_reader import SourceText, show_constant
from impact.python.models import CallShape, Definition, Parameter, ParameterKind, Signature
from impact.python.syntax import (
    FunctionNode,
    get_keywords,
    get_last_name,
    is_none,
    join_name,
    parse_expression,
    walk_all_statements,
)

POSITIONAL = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL)
# the default of what need not be passed for a reason other than a default
_SOME = "..."
ABSTRACT = frozenset({"abstractmethod", "abstractproperty", "abstractclassmethod", "abstractstaticmethod"})
_PROPERTIES = frozenset({"property", "cached_property", "abstractproperty", "lazy_property"})
_CONTEXTS = frozenset({"contextmanager", "asynccontextmanager"})
_NAMED = (ParameterKind.POSITIONAL, ParameterKind.KEYWORD_ONLY)
_ATTRIBUTE, _AWAIT = "attribute", "await"
_ASYNC_GENERATORS = frozenset({"AsyncGenerator", "AsyncIterator", "AsyncIterable"})
_AWAITABLES = frozenset({"Awaitable", "Coroutine", "Future", "Task"})
_MAX_DEPTH = 20
_BUILTINS = frozenset({"List", "Dict", "Tuple", "Set", "FrozenSet", "Type"})


def read_signature(node: FunctionNode, decorators: Sequence[str], source: SourceText) -> Signature:
    last_parts = {name.rpartition(".")[2] for name in decorators}
    return Signature(
        parameters=tuple(_list_parameters(node.args, source)),
        returns=source.get_text(node.returns),
        is_async=isinstance(node, ast.AsyncFunctionDef),
        is_static="staticmethod" in last_parts,
        is_class_method="classmethod" in last_parts,
        is_property=not last_parts.isdisjoint(_PROPERTIES),
        results=_count_results(node),
        needed=tuple(_list_needed(node)),
        is_context=not last_parts.isdisjoint(_CONTEXTS),
        # other decorators of properties keep the value, which may be replaced
        is_settable=not last_parts.isdisjoint(_PROPERTIES - {"property", "abstractproperty"}),
    )


def _list_needed(node: FunctionNode) -> Iterator[str]:
    """Yield the names that a function refuses to be ``None`` before it may return."""
    for each in node.body if any(isinstance(each, ast.Assert | ast.If) for each in node.body) else ():
        test = each.test if isinstance(each, ast.Assert | ast.If) else None
        if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and is_none(test.comparators[0]):
            is_asserted = isinstance(each, ast.Assert) and isinstance(test.ops[0], ast.IsNot)
            is_raised = isinstance(each, ast.If) and isinstance(each.body[-1], ast.Raise)
            if is_asserted or (is_raised and isinstance(test.ops[0], ast.Is)):
                yield test.left.id
                continue
        if any(isinstance(inner, ast.Return) for inner in walk_all_statements([each])):
            return


def _count_results(node: FunctionNode) -> tuple[int, ...]:
    """Return how many values a function returns as a tuple: by its annotation, or in each of its ways."""
    counts = {_count_annotated(node.returns)} - {0} or set(map(_count_values, _list_returned(node)))
    # what a generator returns is not what its caller gets
    is_generator = any(counts) and any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(node))
    return () if is_generator else tuple(sorted(counts))


def _count_annotated(node: ast.expr | None) -> int:
    """Return how many values an annotation such as ``tuple[int, str] | None`` says, 0 if it does not say it."""
    if isinstance(node, ast.BinOp):
        return _count_annotated(node.left) or _count_annotated(node.right) if is_none(node.right) else 0
    if not isinstance(node, ast.Subscript):
        return 0
    name = get_last_name(node)
    if name == "Optional":
        return _count_annotated(node.slice)
    return _count_values(node.slice) if name in {"tuple", "Tuple"} else 0


def _list_returned(node: FunctionNode) -> Iterator[ast.expr]:
    """Yield what the function's own ``return`` statements give but ``None``, which nobody can unpack."""
    for each in walk_all_statements(node.body, skipped=(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        if isinstance(each, ast.Return) and each.value and not is_none(each.value):
            yield each.value


def _count_values(node: ast.expr) -> int:
    is_open = isinstance(node, ast.Tuple) and any(
        isinstance(each, ast.Starred) or (isinstance(each, ast.Constant) and each.value is ...)
        for each in node.elts
    )
    return len(node.elts) if isinstance(node, ast.Tuple) and not is_open else 0


def read_value_signature(
    value: ast.expr | None, known: Mapping[str, Definition], source: SourceText
) -> Signature | None:
    """Return the signature of a ``lambda``, or of a ``partial`` of a known function; None of any other value."""
    if isinstance(value, ast.Lambda):
        return Signature(tuple(_list_parameters(value.args, source)))
    if not isinstance(value, ast.Call) or get_last_name(value) != "partial" or not value.args:
        return None
    function, passed = known.get(join_name(value.args[0])), get_keywords(value)
    if not function or not function.signature or None in passed or isinstance(value.args[-1], ast.Starred):
        return None
    parameters: list[Parameter] = []
    by_place, is_named = len(value.args) - 1, False
    for each in function.signature.parameters:
        if each.kind in POSITIONAL and by_place:
            by_place -= 1
            continue
        default = source.get_text(passed[each.name]) if each.name in passed else each.default
        # those behind one that is passed by name can no longer be passed by place
        is_named = is_named or (each.kind is ParameterKind.POSITIONAL and each.name in passed)
        kind = ParameterKind.KEYWORD_ONLY if is_named and each.kind is ParameterKind.POSITIONAL else each.kind
        parameters.append(replace(each, kind=kind, default=default))
    return replace(function.signature, parameters=tuple(parameters))


def join_forms(first: Signature, second: Signature) -> Signature:
    """Return the signature of what has two forms: it takes what one of them takes."""
    slots = [[each for each in form.parameters if each.kind in POSITIONAL] for form in (first, second)]
    joined: dict[str, Parameter] = {}
    rest: dict[str, Parameter] = {}
    for one, other in zip_longest(*slots):
        each = one or other
        if one and other and one.name == other.name:
            joined[each.name] = replace(each, default=one.default if one.default is not None else other.default)
        else:
            joined[each.name] = replace(each, kind=ParameterKind.POSITIONAL, default=each.default or _SOME)
            if one and other:
                rest[other.name] = replace(other, kind=ParameterKind.KEYWORD_ONLY, default=other.default or _SOME)
    ones, others = ({each.name: each for each in form.parameters} for form in (first, second))
    for name, each in {**ones, **others}.items():
        if each.kind in POSITIONAL:
            continue
        is_optional = each.kind is ParameterKind.KEYWORD_ONLY and not (name in ones and name in others)
        rest[name] = replace(each, default=each.default or _SOME) if is_optional else each
    rest = {name: each for name, each in rest.items() if name not in joined}
    order = list(ParameterKind)
    rest_in_order = sorted(rest.values(), key=lambda each: order.index(each.kind))
    return replace(first, parameters=(*joined.values(), *rest_in_order))


def _list_parameters(args: ast.arguments, source: SourceText) -> Iterator[Parameter]:
    kinds = [ParameterKind.POSITIONAL_ONLY] * len(args.posonlyargs) + [ParameterKind.POSITIONAL] * len(args.args)
    # defaults belong to the last ones
    missing: list[ast.expr | None] = [None] * (len(kinds) - len(args.defaults))
    rows = [*zip([*args.posonlyargs, *args.args], kinds, [*missing, *args.defaults], strict=True)]
    rows += [(args.vararg, ParameterKind.REST, None)] if args.vararg else []
    for each, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        rows.append((each, ParameterKind.KEYWORD_ONLY, default))
    rows += [(args.kwarg, ParameterKind.KEYWORDS, None)] if args.kwarg else []
    for each, kind, value in rows:
        default_text = None if value is None else source.get_text(value)
        yield Parameter(each.arg, kind, default_text, source.get_text(each.annotation))


# --- whether a call fits, by Python's rules for binding arguments


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
    kinds = {each.kind for each in signature.parameters}
    slots = [each for each in signature.parameters if each.kind in POSITIONAL]
    if shape.positional > len(slots) and ParameterKind.REST not in kinds:
        return BindingProblem(ProblemKind.TOO_MANY)
    filled = {each.name for each in slots[: shape.positional]}
    named = {each.name for each in signature.parameters if each.kind in _NAMED}
    for keyword in shape.keywords:
        if keyword in filled and keyword in named:
            return BindingProblem(ProblemKind.TWICE, keyword)
        if keyword not in named and ParameterKind.KEYWORDS not in kinds:
            return BindingProblem(ProblemKind.UNKNOWN, keyword)
    passed = filled | (named & set(shape.keywords))
    for each in list_required(signature):
        may_be_in_star = shape.has_star and each.kind in POSITIONAL
        may_be_in_double_star = shape.has_double_star and each.kind in _NAMED
        if each.name not in passed and not may_be_in_star and not may_be_in_double_star:
            return BindingProblem(ProblemKind.MISSING, each.name)
    return None


def list_required(signature: Signature) -> tuple[Parameter, ...]:
    """Return the parameters that a caller has to pass."""
    rest = (ParameterKind.REST, ParameterKind.KEYWORDS)
    return tuple(each for each in signature.parameters if each.default is None and each.kind not in rest)


# --- annotations that mean the same: ``Optional[X]`` and ``X | None``, ``List[int]`` and ``list[int]``


def is_same_annotation(first: str, second: str) -> bool:
    """Return whether two annotations mean the same, as far as their texts say."""
    return first == second or normalize_annotation(first) == normalize_annotation(second)


def normalize_annotation(text: str) -> str:
    """Return an annotation in one form; what can't be parsed stays as it is."""
    tree = parse_expression(text)
    return _normalize(tree, 0) if tree else "".join(text.split())


def _normalize(node: ast.expr, depth: int) -> str:
    if depth > _MAX_DEPTH:
        return "…"
    if isinstance(node, ast.Constant):
        inner = parse_expression(node.value) if isinstance(node.value, str) else None
        return _normalize(inner, depth + 1) if inner else show_constant(node.value)
    options = _list_options(node)
    if options:
        return " | ".join(sorted({part for each in options for part in _normalize(each, depth + 1).split(" | ")}))
    if isinstance(node, ast.Subscript):
        return f"{_normalize(node.value, depth + 1)}[{_normalize(node.slice, depth + 1)}]"
    if isinstance(node, ast.Tuple | ast.List):
        return ", ".join(_normalize(each, depth + 1) for each in node.elts)
    # where a type is imported from says nothing of it
    name = join_name(node).rpartition(".")[2]
    return (name.lower() if name in _BUILTINS else name) or node.__class__.__name__


def _list_options(node: ast.expr) -> list[ast.expr]:
    """Return the types of a union; nothing for any other annotation."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [node.left, node.right]
    if not isinstance(node, ast.Subscript):
        return []
    name = get_last_name(node)
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name == "Optional":
        return [*inner, ast.Constant(None)]
    return inner if name == "Union" else []
