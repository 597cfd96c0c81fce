"""Tables where people compare: what Slack takes, and the same in lines where it takes none."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localslack.rules.messages import check_message, find_mentions

from bot.errors import SlackCallRefused
from bot.platform.slack.blocks import (
    MAX_TABLE_CHARACTERS,
    MAX_TABLE_ROWS,
    Post,
    count_characters,
    has_table,
    make_link,
    make_table,
    make_text,
    replace_tables,
)
from bot.platform.slack.messenger import SlackEphemeralMessenger, SlackMessenger
from tests.emulators.slack.server import SlackEmulator
from tests.features.digest.posting import messenger_of
from tests.helpers.doubles import slack_request
from tests.helpers.world import as_read
from tests.platform.slack.accepted import nodes

HOSTILE = [
    "",
    "a | b | c",
    "<!channel> <@U0ADA> *bold* `code`",
    "x" * 10_000,
    "\u202eright to left",
    "line\nbreak",
    "\u200b",
    "| --- |",
]


def row(*texts: str) -> list[list[dict[str, Any]]]:
    return [[make_text(text)] if text else [] for text in texts]


ROWS = [row(str(number), f"name {number}", "done" * (number == 4)) for number in range(5)]
TABLE = make_table("Five", ("Number", "Name", "Said"), ROWS)


def test_a_table_has_a_header_and_a_dash_in_place_of_nothing() -> None:
    assert check_message({"text": "x", "blocks": [TABLE]}) is None
    header, first, *_ = TABLE["rows"]
    assert [cell["text"] for cell in header] == ["Number", "Name", "Said"]
    assert first[2]["elements"][0]["elements"] == [make_text("\u2013")]
    without = make_table("Four", ("Number", "Said"), [row("1", "")] * 4)
    assert [cell["text"] for cell in without["rows"][0]] == ["Number"]


def test_in_lines_it_says_the_same_without_empty_cells() -> None:
    lines = as_read({"text": "x", "blocks": [TABLE]})
    assert lines.splitlines() == [
        "Five",
        *(f"  • {number} · name {number}" for number in range(4)),
        "  • 4 · name 4 · done",
    ]
    (block,) = replace_tables([TABLE])
    assert check_message({"text": "x", "blocks": [block]}) is None
    assert replace_tables([block]) == [block]


def test_links_stay_links_in_both() -> None:
    link = make_link("https://github.com/octo/engine/pull/7", "#7")
    table = make_table("Links", ("Merge", "Other"), [[[link], []]] * 4)
    assert list(nodes(table, "link")) == [link] * 4
    assert list(nodes(replace_tables([table]), "link")) == [link] * 4


CELLS = st.sampled_from(HOSTILE)


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=150), st.text())
def test_slack_takes_it_whatever_stands_in_it_and_nothing_pings(texts: list[tuple[str, str]], title: str) -> None:
    table = make_table(f"T {title}", ("One", "Two"), [row(*each) for each in texts])
    assert find_mentions({"text": "x", "blocks": [table]}) == []
    if not has_table([table]):
        shown = [text or "\u2013" for each in texts[:MAX_TABLE_ROWS] for text in each]
        assert sum(map(len, shown)) > MAX_TABLE_CHARACTERS - len("OneTwo")
        return
    assert check_message({"text": "x", "blocks": [table]}) is None
    assert len(table["rows"]) == 1 + min(len(texts), MAX_TABLE_ROWS)
    assert count_characters(table["rows"]) <= MAX_TABLE_CHARACTERS


@pytest.fixture
def messenger(slack: SlackEmulator) -> SlackMessenger:
    return messenger_of(slack)


def refuse_tables(messenger: SlackMessenger | SlackEphemeralMessenger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Slack take no table, as a workspace does that shows none yet."""
    for name in ("chat_postMessage", "chat_update", "chat_postEphemeral"):
        send = getattr(messenger._client, name)

        def call(send: Any = send, **arguments: Any) -> Any:
            if has_table(arguments["blocks"]):
                raise SlackCallRefused("Slack refused it", "invalid_blocks")
            return send(**arguments)

        monkeypatch.setattr(messenger._client, name, call)


def test_where_slack_takes_no_table_everybody_reads_lines(
    slack: SlackEmulator, messenger: SlackMessenger, monkeypatch: pytest.MonkeyPatch
) -> None:
    slack.add_channel("C0LINES", "lines")
    messenger.post_message("C0LINES", {"text": "x", "blocks": [TABLE]}, "key:1")
    refuse_tables(messenger, monkeypatch)
    messenger.post_message("C0LINES", {"text": "x", "blocks": [TABLE]}, "key:2")
    table, lines = slack.list_messages("C0LINES")
    assert [has_table(each["blocks"]) for each in (table, lines)] == [True, False]
    assert as_read(table) == as_read(lines)
    messenger.edit_message("C0LINES", table["ts"], {"text": "y", "blocks": [TABLE]}, "key:1")
    edited = slack.list_messages("C0LINES")[0]
    assert (edited["text"], as_read(edited), has_table(edited["blocks"])) == ("y", as_read(lines), False)
    with pytest.raises(SlackCallRefused, match="message_not_found"):
        messenger.edit_message("C0LINES", "1.5", {"text": "x", "blocks": [TABLE]}, "key:1")


def test_so_does_who_alone_gets_the_answer(
    slack: SlackEmulator, messenger: SlackMessenger, monkeypatch: pytest.MonkeyPatch
) -> None:
    slack.add_channel("C0LINES", "lines")
    alone = SlackEphemeralMessenger(messenger._client)
    refuse_tables(alone, monkeypatch)
    alone.send(slack_request(channel="C0LINES", user="U0ADA"), Post("x", (TABLE,)))
    (shown,) = slack.ephemerals
    assert as_read(shown) == as_read({"text": "x", "blocks": [TABLE]})
    assert not has_table(shown["blocks"])
