"""Rules for names that are gone or stand elsewhere: removed, moved, renamed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from impact.contract.breaking import describe_loss
from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract
from impact.profile.models import Use, UseKind
from impact.touches.models import TouchLevel
from impact.touches.profile_index import ProfileIndex
from impact.touches.rules.possible_calls import list_possible_calls
from impact.touches.rules.verdicts import Verdict, quote_name

_MEMBERS = frozenset({ContractClass.METHOD, ContractClass.ATTRIBUTE})
# a definition of the team's own that upstream no longer calls: nothing fails, and nothing works either
_OWN_DEFINITIONS = frozenset({UseKind.OVERRIDE, UseKind.COPY, UseKind.SET})
_CALLS = frozenset({UseKind.CALL, UseKind.INHERITED, UseKind.POSSIBLE_CALL})
# uses that fail if the name is not there; others only hold a value of that type
_NAMING_KINDS = frozenset({UseKind.IMPORT, UseKind.SUBCLASS, UseKind.NAMED, UseKind.PATCH})


def judge_lost_name(change: ContractChange, contract: MergeContract, index: ProfileIndex) -> Iterator[Verdict]:
    if change.subject in _MEMBERS:
        uses = (*index.list_uses(change.name), *list_possible_calls(change, contract, index))
        dead = _find_dead_code(change, uses)
        for use in uses:
            yield _judge_member(change, use, is_dead=(use.path, use.owner) in dead)
        return
    for use in index.list_uses_within(change.name):
        yield _judge_name(change, use)


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


def _find_dead_code(change: ContractChange, uses: Iterable[Use]) -> set[tuple[str, str]]:
    """Return the team's own versions of a method, by file and name, if nothing but they themselves calls it."""
    member = change.name.rpartition(".")[2]
    own = {(use.path, f"{use.owner}.{member}") for use in uses if use.kind is UseKind.OVERRIDE}
    others = (use for use in uses if use.kind in _CALLS and (use.path, use.owner) not in own)
    return set() if any(others) else own


def _judge_member(change: ContractChange, use: Use, *, is_dead: bool) -> Verdict:
    lost = f"{quote_name(change)} {describe_loss(change)}"
    if change.is_importable:
        return Verdict(use, TouchLevel.TOUCHES, 0.15, f"{lost}; the old name still works")
    if use.kind is UseKind.SET:
        return Verdict(use, TouchLevel.TOUCHES, 0.3, f"{lost}: nothing upstream reads it")
    if use.kind in _OWN_DEFINITIONS or is_dead:
        return Verdict(use, TouchLevel.MAY_BREAK, 0.6, f"{lost}: upstream no longer calls this")
    return Verdict(use, TouchLevel.BREAKS, 0.9, lost)
