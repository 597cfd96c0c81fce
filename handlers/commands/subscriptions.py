"""Regular digests: the verbs of ``/prdigest``, their buttons, the form, and App Home."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from slack_bolt import Ack
from slack_bolt import App as Bolt

from bot.app import App
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.conversations.slack_text import restore_bot_text
from bot.domain.errors import UsageError
from bot.domain.subscriptions.request import (
    ID_PATTERN,
    SubscriptionRequest,
    SubscriptionSelector,
    SubscriptionVerb,
)
from bot.jobs.subscription_jobs import change_subscription, open_form, open_home, show_preview
from bot.render.conversations.greetings import HelpExample
from bot.render.subscriptions import sentences, subscription_list
from bot.render.subscriptions.form import FILTER, FORM, ZONE, FormErrors, parse_form, suggest_zones
from handlers import requests
from handlers.declaration import SubCommand, VerbHandler
from handlers.intake import handle_command, handle_event

log = logging.getLogger(__name__)

TEST_VERB, SCHEDULE_VERB = "test", "schedule"
_USAGE = (
    "*Subscribe*: `/prdigest subscribe owner/repo at 09:00 tz Europe/Berlin weekdays path:vllm/v1 "
    "not-author:bots only:substantial`. Every word after `subscribe` is optional. `tz mine` uses your own "
    "time zone, and `me` sends the digest to you only. `/prdigest schedule` opens a form.\n*Manage "
    "subscriptions*: `/prdigest list`, `pause`, `resume`, `unsubscribe`. `test` shows you a preview without "
    "posting it."
)


def register_subscription_listeners(bolt: Bolt, app: App) -> None:
    """Register the listeners for App Home, the form and its pickers."""

    @bolt.event("app_home_opened")
    def handle_home(body: dict[str, Any], event: dict[str, Any]) -> None:
        if event.get("tab") == "home":
            asker = requests.parse_home_visit(body, event)
            handle_event(app, asker, lambda: open_home.send_to(app.jobs, asker), is_named=False)

    @bolt.view(FORM)
    def handle_submission(ack: Ack, body: dict[str, Any]) -> None:
        errors = _accept_form(app, body)
        if errors:
            ack(response_action="errors", errors=errors)
        else:
            ack()

    @bolt.options(ZONE)
    def handle_zones(ack: Ack, payload: dict[str, Any]) -> None:
        ack(options=suggest_zones(str(payload.get("value") or "")))


def _accept_form(app: App, body: dict[str, Any]) -> dict[str, str]:
    """Enqueue the change that a form asks for. Return the errors by field, none if it was enqueued."""
    asker = requests.parse_form(body)
    try:
        subscription, channel, replaces = parse_form(body["view"], app.repositories)
    except FormErrors as error:
        return error.errors
    except (KeyError, ValueError) as error:
        log.warning("a form that can't be read [%s]: %r", asker.reference, error)
        return {FILTER: sentences.FORM_OUTDATED}

    def accept() -> str:
        change_subscription.send_to(
            app.jobs, asker, SubscriptionVerb.SUBSCRIBE, subscription, channel=channel, replaces=replaces
        )
        return ""

    reply = handle_command(app, asker, accept)
    return {FILTER: restore_bot_text(reply)} if reply else {}


def _enqueue_subscription(app: App, asker: SlackRequest, text: str) -> str:
    """Enqueue a new subscription."""
    subscription = SubscriptionRequest.parse(text, app.repositories)
    change_subscription.send_to(app.jobs, asker, SubscriptionVerb.SUBSCRIBE, subscription)
    return ""


def _make_change_handler(verb: SubscriptionVerb) -> VerbHandler:
    """Return a handler that enqueues a change of subscriptions."""

    def accept(app: App, asker: SlackRequest, text: str) -> str:
        selector = SubscriptionSelector.parse(text, app.repositories)
        change_subscription.send_to(app.jobs, asker, verb, which=selector)
        return ""

    return accept


def _enqueue_list(app: App, asker: SlackRequest, text: str) -> str:
    """Enqueue the list of subscriptions. Raises UsageError if there is further text."""
    if text:
        raise UsageError(sentences.LIST_TAKES_NO_WORDS)
    change_subscription.send_to(app.jobs, asker, SubscriptionVerb.LIST)
    return ""


def _enqueue_preview(app: App, asker: SlackRequest, text: str) -> str:
    """Enqueue a preview of a digest: by an id, by a request, or of the channel's only one."""
    if ID_PATTERN.fullmatch(text.lower()):
        show_preview.send_to(app.jobs, asker, text.lower())
    else:
        wish = SubscriptionRequest.parse(text, app.repositories) if text else None
        show_preview.send_to(app.jobs, asker, wish=wish)
    return ""


def _enqueue_form(app: App, asker: SlackRequest, text: str) -> str:
    """Enqueue the form. Raises UsageError without a trigger, or for text that is not an id."""
    if not asker.trigger:
        raise UsageError(sentences.FORM_NEEDS_COMMAND)
    if text and not ID_PATTERN.fullmatch(text):
        raise UsageError(sentences.FORM_TAKES_NO_WORDS)
    open_form.send_to(app.jobs, asker, text)
    return ""


def _enqueue_new_form(app: App, asker: SlackRequest, _: str) -> str:
    """Enqueue an empty form."""
    return _enqueue_form(app, asker, "")


VERBS: Mapping[str, VerbHandler] = {
    SubscriptionVerb.SUBSCRIBE: _enqueue_subscription,
    SubscriptionVerb.UNSUBSCRIBE: _make_change_handler(SubscriptionVerb.UNSUBSCRIBE),
    SubscriptionVerb.PAUSE: _make_change_handler(SubscriptionVerb.PAUSE),
    SubscriptionVerb.RESUME: _make_change_handler(SubscriptionVerb.RESUME),
    SubscriptionVerb.LIST: _enqueue_list,
    TEST_VERB: _enqueue_preview,
    SCHEDULE_VERB: _enqueue_form,
}
SUB_COMMAND = SubCommand(
    usage=_USAGE,
    examples=(
        HelpExample(
            "subscribe at 09:00",
            "a digest every day; see also list, pause, resume, unsubscribe and test",
            "a digest every morning",
        ),
    ),
    verbs=VERBS,
    hint_verbs=(SubscriptionVerb.SUBSCRIBE, SubscriptionVerb.LIST),
    place=50,
)
# buttons do the same as verbs, with an id
BUTTONS: Mapping[str, VerbHandler] = {
    subscription_list.PAUSE: VERBS[SubscriptionVerb.PAUSE],
    subscription_list.RESUME: VERBS[SubscriptionVerb.RESUME],
    subscription_list.REMOVE: VERBS[SubscriptionVerb.UNSUBSCRIBE],
    subscription_list.PREVIEW: _enqueue_preview,
    subscription_list.CHANGE: _enqueue_form,
    subscription_list.NEW: _enqueue_new_form,
}
