"""Several days in one message: accepted whatever the days were like, and true about all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localslack.rules.messages import find_links

from bot.dates import LocalDay, Span
from bot.features.digest.lead import render_catch_up
from bot.features.digest.rules import Digest, MultiDayDigest, Overview
from bot.features.merges.outcomes import RevertIndex
from bot.features.merges.requests import MAX_DIGEST_DAYS
from bot.features.merges.risk import Risk
from bot.features.merges.view import Entry
from bot.platform.pulls.sources import CountCheck
from impact.contract.deprecations import DeprecationState
from impact.coverage import Coverage, CoveredPart
from impact.history.outcomes import find_outcomes
from impact.repository import Repository
from tests.features.digest.hostile_days import LONGEST, NUMBERS, WORST, digests, elsewhere, full_day
from tests.features.touches.touched_days import step
from tests.helpers.builders import DAY, NOON, REPOSITORY, digest, entry, pull, summary
from tests.helpers.tables import check_rows
from tests.platform.slack.accepted import assert_taken, invisible, items, list_addresses, read_post, strings


def number_entries(day_digest: Digest, first: int) -> Digest:
    """The same day with numbers that no other day has."""
    new = {made.number: first + place for place, made in enumerate(day_digest.entries)}
    listed = tuple(replace(made, pull=replace(made.pull, number=new[made.number])) for made in day_digest.entries)
    return replace(day_digest, entries=listed, outcomes=find_outcomes(RevertIndex(made.pull for made in listed)))


def days(*day_digests: Digest) -> MultiDayDigest:
    first = DAY.date - timedelta(days=len(day_digests) - 1)
    dated = tuple(
        replace(each, day=LocalDay(first + timedelta(days=place), DAY.zone))
        for place, each in enumerate(day_digests)
    )
    return MultiDayDigest(Span(first, DAY.date, DAY.zone), dated)


def collect_addresses(multi_day_digest: MultiDayDigest) -> set[str]:
    return list_addresses(made for each in multi_day_digest.digests for made in each.entries)


@st.composite
def catch_ups(draw: st.DrawFn) -> MultiDayDigest:
    """A few hostile days; their overviews and claims speak of #1 and #2, which are there."""
    day_digests = draw(st.lists(digests(3), min_size=1, max_size=4))
    return days(*(number_entries(each, 10 * place + 1) for place, each in enumerate(day_digests)))


@given(catch_ups())
@pytest.mark.slow
def test_hostile_days_make_a_message_that_slack_takes(multi_day_digest: MultiDayDigest) -> None:
    post = render_catch_up(multi_day_digest)
    assert_taken(post, collect_addresses(multi_day_digest))
    assert len(post.blocks) <= 7


@given(catch_ups())
@pytest.mark.slow
def test_no_text_of_others_breaks_lines_or_reads_backwards(multi_day_digest: MultiDayDigest) -> None:
    """Reasons are the sentences of rules: what they quote of a path is on one line before."""
    listed = (
        tuple(replace(made, risk=replace(made.risk, reasons=("touches",))) for made in each.entries)
        for each in multi_day_digest.digests
    )
    own = tuple(replace(each, entries=own) for each, own in zip(multi_day_digest.digests, listed, strict=True))
    post = render_catch_up(replace(multi_day_digest, digests=own))
    assert [text for text in strings(list(post.blocks)) if invisible(text) or "\n" in text] == []


def longest(text: str, repository: Repository = REPOSITORY, count: int = 67) -> MultiDayDigest:
    """The most days, each of ``count`` pull requests of which every text is as long as it can be."""
    day = elsewhere(full_day(count, text), repository)
    return days(*(number_entries(day, 100_001 + count * place) for place in range(MAX_DIGEST_DAYS)))


@pytest.mark.parametrize("text", WORST.values(), ids=list(WORST))
@pytest.mark.slow
def test_two_weeks_of_full_days_are_taken(text: str) -> None:
    multi_day_digest = longest(text, LONGEST)
    assert_taken(render_catch_up(multi_day_digest), collect_addresses(multi_day_digest))


