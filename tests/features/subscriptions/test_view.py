import datetime as dt
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localslack.rules.messages import check_message, find_links, find_mentions

from bot.features.merges.requests import DigestView, ViewLevel
from bot.features.subscriptions.rules import Subscription, Timing
from bot.features.subscriptions.view import (
    PREVIEW,
    REMOVE,
    DueSubscription,
    render_changes,
    render_choice,
    render_confirmation,
    render_listing,
    render_resumption,
    render_rows,
)
from bot.platform.pulls.paths import Filters
from bot.platform.slack.blocks import Post, count_characters
from tests.features.digest.hostile_days import LONGEST, texts
from tests.helpers.builders import REPOSITORY, make_view
from tests.helpers.world import as_read
from tests.platform.slack.accepted import MOST_BLOCKS, invisible, nodes, read_post

DUE = datetime(2026, 3, 2, 8, tzinfo=UTC)
NOW = datetime(2026, 3, 2, 7, 59, tzinfo=UTC)
ENGINE = Subscription("C0DIGEST", REPOSITORY, Timing(dt.time(9), ZoneInfo("Europe/Berlin")), by="U0ADA")
OWN = replace(
    ENGINE, channel="D0ADA", follows="U0ADA", timing=Timing(dt.time(7, 5), ZoneInfo("UTC"), weekdays=True)
)
FIXED = replace(ENGINE, by="")
# as long as names, zones and filters can be together
LONG = DigestView(Filters(labels=("x" * 900,)), ViewLevel.SUBSTANTIAL)
LARGE = Subscription(
    "C0DIGEST",
    LONGEST,
    Timing(dt.time(23, 59), ZoneInfo("America/Argentina/ComodRivadavia"), weekdays=True),
    LONG,
    by="U0ADA",
    follows="U0ADA",
)


def read(post: Post) -> str:
    return as_read(post.build_payload())


def assert_taken(post: Post) -> None:
    """Slack takes it, nobody is pinged and nothing links but the channel that it is for."""
    payload = post.build_payload()
    assert check_message(payload) is None
    assert (set(find_mentions(payload)) <= {"<#C0DIGEST>"}, find_links(payload)) == (True, [])
    assert invisible(read_post(post)) == []
    assert len(post.blocks) <= MOST_BLOCKS


def several(count: int, made: Subscription = ENGINE) -> list[DueSubscription]:
    return [(replace(made, channel=f"C{number}"), DUE) for number in range(count)]


def test_one_that_was_made_reads_in_a_sentence() -> None:
    assert read(render_confirmation(ENGINE, DUE, NOW)) == (
        "Subscribed: octo/engine, every day at 09:00 (Europe/Berlin), in #C0DIGEST. Next: 2026-03-02 08:00 UTC."
    )
    assert "Next: {date_short_pretty} {time} your time" in str(render_confirmation(ENGINE, DUE, NOW).blocks)
    assert read(render_confirmation(replace(OWN, view=DigestView(only=ViewLevel.RISKY)), DUE, NOW)) == (
        "Subscribed: octo/engine, from Monday to Friday at 07:05 (UTC, as your Slack is set), only:risky, "
        "in your direct messages with me. Next: 2026-03-02 08:00 UTC."
    )
    assert read(render_confirmation(ENGINE, DUE, DUE)).endswith("in #C0DIGEST. Next: in a minute.")


def test_a_second_time_it_says_what_it_was_or_that_nothing_changed() -> None:
    again = render_confirmation(ENGINE, DUE, NOW, replace(ENGINE, by="U0BEN", is_open=True))
    assert again.text == "Nothing changed: octo/engine"
    assert read(again) == (
        "Nothing changed: octo/engine, every day at 09:00 (Europe/Berlin), in #C0DIGEST. "
        "Next: 2026-03-02 08:00 UTC. To change it, write what is to be different, such as at 08:00."
    )
    weekly = replace(ENGINE, timing=replace(ENGINE.timing, at=dt.time(8), weekday=0))
    changed = render_confirmation(weekly, DUE, NOW, replace(ENGINE, is_paused=True))
    assert changed.text == "Changed: octo/engine"
    assert read(changed) == (
        "Changed: octo/engine, every Monday at 08:00 (Europe/Berlin), in #C0DIGEST. Next: 2026-03-02 08:00 UTC. "
        "Before: octo/engine, every day at 09:00 (Europe/Berlin), paused."
    )


def test_those_that_a_command_may_mean_have_one_button_each() -> None:
    paused = replace(ENGINE, is_paused=True, view=LONG)
    post = render_choice([FIXED, paused], PREVIEW)
    assert read(post).startswith("Which one?\n\nocto/engine, every day at 09:00")
    rows = [block["elements"] for block in post.blocks if block["type"] == "actions"]
    assert [[(each["action_id"], each["value"]) for each in row] for row in rows] == [
        [("subscription_preview", f"2|{each.id}")] for each in (FIXED, paused)
    ]
    removals = render_choice([ENGINE, paused], REMOVE)
    assert all("confirm" in block["elements"][0] for block in removals.blocks if block["type"] == "actions")
    assert_taken(render_choice([each for each, _ in several(30, LARGE)], REMOVE))


