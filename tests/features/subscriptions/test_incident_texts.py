"""The message of the watchdog: short, literal, and true about what has ended."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localslack.rules.messages import check_message, find_links, find_mentions

from bot.features.subscriptions.incidents import Incident, IncidentKind, render_incidents
from bot.features.subscriptions.view import make_channel
from bot.platform.slack.blocks import Post, count_characters, make_instant
from tests.features.digest.hostile_days import WORST, texts
from tests.features.digest.hostile_days import lines as lines_of
from tests.platform.slack.accepted import MOST_CHARACTERS, invisible, strings

AT = datetime(2026, 3, 1, 17, 5, tzinfo=UTC)


def trouble(**fields: Any) -> Incident:
    made = Incident(
        "k", IncidentKind.MISSING, "octo/engine, 28 Feb", "GitHub is away", AT, AT, "C0DIGEST", "U0ADA"
    )
    return replace(made, **fields)


def lines(post: Post) -> list[str]:
    title, *lists = post.blocks[0]["elements"]
    rows = [title, *(row for bullet_list in lists for row in bullet_list["elements"])]
    named = {"channel": "channel_id", "date": "fallback"}
    return ["".join(str(each[named.get(each["type"], "text")]) for each in row["elements"]) for row in rows]


@pytest.mark.parametrize(
    ("incident", "line"),
    [
        pytest.param(
            trouble(),
            "octo/engine, 28 Feb for C0DIGEST is not posted yet: GitHub is away. Next try 2026-03-01 17:05 UTC.",
            id="missing",
        ),
        pytest.param(
            trouble(kind=IncidentKind.SKIPPED, retry=None),
            "octo/engine, 28 Feb for C0DIGEST will not be posted: GitHub is away. ",
            id="skipped",
        ),
        pytest.param(
            trouble(kind=IncidentKind.INCOMPLETE),
            "octo/engine, 28 Feb for C0DIGEST was posted incomplete: GitHub is away. "
            "Next try 2026-03-01 17:05 UTC.",
            id="incomplete",
        ),
        pytest.param(
            trouble(reason="It is away: try later.", retry=None),
            "octo/engine, 28 Feb for C0DIGEST is not posted yet: It is away: try later. ",
            id="a-sentence-keeps-one-full-stop",
        ),
        pytest.param(
            trouble(settled="posted after all, https://slack.test/1"),
            "✓ octo/engine, 28 Feb for C0DIGEST: posted after all, https://slack.test/1.",
            id="ended",
        ),
        pytest.param(
            trouble(channel="D0ADA", settled="complete now"),
            "✓ octo/engine, 28 Feb for a direct message: complete now.",
            id="direct",
        ),
    ],
)
def test_a_line_says_which_digest_where_what_why_and_when_again(incident: Incident, line: str) -> None:
    assert lines(render_incidents([incident])) == ["1 post needs attention", line]


@pytest.mark.parametrize("count", [1, 2, 10, 11, 100, 1_500])
def test_ten_are_named_and_the_others_counted(count: int) -> None:
    title, *items = lines(render_incidents([trouble(title=f"Day {n}") for n in range(count)]))
    assert title == ("1 post needs attention" if count == 1 else f"{count:,} posts need attention")
    assert [item.partition(" for ")[0] for item in items[:10]] == [f"Day {n}" for n in range(min(count, 10))]
    more = [f"and {count - 10:,} more: prdigest doctor lists them"] if count > 10 else []
    assert [item.replace("1490", "1,490") for item in items[10:]] == more


def test_a_notification_names_the_first_three() -> None:
    post = render_incidents([trouble(title=f"Day {n} <!here>") for n in range(5)])
    details = ". ".join(f"Day {n} &lt;!here&gt;: is not posted yet" for n in range(3))
    assert post.text == f"5 posts need attention. {details}"


@pytest.mark.parametrize(
    ("channel", "shown"),
    [
        ("C0DIGEST", {"type": "channel", "channel_id": "C0DIGEST"}),
        ("G0OLD", {"type": "channel", "channel_id": "G0OLD"}),
        ("D0ADA", {"type": "text", "text": "a direct message"}),
        ("#digest", {"type": "text", "text": "#digest"}),
        ("Cafeteria\n<!here>", {"type": "text", "text": "Cafeteria <!here>"}),
    ],
)
def test_a_channel_is_shown_by_its_name_where_slack_knows_it(channel: str, shown: dict[str, str]) -> None:
    assert make_channel(channel) == shown


def test_an_instant_is_shown_by_each_readers_clock() -> None:
    date_fields = {"format": "{date_short_pretty} at {time}", "fallback": "2026-03-01 17:05 UTC"}
    assert make_instant(AT) == {"type": "date", "timestamp": 1_772_384_700, **date_fields}


def test_in_a_sentence_its_words_belong_to_it_so_that_no_capital_stands_in_the_middle() -> None:
    instant = make_instant(AT, "next ")
    assert (instant["format"], instant["fallback"]) == (
        "next {date_short_pretty} at {time}",
        "next 2026-03-01 17:05 UTC",
    )


@given(
    st.lists(
        st.builds(
            trouble,
            title=lines_of(400),
            reason=texts(400),
            settled=st.just("") | texts(400),
            retry=st.none() | st.just(AT),
            kind=st.sampled_from(IncidentKind),
            channel=st.sampled_from(["C0DIGEST", "D0ADA"]) | lines_of(40),
        ),
        min_size=1,
        max_size=14,
    )
)
def test_hostile_texts_make_a_message_that_slack_takes_and_that_pings_nobody(incidents: list[Incident]) -> None:
    assert_literal(render_incidents(incidents))


@pytest.mark.parametrize("worst", WORST.values(), ids=list(WORST))
def test_the_longest_texts_are_cut(worst: str) -> None:
    assert_literal(render_incidents([trouble(title=worst * 9, reason=worst * 9)] * 200))


def assert_literal(post: Post) -> None:
    payload = post.build_payload()
    assert check_message(payload) is None
    assert set(find_mentions(payload)) <= {"<#C0DIGEST>"}
    assert find_links(payload) == []
    assert count_characters(list(post.blocks)) <= MOST_CHARACTERS
    assert [text for text in strings(list(post.blocks)) if invisible(text) or "\n" in text] == []
