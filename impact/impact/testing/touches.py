"""Profiles and merges of a few lines, read from source text as they are in use."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from datetime import UTC, datetime

from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract
from impact.profile.models import DerivedClass, Profile, Use, UseKind
from impact.python.models import CallShape, Parameter, ParameterKind, Signature

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def read_signature(head: str) -> Signature:
    """Return the signature of ``(self, a, b=1)``."""
    arguments = ast.parse(f"def f{head}: ...").body[0].args  # type: ignore[attr-defined]
    positional = arguments.posonlyargs + arguments.args
    defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
    parameters = [
        Parameter(each.arg, ParameterKind.POSITIONAL, default and ast.unparse(default))
        for each, default in zip(positional, defaults, strict=True)
    ]
    if arguments.vararg:
        parameters.append(Parameter(arguments.vararg.arg, ParameterKind.REST))
    parameters += [
        Parameter(each.arg, ParameterKind.KEYWORD_ONLY, default and ast.unparse(default))
        for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    if arguments.kwarg:
        parameters.append(Parameter(arguments.kwarg.arg, ParameterKind.KEYWORDS))
    return Signature(tuple(parameters))


def read_call(text: str) -> CallShape:
    """Return the shape of ``f(1, a=2, **rest)``."""
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    stars = [each for each in call.args if isinstance(each, ast.Starred)]
    return CallShape(
        len(call.args) - len(stars),
        tuple(each.arg for each in call.keywords if each.arg),
        bool(stars),
        any(each.arg is None for each in call.keywords),
    )


def make_change(
    kind: ChangeKind, name: str, subject: ContractClass = ContractClass.FUNCTION, before: str = "", after: str = ""
) -> ContractChange:
    """Return a change; of a signature, ``before`` and ``after`` are those."""
    heads = [read_signature(each) if each.startswith("(") else None for each in (before, after)]
    return ContractChange(
        subject, kind, name, before, after, "up/a.py", 3, old_signature=heads[0], new_signature=heads[1]
    )


def make_use(kind: UseKind, name: str, *definitions: str, call: str = "", own: str = "", line: int = 7) -> Use:
    return Use(
        kind,
        name,
        "ours/a.py",
        line,
        f"line of {name}",
        definitions,
        call=read_call(call) if call else None,
        signature=read_signature(own) if own else None,
    )


def make_profile(uses: Iterable[Use] = (), classes: Iterable[DerivedClass] = ()) -> Profile:
    derived = {each.name: each for each in classes}
    return Profile("ours", ("up",), "team/ours", "", NOON, tuple(uses), derived)


def make_merge(*changes: ContractChange, **calls: tuple[CallShape, ...]) -> MergeContract:
    """Return a merge with these changes, whose files then call ``name`` as in ``name=(shape, …)``."""
    return MergeContract(7, "0" * 40, NOON, "Change it", changes, calls=calls)
