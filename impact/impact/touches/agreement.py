"""What two witnesses say of a merge: the rules, and a type checker that looked at the tree before and after it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from impact.checker.diagnostics import Finding, Place, Witness
from impact.contract.models import PYTHON_CLASSES, ChangeKind, ContractChange, ContractClass, MergeContract
from impact.profile.models import Use, UseKind
from impact.python.module_names import name_module
from impact.python.signatures import get_way
from impact.touches.call_rules import Verdict
from impact.touches.models import Touch, TouchLevel
from impact.touches.profile_index import ProfileIndex
from impact.touches.rules import qualify_verdict

# how certain both are together, and the checker alone
_BOTH, _CHECKER = 1.0, 0.9
# what a checker does not look at, or not closely: there the rules break alone. A replacement may stand in a string
_ONLY_RULES = frozenset({UseKind.PATCH, UseKind.NAMED, UseKind.COPY})
# of these a checker says that members are abstract, though a protocol may only declare them
_ABSTRACT = frozenset({"bad-instantiation", "implicit-abstract-class"})
# a name that is gone may still be there for a checker: from a base that it can't read, or after a `del`
_LOST = frozenset({ChangeKind.REMOVED, ChangeKind.RENAMED, ChangeKind.MOVED})
_SUBJECTS = {
    UseKind.IMPORT: (ContractClass.MODULE, ChangeKind.REMOVED),
    UseKind.READ: (ContractClass.ATTRIBUTE, ChangeKind.REMOVED),
    UseKind.SET: (ContractClass.ATTRIBUTE, ChangeKind.SIGNATURE),
    UseKind.SUBCLASS: (ContractClass.CLASS, ChangeKind.ABSTRACT_MEMBER),
    UseKind.OVERRIDE: (ContractClass.METHOD, ChangeKind.SIGNATURE),
}
_OTHER_SUBJECT = (ContractClass.FUNCTION, ChangeKind.SIGNATURE)


def leave_out_declared(witness: Witness, contract: MergeContract) -> Witness:
    """Return a witness without what lacks only members that a merge declares: nothing fails by that."""
    kinds = [(each.kind, each.name.rpartition(".")[2]) for each in (*contract.changes, *contract.unlisted)]
    declared = {name for kind, name in kinds if kind is ChangeKind.ADDED_MEMBER}
    declared -= {name for kind, name in kinds if kind is ChangeKind.ABSTRACT_MEMBER}
    left = [each for each in witness.findings if each.kind not in _ABSTRACT or not {*each.names[1:]} <= declared]
    return replace(witness, findings=tuple(left))


def weigh_touches(touches: Sequence[Touch], witness: Witness) -> Iterator[Touch]:
    """Yield the touches of the rules as both witnesses leave them: what both say breaks is certain.

    What the rules say alone may break, where the checker looked; but not for names that are gone, constructors,
    replacements, abstract members, results of overrides and another way of calling, of which it knows less.
    """
    by_line: dict[Place, list[Finding]] = defaultdict(list)
    for finding in witness.findings:
        for line in finding.lines:
            by_line[finding.use.path, line].append(finding)
    others = {use for touch in touches if touch.change.kind is not ChangeKind.DEPRECATED for use in touch.uses}
    for touch in touches:
        # nothing fails by a deprecation where something else changed
        apart = others if touch.change.kind is ChangeKind.DEPRECATED else ()
        failures = {use: [each for each in by_line[use.path, use.line] if _is_of(each, use)] for use in touch.uses}
        both = [use for use in touch.uses if failures[use] and not use.is_guarded and use not in apart]
        if not _is_weighed(touch.change):
            yield touch
        elif touch.level is TouchLevel.BREAKS:
            # where a name can't be imported, nothing is said of its calls: they are the same fact
            yield from [replace(touch, score=_BOTH)] if both else _doubt(touch, witness.paths)
        else:
            if both:
                reason = failures[both[0]][-1].message
                # what is set may be new to its object, unless that is a model or has slots
                is_open = touch.change.kind in _LOST and both[0].kind is UseKind.SET
                level = TouchLevel.MAY_BREAK if is_open else TouchLevel.BREAKS
                yield replace(touch, level=level, uses=tuple(both), score=_BOTH, reason=reason)
            if rest := tuple(use for use in touch.uses if use not in both):
                yield replace(touch, uses=rest)


def _is_of(finding: Finding, use: Use) -> bool:
    """Return whether a finding in the line of a use is about it: one line may import several names."""
    name = finding.use.name
    return finding.use.kind is not UseKind.IMPORT or not name or f"{use.name}.".startswith(f"{name}.")


def _doubt(touch: Touch, paths: Collection[str]) -> Iterator[Touch]:
    """Yield a touch of the rules alone: of uses that the checker looked at, and of others."""
    groups: dict[TouchLevel, list[Use]] = defaultdict(list)
    for use in touch.uses:
        is_doubtful = use.path in paths and _is_seen_by_checker(touch, use)
        groups[TouchLevel.MAY_BREAK if is_doubtful else touch.level].append(use)
    for level, uses in groups.items():
        yield replace(touch, level=level, uses=tuple(uses))


def _is_seen_by_checker(touch: Touch, use: Use) -> bool:
    is_theirs = touch.change.kind in _LOST or touch.change.name.endswith(".__init__")
    if is_theirs or _is_other_way(touch.change) or use.kind in _ONLY_RULES:
        return False
    return touch.change.kind is not ChangeKind.RETURN or use.kind is not UseKind.OVERRIDE


def list_doubts(touches: Iterable[Touch]) -> frozenset[Place]:
    """Return the places that the rules say break, and of which a checker would know better."""
    return frozenset(
        (use.path, use.line)
        for touch in touches
        if touch.level is TouchLevel.BREAKS and _is_weighed(touch.change)
        for use in touch.uses
        if _is_seen_by_checker(touch, use)
    )


def _is_weighed(change: ContractChange) -> bool:
    # of abstract members the rules know whether the class is abstract, too
    return change.subject in PYTHON_CLASSES and change.kind is not ChangeKind.ABSTRACT_MEMBER


def _is_other_way(change: ContractChange) -> bool:
    """Return whether something is called, awaited, read or set in another way, and not with other arguments."""
    if change.kind is not ChangeKind.SIGNATURE:
        return False
    sides = [
        (get_way(each), each.is_settable, each.is_static or each.is_class_method) if each else None
        for each in (change.old_signature, change.new_signature)
    ]
    return sides[0] != sides[1]


def list_alone(
    witness: Witness, touches: Iterable[Touch], contract: MergeContract, index: ProfileIndex
) -> Iterator[Touch]:
    """Yield what the checker alone says, with the change that it follows from; one for each effect."""
    # of thousands of merges it says nothing
    if not witness.findings:
        return
    covered: dict[Place, list[Use]] = defaultdict(list)
    for touch in touches:
        for use in touch.uses:
            covered[use.path, use.line].append(use)
    guarded = {(use.path, use.line) for use in index.profile.uses if use.is_guarded}
    groups: dict[tuple[TouchLevel, str], list[Verdict]] = defaultdict(list)
    changes: dict[str, ContractChange] = {}
    for finding in witness.findings:
        places = {(finding.use.path, line) for line in finding.lines}
        if any(_is_of(finding, use) for place in places for use in covered[place]):
            continue
        use = replace(finding.use, is_guarded=bool(places & guarded))
        change = changes.setdefault(finding.message, find_change(finding, contract))
        verdict = qualify_verdict(change, Verdict(use, TouchLevel.BREAKS, _CHECKER, finding.message))
        groups[verdict.level, verdict.reason].append(verdict)
    for (level, reason), verdicts in groups.items():
        uses = tuple(dict.fromkeys(each.use for each in verdicts))
        yield Touch(level, changes[reason], uses, reason, verdicts[0].weight)


def find_change(finding: Finding, contract: MergeContract) -> ContractChange:
    """Return the change of a merge that a finding follows from, or the file that it is most likely in."""
    python = [each for each in contract.changes if each.subject in PYTHON_CLASSES]
    name = finding.use.name
    ends = {each.rpartition(".")[2] for each in (*finding.names, name)} - {"__init__"}
    for is_same in (
        lambda change: name in (change.name, change.new_name),
        lambda change: change.name.removesuffix(".__init__").rpartition(".")[2] in ends,
    ):
        if change := next(filter(is_same, python), None):
            return change
    subject, kind = _SUBJECTS.get(finding.use.kind, _OTHER_SUBJECT)
    return ContractChange(subject, kind, name, "", "", _find_path(name, contract.files), 1)


def _find_path(name: str, paths: Sequence[str]) -> str:
    """Return the changed file that a name begins with, or else the first one of Python."""
    modules = {module[0]: path for path in paths if (module := name_module(path))}
    within = (module for module in modules if name == module or name.startswith(f"{module}."))
    return modules.get(max(within, key=len, default=""), next(iter(modules.values()), next(iter(paths), "")))
