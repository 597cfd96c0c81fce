"""Regular digests: the verbs of ``/prdigest``, their buttons, the form, and App Home."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from slack_bolt import Ack, App

from bot.domain.conversations.slack_request import Visit
from bot.domain.conversations.slack_text import labelled
from bot.domain.errors import UsageError
from bot.domain.subscriptions.request import ID, Which, Wish
from bot.render.subscriptions import subscription_list
from bot.render.subscriptions.form import FILTER, FORM, ZONE, FormErrors, filled, zones_like
from bot.services.subscriptions.subscription_commands import LIST, PAUSE, RESUME, SUBSCRIBE, UNSUBSCRIBE
from handlers import requests, welcomes
from handlers.intake import Desk

log = logging.getLogger(__name__)

TEST, SCHEDULE = "test", "schedule"
USAGE = (
    "Get it regularly: `/prdigest subscribe owner/repo at 09:00 tz Europe/Berlin weekdays path:vllm/v1 "
    "not-author:bots only:substantial` (all of it optional; `tz mine` for your own zone, `me` for a digest to you "
    "alone), or `/prdigest schedule` for a form. `/prdigest list`, `pause`, `resume`, `unsubscribe`; `test` shows "
    "you a preview, posting nothing."
)
_OLD_FORM = "This form is of another version of mine: close it and open it again."
_BY_COMMAND = "Slack opens a form only after a command: type /prdigest schedule, or write me subscribe at 09:00."
_LOOKING = "Looking at yesterday for a preview…"

Accept = Callable[[Desk, Visit, str], str]


def is_verb(word: str) -> bool:
    """Whether a word after the command is one of these verbs."""
    return word.lower() in _VERBS


def accept(desk: Desk, visit: Visit, verb: str, text: str) -> str:
    """Put what somebody says of their regular digests on a queue. Raises UsageError, StoreUnavailable."""
    return _VERBS[verb.lower()](desk, visit, text)


def register(app: App, desk: Desk) -> None:
    """Listen to App Home, the form and its pickers."""

    @app.event("app_home_opened")
    def home(body: dict[str, Any], event: dict[str, Any]) -> None:
        if event.get("tab") == "home":
            visit = requests.of_home(body, event)
            desk.hear(visit, lambda: desk.queues.home.send(asdict(visit)), is_named=False)
        elif event.get("tab") == "messages":
            welcomes.welcome(desk, body, event)

    @app.view(FORM)
    def sent(ack: Ack, body: dict[str, Any]) -> None:
        errors = _errors_of(desk, body)
        if errors:
            ack(response_action="errors", errors=errors)
        else:
            ack()

    @app.options(ZONE)
    def zones(ack: Ack, payload: dict[str, Any]) -> None:
        ack(options=zones_like(str(payload.get("value") or "")))


def _errors_of(desk: Desk, body: dict[str, Any]) -> dict[str, str]:
    """What is wrong with a form, by its fields; nothing where its work is on the queue."""
    visit = requests.of_form(body)
    try:
        wish, channel, replaces = filled(body["view"], desk.repositories)
    except FormErrors as error:
        return error.errors
    except (KeyError, ValueError) as error:
        log.warning("a form that can't be read [%s]: %r", visit.reference, error)
        return {FILTER: _OLD_FORM}

    def take() -> str:
        desk.queues.regular.send(asdict(visit), SUBSCRIBE, str(wish), channel, replaces)
        return ""

    said = desk.answer(visit, take)
    return {FILTER: labelled(said)} if said else {}


def _subscribe(desk: Desk, visit: Visit, text: str) -> str:
    desk.queues.regular.send(asdict(visit), SUBSCRIBE, str(Wish.parse(text, desk.repositories)))
    return ""


def _which(verb: str) -> Accept:
    def accept(desk: Desk, visit: Visit, text: str) -> str:
        desk.queues.regular.send(asdict(visit), verb, str(Which.parse(text, desk.repositories)))
        return ""

    return accept


def _list(desk: Desk, visit: Visit, text: str) -> str:
    if text:
        raise UsageError("The list takes no words: it shows all that comes to this channel.")
    desk.queues.regular.send(asdict(visit), LIST, "")
    return ""


def _preview(desk: Desk, visit: Visit, text: str) -> str:
    if text and not ID.fullmatch(text.lower()):
        Wish.parse(text, desk.repositories)
    desk.queues.preview.send(asdict(visit), text)
    return _LOOKING


def _open(desk: Desk, visit: Visit, text: str) -> str:
    if not visit.trigger:
        raise UsageError(_BY_COMMAND)
    if text and not ID.fullmatch(text):
        raise UsageError(
            "The form asks for all there is: write schedule alone, or with an id that the list shows."
        )
    desk.queues.form.send(asdict(visit), text)
    return ""


_VERBS: dict[str, Accept] = {
    SUBSCRIBE: _subscribe,
    UNSUBSCRIBE: _which(UNSUBSCRIBE),
    PAUSE: _which(PAUSE),
    RESUME: _which(RESUME),
    LIST: _list,
    TEST: _preview,
    SCHEDULE: _open,
}
# the buttons do what the verbs do; they carry an id
BUTTONS: dict[str, Accept] = {
    subscription_list.PAUSE: _VERBS[PAUSE],
    subscription_list.RESUME: _VERBS[RESUME],
    subscription_list.REMOVE: _VERBS[UNSUBSCRIBE],
    subscription_list.PREVIEW: _preview,
    subscription_list.CHANGE: _open,
    subscription_list.NEW: lambda desk, visit, _: _open(desk, visit, ""),
}
