"""Regular digests: the verbs of ``/prdigest``, their buttons, the form, and App Home."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from slack_bolt import Ack
from slack_bolt import App as Bolt

from bot.app import App
from bot.errors import UsageError
from bot.features.home import change_from_home, open_home
from bot.features.subscriptions import view
from bot.features.subscriptions.rules import (
    ID_PATTERN,
    SubscriptionCommand,
    SubscriptionRequest,
    SubscriptionSelector,
    SubscriptionVerb,
)
from bot.features.subscriptions.service import change_subscription, open_form, parse_wish, show_preview
from bot.features.subscriptions.view import (
    FILTER,
    FORM,
    REPOSITORY,
    ZONE,
    FormErrors,
    parse_form,
    suggest_repositories,
    suggest_zones,
)
from bot.platform.slack.blocks import read_id
from bot.platform.slack.requests import SlackRequest, restore_bot_text
from handlers import declaration
from handlers.declaration import Payload, SubCommand, Verb, VerbHandler, read_action, read_value
from handlers.intake import handle_command, handle_event, on_click

log = logging.getLogger(__name__)


def register_subscription_listeners(bolt: Bolt, app: App) -> None:
    @bolt.event("app_home_opened")
    def handle_home(event: dict[str, Any]) -> None:
        if event.get("tab") == "home":
            asker = declaration.parse_home_visit(event)
            handle_event(app, asker, lambda: open_home.send_to(app.jobs, asker), is_named=False)

    @bolt.view(FORM)
    def handle_submission(ack: Ack, body: dict[str, Any]) -> None:
        if errors := _accept_form(app, body):
            ack(response_action="errors", errors=errors)
        else:
            ack()

    @bolt.options(ZONE)
    def handle_zones(ack: Ack, payload: dict[str, Any]) -> None:
        ack(options=suggest_zones(str(payload.get("value") or "")))

    @bolt.options(REPOSITORY)
    def handle_repositories(ack: Ack, payload: dict[str, Any]) -> None:
        ack(options=suggest_repositories(app.repositories.list_all(), str(payload.get("value") or "")))


def _accept_form(app: App, body: dict[str, Any]) -> dict[str, str]:
    """Enqueue the change that a form asks for. Return the errors by field, none if it was enqueued."""
    asker = declaration.parse_form(body)
    try:
        wish, channel, replaces = parse_form(body["view"], app.repositories)
    except FormErrors as error:
        return error.errors
    except (KeyError, ValueError) as error:
        log.warning("a form that can't be read [%s]: %r", asker.reference, error)
        return {FILTER: "This form is outdated: close it and open it again."}
    command = SubscriptionCommand(SubscriptionVerb.SUBSCRIBE, wish=wish, channel=channel, replaces=replaces)
    reply = handle_command(app, asker, lambda: _enqueue_command(app, asker, command))
    return {FILTER: restore_bot_text(reply)} if reply else {}


def _enqueue_command(app: App, asker: SlackRequest, command: SubscriptionCommand) -> None:
    # a user in App Home sees the result there
    job = change_subscription if asker.channel else change_from_home
    job.send_to(app.jobs, asker, command)


def _enqueue_subscription(app: App, asker: SlackRequest, text: str) -> None:
    wish = parse_wish(app, text)
    _enqueue_command(app, asker, SubscriptionCommand(SubscriptionVerb.SUBSCRIBE, wish=wish))


def _enqueue_pause(app: App, asker: SlackRequest, text: str) -> None:
    _enqueue_command(app, asker, SubscriptionCommand.parse_pause(text, app.repositories, app.get_today()))


def _enqueue_snooze(app: App, asker: SlackRequest, text: str) -> None:
    if "until" not in text.lower().split():
        raise UsageError("Until when? Add a day, such as until monday.")
    _enqueue_pause(app, asker, text)


def _make_change_handler(verb: SubscriptionVerb) -> VerbHandler:
    def accept(app: App, asker: SlackRequest, text: str) -> None:
        selector = SubscriptionSelector.parse(text, app.repositories)
        _enqueue_command(app, asker, SubscriptionCommand(verb, selector))

    return accept


def _enqueue_list(app: App, asker: SlackRequest, text: str) -> None:
    if text:
        raise UsageError("The list takes no options: it shows all subscriptions of this channel.")
    _enqueue_command(app, asker, SubscriptionCommand(SubscriptionVerb.LIST))


def _enqueue_preview(app: App, asker: SlackRequest, text: str) -> None:
    """Enqueue a preview of a digest: by an id or number, by a request, or of the channel's only one."""
    if ID_PATTERN.fullmatch(text.lower()):
        show_preview.send_to(app.jobs, asker, text.lower())
    else:
        wish = SubscriptionRequest.parse(text, app.repositories) if text else None
        show_preview.send_to(app.jobs, asker, wish=wish)


