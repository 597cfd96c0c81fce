"""Links that people post: which of them become a job. Nobody is told anything, whatever comes of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.domain.conversations.slack_request import SlackRequest
from bot.services.slack.access_control import AccessControl, AccessRules
from tests.handlers.intakes import Office
from tests.services.doubles import CountingLimiter

TEAM = frozenset({"T0TEAM"})
POSTER = SlackRequest("links:C1:1.1", "T0TEAM", "C1", "U1")


def list_taken_keys(rules: AccessRules, *requests: SlackRequest, has_previews: bool = True) -> list[str]:
    """The keys of the requests that were taken."""
    office = Office()
    access = AccessControl(rules, CountingLimiter(limit=2))
    intake = replace(office.intake, access_control=access, has_previews=lambda channel: has_previews)
    keys: list[str] = []
    for request in requests:
        intake.handle_posted_links(request, lambda request=request: keys.append(request.key))  # type: ignore[misc]
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


def test_nothing_is_taken_where_previews_are_off() -> None:
    assert list_taken_keys(AccessRules(TEAM), POSTER, has_previews=False) == []
