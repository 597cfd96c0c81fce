"""What can be used in a message or a view: native controls that say what they are, and how they are set."""

import json
from dataclasses import replace

import pytest

from localslack.testing.html import ParsedHtml
from tests.blockkit.shown import NAMES, Json, message, modal
from tests.parts import (
    FEEDBACK,
    IMAGE,
    actions,
    button,
    confirm,
    context,
    group,
    menu,
    mrkdwn,
    option,
    options,
    plain,
    section,
)

NAMED = {"data-action": "act", "data-block": "row"}
TWO = (option("one"), option("two", description=plain("more")))


def row(element: Json) -> ParsedHtml:
    """The element in a row of its own."""
    return message(actions({"action_id": "act", **element}, block_id="row"))


def values(document: ParsedHtml) -> list[str]:
    return [tag["value"] for tag in document.find_all("option")]


def list_selected(document: ParsedHtml) -> list[str]:
    return [tag["value"] for tag in document.find_all("option") if "selected" in tag.attributes]


def test_a_button_has_its_names_its_value_and_its_colour() -> None:
    tag = row(button(value="v", style="danger", accessibility_label="Really x")).find_one(
        "button", **{"data-value": "v"}
    )
    assert NAMED.items() <= tag.attributes.items()
    assert (tag["type"], tag["class"], tag["aria-label"]) == ("button", "bk-button bk-danger", "Really x")
    assert "data-value" not in row(button()).find_one("button").attributes
    assert row(button(style="primary")).find_one("button")["class"] == "bk-button bk-primary"


def test_a_button_with_an_address_is_a_link_that_can_be_told_of() -> None:
    tag = row(button(url="https://a.example", value="v")).find_one("a")
    assert {**NAMED, "href": "https://a.example", "data-value": "v"}.items() <= tag.attributes.items()
    for url in ("javascript:x", "mailto:a@b.example"):
        assert row(button(url=url)).find_all("a") == []


def test_what_asks_first_says_what_it_asks_in_plain_words() -> None:
    asked = confirm(style="danger", text=mrkdwn('"*x*" <b>'), title=plain("Sure?"))
    confirmation = row(button(confirm=asked)).find_one("button")["data-confirm"]
    told = {"title": "Sure?", "text": '"*x*" <b>', "confirm": "x", "deny": "x", "style": "danger"}
    assert json.loads(confirmation) == told
    assert "data-confirm" not in row(button()).find_one("button").attributes


def test_a_button_for_some_is_not_there_for_others() -> None:
    shown = button(action_id="act", visible_to_user_ids=["U0ADA"])
    assert len(message(actions(shown)).find_all("button")) == 1
    assert message(actions(shown), names=replace(NAMES, reader="U0BOB")).find_all("button") == []


def test_what_has_no_name_gets_the_one_that_the_local_slack_gives_it() -> None:
    tags = message(section(), actions(button(), button()), section(accessory=button())).find_all("button")
    assert [(tag["data-block"], tag["data-action"]) for tag in tags] == [
        ("block1", "action0"),
        ("block1", "action1"),
        ("block2", "action0"),
    ]


def test_an_overflow_opens_and_has_a_button_for_each_option() -> None:
    document = row(menu("overflow", *TWO, {**option("web"), "url": "https://a.example"}, action_id="act"))
    assert document.find_one("summary")["aria-label"] == "More actions"
    assert [tag["data-value"] for tag in document.find_all("button")] == ["one", "two"]
    assert document.find_one("a")["data-value"] == "web"
    assert all(
        NAMED.items() <= tag.attributes.items() for tag in (*document.find_all("button"), document.find_one("a"))
    )


def test_a_menu_has_its_options_and_one_for_none() -> None:
    document = row(
        menu("static_select", *TWO, action_id="act", placeholder=plain("Pick one"), initial_option=TWO[1])
    )
    assert values(document) == ["", "one", "two"]
    assert list_selected(document) == ["two"]
    assert "two \u2013 more" in document.text
    told = {**NAMED, "aria-label": "Pick one", "data-kind": "static_select"}
    assert told.items() <= document.find_one("select").attributes.items()


def test_a_menu_of_groups_has_them() -> None:
    grouped = [group(*options(2), label="low"), group(*options(2, 2), label="high")]
    document = row(menu("static_select", action_id="act", option_groups=grouped))
    assert [tag["label"] for tag in document.find_all("optgroup")] == ["low", "high"]
    assert values(document) == ["", "0", "1", "2", "3"]


def test_a_menu_of_several_has_no_option_for_none() -> None:
    several = menu("multi_static_select", *TWO, initial_options=list(TWO), max_selected_items=2)
    document = message(section(accessory=several, block_id="row"))
    assert "multiple" in document.find_one("select").attributes
    assert document.find_one("select")["data-most"] == "2"
    assert values(document) == list_selected(document) == ["one", "two"]


@pytest.mark.parametrize(
    ("kind", "first", "known", "shown"),
    [
        ("users_select", "initial_user", "U0BOB", ["", "U0ADA", "U0BOB"]),
        ("users_select", "initial_user", "U0NEW", ["", "U0ADA", "U0BOB", "U0NEW"]),
        ("conversations_select", "initial_conversation", "C0OPEN", ["", "C0GENERAL", "C0OPEN"]),
    ],
)
def test_a_menu_of_people_or_places_has_those_that_have_names(
    kind: str, first: str, known: str, shown: list[str]
) -> None:
    document = row(menu(kind, action_id="act", **{first: known}))
    assert sorted(values(document)) == shown
    assert list_selected(document) == [known]
    assert ("@ada@bob" if kind == "users_select" else "#general#open") in document.text


