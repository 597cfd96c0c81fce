import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given

from bot.features.digest.lead import render_lead
from bot.features.digest.rules import Digest
from bot.features.digest.thread import render_thread
from bot.features.merges.review import BugReview
from bot.features.merges.risk import Risk
from bot.features.merges.summary import Evidence
from bot.features.summaries.view import format_summary
from bot.platform.models.packing import Coverage
from bot.platform.slack.blocks import (
    Post,
    make_block,
    make_bullets,
    make_context,
    make_header,
    make_link,
    make_section,
    make_text,
)
from bot.platform.slack.terminal import format_message, wrap_text
from impact.source.models import DiffSide
from tests.features.digest.hostile_days import digests, texts
from tests.helpers.builders import changed_file, entry, finding, pull
from tests.helpers.builders import summary as made_summary


def test_lines_are_wrapped_at_blanks_and_below_the_text_of_a_bullet() -> None:
    text = "Title\n\n  • one two three four five\n- six seven eight nine ten\n  averylongword-of-20-letters x"
    assert wrap_text(text, 20).split("\n") == [
        "Title",
        "",
        "  • one two three",
        "    four five",
        "- six seven eight",
        "  nine ten",
        "  averylongword-of-20-letters",
        "  x",
    ]


@given(texts(200))
def test_wrapping_changes_nothing_but_blanks(text: str) -> None:
    assert wrap_text(text, 30).split() == text.split()


def test_a_message_reads_from_top_to_bottom_with_links_as_their_labels() -> None:
    number = make_link("https://github.com/octo/engine/pull/1", "#1")
    blocks = (
        make_header("Engine · Saturday"),
        make_block(make_section([number, make_text(" counts once.")])),
        make_block(make_section([make_text("May need action")]), make_bullets([[make_text("Set it "), number]])),
        make_context("1 of 1 read"),
    )
    assert format_message(Post("x", blocks)).split("\n") == [
        "Engine · Saturday",
        "=================",
        "",
        "#1 counts once.",
        "",
        "May need action",
        "  • Set it #1",
        "",
        "1 of 1 read",
    ]


def test_channels_and_instants_are_read_without_slack() -> None:
    row = {"type": "actions", "elements": [{"type": "button"}]}
    moment = {"type": "date", "timestamp": 1, "format": "{date}", "fallback": "2026-03-02 08:00 UTC"}
    elements = [make_text("In "), {"type": "channel", "channel_id": "C0DIGEST"}, make_text(" at "), moment]
    assert (
        format_message(Post("x", (make_block(make_section(elements)), row)))
        == "In #C0DIGEST at 2026-03-02 08:00 UTC"
    )


@given(digests())
@pytest.mark.slow
def test_every_message_of_a_hostile_day_can_be_read(day_digest: Digest) -> None:
    told = "\n".join(format_message(post) for post in (render_lead(day_digest), *render_thread(day_digest)))
    assert [made.number for made in day_digest.entries if f"#{made.number} " not in told] == []


MADE = entry(
    35617,
    title="Count once",
    files=[changed_file("engine/core.py", 1200, 34)],
    entry_summary=made_summary(
        action="Set the flag", evidence=(Evidence("engine/core.py", "return new_count", DiffSide.NEW, 7),)
    ),
)
RISKY = replace(MADE, risk=Risk(20, ("touches 4 product folders", "changes dependencies or build")))


def test_a_summary_reads_from_what_it_is_to_where_it_is() -> None:
    assert format_summary(RISKY).split("\n\n") == [
        "#35617 Count once",
        "Requests are counted once",
        "1 file, +1200 -34 · ada-dev, merged 2026-02-28 16:23 UTC by merge-bot · diff read: full",
        "Risky: touches 4 product folders; changes dependencies or build.",
        "May need action: Set the flag",
        "What changed and why\nThe counter moved.",
        "Technical impact\nOne place counts.",
        "Potential risks\nNone stand out.",
        "Key insights\nRead the counter.",
        "Evidence (checked against the diff)\n  engine/core.py:7  return new_count",
        "https://github.com/octo/engine/pull/35617",
    ]


def test_a_summary_says_what_the_second_reading_found_and_follows_its_rank() -> None:
    high = replace(entry(5), risk=Risk(13, ("adds 400 lines",)))
    assert "Risky: adds 400 lines." in format_summary(high)
    cleared = format_summary(replace(high, review=BugReview(refuted=2)))
    assert "Risky" not in cleared
    assert "AI bug review: no bug found.\n\n2 suspicions were refuted." in cleared
    confirmed_text = format_summary(replace(high, review=BugReview((finding("It \x1b[2Jstops"),))))
    assert "  • Confirmed in the code: It [2Jstops. Fails when a request has no tokens." in confirmed_text


def test_what_was_rated_without_history_says_so() -> None:
    made = replace(RISKY, risk=replace(RISKY.risk, without_history=True))
    assert "Risky, fix history not loaded: touches 4 product folders;" in format_summary(made)


def test_a_summary_leaves_out_what_there_is_not() -> None:
    told = format_summary(entry(1))
    assert [part for part in ("Risky", "May need action", "Evidence") if part in told] == []


@pytest.mark.parametrize("state", ["OPEN", "CLOSED"])
def test_a_pull_request_that_is_not_merged_says_so(state: str) -> None:
    made = replace(MADE, pull=pull(1, merged_at=None, state=state))
    assert f"ada-dev, not merged ({state.lower()})" in format_summary(made)


@pytest.mark.parametrize("coverage", Coverage)
def test_a_summary_admits_how_much_of_the_diff_was_read(coverage: Coverage) -> None:
    assert f"diff read: {coverage}" in format_summary(entry(1, entry_summary=made_summary(coverage=coverage)))


@pytest.mark.parametrize("evil", ["\x1b[2J", "\x1b]0;title\x07", "\u202e", "\r", "\x9b31m"], ids=ascii)
@pytest.mark.parametrize("field", ["title", "headline", "what_changed_and_why", "quote"])
def test_nothing_written_by_others_steers_the_terminal(field: str, evil: str) -> None:
    text = f"before{evil}after"
    made = {
        "title": entry(1, title=text),
        "headline": entry(1, entry_summary=made_summary(headline=text)),
        "what_changed_and_why": entry(1, entry_summary=made_summary(what_changed_and_why=text)),
        "quote": entry(1, entry_summary=made_summary(evidence=(Evidence("a.py", text, DiffSide.NEW, 1),))),
    }[field]
    told = format_summary(made).replace("\n", "")
    assert [char for char in told if unicodedata.category(char) in {"Cc", "Cf"}] == []
