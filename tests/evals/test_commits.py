from evals.commits import sort_commits
from impact.source.models import TreeCommit
from tests.evals.commits import change
from tests.helpers.builders import NOON, REPOSITORY


def commit(message: str) -> TreeCommit:
    return TreeCommit("a" * 40, NOON, message, (change("engine/core.py", 3, 2),), "Ada")


def test_a_merge_has_what_its_commit_changed() -> None:
    (pull_request,) = sort_commits([commit("Count once (#12)\n\nWhy")], REPOSITORY, "main").pulls
    assert (pull_request.number, pull_request.title, pull_request.body) == (12, "Count once", "")
    assert (pull_request.base, pull_request.commit_message) == ("main", "Count once (#12)\n\nWhy")
    assert (pull_request.merge_time, pull_request.merge_commit) == (NOON, "a" * 40)
    assert pull_request.author.login == "Ada"
    assert (pull_request.additions, pull_request.deletions, pull_request.changed_files) == (3, 2, 1)
    assert len(pull_request.files or ()) == 1


def test_commits_that_name_no_number_are_direct() -> None:
    branch_commits = sort_commits(map(commit, ["Count (#1)", "Bump"]), REPOSITORY, "main")
    assert [(each.number, each.title) for each in branch_commits.pulls] == [(1, "Count")]
    assert [(each.number, each.title) for each in branch_commits.direct] == [(-1, "Bump")]
