import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bot.features.merges.outcomes import RevertIndex
from bot.features.merges.risk import assess_pull_request
from bot.features.merges.timeline import build_past
from bot.platform.pulls.models import ChangedFile, PullRequest
from bot.platform.pulls.paths import DEFAULT_PATH_CLASSES, get_default_classes
from evals.merges import (
    HARMED,
    REPAIRED,
    REPOSITORY,
    REVERTED,
    LabelledOutcome,
    build_cases,
    read_clone,
    read_labels,
    read_outcomes,
    read_pack,
    read_pulls,
)
from evals.ranking import Measurement
from impact.evaluation.window import EvaluationWindow
from impact.testing.clones import Builder, building, needs_git
from tests.helpers.builders import SHARED, needs_shared

PACK = SHARED / "risk"
ZONE = ZoneInfo("America/Los_Angeles")
WINDOW = EvaluationWindow(dt.date(2025, 10, 1), dt.date(2025, 12, 31))
# how many pull requests become a clone
REPLAYED = 600

pytestmark = [pytest.mark.slow, needs_shared]


@pytest.fixture(scope="module")
def everything() -> tuple[PullRequest, ...]:
    return read_pulls(PACK)


@pytest.fixture(scope="module")
def outcomes() -> dict[int, LabelledOutcome]:
    return read_outcomes(read_labels(PACK))


@pytest.fixture(scope="module")
def pulls(everything: tuple[PullRequest, ...]) -> list[PullRequest]:
    return [pull for pull in everything if pull.merge_time in WINDOW]


@pytest.fixture(scope="module")
def measurement(outcomes: dict[int, LabelledOutcome], pulls: list[PullRequest]) -> Measurement:
    return Measurement(build_cases(pulls, outcomes, ZONE), (REVERTED, HARMED, REPAIRED), 0)


class TestPublishedFigures:
    """Of the window from October to December: AUC of all, AUC, precision and recall of the top three a day."""

    def test_so_many_happened_and_were_known(self, measurement: Measurement, pulls: list[PullRequest]) -> None:
        assert (len(pulls), measurement.days) == (2573, 93)
        assert [measurement.count_positives(label, include_known=True) for label in "RHY"] == [42, 52, 184]
        assert [measurement.count_positives(label) for label in "RHY"] == [25, 32, 164]

    @pytest.mark.parametrize(
        ("ranking", "label", "figures"),
        [
            ("lines added", "R", (0.601, 0.598, 0.011, 0.12)),
            ("lines added", "H", (0.618, 0.618, 0.022, 0.19)),
            ("lines added", "Y", (0.743, 0.757, 0.198, 0.34)),
            ("files changed", "R", (0.677, 0.688, 0.016, 0.18)),
            ("files changed", "H", (0.671, 0.672, 0.023, 0.20)),
            ("files changed", "Y", (0.709, 0.712, 0.176, 0.30)),
            ("random", "R", (0.5, 0.5, 0.009, 0.11)),
            ("random", "H", (0.5, 0.5, 0.013, 0.11)),
            ("random", "Y", (0.5, 0.5, 0.065, 0.11)),
            ("oracle", "Y", (1.0, 1.0, 0.529, 0.90)),
        ],
    )
    def test_simple_rankings_have_their_figures(
        self,
        measurement: Measurement,
        pulls: list[PullRequest],
        outcomes: dict[int, LabelledOutcome],
        ranking: str,
        label: str,
        figures: tuple[float, float, float, float],
    ) -> None:
        every: dict[str, list[float]] = {
            "lines added": [pull.additions for pull in pulls],
            "files changed": [pull.changed_files for pull in pulls],
            "random": [0] * len(pulls),
            "oracle": [pull.number in outcomes for pull in pulls],
        }
        row = measurement.measure_ranking(ranking, every[ranking]).rows[label]
        measured_figures = (row.auc_all, row.auc.value, row.precision.value)
        assert [round(each, 3) for each in measured_figures] == list(figures[:3])
        assert round(row.recall.value, 2) == pytest.approx(figures[3], abs=0.0051)

    def test_average_precision_is_that_of_the_record(
        self, measurement: Measurement, pulls: list[PullRequest]
    ) -> None:
        added = measurement.measure_ranking("lines added", [pull.additions for pull in pulls])
        changed = measurement.measure_ranking("files changed", [pull.changed_files for pull in pulls])
        precisions = [round(each.rows["Y"].average_precision.value, 3) for each in (added, changed)]
        assert precisions == [0.198, 0.136]


