from typing import Any

import pytest
from slack_sdk import WebClient

from localslack.errors import InvalidAction
from localslack.testing.emulator import SlackEmulator
from localslack.users.person import Person
from tests.client import HOME, client_of, refusal
from tests.parts import Json, actions, button, entry, group, menu, modal, option, options, plain, section
from tests.tiny_app import Scripted


@pytest.fixture
def app() -> Scripted:
    return Scripted()


@pytest.fixture
def ada(slack: SlackEmulator, app: Scripted) -> Person:
    return Person(slack, app)


def open_form(person: Person, *blocks: Json, place: str = HOME, **more: Any) -> Json:
    trigger = person.slack.make_trigger_id(person.user, place)
    view: Json = client_of(person.slack).views_open(trigger_id=trigger, view=modal(*blocks, **more))["view"]
    return view


def ask(element: Json, **more: Any) -> Json:
    return entry(element, block_id=element["action_id"], **more)


def asking(kind: str, *choices: Json, **more: Any) -> Json:
    return ask(menu(kind, *choices, **more))


def state(delivery: Any, name: str) -> Json:
    field_state: Json = delivery.payload["view"]["state"]["values"][name][name]
    return field_state


def make_option(value: str) -> Json:
    """An option as Slack tells of it."""
    return {"text": {"type": "plain_text", "text": value, "emoji": True}, "value": value}


AB = (option("a"), option("b"))
TEXT, TIME = menu("plain_text_input"), menu("timepicker", initial_time="09:00")

# What the app gets


def test_a_submission_has_all_that_slack_sends(slack: SlackEmulator, web: WebClient, ada: Person) -> None:
    view = open_form(ada, ask(TEXT), callback_id="form", private_metadata="x", close=plain("No"), external_id="e")
    payload = ada.submit(view, plain_text_input="hello").payload
    assert payload["type"] == "view_submission"
    assert payload["team"] == {"id": "T0TEAM", "domain": "emulated"}
    assert payload["user"] == {"id": "U0ASKER", "username": "ada", "name": "ada", "team_id": "T0TEAM"}
    assert (payload["api_app_id"], payload["token"]) == ("A0LOCAL", "verification-token")
    assert (payload["response_urls"], payload["enterprise"], payload["is_enterprise_install"]) == ([], None, False)
    assert not {"channel", "message", "response_url", "container"} & payload.keys()
    sent = payload["view"]
    assert sent["state"] == {
        "values": {"plain_text_input": {"plain_text_input": {"type": "plain_text_input", "value": "hello"}}}
    }
    assert sent["title"] == sent["submit"] == {"type": "plain_text", "text": "x", "emoji": True}
    about = {"id": view["id"], "hash": view["hash"], "team_id": "T0TEAM", "type": "modal", "callback_id": "form"}
    own = {"private_metadata": "x", "external_id": "e", "app_id": "A0LOCAL", "bot_id": "B0LOCAL"}
    around = {"root_view_id": view["id"], "previous_view_id": None, "app_installed_team_id": "T0TEAM"}
    assert sent.items() >= {**about, **own, **around, "notify_on_close": False, "clear_on_close": False}.items()
    assert web.views_open(trigger_id=payload["trigger_id"], view=modal())["ok"]


