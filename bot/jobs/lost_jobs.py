"""Jobs that will not be done: whoever asked for one hears of it, by a job of its own."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from dramatiq import MessageProxy

from bot.container import Wiring
from bot.domain.operations.lost_job import LossReason, LostJob
from bot.jobs.performer import Job, asker_of
from bot.ports.versioned_json import VersionedJson
from bot.services.jobs.declaration import PAYLOAD_VERSION, JobQueue, find_part
from bot.services.jobs.job_types import END, QUESTIONS
from bot.services.jobs.payloads import LostJobPayload, PlacePayload

log = logging.getLogger(__name__)

_PLACE = VersionedJson(PlacePayload, PAYLOAD_VERSION)
_LOST = VersionedJson(LostJobPayload, PAYLOAD_VERSION)


def list_jobs(jobs: JobQueue) -> Iterable[Job[Any]]:
    """Return them; those who waited behind a job that is lost go on by another one on ``jobs``."""
    return (Job(END, partial(tell, jobs)),)


def report(jobs: JobQueue, message: MessageProxy, loss: LossReason) -> None:
    """Have it said that a job will not be done; later, for Slack may not take that now."""
    if message.actor_name == END.name:
        log.error("nobody could be told that a job was given up: %s", _lost_name(message.args))
        return
    lost = LostJob(message.message_id, message.actor_name, loss, datetime.now(UTC))
    is_talk = message.actor_name == QUESTIONS.name
    place = _place_of(message.args) if is_talk else ""
    jobs.send(END, LostJobPayload(lost, asker_of(message.args), place))


def tell(jobs: JobQueue, wiring: Wiring, payload: LostJobPayload) -> None:
    """Say that a job will not be done, and let those go on who waited behind it."""
    wiring.lost_jobs.tell(payload.job, payload.asker, payload.place)
    if payload.place:
        jobs.send(QUESTIONS, PlacePayload(payload.place))


def _place_of(arguments: Sequence[Any]) -> str:
    """Return the thread of questions, by the arguments of their job's message of either version."""
    if part := find_part(_PLACE, arguments):
        return part.place
    return arguments[0] if arguments and isinstance(arguments[0], str) else ""


def _lost_name(arguments: Sequence[Any]) -> str:
    """Return the name of the job that the message of an ``end`` is about; empty where it says none."""
    if part := find_part(_LOST, arguments):
        return part.job.name
    return str(arguments[1]) if len(arguments) > 1 else ""
