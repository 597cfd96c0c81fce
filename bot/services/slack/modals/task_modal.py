"""The modal behind "Task for an agent": opened at once, filled when the task is built."""

from __future__ import annotations

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.pull_requests.reference import Reference
from bot.ports import Views
from bot.render.touches.agent_task import render_agent_task
from bot.render.touches.task_view import render_preparing_view, render_task_error, render_task_view
from bot.services.slack.answers.replies import ReplySender
from bot.services.slack.modals.modal_presenter import ModalPresenter
from bot.services.touches.agent_tasks import AgentTasks


class TaskModal:
    """Service that opens the modal. Its text is shown to the person who pressed the button, and sent nowhere."""

    def __init__(
        self, tasks: AgentTasks, views: Views, replies: ReplySender, repositories: AllowedRepositories
    ) -> None:
        self._tasks = tasks
        self._modals = ModalPresenter(views, replies)
        self._repositories = repositories

    def open_modal(self, slack_request: SlackRequest, profile: str, reference: Reference) -> None:
        """Open the modal at once, and fill it with the task. A repeated call fills the same modal.

        Raises:
            SlackUnavailable, StoreUnavailable: a retry may help.
        """
        if self._modals.open_modal(slack_request, slack_request.trigger, render_preparing_view(reference)):
            self._modals.fill_modal(
                slack_request,
                lambda: render_task_view(
                    render_agent_task(self._tasks.build_task(profile, reference, self._repositories))
                ),
                lambda error: render_task_error(error, slack_request.reference),
            )
