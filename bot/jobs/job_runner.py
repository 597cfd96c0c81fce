"""Does one job: reads what it carries, has it paid by whoever asked, and tells them if their budget is used up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from bot.container.worker import WorkerServices
from bot.domain.conversations.commands import ParseContext
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.errors import UsageError
from bot.domain.operations.budget import PERSONAL_EXHAUSTED
from bot.ports.versioned_json import VersionedJson
from bot.services.jobs.declaration import PAYLOAD_VERSION, JobType, is_versioned, read_part
from bot.services.jobs.job_types import read_slack_request
from bot.services.jobs.payloads import AskerPayload
from bot.services.operations.billing import bill_to, name_payer

P = TypeVar("P")

# all that somebody asked for have this part
_ASKER_CODEC = VersionedJson(AskerPayload, PAYLOAD_VERSION)


@dataclass(frozen=True, slots=True)
class JobHandler(Generic[P]):
    """A kind of job and what is done for it."""

    type: JobType[P]
    run: Callable[[WorkerServices, P], None]


class JobRunner:
    """Does jobs with the services of a worker."""

    def __init__(self, services: WorkerServices) -> None:
        self._services = services

    def make_work(self, job: JobHandler[P]) -> Callable[..., None]:
        """Return the function that is run with the arguments of a job's message, by the name of its kind."""

        def work(*arguments: Any) -> None:
            self._run_billed(job, arguments)

        work.__name__ = job.type.name
        return work

    def _run_billed(self, job: JobHandler[P], arguments: Sequence[Any]) -> None:
        """The asker pays, or the bot. Who has no budget left is told, once a day."""
        asker = read_asker(arguments)
        with bill_to(name_payer(asker) if asker else "") as account:
            self._run_handler(job, arguments, asker)
        if asker and PERSONAL_EXHAUSTED in account.refusals:
            self._services.replies.report_spent_budget(asker, self._services.get_today())

    def _run_handler(self, job: JobHandler[P], arguments: Sequence[Any], asker: SlackRequest | None) -> None:
        context = ParseContext(self._services.repositories, self._services.get_today)
        try:
            job.run(self._services, job.type.decode(arguments, context))
        except UsageError as error:
            # what the settings allowed when it was enqueued, and no longer do
            if asker is None:
                raise
            self._services.replies.tell_asker(asker, str(error))


def read_asker(arguments: Sequence[Any]) -> SlackRequest | None:
    """Return who asked for a job, by the arguments of its message of either version; None where nobody did.

    The rest of the arguments may be unreadable: that a job will not be done is told all the same.
    """
    if is_versioned(arguments[:1]):
        part = read_part(_ASKER_CODEC, arguments)
        return part.asker if part else None
    try:
        return read_slack_request(arguments[0]) if arguments and isinstance(arguments[0], Mapping) else None
    except ValueError:
        return None