FILLED: list[tuple[Json, Any, Any, Json]] = [
    (menu("plain_text_input", initial_value="x"), "y", {"value": "x"}, {"value": "y"}),
    (TIME, "23:59", {"selected_time": "09:00"}, {"selected_time": "23:59"}),
    (
        menu("timepicker", initial_time="09:00", timezone="Europe/Berlin"),
        "10:00",
        {"selected_time": "09:00", "timezone": "Europe/Berlin"},
        {"selected_time": "10:00", "timezone": "Europe/Berlin"},
    ),
    (
        menu("static_select", *AB, initial_option=AB[0]),
        "b",
        {"selected_option": make_option("a")},
        {"selected_option": make_option("b")},
    ),
    (
        menu(option_groups=[group(AB[0]), group(AB[1])], initial_option=AB[0]),
        "b",
        {"selected_option": make_option("a")},
        {"selected_option": make_option("b")},
    ),
    (
        menu("radio_buttons", *AB, initial_option=AB[0]),
        "b",
        {"selected_option": make_option("a")},
        {"selected_option": make_option("b")},
    ),
    (
        menu("checkboxes", *AB, initial_options=[AB[0]]),
        ["a", "b"],
        {"selected_options": [make_option("a")]},
        {"selected_options": [make_option("a"), make_option("b")]},
    ),
    (
        menu("multi_static_select", *AB, initial_options=list(AB), max_selected_items=1),
        ["b"],
        {"selected_options": [make_option("a"), make_option("b")]},
        {"selected_options": [make_option("b")]},
    ),
    (menu("users_select", initial_user="U0A"), "U0B", {"selected_user": "U0A"}, {"selected_user": "U0B"}),
    (
        menu("conversations_select", initial_conversation="C0OLD"),
        HOME,
        {"selected_conversation": "C0OLD"},
        {"selected_conversation": HOME},
    ),
    (
        menu("conversations_select", default_to_current_conversation=True),
        "C0SHARED",
        {"selected_conversation": HOME},
        {"selected_conversation": "C0SHARED"},
    ),
]


@pytest.mark.parametrize(("element", "value", "first", "then"), FILLED, ids=lambda value: str(value)[:40])
def test_an_input_has_what_the_app_or_the_person_put_there(
    slack: SlackEmulator, ada: Person, element: Json, value: Any, first: Json, then: Json
) -> None:
    slack.add_channel("C0SHARED", "both", shared=True)
    name, kind = element["action_id"], {"type": element["type"]}
    assert state(ada.submit(open_form(ada, ask(element))), name) == {**kind, **first}
    assert state(ada.submit(open_form(ada, ask(element)), {name: value}), name) == {**kind, **then}
    empty: Any = [] if "selected_options" in first else None
    cleared = ada.submit(open_form(ada, ask(element, optional=True)), {name: None})
    assert state(cleared, name) == {**kind, **first, **dict.fromkeys(first.keys() - {"timezone"}, empty)}


@pytest.mark.parametrize("element", [element for element, *_ in FILLED], ids=lambda value: str(value)[:40])
def test_what_must_be_filled_in_is(slack: SlackEmulator, ada: Person, element: Json) -> None:
    view = open_form(ada, ask(element))
    with pytest.raises(InvalidAction, match=f"must be filled in: {element['action_id']}"):
        ada.submit(view, {element["action_id"]: ""})
    assert slack.get_modal("U0ASKER") == view