def test_several_that_were_changed_are_a_line_each() -> None:
    post = render_changes([ENGINE, OWN], "Paused", "/prdigest resume continues it.")
    assert (post.text, read(post).count("\n")) == ("Paused: octo/engine, octo/engine", 1)
    assert read(post).startswith("Paused: octo/engine, every day at 09:00 (Europe/Berlin). /prdigest resume")


def test_each_of_a_list_has_what_can_be_done_with_it() -> None:
    post = render_listing([(FIXED, DUE), (ENGINE, DUE), (replace(OWN, is_paused=True), DUE)])
    title, fixed, line, row, paused, turned, _ = post.build_payload()["blocks"]
    assert "3 digests come here" in str(title)
    assert "set by the bot's admin" in str(fixed)
    assert ("2. " in str(line), "Next: " in str(line)) == (True, True)
    assert ("paused" in str(paused), "Next: " in str(paused)) == (True, False)
    pressed = [[(each["action_id"], each["value"]) for each in block["elements"]] for block in (row, turned)]
    names = ["preview", "change", "pause", "remove"], ["preview", "change", "resume", "remove"]
    ids = (f"2|{ENGINE.id}", f"2|{OWN.id}")
    assert pressed == [
        [(f"subscription_{name}", value) for name in group] for group, value in zip(names, ids, strict=True)
    ]


def test_who_unsubscribes_is_asked_whether_they_mean_it() -> None:
    (asked,) = [
        each["confirm"]
        for each in render_confirmation(ENGINE, DUE, NOW).blocks[1]["elements"]
        if "confirm" in each
    ]
    assert [asked[part]["text"] for part in ("title", "text", "confirm", "deny")] == [
        "Unsubscribe?",
        "octo/engine will no longer be posted there. Posted digests stay.",
        "Unsubscribe",
        "Keep it",
    ]
    assert asked["style"] == "danger"


def test_in_app_home_each_says_where_it_goes() -> None:
    first, _, second, _ = render_rows([(ENGINE, DUE), (OWN, DUE)], with_place=True)
    assert next(nodes(first, "channel"))["channel_id"] == "C0DIGEST"
    assert "Sent to you" in str(second)
    assert not list(nodes(list(render_rows([(ENGINE, DUE)])), "channel"))


@pytest.mark.parametrize("count", [0, 1, 19, 20, 21, 300])
@pytest.mark.parametrize("made", [ENGINE, LARGE], ids=["usual", "large"])
def test_however_many_there_are_slack_takes_them(made: Subscription, count: int) -> None:
    post = render_listing(several(count, made))
    assert_taken(post)
    assert count_characters(list(post.blocks)) <= 10_000
    assert ("and 280 more" in read(post)) is (count == 300)


@pytest.mark.parametrize("count", [1, 20])
@pytest.mark.parametrize("made", [ENGINE, LARGE], ids=["usual", "large"])
def test_what_was_done_to_all_of_them_is_taken_too(made: Subscription, count: int) -> None:
    planned = several(count, made)
    assert_taken(render_changes([each for each, _ in planned], "Unsubscribed", "Posted digests stay."))
    assert_taken(render_resumption(planned, "snoozed"))


views = st.builds(
    lambda labels, only: make_view(Filters(labels=tuple(labels)), only),
    st.lists(texts(120), max_size=4),
    st.sampled_from(ViewLevel),
)
MADE: dict[str, Any] = {
    "confirmed": lambda made: render_confirmation(made, DUE, NOW),
    "changed": lambda made: render_changes([made], "Paused", ""),
    "listed": lambda made: render_listing([(made, DUE)]),
    "resumed": lambda made: render_resumption([(made, DUE)], "resumed"),
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
@given(view=views)
def test_whatever_the_filters_hold_is_literal(make: Any, view: DigestView) -> None:
    assert_taken(make(replace(ENGINE, view=view)))


def test_short_filters_are_written_out_and_long_ones_are_cut() -> None:
    short, long = DigestView(Filters(labels=("y" * 200,))), LONG
    assert "y" * 200 in read(render_confirmation(replace(ENGINE, view=short), DUE, NOW))
    assert len(read(render_confirmation(replace(ENGINE, view=long), DUE, NOW))) < 500


def test_every_one_of_twenty_is_there_with_its_number() -> None:
    told = read(render_listing(several(20, LARGE)))
    assert [number for number in range(1, 21) if f"{number}. " not in told] == []
