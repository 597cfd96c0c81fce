"""Jobs for requests about regular digests: by a verb, a button, the form or App Home."""

from __future__ import annotations

import logging
from typing import Any

from bot.app import App
from bot.domain.conversations.slack_request import Audience
from bot.domain.errors import PrdigestError, SlackUnavailable, StoreUnavailable, UsageError
from bot.jobs.job_runner import JobHandler
from bot.render.conversations.notices import describe_error
from bot.render.subscriptions import sentences
from bot.services.jobs.job_types import CHANGE_SUBSCRIPTION, SHOW_FORM, SHOW_HOME, SHOW_PREVIEW
from bot.services.jobs.payloads import AskerPayload, FormPayload, PreviewPayload, SubscriptionPayload
from bot.services.slack.answers.answer import Answer

log = logging.getLogger(__name__)


def change_subscription(app: App, payload: SubscriptionPayload) -> None:
    """Do what a verb asks for. A user in App Home sees the result there."""
    if payload.asker.channel:
        app.replies.give_answer(payload.asker, "regular", Audience.HERE, lambda: _apply_change(app, payload))
    else:
        app.home.show_home(payload.asker.user, _describe_change(app, payload))


def _apply_change(app: App, payload: SubscriptionPayload) -> Answer:
    """Change subscriptions and return the answer. Raises PrdigestError."""
    repositories = app.repositories
    subscription = payload.wish and payload.wish.require_known(repositories)
    selector = payload.which and payload.which.require_known(repositories)
    commands = app.subscription_commands
    return commands.answer_command(
        payload.asker, payload.verb, subscription or selector, payload.channel, payload.replaces
    )


def _describe_change(app: App, payload: SubscriptionPayload) -> str:
    """Change subscriptions and return a note about the result. Raises SlackUnavailable or StoreUnavailable."""
    try:
        return _apply_change(app, payload).private.text
    except (SlackUnavailable, StoreUnavailable):
        raise
    except UsageError as error:
        return str(error)
    except PrdigestError as error:
        log.warning("not done [%s]: %s", payload.asker.reference, error)
        return describe_error(error, payload.asker.reference)


def show_preview(app: App, payload: PreviewPayload) -> None:
    """Show the asker a preview of a digest."""

    def build_preview() -> Answer:
        subscription = payload.wish and payload.wish.require_known(app.repositories)
        return app.subscription_commands.preview_digest(payload.asker, payload.id, subscription)

    app.replies.give_answer(payload.asker, "preview", Audience.ASKER, build_preview, sentences.PREVIEW_STARTED)


def open_form(app: App, payload: FormPayload) -> None:
    """Open the form."""
    app.subscription_forms.open_form(payload.asker, payload.id)


def open_home(app: App, payload: AskerPayload) -> None:
    """Show App Home to a user who opens it."""
    app.home.open_home(payload.asker)


SUBSCRIPTION_JOBS: tuple[JobHandler[Any], ...] = (
    JobHandler(CHANGE_SUBSCRIPTION, change_subscription),
    JobHandler(SHOW_PREVIEW, show_preview),
    JobHandler(SHOW_FORM, open_form),
    JobHandler(SHOW_HOME, open_home),
)
