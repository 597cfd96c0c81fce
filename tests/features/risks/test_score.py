"""What is counted of the bot's own lists, worked out by hand, and what the counts allow to say."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.features.merges.outcomes import MergeOutcome
from bot.features.risks.ratings import PostedRatings, RatedDigest, RatedPullRequest
from bot.features.risks.rules import (
    HypergeometricDraw,
    Tally,
    TrackRecordScore,
    TrackRecordVerdict,
    compute_hit_distribution,
    compute_lower_tail,
    compute_score,
    compute_upper_tail,
)
from impact.history.outcomes import OutcomeKind
from tests.helpers.builders import NOON, pull
from tests.helpers.tables import check_rows

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
NOW = NOON + 100 * DAY


def make_rating(
    number: int, lines: int = 10, *, listed: bool = False, merged: timedelta = timedelta()
) -> RatedPullRequest:
    return RatedPullRequest(number, NOON + merged, 12.0 if listed else 3.0, lines, listed)


def issue(
    *shown: RatedPullRequest, after: timedelta = DAY, key: str = "digest:1", known: tuple[int, ...] = ()
) -> RatedDigest:
    """A digest posted so long after noon, a day after the merges if not said."""
    return RatedDigest(key, NOON + after, PostedRatings("rules.v2", shown, known))


def end(number: int, after: timedelta = 2 * DAY, fate: OutcomeKind = OutcomeKind.REVERTED) -> MergeOutcome:
    """A merge of noon, taken back so long after."""
    return MergeOutcome(pull(number, merged_at=NOON), pull(number + 900, merged_at=NOON + after), fate)


def score(
    issues: Sequence[RatedDigest], ends: Iterable[MergeOutcome] = (), now: datetime = NOW, **rest: Any
) -> TrackRecordScore:
    return compute_score(issues, ends, now, **rest)


def numbers(track_record: TrackRecordScore) -> list[int]:
    return [hit.pull.number for hit in track_record.hits]


# --- what is counted

LISTED, OTHERS = (
    (make_rating(1, 500, listed=True), make_rating(2, 40, listed=True)),
    (make_rating(3, 600), make_rating(4, 7), make_rating(5, 0)),
)
DIGEST = issue(*LISTED, *OTHERS)


def test_nothing_is_a_score_of_nothing() -> None:
    assert score(()) == TrackRecordScore()


def test_a_digest_by_hand() -> None:
    """Two of five are listed, two of five taken back, one of them listed."""
    track_record = score([DIGEST], [end(1), end(3, fate=OutcomeKind.REPAIRED)])
    assert (track_record.digests, track_record.listed, track_record.others) == (1, Tally(2, 1, 0), Tally(3, 0, 1))
    assert (track_record.shown, numbers(track_record)) == (Tally(5, 1, 1), [1])
    # 600 and 500 lines were added to those taken back, so that size alone finds both
    assert [track_record.by_chance, track_record.by_lines] == pytest.approx([2 * 2 / 5, 2])
    # of the ten pairs of five, three hold neither of the two
    assert track_record.p_value == pytest.approx(7 / 10)
    # doubled odds: 1 to hold both weighs 4, 6 to hold one weigh 2, 3 hold none
    assert track_record.shortfall_p_value == pytest.approx((3 + 12) / 19)
    assert (track_record.young, track_record.known, track_record.versions) == (0, 0, ("rules.v2",))


@check_rows(
    {
        "nothing": ([], Tally(2), Tally(3)),
        "both-reverted": ([end(1), end(2)], Tally(2, 2), Tally(3)),
        "in-part": ([end(1, fate=OutcomeKind.PARTLY)], Tally(2, 1), Tally(3)),
        "repaired": ([end(1, fate=OutcomeKind.REPAIRED)], Tally(2, 0, 1), Tally(3)),
        "those-not-listed": ([end(4), end(5, fate=OutcomeKind.REPAIRED)], Tally(2), Tally(3, 1, 1)),
        "brought-back": ([replace(end(1), stands=False)], Tally(2), Tally(3)),
        "back-and-forth": ([replace(end(1, HOUR), stands=False), end(1)], Tally(2, 1), Tally(3)),
        "one-that-no-digest-showed": ([end(77)], Tally(2), Tally(3)),
        "on-the-last-day": ([end(1, 30 * DAY)], Tally(2, 1), Tally(3)),
        "later": ([end(1, 30 * DAY + HOUR)], Tally(2), Tally(3)),
        "right-after-the-digest": ([end(1, DAY + HOUR)], Tally(2, 1), Tally(3)),
        "with-the-digest-is-no-prediction": ([end(1, DAY)], Tally(1), Tally(3)),
        "before-the-digest": ([end(1, HOUR)], Tally(1), Tally(3)),
        "the-weightiest": (
            [end(1, fate=OutcomeKind.REPAIRED), end(1, 3 * DAY, OutcomeKind.PARTLY)],
            Tally(2, 1),
            Tally(3),
        ),
        "the-one-in-time": ([end(1, fate=OutcomeKind.PARTLY), end(1, 40 * DAY)], Tally(2, 1), Tally(3)),
        "in-part-before-the-digest": ([end(1, HOUR, OutcomeKind.PARTLY), end(1)], Tally(1), Tally(3)),
    }
)
def test_what_came_of_a_list(ends: list[MergeOutcome], listed: Tally, others: Tally) -> None:
    track_record = score([DIGEST], ends)
    assert (track_record.listed, track_record.others) == (listed, others)
    assert len(track_record.hits) == listed.taken_back
    assert track_record.known == 5 - track_record.shown.pulls


def test_what_a_digest_tells_as_taken_back_is_no_prediction_of_it() -> None:
    track_record = score([issue(*LISTED, *OTHERS, known=(1, 3, 88))], [end(1), end(2)])
    assert (track_record.listed, track_record.others, numbers(track_record), track_record.known) == (
        Tally(1, 1),
        Tally(2),
        [2],
        2,
    )


def test_each_counts_once_in_the_first_digest_that_showed_it() -> None:
    """The morning's digest of one channel lists 1; the others show it later, one as taken back already."""
    late = replace(make_rating(1), is_listed=False)
    morning = issue(make_rating(1, listed=True), make_rating(2), after=DAY, key="digest:b")
    noon = issue(late, make_rating(3), after=2 * DAY, key="digest:a")
    evening = issue(late, make_rating(2), after=3 * DAY, key="digest:0", known=(1,))
    track_record = score([evening, noon, morning], [end(1, 2 * DAY + HOUR)])
    assert (track_record.digests, track_record.listed, track_record.others, track_record.known) == (
        2,
        Tally(1, 1),
        Tally(2),
        0,
    )


