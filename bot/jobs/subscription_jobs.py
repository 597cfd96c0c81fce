"""Jobs for requests about regular digests: by a verb, a button, the form or App Home."""

from __future__ import annotations

import logging

from bot.app import App
from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.domain.errors import PrdigestError, SlackUnavailable, StoreUnavailable, UsageError
from bot.domain.operations.lane import QueueName
from bot.domain.subscriptions.request import SubscriptionRequest, SubscriptionSelector, SubscriptionVerb
from bot.platform.jobs import LONG_RETRIES, job
from bot.platform.slack.answers import Answer
from bot.render.conversations.notices import describe_error
from bot.render.subscriptions import sentences

log = logging.getLogger(__name__)


@job("regular")
def change_subscription(
    app: App,
    asker: SlackRequest,
    verb: SubscriptionVerb,
    wish: SubscriptionRequest | None = None,
    which: SubscriptionSelector | None = None,
    channel: str = "",
    replaces: str = "",
) -> None:
    """Do what a verb asks for. A user in App Home sees the result there.

    ``wish`` is the requested subscription, ``which`` selects those that another verb is about. A form adds the
    channel that was selected, and the id of the subscription that it replaces.
    """

    def apply_change() -> Answer:
        subscription = wish and wish.require_known(app.repositories)
        selector = which and which.require_known(app.repositories)
        return app.subscription_commands.answer_command(asker, verb, subscription or selector, channel, replaces)

    if asker.channel:
        app.replies.give_answer(asker, "regular", Audience.HERE, apply_change)
        return
    try:
        note = apply_change().private.text
    except (SlackUnavailable, StoreUnavailable):
        raise
    except UsageError as error:
        note = str(error)
    except PrdigestError as error:
        log.warning("not done [%s]: %s", asker.reference, error)
        note = describe_error(error, asker.reference)
    app.home.show_home(asker.user, note)


@job("preview", QueueName.LONG, LONG_RETRIES)
def show_preview(app: App, asker: SlackRequest, name: str = "", wish: SubscriptionRequest | None = None) -> None:
    """Show a preview of the subscription of that name, of a requested one, or of the channel's only one."""

    def build_preview() -> Answer:
        subscription = wish and wish.require_known(app.repositories)
        return app.subscription_commands.preview_digest(asker, name, subscription)

    app.replies.give_answer(asker, "preview", Audience.ASKER, build_preview, sentences.PREVIEW_STARTED)


@job("form")
def open_form(app: App, asker: SlackRequest, name: str = "") -> None:
    """Open the form, for the subscription of that name or for a new one."""
    app.subscription_forms.open_form(asker, name)


@job("home")
def open_home(app: App, asker: SlackRequest) -> None:
    """Show App Home to a user who opens it."""
    app.home.open_home(asker)
