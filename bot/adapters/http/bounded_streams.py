"""Generators over bounded calls, whose limits do not apply to their readers.

A generator that waits at its ``yield`` shares the context variables of its reader. One that waits within
:func:`bot.adapters.http.bounded_calls.bound_requests` would count the reader's own calls as its own, and could not
be closed by another thread, in which the variable was never set.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextvars import copy_context
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def run_in_own_context(
    make_generator: Callable[P, Generator[T, None, None]],
) -> Callable[P, Generator[T, None, None]]:
    """Run each step of a generator, and its end, in one context: a copy of the one in which it begins."""

    @wraps(make_generator)
    def run_steps(*args: P.args, **kwargs: P.kwargs) -> Generator[T, None, None]:
        context, steps = copy_context(), make_generator(*args, **kwargs)
        try:
            while True:
                try:
                    step = context.run(next, steps)
                except StopIteration:
                    return
                yield step
        finally:
            context.run(steps.close)

    return run_steps
