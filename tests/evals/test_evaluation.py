"""The list measured on a made-up history: what it scores, what tells it apart, what makes its figures doubtful."""

import math
from dataclasses import replace
from datetime import timedelta
from functools import cache

import pytest

from bot.errors import UsageError
from bot.features.merges.risk import RiskBand
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.paths import DEFAULT_PATH_CLASSES
from evals.evaluation import (
    Evaluation,
    NonProductShare,
    evaluate_history,
    judge_ranking,
    measure_non_product_share,
)
from evals.merges import build_history
from impact.evaluation.ranking_metrics import Estimate
from impact.evaluation.window import EvaluationWindow
from impact.git.clone_trees import CloneFacts
from impact.repository import Repository
from impact.source.models import TreeCommit
from tests.evals.commits import FIRST, LARGE, SMALL, ZONE, change, commit
from tests.helpers.builders import REPOSITORY, changed_file, pull
from tests.helpers.checks import is_one_sentence

CLONE = CloneFacts("main", REPOSITORY, is_shallow=False)


def run_evaluation(
    commits: list[TreeCommit],
    days: int = 365,
    since: int = 0,
    facts: CloneFacts = CLONE,
    repository: Repository | None = None,
) -> Evaluation:
    window = EvaluationWindow(FIRST + timedelta(days=since), FIRST + timedelta(days=days))
    return evaluate_history(build_history(facts, commits, repository, window, FIRST), window, ZONE)


def labels(evaluation: Evaluation) -> dict[str, tuple[int, int]]:
    return {each.label: (each.all, each.open) for each in evaluation.positives}


def eventful(count: int = 60, *, large: bool = True) -> list[TreeCommit]:
    """A merge every six hours; each second one is taken back two days later: the large ones, or the small."""
    made: list[TreeCommit] = []
    for number in range(1, count + 1):
        is_large = number % 2 == 0
        made.append(commit(f"Change part {number} (#{number})", 6 * number, LARGE if is_large else SMALL))
        if is_large is large:
            title = f'Revert "Change part {number}" (#{1000 + number})'
            made.append(commit(f"{title}\n\nReverts octo/engine#{number}", 6 * number + 48.5))
    return sorted(made, key=lambda each: each.committed_at)


@cache
def usual() -> Evaluation:
    return run_evaluation(eventful())


class TestFigures:
    def test_a_list_that_foresees_what_happens_is_a_signal(self) -> None:
        evaluation = usual()
        assert labels(evaluation) == {"R": (30, 30), "H": (30, 30)}
        rules = next(row for row in evaluation.rows if (row.ranking, row.label) == ("rules", "H"))
        assert rules.auc.value == 1.0
        assert evaluation.verdict.signal == "signal"
        assert "but not clearly better than a list by lines added" in evaluation.verdict.sentence

    def test_one_that_foresees_the_contrary_is_none(self) -> None:
        assert run_evaluation(eventful(large=False)).verdict.signal == "no signal"

    def test_rankings_stand_beside_each_other_for_each_label(self) -> None:
        rows = usual().rows
        assert [(row.label, row.ranking) for row in rows] == [
            (label, name) for label in "RH" for name in ("rules", "lines added", "random")
        ]
        assert all((row.auc.value, row.auc_all) == (0.5, 0.5) for row in rows if row.ranking == "random")

    def test_bands_hold_every_pull_request_once(self) -> None:
        evaluation = usual()
        assert [each.band for each in evaluation.bands] == [band.label for band in RiskBand]
        assert sum(each.share for each in evaluation.bands) == pytest.approx(1)
        hit = sum(each.share * each.rates["R"] for each in evaluation.bands if each.share)
        assert hit * evaluation.pulls == pytest.approx(30)

    def test_a_rule_has_the_share_of_what_it_fired_on_and_what_it_adds(self) -> None:
        effects = {each.rule: each for each in usual().effects}
        assert (effects["critical"].fired, effects["critical"].rates) == (30, {"R": 1.0, "H": 1.0})
        # any one of them can be left out: the others still tell large from small
        assert effects["critical"].effect["H"].value == 0.0

    def test_a_rule_that_alone_tells_adds_all_there_is(self) -> None:
        hot = [
            replace(
                each,
                changes=(change("engine/core.py", 1, 0),),
                message=each.message.replace("Change", "Compile"),
            )
            if int(each.message.partition("part ")[2].partition(" ")[0].strip('"')) % 2 == 0
            else each
            for each in eventful()
        ]
        effects = {each.rule: each for each in run_evaluation(hot).effects}
        # half of the others are reverts, which rank with the rest
        assert effects["hot title"].effect["R"].value == pytest.approx(0.25)

    def test_scores_are_those_of_the_list_in_the_order_of_merges(self) -> None:
        scores = usual().scores
        assert [number for number, _ in scores] == [
            int(each.message.partition("(#")[2].partition(")")[0]) for each in eventful()
        ]
        by_number = dict(scores)
        # a revert ranks like what it undoes
        assert by_number[2] > by_number[1] == pytest.approx(by_number[1002], abs=0.01)


