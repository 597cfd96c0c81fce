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
PARSE_ERRORS = (ValueError, TypeError, AttributeError, LookupError, RecursionError)
_MAX_PROBLEM_LENGTH = 200  # characters of what is wrong, in the log

_Id = Annotated[str, Field(min_length=1)]
_Ts = Annotated[str, Field(pattern=r"^\d{1,16}\.\d{1,9}$")]
_Object = dict[str, Any]
_ObjectOrText = _Object | str | None


class PayloadError(Exception):
    """A request that is none of Slack's; says what is wrong with it on one line."""


class _PayloadModel(BaseModel):
    """Part of a request. What is not named may be there, and is not looked at."""

    model_config = ConfigDict(strict=True, frozen=True)


class _AnyPayload(_PayloadModel):
    """What Bolt looks into, whatever the request is."""

    type: _Id | None = None
    team: _ObjectOrText = None
    enterprise: _ObjectOrText = None
    user: _ObjectOrText = None
    channel: _ObjectOrText = None
    view: _Object | None = None
    event: _Object | None = None
    message: _Object | None = None
    authorizations: list[_Object] | None = None
    response_urls: list[_Object] = []


class _CommandPayload(_PayloadModel):
    command: _Id
    trigger_id: _Id
    team_id: _Id
    channel_id: _Id
    user_id: _Id
    text: str | None = None


class _Event(_PayloadModel):
    type: _Id


class _MessageEvent(_Event):
    channel: _Id
    ts: _Ts
    user: str | None = None
    text: str | None = None
    thread_ts: _Ts | None = None
    subtype: str | None = None


class _HomeOpenedEvent(_Event):
    user: _Id
    event_ts: _Id
    tab: str | None = None


class _MemberJoinedEvent(_Event):
    user: _Id
    channel: _Id
    event_ts: _Id
    inviter: str | None = None


class _User(_PayloadModel):
    id: _Id


class _Option(_PayloadModel):
    value: str | None = None


class _Action(_PayloadModel):
    action_id: _Id
    value: str | None = None
    selected_option: _Option | None = None


class _Container(_PayloadModel):
    channel_id: str | None = None
    message_ts: str | None = None
    thread_ts: str | None = None


class _Channel(_PayloadModel):
    id: _Id


class _BlockActions(_PayloadModel):
    trigger_id: _Id
    user: _User
    container: _Container
    actions: list[_Action] = Field(min_length=1)
    channel: _Channel | None = None
    team: _Object | None = None
    response_url: str | None = None


class _StateField(_PayloadModel):
    value: str | None = None
    selected_option: _Option | None = None
    selected_conversation: str | None = None
    selected_time: str | None = None


class _ViewState(_PayloadModel):
    values: dict[str, dict[str, _StateField]]


class _View(_PayloadModel):
    callback_id: str | None = None
    private_metadata: str | None = None
    state: _ViewState


class _ViewSubmission(_PayloadModel):
    trigger_id: _Id
    user: _User
    view: _View
    team: _Object | None = None


class _BlockSuggestion(_PayloadModel):
    view: _Object
    value: str | None = None


class _UrlVerification(_PayloadModel):
    type: Literal["url_verification"]
    challenge: _Id


_PAYLOAD_MODELS: dict[str, type[_PayloadModel]] = {
    "block_actions": _BlockActions,
    "view_submission": _ViewSubmission,
    "block_suggestion": _BlockSuggestion,
    "url_verification": _UrlVerification,
}
_EVENT_MODELS: dict[str, type[_Event]] = {
    "app_mention": _MessageEvent,
    "message": _MessageEvent,
    "app_home_opened": _HomeOpenedEvent,
    "member_joined_channel": _MemberJoinedEvent,
}


def check_payload(payload: object) -> None:
    """Raises PayloadError for what no listener could work on."""
    try:
        _validate_payload(payload)
    except ValidationError as error:
        raise PayloadError(_describe_first_error(error)) from error
    except PARSE_ERRORS as error:
        raise PayloadError(describe_parse_error(error)) from error


def describe_parse_error(error: Exception) -> str:
    """What is wrong with what can't be read at all."""
    return truncate_text(collapse_lines(f"{type(error).__name__}: {error}"), _MAX_PROBLEM_LENGTH)


def _validate_payload(payload: object) -> None:
    whole = _AnyPayload.model_validate(payload)
    # half a character, as JSON can write it, is none: nobody could store or send it
    json.dumps(payload, ensure_ascii=False).encode()
    if "ssl_check" in payload:  # type: ignore[operator]  # an object by now
        return
    if whole.type is None:
        _CommandPayload.model_validate(payload)
    elif whole.type == "event_callback":
        kind = _EVENT_MODELS.get(_Event.model_validate(whole.event).type, _Event)
        kind.model_validate(whole.event)
    elif kind_of_use := _PAYLOAD_MODELS.get(whole.type):
        _validate_form(kind_of_use.model_validate(payload))


def _validate_form(sent: _PayloadModel) -> None:
    if isinstance(sent, _ViewSubmission) and sent.view.callback_id == FORM:
        read_form_context(sent.view.private_metadata or "{}")


def _describe_first_error(error: ValidationError) -> str:
    """The first thing that is wrong, without what was sent."""
    found = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(map(str, found["loc"])) or "the payload"
    return truncate_text(collapse_lines(f"{place}: {found['msg']}"), _MAX_PROBLEM_LENGTH)