def _enqueue_form(app: App, asker: SlackRequest, text: str) -> None:
    """Enqueue the form. Raises UsageError without a trigger, or for text that is not an id."""
    if not asker.trigger:
        raise UsageError(
            "Slack opens a form only after a command: type /prdigest schedule, or write subscribe at 09:00."
        )
    if text and not ID_PATTERN.fullmatch(text):
        raise UsageError("Write schedule alone, or with a number from /prdigest list.")
    open_form.send_to(app.jobs, asker, text)


_enqueue_removal = _make_change_handler(SubscriptionVerb.UNSUBSCRIBE)
_enqueue_resumption = _make_change_handler(SubscriptionVerb.RESUME)
_WHICH = "`/prdigest list` shows the numbers; without one, the only subscription here is meant."
_VERBS: Mapping[str, Verb] = {
    SubscriptionVerb.SUBSCRIBE: Verb(
        "a digest here every day, or once a week",
        "subscribe [owner/repo] [at 09:00] [tz Europe/Berlin | tz mine] "
        "[daily | weekdays | weekly monday] [me] "
        "[path:… author:… label:… not-author:…] [only:breaking | only:risky | only:substantial | only:pending] "
        "[profile:NAME] [open | no-open] [previews]",
        ("subscribe at 09:00", "subscribe me weekly monday 08:30 tz mine path:vllm/v1"),
        "A weekly digest is about the last seven days. With `open`, its profile's open pull requests come, too. "
        "`tz mine` uses your own time zone, and `me` sends the digest to you only. `/prdigest schedule` "
        "opens a form.",
        brief="a digest every morning",
        enqueue=_enqueue_subscription,
    ),
    SubscriptionVerb.LIST: Verb(
        "the subscriptions here, with buttons",
        "list",
        ("list",),
        enqueue=_enqueue_list,
    ),
    SubscriptionVerb.UNSUBSCRIBE: Verb(
        "end a subscription; posted digests stay",
        "unsubscribe [NUMBER | owner/repo | all]",
        ("unsubscribe", "unsubscribe all"),
        _WHICH,
        enqueue=_enqueue_removal,
        is_listed=False,
    ),
    SubscriptionVerb.PAUSE: Verb(
        "stop a subscription until you resume it",
        "pause [NUMBER | owner/repo | all]",
        ("pause", "pause all"),
        _WHICH,
        enqueue=_enqueue_pause,
        is_listed=False,
    ),
    SubscriptionVerb.SNOOZE: Verb(
        "no digest before a day, such as the end of your vacation",
        "snooze [NUMBER | owner/repo | all] until DAY",
        ("snooze until monday", "snooze all until 2w"),
        f"`2w` is in two weeks. `/prdigest resume` ends it sooner. {_WHICH}",
        enqueue=_enqueue_snooze,
        is_listed=False,
    ),
    SubscriptionVerb.RESUME: Verb(
        "continue what is paused or snoozed, with its next digest",
        "resume [NUMBER | owner/repo | all]",
        ("resume", "resume all"),
        f"Missed digests are not posted. {_WHICH}",
        enqueue=_enqueue_resumption,
        is_listed=False,
    ),
    "test": Verb(
        "a preview of the digest up to yesterday, visible only to you",
        "test [NUMBER | options of subscribe]",
        ("test", "test path:vllm/v1 only:risky"),
        enqueue=_enqueue_preview,
        is_listed=False,
    ),
    "schedule": Verb(
        "a form for a subscription",
        "schedule [NUMBER]",
        ("schedule", "schedule 2"),
        "With a number from `/prdigest list`, it changes that one.",
        enqueue=_enqueue_form,
        is_listed=False,
    ),
}
SUB_COMMAND = SubCommand(verbs=_VERBS, place=50)
# buttons do the same as verbs, with an id
_BUTTONS: Mapping[str, VerbHandler] = {
    view.PAUSE: _enqueue_pause,
    view.RESUME: _enqueue_resumption,
    view.REMOVE: _enqueue_removal,
    view.PREVIEW: _enqueue_preview,
    view.CHANGE: _enqueue_form,
}


@on_click(*_BUTTONS)
def _handle_button(app: App, asker: SlackRequest, click: Payload) -> None:
    _BUTTONS[read_action(click)](app, asker, read_id(read_value(click)))
    if read_action(click) == view.PREVIEW and not asker.channel:
        open_home.send_to(app.jobs, asker, "I'm sending you the preview as a direct message.")


@on_click(view.NEW)
def _enqueue_new_form(app: App, asker: SlackRequest, click: Payload) -> None:
    read_id(read_value(click))
    _enqueue_form(app, asker, "")
