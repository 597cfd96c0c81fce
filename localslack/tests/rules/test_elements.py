import pytest
from slack_sdk import WebClient

from localslack.methods.views import VIEW
from localslack.rules.blocks import BLOCK
from localslack.testing.emulator import SlackEmulator
from tests.client import HOME, refusal
from tests.parts import (
    IMAGE,
    Json,
    actions,
    button,
    confirm,
    entry,
    group,
    home,
    menu,
    modal,
    mrkdwn,
    option,
    options,
    plain,
    section,
)

LONG = option("x" * 150, description=plain("x" * 75))
FULL = options(100)
TICK = {"text": mrkdwn("*x*"), "value": "x"}
WORDS = plain("x" * 150)
ALL = confirm(
    title=plain("x" * 100), text=plain("x" * 300), confirm=plain("x" * 30), deny=plain("x" * 30), style="danger"
)

TAKEN: list[Json] = [
    button(confirm=ALL),
    menu("overflow", *options(5), confirm=ALL),
    menu("overflow", option(url="https://example.com")),
    menu("static_select", *FULL, placeholder=WORDS, initial_option=FULL[99], confirm=ALL, focus_on_load=True),
    menu("static_select", LONG, initial_option=LONG),
    menu(option_groups=[group(*options(100, n * 100), label="x" * 75) for n in range(100)]),
    menu(option_groups=[group(option("a")), group(option("b"))], initial_option=option("b")),
    menu("external_select", initial_option=LONG, min_query_length=0, placeholder=WORDS, confirm=ALL),
    menu("users_select", initial_user="U0ASKER", placeholder=WORDS, confirm=ALL),
    menu("conversations_select", initial_conversation="C0GENERAL", placeholder=WORDS, confirm=ALL),
    menu("conversations_select", default_to_current_conversation=True, filter={"exclude_bot_users": True}),
    menu("conversations_select", filter={"include": ["im", "mpim", "private", "public"]}),
    menu("conversations_select", filter={"include": ["public"], "exclude_external_shared_channels": False}),
    menu("timepicker", initial_time="00:00", placeholder=WORDS, timezone="America/Chicago", confirm=ALL),
    menu("timepicker", initial_time="23:59", focus_on_load=True),
    menu("checkboxes", *options(10), initial_options=options(10), confirm=ALL, focus_on_load=False),
    menu("checkboxes", TICK | {"description": plain("x" * 75)}),
    menu("radio_buttons", *options(10), initial_option=option("9"), confirm=ALL, focus_on_load=True),
    menu("radio_buttons", TICK, initial_option=TICK),
]

REFUSED: list[Json] = [
    button(confirm={}),
    *(button(confirm={key: part for key, part in confirm().items() if key != gone}) for gone in confirm()),
    button(confirm=confirm(title=plain("x" * 101))),
    button(confirm=confirm(text=plain("x" * 301))),
    button(confirm=confirm(text=mrkdwn("x"))),
    button(confirm=confirm(confirm=plain("x" * 31))),
    button(confirm=confirm(deny=plain("x" * 31))),
    button(confirm=confirm(style="loud")),
    button(focus_on_load=True),
    menu("overflow", *options(6)),
    menu("overflow", option("a"), option("a")),
    menu("overflow", TICK),
    menu("static_select"),
    menu("static_select", *options(101)),
    menu("static_select", option("x" * 151)),
    menu("static_select", option(text=plain("x" * 76))),
    menu("static_select", option(description=plain("x" * 76))),
    menu("static_select", option(url="https://example.com")),
    menu("static_select", option(""), option("b")),
    menu("static_select", option("a"), option("a")),
    menu("static_select", TICK),
    menu("static_select", option("a"), initial_option=option("b")),
    menu("static_select", option("a"), initial_option=option("a", text=plain("A"))),
    menu("static_select", option("a"), placeholder=plain("x" * 151)),
    menu("static_select", option("a"), placeholder=mrkdwn("x")),
    menu("static_select", option("a"), action_id="x" * 256),
    menu("static_select", option("a"), option_groups=[group(option("a"))]),
    menu(options=[]),
    menu(option_groups=[]),
    menu(option_groups=[group()]),
    menu(option_groups=[group(*options(101))]),
    menu(option_groups=[group(option(str(n))) for n in range(101)]),
    menu(option_groups=[group(option("a"), label="x" * 76)]),
    menu(option_groups=[group(option("a")), group(option("a"))]),
    menu("external_select", option("a")),
    menu("external_select", min_query_length=-1),
    menu("external_select", min_query_length="3"),
    menu("external_select", initial_option=option("x" * 151)),
    menu("users_select", initial_user="C0GENERAL"),
    menu("conversations_select", initial_conversation="U0ASKER"),
    menu("conversations_select", filter={}),
    menu("conversations_select", filter={"include": []}),
    menu("conversations_select", filter={"include": ["secret"]}),
    menu("conversations_select", filter={"exclude_bot_users": "yes"}),
    menu("conversations_select", response_url_enabled=True),
    menu("timepicker", initial_time="24:00"),
    menu("timepicker", initial_time="9:00"),
    menu("timepicker", initial_time="09:60"),
    menu("timepicker", initial_time="09:00:00"),
    menu("timepicker", timezone="Mars/Olympus"),
    menu("timepicker", timezone=""),
    menu("timepicker", placeholder=plain("x" * 151)),
    menu("checkboxes", *options(11)),
    menu("checkboxes", options=[]),
    menu("checkboxes", option("a"), initial_options=[]),
    menu("checkboxes", option("a"), initial_options=[option("b")]),
    menu("checkboxes", option("a"), placeholder=plain("x")),
    menu("radio_buttons", *options(11)),
    menu("radio_buttons", option("a"), initial_option=option("b")),
    menu("radio_buttons", option("a"), initial_options=[option("a")]),
    menu("plain_text_input"),
    menu("slider"),
]


