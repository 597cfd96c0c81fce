from typing import Any

import pytest

from localslack.testing.html import ParsedHtml
from tests.blockkit.shown import Json, modal
from tests.parts import entry, menu, mrkdwn, option, plain

TWO = [option("one"), option("two")]
NAMES = {"data-input": "", "data-block": "row", "data-action": "act"}
# the elements that an input block may have, with what each is set to: at first, and by the state
KINDS: list[tuple[Json, Json, Json]] = [
    (menu("static_select", *TWO), {"initial_option": TWO[0]}, {"selected_option": TWO[1]}),
    (menu("multi_static_select", *TWO), {"initial_options": TWO[:1]}, {"selected_options": TWO[1:]}),
    (menu("external_select"), {"initial_option": TWO[0]}, {"selected_option": TWO[1]}),
    (menu("users_select"), {"initial_user": "U0ADA"}, {"selected_user": "U0BOB"}),
    (menu("conversations_select"), {"initial_conversation": "C0OPEN"}, {"selected_conversation": "C0GENERAL"}),
    (menu("timepicker"), {"initial_time": "09:00"}, {"selected_time": "10:30"}),
    (menu("checkboxes", *TWO), {"initial_options": TWO[:1]}, {"selected_options": TWO[1:]}),
    (menu("radio_buttons", *TWO), {"initial_option": TWO[0]}, {"selected_option": TWO[1]}),
    (menu("plain_text_input"), {"initial_value": "one"}, {"value": "two"}),
    (menu("plain_text_input", multiline=True), {"initial_value": "\none"}, {"value": "\n\ntwo"}),
]
each = pytest.mark.parametrize(
    ("element", "first", "state"), KINDS, ids=[f"{kind['type']}{len(kind)}" for kind, _, _ in KINDS]
)


def render_input(element: Json, state: Json | None = None, **more: Any) -> ParsedHtml:
    """An input block of this element in a modal."""
    setting = {"row": {"act": {"type": element["type"], **state}}} if state is not None else {}
    return modal(entry({**element, "action_id": "act"}, block_id="row", **more), **setting)


def list_held_values(document: ParsedHtml) -> list[str]:
    """What the field holds, as a browser would send it."""
    chosen = [tag["value"] for tag in document.tags if {"checked", "selected"} & tag.attributes.keys()]
    typed = [
        tag.attributes.get("data-value") or tag.attributes.get("value", "") for tag in document.find_all("input")
    ]
    is_choice = any(tag.name in {"fieldset", "select"} for tag in document.tags)
    return chosen if is_choice else typed or [document.find_by_class("bk-field")[0].attributes.get("value", "")]


@each
def test_a_field_has_a_label_a_hint_and_room_for_what_is_wrong(element: Json, first: Json, state: Json) -> None:
    document = render_input(element, label=plain("The label"), hint=plain("The hint"))
    box = document.find_one("div", **{"data-input": ""})
    assert {**NAMES, "data-kind": element["type"]}.items() <= box.attributes.items()
    error = document.find_one("p", role="alert")
    assert "hidden" in error.attributes
    described = [tag["aria-describedby"].split() for tag in document.tags if "aria-describedby" in tag.attributes]
    ids = [tag["id"] for tag in document.find_all("p")]
    assert described == [ids]
    assert error["id"] == ids[-1]
    assert "The label" in document.text
    assert "The hint" in document.text


@each
def test_the_label_belongs_to_the_field(element: Json, first: Json, state: Json) -> None:
    document = render_input(element)
    labels = document.find_by_class("bk-label")
    assert [tag.name for tag in labels] in (["label"], ["legend"])
    if labels[0].name == "label":
        assert document.find_one(id=labels[0]["for"]).name in ("input", "select", "textarea")


@each
def test_a_field_alone_acts_by_its_block_only(element: Json, first: Json, state: Json) -> None:
    assert len([tag for tag in render_input(element).tags if "data-action" in tag.attributes]) == 1


@each
def test_a_field_that_may_stay_empty_says_so(element: Json, first: Json, state: Json) -> None:
    document, must = render_input(element, optional=True), render_input(element)
    assert "(optional)" in document.text
    assert "(optional)" not in must.text
    is_required = [["required" in tag.attributes for tag in each.tags] for each in (document, must)]
    assert not any(is_required[0])
    # of boxes to tick a browser would want every one
    assert any(is_required[1]) is (element["type"] != "checkboxes")
    assert "data-required" in must.find_one("div", **{"data-input": ""}).attributes


@pytest.mark.parametrize(
    ("element", "first", "state"), KINDS[:-1], ids=[kind["type"] for kind, _, _ in KINDS[:-1]]
)
def test_a_field_holds_what_the_state_says_or_else_what_it_is_at_first(
    element: Json, first: Json, state: Json
) -> None:
    def list_values(setting: Json) -> list[str]:
        value = next(iter(setting.values()))
        values = value if isinstance(value, list) else [value]
        return [each["value"] if isinstance(each, dict) else each for each in values]

    assert list_held_values(render_input({**element, **first})) == list_values(first)
    assert list_held_values(render_input({**element, **first}, state)) == list_values(state)
    emptied: Json = {key: [] if isinstance(value, list) else None for key, value in state.items()}
    assert "".join(list_held_values(render_input({**element, **first}, emptied))) == ""


def test_text_of_several_lines_keeps_them() -> None:
    element, first, state = KINDS[-1]
    # a browser drops the first line break of such a field
    assert "\n\none" in render_input({**element, **first}).text
    assert "\n\n\ntwo" in render_input({**element, **first}, state).text


def test_a_text_has_its_limits() -> None:
    element = menu("plain_text_input", min_length=2, max_length=5, placeholder=plain("Type"), focus_on_load=True)
    field = render_input(element).find_one("input")
    assert (field["minlength"], field["maxlength"], field["placeholder"]) == ("2", "5", "Type")
    assert "autofocus" in field.attributes
    assert render_input(menu("plain_text_input")).find_one("input")["maxlength"] == "3000"


@pytest.mark.parametrize(
    ("element", "told"),
    [
        (menu("static_select", *TWO), ""),
        (menu("plain_text_input"), "on_enter_pressed"),
        (
            menu("plain_text_input", dispatch_action_config={"trigger_actions_on": ["on_character_entered"]}),
            "on_character_entered",
        ),
    ],
)
def test_a_field_that_acts_at_once_says_when(element: Json, told: str) -> None:
    assert (
        render_input(element, dispatch_action=True).find_one("div", **{"data-input": ""})["data-dispatch"] == told
    )
    assert "data-dispatch" not in render_input(element).find_one("div", **{"data-input": ""}).attributes


def test_a_field_that_asks_the_app_names_its_block() -> None:
    field = render_input(menu("external_select")).find_one("input")
    assert (field["data-suggest"], field["data-block"]) == ("act", "row")


def test_ticks_in_a_form_may_have_markup_in_their_texts() -> None:
    there = {**option("one"), "text": mrkdwn("*one*")}
    assert len(render_input(menu("checkboxes", there)).find_all("strong")) == 1


def test_an_element_that_nobody_knows_is_named() -> None:
    assert "file_input can\u2019t be shown here" in render_input({"type": "file_input"}).text
