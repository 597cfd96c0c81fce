"""The answer to ``/prrisks score``: readable, true to its counts, and accepted whatever the titles say."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.dates import Span
from bot.features.merges.outcomes import MergeOutcome
from bot.features.merges.review import ReviewVerdict
from bot.features.risks.rules import ReviewScore, Tally, TrackRecordScore
from bot.features.risks.view import format_score, render_score
from impact.history.outcomes import OutcomeKind
from impact.repository import Repository
from tests.features.digest.hostile_days import LONGEST, WORST, lines, texts
from tests.helpers.builders import DAY, NOON, REPOSITORY, pull
from tests.helpers.tables import check_rows
from tests.platform.slack.accepted import assert_taken, invisible, items, read_post, strings

SPAN = Span(DAY.date - timedelta(days=89), DAY.date, DAY.zone)
# as on a busy repository in a quarter
USUAL = TrackRecordScore(
    digests=71,
    listed=Tally(64, 3, 4),
    others=Tally(1_826, 18, 21),
    by_chance=1.43,
    by_lines=5.0,
    p_value=0.0004,
    shortfall_p_value=0.99,
)


def make_hit(
    number: int, title: str = "", fate: OutcomeKind = OutcomeKind.REVERTED, repository: Repository = REPOSITORY
) -> MergeOutcome:
    first = pull(number, title=title or f"Change number {number}", merged_at=NOON, repository=repository)
    return MergeOutcome(first, replace(first, number=number + 500, merged_at=NOON + timedelta(hours=30)), fate)


def collect_addresses(hits: Iterable[MergeOutcome]) -> set[str]:
    return {half.url for each in hits for half in (each.pull, each.by)}


def format_lines(**fields: Any) -> list[str]:
    return [line.strip(" •") for line in format_score(replace(USUAL, **fields)).splitlines() if line]


def test_the_whole_of_it_as_it_is_read() -> None:
    score = replace(USUAL, hits=(make_hit(9), make_hit(7, fate=OutcomeKind.REPAIRED)), young=7, known=12)
    assert format_score(score) == (
        "  • Listed: 64 of 1,890 merged pull requests, in 71 digests. Later: 3 reverted and 4 repaired (11%, "
        "95% interval 5.4 to 21%), of all others 2.1%.\n  • Right: this list 7; random picks 1.4; largest "
        "changes 5.\n  • Of 21 that were reverted after the digest, 3 had been listed; of 25 that were "
        "repaired after the digest, 4 had been listed.\n\nBetter than chance: random picks would do as well in "
        "less than 0.1% of such periods.\n\nListed, and later reverted or repaired\n  • #9 Change number 9, "
        "reverted after 30.0 h by #509\n  • #7 Change number 7, repaired after 30.0 h by #507 Change number "
        "7\n\nCounted: reverts and repairs that name the change, after its digest and within 30 days of its "
        "merge. 7 of the listed are younger than 30 days: some may still be reverted. 12 pull requests were "
        "left out: reverted or repaired before the digest."
    )


REVIEWS = ReviewScore(
    by_rules=Tally(62, 2, 4),
    added=Tally(4, 1),
    left_out=Tally(2),
    by_verdict=(
        (ReviewVerdict.CONFIRMED, Tally(6, 2, 1)),
        (ReviewVerdict.POSSIBLE, Tally()),
        (ReviewVerdict.NOTHING, Tally(40, 0, 1)),
        (None, Tally(1_844, 19, 23)),
    ),
)


def tell_reviews(reviews: ReviewScore) -> list[str]:
    """The lines below the title of the part on reviews; a blank before % is no matter."""
    lines = format_lines(reviews=reviews)
    start = lines.index("Two lists: rules alone, and with the AI bug review") + 1
    return [line.replace(" %", "%") for line in lines[start:-1]]


def test_rules_and_the_review_are_told_apart_in_plain_words() -> None:
    assert "\n".join(tell_reviews(REVIEWS)) == (
        "With reading, as posted: 64, 7 of them reverted or repaired (11%, 95% interval 5.4 to 21%).\n"
        "Rules alone: 62, 6 of them reverted or repaired (9.7%, 95% interval 4.5 to 20%).\n"
        "The AI bug review put 4 (1 later reverted or repaired) on the list and took 2 (none later reverted or "
        "repaired) off it.\n"
        "6 with a confirmed bug: 3 of them reverted or repaired (50%, 95% interval 19 to 81%).\n"
        "40 where it found nothing: 1 of them reverted or repaired (2.5%, 95% interval 0.4 to 13%).\n"
        "1,844 without an AI review: 42 of them reverted or repaired (2.3%, 95% interval 1.7 to 3.1%).\n"
        "Too few to tell which was right: that takes 20 in which the lists differ, 5 of them reverted or "
        "repaired. Here are 6 and 1."
    )


CLEAR = "chance alone gives such a difference in at most 5% of such periods."


@check_rows(
    {
        "nothing differs": (Tally(), Tally(), 2, "The two lists are the same."),
        "only added": (Tally(3, 0, 1), Tally(), 2, "put 3 (1 later reverted or repaired) on the list."),
        "only left out": (Tally(), Tally(1), 2, "took 1 (none later reverted or repaired) off it."),
        "reviews": (Tally(10, 5), Tally(10), -1, f"The AI bug review was right more often: {CLEAR}"),
        "rules": (Tally(10), Tally(10, 5), -1, f"The rules were right more often: {CLEAR}"),
        "neither": (Tally(10, 3), Tally(10, 2), -1, "Too close to tell which was right."),
    }
)
def test_where_the_lists_differ_it_says_which_was_right(
    added: Tally, left_out: Tally, place: int, sentence: str
) -> None:
    line = tell_reviews(replace(REVIEWS, added=added, left_out=left_out))[place]
    assert line.endswith(sentence)


def test_where_the_rules_would_have_listed_nothing_it_says_so() -> None:
    assert tell_reviews(replace(REVIEWS, by_rules=Tally()))[1] == "Rules alone: none."


def test_without_reviews_nothing_is_said_of_them() -> None:
    assert format_lines(reviews=replace(REVIEWS, by_verdict=())) == format_lines()


def test_the_title_names_repository_and_days() -> None:
    post = render_score("R&D <!here>", SPAN, USUAL)
    title = "How good was the risk list? · R&D <!here> · 1 December 2025 – 28 February 2026"  # noqa: RUF001 (a dash)
    assert post.blocks[0]["text"]["text"] == title
    assert post.text.startswith("How good was the risk list? · R&amp;D &lt;!here&gt; · ")


def test_the_message_says_what_the_terminal_does() -> None:
    score = replace(USUAL, hits=(make_hit(9),))
    in_slack = " ".join(read_post(render_score("Engine", SPAN, score)).split())
    for line in format_score(score).splitlines():
        assert line.strip(" •") in in_slack


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            {"listed": Tally(), "others": Tally(1_826, 18, 21)},
            "requests, in 71 digests. Later: 18 reverted and 21 repaired (2.1%).",
        ),
        (
            {"listed": Tally(20)},
            "None of them was reverted or repaired (0%, 95% interval 0 to 16%), of all others 2.1%.",
        ),
        (
            {"digests": 1, "listed": Tally(1, 1), "others": Tally()},
            "pull request, in 1 digest. Later: 1 reverted (100%, 95% interval 21 to 100%).",
        ),
        (
            {"listed": Tally(64, 0, 2), "others": Tally(5_000, 1)},
            "Later: 2 repaired (3.1%, 95% interval 0.9 to 11%), of all others less than 0.1%.",
        ),
    ],
    ids=["none listed", "none taken back", "all", "rare"],
)
def test_what_was_listed_is_told_in_counts(fields: dict[str, Any], sentence: str) -> None:
    assert format_lines(**fields)[0].endswith(sentence)


@pytest.mark.parametrize(
    ("listed", "others", "sentence"),
    [
        (Tally(9), Tally(90), "No change was reverted or repaired after its digest."),
        (Tally(9), Tally(90, 1), "Of 1 that was reverted after the digest, none had been listed."),
        (Tally(9, 0, 2), Tally(90), "Of 2 that were repaired after the digest, 2 had been listed."),
    ],
)
def test_what_was_missed_is_told(listed: Tally, others: Tally, sentence: str) -> None:
    assert format_lines(listed=listed, others=others)[2] == sentence


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            {"listed": Tally(12, 1), "others": Tally(90, 1, 1)},
            "Too few to tell: a verdict needs 20 listed and 5 reverted or repaired changes; there are 12 and 3.",
        ),
        ({"p_value": 0.2, "by_chance": 1.43}, "Too few to tell: random picks would find 1.4; a verdict needs 3."),
        (
            {"p_value": 0.19, "shortfall_p_value": 0.2, "by_chance": 7.3},
            "as well in 19% of such periods, a useful list as badly in 20%.",
        ),
        (
            {"p_value": 0.9, "shortfall_p_value": 0.021, "by_chance": 7.3},
            "Not better than chance: a useful list would find so few in only 2.1% of such",
        ),
        ({"p_value": 0.034}, "Better than chance: random picks would do as well in 3.4% of such periods."),
    ],
    ids=["few", "little chance", "between", "not better", "better"],
)
def test_the_verdict_says_why(fields: dict[str, Any], sentence: str) -> None:
    assert sentence in format_lines(**fields)[3]


def test_a_list_without_a_signal_says_that_less_will_be_listed() -> None:
    told = format_lines(p_value=0.9, shortfall_p_value=0.02, by_chance=7.3)[3]
    assert "digests list at most one change of the highest band" in told
    assert "at most one" not in format_lines()[3]


def test_without_digests_it_says_what_to_do() -> None:
    post = render_score("Engine", SPAN, TrackRecordScore())
    assert "There is nothing to score" in read_post(post)
    assert "/prdigest subscribe at 09:00" in read_post(post)
    assert len(post.blocks) == 2


@pytest.mark.parametrize(
    ("fields", "note"),
    [
        ({"young": 1}, "1 of the listed is younger than 30 days"),
        ({"known": 1}, "1 pull request was left out"),
        ({"listed": Tally(64), "others": Tally(236)}, "Reverts may be worded differently here"),
        ({"versions": ("rules.v1", "rules.v2")}, "The rules changed during this time: rules.v1, rules.v2."),
    ],
)
def test_the_small_print_says_what_the_counts_rest_on(fields: dict[str, Any], note: str) -> None:
    (usual,), (told,) = format_lines()[4:], format_lines(**fields)[4:]
    assert note in told
    assert note not in usual


@pytest.mark.parametrize("others", [Tally(235), Tally(236, 1), Tally(236, 0, 1)])
def test_few_without_reverts_are_no_wonder(others: Tally) -> None:
    assert "in another way" not in "".join(format_lines(listed=Tally(64), others=others))


def test_what_only_the_rules_would_have_listed_is_named_if_it_was_reverted() -> None:
    told = format_lines(reviews=replace(REVIEWS, missed=(make_hit(77),)))
    title = "On the list of the rules alone, and later reverted or repaired"
    assert "#77 Change number 77" in told[told.index(title) + 1]
    assert title not in format_lines(reviews=REVIEWS)


@pytest.mark.parametrize(("many", "more"), [(0, 0), (8, 0), (9, 2), (40, 33)])
def test_hits_beyond_eight_lines_are_counted(many: int, more: int) -> None:
    post = render_score("Engine", SPAN, replace(USUAL, hits=tuple(make_hit(n) for n in range(1, many + 1))))
    named = items(post)[3:]
    assert len(named) == min(many, 8)
    if more:
        assert named[-1] == [{"type": "text", "text": f"and {more} more: ask for fewer days"}]


tallies = st.builds(Tally, st.integers(40, 9_999), st.integers(0, 20), st.integers(0, 20))
hits = st.builds(make_hit, st.integers(1, 400), texts(256), st.sampled_from(OutcomeKind))
shares = st.floats(0, 1)
scores = st.builds(
    TrackRecordScore,
    digests=st.integers(0, 400),
    listed=tallies | st.just(Tally()),
    others=tallies,
    hits=st.lists(hits, max_size=12).map(tuple),
    by_chance=st.floats(0, 99),
    by_lines=st.floats(0, 99),
    p_value=shares,
    shortfall_p_value=shares,
    young=st.integers(0, 9),
    known=st.integers(0, 9),
    versions=st.lists(lines(80), max_size=5).map(tuple),
    reviews=st.builds(
        ReviewScore,
        tallies,
        tallies,
        tallies,
        st.lists(st.tuples(st.none() | st.sampled_from(ReviewVerdict), tallies), max_size=4).map(tuple),
    ),
)


@given(scores, texts(100))
def test_a_hostile_score_makes_a_message_that_slack_takes(score: TrackRecordScore, name: str) -> None:
    post = render_score(name, SPAN, score)
    assert_taken(post, collect_addresses(score.hits))
    assert [text for text in strings(list(post.blocks)) if invisible(text) or "\n" in text] == []


@given(scores)
def test_no_title_steers_a_terminal(score: TrackRecordScore) -> None:
    assert invisible(format_score(score)) == []


@pytest.mark.parametrize("repository", [REPOSITORY, LONGEST], ids=["usual", "longest"])
@pytest.mark.parametrize("text", WORST.values(), ids=list(WORST))
def test_the_longest_score_stays_within_the_budget(text: str, repository: Repository) -> None:
    worst = tuple(make_hit(999_999_000 - n, text[:256], OutcomeKind.PARTLY, repository) for n in range(99))
    score = replace(USUAL, hits=worst, young=64, known=9_999, versions=(text,) * 9)
    assert_taken(render_score(text[:100], SPAN, score), collect_addresses(worst))
