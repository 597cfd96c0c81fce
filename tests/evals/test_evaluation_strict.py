import datetime as dt

from hypothesis import given
from hypothesis import strategies as st

from bot.features.merges.risk import assess_pull_request
from bot.platform.pulls.paths import DEFAULT_PATH_CLASSES
from evals.merges import MergeHistory, build_history
from impact.evaluation.window import EvaluationWindow
from impact.git.clone_trees import CloneFacts
from impact.source.models import TreeCommit
from tests.evals.commits import commit
from tests.helpers.builders import REPOSITORY

words = st.sampled_from(["One", "Fix two", "Compile three", "Docs", "Speed up the engine's fourth part"])
paths = st.dictionaries(
    st.sampled_from(["engine/a.py", "engine/b.py", "csrc/k.cu", "setup.py", "docs/a.md"]),
    st.tuples(st.integers(0, 300), st.integers(0, 300)),
    min_size=1,
    max_size=3,
)


@st.composite
def lines_of_commits(draw: st.DrawFn, first: int, begin: float) -> list[TreeCommit]:
    made: list[TreeCommit] = []
    for number in range(first, first + draw(st.integers(1, 8))):
        title, body = draw(words), ""
        is_revert = draw(st.booleans())
        if made and is_revert:
            body = f"\n\nReverts octo/engine#{draw(st.integers(1, number))}"
            title = f'Revert "{draw(words)}"'
        name = draw(st.sampled_from([f" (#{number})", ""]))
        made.append(commit(f"{title}{name}{body}", begin + 24 * draw(st.integers(0, 200)), draw(paths)))
    return sorted(made, key=lambda each: each.committed_at)


class TestStrictness:
    @given(lines_of_commits(1, 0), lines_of_commits(100, 24 * 201), lines_of_commits(100, 24 * 201))
    def test_nothing_that_merges_later_changes_a_score(
        self, before: list[TreeCommit], after: list[TreeCommit], other: list[TreeCommit]
    ) -> None:
        first = commit("Always (#99)", 24 * 200, {"engine/a.py": (1, 1)})
        one, two, alone = (self.scores([*before, first, *rest]) for rest in (after, other, []))
        assert alone
        assert alone.items() <= one.items()
        assert alone.items() <= two.items()

    @given(lines_of_commits(1, 0))
    def test_a_score_is_that_of_a_past_that_ends_before_it(self, commits: list[TreeCommit]) -> None:
        commits = [commit("Always (#99)", -1), *commits]
        scores_by_number = self.scores(commits)
        for pull in self.build(commits).pulls:
            past = self.build([each for each in commits if each.committed_at < pull.merge_time]).past
            assert (
                scores_by_number.get(pull.number) == assess_pull_request(pull, DEFAULT_PATH_CLASSES, past).points
            )

    def build(self, commits: list[TreeCommit]) -> MergeHistory:
        window = EvaluationWindow(dt.date(2024, 1, 1), dt.date(2027, 12, 31))
        return build_history(CloneFacts("main", REPOSITORY, is_shallow=False), commits, None, window, window.since)

    def scores(self, commits: list[TreeCommit]) -> dict[int, float]:
        history = self.build(commits)
        return {
            pull.number: assess_pull_request(pull, DEFAULT_PATH_CLASSES, history.past).points
            for pull in history.pulls
        }
