"""Jobs that are given up: a job of its own notifies their askers."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from dramatiq import MessageProxy

from bot.app import App
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.operations.lost_job import LossReason, LostJob
from bot.jobs.asker_jobs import answer_questions
from bot.jobs.job_runner import read_asker
from bot.platform.jobs import MINUTE, JobQueue, JobRetries, job

log = logging.getLogger(__name__)


# Slack may be away for hours, and nothing else says to the asker that nothing comes: ten to twenty hours in all,
# less than the day for which it is known what was answered
@job("end", retries=JobRetries(70, longest_pause=20 * MINUTE))
def announce_loss(app: App, lost: LostJob, asker: SlackRequest | None = None, place: str = "") -> None:
    """Report that a job was given up, and continue with the questions that waited behind it in a thread."""
    app.lost_jobs.report_loss(lost, asker, place)
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
