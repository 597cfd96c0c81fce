"""Shortcuts: an entry in the menu of each message, and one beside the box to type in, which opens a form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from slack_bolt import Ack
from slack_bolt import App as Bolt

from bot.app import App
from bot.domain.conversations.commands import MAX_PULL_REQUESTS, SummaryRequest
from bot.domain.conversations.message_references import find_pull_requests
from bot.domain.conversations.slack_request import Audience
from bot.domain.conversations.slack_text import restore_bot_text
from bot.domain.errors import UsageError
from bot.domain.text.redaction import redact_text
from bot.features.summaries.service import open_reference_form
from bot.features.summaries.view import FORM, REFERENCE, format_left_out, format_none_named, read_reference_text
from handlers import requests, summaries
from handlers.intake import handle_command, handle_event


class ShortcutKind(StrEnum):
    """Where Slack shows a shortcut, by the word that the manifest has for it."""

    MESSAGE = "message"
    GLOBAL = "global"


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A shortcut, from which its entry in the manifest derives.

    Slack shows ``name``, of at most 24 characters, and sends ``callback_id``, which is never changed. ``accept``
    enqueues the work that a payload asks for, and may raise StoreUnavailable.
    """

    kind: ShortcutKind
    name: str
    callback_id: str
    description: str
    accept: Callable[[App, Mapping[str, Any]], None]


def _accept_message(app: App, body: Mapping[str, Any]) -> None:
    """Enqueue the summaries of the pull requests that a message names."""
    asker = requests.parse_message_shortcut(body)

    def accept() -> str:
        references = find_pull_requests(body["message"], app.repositories)
        if not references:
            raise UsageError(format_none_named(app.repositories.list_all()))
        request = SummaryRequest(references[:MAX_PULL_REQUESTS])
        summaries.COMMAND.enqueue(app, asker, request, Audience.CHANNEL)
        left_out = len(references) - len(request.references)
        return format_left_out(len(references), left_out) if left_out else ""

    handle_event(app, asker, accept)


def _accept_opening(app: App, body: Mapping[str, Any]) -> None:
    """Enqueue the form that asks for a pull request."""
    asker = requests.parse_action(body)
    handle_event(app, asker, lambda: open_reference_form.send_to(app.jobs, asker))


# "Explain the pull requests here" would be clearer, but Slack takes 24 characters
SHORTCUTS = (
    Shortcut(
        ShortcutKind.MESSAGE,
        "Explain pull requests",
        "explain_message",
        "Summarize the pull requests that this message names",
        _accept_message,
    ),
    Shortcut(
        ShortcutKind.GLOBAL,
        "Explain a pull request",
        "explain_pull_request",
        "Enter a number or a link, and get the summary as a direct message",
        _accept_opening,
    ),
)


def register_shortcuts(bolt: Bolt, app: App) -> None:
    """Register the listeners for shortcuts, and for the form that one of them opens."""

    def listen(shortcut: Shortcut) -> None:
        kind = "message_action" if shortcut.kind is ShortcutKind.MESSAGE else "shortcut"

        @bolt.shortcut({"type": kind, "callback_id": shortcut.callback_id})
        def use(ack: Ack, body: dict[str, Any]) -> None:
            shortcut.accept(app, body)
            ack()

    for each in SHORTCUTS:
        listen(each)

    @bolt.view(FORM)
    def handle_submission(ack: Ack, body: dict[str, Any]) -> None:
        asker, text = requests.parse_action(body), redact_text(read_reference_text(body["view"]).strip())
        error = handle_command(app, asker, lambda: summaries.COMMAND.accept_text(app, asker, text))
        if error:
            ack(response_action="errors", errors={REFERENCE: restore_bot_text(error)})
        else:
            ack()
