"""Reports of lost jobs to the user who requested them, and to operators."""

from __future__ import annotations

import logging
from dataclasses import replace

from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.operations.incident import Incident, IncidentKind
from bot.domain.operations.lost_job import LossReason, LostJob
from bot.ports import LostJobStore
from bot.render.conversations.sentences import GAVE_UP, SET_ASIDE
from bot.services.questions.conversations import ConversationService
from bot.services.slack.answers.replies import ReplySender
from bot.services.subscriptions.incidents import IncidentReporter

log = logging.getLogger(__name__)

# clauses about a job, for operators
_REASONS = {
    LossReason.FAILED: "the last try failed; the worker's log says why",
    LossReason.ENDLESS: "it crashed three times and is not run again; prdigest doctor lists it for a week",
}
_SENTENCES = {LossReason.FAILED: GAVE_UP, LossReason.ENDLESS: SET_ASIDE}


class LostJobReporter:
    """Reporter of lost jobs. The asker is notified before operators; a crash here leads to no second notice."""

    def __init__(
        self,
        replies: ReplySender,
        conversations: ConversationService,
        store: LostJobStore,
        incident_reporter: IncidentReporter,
    ) -> None:
        self._replies = replies
        self._conversations = conversations
        self._store = store
        self._incident_reporter = incident_reporter

    def report_loss(self, job: LostJob, asker: SlackRequest | None, place: str = "") -> SlackRequest | None:
        """Notify the asker, or the user of the first question waiting in the thread ``place``, and operators.

        Return the request of the notified user, None if there is none.

        Raises:
            SlackUnavailable, StoreUnavailable: another call continues from there.
        """
        request = self._notify_place(place, job) if place else self._notify_asker(asker, job)
        identified = (
            replace(job, user=request.user, channel=request.channel, reference=request.reference)
            if request
            else job
        )
        log.error("%s is given up: %s", identified.title, _REASONS[job.loss])
        if job.loss is LossReason.ENDLESS:
            self._store.add(identified)
        self._incident_reporter.report(
            Incident(
                f"job:{job.id}",
                IncidentKind.LOST,
                identified.title,
                _REASONS[job.loss],
                job.at,
                None,
                identified.channel,
            )
        )
        return request

    def _notify_place(self, place: str, job: LostJob) -> SlackRequest | None:
        question = self._conversations.abandon_question(place, _SENTENCES[job.loss])
        return question.visit if question else None

    def _notify_asker(self, asker: SlackRequest | None, job: LostJob) -> SlackRequest | None:
        if asker:
            self._replies.end_job(asker, job.id, f"{_SENTENCES[job.loss]} [{asker.reference}]")
        return asker
