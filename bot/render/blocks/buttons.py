"""Buttons below messages; their values are written by :mod:`bot.render.blocks.button_values`."""

from __future__ import annotations

from collections.abc import Iterable

from bot.domain.conversations.commands import CommandRequest
from bot.domain.pull_requests.models import PullRequest
from bot.domain.pull_requests.reference import Reference
from bot.domain.touches.decisions import TouchVerdict
from bot.platform.slack.messages import Post
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


def make_button(label: str, action: str, value: str) -> Element:
    text = make_plain_text(label, _MAX_LABEL_LENGTH)
    return {"type": "button", "action_id": action, "text": text, "value": value}


def make_details_button(pull: PullRequest) -> Element:
    """Return the button that opens a window about one pull request."""
    return make_button("Details", DETAILS, _write_pull(pull))


def make_details_menu(pulls: Iterable[PullRequest]) -> Element | None:
    """Return a menu of pull requests, each of which opens a window; None without any."""
    options = [
        {
            "text": make_plain_text(f"#{pull.number} {pull.title}", _MAX_LABEL_LENGTH),
            "value": _write_pull(pull),
        }
        for pull in {pull.number: pull for pull in pulls}.values()
    ][:_MAX_OPTIONS]
    if not options:
        return None
    placeholder = make_plain_text("Details of …", _MAX_LABEL_LENGTH)
    return {"type": "static_select", "action_id": DETAILS_OF, "placeholder": placeholder, "options": options}


def _write_pull(pull: PullRequest) -> str:
    return write_reference(Reference(pull.repository, pull.number))


def make_ask_button() -> Element:
    """Return the button that explains how to ask about a message."""
    return make_button("Ask about this", ASK, "thread")


def make_share_button(action: str, request: CommandRequest) -> Element:
    """Return the button that repeats a request for everybody; ``action`` is the one that the command declares."""
    return make_button("Share in channel", action, write_request(request))


def make_repeat_button(action: str, request: CommandRequest) -> Element:
    """Return the button that posts again what a Share button with that ``action`` posted."""
    return make_button("Post it again", name_repeat_action(action), write_request(request))


def name_repeat_action(action: str) -> str:
    return f"{action}_again"


def add_buttons(post: Post, *elements: Element | None) -> Post:
    """Return the message with a row of buttons at its end."""
    row: Block = {"type": "actions", "elements": [element for element in elements if element]}
    return Post(post.text, (*post.blocks, row))


def add_asker(post: Post, asker: str) -> Post:
    """Return the message with the name of the user who asked for it, which pings nobody; as it is without one."""
    return Post(post.text, (*post.blocks, make_context(f"Asked for by {asker}"))) if asker else post
