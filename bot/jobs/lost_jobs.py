"""Jobs that are given up: a job of its own notifies their askers."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from dramatiq import MessageProxy

from bot.app import App
from bot.domain.operations.lost_job import LossReason, LostJob
from bot.jobs.job_runner import JobHandler, read_asker
from bot.platform.jobs import PAYLOAD_VERSION, JobQueue, read_part
from bot.ports.codecs.versioned_json import VersionedJson
from bot.services.jobs.job_types import ANSWER_QUESTIONS, REPORT_LOSS
from bot.services.jobs.payloads import LostJobPayload, ThreadPayload

log = logging.getLogger(__name__)

_PLACE_CODEC = VersionedJson(ThreadPayload, PAYLOAD_VERSION)
_LOST_JOB_CODEC = VersionedJson(LostJobPayload, PAYLOAD_VERSION)


def list_jobs(jobs: JobQueue) -> Iterable[JobHandler[Any]]:
    """List the job with its handler. People who waited behind a lost job continue with another one on ``jobs``."""
    return (JobHandler(REPORT_LOSS, partial(announce_loss, jobs)),)


def enqueue_loss_report(jobs: JobQueue, message: MessageProxy, loss: LossReason) -> None:
    """Enqueue the report that a job was given up. Slack may not accept it at this moment."""
    if message.actor_name == REPORT_LOSS.name:
        log.error("nobody could be told that a job was given up: %s", _read_lost_name(message.args))
        return
    lost = LostJob(message.message_id, message.actor_name, loss, datetime.now(UTC))
    is_talk = message.actor_name == ANSWER_QUESTIONS.name
    place = _read_place(message.args) if is_talk else ""
    jobs.send(REPORT_LOSS, LostJobPayload(lost, read_asker(message.args), place))


def announce_loss(jobs: JobQueue, app: App, payload: LostJobPayload) -> None:
    """Report that a job was given up, and continue with the questions that waited behind it."""
    app.lost_jobs.report_loss(payload.job, payload.asker, payload.place)
    if payload.place:
        jobs.send(ANSWER_QUESTIONS, ThreadPayload(payload.place))


def _read_place(arguments: Sequence[Any]) -> str:
    """Return the thread of questions from the arguments of their job's message, empty if they name none."""
    part = read_part(_PLACE_CODEC, arguments)
    return part.place if part else ""


def _read_lost_name(arguments: Sequence[Any]) -> str:
    """Return the name of the job that the message of a loss report is about, empty if it names none."""
    part = read_part(_LOST_JOB_CODEC, arguments)
    return part.job.name if part else ""
