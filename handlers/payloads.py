"""What requests from Slack have, checked before anything is made of them.

They are signed, so whoever sends another has the secret, or Slack has changed: neither is worth a traceback.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.domain.text.strings import collapse_lines, truncate_text
from bot.render.subscriptions.form import FORM
from bot.render.subscriptions.form_context import read_form_context

# what Bolt and the listeners raise on something that is built otherwise than they rely on
UNREADABLE = (ValueError, TypeError, AttributeError, LookupError, RecursionError)
_LONGEST = 200  # characters of what is wrong, in the log

_Id = Annotated[str, Field(min_length=1)]
_Ts = Annotated[str, Field(pattern=r"^\d{1,16}\.\d{1,9}$")]
_Object = dict[str, Any]
_OneOf = _Object | str | None


class BadPayload(Exception):
    """A request that is none of Slack's; says what is wrong with it on one line."""


class _Part(BaseModel):
    """Part of a request. What is not named may be there, and is not looked at."""

    model_config = ConfigDict(strict=True, frozen=True)


class _Any(_Part):
    """What Bolt looks into, whatever the request is."""

    type: _Id | None = None
    team: _OneOf = None
    enterprise: _OneOf = None
    user: _OneOf = None
    channel: _OneOf = None
    view: _Object | None = None
    event: _Object | None = None
    message: _Object | None = None
    authorizations: list[_Object] | None = None
    response_urls: list[_Object] = []


class _Command(_Part):
    command: _Id
    trigger_id: _Id
    team_id: _Id
    channel_id: _Id
    user_id: _Id
    text: str | None = None


class _Event(_Part):
    type: _Id


class _Message(_Event):
    channel: _Id
    ts: _Ts
    user: str | None = None
    text: str | None = None
    thread_ts: _Ts | None = None
    subtype: str | None = None


class _Opened(_Event):
    user: _Id
    event_ts: _Id
    tab: str | None = None


class _Joined(_Event):
    user: _Id
    channel: _Id
    event_ts: _Id
    inviter: str | None = None


class _Person(_Part):
    id: _Id


class _Option(_Part):
    value: str | None = None


class _Action(_Part):
    action_id: _Id
    value: str | None = None
    selected_option: _Option | None = None


class _Container(_Part):
    channel_id: str | None = None
    message_ts: str | None = None
    thread_ts: str | None = None


class _Channel(_Part):
    id: _Id


class _Click(_Part):
    trigger_id: _Id
    user: _Person
    container: _Container
    actions: list[_Action] = Field(min_length=1)
    channel: _Channel | None = None
    team: _Object | None = None
    response_url: str | None = None


class _Field(_Part):
    value: str | None = None
    selected_option: _Option | None = None
    selected_conversation: str | None = None
    selected_time: str | None = None


class _State(_Part):
    values: dict[str, dict[str, _Field]]


class _View(_Part):
    callback_id: str | None = None
    private_metadata: str | None = None
    state: _State


class _Sent(_Part):
    trigger_id: _Id
    user: _Person
    view: _View
    team: _Object | None = None


class _Typed(_Part):
    view: _Object
    value: str | None = None


class _Check(_Part):
    type: Literal["url_verification"]
    challenge: _Id


_KINDS: dict[str, type[_Part]] = {
    "block_actions": _Click,
    "view_submission": _Sent,
    "block_suggestion": _Typed,
    "url_verification": _Check,
}
_EVENTS: dict[str, type[_Event]] = {
    "app_mention": _Message,
    "message": _Message,
    "app_home_opened": _Opened,
    "member_joined_channel": _Joined,
}


def check(payload: object) -> None:
    """Raises BadPayload for what no listener could work on."""
    try:
        _check(payload)
    except ValidationError as error:
        raise BadPayload(_first(error)) from error
    except UNREADABLE as error:
        raise BadPayload(unreadable(error)) from error


def unreadable(error: Exception) -> str:
    """What is wrong with what can't be read at all."""
    return truncate_text(collapse_lines(f"{type(error).__name__}: {error}"), _LONGEST)


def _check(payload: object) -> None:
    whole = _Any.model_validate(payload)
    # half a character, as JSON can write it, is none: nobody could store or send it
    json.dumps(payload, ensure_ascii=False).encode()
    if "ssl_check" in payload:  # type: ignore[operator]  # an object by now
        return
    if whole.type is None:
        _Command.model_validate(payload)
    elif whole.type == "event_callback":
        kind = _EVENTS.get(_Event.model_validate(whole.event).type, _Event)
        kind.model_validate(whole.event)
    elif kind_of_use := _KINDS.get(whole.type):
        _check_form(kind_of_use.model_validate(payload))


def _check_form(sent: _Part) -> None:
    if isinstance(sent, _Sent) and sent.view.callback_id == FORM:
        read_form_context(sent.view.private_metadata or "{}")


def _first(error: ValidationError) -> str:
    """The first thing that is wrong, without what was sent."""
    found = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(map(str, found["loc"])) or "the payload"
    return truncate_text(collapse_lines(f"{place}: {found['msg']}"), _LONGEST)
