"""Rules for what appears on a class that the team extends: abstract members, members and attributes."""

from __future__ import annotations

from collections.abc import Iterator

from impact.contract.models import ContractChange, ContractClass, MergeContract
from impact.profile.models import DerivedClass, UseKind
from impact.touches.models import TouchLevel
from impact.touches.profile_index import ProfileIndex
from impact.touches.rules.verdicts import Verdict, use_derived_class


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
