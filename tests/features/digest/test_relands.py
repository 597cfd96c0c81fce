"""What lands again names its earlier tries, with links; and a band says what it was made without."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localslack.rules.messages import check_message, find_links, find_mentions

from bot.domain.digest.models import Entry
from bot.domain.history.relands import Attempt
from bot.domain.risk.assessment import Risk
from bot.features.digest.lead import render_lead
from bot.features.digest.thread import render_thread
from bot.render.summaries.post import render_summary
from tests.helpers.builders import REPOSITORY, digest, entry
from tests.render.accepted import read_post

TRIES = (Attempt(2, 3), Attempt(7, None))


def trying(tries: tuple[Attempt, ...], *, without_history: bool = False) -> Entry:
    risk = Risk(20, ("adds 400 lines",), tries=tries, without_history=without_history)
    return replace(entry(9, title="Count once"), risk=risk)


def test_the_history_of_tries_is_linked_in_the_thread_and_in_the_list() -> None:
    day_digest = digest(trying(TRIES))
    (part,) = render_thread(day_digest)
    history = "; lands again #2 (reverted by #3), #7"
    assert f"Count once: Requests are counted once{history} (" in read_post(part)
    assert f"#9 Count once — adds 400 lines{history}. 🔴 highest risk" in read_post(render_lead(day_digest))
    known = {f"https://github.com/{REPOSITORY}/pull/{number}" for number in (2, 3, 7)}
    assert known <= set(find_links(part.build_payload()))
    assert known <= set(find_links(render_lead(day_digest).build_payload()))


def test_what_was_never_tried_has_no_history() -> None:
    assert "lands again" not in read_post(render_thread(digest(trying(())))[0])


@given(st.lists(st.builds(Attempt, st.integers(1, 10**9), st.none() | st.integers(1, 10**9)), max_size=60))
def test_the_last_five_tries_are_named_however_many_there_were(tries: list[Attempt]) -> None:
    (part,) = render_thread(digest(trying(tuple(tries))))
    assert check_message(part.build_payload()) is None
    assert find_mentions(part.build_payload()) == []
    assert len(find_links(part.build_payload())) <= 1 + 2 * 5


@pytest.mark.parametrize(
    ("without", "band"), [(True, "🔴 highest risk, no history yet"), (False, "🔴 highest risk")]
)
def test_a_band_says_what_it_was_made_without(*, without: bool, band: str) -> None:
    made = trying((), without_history=without)
    assert f"#9 Count once — adds 400 lines. {band}\n" in read_post(render_lead(digest(made)))
    assert f"Risk: {band}: adds 400 lines (about 1 in 5" in read_post(render_summary(made))


def test_where_lists_found_no_more_than_chance_one_of_the_highest_band_is_named_and_why() -> None:
    entries = [replace(entry(n), risk=Risk(points, ("one",))) for n, points in ((4, 13.0), (3, 17.0), (2, 18.0))]
    text = read_post(render_lead(replace(digest(*entries), is_reduced=True)))
    assert "at most one: lists here were no better than chance, see /prrisks score" in text
    listed = text.partition("Worth a second look")[2]
    assert ("#2 " in listed, "#3 " in listed, "#4 " in listed) == (True, False, False)
