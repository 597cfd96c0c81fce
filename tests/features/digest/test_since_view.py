from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.dates import Span
from bot.features.digest.since import SincePage, build_stories, render_since
from bot.features.merges.outcomes import RevertIndex
from bot.platform.slack.blocks import MAX_BLOCKS, MAX_CHARACTERS, count_characters
from tests.helpers.builders import DAY, NOON, entry, pull, summary
from tests.helpers.world import as_read

SPAN = Span(DAY.date - timedelta(days=20), DAY.date, DAY.zone)


def page(*titles: str) -> SincePage:
    """A page on merges with these titles that nobody summarised."""
    pulls = [
        pull(number, title=title, merged_at=NOON + timedelta(minutes=number), body="", files=None)
        for number, title in enumerate(titles, 1)
    ]
    return SincePage("engine", SPAN, len(pulls), build_stories(RevertIndex(pulls)))


def read(*titles: str) -> str:
    return as_read(render_since(page(*titles)).build_payload())


def test_series_and_bumps_are_one_line_each() -> None:
    text = read("[1/2] Router moves", "Bump torch to 2.8", "[2/2] Router goes", "Bump torch to 2.9", "Count once")
    assert "engine · since 8 February 2026\n" in text
    assert "#3 [2/2] Router goes, after #1" in text
    assert "#4 Bump torch to 2.9 (replaces 1 earlier one)" in text
    assert "#5 Count once" in text
    assert "I couldn't read 5 of 5 summaries (nobody has asked for them yet), so there may be more." in text


def test_what_was_reverted_is_counted_alone() -> None:
    text = read("Router moves", 'Revert "Router moves" (#1)')
    assert "1 merge and what reverted it left out" in text
    assert "#1" not in text


def test_actions_and_headlines_are_whole_or_left_out() -> None:
    """What was cut, or is longer than a line, is counted."""
    actions = ("You must set `a`.", f"You must {'very ' * 60}wait.", "You should wait and…")
    made = [entry(at, entry_summary=summary(action=text)) for at, text in enumerate(actions, 1)]
    shown = replace(page("Count once", "Count twice", "Count on"), entries={each.number: each for each in made})
    text = as_read(render_since(shown).build_payload())
    assert "You must set a. (#1)" in text
    assert "and 2 more actions" in text
    assert "…" not in text
    late = replace(shown, entries={each.number: each for each in made[1:]})
    assert "2 actions, too long for a line" in as_read(render_since(late).build_payload())


@pytest.mark.slow
def test_many_long_titles_fit_into_a_message() -> None:
    titles = [f"[{at % 40}][{at % 3}/N] <!here> `router`{at % 40} {'very ' * 40}" for at in range(400)]
    titles += [f"Bump lib{at % 50} to {at}" for at in range(200)] + ["Long *title* " * 20] * 200
    post = render_since(page(*titles))
    assert count_characters(post.blocks) <= MAX_CHARACTERS
    assert len(post.blocks) <= MAX_BLOCKS