def test_digests_of_one_instant_are_taken_by_their_keys() -> None:
    first, second = issue(make_rating(1, listed=True), key="digest:a"), issue(make_rating(1), key="digest:b")
    assert score([second, first]).listed == score([first, second]).listed == Tally(1)


def test_a_digest_that_shows_nothing_of_its_own_is_not_counted() -> None:
    assert score([DIGEST, replace(DIGEST, key="digest:2"), issue(key="digest:3")]).digests == 1


def test_the_young_among_the_listed_are_counted() -> None:
    listed = [make_rating(n, listed=n < 3, merged=n * HOUR) for n in range(5)]
    assert score([issue(*listed)], now=NOON + 30 * DAY + HOUR).young == 1
    assert score([issue(*listed)], now=NOON + 30 * DAY + 2 * HOUR).young == 0


def test_hits_are_named_the_newest_merge_first() -> None:
    shown = [make_rating(n, listed=True) for n in (1, 2, 3)]
    ends = [end(n) for n in (2, 1, 3)]
    older = replace(ends[0], pull=replace(ends[0].pull, merged_at=NOON - HOUR))
    assert numbers(score([issue(*shown)], [older, *ends[1:]])) == [3, 1, 2]


def test_every_version_of_the_rules_is_named_once() -> None:
    other = replace(DIGEST, key="digest:2", ratings=PostedRatings("rules.v1", (make_rating(9),)))
    assert score([DIGEST, other, replace(DIGEST, key="digest:3")]).versions == ("rules.v1", "rules.v2")


