import pytest
from hypothesis import given
from hypothesis import strategies as st

from impact.history.merges import detect_repository, extract_description, parse_merge_message, sort_merges
from impact.source.models import TreeCommit
from impact.testing.checks import check_rows
from tests.merges import NOON, REPOSITORY

MERGE = "Merge pull request #12 from octo/fix-#7"


def commit(message: str) -> TreeCommit:
    return TreeCommit("a" * 40, NOON, message)


@pytest.mark.parametrize(
    ("message", "number", "title"),
    [
        pytest.param("Count once (#12)", 12, "Count once", id="squash"),
        pytest.param("Count once (#12)  \n\nBody (#3)", 12, "Count once", id="squash-with-body"),
        pytest.param("Count once (#1) (#12)", 12, "Count once (#1)", id="twice"),
        pytest.param('Revert "Count once (#12)" (#15)', 15, 'Revert "Count once (#12)"', id="revert"),
        pytest.param("(#12)", 12, "", id="no-title"),
        pytest.param(f"{MERGE}\n\nCount once\n\nMore", 12, "Count once", id="merge"),
        pytest.param(f"{MERGE}\r\n\r\nCount once\r\n", 12, "Count once", id="merge-with-returns"),
        pytest.param(MERGE, 12, MERGE, id="merge-without-title"),
        pytest.param("Merge PR #12: Count once", 12, "Count once", id="merge-pr"),
        pytest.param("Merge #12: Count once", 12, "Count once", id="merge-number"),
        pytest.param("Merge #12\n\n12: Count once r=ada a=bob\n\nMore", 12, "Count once", id="bors"),
        pytest.param("Auto merge of #12 - ada:once, r=bob\n\nCount once\n\nMore", 12, "Count once", id="homu"),
        pytest.param("Merge Octo/engine#12: Count once", 12, "Count once", id="with-repository"),
        pytest.param("Merged PR 12: Count once", 12, "Count once", id="azure"),
    ],
)
def test_a_merge_names_its_pull_request(message: str, number: int, title: str) -> None:
    assert parse_merge_message(message, REPOSITORY) == (number, title)


@check_rows(
    [
        "",
        "Count once",
        "Count once #12",
        "Fix #12",
        "Count once (#12) again",
        "Count once\n\nSee (#12)",
        'Revert "Count once (#12)"',
        "Count once (#x)",
        "Count once (#\u0661\u0662)",
        "Count once (#1234567890)",
        "Count once (#0)",
        "Count once (#012)",
        "Merge #0: Count once",
        "Merge other/engine#12: Count once",
        "Merge #12 #13",
        "Merge branch 'main' into once",
        "Merge pull request #1234567890 from octo/x",
        "Merge pull request 12 from octo/x",
        f"  {MERGE}",
        f'Revert "{MERGE}"',
    ]
)
def test_other_commits_name_none(message: str) -> None:
    assert parse_merge_message(message, REPOSITORY) is None


@given(st.text(alphabet="(#)1 2Merge\n:pulrqst", max_size=40))
def test_any_message_is_read(message: str) -> None:
    number, title = parse_merge_message(message, REPOSITORY) or (1, "")
    assert (number > 0, "\n" in title) == (True, False)


def test_a_merge_has_what_its_commit_says() -> None:
    [merge] = sort_merges([commit("Count once (#12)\n\nWhy")], REPOSITORY).merges
    assert (merge.number, merge.title, merge.body) == (12, "Count once", "")
    assert merge.commit_message == "Count once (#12)\n\nWhy"
    assert (merge.merge_time, merge.merge_commit) == (NOON, "a" * 40)


def test_a_description_is_the_message_without_its_title_and_its_people() -> None:
    expected = {
        "Count once (#12)": "",
        "Count once (#12)\n\nWhy\n\n* twice\n\nCo-authored-by: Ada <a@b>\nSigned-off-by: Ada": "Why\n\n* twice",
        "Count once (#12)\nSigned-off-by: Ada\n\nReviewed-by is a word": "Reviewed-by is a word",
        f"{MERGE}\n\nCount once\n\nWhy": "Why",
        f"{MERGE}\r\n\r\nCount once\r\n": "",
        MERGE: "",
    }
    assert {message: extract_description(message) for message in expected} == expected


def test_the_first_commit_that_names_a_number_is_its_merge_and_all_others_are_direct() -> None:
    messages = ["Second (#2)", "First (#1)", "Bump", "First once more (#1)"]
    branch = sort_merges(map(commit, messages), REPOSITORY)
    assert [(each.number, each.title) for each in branch.merges] == [(1, "First"), (2, "Second")]
    assert [(each.number, each.title) for each in branch.direct] == [(-1, "Bump"), (-2, "First once more (#1)")]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        pytest.param(["x\n\nReverts octo/engine#7"], "octo/engine", id="one"),
        pytest.param(["Merge octo/engine#7: x"], "octo/engine", id="merge"),
        pytest.param(["x\nReverts a/b#7", *["Reverts octo/engine#1"] * 2], "octo/engine", id="most"),
        pytest.param(
            ["Reverts #7", "It reverts octo/engine#7", "Reverts a/..#7", "x\nMerge a/b#7: y"], None, id="none"
        ),
        pytest.param([], None, id="nothing"),
    ],
)
def test_reverts_name_their_repository(messages: list[str], expected: str | None) -> None:
    repository = detect_repository(messages)
    assert (str(repository) if repository else None) == expected
