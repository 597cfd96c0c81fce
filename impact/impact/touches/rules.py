"""The rules that judge a pair of change and use, by what happened to the name and by who uses it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from impact.contract.breaking import describe_breakage, describe_default, describe_loss
from impact.contract.models import PYTHON_CLASSES, ChangeKind, ContractChange, ContractClass, MergeContract
from impact.contract.surfaces.comparison import WITHOUT_EFFECT
from impact.contract.surfaces.texts import is_dockerfile
from impact.profile.file_uses import is_test
from impact.profile.models import DerivedClass, Use, UseKind
from impact.touches.call_rules import (
    BREAKS,
    MAY_BREAK,
    NO,
    STOPS_SILENTLY,
    TOUCHES,
    Verdict,
    judge_call,
    judge_lost_lines,
    judge_signature,
    list_likely_calls,
    list_possible_calls,
    quote_name,
)
from impact.touches.models import TouchLevel
from impact.touches.profile_index import ProfileIndex, split_field

# how much less certain a pair is than its rule: a guard may catch the change, the type may be another one, and
# what fails in a test is seen there
_GUARD_FACTOR, _TEST_FACTOR = 0.5, 0.8
_READS = frozenset({UseKind.CALL, UseKind.INHERITED, UseKind.READ})
_CALLS = frozenset({UseKind.CALL, UseKind.INHERITED, UseKind.POSSIBLE_CALL})
# a definition of the team's own that upstream no longer calls: nothing fails, and nothing works either
_OWN_DEFINITIONS = frozenset({UseKind.OVERRIDE, UseKind.COPY})
# uses that fail if the name is not there; others only hold a value of that type
_NAMING_KINDS = frozenset({UseKind.IMPORT, UseKind.SUBCLASS, UseKind.NAMED, UseKind.PATCH})


def judge_change(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    """Yield the verdicts on the uses that a change concerns."""
    is_python = change.subject in PYTHON_CLASSES
    rule = _RULES.get(change.kind) if is_python else _judge_plain_name
    for verdict in rule(change, contract, index) if rule else ():
        yield qualify_verdict(change, verdict)


def qualify_verdict(change: ContractChange, verdict: Verdict) -> Verdict:
    """Return a verdict with what its use leaves open: a nearer class, a guard, or a test."""
    use, level, weight = verdict.use, verdict.level, verdict.weight
    # a nearer class defines the member that the use leads to
    nearest = use.definitions[0] if use.kind in _READS and change.name in use.definitions[1:] else ""
    if nearest and nearest.rpartition(".")[2] == change.name.rpartition(".")[2]:
        level = NO
    for is_doubtful in (change.is_doubtful, use.is_guarded):
        if is_doubtful:
            level, weight = min(level, MAY_BREAK), weight * _GUARD_FACTOR
    return replace(verdict, level=level, weight=weight * _TEST_FACTOR if use.is_test else weight)


# --- names that are gone or stand elsewhere


def _judge_lost_name(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    lost, last = f"{quote_name(change)} {describe_loss(change)}", change.name.rpartition(".")[2]
    if change.subject in {ContractClass.METHOD, ContractClass.ATTRIBUTE}:
        for use in (*index.list_uses(change.name), *list_likely_calls(change, contract, index)):
            yield _judge_member(change, use, lost)
        return
    for use in index.list_uses_within(change.name):
        yield _judge_name(change, use, lost)
    # upstream named a class in strings of its own, as registries do, and no longer does
    quoted = re.compile(rf"""["']{re.escape(last)}["']""")
    lines = contract.migrations.get(change.name, ()) if change.subject is ContractClass.CLASS else ()
    is_unregistered = any(quoted.search(each.before) and not quoted.search(each.after) for each in lines)
    for use in index.list_uses(last) if is_unregistered and not change.is_importable else ():
        yield Verdict(use, BREAKS, 0.8, lost)


def _judge_name(change: ContractChange, use: Use, lost: str) -> Verdict:
    if use.kind is UseKind.COPY:
        words = f"{quote_name(change)}, of which this is a copy, {describe_loss(change)}"
        return Verdict(use, TOUCHES, 0.2, words)
    if change.is_alias and use.kind is UseKind.PATCH and use.name == change.name:
        # others may still take it from there
        return Verdict(use, MAY_BREAK, 0.6, f"{lost}: your replacement is no longer called")
    if change.is_importable:
        return Verdict(use, TOUCHES, 0.15, f"{lost}; the old name still works")
    if use.name == change.name or use.name.startswith(f"{change.name}."):
        return Verdict(use, BREAKS, 0.95, lost)
    if change.kind is ChangeKind.MOVED or use.kind not in _NAMING_KINDS:
        return Verdict(use, TOUCHES, 0.1, f"{lost}, behind the name that is used here")
    return Verdict(use, BREAKS, 0.7, lost)


def _judge_member(change: ContractChange, use: Use, lost: str) -> Verdict:
    if change.is_importable:
        return Verdict(use, TOUCHES, 0.15, f"{lost}; the old name still works")
    if use.kind is UseKind.SET:
        return Verdict(use, TOUCHES, 0.3, f"{lost}: nothing upstream reads it")
    if use.kind in _OWN_DEFINITIONS:
        return Verdict(use, MAY_BREAK, 0.6, f"{lost}: upstream no longer calls this")
    return Verdict(use, BREAKS, 0.9, lost)


# --- members of bases


def _judge_abstract_member(
    change: ContractChange, contract: MergeContract, index: ProfileIndex
) -> Iterator[Verdict]:
    owner, _, member = change.name.rpartition(".")
    added = {each.name for each in contract.changes}
    for derived in index.list_derived(owner):
        use = _use_derived_class(derived, owner)
        nearer = derived.ancestors[: derived.ancestors.index(owner)]
        if any(f"{each}.{member}" in added for each in nearer):
            yield Verdict(use, NO, 0.1, f"the class between defines `{member}`")
        elif member in derived.members:
            yield Verdict(use, TOUCHES, 0.3, f"`{member}`, which this class has, is abstract now")
        elif derived.is_abstract:
            yield Verdict(use, MAY_BREAK, 0.5, f"`{member}` is abstract now")
        else:
            yield Verdict(use, BREAKS, 0.9, f"must define `{member}`, which is abstract now")


def _judge_added_member(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    """Judge the team's classes that have the name already, or whose constructor skips the one that sets it."""
    owner, _, member = change.name.rpartition(".")
    # objects have such an attribute only once a method set it, as a constructor does
    is_set_by_methods = change.subject is ContractClass.ATTRIBUTE and (change.after or "self.").startswith("self.")
    for use in index.list_uses(f"{owner}.__init__") if is_set_by_methods else ():
        if use.kind is UseKind.PATCH:
            yield Verdict(use, MAY_BREAK, 0.5, f"this constructor does not set the new `{member}`")
    for derived in index.list_derived(owner):
        use = _use_derived_class(derived, owner)
        if member in derived.members:
            yield Verdict(use, MAY_BREAK, 0.5, f"upstream now has its own `{member}`")
        elif is_set_by_methods and not derived.calls_super_init:
            yield Verdict(use, MAY_BREAK, 0.5, f"its own constructor does not set the new `{member}`")
        else:
            yield Verdict(use, NO, 0.1, f"the base class has `{member}` now")


def _use_derived_class(derived: DerivedClass, ancestor: str) -> Use:
    text = f"class {derived.name.rpartition('.')[2]}"
    use = Use(UseKind.SUBCLASS, ancestor, derived.path, derived.line, text, (ancestor,), owner=derived.name)
    return replace(use, is_test=is_test(derived.path))


# --- what changes behind a name

# how likely another body concerns a use, by what the use does with it
_BEHAVIOUR = {
    UseKind.OVERRIDE: (TOUCHES, 0.35, ", which this overrides,"),
    UseKind.COPY: (TOUCHES, 0.4, ", of which this is a copy,"),
    UseKind.PATCH: (TOUCHES, 0.45, ", which this replaces,"),
    UseKind.INHERITED: (NO, 0.12, ""),
    UseKind.CALL: (NO, 0.08, ""),
}


def _judge_behaviour(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    for use in index.list_uses(change.name):
        if lost := judge_lost_lines(change, use, contract):
            yield lost
        elif use.kind in _BEHAVIOUR:
            level, weight, relation = _BEHAVIOUR[use.kind]
            yield Verdict(use, level, weight, f"{quote_name(change)}{relation} works differently")


def _judge_result(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    """Judge by how many values a call takes, or a function of the team gives; else by that they differ."""
    before, after = (each.results if each else () for each in (change.old_signature, change.new_signature))
    likely = list_likely_calls(change, contract, index)
    # upstream takes apart what it gets
    is_taken = any(shape.unpacked in after for shape in contract.calls.get(change.called_name, ()))
    for use in (*index.list_uses(change.name), *list_possible_calls(change, index)):
        if use.kind in _CALLS:
            is_sure = use.kind is not UseKind.POSSIBLE_CALL or use in likely
            yield _judge_caller(quote_name(change), use, before, after, is_sure=is_sure)
        elif use.kind in {UseKind.OVERRIDE, UseKind.PATCH}:
            yield _judge_own_result(quote_name(change), use, before, after, is_sure=is_taken)


def _judge_caller(
    name: str, use: Use, before: tuple[int, ...], after: tuple[int, ...], *, is_sure: bool
) -> Verdict:
    """Judge a call by how many values it takes of those that it gets."""
    expected = use.call.unpacked if use.call else 0
    if not before or not any(after):
        level = MAY_BREAK if use.kind is not UseKind.POSSIBLE_CALL else NO
        return Verdict(use, level, 0.45, f"{name} returns something else")
    if after == (expected,):
        return Verdict(use, NO, 0.1, f"{name} returns what this expects")
    reason = f"{name} returns {' or '.join(map(str, after))} values now"
    if before != (expected,):
        return Verdict(use, TOUCHES if is_sure else NO, 0.2, reason)
    if is_sure and expected not in after and 0 not in after:
        return Verdict(use, BREAKS, 0.9, reason)
    return Verdict(use, MAY_BREAK, 0.5, reason)


def _judge_own_result(
    name: str, use: Use, before: tuple[int, ...], after: tuple[int, ...], *, is_sure: bool
) -> Verdict:
    """Judge a function of the team that upstream calls."""
    own = use.signature.results if use.signature else ()
    if len(after) == 1 and own == after:
        return Verdict(use, NO, 0.1, f"this returns what {name} does")
    if len(after) == 1 and any(after) and own == before:
        level, weight = (BREAKS, 0.85) if is_sure else (MAY_BREAK, 0.5)
        return Verdict(use, level, weight, f"must return {after[0]} values")
    return Verdict(use, MAY_BREAK, 0.5, f"upstream expects another result of {name}")


def _judge_default(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    for use in index.list_uses(change.name):
        level, weight = (TOUCHES, 0.2) if use.kind in _READS else (NO, 0.1)
        yield Verdict(use, level, weight, f"{quote_name(change)} {describe_default(change)}")


def _judge_deprecation(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    for use in index.list_uses_within(change.name):
        yield Verdict(use, TOUCHES, 0.25, f"{quote_name(change)} is deprecated")


_RULES: dict[ChangeKind, Callable[[ContractChange, MergeContract, ProfileIndex], Iterable[Verdict]]] = {
    ChangeKind.REMOVED: _judge_lost_name,
    ChangeKind.MOVED: _judge_lost_name,
    ChangeKind.RENAMED: _judge_lost_name,
    ChangeKind.SIGNATURE: judge_signature,
    ChangeKind.ABSTRACT_MEMBER: _judge_abstract_member,
    ChangeKind.ADDED_MEMBER: _judge_added_member,
    ChangeKind.BEHAVIOUR: _judge_behaviour,
    ChangeKind.RETURN: _judge_result,
    ChangeKind.DEFAULT: _judge_default,
    ChangeKind.DEPRECATED: _judge_deprecation,
}


# --- for deployers and clients: flags, variables, metrics, fields, ops, pins

# a field of the same name may be that of another class
_FIELD_FACTOR = 0.6


def _judge_plain_name(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    judged = _rate_plain_change(change, contract)
    if judged is None:
        return
    name, (level, weight, words) = quote_name(change), judged
    for use in index.list_plain_uses(change.name):
        if change.subject is ContractClass.DEPENDENCY and use.kind is not UseKind.PIN:
            continue
        if use.call and change.old_signature and change.new_signature:
            yield judge_call(name, use, change.old_signature, change.new_signature)
        elif level is STOPS_SILENTLY and f"envs.{change.name}" in use.text:
            # an attribute of upstream's module is not there
            yield Verdict(use, BREAKS, 0.85, f"{name} {describe_loss(change)}")
        else:
            yield Verdict(use, level, weight, f"{name} {words}")
    for use in index.list_field_uses(change.subject, change.name):
        doubt = f"{name} {words}; this may be another `{split_field(change.name)[1]}`"
        yield Verdict(use, min(level, MAY_BREAK), weight * _FIELD_FACTOR, doubt)


def _rate_plain_change(change: ContractChange, contract: MergeContract) -> tuple[TouchLevel, float, str] | None:
    match change.kind:
        case ChangeKind.REMOVED | ChangeKind.RENAMED | ChangeKind.MOVED:
            return _rate_loss(change, contract)
        case ChangeKind.DEPRECATED if change.after.endswith(WITHOUT_EFFECT):
            return STOPS_SILENTLY, 0.6, "no longer has an effect"
        case ChangeKind.DEPRECATED:
            return TOUCHES, 0.3, "is deprecated"
        case ChangeKind.DEFAULT:
            return TOUCHES, 0.25, describe_default(change)
        case ChangeKind.RETURN:
            return MAY_BREAK, 0.5, "returns something else"
        case ChangeKind.SIGNATURE:
            is_op = change.subject is ContractClass.OP
            effect = "has other parameters" if is_op else describe_breakage(change)
            return MAY_BREAK, 0.6, effect or "has another type"
    return None


def _rate_loss(change: ContractChange, contract: MergeContract) -> tuple[TouchLevel, float, str]:
    loss = describe_loss(change)
    if change.subject is ContractClass.DEPENDENCY or is_dockerfile(change.path):
        # it says how upstream builds itself, or what it needs, and nothing of what it takes
        return TOUCHES, 0.2, f"{loss} from upstream's own build"
    is_setting = change.subject is ContractClass.CONFIGURATION
    is_ignored = is_setting and split_field(change.name)[1] in contract.ignored
    if change.is_importable or (is_ignored and change.new_name):
        return TOUCHES, 0.3, f"{loss}; the old name still works"
    if is_ignored:
        return STOPS_SILENTLY, 0.8, f"{loss}; upstream still accepts it, and ignores it"
    # what nobody misses where it is set or asked for
    is_silent = change.subject in {ContractClass.ENVIRONMENT, ContractClass.METRIC}
    return STOPS_SILENTLY if is_silent else BREAKS, 0.85, loss
