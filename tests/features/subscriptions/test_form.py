import copy
import datetime as dt
import json
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localslack.methods.views import VIEW
from localslack.rules.messages import find_mentions
from localslack.state.element_values import add_default_ids, get_initial_settings

from bot.errors import UsageError
from bot.features.merges.requests import DigestView, ViewLevel
from bot.features.subscriptions.rules import Subscription, SubscriptionRequest, Timing
from bot.features.subscriptions.view import (
    FormErrors,
    parse_form,
    render_form,
    suggest_repositories,
    suggest_zones,
)
from bot.platform.commands import AllowedRepositories
from bot.platform.pulls.paths import Filters
from bot.platform.slack.requests import SlackRequest
from impact.repository import Repository
from tests.features.digest.hostile_days import LONGEST, texts
from tests.helpers.builders import REPOSITORY
from tests.helpers.checks import is_one_sentence
from tests.helpers.doubles import slack_request

WEB = Repository("Acme", "web.app")
KNOWN = AllowedRepositories(REPOSITORY, (WEB,))
BERLIN = ZoneInfo("Europe/Berlin")
USUAL = Timing(dt.time(9), ZoneInfo("America/Los_Angeles"))
NEW = SubscriptionRequest(REPOSITORY, USUAL.at, USUAL.zone, weekdays=False)
VIEWED = DigestView(Filters(paths=("src",), labels=("a b",)), ViewLevel.RISKY)
OLD = Subscription("C0OPEN", WEB, Timing(dt.time(17, 30), BERLIN, weekdays=True), VIEWED, by="U0ADA")
Json = dict[str, Any]


def render_opened(old: Subscription | None = None, asked: SlackRequest | None = None) -> Json:
    return render_form((REPOSITORY, WEB), USUAL, old, asked or slack_request())


def make_submission(view: Json, **values: Json) -> Json:
    settings = get_initial_settings(add_default_ids(view["blocks"]), None)
    state = {block: {action: setting} for (block, action), setting in settings.items()}
    for name, value in values.items():
        state[name][name] = {**state[name][name], **value}
    return {**view, "state": {"values": state}}


def option(value: str) -> Json:
    return {"selected_option": {"text": {"type": "plain_text", "text": value}, "value": value}}


def errors(view: Json, values: dict[str, Json], known: AllowedRepositories = KNOWN) -> dict[str, str]:
    with pytest.raises(FormErrors) as caught:
        parse_form(make_submission(view, **values), known)
    assert [sentence for sentence in caught.value.errors.values() if not is_one_sentence(sentence)] == []
    return caught.value.errors


# --- the window


@pytest.mark.parametrize("old", [None, OLD], ids=["new", "known"])
def test_slack_opens_it(old: Subscription | None) -> None:
    view = render_opened(old)
    assert VIEW(view)
    assert find_mentions({"blocks": view["blocks"]}) == []
    assert [view[part]["text"] for part in ("title", "submit", "close")] == ["Subscription", "Save", "Cancel"]
    labels = [block["label"]["text"] for block in view["blocks"]]
    assert labels == ["Repository", "Where", "Channel", "At", "Time zone", "Days", "Show", "Filter"]


def test_the_largest_is_opened_too() -> None:
    many = tuple(Repository("o" * 39, f"{number}".rjust(100, "n")) for number in range(150))
    long = Subscription(
        "C0OPEN", LONGEST, OLD.timing, DigestView(Filters(labels=("x" * 490,))), by="U0ADA", follows="U0ADA"
    )
    view = render_form(many, USUAL, long, slack_request(response_url="https://hooks.slack.test/" + "x" * 200))
    assert VIEW(view)


@given(st.lists(texts(60), max_size=4))
def test_hostile_filters_are_literal(labels: list[str]) -> None:
    old = Subscription("C0OPEN", WEB, OLD.timing, DigestView(Filters(labels=tuple(labels))), by="U0ADA")
    assert find_mentions({"blocks": render_opened(old)["blocks"]}) == []


# --- what comes back


def test_what_was_shown_comes_back_as_it_was() -> None:
    wish, channel, replaces = parse_form(make_submission(render_opened(OLD)), KNOWN)
    assert wish == SubscriptionRequest(WEB, dt.time(17, 30), BERLIN, weekdays=True, view=VIEWED)
    assert (channel, replaces) == ("C0OPEN", OLD.id)


def test_a_weekly_one_comes_back_with_its_day() -> None:
    weekly = replace(OLD, timing=replace(OLD.timing, weekdays=False, weekday=6))
    wish, _, _ = parse_form(make_submission(render_opened(weekly)), KNOWN)
    assert wish == SubscriptionRequest(WEB, dt.time(17, 30), BERLIN, weekdays=False, weekday=6, view=VIEWED)


def test_a_new_one_comes_back_with_what_is_usual() -> None:
    wish, channel, replaces = parse_form(make_submission(render_opened()), KNOWN)
    assert (wish, channel, replaces) == (NEW, "C0DIGEST", "")


