"""Rows about Python names that a merge declares deprecated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from impact.contract.deadlines import read_deadline
from impact.contract.models import ChangeKind, ContractChange, ContractClass
from impact.contract.python.moves import Place
from impact.contract.python.rows import make_row
from impact.python.deprecations import Deprecation, list_deprecations
from impact.python.models import ModuleOutline

_GETATTR = "__getattr__"


@dataclass(frozen=True, slots=True)
class ModuleText:
    outline: ModuleOutline
    text: str


def list_deprecation_rows(before: Iterable[ModuleText], after: Iterable[ModuleText]) -> Iterator[ContractChange]:
    """Yield what is deprecated after a merge and was not before, also where it stood elsewhere."""
    known = {_get_key(each) for module in before for each in list_deprecations(module.text)}
    for module in after:
        for each in list_deprecations(module.text):
            if _get_key(each) not in known:
                known.add(_get_key(each))
                yield _make_row(module.outline, each)


def _get_key(deprecation: Deprecation) -> tuple[str, str]:
    return deprecation.name.rpartition(".")[2], deprecation.message


def _make_row(outline: ModuleOutline, deprecation: Deprecation) -> ContractChange:
    message, deadline = deprecation.message, read_deadline(deprecation.message)
    definition = outline.definitions.get(deprecation.name)
    if definition is None or deprecation.name == _GETATTR:
        return ContractChange(
            ContractClass.MODULE,
            ChangeKind.DEPRECATED,
            outline.module,
            before=outline.module,
            after=message,
            path=outline.module,
            line=deprecation.line,
            deadline=deadline,
        )
    row = make_row(ChangeKind.DEPRECATED, Place(outline, definition))
    return replace(row, before=row.after, after=message or row.after, line=deprecation.line, deadline=deadline)