@pytest.mark.parametrize("element", TAKEN, ids=lambda element: str(element)[:60])
def test_an_element_that_slack_takes_beside_and_below_text(element: Json) -> None:
    assert BLOCK(section(accessory=element))
    assert BLOCK(actions(element))


@pytest.mark.parametrize("element", REFUSED, ids=lambda element: str(element)[:60])
def test_an_element_that_slack_refuses_beside_and_below_text(element: Json) -> None:
    assert not BLOCK(section(accessory=element))
    assert not BLOCK(actions(element))


CHOOSERS = [element for element in TAKEN if element["type"] not in {"button", "overflow"}]
INPUTS: list[Json] = [
    *CHOOSERS,
    menu("plain_text_input", dispatch_action_config={"trigger_actions_on": ["on_enter_pressed"]}),
    menu("multi_static_select", *FULL, initial_options=FULL, max_selected_items=1, placeholder=WORDS, confirm=ALL),
    menu("multi_static_select", option_groups=[group(option("a"))], initial_options=[option("a")]),
]


@pytest.mark.parametrize("element", INPUTS, ids=lambda element: str(element)[:60])
def test_an_element_that_slack_takes_to_put_something_in(element: Json) -> None:
    assert VIEW(modal(entry(element)))
    assert VIEW(home(entry(element, dispatch_action=True, optional=True, hint=plain("x" * 2_000))))
    assert not BLOCK(entry(element))  # in a message


NOT_INPUTS: list[Json] = [
    *(element for element in REFUSED if element["type"] != "plain_text_input"),
    button(),
    IMAGE,
    menu("overflow", option()),
    menu("multi_static_select", *options(101)),
    menu("multi_static_select", option("a"), initial_options=[option("b")]),
    menu("multi_static_select", option("a"), initial_options=[]),
    menu("multi_static_select", option("a"), max_selected_items=0),
    menu("multi_static_select", option("a"), initial_option=option("a")),
    menu("plain_text_input", dispatch_action_config={"trigger_actions_on": []}),
    menu("plain_text_input", min_length=3_001),
    menu("plain_text_input", max_length=0),
]


@pytest.mark.parametrize("element", NOT_INPUTS, ids=lambda element: str(element)[:60])
def test_an_element_that_slack_refuses_to_put_something_in(element: Json) -> None:
    in_modal_only = "response_url_enabled" in element
    assert VIEW(modal(entry(element))) is in_modal_only
    assert not VIEW(home(entry(element)))


def test_menus_of_several_choices_stand_in_sections_and_not_in_rows() -> None:
    several = menu("multi_static_select", option("a"))
    assert BLOCK(section(accessory=several))
    assert not BLOCK(actions(several))


def test_one_element_of_a_view_is_ready_to_be_typed_in() -> None:
    eager = menu("static_select", option("a"), focus_on_load=True)
    others = [entry(eager | {"focus_on_load": False}), section(accessory=eager), actions(eager)]
    for block in others[1:]:
        assert VIEW(modal(others[0], block))
        assert not VIEW(modal(entry(eager), block))
    assert not VIEW(home(*others))


def test_slack_says_it_of_messages_and_views(slack: SlackEmulator, web: WebClient) -> None:
    fine, wrong = menu("timepicker", initial_time="09:00"), menu("timepicker", initial_time="9:00")
    assert web.chat_postMessage(channel=HOME, text="x", blocks=[actions(fine)])["ok"]
    assert web.views_publish(user_id="U0ASKER", view=home(actions(fine)))["ok"]
    posted = refusal(lambda: web.chat_postMessage(channel=HOME, text="x", blocks=[actions(wrong)]))
    opened = refusal(lambda: web.views_open(trigger_id=slack.make_trigger_id(), view=modal(entry(wrong))))
    assert (posted["error"], opened["error"]) == ("invalid_blocks", "invalid_arguments")
