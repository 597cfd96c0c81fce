"""Ranges of points, and what share of such merges needed a repair."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.features.merges.risk import (
    BASE_RATE,
    HIGHEST_BAND_THRESHOLD,
    RISK_THRESHOLD,
    RULES_VERSION,
    Risk,
    RiskBand,
    assess_pull_request,
)
from tests.helpers.builders import changed_file, pull

BANDS = list(RiskBand)


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        pytest.param(100.0, RiskBand.HIGHEST, id="most"),
        pytest.param(16.0, RiskBand.HIGHEST, id="highest-from-16"),
        pytest.param(15.999, RiskBand.HIGH, id="below-16"),
        pytest.param(12.0, RiskBand.HIGH, id="high-from-12"),
        pytest.param(11.999, RiskBand.MIDDLE, id="below-12"),
        pytest.param(4.0, RiskBand.MIDDLE, id="middle-from-4"),
        pytest.param(3.999, RiskBand.LOW, id="below-4"),
        pytest.param(0.0, RiskBand.LOW, id="nothing-to-say"),
        pytest.param(-6.0, RiskBand.LOW, id="low-from-minus-6"),
        pytest.param(-6.001, RiskBand.NO_PRODUCT, id="below-minus-6"),
        pytest.param(-12.0, RiskBand.NO_PRODUCT, id="least"),
    ],
)
def test_a_band_begins_at_its_points(points: float, expected: RiskBand) -> None:
    assert Risk(points, ()).band is expected


def test_what_is_measured_is_said_with_the_rules_it_was_measured_with() -> None:
    """A change of rules or points makes all of these untrue: measure again, then rename the rules."""
    shares = {band.label: band.repaired for band in RiskBand}
    assert (RULES_VERSION, RISK_THRESHOLD, HIGHEST_BAND_THRESHOLD, BASE_RATE) == ("rules.v2", 12, 16, 7)
    assert shares == {"lowest": 1, "low": 3, "middle": 6, "high": 12, "highest": 20}


def test_bands_go_from_the_least_to_the_most_repaired() -> None:
    shares = [band.repaired for band in BANDS]
    assert shares == sorted(set(shares))
    assert shares[0] < BASE_RATE < shares[-2] < shares[-1] <= 100


def test_bands_have_names_of_their_own() -> None:
    assert len({band.label for band in BANDS}) == len(BANDS)


any_points = st.floats(-20, 40)


@given(any_points, any_points)
def test_more_points_are_never_a_lower_band(one: float, other: float) -> None:
    lower, higher = (Risk(points, ()).band for points in sorted([one, other]))
    assert BANDS.index(lower) <= BANDS.index(higher)


@given(any_points)
def test_what_is_listed_is_in_the_two_highest_bands(points: float) -> None:
    risk = Risk(points, ())
    assert risk.is_listed is (risk.band in (RiskBand.HIGH, RiskBand.HIGHEST))


@given(any_points)
def test_what_is_listed_is_more_often_repaired_than_others(points: float) -> None:
    risk = Risk(points, ())
    assert not risk.is_listed or risk.band.repaired > BASE_RATE


@pytest.mark.parametrize("path", ["docs/a.md", "tests/test_a.py", ".github/ci.yml"])
@pytest.mark.parametrize("lines", [1, 100_000])
def test_without_product_or_build_files_the_band_is_the_lowest(path: str, lines: int) -> None:
    pull_request = pull(files=[changed_file(path)], title="Faster kernels", additions=lines)
    assert assess_pull_request(pull_request).band is RiskBand.NO_PRODUCT


def test_without_files_the_band_is_the_lowest() -> None:
    assert assess_pull_request(pull(files=None, title="Faster kernels")).band is RiskBand.NO_PRODUCT


paths = st.sampled_from(["src/core.py", "src/auth/login.py", "csrc/a.cu", "setup.py", "uv.lock", "docs/a.md"])
titles = st.sampled_from(["Rename things", "Fix a typo", "[CI] docs", "Faster kernels", "[Bugfix] async"])
sizes = st.integers(0, 400)


@given(st.lists(st.tuples(paths, sizes, sizes), min_size=1, max_size=6), titles)
def test_only_what_touches_neither_product_nor_build_is_in_the_lowest_band(
    changed: list[tuple[str, int, int]], title: str
) -> None:
    pull_request = pull(files=[changed_file(*change) for change in changed], title=title)
    touches = any(path != "docs/a.md" for path, _, _ in changed)
    assert (assess_pull_request(pull_request).band is RiskBand.NO_PRODUCT) is not touches


@given(st.lists(st.tuples(paths, sizes, sizes), min_size=1, max_size=6), titles, st.integers(0, 10**9))
def test_the_size_that_orders_equal_points_changes_no_band(
    changed: list[tuple[str, int, int]], title: str, lines: int
) -> None:
    files = [changed_file(*change) for change in changed]
    assert assess_pull_request(pull(files=files, title=title, additions=lines)).band is (
        assess_pull_request(pull(files=files, title=title, additions=0, deletions=0)).band
    )


@pytest.mark.parametrize("title", ['Revert "Faster kernels"', "Revert #5"])
def test_a_revert_ranks_like_what_it_undoes_and_is_not_listed(title: str) -> None:
    files = [changed_file(f"csrc/part{n}/a.cu", 200, 200) for n in range(4)]
    risk = assess_pull_request(pull(files=files, title=title))
    assert (risk.band, risk.is_listed, risk.may_be_listed) == (RiskBand.HIGHEST, False, False)