@pytest.mark.parametrize(
    ("asks", "shown"),
    [
        ({}, "#general@helper"),
        ({"filter": {"exclude_bot_users": True}}, "#general@helper"),
        ({"filter": {"include": ["public", "private"]}}, "#general"),
        ({"filter": {"include": ["private"]}}, "#general"),
        ({"filter": {"include": ["im"]}}, "@helper"),
    ],
)
def test_a_menu_of_places_has_those_of_the_kinds_that_it_asks_for(asks: Json, shown: str) -> None:
    names = replace(NAMES, channels={"C0GENERAL": "general", "D0ADA": "helper"})
    document = message(actions(menu("conversations_select", placeholder=plain("Where"), **asks)), names=names)
    assert document.text.strip().removeprefix("Where") == shown


def test_a_menu_that_asks_the_app_says_after_how_many_letters() -> None:
    document = row(menu("external_select", action_id="act", initial_option=TWO[0], min_query_length=0))
    box = document.find_one("input", type="search")
    told = {**NAMED, "data-suggest": "act", "data-least": "0", "value": "one", "data-value": "one"}
    assert told.items() <= box.attributes.items()
    assert document.find_one("datalist")["id"] == box["list"]
    assert row(menu("external_select", action_id="act")).find_one("input")["data-least"] == "3"


def test_a_time_is_a_field_of_times() -> None:
    field = row(menu("timepicker", action_id="act", initial_time="09:30", timezone="Europe/Berlin")).find_one(
        "input"
    )
    assert {**NAMED, "type": "time", "value": "09:30"}.items() <= field.attributes.items()


@pytest.mark.parametrize(
    ("kind", "type_", "first"),
    [("radio_buttons", "radio", "initial_option"), ("checkboxes", "checkbox", "initial_options")],
)
def test_ticks_are_native_and_stand_together(kind: str, type_: str, first: str) -> None:
    there = (option("one"), {**option("two"), "text": mrkdwn("*two*"), "description": mrkdwn("_more_")})
    chosen = there[1] if kind == "radio_buttons" else [there[1]]
    document = row(menu(kind, *there, action_id="act", **{first: chosen}))
    assert NAMED.items() <= document.find_one("fieldset").attributes.items()
    assert [tag["value"] for tag in document.find_all("input", type=type_)] == ["one", "two"]
    assert ["checked" in tag.attributes for tag in document.find_all("input")] == [False, True]
    assert len({tag["name"] for tag in document.find_all("input")}) == 1
    assert len(document.find_all("strong")) == len(document.find_all("em")) == 1


def test_feedback_is_two_buttons_that_say_what_they_are() -> None:
    pair = {**FEEDBACK, "action_id": "act"}
    pair["negative_button"] = {**pair["negative_button"], "accessibility_label": "Not good"}
    tags = message({"type": "context_actions", "elements": [pair], "block_id": "row"}).find_all("button")
    assert [(tag["aria-label"], tag["data-value"]) for tag in tags] == [("Good", "good"), ("Not good", "bad")]
    assert all(NAMED.items() <= tag.attributes.items() for tag in tags)


@pytest.mark.parametrize(("icon", "text"), [("trash", ""), ("novelty", "Delete")])
def test_an_icon_has_a_name(icon: str, text: str) -> None:
    element = {"type": "icon_button", "icon": icon, "text": plain("Delete"), "action_id": "act", "value": "v"}
    document = message({"type": "context_actions", "elements": [element], "block_id": "row"})
    assert {**NAMED, "aria-label": "Delete", "data-value": "v"}.items() <= document.find_one(
        "button"
    ).attributes.items()
    assert document.text == text


def test_an_element_that_nobody_knows_is_named() -> None:
    assert row({"type": "datepicker"}).text == "datepicker can\u2019t be shown here"


def test_a_choice_of_the_state_is_in_the_place_of_the_first_one() -> None:
    asked = menu("static_select", *TWO, action_id="act", initial_option=TWO[0])
    for chosen, shown in ((TWO[1], ["two"]), (None, [])):
        setting = {"act": {"type": "static_select", "selected_option": chosen}}
        assert list_selected(modal(actions(asked, block_id="row"), row=setting)) == shown
    assert list_selected(modal(actions(asked, block_id="row"))) == ["one"]


def test_no_id_is_there_twice() -> None:
    ticks = menu("radio_buttons", *TWO)
    there = [actions(ticks, menu("static_select", *TWO), menu("external_select")), section(accessory=ticks)]
    documents = [message(*there), message(*there, ts="2.0"), message(*there, channel="C0OPEN"), modal(*there)]
    ids = [tag["id"] for each in documents for tag in each.tags if "id" in tag.attributes]
    names = {tag["name"] for each in documents for tag in each.find_all("input") if "name" in tag.attributes}
    assert len(set(ids)) == len(ids) == 5 * len(documents)
    assert len(names) == 2 * len(documents)


def test_images_and_small_print_have_no_names() -> None:
    document = message(context(IMAGE), section(accessory=IMAGE))
    assert [tag for tag in document.tags if "data-action" in tag.attributes] == []