@pytest.mark.parametrize(
    ("lines", "listed", "positive", "expected"),
    [
        ((9, 8, 7), 1, {0}, 1),
        ((9, 8, 7), 1, {1}, 0),
        ((9, 8, 7), 2, {1}, 1),
        ((9, 9, 7), 1, {1}, 1 / 2),
        ((9, 8, 8, 8), 2, {2}, 1 / 3),
        ((9, 8, 8, 8), 3, {1, 2}, 4 / 3),
        ((5, 5, 5, 5), 3, {0, 1}, 3 / 2),
        ((5, 5), 0, {0, 1}, 0),
    ],
)
def test_those_that_tie_for_the_last_places_by_lines_share_them(
    lines: tuple[int, ...], listed: int, positive: set[int], expected: float
) -> None:
    shown = [make_rating(n, added, listed=n >= len(lines) - listed) for n, added in enumerate(lines)]
    assert score([issue(*shown)], [end(n) for n in positive]).by_lines == pytest.approx(expected)


# --- laws


@st.composite
def days(draw: st.DrawFn, most: int = 6, many: int = 3) -> list[RatedDigest]:
    digests = []
    for day in range(draw(st.integers(0, many))):
        size = draw(st.integers(0, most))
        shown = [
            make_rating(100 * day + n, draw(st.integers(0, 3)), listed=draw(st.booleans())) for n in range(size)
        ]
        digests.append(issue(*shown, key=f"digest:{day}", after=DAY + day * HOUR))
    return digests


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[RatedDigest], list[MergeOutcome]]:
    issues = draw(days())
    shown = [each.number for one in issues for each in one.ratings.rated]
    ends = [
        end(number, draw(st.sampled_from([HOUR, 2 * DAY, 40 * DAY])), draw(st.sampled_from(OutcomeKind)))
        for number in shown
        if draw(st.booleans())
    ]
    return issues, ends


def open_days(
    issues: Iterable[RatedDigest], ends: Iterable[MergeOutcome]
) -> list[tuple[list[RatedPullRequest], set[int]]]:
    """What was open in each digest, and which of them were taken back in time; said in another way."""
    lasted = {each.pull.number: each.lifetime for each in ends}
    is_open = [[each for each in one.ratings.rated if lasted.get(each.number) != HOUR] for one in issues]
    return [(each, {one.number for one in each if lasted.get(one.number) == 2 * DAY}) for each in is_open]


@given(worlds())
def test_chance_and_size_are_the_mean_of_every_choice_there_is(
    world: tuple[list[RatedDigest], list[MergeOutcome]],
) -> None:
    issues, ends = world
    chance = size = 0.0
    for shown, positive in open_days(issues, ends):
        many = sum(each.is_listed for each in shown)
        choices = list(combinations(shown, many))
        chance += sum(each.number in positive for way in choices for each in way) / len(choices)
        most = max(sum(each.lines for each in way) for way in choices)
        largest = [way for way in choices if sum(each.lines for each in way) == most]
        size += sum(each.number in positive for way in largest for each in way) / len(largest)
    track_record = score(issues, ends)
    assert [track_record.by_chance, track_record.by_lines] == pytest.approx([chance, size])


@given(worlds())
def test_luck_is_the_share_of_all_choices_that_find_as_many(
    world: tuple[list[RatedDigest], list[MergeOutcome]],
) -> None:
    issues, ends = world
    draws = [
        HypergeometricDraw(sum(each.is_listed for each in shown), len(positive), len(shown))
        for shown, positive in open_days(issues, ends)
    ]
    track_record = score(issues, ends)
    assert track_record.p_value == pytest.approx(
        compute_upper_tail(compute_hit_distribution(draws), len(track_record.hits))
    )
    assert track_record.shortfall_p_value == pytest.approx(
        compute_lower_tail(compute_hit_distribution(draws, 2), len(track_record.hits))
    )


@given(worlds(), st.randoms(use_true_random=False))
def test_the_order_in_which_all_is_given_does_not_matter(
    world: tuple[list[RatedDigest], list[MergeOutcome]], random: Any
) -> None:
    issues, ends = world
    shuffled = random.sample(issues, len(issues)), random.sample(ends, len(ends))
    assert score(*shuffled) == score(issues, ends)


