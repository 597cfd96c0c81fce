"""Tables of many short cases in one test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import update_wrapper
from inspect import Signature
from itertools import product
from typing import Any


def check_rows(
    rows: Mapping[str, Any] | Iterable[Any], *more: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Make one test of a check that takes the values of a row, for a test each costs more than most of them do.

    Args: rows: a tuple of values, or the only value, for each row: by its name, or in a list of rows without.
    more: lists of further values, each of which is combined with each row. Raises AssertionError: rows failed;
    they are named with what their checks said.
    """
    named = (
        rows.items()
        if isinstance(rows, Mapping)
        else [(row if isinstance(row, str) else repr(row), row) for row in rows]
    )

    def decorate(check: Callable[..., None]) -> Callable[[], None]:
        def whole() -> None:
            failures = []
            for (name, row), *others in product(named, *more):
                try:
                    check(*(row if isinstance(row, tuple) else (row,)), *others)
                except Exception as error:
                    failures.append(f"{[name, *others]}: {type(error).__name__}: {error}")
            assert not failures, "\n\n".join(failures)

        update_wrapper(whole, check)
        # the values of a row are no fixtures
        whole.__signature__ = Signature()  # type: ignore[attr-defined]
        return whole

    return decorate