def test_in_direct_messages_it_is_personal_and_in_ones_own_zone() -> None:
    wish, channel, _ = parse_form(make_submission(render_opened(asked=slack_request(channel="D0ADA"))), KNOWN)
    assert (wish.is_personal, wish.is_mine, wish.zone, channel) == (True, True, None, "")


CHOSEN: dict[str, tuple[dict[str, Json], SubscriptionRequest]] = {
    "repository": ({"repository": option("Acme/web.app")}, replace(NEW, repository=WEB)),
    "time": (
        {"at": {"selected_time": "00:00"}},
        SubscriptionRequest(REPOSITORY, dt.time(0), USUAL.zone, weekdays=False),
    ),
    "zone": (
        {"zone": option("Europe/Berlin")},
        SubscriptionRequest(REPOSITORY, dt.time(9), BERLIN, weekdays=False),
    ),
    "own zone": (
        {"zone": option("mine")},
        SubscriptionRequest(REPOSITORY, dt.time(9), is_mine=True, weekdays=False),
    ),
    "days": ({"days": option("weekdays")}, replace(NEW, weekdays=True)),
    "a day of each week": ({"days": option("weekly friday")}, replace(NEW, weekdays=False, weekday=4)),
    "weight": (
        {"only": option("risky")},
        SubscriptionRequest(
            REPOSITORY, USUAL.at, USUAL.zone, weekdays=False, view=DigestView(only=ViewLevel.RISKY)
        ),
    ),
    "filters": ({"filter": {"value": "  path:src label:“a b” "}}, replace(NEW, view=DigestView(VIEWED.filters))),
    "to me": ({"where": option("me")}, replace(NEW, is_personal=True)),
}


@pytest.mark.parametrize(("values", "expected"), CHOSEN.values(), ids=CHOSEN)
def test_each_field_is_read(values: dict[str, Json], expected: SubscriptionRequest) -> None:
    wish, channel, _ = parse_form(make_submission(render_opened(), **values), KNOWN)
    assert (wish, channel) == (expected, "" if expected.is_personal else "C0DIGEST")
    assert SubscriptionRequest.parse(str(wish), KNOWN) == wish


NOWHERE = {"channel": "Choose a channel, or send the digest to yourself."}
UNKNOWN = "write path:…, [not-]author:… or label:… here."
WRONG: dict[str, tuple[dict[str, Json], dict[str, str]]] = {
    "no channel": ({"channel": {"selected_conversation": None}}, NOWHERE),
    "words": ({"filter": {"value": "vllm/v1"}}, {"filter": f"I don't understand 'vllm/v1': {UNKNOWN}"}),
    "hostile": ({"filter": {"value": "<!here>\u202e"}}, {"filter": f"I don't understand '<!here>': {UNKNOWN}"}),
    "other option": (
        {"filter": {"value": "repo:a/b"}},
        {"filter": "I don't understand repo: here, use path:… [not-]author:… label:… instead."},
    ),
    "open quotes": (
        {"filter": {"value": 'label:"a'}},
        {"filter": "A quotation mark is not closed: close it, or leave it out."},
    ),
    "path": (
        {"filter": {"value": "path:[a]"}},
        {"filter": "path:'[a]' can't be used: write vllm/v1, *.cu or csrc/**/moe instead."},
    ),
    "no time": ({"at": {"selected_time": None}}, {"at": "'' is not a time: write it as 09:00 or 9am."}),
    "zone": (
        {"zone": option("Mars/Base")},
        {"zone": "'Mars/Base' is not a time zone: use an IANA name, such as America/Los_Angeles."},
    ),
    "weight": (
        {"only": option("heavy")},
        {
            "only": "I don't understand only:'heavy': write only:breaking, only:risky, only:substantial, "
            "only:touching or only:pending."
        },
    ),
    "all of it": (
        {"channel": {"selected_conversation": ""}, "filter": {"value": "label:"}},
        {**NOWHERE, "filter": "label: needs a value directly after the colon."},
    ),
}


@pytest.mark.parametrize(("values", "expected"), WRONG.values(), ids=WRONG)
def test_what_can_not_be_used_is_told_at_its_field(values: dict[str, Json], expected: dict[str, str]) -> None:
    assert errors(render_opened(), values) == expected


@pytest.mark.parametrize("count", [1, 99, 100, 101, 150])
def test_however_many_repositories_there_are_a_change_keeps_its_own(count: int) -> None:
    many = tuple(Repository("octo", f"part-{number}") for number in range(count))
    known = AllowedRepositories(REPOSITORY, many)
    for asked in (REPOSITORY, many[-1]):
        old = replace(OLD, repository=asked)
        view = render_form(known.list_all(), USUAL, old, slack_request())
        assert parse_form(make_submission(view), known)[0].repository == asked
    suggestions = suggest_repositories(known.list_all(), "Part-9")
    assert {each["value"] for each in suggestions} == {str(each) for each in many if "part-9" in each.name}
    assert len(suggest_repositories(known.list_all(), "")) == min(100, count + 1)


