"""What the doctor finds out about an installation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How a check ended."""

    OK = "ok"
    FAILED = "failed"
    NOTE = "note"
    """Nothing to mend: worth knowing, not in use here, or not checked."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What was checked and what was found. ``advice`` is one sentence on what to do; all that failed has it."""

    name: str
    status: Status
    found: str
    advice: str = ""

    @classmethod
    def ok(cls, name: str, found: str) -> Finding:
        return cls(name, Status.OK, found)

    @classmethod
    def failed(cls, name: str, found: str, advice: str) -> Finding:
        return cls(name, Status.FAILED, found, advice)

    @classmethod
    def note(cls, name: str, found: str, advice: str = "") -> Finding:
        return cls(name, Status.NOTE, found, advice)

    @classmethod
    def unchecked(cls, name: str, cause: str) -> Finding:
        """It could not be checked because something else failed, which has a finding of its own."""
        return cls(name, Status.NOTE, f"not checked: {cause}")
