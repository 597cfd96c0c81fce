"""Says of jobs that will not be done what became of them: to whoever asked, and to operators."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace

from bot.domain.conversations.slack_request import Visit
from bot.domain.operations.incident import Kind, Trouble
from bot.domain.operations.lost_job import Loss, LostJob
from bot.ports import Aside
from bot.render.conversations.notices import GAVE_UP, SET_ASIDE
from bot.services.questions.conversations import Conversations
from bot.services.slack.replies import Replies
from bot.services.subscriptions.incidents import Watchdog

log = logging.getLogger(__name__)

_SENTENCES = {Loss.FAILED: GAVE_UP, Loss.ENDLESS: SET_ASIDE}
_REASONS = {
    Loss.FAILED: "its last try failed too, the log of the worker says why",
    Loss.ENDLESS: "it began three times and never ended, so it is set aside; prdigest doctor lists it for a week",
}


class LostJobs:
    """Tells of them. An asker hears before operators do, and where a process dies here, nobody hears twice."""

    def __init__(self, replies: Replies, conversations: Conversations, aside: Aside, watchdog: Watchdog) -> None:
        self._replies = replies
        self._conversations = conversations
        self._aside = aside
        self._watchdog = watchdog

    def tell(self, job: LostJob, given: Mapping[str, str] | str) -> Visit | None:
        """Say it. ``given`` is the first thing that the job got: a visit, the place of questions, or another.

        Gives the visit of whoever asked, if somebody did.

        Raises:
            SlackUnavailable, StoreUnavailable: saying it again goes on from there.
        """
        asked = self._told(job, given)
        known = replace(job, user=asked.user, channel=asked.channel, reference=asked.reference) if asked else job
        log.error("%s is given up: %s", known.title, _REASONS[job.loss])
        if job.loss is Loss.ENDLESS:
            self._aside.add(known)
        self._watchdog.note(
            Trouble(f"job:{job.id}", Kind.LOST, known.title, _REASONS[job.loss], job.at, None, known.channel)
        )
        return asked

    def _told(self, job: LostJob, given: Mapping[str, str] | str) -> Visit | None:
        sentence = _SENTENCES[job.loss]
        if isinstance(given, str):
            question = self._conversations.give_up(given, sentence) if job.name == "questions" else None
            return question.visit if question else None
        asked = Visit(**given)
        self._replies.end(asked, job.id, f"{sentence} [{asked.reference}]")
        return asked
