"""Jobs that are given up: a job of its own notifies their askers, and operators."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import UTC, datetime

from dramatiq import MessageProxy

from bot.adapters.redis import RedisLostJobStore
from bot.app import App
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.operations.incident import Incident, IncidentKind
from bot.domain.operations.lost_job import LossReason, LostJob
from bot.features.questions.service import abandon_question, answer_questions
from bot.jobs.job_runner import read_asker
from bot.platform.jobs import MINUTE, JobQueue, JobRetries, job
from bot.render.conversations.sentences import GAVE_UP, SET_ASIDE

log = logging.getLogger(__name__)

# clauses about a job, for operators
_REASONS = {
    LossReason.FAILED: "the last try failed; the worker's log says why",
    LossReason.ENDLESS: "it crashed three times and is not run again; prdigest doctor lists it for a week",
}
_SENTENCES = {LossReason.FAILED: GAVE_UP, LossReason.ENDLESS: SET_ASIDE}


# Slack may be away for hours, and nothing else says to the asker that nothing comes: ten to twenty hours in all,
# less than the day for which it is known what was answered
@job("end", retries=JobRetries(70, longest_pause=20 * MINUTE))
def announce_loss(app: App, lost: LostJob, asker: SlackRequest | None = None, place: str = "") -> None:
    """Tell the asker that a job was given up, or who asked first in the thread ``place``, and then operators.

    A crash between the two leads to no second notice. The questions that wait behind it in the thread go on.
    """
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
        RedisLostJobStore(app.store, app.keyspace).add(lost)
    app.incidents.report(
        Incident(f"job:{lost.id}", IncidentKind.LOST, lost.title, reason, lost.at, None, lost.channel)
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