def test_a_repository_that_is_not_in_the_settings_any_more_is_told_at_its_field() -> None:
    for view in (render_opened(OLD), render_form((REPOSITORY,), USUAL, OLD, slack_request())):
        assert errors(view, {}, AllowedRepositories(REPOSITORY)) == {
            "repository": "I'm not set up for Acme/web.app: ask about octo/engine."
        }


def test_what_is_too_long_in_all_is_told_at_the_filters() -> None:
    values = {"filter": {"value": "label:" + "x" * 900}}
    refusals = errors(render_form((LONGEST,), USUAL, None, slack_request()), values, AllowedRepositories(LONGEST))
    assert refusals == {"filter": "That command is too long: use up to 1,000 characters."}


@given(texts(500))
def test_whatever_is_typed_is_read_or_refused(typed: str) -> None:
    view = make_submission(render_opened(), filter={"value": typed})
    try:
        wish, _, _ = parse_form(copy.deepcopy(view), KNOWN)
    except UsageError:
        return
    assert SubscriptionRequest.parse(str(wish), KNOWN) == wish


def test_what_it_knows_of_where_it_was_opened_fits() -> None:
    view = render_opened(OLD, slack_request(response_url="https://hooks.slack.test/1"))
    assert json.loads(view["private_metadata"]) == {
        "version": 2,
        "id": OLD.id,
        "channel": "C0DIGEST",
        "answer": "https://hooks.slack.test/1",
    }


# --- the picker of zones


def zones(typed: str) -> list[str]:
    return [option["value"] for option in suggest_zones(typed)]


FOUND: dict[str, list[str]] = {
    "berlin": ["Europe/Berlin"],
    "Europe/BER": ["Europe/Berlin"],
    " los angeles ": ["America/Los_Angeles"],
    "new york": ["America/New_York"],
    "my own": ["mine"],
    "nowhere": [],
    "<!here>": [],
    "../": [],
}


@pytest.mark.parametrize(("typed", "expected"), FOUND.items(), ids=map(repr, FOUND))
def test_zones_are_found_by_what_somebody_types(typed: str, expected: list[str]) -> None:
    assert zones(typed) == expected


def test_before_they_type_there_is_their_own_and_the_usual_ones() -> None:
    suggestions = zones("")
    assert suggestions[0] == "mine"
    assert {"America/Los_Angeles", "UTC", "Europe/Berlin", "Asia/Kolkata"} < set(suggestions)
    assert zones("  ") == suggestions


@pytest.mark.parametrize("typed", ["", "a", "america", "o", "x" * 3_000])
def test_there_are_never_more_than_slack_shows(typed: str) -> None:
    suggestions = suggest_zones(typed)
    assert len(suggestions) <= 100
    assert [each for each in suggestions if not (0 < len(each["text"]["text"]) <= 75 and each["value"])] == []
    assert len({each["value"] for each in suggestions}) == len(suggestions)


def test_every_zone_that_is_offered_can_be_kept() -> None:
    for name in zones("a"):
        if name != "mine":
            assert ZoneInfo(name).key == name


# --- the profile

CHECKED = replace(OLD, view=DigestView(only=ViewLevel.TOUCHING, profile="gone"))
NAMES = ("ascend", "xpu")


def render_profiled(old: Subscription | None = None, names: tuple[str, ...] = NAMES) -> Json:
    return render_form((REPOSITORY, WEB), USUAL, old, slack_request(), names)


def test_a_profile_is_asked_for_only_where_there_are_some() -> None:
    assert "profile" not in {block["block_id"] for block in render_profiled(names=())["blocks"]}
    (field,) = [block for block in render_profiled()["blocks"] if block["block_id"] == "profile"]
    assert [option["value"] for option in field["element"]["options"]] == ["-", *NAMES]
    assert field["element"]["initial_option"]["value"] == "-"


@pytest.mark.parametrize(
    ("values", "view"),
    [
        ({}, DigestView()),
        ({"profile": option("xpu")}, DigestView(profile="xpu")),
        (
            {"profile": option("xpu"), "only": option("touching")},
            DigestView(only=ViewLevel.TOUCHING, profile="xpu"),
        ),
    ],
)
def test_the_profile_is_read(values: dict[str, Json], view: DigestView) -> None:
    wish, *_ = parse_form(make_submission(render_profiled(), **values), KNOWN)
    assert wish.view == view


def test_what_touches_nothing_in_particular_is_refused_at_its_field() -> None:
    with pytest.raises(FormErrors) as caught:
        parse_form(make_submission(render_profiled(), only=option("touching")), KNOWN)
    assert caught.value.errors == {"profile": "Choose a profile, or show more than what touches it."}


def test_a_profile_that_is_gone_stays_until_somebody_chooses_another() -> None:
    wish, *_ = parse_form(make_submission(render_profiled(CHECKED)), KNOWN)
    assert wish.view == CHECKED.view
