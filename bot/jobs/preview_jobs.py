"""Jobs around previews of links. Those for cards have no asker: people posted links, and asked for nothing."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from bot.app import App
from bot.domain.conversations.requests.preview_request import PreviewAction
from bot.domain.conversations.slack_request import Audience
from bot.jobs.job_runner import JobHandler
from bot.services.jobs.declaration import JobQueue
from bot.services.jobs.job_types import CHECK_LINK_PREVIEWS, SHOW_LINK_PREVIEWS, SWITCH_LINK_PREVIEWS
from bot.services.jobs.payloads import LinksPayload, PreviewSwitchPayload


def list_jobs(jobs: JobQueue) -> Iterable[JobHandler[Any]]:
    """List the jobs with their handlers. What shows cards enqueues a later look at them on ``jobs``."""
    return (
        JobHandler(SWITCH_LINK_PREVIEWS, switch_previews),
        JobHandler(SHOW_LINK_PREVIEWS, partial(show_previews, jobs)),
        JobHandler(CHECK_LINK_PREVIEWS, check_previews),
    )


def switch_previews(app: App, payload: PreviewSwitchPayload) -> None:
    """Turn previews on or off, or say whether they are on."""
    # what changes for everybody in the conversation is said to everybody there
    audience = Audience.HERE if payload.action is PreviewAction.ASK else Audience.CHANNEL
    app.replies.give_answer(
        payload.asker,
        "previews",
        audience,
        lambda: app.preview_switcher.answer_command(payload.asker, payload.action),
    )


def show_previews(jobs: JobQueue, app: App, payload: LinksPayload) -> None:
    """Show cards below the links of a message."""
    app.previewer.show_previews(
        payload.place, payload.urls, lambda: jobs.send(CHECK_LINK_PREVIEWS, LinksPayload(payload.place))
    )


def check_previews(app: App, payload: LinksPayload) -> None:
    """Look whether another app shows a card there, too."""
    app.previewer.look_again(payload.place)