ONE = commit("One (#1)", 0)
UNDONE = "Undo (#2)\n\nReverts octo/engine#1"


class TestLabels:
    def test_what_was_known_by_nine_is_not_asked_of_the_list(self) -> None:
        evaluation = run_evaluation(
            [
                commit("One (#1)", 0),
                commit('Revert "One" (#2)\n\nReverts octo/engine#1', 3),
                commit("Three (#3)", 24),
                commit('Revert "Three" (#4)\n\nReverts octo/engine#3', 24 + 30),
            ]
        )
        assert labels(evaluation)["R"] == (2, 1)
        assert (evaluation.pulls, evaluation.open) == (4, 3)

    @pytest.mark.parametrize(
        ("commits", "reverted", "harmed"),
        [
            pytest.param([ONE, commit(f"Undo\n\nThis reverts commit {ONE.sha}.", 60)], 1, 1, id="no-number"),
            pytest.param([ONE, commit("Fix crash (#2)\n\nRegression from #1.", 60)], 0, 1, id="a-repair"),
            pytest.param([ONE, commit(UNDONE, 24 * 40)], 1, 1, id="after-the-window"),
        ],
    )
    def test_what_counts(self, commits: list[TreeCommit], reverted: int, harmed: int) -> None:
        assert labels(run_evaluation(commits, days=3)) == {"R": (reverted,) * 2, "H": (harmed,) * 2}

    @pytest.mark.parametrize(
        ("origin", "repository"),
        [
            pytest.param(REPOSITORY, None, id="origin"),
            pytest.param(Repository("ada", "fork"), REPOSITORY, id="as-named"),
            pytest.param(None, None, id="as-its-reverts-say"),
        ],
    )
    def test_reverts_name_the_repository(self, origin: Repository | None, repository: Repository | None) -> None:
        evaluation = run_evaluation(
            [ONE, commit(UNDONE, 60)], facts=replace(CLONE, repository=origin), repository=repository
        )
        assert (evaluation.source.repository, labels(evaluation)["R"]) == ("octo/engine", (1, 1))

    def test_a_clone_from_nowhere_is_called_local(self) -> None:
        evaluation = run_evaluation([ONE], facts=replace(CLONE, repository=None))
        assert evaluation.source.repository == "local/clone"


class TestNotes:
    def notes(self, commits: list[TreeCommit], days: int = 365, since: int = 0, facts: CloneFacts = CLONE) -> str:
        return "\n".join(run_evaluation(commits, days, since, facts).notes)

    def test_a_well_known_past_has_none(self) -> None:
        late = [replace(each, committed_at=each.committed_at + timedelta(days=100)) for each in eventful()]
        commits = [commit("Begin (#5000)", 0), *late, commit("End (#6000)", 24 * 200)]
        assert self.notes(commits, since=100, days=120) == ""

    @pytest.mark.parametrize(
        ("commits", "note"),
        [
            pytest.param([ONE], "0 days of history", id="short"),
            pytest.param([ONE], "No revert was found", id="no-reverts"),
            pytest.param([ONE], "less than 60 days before the last commit", id="young"),
            pytest.param([ONE, commit("Two", 1), commit("Three", 2)], "Only 1 of 3 commits", id="unnamed"),
            pytest.param(
                [commit("One (#1)", 0, {"examples/a.py": (1, 1)})], "examples/ (docs) in 1", id="classes"
            ),
            pytest.param(
                [commit("One (#1)", 0, {"examples/\n\x1b[31m.py": (1, 1)})], "examples/ (docs) in 1", id="odd-path"
            ),
        ],
    )
    def test_what_is_doubtful_is_told(self, commits: list[TreeCommit], note: str) -> None:
        notes = self.notes(commits)
        assert note in notes
        assert "\x1b" not in notes

    @pytest.mark.parametrize(("days", "is_short"), [(90, True), (91, False)])
    def test_a_history_needs_ninety_whole_days(self, days: int, *, is_short: bool) -> None:
        commits = [ONE, commit("Two (#2)", 24 * 100)]
        assert ("of history before the window" in self.notes(commits, since=days)) is is_short

    @pytest.mark.parametrize(("days", "young"), [(59, "2 pull"), (60, "1 pull"), (61, "0 pull")])
    def test_what_merged_within_sixty_days_may_still_be_taken_back(self, days: int, young: str) -> None:
        commits = [ONE, commit("Two (#2)", 1), commit("End", 24 * days)]
        assert (f"{young} request" in self.notes(commits)) is (young != "0 pull")

    def test_a_shallow_clone_is_told(self) -> None:
        notes = self.notes([ONE], facts=replace(CLONE, is_shallow=True))
        assert "git fetch --unshallow" in notes

    @pytest.mark.parametrize(("silent", "is_told"), [(30, False), (31, True)])
    def test_more_than_thirty_percent_without_product_is_told(self, silent: int, *, is_told: bool) -> None:
        files = [{"examples/a.py": (1, 1)}] * silent + [SMALL] * (100 - silent)
        commits = [commit(f"Part {place} (#{place})", place, each) for place, each in enumerate(files, 1)]
        assert (f"examples/ (docs) in {silent}" in self.notes(commits)) is is_told