@check_rows(WORST)
@pytest.mark.slow
def test_two_weeks_of_reviewed_days_are_taken(text: str) -> None:
    day = elsewhere(full_day(10, text, is_reviewed=True), LONGEST)
    multi_day_digest = days(*(number_entries(day, 100_001 + 10 * place) for place in range(MAX_DIGEST_DAYS)))
    assert_taken(render_catch_up(multi_day_digest), collect_addresses(multi_day_digest))


@pytest.mark.parametrize("count", [0, 1, 2, 67])
def test_two_weeks_of_any_size_are_taken(count: int) -> None:
    multi_day_digest = longest("<!channel>", count=count)
    assert_taken(render_catch_up(multi_day_digest), collect_addresses(multi_day_digest))


@pytest.mark.parametrize("repository", [REPOSITORY, LONGEST], ids=["usual", "longest"])
def test_overviews_full_of_numbers_are_taken(repository: Repository) -> None:
    quiet = [replace(each, overview=Overview(NUMBERS[:600])) for each in longest("a", repository).digests]
    multi_day_digest = days(*quiet)
    assert_taken(render_catch_up(multi_day_digest), collect_addresses(multi_day_digest))


@pytest.mark.slow
@pytest.mark.parametrize("repository", [REPOSITORY, LONGEST], ids=["usual", "longest"])
def test_claims_and_actions_full_of_numbers_are_taken(repository: Repository) -> None:
    multi_day_digest = longest(NUMBERS, repository)
    assert_taken(render_catch_up(multi_day_digest), collect_addresses(multi_day_digest))


def make_reverted_days(count: int) -> tuple[Digest, Digest]:
    """A day, and the next one, which takes its first ``count`` merges back."""
    first = [entry(number, merged_at=NOON - timedelta(days=1), title=f"Step {number}") for number in range(1, 20)]
    second = [entry(100 + number, title=f'Revert "Step {number}"') for number in range(1, count + 1)]
    return digest(*first), digest(*second)


def test_what_was_taken_back_on_another_day_is_known() -> None:
    text = read_post(render_catch_up(days(*make_reverted_days(1))))
    assert re.search(r"#1 Step 1, reverted after [\d.]+ h by #101\n", text)


def test_what_takes_back_a_change_of_before_says_so() -> None:
    assert "which reverts an earlier change" in read_post(
        render_catch_up(days(digest(), digest(entry(9, title="Revert (#1)"))))
    )


def test_pairs_beyond_eight_are_counted_without_pointing_to_a_thread() -> None:
    text = read_post(render_catch_up(days(*make_reverted_days(12))))
    assert "and 5 more" in text
    assert "thread" not in text


@pytest.mark.parametrize(
    ("day_digests", "expected"),
    [
        ((digest(), digest()), "Engine · 27 – 28 February 2026 · nothing merged"),  # noqa: RUF001 (a dash)
        ((digest(entry(1)), digest(entry(2))), "Engine · 27 – 28 February 2026 · 2 merged"),  # noqa: RUF001
        ((digest(entry(1)),), "Engine · Saturday 28 February 2026 · 1 merged"),
    ],
)
def test_the_title_names_repository_days_and_count(day_digests: Sequence[Digest], expected: str) -> None:
    post = render_catch_up(days(*day_digests))
    assert post.blocks[0]["text"]["text"] == expected
    assert post.text == expected


def test_notifications_get_the_title_with_markup_put_out() -> None:
    post = render_catch_up(days(replace(digest(entry(1)), name="R&D <!here>")))
    assert post.text.startswith("R&amp;D &lt;!here&gt; · ")


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        (digest(), "Sat 28 Feb · nothing merged"),
        (digest(entry(1), overview=Overview("")), "Sat 28 Feb · 1 merged"),
        (digest(entry(1), entry(2)), "Sat 28 Feb · 2 merged: A calm day."),
    ],
    ids=["none", "no overview", "both"],
)
def test_a_day_is_one_line(day: Digest, expected: str) -> None:
    assert "".join(strings(items(render_catch_up(days(day)))[0])) == expected


def test_days_are_listed_oldest_first() -> None:
    post = render_catch_up(days(digest(entry(1)), digest(), digest(entry(2))))
    assert [item[0]["text"] for item in items(post)[:3]] == ["Thu 26 Feb", "Fri 27 Feb", "Sat 28 Feb"]


