"""Buttons below messages; their values are written by :mod:`bot.render.blocks.button_values`."""

from __future__ import annotations

from collections.abc import Iterable

from bot.domain.conversations.commands import CommandRequest
from bot.domain.pull_requests.models import PullRequest
from bot.domain.pull_requests.reference import Reference
from bot.domain.touches.decisions import TouchVerdict
from bot.ports import Post
from bot.render.blocks import sentences
from bot.render.blocks.button_values import write_reference, write_request
from bot.render.blocks.rich_text import Block, Element, make_context, make_plain_text

DETAILS = "details"
DETAILS_OF = "details_of"
ASK = "ask"
# one for each command, so that the listener knows which kinds of requests the value may hold
SHARE_SUMMARY = "share_summary"
SHARE_RISKS = "share_risks"
SHARE_DIGEST = "share_digest"
# one for each verdict: within a row of buttons, actions differ
HIT_VERDICTS = {verdict: f"hit_{verdict.name.lower()}" for verdict in TouchVerdict}
AGENT_TASK = "hit_task"

# Slack takes 100; their texts count against the limit of the message, and nobody reads further
_MAX_OPTIONS = 10
_MAX_LABEL_LENGTH = 75


def make_details_button(pull: PullRequest) -> Element:
    """Return the button that opens a window about one pull request."""
    return make_button(sentences.DETAILS_LABEL, DETAILS, _make_value(pull))


def make_details_menu(pulls: Iterable[PullRequest]) -> Element | None:
    """Return a menu of pull requests, each of which opens a window; None without any."""
    options = [_make_option(pull) for pull in {pull.number: pull for pull in pulls}.values()][:_MAX_OPTIONS]
    if not options:
        return None
    placeholder = make_plain_text(sentences.DETAILS_MENU_LABEL, _MAX_LABEL_LENGTH)
    return {"type": "static_select", "action_id": DETAILS_OF, "placeholder": placeholder, "options": options}


def make_ask_button() -> Element:
    """Return the button that explains how to ask about a message."""
    return make_button(sentences.ASK_LABEL, ASK, "thread")


def make_share_button(action: str, request: CommandRequest) -> Element:
    """Return the button that repeats a request for everybody; ``action`` is the one that the command declares."""
    return make_button(sentences.SHARE_LABEL, action, write_request(request))


def make_repeat_button(action: str, request: CommandRequest) -> Element:
    """Return the button that posts an answer again which the channel already has.

    ``action`` is the one of the command's Share button.
    """
    return make_button(sentences.REPEAT_LABEL, name_repeat_action(action), write_request(request))


def name_repeat_action(action: str) -> str:
    """Return the action of the button that posts again what the Share button with an ``action`` posts."""
    return f"{action}_again"


def add_buttons(post: Post, *elements: Element | None) -> Post:
    """Return the message with a row of buttons at its end."""
    row: Block = {"type": "actions", "elements": [element for element in elements if element]}
    return Post(post.text, (*post.blocks, row))


def add_asker(post: Post, asker: str) -> Post:
    """Return the message with the name of the user who asked for it, which pings nobody; as it is without one."""
    return Post(post.text, (*post.blocks, make_context(sentences.format_asker(asker)))) if asker else post


def _make_option(pull: PullRequest) -> Element:
    """Return the option of a pull request."""
    return {"text": make_plain_text(f"#{pull.number} {pull.title}", _MAX_LABEL_LENGTH), "value": _make_value(pull)}


def _make_value(pull: PullRequest) -> str:
    """Return the value for a pull request."""
    return write_reference(Reference(pull.repository, pull.number))


def make_button(label: str, action: str, value: str) -> Element:
    """Return a button with a label."""
    return {
        "type": "button",
        "action_id": action,
        "text": make_plain_text(label, _MAX_LABEL_LENGTH),
        "value": value,
    }