class TestWithoutProduct:
    def touching(self, *paths: str) -> PullRequest:
        return pull(files=[changed_file(path) for path in paths])

    def test_what_the_rules_have_nothing_to_say_about_is_counted_by_folder(self) -> None:
        pulls = [
            self.touching("engine/core.py", "examples/a.py"),
            self.touching("uv.lock"),
            self.touching("examples/a.py", "examples/deep/b.py"),
            self.touching("packages/web/examples/c.py", "config/a.yaml"),
            self.touching("examples/d.py", "README.md"),
            self.touching("tests/test_a.py"),
        ]
        measured = measure_non_product_share(pulls, DEFAULT_PATH_CLASSES)
        assert measured.share == pytest.approx(4 / 6)
        assert [(place.pattern, str(place.kind), place.pulls) for place in measured.places] == [
            ("examples/", "docs", 2),
            ("*.md", "docs", 1),
            ("*.yaml", "other", 1),
            ("packages/web/examples/", "docs", 1),
            ("tests/", "tests", 1),
        ]
        assert measure_non_product_share([], DEFAULT_PATH_CLASSES) == NonProductShare(0.0, ())
        measured = measure_non_product_share([self.touching("deploy/Procfile")], DEFAULT_PATH_CLASSES)
        assert [place.pattern for place in measured.places] == ["Procfile"]


class TestRefusals:
    @pytest.mark.parametrize(
        ("commits", "pattern"),
        [
            pytest.param([], r"into octo/engine from 2025-01-06 to [0-9-]{10}: choose other dates", id="nothing"),
            pytest.param([commit("One", 1)], "Only 0 of 1 commit in the window name", id="nothing-named"),
        ],
    )
    def test_a_window_without_merges_is_refused_in_a_sentence(
        self, commits: list[TreeCommit], pattern: str
    ) -> None:
        with pytest.raises(UsageError, match=pattern) as caught:
            run_evaluation(commits, days=2)
        assert is_one_sentence(str(caught.value))


class TestVerdict:
    @pytest.mark.parametrize(
        ("positives", "auc", "signal"),
        [
            pytest.param(25, (0.68, 0.61, 0.76), "signal", id="ten-rules-on-vllm"),
            pytest.param(40, (0.58, 0.48, 0.66), "no signal", id="another-repository"),
            pytest.param(40, (0.62, 0.54, 0.69), "weak signal", id="a-third-one"),
            pytest.param(40, (0.60, 0.55, 0.65), "signal", id="just-usable"),
            pytest.param(40, (0.60, 0.50, 0.70), "weak signal", id="just-above-chance"),
            pytest.param(40, (0.30, 0.20, 0.40), "no signal", id="upside-down"),
            pytest.param(19, (0.90, 0.80, 0.95), "too few to tell", id="too-few"),
            pytest.param(20, (0.90, 0.80, 0.95), "signal", id="enough"),
            pytest.param(0, (math.nan, math.nan, math.nan), "too few to tell", id="none"),
            pytest.param(30, (math.nan, math.nan, math.nan), "too few to tell", id="not-defined"),
        ],
    )
    def test_the_lower_end_decides(self, positives: int, auc: tuple[float, float, float], signal: str) -> None:
        verdict = judge_ranking(positives, Estimate(*auc), Estimate(0.01, -0.1, 0.1))
        assert verdict.signal == signal
        assert is_one_sentence(verdict.sentence.replace("0.", "0,"))
        assert ("don't rely on" in verdict.sentence) is (signal != "signal")

    @pytest.mark.parametrize(
        ("gain", "phrase"),
        [
            pytest.param((0.07, 0.01, 0.15), "better than chance and than a list by lines added", id="better"),
            pytest.param((0.02, -0.01, 0.05), "not clearly better than a list by lines added", id="as-good"),
            pytest.param((-0.07, -0.1, -0.01), "worse than a list by lines added", id="worse"),
            pytest.param((math.nan, math.nan, math.nan), "not clearly better", id="not-defined"),
        ],
    )
    def test_a_signal_is_told_beside_lines_added(self, gain: tuple[float, float, float], phrase: str) -> None:
        assert phrase in judge_ranking(50, Estimate(0.7, 0.6, 0.8), Estimate(*gain)).sentence