@given(worlds(), st.lists(st.integers(0, 2), max_size=4))
def test_however_many_channels_get_a_digest_each_counts_once(
    world: tuple[list[RatedDigest], list[MergeOutcome]], again: list[int]
) -> None:
    issues, ends = world
    copies = [
        replace(one, key=f"{one.key}:{n}", at=one.at + timedelta(minutes=n + 1))
        for n, place in enumerate(again)
        for one in issues[place : place + 1]
    ]
    assert score([*issues, *copies], ends) == score(issues, ends)


# --- the verdict


def make_score(
    listed: int, hits: int, taken_back: int, chance: float, luck: float, shortfall: float
) -> TrackRecordScore:
    """Of a thousand."""
    return TrackRecordScore(
        digests=9,
        listed=Tally(listed, hits),
        others=Tally(1_000 - listed, taken_back - hits),
        by_chance=chance,
        p_value=luck,
        shortfall_p_value=shortfall,
    )


@pytest.mark.parametrize(
    ("track_record", "verdict"),
    [
        pytest.param(TrackRecordScore(), TrackRecordVerdict.TOO_FEW, id="nothing"),
        pytest.param(make_score(19, 9, 20, 3, 0.001, 1), TrackRecordVerdict.TOO_FEW, id="few-listed"),
        pytest.param(make_score(20, 4, 4, 0.1, 0.001, 1), TrackRecordVerdict.TOO_FEW, id="few-taken-back"),
        pytest.param(make_score(20, 5, 5, 0.1, 0.05, 1), TrackRecordVerdict.BETTER, id="just-better"),
        pytest.param(make_score(20, 5, 5, 3, 0.051, 0.5), TrackRecordVerdict.TOO_FEW, id="between"),
        pytest.param(make_score(90, 1, 30, 3, 0.9, 0.1), TrackRecordVerdict.NOT_BETTER, id="just-not"),
        pytest.param(make_score(90, 1, 30, 3, 0.9, 0.11), TrackRecordVerdict.TOO_FEW, id="perhaps-doubled"),
        pytest.param(make_score(90, 0, 30, 2.9, 1, 0.02), TrackRecordVerdict.TOO_FEW, id="chance-finds-few-too"),
        # many counts show a small effect: better, though less than double
        pytest.param(make_score(500, 80, 120, 60, 0.001, 0.01), TrackRecordVerdict.BETTER, id="a-little-better"),
        pytest.param(
            make_score(19, 0, 30, 4, 1, 0.001), TrackRecordVerdict.TOO_FEW, id="few-listed-and-none-found"
        ),
    ],
)
def test_a_verdict_needs_counts_that_bear_it(track_record: TrackRecordScore, verdict: TrackRecordVerdict) -> None:
    assert (track_record.verdict, track_record.is_reduced) == (verdict, verdict is TrackRecordVerdict.NOT_BETTER)


def month(hit_days: int, other_days: int) -> TrackRecordScore:
    """Sixty digests of ten, of which one is listed: so often it is taken back, so often one of the others."""
    issues, ends = [], []
    for day in range(60):
        shown = [make_rating(100 * day + n, listed=n == 0) for n in range(10)]
        issues.append(issue(*shown, key=f"digest:{day}"))
        ends += [end(100 * day)] if day < hit_days else []
        ends += [end(100 * day + 5)] if hit_days <= day < hit_days + other_days else []
    return score(issues, ends)


@pytest.mark.parametrize(
    ("hits", "others", "verdict"),
    [
        (12, 20, TrackRecordVerdict.BETTER),
        (2, 30, TrackRecordVerdict.NOT_BETTER),
        (0, 40, TrackRecordVerdict.NOT_BETTER),
        (3, 30, TrackRecordVerdict.TOO_FEW),
        (1, 3, TrackRecordVerdict.TOO_FEW),
    ],
)
def test_a_list_is_judged_by_its_digests(hits: int, others: int, verdict: TrackRecordVerdict) -> None:
    track_record = month(hits, others)
    assert [len(track_record.hits), track_record.by_chance] == pytest.approx([hits, (hits + others) / 10])
    assert track_record.verdict is verdict
