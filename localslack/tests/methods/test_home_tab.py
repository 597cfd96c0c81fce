import pytest
from slack_sdk import WebClient

from localslack.errors import InvalidAction
from localslack.testing.emulator import SlackEmulator
from localslack.users.person import Person
from tests.client import HOME, Json, refusal
from tests.parts import actions, button, entry, home, menu, modal, option, section
from tests.tiny_app import Scripted

CHOICES = (option("a"), option("b"))


def choice(first: str = "a") -> Json:
    return menu("static_select", *CHOICES, initial_option=option(first))


@pytest.fixture
def ada(slack: SlackEmulator) -> Person:
    return Person(slack, Scripted())


def publish_home(web: WebClient, *blocks: Json, user: str = "U0ASKER") -> Json:
    view: Json = web.views_publish(user_id=user, view=home(*blocks))["view"]
    return view


def test_a_home_is_each_persons_own(slack: SlackEmulator, web: WebClient) -> None:
    assert slack.get_home("U0ASKER") is None
    mine, other = publish_home(web, section("mine")), publish_home(web, section("yours"), user="U0BOB")
    assert (slack.get_home("U0ASKER"), slack.get_home("U0BOB")) == (mine, other)
    again = publish_home(web, section("new"))
    assert (again["id"], slack.get_home("U0ASKER")) == (mine["id"], again)
    assert mine["id"] != other["id"]
    assert slack.get_modal("U0ASKER") is None


@pytest.mark.parametrize("user", ["", "ada", HOME])
def test_a_home_is_somebodys(web: WebClient, user: str) -> None:
    assert refusal(lambda: web.views_publish(user_id=user, view=home()))["error"] == "invalid_arguments"


def test_an_app_may_have_no_home(slack: SlackEmulator, web: WebClient) -> None:
    slack.enable_home(enabled=False)
    assert refusal(lambda: publish_home(web))["error"] == "not_enabled"
    slack.enable_home()
    assert publish_home(web)["type"] == "home"


def test_a_hash_is_that_of_this_persons_home(web: WebClient) -> None:
    mine, _ = publish_home(web), publish_home(web, user="U0BOB")
    web.views_publish(user_id="U0ASKER", view=home(), hash=mine["hash"])
    stale = refusal(lambda: web.views_publish(user_id="U0ASKER", view=home(), hash=mine["hash"]))
    assert stale["error"] == "hash_conflict"


def test_who_opens_it_is_told_to_the_app(web: WebClient, ada: Person) -> None:
    payload = ada.open_home().payload
    event = payload["event"]
    assert (payload["type"], payload["team_id"], payload["api_app_id"]) == ("event_callback", "T0TEAM", "A0LOCAL")
    where = {"type": "app_home_opened", "user": "U0ASKER", "channel": "D0ASKER", "tab": "home"}
    assert event == {**where, "event_ts": event["event_ts"]}
    assert web.chat_postMessage(channel=event["channel"], text="hi")["ok"]
    assert web.conversations_open(users="U0ASKER")["channel"]["id"] == event["channel"]


def test_what_is_published_comes_with_it(web: WebClient, ada: Person) -> None:
    view = publish_home(web, section(accessory=choice(), block_id="choice"))
    shown = ada.open_home().payload["event"]["view"]
    assert (shown["id"], shown["hash"], shown["type"]) == (view["id"], view["hash"], "home")
    assert shown["state"]["values"]["choice"]["static_select"]["selected_option"]["value"] == "a"
    assert "view" not in ada.open_home("messages").payload["event"]
    assert ada.open_home("messages").payload["event"]["tab"] == "messages"


def test_a_home_is_used_like_a_form(slack: SlackEmulator, web: WebClient, ada: Person) -> None:
    row = {**actions(button(action_id="more")), "block_id": "row"}
    view = publish_home(web, section(accessory=choice(), block_id="choice"), row)
    chosen = ada.press_in(view, "static_select", value="b").payload
    assert chosen["container"] == {"type": "view", "view_id": view["id"]}
    assert chosen["view"]["state"]["values"]["choice"]["static_select"]["selected_option"]["value"] == "b"
    pressed = ada.press_in(slack.get_home("U0ASKER") or {}, "more").payload
    assert pressed["view"]["state"] == chosen["view"]["state"]
    opened = web.views_open(trigger_id=pressed["trigger_id"], view=modal())["view"]
    assert slack.get_modal("U0ASKER") == opened


def test_home_and_window_are_seen_together_and_as_they_are_set(
    slack: SlackEmulator, web: WebClient, ada: Person
) -> None:
    assert slack.get_views("U0ASKER") == (None, None)
    row = actions(menu("static_select", option("a"), option("b"), action_id="pick"), block_id="row")
    mine = publish_home(web, row)
    ada.press_in(mine, "pick", value="b")
    opened = web.views_open(trigger_id=slack.make_trigger_id("U0ASKER", HOME), view=modal(section("x")))["view"]
    home_seen, window = slack.get_views("U0ASKER")
    assert home_seen
    assert window
    assert home_seen["state"]["values"]["row"]["pick"]["selected_option"]["value"] == "b"
    assert (home_seen["id"], window["id"]) == (mine["id"], opened["id"])
    assert slack.get_views("U0BOB") == (None, None)


def test_it_is_neither_sent_nor_closed(slack: SlackEmulator, web: WebClient, ada: Person) -> None:
    view = publish_home(web, entry(menu("timepicker"), dispatch_action=True))
    with pytest.raises(InvalidAction, match="nothing to submit"):
        ada.submit(view, timepicker="10:00")
    with pytest.raises(InvalidAction, match="cannot be closed"):
        ada.close(view)
    with pytest.raises(InvalidAction, match="in front of U0ASKER"):
        Person(slack, Scripted(), "U0BOB").press_in(view, "timepicker", value="10:00")
    assert ada.press_in(view, "timepicker", value="10:00").payload["actions"][0]["selected_time"] == "10:00"


def test_a_choice_stays_until_the_home_is_opened_again(web: WebClient, ada: Person) -> None:
    def value(shown: Json) -> str:
        return str(shown["state"]["values"]["choice"]["static_select"]["selected_option"]["value"])

    view = publish_home(web, section(accessory=choice("a"), block_id="choice"), actions(button(action_id="x")))
    ada.press_in(view, "static_select", value="b")
    publish_home(web, section(accessory=choice("a"), block_id="choice"), actions(button(action_id="x")))
    assert value(ada.press_in(view, "x").payload["view"]) == "b"
    assert value(ada.open_home().payload["event"]["view"]) == "a"
