"""Links that people post: which of them become a job. Nobody is told anything, whatever comes of them."""

from dataclasses import replace

import pytest

from bot.platform.slack.directory import AccessControl, AccessRules
from bot.platform.slack.requests import SlackRequest
from handlers.intake import handle_posted_links
from tests.handlers.intakes import Office
from tests.helpers.doubles import CountingLimiter

TEAM = frozenset({"T0TEAM"})
POSTER = SlackRequest("links:C1:1.1", "T0TEAM", "C1", "U1")


def list_taken_keys(rules: AccessRules, *requests: SlackRequest) -> list[str]:
    office, keys = Office(), list[str]()
    app = office.app
    app.__dict__["access_control"] = AccessControl(rules, CountingLimiter(limit=2))
    for request in requests:
        handle_posted_links(app, request, lambda request=request: keys.append(request.key))  # type: ignore[misc]
    assert office.sent == []
    return keys


def test_a_message_is_taken_once_and_too_many_are_not() -> None:
    other, third = (replace(POSTER, key=f"links:C1:{number}") for number in (2, 3))
    assert list_taken_keys(AccessRules(TEAM), POSTER, POSTER, other, third) == [POSTER.key, other.key]


@pytest.mark.parametrize(
    "rules",
    [
        AccessRules(frozenset({"T0OTHER"})),
        AccessRules(TEAM, channels=frozenset({"C2"})),
        AccessRules(TEAM, users=frozenset({"U2"})),
    ],
)
def test_who_may_not_ask_there_gets_no_preview_either(rules: AccessRules) -> None:
    assert list_taken_keys(rules, POSTER) == []
