"""Says of jobs that will not be done what became of them: to whoever asked, and to operators."""

from __future__ import annotations

import logging
from dataclasses import replace

from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.operations.incident import Incident, IncidentKind
from bot.domain.operations.lost_job import LossReason, LostJob
from bot.ports import LostJobStore
from bot.render.conversations.sentences import GAVE_UP, SET_ASIDE
from bot.services.questions.conversations import ConversationService
from bot.services.slack.replies import ReplySender
from bot.services.subscriptions.incidents import IncidentReporter

log = logging.getLogger(__name__)

_SENTENCES = {LossReason.FAILED: GAVE_UP, LossReason.ENDLESS: SET_ASIDE}
_REASONS = {
    LossReason.FAILED: "its last try failed too, the log of the worker says why",
    LossReason.ENDLESS: (
        "it began three times and never ended, so it is set aside; prdigest doctor lists it for a week"
    ),
}


class LostJobReporter:
    """Tells of them. An asker hears before operators do, and where a process dies here, nobody hears twice."""

    def __init__(
        self,
        replies: ReplySender,
        conversations: ConversationService,
        aside: LostJobStore,
        watchdog: IncidentReporter,
    ) -> None:
        self._replies = replies
        self._conversations = conversations
        self._aside = aside
        self._watchdog = watchdog

    def report_loss(self, job: LostJob, asker: SlackRequest | None, place: str = "") -> SlackRequest | None:
        """Say it to the asker, or to whoever is first of those with questions in ``place``.

        Return the request of whoever was told, if somebody was.

        Raises:
            SlackUnavailable, StoreUnavailable: saying it again goes on from there.
        """
        asked = self._notify_place(place, job) if place else self._notify_asker(asker, job)
        known = replace(job, user=asked.user, channel=asked.channel, reference=asked.reference) if asked else job
        log.error("%s is given up: %s", known.title, _REASONS[job.loss])
        if job.loss is LossReason.ENDLESS:
            self._aside.add(known)
        self._watchdog.report(
            Incident(
                f"job:{job.id}", IncidentKind.LOST, known.title, _REASONS[job.loss], job.at, None, known.channel
            )
        )
        return asked

    def _notify_place(self, place: str, job: LostJob) -> SlackRequest | None:
        question = self._conversations.abandon_question(place, _SENTENCES[job.loss])
        return question.visit if question else None

    def _notify_asker(self, asker: SlackRequest | None, job: LostJob) -> SlackRequest | None:
        if asker:
            self._replies.end_job(asker, job.id, f"{_SENTENCES[job.loss]} [{asker.reference}]")
        return asker