class TestRules:
    """The figures that docs/decisions/0008-risk.md gives: a change of rules changes them, and their name."""

    @pytest.mark.parametrize(
        ("by_titles", "figures"),
        [
            pytest.param(False, {"R": (0.660, 0.014), "H": (0.675, 0.025), "Y": (0.790, 0.223)}, id="labels"),
            pytest.param(
                True, {"R": (0.666, 0.014), "H": (0.677, 0.022), "Y": (0.792, 0.212)}, id="titled-reverts"
            ),
        ],
    )
    def test_the_list_has_its_figures(
        self,
        measurement: Measurement,
        pulls: list[PullRequest],
        figures: dict[str, tuple[float, float]],
        *,
        by_titles: bool,
    ) -> None:
        past = read_pack(PACK, by_titles=by_titles).past
        ranking = measurement.measure_ranking(
            "rules", [assess_pull_request(pull, DEFAULT_PATH_CLASSES, past).points for pull in pulls]
        )
        measured_figures = {
            label: (round(ranking.rows[label].auc.value, 3), round(ranking.rows[label].precision.value, 3))
            for label in figures
        }
        assert measured_figures == figures


@needs_git
def test_a_clone_gives_the_scores_of_the_record(everything: tuple[PullRequest, ...], tmp_path: Path) -> None:
    """The first pull requests as commits, whose made-up files have the recorded numbers of lines."""
    first = everything[:REPLAYED]
    with building(tmp_path / "clone") as builder:
        Replay(builder, first).write()
    window = EvaluationWindow(dt.date(2025, 3, 1), dt.date(2025, 3, 31))
    history = read_clone(
        tmp_path / "clone",
        None,
        REPOSITORY,
        window,
        lambda done, total: None,
        get_default_classes,
        dt.date(2025, 3, 1),
    )
    assert [facts(pull) for pull in history.pulls] == [facts(pull) for pull in first]
    past = build_past(RevertIndex(first), DEFAULT_PATH_CLASSES)
    assert [assess_pull_request(pull, DEFAULT_PATH_CLASSES, history.past) for pull in history.pulls] == [
        assess_pull_request(pull, DEFAULT_PATH_CLASSES, past) for pull in first
    ]


def facts(pull: PullRequest) -> tuple[object, ...]:
    files = sorted(pull.files or (), key=lambda file: file.path)
    return pull.number, pull.title, pull.merge_time, pull.additions, pull.deletions, files


@dataclass
class _Known:
    """A file that was there before: where, and how many lines it must have had for what happens to it."""

    path: str
    least: int = 4
    gained: int = 0


def _before(pulls: Sequence[PullRequest]) -> dict[str, int]:
    """The lines that files had before the first of the pull requests, by path."""
    known_files: list[_Known] = []
    now: dict[str, _Known | None] = {}
    for pull in pulls:
        moved: dict[str, _Known | None] = {}
        for file in pull.files or ():
            old = file.previous_path or file.path
            if file.status != "added" and old not in now:
                known_files.append(_Known(old))
                now[old] = known_files[-1]
            known = now.pop(old, None) if file.status != "added" else None
            if known:
                # a renamed file has to stay alike
                needed = file.deletions if file.status != "renamed" else 3 * (file.additions + file.deletions)
                exact = file.deletions - known.gained
                known.least = exact if file.status == "removed" else max(known.least, needed - known.gained)
                known.gained += file.additions - file.deletions
            if file.status != "removed":
                moved[file.path] = known
        now.update(moved)
    return {known.path: known.least for known in known_files}


class Replay:
    """Writes pull requests as commits: every line of every file is like no other, so that counts are exact."""

    def __init__(self, builder: Builder, pulls: Sequence[PullRequest]) -> None:
        self._builder = builder
        self._pulls = pulls
        self._files: dict[str, list[str]] = {}
        self._lines = 0
        self._texts = {file.path for pull in pulls for file in pull.files or () if file.changed_lines}

    def write(self) -> None:
        self._files = {path: self._new(count) for path, count in _before(self._pulls).items()}
        first = {path: self._content(path) for path in self._files}
        self._builder.commit("What there was", dict(first), at=self._pulls[0].merge_time)
        for pull in self._pulls:
            message = f"{pull.title} (#{pull.number})"
            self._builder.commit(message, self._change_files(pull.files or ()), at=pull.merge_time)

    def _change_files(self, files: Sequence[ChangedFile]) -> dict[str, bytes | None]:
        written: dict[str, bytes | None] = {}
        kept = {file.path: self._files.get(file.previous_path or file.path, []) for file in files}
        for file in files:
            if file.status in ("removed", "renamed"):
                gone = file.path if file.status == "removed" else str(file.previous_path)
                self._files.pop(gone, None)
                written[gone] = None
        for file in files:
            if file.status != "removed":
                self._files[file.path] = kept[file.path][file.deletions :] + self._new(file.additions)
                is_text = file.path in self._texts or file.status == "renamed"
                written[file.path] = self._content(file.path) if is_text else self._binary()
        return written

    def _new(self, count: int) -> list[str]:
        self._lines += count
        return [f"line {number:012d}\n" for number in range(self._lines - count, self._lines)]

    def _binary(self) -> bytes:
        self._lines += 1
        return b"\0%d" % self._lines

    def _content(self, path: str) -> bytes:
        return "".join(self._files[path]).encode()
