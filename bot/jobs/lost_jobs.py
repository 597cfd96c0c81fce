"""Jobs that are given up: a job of its own notifies their askers, and operators."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import cast

from dramatiq import MessageProxy
from pydantic import TypeAdapter
from redis import Redis

from bot.app import App
from bot.features.questions.service import abandon_question, answer_questions
from bot.features.subscriptions.incidents import Incident, IncidentKind, report_incident
from bot.platform.dramatiq.retries import LossReason, LostJob
from bot.platform.jobs import MINUTE, JobQueue, JobRetries, job, read_asker
from bot.platform.slack.notices import GAVE_UP, SET_ASIDE
from bot.platform.slack.requests import SlackRequest
from bot.platform.store.codecs import load_or_none
from bot.platform.store.errors import translate_redis_errors
from bot.platform.store.keys import DEAD_JOBS
from bot.platform.store.keyspace import UNPREFIXED, Keyspace

log = logging.getLogger(__name__)

# as long as Dramatiq keeps their messages; for who reads what the doctor lists
_MAX_JOBS = 50
_JOB_ADAPTER = TypeAdapter(LostJob)

# clauses about a job, for operators, and what its asker reads
_REASONS = {
    LossReason.FAILED: "the last try failed; the worker's log says why",
    LossReason.ENDLESS: "it crashed three times and is not run again; prdigest doctor lists it for a week",
}
_SENTENCES = {LossReason.FAILED: GAVE_UP, LossReason.ENDLESS: SET_ASIDE}


# Slack may be away for hours, and nothing else says to the asker that nothing comes: ten to twenty hours in all,
# less than the day for which it is known what was answered
@job("end", retries=JobRetries(70, longest_pause=20 * MINUTE))
def announce_loss(app: App, lost: LostJob, asker: SlackRequest | None = None, place: str = "") -> None:
    """Tell the asker, once, that a job was given up, or who asked first in the thread, and then operators."""
    sentence, reason = _SENTENCES[lost.loss], _REASONS[lost.loss]
    if place:
        question = abandon_question(app, place, sentence)
        asker = question.visit if question else None
    elif asker:
        app.replies.end_job(asker, lost.id, f"{sentence} [{asker.reference}]")
    if asker:
        lost = replace(lost, user=asker.user, channel=asker.channel, reference=asker.reference)
    log.error("%s is given up: %s", lost.title, reason)
    if lost.loss is LossReason.ENDLESS:
        LostJobs(app.store, app.keyspace).add(lost)
    report_incident(
        app, Incident(f"job:{lost.id}", IncidentKind.LOST, lost.title, reason, lost.at, None, lost.channel)
    )
    if place:
        answer_questions.send_to(app.jobs, place)


def enqueue_loss_report(jobs: JobQueue, message: MessageProxy, loss: LossReason) -> None:
    """Enqueue the report that a job was given up. Slack may not accept it at this moment."""
    if message.actor_name == announce_loss.name:
        lost = announce_loss.read_argument(message.args, "lost")
        log.error("nobody could be told that a job was given up: %s", lost.name if lost else "")
        return
    lost = LostJob(message.message_id, message.actor_name, loss, datetime.now(UTC))
    is_talk = message.actor_name == answer_questions.name
    place = answer_questions.read_argument(message.args, "place") if is_talk else None
    announce_loss.send_to(jobs, lost, read_asker(message.args), place or "")


class LostJobs:
    """Jobs that were given up: the last 50, for a week, as a sorted set by time."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._key = keys.add_prefix(DEAD_JOBS.build_key())

    def add(self, job: LostJob) -> None:
        """Keep a job. Adding the same job again changes nothing."""
        with translate_redis_errors(), self._client.pipeline() as pipeline:
            pipeline.zadd(self._key, {_JOB_ADAPTER.dump_json(job).decode(): job.at.timestamp()})
            pipeline.zremrangebyrank(self._key, 0, -_MAX_JOBS - 1)
            pipeline.expire(self._key, DEAD_JOBS.lifetime)
            pipeline.execute()

    def list_recent(self, now: datetime) -> Sequence[LostJob]:
        with translate_redis_errors():
            lines = cast("list[bytes]", self._client.zrange(self._key, 0, -1, desc=True))
        jobs = (load_or_none(_JOB_ADAPTER, line.decode(errors="replace")) for line in lines)
        return tuple(job for job in jobs if job and job.at > now - DEAD_JOBS.lifetime)
