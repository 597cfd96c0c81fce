"""Views and the trigger ids that open them, seen through the real client."""

import json
from collections.abc import Iterator

import pytest
from slack_sdk import WebClient

from localslack.testing.emulator import SlackEmulator
from tests.client import Json, client_of, refusal
from tests.parts import actions, button, header, markdown, plain, section, table

MODAL: Json = {"type": "modal", "title": plain("Risks"), "blocks": []}
FIELD: Json = {
    "type": "input",
    "label": plain("Why?"),
    "element": {"type": "plain_text_input", "action_id": "why"},
}


@pytest.fixture
def ticks() -> list[float]:
    return [100.0]


@pytest.fixture
def slack(ticks: list[float]) -> Iterator[SlackEmulator]:
    with SlackEmulator(clock=lambda: ticks[0]) as emulator:
        yield emulator


def open_view(slack: SlackEmulator, view: Json) -> Json:
    opened_view: Json = client_of(slack).views_open(trigger_id=slack.make_trigger_id(), view=view)["view"]
    return opened_view


def catch_refusal(slack: SlackEmulator, view: Json) -> str:
    return str(refusal(lambda: open_view(slack, view))["error"])


# Triggers


def test_a_trigger_opens_one_view(slack: SlackEmulator, web: WebClient) -> None:
    trigger = slack.make_trigger_id()
    web.views_open(trigger_id=trigger, view=MODAL)
    again = refusal(lambda: web.views_open(trigger_id=trigger, view=MODAL))
    assert (again.status_code, again["error"]) == (200, "exchanged_trigger_id")
    assert len(slack.views) == 1


@pytest.mark.parametrize(("seconds", "error"), [(3.0, None), (3.1, "expired_trigger_id")])
def test_a_trigger_is_good_for_three_seconds(
    slack: SlackEmulator, web: WebClient, ticks: list[float], seconds: float, error: str | None
) -> None:
    trigger = slack.make_trigger_id()
    ticks[0] += seconds
    if error is None:
        assert web.views_open(trigger_id=trigger, view=MODAL)["ok"]
    else:
        assert refusal(lambda: web.views_open(trigger_id=trigger, view=MODAL))["error"] == error


def test_its_life_can_be_longer_or_shorter(slack: SlackEmulator, web: WebClient, ticks: list[float]) -> None:
    first, second = slack.make_trigger_id(), slack.make_trigger_id()
    slack.triggers.seconds = 60
    ticks[0] += 59
    assert web.views_open(trigger_id=first, view=MODAL)["ok"]
    slack.triggers.seconds = 0.1
    assert refusal(lambda: web.views_open(trigger_id=second, view=MODAL))["error"] == "expired_trigger_id"


@pytest.mark.parametrize(("trigger", "error"), [("", "invalid_arguments"), ("1.2.3", "invalid_trigger_id")])
def test_a_trigger_that_was_not_given(web: WebClient, trigger: str, error: str) -> None:
    assert refusal(lambda: web.views_open(trigger_id=trigger, view=MODAL))["error"] == error


# What a view may be


