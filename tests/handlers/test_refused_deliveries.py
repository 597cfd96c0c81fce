"""Deliveries that can not be taken: Slack gets no acknowledgement, and the log says why in one record."""

import json
import logging
from typing import Any

import pytest
from localslack.state.identity import BOT_USER
from localslack.users.transport import JSON, HttpTransport

from bot.errors import StoreUnavailable
from bot.platform.metrics import Instruments
from bot.web import add_events_route, create_bolt_app, create_web_app
from handlers import COMMANDS
from tests.emulators.slack.client import client_of
from tests.emulators.slack.server import SlackEmulator
from tests.handlers.intakes import Office
from tests.helpers.doubles import MemoryCache

SECRET = "signing-secret"
AWAY = "The store does not answer."


class BrokenCache(MemoryCache):
    """A cache that raises the same error each time."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def get(self, key: str) -> str | None:
        raise self.error


@pytest.mark.parametrize(
    ("error", "sentence", "has_traceback"),
    [
        (StoreUnavailable(AWAY), f"a delivery is not taken: {AWAY}", False),
        (ZeroDivisionError("oh"), "a delivery is not taken, which is a defect", True),
    ],
    ids=["an outage", "a defect"],
)
def test_a_message_that_can_not_be_taken_is_no_success_and_has_one_line_in_the_log(
    slack: SlackEmulator, caplog: pytest.LogCaptureFixture, error: Exception, sentence: str, *, has_traceback: bool
) -> None:
    app, web = Office().app, create_web_app(lambda: True)
    app.__dict__["cache"] = BrokenCache(error)
    add_events_route(web, create_bolt_app(client_of(slack), app, COMMANDS), SECRET, Instruments())
    body = json.dumps(_mention()).encode()
    signed = HttpTransport("", SECRET).sign(body)
    with caplog.at_level(logging.WARNING):
        answer = web.test_client().post("/slack/events", data=body, headers={"Content-Type": JSON, **signed})
    assert answer.status_code == 500
    [record] = [each for each in caplog.records if each.levelno >= logging.WARNING]
    assert (record.getMessage(), bool(record.exc_info)) == (sentence, has_traceback)


def _mention() -> dict[str, Any]:
    event = {
        "type": "app_mention",
        "user": "U0ASKER",
        "text": f"<@{BOT_USER}> 101",
        "ts": "1772300000.000500",
        "channel": "C0DIGEST",
        "event_ts": "1772300000.000500",
        "team": "T0TEAM",
    }
    return {
        "type": "event_callback",
        "token": "t",
        "team_id": "T0TEAM",
        "api_app_id": "A0",
        "event": event,
        "event_id": "Ev0",
        "event_time": 1_772_300_000,
        "authorizations": [{"team_id": "T0TEAM", "user_id": BOT_USER, "is_bot": True}],
    }
