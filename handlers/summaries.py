"""``/prsummary 35617``: the summary of one pull request or of a few. Its shortcuts, and the button "Details".

A shortcut is an entry in the menu of each message, or one beside the box to type in, which opens a form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from slack_bolt import Ack
from slack_bolt import App as Bolt

from bot.app import App
from bot.errors import UsageError
from bot.features.merges.requests import MAX_PULL_REQUESTS, SummaryRequest
from bot.features.summaries.service import answer_summaries, open_reference_form, show_details
from bot.features.summaries.view import FORM, REFERENCE, format_left_out, format_none_named, read_reference_text
from bot.platform.commands import PRIVATE_WORD
from bot.platform.slack import blocks
from bot.platform.slack.blocks import read_reference
from bot.platform.slack.requests import Audience, SlackRequest, find_pull_requests, restore_bot_text
from bot.redaction import redact_text
from handlers import declaration
from handlers.declaration import Command, Payload, RequestEnqueuer, RequestWord, make_enqueuer, read_value
from handlers.intake import handle_command, handle_event, on_click

_REFERENCE = re.compile(r"(?:[\w.-]+/[\w.-]+)?#?\d{1,9}|https?://\S+/pull/\d+\S*")


def is_only_references(text: str) -> bool:
    """Return whether a text consists of pull requests alone, such as ``#35617, 35618 private``."""
    words = [word for word in re.split(r"[\s,]+", text) if word and word.lower() != PRIVATE_WORD]
    return bool(words) and all(map(_REFERENCE.fullmatch, words))


_ENQUEUE_SUMMARIES: RequestEnqueuer[SummaryRequest] = make_enqueuer(answer_summaries)
COMMAND = Command(
    name="/prsummary",
    description="Summarize pull requests",
    hint="35617 | owner/repo#35617 | private | help",
    trigger_words=("summary", "prsummary"),
    requests=(
        RequestWord(
            "a summary of a pull request, or of several",
            "35617 | #35617 | owner/repo#35617 | ADDRESS [private]",
            ("35617", "35617 35618 private"),
            f"Up to {MAX_PULL_REQUESTS} at a time. Everybody here sees the answer; `private` keeps it to "
            "yourself.",
            brief="a summary of that pull request",
            word="summary",
            request_types=(SummaryRequest,),
            parse=lambda text, context: SummaryRequest.parse(text, context.repositories),
            enqueue=_ENQUEUE_SUMMARIES,
        ),
    ),
    share_action=blocks.SHARE_SUMMARY,
    needs_text=True,
    is_bare_form=is_only_references,
)


@on_click(blocks.DETAILS, blocks.DETAILS_OF)
def _enqueue_details(app: App, asker: SlackRequest, click: Payload) -> None:
    show_details.send_to(app.jobs, asker, read_reference(read_value(click), app.repositories))


# --- shortcuts


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A shortcut, from which its entry in the manifest derives: of the ``kind`` "message" or "global".

    Slack shows ``name``, of at most 24 characters, and sends ``callback_id``, which is never changed. ``accept``
    enqueues the work that a payload asks for, and may raise StoreUnavailable.
    """

    kind: str
    name: str
    callback_id: str
    description: str
    accept: Callable[[App, Mapping[str, Any]], None]


def _accept_message(app: App, body: Mapping[str, Any]) -> None:
    asker = declaration.parse_message_shortcut(body)

    def accept() -> str:
        references = find_pull_requests(body["message"], app.repositories)
        if not references:
            raise UsageError(format_none_named(app.repositories.list_all()))
        request = SummaryRequest(references[:MAX_PULL_REQUESTS])
        _ENQUEUE_SUMMARIES(app, asker, request, Audience.CHANNEL)
        left_out = len(references) - len(request.references)
        return format_left_out(len(references), left_out) if left_out else ""

    handle_event(app, asker, accept)


def _accept_opening(app: App, body: Mapping[str, Any]) -> None:
    asker = declaration.parse_action(body)
    handle_event(app, asker, lambda: open_reference_form.send_to(app.jobs, asker))


# "Explain the pull requests here" would be clearer, but Slack takes 24 characters
SHORTCUTS = (
    Shortcut(
        "message",
        "Explain pull requests",
        "explain_message",
        "Summarize the pull requests that this message names",
        _accept_message,
    ),
    Shortcut(
        "global",
        "Explain a pull request",
        "explain_pull_request",
        "Enter a number or a link, and get the summary as a direct message",
        _accept_opening,
    ),
)


def register_shortcuts(bolt: Bolt, app: App) -> None:
    def listen(shortcut: Shortcut) -> None:
        kind = "message_action" if shortcut.kind == "message" else "shortcut"

        @bolt.shortcut({"type": kind, "callback_id": shortcut.callback_id})
        def use(ack: Ack, body: dict[str, Any]) -> None:
            shortcut.accept(app, body)
            ack()

    for each in SHORTCUTS:
        listen(each)

    @bolt.view(FORM)
    def handle_submission(ack: Ack, body: dict[str, Any]) -> None:
        asker, text = declaration.parse_action(body), redact_text(read_reference_text(body["view"]).strip())
        error = handle_command(app, asker, lambda: COMMAND.accept_text(app, asker, text))
        if error:
            ack(response_action="errors", errors={REFERENCE: restore_bot_text(error)})
        else:
            ack()
