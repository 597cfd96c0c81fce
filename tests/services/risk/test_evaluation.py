"""The list measured on a made-up history: what it scores, what it is told apart by, what it never looks at."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import cache

import pytest

from bot.domain.errors import UsageError
from bot.domain.evaluation.labels import EvaluationWindow
from bot.domain.evaluation.models import Evaluation
from bot.domain.evaluation.verdict import RankingSignal
from bot.domain.history.commits import Commit
from bot.domain.pull_requests.models import Repository
from bot.domain.risk.assessment import RiskBand
from bot.ports.source.clone import CloneFacts
from bot.services.history.clone_history import read_clone_history
from bot.services.risk.evaluation import evaluate_history
from tests.helpers.builders import REPOSITORY, changed_file
from tests.helpers.checks import is_one_sentence
from tests.services.risk.listed_clone import FIRST, LARGE, SMALL, ZONE, Listed, commit


def run_evaluation(commits: list[Commit], days: int = 365, since: int = 0, **options: object) -> Evaluation:
    window = EvaluationWindow(FIRST + timedelta(days=since), FIRST + timedelta(days=days), ZONE)
    clone = Listed(commits, options.get("facts"))  # type: ignore[arg-type]
    repository = options.get("repository")
    history = read_clone_history(clone, repository, window, FIRST, lambda done, total: None)  # type: ignore[arg-type]
    return evaluate_history(history, window)


def labels(evaluation: Evaluation) -> dict[str, tuple[int, int]]:
    return {each.label: (each.all, each.open) for each in evaluation.positives}


def eventful(count: int = 60, *, large: bool = True) -> list[Commit]:
    """A merge every six hours; each second one is taken back two days later: the large ones, or the small."""
    made: list[Commit] = []
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
        assert evaluation.verdict.signal is RankingSignal.CLEAR
        assert "but not clearly better than a list by lines added" in evaluation.verdict.sentence

    @pytest.mark.slow
    def test_one_that_foresees_the_contrary_is_none(self) -> None:
        evaluation = run_evaluation(eventful(large=False))
        assert evaluation.verdict.signal is RankingSignal.NONE
        assert "don't rely on it" in evaluation.verdict.sentence

    @pytest.mark.slow
    def test_few_are_too_few(self) -> None:
        assert run_evaluation(eventful(20)).verdict.signal is RankingSignal.TOO_FEW

    def test_rankings_stand_beside_each_other_for_each_label(self) -> None:
        evaluation = usual()
        rankings = {(row.label, row.ranking) for row in evaluation.rows}
        assert rankings == {(label, name) for label in "RH" for name in ("rules", "lines added", "random")}
        chance = [row for row in evaluation.rows if row.ranking == "random"]
        assert all((row.auc.value, row.auc_all) == (0.5, 0.5) for row in chance)

    @pytest.mark.slow
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

    @pytest.mark.slow
    def test_a_rule_that_alone_tells_adds_all_there_is(self) -> None:
        hot = [
            replace(each, files=(changed_file(),), message=each.message.replace("Change", "Compile"))
            if int(each.message.partition("part ")[2].partition(" ")[0].strip('"')) % 2 == 0
            else each
            for each in eventful()
        ]
        effects = {each.rule: each for each in run_evaluation(hot).effects}
        # half of the others are reverts, which rank with the rest
        assert effects["hot title"].effect["R"].value == pytest.approx(0.25)

    @pytest.mark.slow
    def test_scores_are_those_of_the_list_in_the_order_of_merges(self) -> None:
        commits = eventful()
        evaluation = run_evaluation(commits)
        assert [score.number for score in evaluation.scores] == [
            int(each.message.partition("(#")[2].partition(")")[0]) for each in commits
        ]
        by_number = {score.number: score.points for score in evaluation.scores}
        # a revert ranks like what it undoes
        assert by_number[2] > by_number[1] == pytest.approx(by_number[1002], abs=0.01)


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

    def test_a_revert_without_a_pull_request_counts(self) -> None:
        gone = commit("One (#1)", 0)
        evaluation = run_evaluation(
            [gone, commit(f'Revert "One (#1)"\n\nThis reverts commit {gone.sha}.', 60), commit("Two (#2)", 70)]
        )
        assert labels(evaluation)["R"] == (1, 1)
        assert evaluation.pulls == 2

    @pytest.mark.slow
    def test_the_revert_of_a_merge_counts(self) -> None:
        gone = commit("Merge pull request #1 from octo/one\n\nOne", 0)
        revert_text = f"This reverts commit {gone.sha}, reversing\nchanges made to {'b' * 40}."
        evaluation = run_evaluation(
            [gone, commit(f'Revert "Merge pull request #1 from octo/one"\n\n{revert_text}', 60)]
        )
        assert (labels(evaluation)["R"], evaluation.pulls) == ((1, 1), 1)

    def test_a_repair_that_names_its_cause_counts_for_h_alone(self) -> None:
        evaluation = run_evaluation([commit("One (#1)", 0), commit("Fix crash (#2)\n\nRegression from #1.", 60)])
        assert labels(evaluation) == {"R": (0, 0), "H": (1, 1)}

    def test_what_happens_after_the_window_counts(self) -> None:
        later = commit('Revert "One" (#2)\n\nReverts octo/engine#1', 24 * 40)
        assert labels(run_evaluation([commit("One (#1)", 0), later], days=3))["R"] == (1, 1)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("origin", "known_repository", "expected_name"),
        [
            pytest.param(REPOSITORY, None, "octo/engine", id="origin"),
            pytest.param(Repository("ada", "fork"), REPOSITORY, "octo/engine", id="known_repository"),
            pytest.param(None, None, "octo/engine", id="as-its-reverts-say"),
        ],
    )
    def test_the_repository_is_what_its_reverts_name(
        self, origin: Repository | None, known_repository: Repository | None, expected_name: str
    ) -> None:
        commits = [commit("One (#1)", 0), commit("Take back (#2)\n\nReverts octo/engine#1", 60)]
        facts = CloneFacts("main", origin, is_shallow=False)
        evaluation = run_evaluation(commits, facts=facts, repository=known_repository)
        assert (evaluation.source.repository, labels(evaluation)["R"]) == (expected_name, (1, 1))

    def test_a_clone_from_nowhere_is_called_local(self) -> None:
        evaluation = run_evaluation([commit("One (#1)", 0)], facts=CloneFacts("main", None, is_shallow=False))
        assert evaluation.source.repository == "local/clone"


class TestNotes:
    def notes(self, commits: list[Commit], **options: object) -> str:
        return "\n".join(run_evaluation(commits, **options).notes)  # type: ignore[arg-type]

    @pytest.mark.slow
    def test_a_well_known_past_has_none(self) -> None:
        late = [replace(each, committed_at=each.committed_at + timedelta(days=100)) for each in eventful()]
        commits = [commit("Begin (#5000)", 0), *late, commit("End (#6000)", 24 * 200)]
        assert self.notes(commits, since=100, days=120) == ""

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("commits", "note"),
        [
            pytest.param([commit("One (#1)", 0)], "0 days of history", id="short"),
            pytest.param([commit("One (#1)", 0)], "No revert was found", id="no-reverts"),
            pytest.param([commit("One (#1)", 0)], "less than 60 days before the last commit", id="young"),
            pytest.param(
                [commit("One (#1)", 0), commit("Two", 1), commit("Three", 2)], "Only 1 of 3 commits", id="unnamed"
            ),
            pytest.param(
                [commit("One (#1)", 0, {"examples/a.py": (1, 1)})], "examples/ (docs) in 1", id="classes"
            ),
        ],
    )
    def test_what_is_doubtful_is_told(self, commits: list[Commit], note: str) -> None:
        assert note in self.notes(commits)

    @pytest.mark.slow
    def test_a_shallow_clone_is_told(self) -> None:
        facts = CloneFacts("main", REPOSITORY, is_shallow=True)
        assert "The clone is shallow" in self.notes([commit("One (#1)", 0)], facts=facts)


class TestRefusals:
    @pytest.mark.parametrize(
        ("commits", "pattern"),
        [
            pytest.param([], r"into octo/engine from 2025-01-06 to [0-9-]{10}: choose other dates", id="nothing"),
            pytest.param([commit("One", 1)], "Only 0 of 1 commit in the window name", id="nothing-named"),
        ],
    )
    def test_a_window_without_merges_is_refused_in_a_sentence(self, commits: list[Commit], pattern: str) -> None:
        with pytest.raises(UsageError, match=pattern) as caught:
            run_evaluation(commits, days=2)
        assert is_one_sentence(str(caught.value))
