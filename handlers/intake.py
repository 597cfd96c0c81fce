"""Intake of requests from Slack: check the asker, enqueue the work, and only then answer Slack."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any

from slack_bolt import Ack
from slack_bolt import App as Bolt

from bot.app import App
from bot.errors import StoreUnavailable, UsageError
from bot.jobs.queues import send_private_notice
from bot.platform.correlation import identify_request
from bot.platform.slack.blocks import UNKNOWN_BUTTON, escape_mrkdwn, name_repeat_action
from bot.platform.slack.notices import describe_error, render_error
from bot.platform.slack.requests import SlackRequest
from bot.platform.store.keys import INITIAL_REPLY
from handlers.declaration import Commands, Payload, parse_action, parse_single_action
from impact.text.strings import truncate_text

log = logging.getLogger(__name__)

_MAX_REPLY_LENGTH = 600  # characters of a reply about a mistake, which may quote what somebody wrote


def handle_command(app: App, request: SlackRequest, accept: Callable[[], str | None]) -> str:
    """Return the reply to send at once, as mrkdwn; empty if the answer to come is enough.

    This is the result of ``accept``, which enqueues the work, or the reason why it failed. If Slack delivers a
    request again, the asker gets the same reply and the work is not enqueued again.
    """
    with identify_request(request.reference):
        try:
            reply = app.cache.get(INITIAL_REPLY.build_key(request.key))
            if reply is None:
                reply = app.access_control.explain_refusal(request) or accept() or ""
                _remember_reply(app, request, reply)
        except UsageError as error:
            return escape_mrkdwn(truncate_text(str(error), _MAX_REPLY_LENGTH))
        except StoreUnavailable as error:
            log.warning("not taken [%s]: %s", request.reference, error)
            return render_error(error, request.reference).text
        except Exception as error:
            log.exception("a defect [%s]", request.reference)
            return render_error(error, request.reference).text
        return reply


def handle_event(
    app: App, request: SlackRequest, accept: Callable[[], str | None], *, is_named: bool = True
) -> None:
    """Accept an event; a job sends the asker the result. Who did not name the bot is not told of exclusion.

    Raises StoreUnavailable if nothing was enqueued: Slack gets no acknowledgement and delivers it again.
    """
    with identify_request(request.reference):
        if not is_named and app.access_control.explain_early(request):
            return
        if app.cache.get(INITIAL_REPLY.build_key(request.key)) is not None:
            return
        refusal = app.access_control.explain_refusal(request)
        try:
            reply = refusal or accept() or ""
        except UsageError as error:
            reply = str(error)
        except StoreUnavailable:
            raise
        except Exception as error:
            log.exception("a defect [%s]", request.reference)
            reply = describe_error(error, request.reference)
        if reply:
            send_private_notice.send_to(app.jobs, request, reply)
        _remember_reply(app, request, reply)


def handle_posted_links(app: App, request: SlackRequest, accept: Callable[[], None]) -> None:
    """Accept links posted for others; posters are told nothing. Raises StoreUnavailable: Slack delivers again."""
    with identify_request(request.reference):
        if app.cache.get(INITIAL_REPLY.build_key(request.key)) is None:
            if app.access_control.may_post_links(request):
                accept()
            _remember_reply(app, request, "")


def _remember_reply(app: App, request: SlackRequest, reply: str) -> None:
    """Store the reply, so that a second delivery takes no work. Without it, its job finds the work done."""
    try:
        app.cache.put(INITIAL_REPLY.build_key(request.key), reply, INITIAL_REPLY.lifetime)
    except StoreUnavailable as error:
        log.warning("a request is not remembered [%s]: %s", request.reference, error)


# --- clicks on the buttons and menus below the bot's messages: each feature declares its own

# enqueues the work of a click, whose payload is not trusted; may raise UsageError and StoreUnavailable
ClickHandler = Callable[[App, SlackRequest, Payload], None]

_CLICKS: dict[str, ClickHandler] = {}


def on_click(*actions: str) -> Callable[[ClickHandler], ClickHandler]:
    """Declare what enqueues the work of a click on a button with one of these actions."""

    def declare(handle: ClickHandler) -> ClickHandler:
        _CLICKS.update(dict.fromkeys(actions, handle))
        return handle

    return declare


def register_clicks(bolt: Bolt, app: App, commands: Commands) -> None:
    def listen(
        action: str | re.Pattern[str],
        handle: ClickHandler,
        parse: Callable[[Payload], SlackRequest] = parse_action,
    ) -> None:
        @bolt.action(action)
        def handle_click(ack: Ack, body: dict[str, Any]) -> None:
            asker = parse(body)
            handle_event(app, asker, lambda: handle(app, asker, body))
            ack()

    for action, handle in _CLICKS.items():
        listen(action, handle)
    for command in [each for each in commands if each.share_action]:
        listen(command.share_action, command.share_again)
        listen(name_repeat_action(command.share_action), command.share_again, parse_single_action)
    # the last one: it gets what no other takes
    listen(re.compile(""), _refuse_unknown)


def _refuse_unknown(_app: App, _asker: SlackRequest, _click: Payload) -> None:
    raise UsageError(UNKNOWN_BUTTON)