def test_an_overview_links_the_numbers_of_its_own_day_alone() -> None:
    told = Overview("#2 goes on with #1.")
    post = render_catch_up(days(digest(entry(1)), digest(entry(2), overview=told)))
    assert find_links(post.build_payload()) == [pull(2).url]


@pytest.mark.slow
def test_days_are_told_shorter_where_there_is_no_room_for_all() -> None:
    """A long day alone gets more words than one of many, and its numbers link."""
    short = render_catch_up(longest(f"{NUMBERS[:60]}. " + "Longer. " * 90, LONGEST))
    alone = render_catch_up(days(number_entries(full_day(3, f"{NUMBERS[:60]}. " + "Counted. " * 100), 100_001)))
    assert max(len("".join(strings(item))) for item in items(short)[:MAX_DIGEST_DAYS]) <= 260
    assert not any(element["type"] == "link" for item in items(short)[:MAX_DIGEST_DAYS] for element in item)
    assert len("".join(strings(items(alone)[0]))) > 260
    assert any(element["type"] == "link" for element in items(alone)[0])


def risky(number: int, points: float, **fields: Any) -> Entry:
    return replace(entry(number, **fields), risk=Risk(points, ("touches 4 product folders",)))


def test_risks_and_actions_are_those_of_all_days() -> None:
    first = digest(risky(1, 12), risky(2, 30), entry(3, entry_summary=summary(action="Set the flag")))
    post = render_catch_up(days(first, digest(risky(4, 20), risky(5, 11))))
    text = read_post(post)
    listed = [item[0]["url"] for item in items(post) if "touches" in "".join(strings(item))]
    assert listed == [pull(number).url for number in (2, 4, 1)]
    assert "Set the flag (#3)" in text


def test_what_became_of_deprecations_that_a_profile_uses_is_one_line_for_all_days() -> None:
    first = replace(number_entries(digest(entry(1)), 1), deprecations=(step(DeprecationState.ANNOUNCED, "--new"),))
    second = replace(number_entries(digest(entry(2)), 2), deprecations=(step(DeprecationState.REMOVED, "--old"),))
    text = read_post(render_catch_up(days(first, second)))
    assert "Deprecated: --old" in text
    assert "and 1 more, with /prdigest deprecations." in text
    assert "Deprecated" not in read_post(render_catch_up(days(replace(first, deprecations=()))))


def test_days_on_which_nothing_merged_have_nothing_to_look_at() -> None:
    text = read_post(render_catch_up(days(digest(), digest())))
    assert [phrase for phrase in ("Nothing stands out", "Riskiest", "need action") if phrase in text] == []


def test_the_last_line_speaks_of_all_days() -> None:
    text = read_post(render_catch_up(days(digest(entry(1)), digest(entry(2)))))
    assert text.endswith("All 2 read in full")


@pytest.mark.parametrize(
    ("counted", "expected"),
    [
        ((1, 3), "Sat 28 Feb: possibly incomplete: the commits of main show 3 merges, not 1"),
        ((1, None), "count not checked: the commits of main gave no count"),
        ((None, None), "Fri 27 Feb, Sat 28 Feb: count not checked: the commits of main gave no count"),
    ],
)
def test_a_day_whose_count_is_in_doubt_is_admitted(counted: tuple[int, int | None], expected: str) -> None:
    told = [
        replace(digest(entry(number)), count=CountCheck(count, "the commits of main"))
        for number, count in enumerate(counted, 1)
    ]
    assert expected in read_post(render_catch_up(days(*told)))


def test_what_could_not_be_had_of_a_day_is_admitted_as_in_its_own_digest() -> None:
    doubt = Coverage.of(CoveredPart("what was reverted since", 1, 0, "GitHub is away"))
    lines = read_post(render_catch_up(days(digest(entry(1)), replace(digest(entry(2)), missing=doubt)))).split(
        "\n"
    )
    assert lines[1] == "I couldn't read what was reverted since (GitHub is away), so I can't tell. 2 merged."


def test_counts_that_are_wrong_on_two_days_do_not_cancel_out() -> None:
    one, two = digest(entry(1)), digest(entry(2), entry(3))
    wrong = replace(one, count=CountCheck(2, "the commits")), replace(two, count=CountCheck(1, "the commits"))
    assert "possibly incomplete" in read_post(render_catch_up(days(*wrong)))
