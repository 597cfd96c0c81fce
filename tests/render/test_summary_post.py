"""One pull request as a message: accepted whatever its texts, and linked only to where code says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.digest import Entry
from bot.domain.patches import Side
from bot.domain.risk import Risk
from bot.domain.summaries import Evidence, Quote, Summary, verify
from bot.render.rich import characters
from bot.render.summary import summary_post
from tests.emulators.slack_limits import check_message, links, mentions
from tests.render.accepted import MOST_BLOCKS, MOST_CHARACTERS, invisible, seen, strings
from tests.render.hostile import WORST, entries, lines, texts
from tests.support import changed_file, entry, pull, summary

# a quote that was found in a diff is never short, but may hold anything
evidence = st.builds(Evidence, lines(120), lines(300), st.sampled_from(Side), st.just(7))


@st.composite
def said(draw: st.DrawFn) -> Summary:
    parts = ("what_changed_and_why", "technical_impact", "potential_risks", "key_insights")
    proof = tuple(draw(st.lists(evidence, max_size=6)))
    return summary(evidence=proof, **{part: draw(texts(3_000)) for part in parts})


def assert_taken(found: dict[str, Any], url: str) -> None:
    assert check_message(found) is None
    assert mentions(found) == []
    assert all(address.startswith((url, "https://github.com/octo/engine/blob/")) for address in links(found))


@given(entries(1), said())
def test_a_hostile_pull_request_makes_a_message_that_slack_takes(made: Entry, told: Summary) -> None:
    for summarised in (made.summary, replace(told, headline=made.summary.headline, action=made.summary.action)):
        post = summary_post(replace(made, summary=summarised))
        assert_taken(post.payload(), made.pull.url)
        assert len(post.blocks) <= MOST_BLOCKS
        assert characters(list(post.blocks)) <= MOST_CHARACTERS


def longest(text: str) -> Entry:
    """An entry of which every text is as long as it can be, in files as deep as Java's."""
    long = (text * 10)[:3_000]
    proof = tuple(Evidence(f"{'d' * 200}/{n}.py", long[:500], Side.NEW, n) for n in range(1, 7))
    told = summary(
        headline=text[:120],
        action=text[:240],
        what_changed_and_why=long,
        technical_impact=long,
        potential_risks=long,
        key_insights=long,
        evidence=proof,
    )
    return replace(entry(1, said=told, title=text[:256]), risk=Risk(20, (text[:120],) * 6))


@pytest.mark.parametrize("text", WORST.values(), ids=list(WORST))
def test_the_longest_texts_are_taken(text: str) -> None:
    assert_taken(summary_post(longest(text)).payload(), longest(text).pull.url)


def test_the_longest_texts_stay_within_the_budget_of_a_message() -> None:
    assert characters(list(summary_post(longest("W" * 700)).blocks)) <= MOST_CHARACTERS


def test_a_quote_of_nothing_visible_makes_a_message_that_slack_takes() -> None:
    quote = "\u200b" * 8
    made = pull(files=[changed_file(patch=f"@@ -0,0 +1 @@\n+{quote}")])
    proof = verify([Quote("engine/core.py", quote)], made)
    assert_taken(summary_post(entry(1, said=summary(evidence=proof))).payload(), made.url)


@pytest.mark.parametrize("path", ["a\u202eyp.py", "a\nb.py"], ids=ascii)
def test_a_path_neither_breaks_lines_nor_reads_backwards(path: str) -> None:
    post = summary_post(entry(1, said=summary(evidence=(Evidence(path, "return new_count", Side.NEW, 7),))))
    labels = [text for text in strings(list(post.blocks)) if text.startswith("a")]
    assert [label for label in labels if invisible(label) or "\n" in label] == []


def test_a_summary_shows_title_headline_and_its_four_sections() -> None:
    text = seen(summary_post(entry(5, title="Count once")))
    parts = ["#5 Count once", "Requests are counted once", "What changed and why\nThe counter moved."]
    parts += ["Technical impact\nOne place counts.", "Potential risks\nNone stand out.", "Key insights\n"]
    assert [part for part in parts if part not in text] == []


def test_a_pull_request_that_is_not_merged_can_be_shown() -> None:
    made = replace(entry(5), pull=pull(5, merged_at=None, state="OPEN"))
    assert_taken(summary_post(made).payload(), made.pull.url)
