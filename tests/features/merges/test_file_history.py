from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.features.merges.outcomes import MergeOutcome, RevertIndex
from bot.features.merges.risk import DEFAULT_CHANGE_SIZE, FileHistory, assess_pull_request, is_fix
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.paths import DEFAULT_PATH_CLASSES
from impact.history.outcomes import OutcomeKind, find_outcomes
from tests.helpers.builders import NOON, changed_file, pull

DAY = timedelta(days=1)
CORE, OTHER = "src/core.py", "src/other.py"
START = pull(1, merged_at=NOON - 300 * DAY)


def make_merge(number: int, days: float, *paths: str, title: str = "Count once", **fields: object) -> PullRequest:
    """A pull request that was merged so many days before noon."""
    files = [changed_file(path) for path in paths or (CORE,)]
    return pull(number, title=title, merged_at=NOON - timedelta(days=days), files=files, **fields)


def past(*pulls: PullRequest, outcomes: Iterable[MergeOutcome] | None = None) -> FileHistory:
    return FileHistory(
        pulls, find_outcomes(RevertIndex(pulls)) if outcomes is None else outcomes, DEFAULT_PATH_CLASSES
    )


def make_history(days: float, *paths: str, fate: OutcomeKind = OutcomeKind.REVERTED) -> FileHistory:
    """A past in which a change of these files was taken back so many days before noon."""
    gone, back = make_merge(5, days + 1, *paths), make_merge(9, days)
    return past(gone, back, outcomes=[MergeOutcome(gone, back, fate)])


@pytest.mark.parametrize(("days", "expected"), [(89.9, False), (90, True), (500, True)])
def test_a_past_of_ninety_days_is_enough(days: float, *, expected: bool) -> None:
    assert past(make_merge(5, days)).is_long_enough(NOON) is expected
    assert past().is_long_enough(NOON) is False


@pytest.mark.parametrize(("days", "expected"), [(0, 0), (-1, 0), (0.001, 1), (13.9, 1), (14, 1), (14.001, 0)])
def test_fixes_count_for_two_weeks_before(days: float, expected: int) -> None:
    assert past(make_merge(5, days, title="Fix the count")).count_fixes([CORE], NOON) == expected


@pytest.mark.parametrize(("days", "expected"), [(0, 0), (0.001, 1), (14, 1), (14.001, 0)])
def test_what_was_pushed_without_a_pull_request_counts_by_its_time_as_well(days: float, expected: int) -> None:
    assert past(make_merge(-3, days, title='Revert "Fix the count"')).count_fixes([CORE], NOON) == expected


def test_a_fix_of_several_files_is_one_and_other_files_have_none() -> None:
    file_history = past(
        make_merge(5, 1, CORE, OTHER, title="[Bugfix] Count once"), make_merge(6, 2, title="Hotfix")
    )
    assert file_history.count_fixes([CORE, OTHER], NOON) == 2
    assert file_history.count_fixes([OTHER], NOON) == 1
    assert file_history.count_fixes(["src/none.py"], NOON) == file_history.count_fixes([], NOON) == 0


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Fix a crash", True),
        ("[Bugfix] Count once", True),
        ("Wrong result on CPU", True),
        ("Prefix caching", False),
        ("Fix typos in comments", False),
        ("[Doc] Fix the guide", False),
        ("Fix lint", False),
        ("Count once", False),
    ],
)
def test_a_fix_says_so_in_its_title(title: str, *, expected: bool) -> None:
    assert is_fix(title) is expected


@pytest.mark.parametrize("path", ["docs/a.md", "tests/test_a.py"])
def test_only_product_and_build_files_are_watched(path: str) -> None:
    assert past(make_merge(5, 1, path, title="Fix it")).count_fixes([path], NOON) == 0
    assert make_history(1, path).count_reverted([path], NOON) == 0


@pytest.mark.parametrize(("days", "expected"), [(0, 0), (0.001, 1), (179.9, 1), (180, 0)])
def test_reverts_count_for_half_a_year_from_when_they_were_merged(days: float, expected: int) -> None:
    assert make_history(days, CORE, OTHER).count_reverted([CORE, "src/none.py"], NOON) == expected


@pytest.mark.parametrize(
    ("fate", "expected"), [(OutcomeKind.REVERTED, 2), (OutcomeKind.PARTLY, 2), (OutcomeKind.REPAIRED, 0)]
)
def test_a_repair_is_no_revert(fate: OutcomeKind, expected: int) -> None:
    assert make_history(3, CORE, OTHER, fate=fate).count_reverted([CORE, OTHER], NOON) == expected


def renaming(number: int, days: float, before: str, after: str) -> PullRequest:
    file = replace(changed_file(after), status="renamed", previous_path=before)
    return replace(make_merge(number, days), files=(file,))


def test_a_renamed_file_takes_along_what_happened_to_it_from_then_on() -> None:
    fix = make_merge(5, 9, "src/a.py", title="Fix it")
    file_history = past(fix, renaming(6, 8, "src/a.py", "src/b.py"), renaming(7, 4, "src/b.py", "src/c.py"))
    assert file_history.count_fixes(["src/c.py"], NOON) == 1
    assert file_history.count_fixes(["src/c.py"], NOON - 4 * DAY) == 0, "it was not called so yet"
    assert file_history.count_fixes(["src/b.py"], NOON - 5 * DAY) == 1


