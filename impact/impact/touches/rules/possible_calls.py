"""Calls on objects of unknown type: whether a changed method may be the one that they call."""

from __future__ import annotations

from collections.abc import Sequence

from impact.contract.models import ContractChange, ContractClass, MergeContract
from impact.profile.models import Use, UseKind
from impact.touches.profile_index import ProfileIndex

# a method that changes in the same way in so many classes of one merge is a protocol of upstream; the same method
# of a single class says nothing about other objects
_PROTOCOL_CLASSES = 2


def list_possible_calls(
    change: ContractChange, contract: MergeContract, index: ProfileIndex, *, is_likely: bool = True
) -> Sequence[Use]:
    """Return the calls on objects of unknown type that are likely of a changed method, or that may be of it."""
    if change.subject is not ContractClass.METHOD:
        return ()
    method = change.name.rpartition(".")[2]
    calls = [use for use in index.list_uses(method) if use.kind is UseKind.POSSIBLE_CALL]
    return calls if calls and (not is_likely or _is_protocol(method, change, contract)) else ()


def _is_protocol(method: str, change: ContractChange, contract: MergeContract) -> bool:
    owners = {
        each.name
        for each in contract.changes
        if each.kind is change.kind and each.subject is change.subject and each.name.endswith(f".{method}")
    }
    return len(owners) >= _PROTOCOL_CLASSES
