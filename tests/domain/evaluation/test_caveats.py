"""What makes figures doubtful: classes that do not fit, a short past, commits that name nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.domain.evaluation import caveats
from bot.domain.evaluation.path_shares import NonProductShare, measure_non_product_share
from bot.domain.pull_requests.models import PullRequest
from bot.domain.pull_requests.path_classes import DEFAULT_PATH_CLASSES
from tests.helpers.builders import NOON, changed_file, pull


def touching(*paths: str) -> PullRequest:
    return pull(files=[changed_file(path) for path in paths])


class TestWithoutProduct:
    def test_what_the_rules_have_nothing_to_say_about_is_counted_by_folder(self) -> None:
        pulls = [
            touching("engine/core.py", "examples/a.py"),
            touching("uv.lock"),
            touching("examples/a.py", "examples/deep/b.py"),
            touching("packages/web/examples/c.py", "config/a.yaml"),
            touching("examples/d.py", "README.md"),
            touching("tests/test_a.py"),
        ]
        non_product_share = measure_non_product_share(pulls, DEFAULT_PATH_CLASSES)
        assert non_product_share.share == pytest.approx(4 / 6)
        assert [(place.pattern, str(place.kind), place.pulls) for place in non_product_share.places] == [
            ("examples/", "docs", 2),
            ("*.md", "docs", 1),
            ("*.yaml", "other", 1),
            ("packages/web/examples/", "docs", 1),
            ("tests/", "tests", 1),
        ]

    def test_files_without_an_extension_go_by_their_names(self) -> None:
        non_product_share = measure_non_product_share([touching("deploy/Procfile")], DEFAULT_PATH_CLASSES)
        assert [place.pattern for place in non_product_share.places] == ["Procfile"]

    def test_of_nothing_the_share_is_nought(self) -> None:
        assert measure_non_product_share([], DEFAULT_PATH_CLASSES) == NonProductShare(0.0, ())

    @pytest.mark.parametrize(("silent", "warns"), [(19, False), (30, False), (31, True), (100, True)])
    def test_more_than_usual_is_told_with_what_to_change(self, silent: int, warns: bool) -> None:
        pulls = [touching("examples/a.py")] * silent + [touching("engine/a.py")] * (100 - silent)
        told = list(caveats.check_path_classes(measure_non_product_share(pulls, DEFAULT_PATH_CLASSES)))
        assert bool(told) is warns
        assert not warns or f"examples/ (docs) in {silent}" in told[0]

    def test_a_path_breaks_no_line(self) -> None:
        (told,) = caveats.check_path_classes(
            measure_non_product_share([touching("examples/\n\x1b[31m.py")], DEFAULT_PATH_CLASSES)
        )
        assert "\n" not in told
        assert "\x1b" not in told


@pytest.mark.parametrize(
    ("days", "told"),
    [
        (0, "There are 0 days"),
        (1, "There are 1 day "),
        (89, "There are 89 days"),
        (90, ""),
        (-5, "There are 0 days"),
    ],
)
def test_a_short_past_is_told(days: int, told: str) -> None:
    messages = list(caveats.check_history([pull(1, merged_at=NOON)], NOON + timedelta(days=days)))
    assert bool(messages) is bool(told)
    assert all(each.startswith(told) for each in messages)


@pytest.mark.parametrize(("named", "commits", "warns"), [(0, 9, True), (4, 9, True), (5, 9, False), (0, 0, False)])
def test_commits_that_name_no_pull_request_are_told(named: int, commits: int, warns: bool) -> None:
    assert bool(list(caveats.check_merge_names(named, commits))) is warns


@pytest.mark.parametrize(("days", "count"), [(0, "2 pull"), (59, "2 pull"), (60, "1 pull"), (61, "")])
def test_what_may_still_be_taken_back_is_told(days: int, count: str) -> None:
    pulls = [pull(1, merged_at=NOON), pull(2, merged_at=NOON + timedelta(hours=1))]
    messages = list(caveats.check_maturity(pulls, NOON + timedelta(days=days)))
    assert bool(messages) is bool(count)
    assert all(each.startswith(count) for each in messages)


def test_no_reverts_and_a_shallow_clone_are_told() -> None:
    assert "R is empty" in next(caveats.check_reverts(0))
    assert list(caveats.check_reverts(1)) == []
    assert "git fetch --unshallow" in next(caveats.check_clone_depth(is_shallow=True))
    assert list(caveats.check_clone_depth(is_shallow=False)) == []
