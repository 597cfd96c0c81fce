"""Errors, each with one sentence for a person; and what becomes of the others, which are defects."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

log = logging.getLogger(__name__)

Arguments = ParamSpec("Arguments")
Item = TypeVar("Item")
Result = TypeVar("Result")
# why a file or a merge is not read, as a clause; the log says more
READING_FAILED = "reading it failed"


class ImpactError(Exception):
    """Base of all errors that end in one sentence for a person instead of a traceback."""


class UsageError(ImpactError):
    """An invalid input or setting. The message says what to enter instead."""


def attempt(
    name: str, read: Callable[Arguments, Result], *arguments: Arguments.args, **options: Arguments.kwargs
) -> Result | None:
    """Return what a reader makes of a text; None, with a traceback in the log, after a defect."""
    try:
        return read(*arguments, **options)
    except ImpactError:
        raise
    except Exception:
        log.exception("reading %s failed", ascii(name))
        return None


def attempt_all(
    read: Callable[[Sequence[Item]], Result], items: Sequence[Item], get_name: Callable[[Item], str]
) -> tuple[Result, list[Item]]:
    """Return what a reader makes of items together, without those that it can't read alone, and these.

    So a defect that one text meets costs that text. If none of them alone meets it, none is read. A reader has a
    result of no items.
    """
    result = attempt(f"{len(items):,} at once", read, items)
    if result is not None or not items:
        return read(()) if result is None else result, []
    failed = [item for item in items if attempt(get_name(item), read, (item,)) is None]
    kept = [item for item in items if not any(item is each for each in failed)] if failed else []
    result = attempt(f"the other {len(kept):,}", read, kept)
    return (read(()), list(items)) if result is None else (result, failed or list(items))
