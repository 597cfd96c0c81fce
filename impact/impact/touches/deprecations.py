from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from impact.contract.deprecations import Deprecation, DeprecationNews
from impact.contract.models import PYTHON_CLASSES
from impact.errors import attempt
from impact.profile.models import Use
from impact.touches.profile_index import ProfileIndex


@dataclass(frozen=True, slots=True)
class UsedDeprecation:
    """A deprecation and a profile's uses of it, by file and line; none if it doesn't concern the profile."""

    entry: Deprecation
    uses: tuple[Use, ...] = ()


@dataclass(frozen=True, slots=True)
class DeprecationStep:
    news: DeprecationNews
    used: UsedDeprecation


def find_uses(entries: Iterable[Deprecation], index: ProfileIndex) -> tuple[UsedDeprecation, ...]:
    """Return each deprecation with its uses, in the same order."""
    return tuple(UsedDeprecation(entry, attempt(entry.name, _list_uses, entry, index) or ()) for entry in entries)


def _list_uses(entry: Deprecation, index: ProfileIndex) -> tuple[Use, ...]:
    if entry.subject in PYTHON_CLASSES:
        uses = index.list_uses_within(entry.name)
    else:
        uses = index.list_plain_uses(entry.name) + index.list_field_uses(entry.subject, entry.name)
    return tuple(sorted((use for use in uses if not use.is_guess), key=lambda use: (use.path, use.line)))
