import json
from typing import Any

import pytest
from localslack.state.workspace import Json
from redis import Redis

from bot.errors import SlackUnavailable
from bot.platform.slack.requests import SlackRequest
from handlers import declaration
from tests.emulators.slack.server import SlackEmulator
from tests.features.digest.posting import HOME
from tests.features.subscriptions.subscribers import OPEN, OTHERS, OWN, PRIVATE, Team, ask

FIRST = ("initial_option", "initial_time", "initial_conversation", "initial_value")


@pytest.fixture
def team(slack: SlackEmulator, store: Redis) -> Team:
    return Team(slack, store)


def make_click(team: Team, channel: str = HOME, user: str = "U0ADA") -> SlackRequest:
    trigger = team.slack.make_trigger_id(user, channel or HOME)
    url = team.slack.make_response_url(channel, user) if channel else ""
    return ask(channel, user, key=f"action:{trigger}", trigger=trigger, response_url=url)


def open_form(team: Team, name: str = "", channel: str = HOME, user: str = "U0ADA") -> Json:
    team.open_form(make_click(team, channel, user), name)
    view = team.slack.get_modal(user)
    assert view
    return view


def list_field_values(view: Json) -> dict[str, Any]:
    elements = {block["block_id"]: block["element"] for block in view["blocks"]}
    first = {name: next((part[key] for key in FIRST if key in part), None) for name, part in elements.items()}
    return {name: value["value"] if isinstance(value, dict) else value for name, value in first.items()}


def list_whispers(team: Team) -> list[str]:
    return [shown["text"] for shown in team.slack.ephemerals]


NEW = {
    "repository": "octo/engine",
    "where": "channel",
    "channel": HOME,
    "at": "09:00",
    "zone": "America/Los_Angeles",
    "days": "daily",
    "only": "all",
    "filter": None,
}


def test_a_new_one_begins_with_what_is_usual_in_the_channel(team: Team) -> None:
    assert list_field_values(open_form(team)) == NEW


def test_in_direct_messages_it_begins_with_ones_own_zone(team: Team) -> None:
    assert list_field_values(open_form(team, channel=OWN)) == {
        **NEW,
        "where": "me",
        "channel": None,
        "zone": "mine",
    }


def test_in_app_home_a_channel_is_to_be_chosen(team: Team) -> None:
    assert list_field_values(open_form(team, channel="")) == {**NEW, "channel": None}


def test_a_known_one_is_shown_as_it_is(team: Team) -> None:
    made = team.subscribe('acme/web.app at 17:30 tz Europe/Berlin weekdays only:risky path:src label:"a b"', OPEN)
    view = open_form(team, made.id)
    assert list_field_values(view) == {
        "repository": "Acme/web.app",
        "where": "channel",
        "channel": OPEN,
        "at": "17:30",
        "zone": "Europe/Berlin",
        "days": "weekdays",
        "only": "risky",
        "filter": 'path:src label:"a b"',
    }
    assert json.loads(view["private_metadata"])["id"] == made.id


def test_a_personal_one_is_for_its_owner_alone(team: Team) -> None:
    team.slack.set_person("U0ADA", tz="Asia/Tokyo")
    made = team.subscribe("me")
    assert list_field_values(open_form(team, made.id))["zone"] == "mine"
    team.open_form(make_click(team, OTHERS, "U0BEN"), made.id)
    assert team.slack.get_modal("U0BEN") is None
    assert list_whispers(team) == ["That is a personal subscription: only its owner can change it."]


def test_the_zone_of_somebody_else_does_not_become_ones_own_by_being_saved(team: Team) -> None:
    team.slack.set_person("U0ADA", tz="Asia/Tokyo")
    made = team.subscribe("tz mine")
    assert list_field_values(open_form(team, made.id))["zone"] == "mine"
    assert list_field_values(open_form(team, made.id, user="U0BEN"))["zone"] == "Asia/Tokyo"


@pytest.mark.parametrize("where", [HOME, ""], ids=["elsewhere", "home"])
def test_one_of_a_private_channel_is_opened_by_nobody_elsewhere(team: Team, where: str) -> None:
    made = team.subscribe(channel=PRIVATE)
    team.open_form(make_click(team, where, "U0BEN"), made.id)
    assert team.slack.get_modal("U0BEN") is None
    # who is in App Home is told by direct message
    texts = list_whispers(team) if where else [each["text"] for each in team.slack.list_messages(OTHERS)]
    assert texts == ["That subscription no longer exists."]
    team.slack.join_channel(PRIVATE, "U0BEN")
    assert list_field_values(open_form(team, made.id, where, "U0BEN"))["channel"] == PRIVATE


def test_one_that_is_gone_is_told(team: Team) -> None:
    team.open_form(make_click(team), "deadbeef")
    assert list_whispers(team) == ["That subscription no longer exists."]


def test_a_window_that_comes_too_late_is_told_once(team: Team) -> None:
    asked = make_click(team)
    team.slack.triggers.seconds = -1.0
    for _ in range(2):
        team.open_form(asked)
    assert list_whispers(team) == ["The window did not open in time: try again."]


def test_the_same_click_again_opens_one_window_and_says_nothing(team: Team) -> None:
    asked = make_click(team)
    team.open_form(asked)
    team.slack.fail_next("views.open", error="duplicate_external_id")
    team.open_form(asked)
    assert (len(team.slack.views), list_whispers(team)) == (1, [])


def test_a_slack_that_does_not_answer_is_tried_again(team: Team) -> None:
    asked = make_click(team)
    team.slack.fail_next("views.open", status=503)
    with pytest.raises(SlackUnavailable):
        team.open_form(asked)
    team.open_form(asked)
    assert team.slack.get_modal("U0ADA")


def test_each_time_that_it_is_sent_counts(team: Team) -> None:
    team.open_form(make_click(team))
    (view,) = team.slack.views
    sent = [{"user": {"id": "U0ADA"}, "view": view, "trigger_id": trigger} for trigger in ("1", "1", "2")]
    first, again, second = [declaration.parse_form(body) for body in sent]
    assert (first == again, first.key == second.key) == (True, False)
    assert (first.channel, first.response_url) == (HOME, json.loads(view["private_metadata"])["answer"])


def test_it_knows_where_it_was_opened_and_how_to_answer_there(team: Team) -> None:
    asked = make_click(team)
    team.open_form(asked)
    (view,) = team.slack.views
    assert json.loads(view["private_metadata"]) == {"version": 2, "channel": HOME, "answer": asked.response_url}
