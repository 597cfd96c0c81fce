from __future__ import annotations

import json
from collections.abc import Iterable
from enum import StrEnum
from typing import TypeVar

from bot.errors import UsageError
from bot.platform.commands import AllowedRepositories, CommandRequest
from bot.platform.pulls.models import PullRequest, Reference
from bot.platform.slack.blocks import UNKNOWN_BUTTON, Block, Element, make_context, make_plain_text
from bot.platform.slack.messages import Post
from bot.platform.store.codecs import VersionedJson

R = TypeVar("R", bound=CommandRequest)

_VERSION = 2


VERSION_MARK = f"{_VERSION}|"


# Slack's limit for the value of a button, in characters
_MAX_VALUE_LENGTH = 2_000


class FeedbackVerdict(StrEnum):
    GOOD = "good"
    BAD = "bad"


def write_reference(reference: Reference) -> str:
    """Return the value for a pull request: ``2|octo/engine#35617``."""
    return f"{VERSION_MARK}{reference}"


def read_reference(value: str, repositories: AllowedRepositories) -> Reference:
    """Return the pull request of a value. Raises UsageError for none, or one of a repository not allowed."""
    return repositories.parse_pull_request(remove_mark(value))


def write_id(subscription: str) -> str:
    return f"{VERSION_MARK}{subscription}"


def read_id(value: str) -> str:
    """Return the id of a subscription; the value is not checked. Raises UsageError for another version."""
    return remove_mark(value)


def write_verdict(verdict: FeedbackVerdict) -> str:
    return f"{VERSION_MARK}{verdict}"


def read_verdict(value: str) -> FeedbackVerdict:
    """Return the rating of a value. Raises UsageError if the value is none."""
    try:
        return FeedbackVerdict(remove_mark(value))
    except ValueError as error:
        raise UsageError(UNKNOWN_BUTTON) from error


def write_request(request: CommandRequest) -> str:
    """Return the value for a request that is repeated for everybody, without its mark as private."""
    # if filters make it too long, it is the text of the command
    fields = {**VersionedJson(type(request), _VERSION).dump(request), "kind": request.kind}
    fields.pop("is_private", None)
    value = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return value if len(value) <= _MAX_VALUE_LENGTH else f"{VERSION_MARK}{request}"


def read_request(value: str, shapes: Iterable[type[R]]) -> R | str:
    """Return a request of one of ``shapes``, or the text of one as typed. Raises UsageError if it is neither."""
    if not value.startswith("{"):
        return remove_mark(value)
    try:
        fields = json.loads(value)
        shape = next(each for each in shapes if each.kind == fields["kind"])
        return VersionedJson(shape, _VERSION).load(fields)
    except (ValueError, TypeError, LookupError, StopIteration, RecursionError) as error:
        raise UsageError(UNKNOWN_BUTTON) from error


def remove_mark(value: str) -> str:
    """Return a value without the mark of its version. Raises UsageError for another version, or none."""
    if not value.startswith(VERSION_MARK):
        raise UsageError(UNKNOWN_BUTTON)
    return value.removeprefix(VERSION_MARK)


DETAILS = "details"
DETAILS_OF = "details_of"
ASK = "ask"
WATCH = "watch"
# one for each command, so that the listener knows which kinds of requests the value may hold
SHARE_SUMMARY = "share_summary"
SHARE_RISKS = "share_risks"
SHARE_DIGEST = "share_digest"


# Slack takes 100; their texts count against the limit of the message, and nobody reads further
_MAX_OPTIONS = 10
_MAX_LABEL_LENGTH = 75


def make_button(label: str, action: str, value: str) -> Element:
    text = make_plain_text(label, _MAX_LABEL_LENGTH)
    return {"type": "button", "action_id": action, "text": text, "value": value}


def make_details_button(pull: PullRequest) -> Element:
    return make_button("Details", DETAILS, _write_pull(pull))


def make_watch_button(reference: Reference) -> Element:
    return make_button("Watch", WATCH, write_reference(reference))


def make_details_menu(pulls: Iterable[PullRequest]) -> Element | None:
    options = [
        {"text": make_plain_text(f"#{pull.number} {pull.title}", _MAX_LABEL_LENGTH), "value": _write_pull(pull)}
        for pull in {pull.number: pull for pull in pulls}.values()
    ][:_MAX_OPTIONS]
    if not options:
        return None
    placeholder = make_plain_text("Details of …", _MAX_LABEL_LENGTH)
    return {"type": "static_select", "action_id": DETAILS_OF, "placeholder": placeholder, "options": options}


def _write_pull(pull: PullRequest) -> str:
    return write_reference(Reference(pull.repository, pull.number))


def make_ask_button() -> Element:
    return make_button("Ask about this", ASK, "thread")


def make_share_button(action: str, request: CommandRequest) -> Element:
    """Return the button that repeats a request for everybody; ``action`` is the one that the command declares."""
    return make_button("Share in channel", action, write_request(request))


def make_repeat_button(action: str, request: CommandRequest) -> Element:
    return make_button("Post it again", name_repeat_action(action), write_request(request))


def name_repeat_action(action: str) -> str:
    return f"{action}_again"


def add_buttons(post: Post, *elements: Element | None) -> Post:
    row: Block = {"type": "actions", "elements": [element for element in elements if element]}
    return Post(post.text, (*post.blocks, row))


def add_asker(post: Post, asker: str) -> Post:
    """Return the message with the name of the user who asked for it, which pings nobody; as it is without one."""
    return Post(post.text, (*post.blocks, make_context(f"Asked for by {asker}"))) if asker else post
