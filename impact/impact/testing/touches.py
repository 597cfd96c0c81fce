"""Profiles and merges of a few lines, read from source text as they are in use."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from datetime import UTC, datetime

from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract
from impact.profile.models import DerivedClass, Profile, Use, UseKind
from impact.python.code_reader import read_shape
from impact.python.models import CallShape, Signature
from impact.python.outline import build_outline
from impact.python.syntax import parse_expression

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def read_signature(head: str) -> Signature:
    """Return the signature of ``(self, a, b=1)``."""
    outline = build_outline("f.py", f"def f{head}: ...")
    signature = outline.definitions["f"].signature if outline else None
    assert signature, head
    return signature


def read_call(text: str) -> CallShape:
    """Return the shape of ``f(1, a=2, **rest)``."""
    call = parse_expression(text)
    assert isinstance(call, ast.Call), text
    return read_shape(call)


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
