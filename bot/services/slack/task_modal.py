"""The modal behind "Task for an agent": opened at once, filled when the task is built."""

from __future__ import annotations

import logging
from typing import Any

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.errors import PrdigestError, SlackCallRefused, StoreUnavailable
from bot.domain.pull_requests.reference import Reference
from bot.ports import Views
from bot.render.summaries.sentences import WINDOW_TOO_LATE
from bot.render.touches.agent_task import render_agent_task
from bot.render.touches.task_view import render_preparing_view, render_task_error, render_task_view
from bot.services.operations import deadlines
from bot.services.slack.replies import ReplySender, log_refusal
from bot.services.touches.agent_tasks import AgentTasks

log = logging.getLogger(__name__)


class TaskModal:
    """Service that opens the modal. Its text is shown to the person who pressed the button, and sent nowhere."""

    def __init__(
        self, tasks: AgentTasks, views: Views, replies: ReplySender, repositories: AllowedRepositories
    ) -> None:
        self._tasks = tasks
        self._views = views
        self._replies = replies
        self._repositories = repositories

    def open_modal(self, slack_request: SlackRequest, profile: str, reference: Reference) -> None:
        """Open the modal at once, and fill it with the task. A repeated call fills the same modal.

        Raises:
            SlackUnavailable, StoreUnavailable: a retry may help.
        """
        first = render_preparing_view(reference)
        try:
            self._views.open_view(slack_request.trigger, slack_request.key, first)
        except SlackCallRefused as error:
            # an earlier attempt of this job may have opened it
            log.info("the window [%s] is not opened: %s", slack_request.reference, error)
            if not self._views.update_view(slack_request.key, first):
                self._replies.tell_asker(slack_request, WINDOW_TOO_LATE)
                return
        if not self._views.update_view(slack_request.key, self._build_view(slack_request, profile, reference)):
            log.info("the window [%s] was closed before it was filled", slack_request.reference)

    def _build_view(self, slack_request: SlackRequest, profile: str, reference: Reference) -> dict[str, Any]:
        """Return the view with the task, or with an error. Raises StoreUnavailable."""
        try:
            with deadlines.reserve_time(self._replies.response_times.reply_reserve):
                task = self._tasks.build_task(profile, reference, self._repositories)
                return render_task_view(render_agent_task(task))
        except StoreUnavailable:
            raise
        except PrdigestError as error:
            log_refusal(slack_request, error)
            return render_task_error(error, slack_request.reference)
        except Exception as error:
            log.exception("a defect [%s]", slack_request.reference)
            return render_task_error(error, slack_request.reference)
