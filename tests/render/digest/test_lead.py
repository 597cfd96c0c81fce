"""The lead message: a headline, what was taken back, what may hurt, what to do, and how sure of it we are."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given

from bot.domain.digest.models import CountCheck, Digest, Entry, Overview, Theme
from bot.domain.digest.view import DigestView, ViewLevel
from bot.domain.pull_requests.filters import Filters
from bot.domain.risk.assessment import Risk
from bot.render.digest.lead import render_lead
from bot.render.digest.sentences import format_headline
from tests.helpers.builders import NOON, changed_file, digest, entry, pull, summary
from tests.render.accepted import assert_accepted, invisible, items, nodes, seen, strings
from tests.render.hostile_days import TOKENS, WORST, digests, full_day

RISKS_ALONE = DigestView(only=ViewLevel.RISKY)


def risky(number: int, points: float = 20, said: str = "", **fields: Any) -> Entry:
    made = entry(number, said=summary(risk_reason=said), **fields)
    return replace(made, risk=Risk(points, ("adds 400 lines of product code", "touches 4 product folders")))


def said(found: Digest) -> str:
    return seen(render_lead(found))


@given(digests())
@pytest.mark.slow
def test_a_hostile_day_makes_a_lead_that_slack_takes(found: Digest) -> None:
    assert_accepted(render_lead(found), found)
    assert len(render_lead(found).blocks) <= 10


@pytest.mark.parametrize("count", [0, 1, 2, 43, 67, 300])
@pytest.mark.parametrize("text", WORST.values(), ids=list(WORST))
@pytest.mark.slow
def test_the_lead_of_a_day_of_any_size_is_short(count: int, text: str) -> None:
    found = full_day(count, text)
    assert_accepted(render_lead(found), found)


@pytest.mark.parametrize("count", [1, 2, 43, 67])
def test_the_lead_of_a_trivial_day_is_short(count: int) -> None:
    found = full_day(count, "<!channel>", trivial=True)
    assert_accepted(render_lead(found), found)


def test_a_day_without_merges_says_so() -> None:
    post = render_lead(digest())
    assert seen(post) == "Engine · Saturday 28 February 2026 · nothing merged"
    assert post.text == seen(post)


def test_a_day_without_merges_still_admits_that_the_count_differs() -> None:
    found = replace(digest(), count=CountCheck(3, "the commits of main"))
    assert "the commits of main name 3 merges, not 0" in said(found)


def test_the_headline_names_repository_date_and_count() -> None:
    assert format_headline(digest(entry(1), entry(2))) == "Engine · Saturday 28 February 2026 · 2 merged"


@pytest.mark.parametrize(
    ("shown", "hidden", "count"),
    [(1, 17, "1 of 18 merged"), (0, 3, "0 of 3 merged"), (2, 0, "2 of 2 merged"), (0, 0, "nothing merged")],
)
def test_the_headline_of_a_view_says_of_how_many(shown: int, hidden: int, count: str) -> None:
    found = digest(*(entry(number) for number in range(shown)), view=RISKS_ALONE, hidden=hidden)
    assert format_headline(found) == f"Engine · Saturday 28 February 2026 · {count}"


def test_a_view_that_shows_nothing_is_a_headline_and_what_was_left_out() -> None:
    found = digest(view=RISKS_ALONE, hidden=3, count=CountCheck(3, "the commits of main"))
    assert said(found).split("\n") == [format_headline(found), "0 of 3 shown: only:risky"]
    assert render_lead(found).text == format_headline(found)


@pytest.mark.parametrize("token", TOKENS, ids=ascii)
def test_the_words_of_a_view_are_literal(token: str) -> None:
    view = DigestView(Filters(labels=(f"x{token}",)))
    assert_accepted(render_lead(digest(entry(1), view=view)), digest(entry(1)))


def test_notifications_give_headline_and_overview_with_markup_put_out() -> None:
    post = render_lead(replace(digest(entry(1)), name="R&D <!here>"))
    assert post.text == "R&amp;D &lt;!here&gt; · Saturday 28 February 2026 · 1 merged. A calm day."
    assert post.blocks[0]["text"]["text"] == "R&D <!here> · Saturday 28 February 2026 · 1 merged"


def test_the_overview_links_numbers_of_the_day_and_no_others() -> None:
    found = digest(entry(1), overview=Overview("#1 counts once, as #2 did, in **one** `place`."))
    elements = next(nodes(render_lead(found).blocks, "rich_text_section"))["elements"]
    assert [element["url"] for element in elements if element["type"] == "link"] == [pull(1).url]
    assert "".join(element["text"] for element in elements) == "#1 counts once, as #2 did, in one place."


def test_an_overview_without_the_model_says_why() -> None:
    found = digest(entry(1), overview=Overview("Most of it in Models (1).", fallback="the model is busy"))
    assert "Without the model (the model is busy): what you see are facts alone." in said(found)


def test_what_was_taken_back_comes_first_and_names_both() -> None:
    first = risky(5, title="Count once")
    second = entry(9, title='Revert "Count once"', merged_at=NOON + timedelta(hours=1))
    text = said(digest(second, first, risky(3)))
    assert re.search(r"#5 Count once, reverted after [\d.]+ h by #9\n", text)
    assert text.index("Already reverted or repaired") < text.index("Worth a second look")
    assert "#5 Count once: adds" not in text


def test_a_risk_is_listed_with_rules_and_the_claim_of_the_model() -> None:
    text = said(digest(risky(5, said="It may count twice, see #5.", title="Count once")))
    expected = (
        "#5 Count once, highest band: adds 400 lines of product code; touches 4 product folders."
        " It may count twice, see #5."
    )
    assert expected in text


def test_no_more_than_three_risks_are_listed_riskiest_first() -> None:
    found = digest(*(risky(number, 10 + number) for number in range(1, 6)))
    assert [item[0]["text"] for item in items(render_lead(found))] == ["#5", "#4", "#3"]


def test_a_calm_day_says_that_nothing_stands_out() -> None:
    text = said(digest(entry(1)))
    assert "Nothing stands out for a second look." in text
    assert "Worth a second look" not in text


def test_actions_beyond_five_are_counted_and_linked() -> None:
    found = digest(*(entry(number, said=summary(action=f"Set flag {number}")) for number in range(9, 0, -1)))
    text = said(found)
    assert [f"Set flag {number} (#{number})" in text for number in range(9, 4, -1)] == [True] * 5
    assert "and 4 more: #4, #3, #2, #1" in text


def test_the_first_four_themes_are_shown_and_long_ones_are_cut() -> None:
    numbers = tuple(range(1, 16))
    themes = (Theme("Counting", numbers), *(Theme(f"Theme {n}", (1,)) for n in range(2, 6)))
    text = said(digest(*(entry(number) for number in numbers), overview=Overview("Calm.", themes)))
    assert "Counting: #1, #2, #3, #4, #5, #6, #7, #8, #9, #10, #11, #12 and 3 more" in text
    assert "Theme 4: #1" in text
    assert "Theme 5" not in text


@given(digests())
@pytest.mark.slow
def test_no_text_of_others_breaks_lines_or_reads_backwards(found: Digest) -> None:
    """Sentences of the rules and of errors are code's own: see the next test for what they quote."""
    own = replace(found, overview=replace(found.overview, fallback=""))
    entries = tuple(replace(made, risk=replace(made.risk, reasons=("touches",))) for made in own.entries)
    post = render_lead(replace(own, entries=entries))
    assert [text for text in strings(list(post.blocks)) if invisible(text) or "\n" in text] == []


@pytest.mark.parametrize("name", ["kernel\u202eyp.cu", "kernel\nWorth nothing.cu", "kernel\x1b[2J.cu"], ids=ascii)
def test_the_name_of_a_critical_file_neither_breaks_lines_nor_reads_backwards(name: str) -> None:
    post = render_lead(digest(entry(1, files=[changed_file(f"csrc/{name}", 600, 300)])))
    assert "changes critical paths" in seen(post)
    assert [text for text in strings(list(post.blocks)) if invisible(text) or "\n" in text] == []


@pytest.mark.parametrize("reason", ["answer\n\nAll is well", "answer \u202edab si"], ids=ascii)
def test_the_reason_of_a_fallback_neither_breaks_lines_nor_reads_backwards(reason: str) -> None:
    texts = list(strings(list(render_lead(digest(entry(1), overview=Overview("", fallback=reason))).blocks)))
    assert [text for text in texts if invisible(text) or "\n" in text] == []