@pytest.mark.parametrize(
    ("element", "value", "complaint"),
    [
        (TEXT, "x" * 3_001, "takes 3000 characters, not 3001"),
        (menu("plain_text_input", max_length=3), "four", "takes 3 characters"),
        (menu("plain_text_input", min_length=3), "no", "wants 3 characters"),
        (TEXT, "a\nb", "is a single line"),
        (TEXT, 7, "takes text"),
        (TIME, "24:00", "no HH:mm"),
        (TIME, "9:00", "no HH:mm"),
        (menu("static_select", *AB), "c", "has no c; it has a, b"),
        (menu("radio_buttons", *AB), "c", "has no c; it has a, b"),
        (menu("checkboxes", *AB), ["a", "c"], "has no c; it has a, b"),
        (menu("checkboxes", *AB), "a", "takes several"),
        (menu("multi_static_select", *AB, max_selected_items=1), ["a", "b"], "takes 1 choices, not 2"),
        (menu("external_select"), "a", "has no a; it has nothing"),
        (menu("external_select", initial_option=AB[0]), "b", "has no b; it has a"),
        (menu("users_select"), "ada", "no user"),
        (menu("users_select"), "U0GONE", "not in the team any more"),
        (menu("conversations_select"), "C0NONE", "there is no C0NONE"),
        (menu("conversations_select", filter={"include": ["private", "im"]}), HOME, "leaves C0GENERAL out"),
        (menu("conversations_select", filter={"exclude_bot_users": True}), "D0ASKER", "leaves D0ASKER out"),
        (
            menu("conversations_select", filter={"exclude_external_shared_channels": True}),
            "C0SHARED",
            "leaves C0SHARED out",
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_nobody_can_put_in_what_slack_does_not_let_them(
    slack: SlackEmulator, ada: Person, element: Json, value: Any, complaint: str
) -> None:
    slack.set_person("U0GONE", deleted=True)
    slack.add_channel("C0SHARED", "both", shared=True)
    slack.get_channel("D0ASKER")
    with pytest.raises(InvalidAction, match=complaint):
        ada.submit(open_form(ada, ask(element)), {element["action_id"]: value})


def test_what_fits_exactly_fits(ada: Person) -> None:
    exact = menu("plain_text_input", min_length=3, max_length=3)
    assert (
        state(ada.submit(open_form(ada, ask(exact)), plain_text_input="abc"), "plain_text_input")["value"] == "abc"
    )
    lines = menu("plain_text_input", multiline=True)
    ada.submit(open_form(ada, ask(lines)), plain_text_input="a\n" + "x" * 2_998)


def test_a_current_conversation_that_the_menu_leaves_out_is_none(ada: Person) -> None:
    current = {"default_to_current_conversation": True, "filter": {"include": ["private"]}}
    view = open_form(ada, ask(menu("conversations_select", **current), optional=True))
    assert state(ada.submit(view), "conversations_select")["selected_conversation"] is None


def test_inputs_of_one_name_are_told_apart_by_their_block(ada: Person) -> None:
    view = open_form(ada, entry(TIME, block_id="from"), entry(TIME, block_id="to"))
    with pytest.raises(InvalidAction, match="say in which block"):
        ada.submit(view, timepicker="10:00")
    values = ada.submit(view, {("to", "timepicker"): "10:00"}).payload["view"]["state"]["values"]
    times = {block: inputs["timepicker"]["selected_time"] for block, inputs in values.items()}
    assert times == {"from": "09:00", "to": "10:00"}


def test_a_form_asks_only_for_its_inputs(ada: Person) -> None:
    view = open_form(ada, ask(TIME), section(accessory=menu("static_select", *AB)))
    with pytest.raises(InvalidAction, match="does not ask for static_select; it asks for timepicker"):
        ada.submit(view, static_select="a")


def test_names_that_the_app_did_not_give_are_slacks(ada: Person) -> None:
    nameless = {"type": "timepicker", "initial_time": "09:00"}
    sent = ada.submit(open_form(ada, section(), entry(nameless))).payload["view"]
    assert [block["block_id"] for block in sent["blocks"]] == ["block0", "block1"]
    assert sent["state"]["values"]["block1"]["action0"]["selected_time"] == "09:00"


def test_a_conversation_can_be_answered_in(slack: SlackEmulator, ada: Person) -> None:
    place = ask(menu("conversations_select", response_url_enabled=True), optional=True)
    (url,) = ada.submit(open_form(ada, place), conversations_select=HOME).payload["response_urls"]
    names = {"block_id": "conversations_select", "action_id": "conversations_select"}
    assert url == {**names, "channel_id": HOME, "response_url": url["response_url"]}
    assert url["response_url"].startswith(slack.url)
    assert ada.submit(open_form(ada, place)).payload["response_urls"] == []


# Who sees what


def test_a_view_is_in_front_of_who_asked_for_it(slack: SlackEmulator, web: WebClient, ada: Person) -> None:
    view = open_form(ada)
    bob = Person(slack, ada.transport, "U0BOB", "bob")
    assert slack.get_modal("U0ASKER") == view
    assert slack.get_modal("U0BOB") is None
    with pytest.raises(InvalidAction, match="in front of U0ASKER"):
        bob.submit(view)
    message = web.chat_postMessage(channel=HOME, text="x", blocks=[actions(button(action_id="a"))])["message"]
    for trigger in (bob.send_command("/x").payload["trigger_id"], bob.press(message, "a").payload["trigger_id"]):
        shown = web.views_open(trigger_id=trigger, view=modal())["view"]
        assert slack.get_modal("U0BOB") == shown


def test_a_closed_view_is_gone(slack: SlackEmulator, web: WebClient, ada: Person) -> None:
    view = open_form(ada)
    assert ada.close(view) is None
    assert (slack.views, slack.get_modal("U0ASKER")) == ([], None)
    assert refusal(lambda: web.views_update(view_id=view["id"], view=modal()))["error"] == "not_found"
    with pytest.raises(InvalidAction, match="not open any more"):
        ada.submit(view)


def test_the_app_hears_of_it_where_it_wants_to(ada: Person) -> None:
    delivery = ada.close(open_form(ada, ask(TIME), notify_on_close=True))
    assert delivery
    assert (delivery.payload["type"], delivery.payload["is_cleared"]) == ("view_closed", False)
    assert state(delivery, "timepicker")["selected_time"] == "09:00"
    assert "trigger_id" not in delivery.payload


def test_a_form_without_a_button_cannot_be_sent(ada: Person) -> None:
    with pytest.raises(InvalidAction, match="no button"):
        ada.submit(open_form(ada, submit=None))


# What an answer does


def test_no_more_than_a_200_closes_a_form(slack: SlackEmulator, ada: Person) -> None:
    assert ada.submit(open_form(ada)).errors == {}
    assert slack.views == []


@pytest.mark.parametrize("status", [0, 404, 500])
def test_a_form_stays_where_it_is_when_it_is_not_answered(
    slack: SlackEmulator, ada: Person, app: Scripted, status: int
) -> None:
    view, app.status = open_form(ada), status
    assert ada.submit(view).ack.status == status
    assert slack.get_modal("U0ASKER") == view


def test_errors_are_read_and_what_was_put_in_stays(slack: SlackEmulator, ada: Person, app: Scripted) -> None:
    view = open_form(ada, ask(TIME))
    app.body = {"response_action": "errors", "errors": {"timepicker": "Not at night."}}
    assert ada.submit(view, timepicker="03:00").errors == {"timepicker": "Not at night."}
    assert slack.get_modal("U0ASKER") == view
    app.body = ""
    assert state(ada.submit(view), "timepicker")["selected_time"] == "03:00"


def test_another_view_takes_the_place_of_the_form(slack: SlackEmulator, ada: Person, app: Scripted) -> None:
    view = open_form(ada, ask(TIME))
    app.body = {"response_action": "update", "view": modal(section())}
    ada.submit(view)
    after = slack.get_modal("U0ASKER")
    assert after
    assert (after["id"], after["blocks"]) == (view["id"], [section()])
    assert after["hash"] != view["hash"]


def test_views_lie_on_each_other_three_high(slack: SlackEmulator, ada: Person, app: Scripted) -> None:
    root = open_form(ada)
    app.body = {"response_action": "push", "view": modal(notify_on_close=True)}
    ada.submit(root)
    second = slack.get_modal("U0ASKER")
    assert second
    assert (second["root_view_id"], second["previous_view_id"]) == (root["id"], root["id"])
    with pytest.raises(InvalidAction, match="behind another"):
        ada.submit(root)
    ada.submit(second)
    third = slack.get_modal("U0ASKER")
    assert third
    with pytest.raises(InvalidAction, match="push_limit_reached"):
        ada.submit(third)
    app.body = ""
    ada.submit(third)
    assert slack.get_modal("U0ASKER") == second
    app.body = {"response_action": "clear"}
    ada.submit(second)
    assert slack.views == []


def test_a_close_can_clear_all(slack: SlackEmulator, ada: Person, app: Scripted) -> None:
    root = open_form(ada)
    app.body = {"response_action": "push", "view": modal(notify_on_close=True, clear_on_close=True)}
    ada.submit(root)
    second = slack.get_modal("U0ASKER")
    assert second
    delivery = ada.close(second)
    assert delivery
    assert delivery.payload["is_cleared"] is True
    assert slack.views == []


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("ok", "is no text: ok"),
        ({"text": "thanks"}, "understands no such answer"),
        ({"response_action": "explode"}, "understands no such answer"),
        ({"response_action": "errors"}, "understands no such answer"),
        ({"response_action": "clear", "errors": {}}, "understands no such answer"),
        ({"response_action": "errors", "errors": {}}, "no error among"),
        ({"response_action": "errors", "errors": "no"}, "belong to blocks"),
        ({"response_action": "errors", "errors": {"nowhere": "x"}}, "not of an input block: nowhere"),
        ({"response_action": "errors", "errors": {"text": "x"}}, "not of an input block: text"),
        ({"response_action": "errors", "errors": {"timepicker": ""}}, "is a text"),
        ({"response_action": "errors", "errors": {"timepicker": ["x"]}}, "is a text"),
        ({"response_action": "update"}, "understands no such answer"),
        ({"response_action": "update", "view": modal(ask(TIME), submit=None)}, "to update: invalid_arguments"),
        ({"response_action": "update", "view": {"type": "home", "blocks": []}}, "to update: invalid_arguments"),
        ({"response_action": "push", "view": modal(title=plain("x" * 25))}, "to push: invalid_arguments"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_an_answer_that_slack_does_not_understand(
    slack: SlackEmulator, ada: Person, app: Scripted, body: str | Json, complaint: str
) -> None:
    view, app.body = open_form(ada, ask(TIME), section(block_id="text")), body
    with pytest.raises(InvalidAction, match=complaint):
        ada.submit(view)
    assert slack.get_modal("U0ASKER") == view


# What the app may do meanwhile


def test_a_view_is_pushed_by_a_trigger_from_below(slack: SlackEmulator, web: WebClient, ada: Person) -> None:
    view = open_form(ada, actions(button(action_id="more")))
    trigger = ada.press_in(view, "more").payload["trigger_id"]
    pushed = web.views_push(trigger_id=trigger, view=modal())["view"]
    assert slack.get_modal("U0ASKER") == pushed
    assert (pushed["root_view_id"], pushed["previous_view_id"]) == (view["id"], view["id"])
    spent = refusal(lambda: web.views_push(trigger_id=trigger, view=modal()))
    assert spent["error"] == "exchanged_trigger_id"
    astray = refusal(lambda: web.views_push(trigger_id=slack.make_trigger_id("U0ASKER", HOME), view=modal()))
    assert astray["error"] == "invalid_trigger_id"


def test_an_update_keeps_what_was_set_under_the_same_names(web: WebClient, ada: Person) -> None:
    def form(time: str, *choices: Json, block: str = "at") -> Json:
        picker, choice = (
            menu("timepicker", initial_time=time),
            menu("static_select", *choices, initial_option=choices[0]),
        )
        return modal(
            entry(picker, block_id=block, dispatch_action=True), section(accessory=choice, block_id="choice")
        )

    def list_choices(view: Json) -> list[Any]:
        values = view["state"]["values"].values()
        picker, choice = ({**inputs} for inputs in values)
        return [picker["timepicker"]["selected_time"], choice["static_select"]["selected_option"]["value"]]

    view = open_form(ada, *form("09:00", *AB)["blocks"])
    ada.press_in(view, "timepicker", value="10:00")
    web.views_update(view_id=view["id"], view=form("11:00", *AB))
    assert list_choices(ada.press_in(view, "static_select", value="b").payload["view"]) == ["10:00", "b"]
    web.views_update(view_id=view["id"], view=form("12:00", *options(3)))
    assert list_choices(ada.press_in(view, "static_select", value="2").payload["view"]) == ["10:00", "2"]
    web.views_update(view_id=view["id"], view=form("13:00", *options(3), block="new"))
    assert list_choices(ada.press_in(view, "static_select", value="1").payload["view"]) == ["13:00", "1"]


def test_what_slack_named_starts_again(web: WebClient, ada: Person) -> None:
    view = open_form(ada, entry(TIME, dispatch_action=True))
    ada.press_in(view, "timepicker", value="10:00")
    web.views_update(view_id=view["id"], view=modal(entry(TIME, dispatch_action=True)))
    sent = ada.submit(view).payload["view"]
    assert sent["state"]["values"]["block0"]["timepicker"]["selected_time"] == "09:00"


# Using what is in a view

USED: list[tuple[Json, str | None, Json]] = [
    (button(action_id="go", value="now"), None, {"value": "now", "text": {**plain("x"), "emoji": True}}),
    (menu("overflow", *AB), "b", {"selected_option": make_option("b")}),
    (menu("static_select", *AB, placeholder=plain("x")), "b", {"selected_option": make_option("b")}),
    (menu("radio_buttons", *AB), "a", {"selected_option": make_option("a")}),
    (
        menu("checkboxes", *AB, initial_options=[AB[0]]),
        "b",
        {"selected_options": [make_option("a"), make_option("b")]},
    ),
    (menu("checkboxes", *AB, initial_options=list(AB)), "a", {"selected_options": [make_option("b")]}),
    (TIME, "10:30", {"selected_time": "10:30", "initial_time": "09:00"}),
    (menu("users_select"), "U0B", {"selected_user": "U0B"}),
    (menu("conversations_select"), HOME, {"selected_conversation": HOME}),
]


@pytest.mark.parametrize(("element", "value", "expected_fields"), USED, ids=lambda value: str(value)[:40])
def test_a_use_tells_of_itself_and_of_the_whole_view(
    ada: Person, element: Json, value: str | None, expected_fields: Json
) -> None:
    view = open_form(ada, section(block_id="text"), {**actions(element), "block_id": "row"}, private_metadata="p")
    payload = ada.press_in(view, element["action_id"], value=value).payload
    (action,) = payload["actions"]
    about = {"type": element["type"], "action_id": element["action_id"], "block_id": "row"}
    assert action.items() >= {**about, "action_ts": "1772300000.000000", **expected_fields}.items()
    assert payload["container"] == {"type": "view", "view_id": view["id"]}
    assert not {"channel", "message", "response_url", "state"} & payload.keys()
    assert (payload["type"], payload["view"]["private_metadata"]) == ("block_actions", "p")
    settings = payload["view"]["state"]["values"].get("row", {}).get(element["action_id"], {})
    stateless = element["type"] in {"button", "overflow"}
    assert settings.items() == (set() if stateless else {k: v for k, v in settings.items() if k in action}.items())
    assert bool(settings) is not stateless


def test_what_was_used_stays_so(ada: Person) -> None:
    view = open_form(ada, actions(menu("checkboxes", *options(3))))
    for click, left in (("0", ["0"]), ("2", ["0", "2"]), ("0", ["2"])):
        (action,) = ada.press_in(view, "checkboxes", value=click).payload["actions"]
        assert [ticked["value"] for ticked in action["selected_options"]] == left


@pytest.mark.parametrize(
    ("action_id", "value", "complaint"),
    [
        ("veto", None, "the view has no veto; it has static_select=a, static_select=b, timepicker"),
        ("static_select", "c", "the view has no static_select=c"),
        ("static_select", None, "say which value: static_select=a, static_select=b"),
        ("timepicker", None, "say which value: timepicker"),
        ("timepicker", "noon", "no HH:mm"),
        ("plain_text_input", "x", "tells the app nothing before it is submitted"),
    ],
)
def test_what_is_not_there_cannot_be_used(ada: Person, action_id: str, value: str | None, complaint: str) -> None:
    view = open_form(ada, actions(menu("static_select", *AB), TIME), ask(TEXT))
    with pytest.raises(InvalidAction, match=complaint):
        ada.press_in(view, action_id, value=value)


def test_new_menus_and_pickers_work_in_messages_too(slack: SlackEmulator, web: WebClient, ada: Person) -> None:
    blocks = [actions(TIME, menu("checkboxes", *AB, initial_options=[AB[0]]), block_id="row")]
    message = web.chat_postMessage(channel=HOME, text="x", blocks=blocks)["message"]
    payload = ada.press(message, "timepicker", value="10:00").payload
    assert payload["actions"][0]["selected_time"] == "10:00"
    values = payload["state"]["values"]["row"]
    assert (values["timepicker"]["selected_time"], values["checkboxes"]["selected_options"]) == ("10:00", [AB[0]])


# Menus that find their options in the app

FINDER = menu("external_select", min_query_length=2)


def test_a_menu_finds_its_options_in_the_app(ada: Person, app: Scripted) -> None:
    view = open_form(ada, ask(FINDER), private_metadata="p")
    app.body = {"options": [*AB]}
    assert ada.suggest(view, "external_select", "ab") == [*AB]
    asked = app.sent[-1]
    names = {"block_id": "external_select", "action_id": "external_select"}
    assert asked.items() >= {"type": "block_suggestion", "value": "ab", **names, "token": asked["token"]}.items()
    assert asked["container"] == {"type": "view", "view_id": view["id"]}
    assert (asked["view"]["private_metadata"], asked["user"]["id"], asked["team"]["id"]) == (
        "p",
        "U0ASKER",
        "T0TEAM",
    )
    assert "trigger_id" not in asked
    app.body = ""
    sent = state(ada.submit(view, external_select="b"), "external_select")
    assert sent == {"type": "external_select", "selected_option": make_option("b")}


def test_options_in_groups_are_found_too(ada: Person, app: Scripted) -> None:
    view = open_form(ada, actions(FINDER))
    app.body = {"option_groups": [group(AB[0]), group(AB[1])]}
    assert ada.suggest(view, "external_select", "ab") == [*AB]
    (action,) = ada.press_in(view, "external_select", value="b").payload["actions"]
    assert action["selected_option"] == make_option("b")


@pytest.mark.parametrize(
    "body",
    [
        {"options": []},
        {"option_groups": []},
        {"options": options(100)},
        {"options": [option("x" * 150, description=plain("x" * 75))]},
        {"option_groups": [group(*options(100, n * 100), label="x" * 75) for n in range(100)]},
    ],
    ids=lambda value: str(value)[:40],
)
def test_options_that_slack_shows(ada: Person, app: Scripted, body: Json) -> None:
    app.body = body
    groups = body.get("option_groups", [])
    expected = [*body.get("options", []), *(choice for part in groups for choice in part["options"])]
    assert ada.suggest(open_form(ada, ask(FINDER)), "external_select", "ab") == expected


@pytest.mark.parametrize(
    "body",
    [
        "",
        "a, b",
        {},
        {"options": options(101)},
        {"options": [*AB], "option_groups": []},
        {"options": [option("x" * 151)]},
        {"options": [option(text=plain("x" * 76))]},
        {"options": [option(text={"type": "mrkdwn", "text": "x"})]},
        {"options": [AB[0], AB[0]]},
        {"option_groups": [group(AB[0], label="x" * 76)]},
        {"option_groups": [group(option(str(n))) for n in range(101)]},
        {"options": [*AB], "next": "x"},
    ],
    ids=lambda value: str(value)[:40],
)
def test_options_that_slack_does_not_show(ada: Person, app: Scripted, body: str | Json) -> None:
    app.body = body
    with pytest.raises(InvalidAction, match="understands no such options"):
        ada.suggest(open_form(ada, ask(FINDER)), "external_select", "ab")


def test_a_menu_asks_after_some_characters(ada: Person, app: Scripted) -> None:
    view = open_form(ada, ask(FINDER), ask(menu("external_select", action_id="usual")))
    for name, typed, least in (("external_select", "a", 2), ("usual", "ab", 3)):
        with pytest.raises(InvalidAction, match=f"{name} asks the app after {least} characters"):
            ada.suggest(view, name, typed)
    assert app.sent == []
    app.status = 500
    with pytest.raises(InvalidAction, match="did not answer"):
        ada.suggest(view, "usual", "abc")
