"""Rules for names that are gone or stand elsewhere, for members of bases, and for what changes behind a name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from impact.contract.breaking import describe_default, describe_loss
from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract
from impact.contract.python.callers import get_called_name
from impact.profile.models import DerivedClass, Use, UseKind
from impact.touches.models import TouchLevel
from impact.touches.profile_index import ProfileIndex
from impact.touches.rules.verdicts import (
    Verdict,
    judge_lost_lines,
    list_possible_calls,
    quote_name,
    use_derived_class,
)

_MEMBERS = frozenset({ContractClass.METHOD, ContractClass.ATTRIBUTE})
# a definition of the team's own that upstream no longer calls: nothing fails, and nothing works either
_OWN_DEFINITIONS = frozenset({UseKind.OVERRIDE, UseKind.COPY, UseKind.SET})
_CALLS = frozenset({UseKind.CALL, UseKind.INHERITED, UseKind.POSSIBLE_CALL})
# uses that fail if the name is not there; others only hold a value of that type
_NAMING_KINDS = frozenset({UseKind.IMPORT, UseKind.SUBCLASS, UseKind.NAMED, UseKind.PATCH})


def judge_lost_name(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    if change.subject in _MEMBERS:
        for use in (*index.list_uses(change.name), *list_possible_calls(change, contract, index)):
            yield _judge_member(change, use)
        return
    for use in index.list_uses_within(change.name):
        yield _judge_name(change, use)
    if _is_unregistered(change, contract):
        for use in index.list_uses(change.name.rpartition(".")[2]):
            yield Verdict(use, TouchLevel.BREAKS, 0.8, f"{quote_name(change)} {describe_loss(change)}")


def _is_unregistered(change: ContractChange, contract: MergeContract) -> bool:
    """Return whether upstream named a class in strings of its own, as registries do, and no longer does."""
    quoted = re.compile(rf"""["']{re.escape(change.name.rpartition(".")[2])}["']""")
    lines = contract.migrations.get(change.name, ()) if change.subject is ContractClass.CLASS else ()
    return not change.is_importable and any(
        quoted.search(each.before) and not quoted.search(each.after) for each in lines
    )


def _judge_name(change: ContractChange, use: Use) -> Verdict:
    name, words = quote_name(change), describe_loss(change)
    if use.kind is UseKind.COPY:
        return Verdict(use, TouchLevel.TOUCHES, 0.2, f"{name}, of which this is a copy, {words}")
    if change.is_alias and use.kind is UseKind.PATCH and use.name == change.name:
        # others may still take it from there
        return Verdict(use, TouchLevel.MAY_BREAK, 0.6, f"{name} {words}: your replacement is no longer called")
    if change.is_importable:
        return Verdict(use, TouchLevel.TOUCHES, 0.15, f"{name} {words}; the old name still works")
    if not _is_named_directly(change, use):
        if change.kind is ChangeKind.MOVED or use.kind not in _NAMING_KINDS:
            return Verdict(use, TouchLevel.TOUCHES, 0.1, f"{name} {words}, behind the name that is used here")
        return Verdict(use, TouchLevel.BREAKS, 0.7, f"{name} {words}")
    return Verdict(use, TouchLevel.BREAKS, 0.95, f"{name} {words}")


def _is_named_directly(change: ContractChange, use: Use) -> bool:
    """Return whether the use has the changed path in its own name, not only behind a re-export."""
    return use.name == change.name or use.name.startswith(f"{change.name}.")


def _judge_member(change: ContractChange, use: Use) -> Verdict:
    lost = f"{quote_name(change)} {describe_loss(change)}"
    if change.is_importable:
        return Verdict(use, TouchLevel.TOUCHES, 0.15, f"{lost}; the old name still works")
    if use.kind is UseKind.SET:
        return Verdict(use, TouchLevel.TOUCHES, 0.3, f"{lost}: nothing upstream reads it")
    if use.kind in _OWN_DEFINITIONS:
        return Verdict(use, TouchLevel.MAY_BREAK, 0.6, f"{lost}: upstream no longer calls this")
    return Verdict(use, TouchLevel.BREAKS, 0.9, lost)


def judge_abstract_member(
    change: ContractChange, contract: MergeContract, index: ProfileIndex
) -> Iterator[Verdict]:
    """Judge the team's classes that have to define a new abstract member."""
    owner, _, member = change.name.rpartition(".")
    added = {each.name for each in contract.changes}
    for derived in index.list_derived(owner):
        use = use_derived_class(derived, owner)
        nearer = derived.ancestors[: derived.ancestors.index(owner)]
        if any(f"{each}.{member}" in added for each in nearer):
            yield Verdict(use, TouchLevel.NO, 0.1, f"the class between defines `{member}`")
        elif member in derived.members:
            yield Verdict(use, TouchLevel.TOUCHES, 0.3, f"`{member}`, which this class has, is abstract now")
        elif derived.is_abstract:
            yield Verdict(use, TouchLevel.MAY_BREAK, 0.5, f"`{member}` is abstract now")
        else:
            yield Verdict(use, TouchLevel.BREAKS, 0.9, f"must define `{member}`, which is abstract now")


def judge_added_member(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    """Judge the team's classes that have the name already, or whose constructor skips the one that sets it."""
    owner, _, member = change.name.rpartition(".")
    for use in index.list_uses(f"{owner}.__init__") if _is_set_by_methods(change) else ():
        if use.kind is UseKind.PATCH:
            yield Verdict(use, TouchLevel.MAY_BREAK, 0.5, f"this constructor does not set the new `{member}`")
    for derived in index.list_derived(owner):
        verdict = _judge_derived(change, derived, owner, member)
        if verdict:
            yield verdict


def _judge_derived(change: ContractChange, derived: DerivedClass, owner: str, member: str) -> Verdict | None:
    use = use_derived_class(derived, owner)
    if member in derived.members:
        return Verdict(use, TouchLevel.MAY_BREAK, 0.5, f"upstream now has its own `{member}`")
    if _is_set_by_methods(change) and not derived.calls_super_init:
        return Verdict(use, TouchLevel.MAY_BREAK, 0.5, f"its own constructor does not set the new `{member}`")
    return Verdict(use, TouchLevel.NO, 0.1, f"the base class has `{member}` now")


def _is_set_by_methods(change: ContractChange) -> bool:
    """Return whether objects have an attribute only once a method set it, as a constructor does."""
    return change.subject is ContractClass.ATTRIBUTE and (not change.after or change.after.startswith("self."))


Counts = tuple[int, ...]
# how likely another body concerns a use, by what the use does with it
_BEHAVIOUR = {
    UseKind.OVERRIDE: (TouchLevel.TOUCHES, 0.35, "{}, which this overrides, works differently"),
    UseKind.COPY: (TouchLevel.TOUCHES, 0.4, "{}, of which this is a copy, works differently"),
    UseKind.PATCH: (TouchLevel.TOUCHES, 0.45, "{}, which this replaces, works differently"),
    UseKind.INHERITED: (TouchLevel.NO, 0.12, "{} works differently"),
    UseKind.CALL: (TouchLevel.NO, 0.08, "{} works differently"),
}


def judge_behaviour(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    for use in index.list_uses(change.name):
        if lost := judge_lost_lines(change, use, contract):
            yield lost
        elif use.kind in _BEHAVIOUR:
            level, weight, reason = _BEHAVIOUR[use.kind]
            yield Verdict(use, level, weight, reason.format(quote_name(change)))


def judge_result(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    """Judge by how many values a call takes, or a function of the team gives; else by that they differ."""
    before, after = (each.results if each else () for each in (change.old_signature, change.new_signature))
    likely = list_possible_calls(change, contract, index)
    is_taken = any(shape.unpacked in after for shape in contract.calls.get(get_called_name(change), ()))
    for use in (*index.list_uses(change.name), *list_possible_calls(change, contract, index, is_likely=False)):
        if use.kind in _CALLS:
            is_sure = use.kind is not UseKind.POSSIBLE_CALL or use in likely
            yield _judge_given(quote_name(change), use, before, after, is_sure=is_sure)
        elif use.kind in {UseKind.OVERRIDE, UseKind.PATCH}:
            yield _judge_own_result(quote_name(change), use, before, after, is_sure=is_taken)


def _judge_given(name: str, use: Use, before: Counts, after: Counts, *, is_sure: bool) -> Verdict:
    """Judge a call by how many values it takes of those that it is given."""
    expected = use.call.unpacked if use.call else 0
    if not before or not any(after):
        level = TouchLevel.MAY_BREAK if use.kind is not UseKind.POSSIBLE_CALL else TouchLevel.NO
        return Verdict(use, level, 0.45, f"{name} returns something else")
    if after == (expected,):
        return Verdict(use, TouchLevel.NO, 0.1, f"{name} returns what this expects")
    reason = f"{name} returns {' or '.join(map(str, after))} values now"
    if before != (expected,):
        return Verdict(use, TouchLevel.TOUCHES if is_sure else TouchLevel.NO, 0.2, reason)
    if is_sure and expected not in after and 0 not in after:
        return Verdict(use, TouchLevel.BREAKS, 0.9, reason)
    return Verdict(use, TouchLevel.MAY_BREAK, 0.5, reason)


def _judge_own_result(name: str, use: Use, before: Counts, after: Counts, *, is_sure: bool) -> Verdict:
    """Judge a function of the team that upstream calls. ``is_sure``: it takes apart what it gets."""
    own = use.signature.results if use.signature else ()
    if len(after) == 1 and own == after:
        return Verdict(use, TouchLevel.NO, 0.1, f"this returns what {name} does")
    if len(after) == 1 and any(after) and own == before:
        level, weight = (TouchLevel.BREAKS, 0.85) if is_sure else (TouchLevel.MAY_BREAK, 0.5)
        return Verdict(use, level, weight, f"must return {after[0]} values")
    return Verdict(use, TouchLevel.MAY_BREAK, 0.5, f"upstream expects another result of {name}")


def judge_default(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    for use in index.list_uses(change.name):
        is_used = use.kind in {UseKind.CALL, UseKind.READ, UseKind.INHERITED}
        level, weight = (TouchLevel.TOUCHES, 0.2) if is_used else (TouchLevel.NO, 0.1)
        yield Verdict(use, level, weight, f"{quote_name(change)} {describe_default(change)}")


def judge_deprecation(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    for use in index.list_uses_within(change.name):
        yield Verdict(use, TouchLevel.TOUCHES, 0.25, f"{quote_name(change)} is deprecated")
