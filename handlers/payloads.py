"""Models of requests from Slack, which are validated before use.

Requests are signed, so a different one comes from somebody with the secret, or Slack has changed. Neither is worth
a traceback.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.domain.operations.app_manifest import LINK_EVENT
from bot.domain.text.strings import collapse_lines, truncate_text
from bot.render.subscriptions.form import FORM
from bot.render.subscriptions.form_context import read_form_context

# errors of Bolt and the listeners for a payload of an unexpected shape
PARSE_ERRORS = (ValueError, TypeError, AttributeError, LookupError, RecursionError)
_MAX_PROBLEM_LENGTH = 200  # characters of the description in the log

_Id = Annotated[str, Field(min_length=1)]
_Ts = Annotated[str, Field(pattern=r"^\d{1,16}\.\d{1,9}$")]
_Object = dict[str, Any]
_ObjectOrText = _Object | str | None


class PayloadError(Exception):
    """Error for a request of a shape that Slack does not send. Its text describes the problem on one line."""


class _PayloadModel(BaseModel):
    """Part of a request. Other fields may be present and are ignored."""

    model_config = ConfigDict(strict=True, frozen=True)


class _AnyPayload(_PayloadModel):
    """The parts of any request that Bolt reads."""

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


class _Link(_PayloadModel):
    url: str


class _LinkSharedEvent(_Event):
    channel: _Id
    message_ts: _Id
    user: str | None = None
    source: str | None = None
    thread_ts: _Ts | None = None
    links: list[_Link]


class _User(_PayloadModel):
    id: _Id


class _Option(_PayloadModel):
    value: str | None = None


class _Action(_PayloadModel):
    action_id: _Id
    value: str | None = None
    selected_option: _Option | None = None
    action_ts: _Ts | None = None


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


class _Shortcut(_PayloadModel):
    trigger_id: _Id
    callback_id: _Id
    user: _User
    team: _Object | None = None


class _Message(_PayloadModel):
    thread_ts: _Ts | None = None


class _MessageShortcut(_Shortcut):
    channel: _Channel
    message_ts: _Ts
    message: _Message
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
    "message_action": _MessageShortcut,
    "shortcut": _Shortcut,
    "url_verification": _UrlVerification,
}
_EVENT_MODELS: dict[str, type[_Event]] = {
    "app_mention": _MessageEvent,
    "message": _MessageEvent,
    "app_home_opened": _HomeOpenedEvent,
    LINK_EVENT: _LinkSharedEvent,
    "member_joined_channel": _MemberJoinedEvent,
}


def check_payload(payload: object) -> None:
    """Check that listeners can handle a payload. Raises PayloadError if they can't."""
    try:
        _validate_payload(payload)
    except ValidationError as error:
        raise PayloadError(_describe_first_error(error)) from error
    except PARSE_ERRORS as error:
        raise PayloadError(describe_parse_error(error)) from error


def describe_parse_error(error: Exception) -> str:
    """Describe the error of a payload that can't be read at all."""
    return truncate_text(collapse_lines(f"{type(error).__name__}: {error}"), _MAX_PROBLEM_LENGTH)


def _validate_payload(payload: object) -> None:
    """Validate a payload by its type. Raises ValidationError or one of ``PARSE_ERRORS``."""
    common = _AnyPayload.model_validate(payload)
    # JSON can hold half a surrogate pair, which can be neither stored nor sent
    json.dumps(payload, ensure_ascii=False).encode()
    if "ssl_check" in payload:  # type: ignore[operator]  # an object by now
        return
    if common.type is None:
        _CommandPayload.model_validate(payload)
    elif common.type == "event_callback":
        event_model = _EVENT_MODELS.get(_Event.model_validate(common.event).type, _Event)
        event_model.model_validate(common.event)
    elif payload_model := _PAYLOAD_MODELS.get(common.type):
        _validate_form(payload_model.model_validate(payload))


def _validate_form(payload: _PayloadModel) -> None:
    """Check that the context of a form can be read. Raises one of ``PARSE_ERRORS``."""
    if isinstance(payload, _ViewSubmission) and payload.view.callback_id == FORM:
        read_form_context(payload.view.private_metadata or "")


def _describe_first_error(error: ValidationError) -> str:
    """Describe the first error, without the values that were sent."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"])) or "the payload"
    return truncate_text(collapse_lines(f"{place}: {first['msg']}"), _MAX_PROBLEM_LENGTH)
