"""Runner of single jobs: decodes the payload, bills the asker, and reports a spent budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

from bot.app import App
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.errors import UsageError
from bot.domain.operations.usage import BudgetRefusal
from bot.platform.costs import bill_to, name_payer
from bot.platform.jobs import JobType, read_argument

P = TypeVar("P")

# every job that somebody asked for has this part
_ASKER_ADAPTER = TypeAdapter(SlackRequest)


@dataclass(frozen=True, slots=True)
class JobHandler(Generic[P]):
    """A kind of job with the function that does it."""

    type: JobType[P]
    run: Callable[[App, P], None]


class JobRunner:
    """Runner of jobs in a worker."""

    def __init__(self, app: App) -> None:
        self._app = app

    def make_work(self, job: JobHandler[P]) -> Callable[..., None]:
        """Return the function for the messages of a kind of job. It has the name of the kind."""

        def work(*arguments: Any) -> None:
            self._run_billed(job, arguments)

        work.__name__ = job.type.name
        return work

    def _run_billed(self, job: JobHandler[P], arguments: Sequence[Any]) -> None:
        """Run a job at the cost of the asker or, without one, of the bot. Report a spent budget once a day."""
        asker = read_asker(arguments)
        with bill_to(name_payer(asker) if asker else "") as account:
            self._run_handler(job, arguments, asker)
        if asker and BudgetRefusal.PERSON_USED in account.refusals:
            self._app.replies.report_spent_budget(asker, self._app.get_today())

    def _run_handler(self, job: JobHandler[P], arguments: Sequence[Any], asker: SlackRequest | None) -> None:
        """Run a job, and send the asker the sentence of a UsageError. Without an asker it is raised."""
        try:
            job.run(self._app, job.type.decode(arguments))
        except UsageError as error:
            # the settings allowed it when it was enqueued, and no longer do
            if asker is None:
                raise
            self._app.replies.tell_asker(asker, str(error))


def read_asker(arguments: Sequence[Any]) -> SlackRequest | None:
    """Return the asker of a job from the arguments of its message; None if there is none.

    The rest may be unreadable: the asker of such a job is still told that it was given up.
    """
    return read_argument(arguments, "asker", _ASKER_ADAPTER)
