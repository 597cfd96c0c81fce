from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.features.digest.since import StoryKind, build_stories
from bot.features.merges.outcomes import RevertIndex
from bot.platform.pulls.models import PullRequest
from tests.helpers.builders import NOON, pull


def make_merge(number: int, title: str, **fields: Any) -> PullRequest:
    """Higher numbers are merged later."""
    return pull(number, title=title, merged_at=NOON + timedelta(minutes=number), files=None, **fields)


def group(*titles: str) -> list[tuple[int, ...]]:
    """Return the numbers of each story of merges 1, 2 and so on, newest story first."""
    pulls = [make_merge(number, title) for number, title in enumerate(titles, 1)]
    return [tuple(each.number for each in story.pulls) for story in build_stories(RevertIndex(pulls)).stories]


@pytest.mark.parametrize(
    "titles",
    [
        ("[1/3] Move the router out", "[2/3] Move the router's tests"),
        ("[Core][1/N] Router: split state", "[Core][2/N] Router: split workers"),
        ("[Core][1/n] Router: split state", "[Core][2/N] Router: split workers"),
        ("Router moves (1/2)", "Router goes (2/2)"),
        ("[Part 1] Router moves", "[Part 2] Router goes"),
        ("Router moves, part 1", "Router moves, part 2"),
        ("Router moves - Part I", "Router moves - Part II"),
        ("Router moves", "Follow-up to #1: name it"),
        ("Router moves", "Name it (followup of #1)"),
    ],
)
def test_a_series_is_one_story(titles: tuple[str, ...]) -> None:
    assert group(*titles) == [(1, 2)]
    (story,) = build_stories(RevertIndex(make_merge(at, title) for at, title in enumerate(titles, 1))).stories
    assert (story.kind, story.latest.number) == (StoryKind.SERIES, 2)


@pytest.mark.parametrize(
    "titles",
    [
        ("[1/3] Move the router out", "[2/3] Speed up sampling"),
        ("[Core][1/3] Router moves", "[Docs][2/3] Router moves"),
        ("[1/2] Router moves", "[2/3] Router moves"),
        ("Router moves 1/2 faster", "Router runs 1/2 faster"),
        ("Remove part of the router", "Remove part of the cache"),
        ("Router moves", "A follow-up"),
        ("Router moves", "Follow-up to #17"),
        ("Support the router", "Support the cache"),
    ],
)
def test_others_stay_apart(titles: tuple[str, ...]) -> None:
    assert group(*titles) == [(2,), (1,)]


def test_a_description_may_name_what_is_followed() -> None:
    pulls = [
        make_merge(1, "Router moves"),
        make_merge(2, "Name it", body="A follow up on https://github.com/octo/engine/pull/1."),
    ]
    assert [story.numbers for story in build_stories(RevertIndex(pulls)).stories] == [{1, 2}]


def test_superseded_bumps_are_one() -> None:
    titles = ("Bump torch from 2.8 to 2.9", "[CI] Upgrade Torch to 2.9.1", "Update transformers version to 4.57")
    assert group(*titles) == [(3,), (1, 2)]
    stories = build_stories(RevertIndex(make_merge(at, title) for at, title in enumerate(titles, 1))).stories
    assert [story.kind for story in stories] == [StoryKind.SINGLE, StoryKind.BUMPS]


def test_what_was_reverted_is_no_story() -> None:
    pulls = [
        make_merge(1, "Router moves"),
        make_merge(2, 'Revert "Router moves"', body="Reverts octo/engine#1"),
        make_merge(3, "Cache grows"),
    ]
    stories = build_stories(RevertIndex(pulls))
    assert [story.numbers for story in stories.stories] == [{3}]
    assert [(pair.pull.number, pair.by.number) for pair in stories.taken_back] == [(1, 2)]


TITLES = st.lists(
    st.lists(
        st.sampled_from(["[1/N]", "[2/N]", "router", "part 2", "follow-up to #2", "Bump x to 1.2", "[Core]"]),
        max_size=4,
    ).map(" ".join),
    max_size=8,
)


@given(TITLES)
def test_each_merge_is_in_one_story_or_taken_back(titles: list[str]) -> None:
    pulls = [make_merge(at, title) for at, title in enumerate(titles, 1)]
    result = build_stories(RevertIndex(pulls))
    shown = [each.number for story in result.stories for each in story.pulls]
    gone = {number for pair in result.taken_back for number in (pair.pull.number, pair.by.number)}
    assert sorted(shown) == sorted(each.number for each in pulls if each.number not in gone)
    for story in result.stories:
        assert [each.number for each in story.pulls] == sorted(story.numbers)
