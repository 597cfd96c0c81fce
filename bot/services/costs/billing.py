"""Who pays for the model calls of a piece of work.

The payer belongs to a piece of work, not to a service, and is passed on with it as its deadline is
(:mod:`bot.platform.deadlines`): through every call, and into the threads of an executor.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.keyspace.names import build_person_name
from bot.domain.operations.budget import BudgetRefusal

# work from the command line: its user limits it there, and the budgets for Slack do not apply
OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class BillingAccount:
    """The payer of model calls: a person, ``OPERATOR``, or an empty name for the bot itself.

    ``refusals`` are the reasons for which calls were refused.
    """

    payer: str = ""
    refusals: set[BudgetRefusal] = field(default_factory=set)


_CURRENT_ACCOUNT: ContextVar[BillingAccount | None] = ContextVar("account", default=None)


def get_account() -> BillingAccount:
    """Return the account of the current work; the bot's own if there is none."""
    return _CURRENT_ACCOUNT.get() or BillingAccount()


def name_payer(slack_request: SlackRequest) -> str:
    """Return the name under which a person's calls are counted."""
    return build_person_name(slack_request.team, slack_request.user)


@contextmanager
def bill_to(payer: str) -> Iterator[BillingAccount]:
    """Bill the model calls of the block to another payer than that of the work around it."""
    account = BillingAccount(payer)
    token = _CURRENT_ACCOUNT.set(account)
    try:
        yield account
    finally:
        _CURRENT_ACCOUNT.reset(token)
