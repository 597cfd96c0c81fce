"""Models of requests from Slack, which are validated before use.

Requests are signed, so a different one comes from somebody with the secret, or Slack has changed. Neither is worth
a traceback.
"""

from __future__ import annotations

import json
from types import NoneType
from typing import Annotated, Any, Literal, cast, get_args

from pydantic import ConfigDict, Field, ValidationError, create_model

from bot.features.subscriptions.view import FORM, read_form_context
from bot.platform.slack.app_manifest import LINK_EVENT, STOP_EVENT
from impact.text.strings import collapse_lines, truncate_text

# errors of Bolt and the listeners for a payload of an unexpected shape
PARSE_ERRORS = (ValueError, TypeError, AttributeError, LookupError, RecursionError)
_MAX_PROBLEM_LENGTH = 200  # characters of the description in the log

_Id = Annotated[str, Field(min_length=1)]
_Ts = Annotated[str, Field(pattern=r"^\d{1,16}\.\d{1,9}$")]
_Object = dict[str, Any]
_Text = str | None


class PayloadError(Exception):
    """Error for a request of a shape that Slack does not send. Its text describes the problem on one line."""


def _shape(**fields: Any) -> Any:
    """Return a model with these fields alone; one that may be None, or has an empty type, may be missing."""
    declared = {
        name: kind if isinstance(kind, tuple) else (kind, None if NoneType in get_args(kind) else ...)
        for name, kind in fields.items()
    }
    return create_model("_Payload", __config__=ConfigDict(strict=True, frozen=True), **cast("Any", declared))


# the parts of any request that Bolt reads
_ANY = _shape(
    type=_Id | None,
    team=_Object | _Text,
    enterprise=_Object | _Text,
    user=_Object | _Text,
    channel=_Object | _Text,
    view=_Object | None,
    event=_Object | None,
    message=_Object | None,
    authorizations=list[_Object] | None,
    response_urls=(list[_Object], []),
)
_COMMAND = _shape(command=_Id, trigger_id=_Id, team_id=_Id, channel_id=_Id, user_id=_Id, text=_Text)

# --- events, by their types

_EVENT = _shape(type=_Id)
_MESSAGE = _shape(type=_Id, channel=_Id, ts=_Ts, user=_Text, text=_Text, thread_ts=_Ts | None, subtype=_Text)
_LINKS = _shape(
    type=_Id,
    channel=_Id,
    message_ts=_Id,
    user=_Text,
    source=_Text,
    thread_ts=_Ts | None,
    links=list[_shape(url=str)],  # type: ignore[misc]  # a model is made here
)
_EVENTS = {
    "app_mention": _MESSAGE,
    "message": _MESSAGE,
    "app_home_opened": _shape(type=_Id, user=_Id, event_ts=_Id, tab=_Text),
    LINK_EVENT: _LINKS,
    # a channel that is one whole session, which this app has none of, has no thread
    STOP_EVENT: _shape(type=_Id, user=_Id, channel=_Id, event_ts=_Ts, thread_ts=_Ts | None),
    "member_joined_channel": _shape(type=_Id, user=_Id, channel=_Id, event_ts=_Id, inviter=_Text),
}

# --- what people press and send, by its type

_NAMED = _shape(id=_Id)
_OPTION = _shape(value=_Text)
_ACTION = _shape(action_id=_Id, value=_Text, selected_option=_OPTION | None, action_ts=_Ts | None)
_FIELD = _shape(value=_Text, selected_option=_OPTION | None, selected_conversation=_Text, selected_time=_Text)
_STATE = _shape(values=dict[str, dict[str, _FIELD]])  # type: ignore[valid-type]
_VIEW = _shape(callback_id=_Text, private_metadata=_Text, state=_STATE)
_SHORTCUT = {"trigger_id": _Id, "callback_id": _Id, "user": _NAMED, "team": _Object | None}
_PAYLOADS = {
    "block_actions": _shape(
        trigger_id=_Id,
        user=_NAMED,
        container=_shape(channel_id=_Text, message_ts=_Text, thread_ts=_Text),
        actions=Annotated[list[_ACTION], Field(min_length=1)],  # type: ignore[valid-type]
        channel=_NAMED | None,
        team=_Object | None,
        response_url=_Text,
    ),
    "view_submission": _shape(trigger_id=_Id, user=_NAMED, view=_VIEW, team=_Object | None),
    "block_suggestion": _shape(view=_Object, value=_Text),
    "message_action": _shape(
        **_SHORTCUT, channel=_NAMED, message_ts=_Ts, message=_shape(thread_ts=_Ts | None), response_url=_Text
    ),
    "shortcut": _shape(**_SHORTCUT),
    "url_verification": _shape(type=Literal["url_verification"], challenge=_Id),
}


def check_payload(payload: object) -> None:
    """Check that listeners can handle a payload. Raises PayloadError if they can't."""
    try:
        common = _ANY.model_validate(payload)
        # JSON can hold half a surrogate pair, which can be neither stored nor sent
        json.dumps(payload, ensure_ascii=False).encode()
        if "ssl_check" in payload:  # type: ignore[operator]  # an object by now
            return
        if common.type is None:
            _COMMAND.model_validate(payload)
        elif common.type == "event_callback":
            kind = _EVENT.model_validate(common.event).type
            _EVENTS.get(kind, _EVENT).model_validate(common.event)
        elif shape := _PAYLOADS.get(common.type):
            parsed = shape.model_validate(payload)
            if common.type == "view_submission" and parsed.view.callback_id == FORM:
                # its context has to be readable, too
                read_form_context(parsed.view.private_metadata or "")
    except ValidationError as error:
        # without the values that were sent
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the payload"
        raise PayloadError(_shorten(f"{place}: {first['msg']}")) from error
    except PARSE_ERRORS as error:
        raise PayloadError(describe_parse_error(error)) from error


def describe_parse_error(error: Exception) -> str:
    return _shorten(f"{type(error).__name__}: {error}")


def _shorten(problem: str) -> str:
    return truncate_text(collapse_lines(problem), _MAX_PROBLEM_LENGTH)
