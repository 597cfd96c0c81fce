"""The buttons below messages; what they carry is written by :mod:`bot.render.blocks.button_values`."""

from __future__ import annotations

from collections.abc import Iterable

from bot.domain.conversations.commands import CommandRequest
from bot.domain.pull_requests.models import PullRequest
from bot.domain.pull_requests.reference import Reference
from bot.ports import Post
from bot.render.blocks.button_values import write_reference, write_request
from bot.render.blocks.rich_text import Block, Element, make_context, make_plain_text

DETAILS = "details"
DETAILS_OF = "details_of"
ASK = "ask"
# one for each command, so that the listener knows which kinds of requests the value may hold
SHARE_SUMMARY = "share_summary"
SHARE_RISKS = "share_risks"
SHARE_DIGEST = "share_digest"

# Slack takes 100; their texts count against the limit of the message, and nobody reads further
_MAX_OPTIONS = 10
_MAX_LABEL_LENGTH = 75


def make_details_button(pull: PullRequest) -> Element:
    """Opens a window about one pull request."""
    return make_button("Details", DETAILS, _make_value(pull))


def make_details_menu(pulls: Iterable[PullRequest]) -> Element | None:
    """A menu of pull requests, each opens a window; None where there are none."""
    options = [_make_option(pull) for pull in {pull.number: pull for pull in pulls}.values()][:_MAX_OPTIONS]
    if not options:
        return None
    placeholder = make_plain_text("Details of …", _MAX_LABEL_LENGTH)
    return {"type": "static_select", "action_id": DETAILS_OF, "placeholder": placeholder, "options": options}


def make_ask_button() -> Element:
    """Says how to ask about a message."""
    return make_button("Ask about this", ASK, "thread")


def make_share_button(action: str, request: CommandRequest) -> Element:
    """Asks the same again for everybody; ``action`` is the one that the command declares."""
    return make_button("Share in channel", action, write_request(request))


def add_buttons(post: Post, *elements: Element | None) -> Post:
    """The message with a row of buttons at its end."""
    row: Block = {"type": "actions", "elements": [element for element in elements if element]}
    return Post(post.text, (*post.blocks, row))


def add_asker(post: Post, asker: str) -> Post:
    """The message with the name of the one who asked for it, which pings nobody; as it is without a name."""
    return Post(post.text, (*post.blocks, make_context(f"Asked for by {asker}"))) if asker else post


def _make_option(pull: PullRequest) -> Element:
    return {"text": make_plain_text(f"#{pull.number} {pull.title}", _MAX_LABEL_LENGTH), "value": _make_value(pull)}


def _make_value(pull: PullRequest) -> str:
    return write_reference(Reference(pull.repository, pull.number))


def make_button(label: str, action: str, value: str) -> Element:
    """A button of that label."""
    return {
        "type": "button",
        "action_id": action,
        "text": make_plain_text(label, _MAX_LABEL_LENGTH),
        "value": value,
    }
