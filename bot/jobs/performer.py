"""Does one job: reads what it carries, has it paid by whoever asked, and tells them if their budget is used up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from bot.container import Wiring
from bot.domain.conversations.commands import ParseContext
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.errors import UsageError
from bot.domain.operations.budget import PERSONAL_EXHAUSTED
from bot.ports.versioned_json import VersionedJson
from bot.services.jobs.declaration import PAYLOAD_VERSION, JobType, find_part, is_versioned
from bot.services.jobs.job_types import read_slack_request
from bot.services.jobs.payloads import AskerPayload
from bot.services.operations.payer import bill_to, name_payer

P = TypeVar("P")

# all that somebody asked for have this part
_ASKER = VersionedJson(AskerPayload, PAYLOAD_VERSION)


@dataclass(frozen=True, slots=True)
class Job(Generic[P]):
    """A kind of job and what is done for it."""

    type: JobType[P]
    run: Callable[[Wiring, P], None]


class Performer:
    """Does jobs with the services of a wiring."""

    def __init__(self, wiring: Wiring) -> None:
        self._wiring = wiring

    def work_of(self, job: Job[P]) -> Callable[..., None]:
        """Return the function that is run with the arguments of a job's message, by the name of its kind."""

        def work(*arguments: Any) -> None:
            self._perform(job, arguments)

        work.__name__ = job.type.name
        return work

    def _perform(self, job: Job[P], arguments: Sequence[Any]) -> None:
        """The asker pays, or the bot. Who has no budget left is told, once a day."""
        asker = asker_of(arguments)
        with bill_to(name_payer(asker) if asker else "") as account:
            self._run(job, arguments, asker)
        if asker and PERSONAL_EXHAUSTED in account.refusals:
            self._wiring.replies.tell_of_budget(asker, self._wiring.today())

    def _run(self, job: Job[P], arguments: Sequence[Any], asker: SlackRequest | None) -> None:
        context = ParseContext(self._wiring.repositories, self._wiring.today)
        try:
            job.run(self._wiring, job.type.decode(arguments, context))
        except UsageError as error:
            # what the settings allowed when it was enqueued, and no longer do
            if asker is None:
                raise
            self._wiring.replies.tell(asker, str(error))


def asker_of(arguments: Sequence[Any]) -> SlackRequest | None:
    """Return who asked for a job, by the arguments of its message of either version; None where nobody did.

    The rest of the arguments may be unreadable: that a job will not be done is told all the same.
    """
    if is_versioned(arguments[:1]):
        part = find_part(_ASKER, arguments)
        return part.asker if part else None
    try:
        return read_slack_request(arguments[0]) if arguments and isinstance(arguments[0], Mapping) else None
    except ValueError:
        return None