def test_files_that_change_names_in_a_circle_have_an_end() -> None:
    swaps = [renaming(n, 10 - n, *pair) for n, pair in enumerate([(CORE, OTHER), (OTHER, CORE)] * 4)]
    assert past(make_merge(90, 11, title="Fix it"), *swaps).count_fixes([CORE], NOON) == 1


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        pytest.param(10, timedelta(days=3), id="a-later-one-was-merged-three-days-ago"),
        pytest.param(12, timedelta(days=3), id="with-that-very-number"),
        pytest.param(13, timedelta(days=1), id="only-a-newer-one-is-later"),
        pytest.param(21, timedelta(0), id="the-latest-of-all"),
    ],
)
def test_it_was_open_since_a_later_one_was_merged_at_the_latest(number: int, expected: timedelta) -> None:
    file_history = past(make_merge(12, 3), make_merge(11, 2), make_merge(20, 1), make_merge(30, -1))
    assert file_history.get_open_time(number, NOON) == expected


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        pytest.param([100, 999_999, 110], 0, id="of-another-tracker"),
        pytest.param([100, 999_999, 500_000, 110], 0, id="of-two-trackers"),
        pytest.param([100, 999_999, 999_990], 1, id="goes-on-from-there"),
        pytest.param([-1, 999_999], 1, id="the-first"),
    ],
)
def test_one_number_that_leaps_makes_nothing_look_old(numbers: list[int], expected: int) -> None:
    file_history = past(*(make_merge(number, len(numbers) + 1 - at) for at, number in enumerate(numbers, 1)))
    assert file_history.get_open_time(120, NOON) == expected * DAY


def of_size(number: int, days: float, lines: int, path: str = CORE) -> PullRequest:
    return replace(make_merge(number, days), files=(changed_file(path, lines),))


@pytest.mark.parametrize(
    ("count", "lines", "expected"), [(49, 30, DEFAULT_CHANGE_SIZE), (50, 30, 30), (50, 3, 8), (50, 300, 64)]
)
def test_the_usual_size_is_the_median_of_three_months_within_bounds(
    count: int, lines: int, expected: float
) -> None:
    sizes = [of_size(n, 1 + n, lines) for n in range(1, count + 1)]
    late = [of_size(100 + n, 0.1, 60) for n in range(99)]
    old = [of_size(300 + n, 95, 60) for n in range(99)]
    docs = [of_size(500 + n, 5, 60, "docs/a.md") for n in range(99)]
    assert past(*sizes, *late, *old, *docs).get_usual_size(NOON) == expected


@pytest.mark.parametrize(
    ("count", "lines", "told"),
    [
        pytest.param(50, 20, ", where 20 are usual", id="measured"),
        pytest.param(49, 20, "", id="too-few-to-tell-what-is-usual-here"),
        pytest.param(50, 3, "", id="below-what-the-rules-count-with"),
        pytest.param(50, 300, "", id="above-it"),
        pytest.param(0, 0, "", id="without-history"),
    ],
)
def test_a_size_is_compared_with_what_was_measured_here_alone(count: int, lines: int, told: str) -> None:
    known = past(START, *(of_size(n, 1 + n, lines) for n in range(10, 10 + count))) if count else None
    [reason] = assess_pull_request(of_size(900, 0, 256), past=known).reasons[:1]
    assert reason == f"adds 256 lines of product or build code{told}"


hours = st.integers(0, 24 * 200)
titles = st.sampled_from(["Fix it", "Count once", 'Revert "Count once"', "Remove it"])
changes = st.lists(st.tuples(hours, st.sampled_from([CORE, OTHER, "setup.py"]), titles), max_size=40)


@given(changes, changes, hours)
def test_what_is_merged_later_or_at_the_same_time_changes_no_score(
    before: list[tuple[int, str, str]], after: list[tuple[int, str, str]], hour: int
) -> None:
    def make_merges(
        first: int, merge_rows: list[tuple[int, str, str]], at: datetime, step: int
    ) -> list[PullRequest]:
        return [
            pull(first + n, title=title, merged_at=at + step * timedelta(hours=h), files=[changed_file(path, 90)])
            for n, (h, path, title) in enumerate(merge_rows)
        ]

    one = pull(500, title="Faster core", merged_at=NOON, files=[changed_file(CORE, 300), changed_file(OTHER)])
    known = [START, *make_merges(10, before, NOON - timedelta(hours=1), -1)]
    later = make_merges(200, after, NOON, 1)
    alone, among = past(*known), past(*later, one, *known)
    assert assess_pull_request(one, past=alone) == assess_pull_request(one, past=among)
    assert not assess_pull_request(one, past=alone).without_history


def test_the_history_of_its_files_counts_and_is_told() -> None:
    gone = make_merge(5, 20, CORE, OTHER, title="Count once")
    back = make_merge(6, 19, CORE, OTHER, title='Revert "Count once" (#5)')
    fixes = [make_merge(7 + n, 5 - n, title="Fix it") for n in range(3)]
    late = make_merge(90, 7.5, "docs/a.md")
    one = make_merge(50, 0, CORE, OTHER, "src/new.py", title="Faster core")
    risk = assess_pull_request(one, past=past(START, gone, back, *fixes, late))
    assert risk.reasons == (
        "was open for at least 7 days",
        "2 of its files were in a reverted change in the last 180 days",
        "title mentions performance or concurrency",
        "its files needed 3 fixes in 14 days",
    )
    without = assess_pull_request(one)
    assert (risk.without_history, without.without_history) == (False, True)
    assert {rule.rule for rule in risk.fired} - {rule.rule for rule in without.fired} == {
        "open",
        "reverted files",
        "fixes",
    }


def test_an_open_pull_request_is_scored_without_history() -> None:
    file_history = past(START, make_merge(5, 1, title="Fix it"))
    assert assess_pull_request(replace(make_merge(9, 0), merged_at=None), past=file_history).without_history