@pytest.mark.parametrize(
    "change",
    [
        {"title": plain("x" * 24), "submit": plain("x" * 24), "close": plain("x" * 24)},
        {"blocks": [section()] * 100},
        {"blocks": [header(), actions(button(action_id="a")), markdown(), table()]},
        {"blocks": [FIELD], "submit": plain("Send")},
        {"private_metadata": "x" * 3_000, "callback_id": "x" * 255, "external_id": "x" * 255},
        {"submit": None, "notify_on_close": True},
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_view_that_slack_takes(slack: SlackEmulator, change: Json) -> None:
    view = open_view(slack, MODAL | change)
    assert view["blocks"] == change.get("blocks", [])
    assert slack.views == [view]


@pytest.mark.parametrize(
    "change",
    [
        {"title": plain("x" * 25)},
        {"title": None},
        {"title": "Risks"},
        {"title": {"type": "mrkdwn", "text": "x"}},
        {"submit": plain("x" * 25)},
        {"close": plain("x" * 25)},
        {"blocks": [section()] * 101},
        {"blocks": None},
        {"blocks": [{"type": "sparkle"}]},
        {"blocks": [section("x" * 3_001)]},
        {"blocks": [section(block_id="a"), section(block_id="a")]},
        {"blocks": [FIELD]},
        {"private_metadata": "x" * 3_001},
        {"callback_id": "x" * 256},
        {"external_id": "x" * 256},
        {"type": "home"},
        {"colour": "red"},
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_view_that_slack_refuses(slack: SlackEmulator, change: Json) -> None:
    assert catch_refusal(slack, MODAL | change) == "invalid_arguments"
    assert slack.views == []


def test_a_view_can_be_too_large(slack: SlackEmulator) -> None:
    assert catch_refusal(slack, MODAL | {"blocks": [section("x" * 3_000)] * 90}) == "view_too_large"


@pytest.mark.parametrize("view", ["{", "[]", ""])
def test_a_view_that_cannot_be_read(slack: SlackEmulator, web: WebClient, view: str) -> None:
    arguments = {"trigger_id": slack.make_trigger_id(), "view": view}
    assert refusal(lambda: web.api_call("views.open", params=arguments))["error"] == "invalid_arguments"


def test_a_view_as_a_string_is_the_same(slack: SlackEmulator, web: WebClient) -> None:
    arguments = {"trigger_id": slack.make_trigger_id(), "view": json.dumps(MODAL)}
    assert web.api_call("views.open", params=arguments)["view"]["title"] == plain("Risks")


# Updates


def test_an_external_id_is_there_once(slack: SlackEmulator, web: WebClient) -> None:
    first, other = open_view(slack, MODAL | {"external_id": "a"}), open_view(slack, MODAL | {"external_id": "b"})
    assert catch_refusal(slack, MODAL | {"external_id": "a"}) == "duplicate_external_id"
    same = web.views_update(view_id=first["id"], view=MODAL | {"external_id": "a"})
    assert same["view"]["id"] == first["id"]
    wrong = refusal(lambda: web.views_update(view_id=other["id"], view=MODAL | {"external_id": "a"}))
    assert wrong["error"] == "duplicate_external_id"


@pytest.mark.parametrize("key", ["view_id", "external_id"])
def test_a_view_is_updated_by_either_of_its_names(slack: SlackEmulator, web: WebClient, key: str) -> None:
    view = open_view(slack, MODAL | {"external_id": "a"})
    name = {"view_id": view["id"], "external_id": "a"}[key]
    updated_view = web.api_call("views.update", json={key: name, "view": MODAL | {"blocks": [section()]}})["view"]
    assert updated_view["id"] == view["id"]
    assert updated_view["hash"] != view["hash"]
    assert [stored["blocks"] for stored in slack.views] == [[section()]]


@pytest.mark.parametrize(
    ("names", "error"),
    [
        ({"view_id": "V1", "external_id": "a"}, "invalid_arguments"),
        ({}, "invalid_arguments"),
        ({"view_id": "V404"}, "not_found"),
        ({"external_id": "z"}, "not_found"),
    ],
    ids=str,
)
def test_an_update_of_no_one_view(slack: SlackEmulator, web: WebClient, names: Json, error: str) -> None:
    open_view(slack, MODAL)
    response = refusal(lambda: web.api_call("views.update", json={**names, "view": MODAL}))
    assert (response.status_code, response["error"]) == (200, error)


def test_a_hash_is_that_of_the_last_update(slack: SlackEmulator, web: WebClient) -> None:
    view = open_view(slack, MODAL)
    new = web.views_update(view_id=view["id"], view=MODAL, hash=view["hash"])["view"]
    stale = refusal(lambda: web.views_update(view_id=view["id"], view=MODAL, hash=view["hash"]))
    assert stale["error"] == "hash_conflict"
    assert slack.views[0]["hash"] == new["hash"]


def test_a_home_has_a_hash_too(web: WebClient) -> None:
    home: Json = {"type": "home", "blocks": [section()]}
    first = web.views_publish(user_id="U0ASKER", view=home)["view"]
    web.views_publish(user_id="U0ASKER", view=home, hash=first["hash"])
    stale = refusal(lambda: web.views_publish(user_id="U0ASKER", view=home, hash=first["hash"]))
    assert stale["error"] == "hash_conflict"
