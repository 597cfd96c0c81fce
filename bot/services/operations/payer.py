"""For whom work is done, and so who pays for its model calls.

It belongs to a piece of work, not to a service, and travels with it as its deadline does
(:mod:`bot.services.operations.deadlines`): through every call, and into the threads of a crew.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from bot.domain.conversations.slack_request import Visit

# what somebody does on the command line: they bound it there, and no budget of Slack's does
OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Account:
    """Who pays: a person, ``OPERATOR``, or nobody, which is the bot. ``refusals`` are why calls were refused."""

    payer: str = ""
    refusals: set[str] = field(default_factory=set)


_ACCOUNT: ContextVar[Account | None] = ContextVar("account", default=None)


def get_account() -> Account:
    """That of the work at hand; the bot's own where nobody is named."""
    return _ACCOUNT.get() or Account()


def name_payer(visit: Visit) -> str:
    """The name of whoever visits."""
    return f"{visit.team}:{visit.user}"


@contextmanager
def bill_to(payer: str) -> Iterator[Account]:
    """Have the work of the block paid by somebody else than what it is part of."""
    made = Account(payer)
    token = _ACCOUNT.set(made)
    try:
        yield made
    finally:
        _ACCOUNT.reset(token)
