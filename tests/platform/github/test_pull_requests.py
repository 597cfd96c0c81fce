from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.errors import GitHubUnavailable
from bot.platform.pulls.models import GHOST, Account, LinkedIssue
from bot.platform.pulls.sources import DayMerges
from tests.emulators.github.server import IssueRecord, PullRecord
from tests.emulators.github.server import pull as record
from tests.helpers.builders import DAY, REPOSITORY
from tests.helpers.worlds import LONG_AFTER, MORNING, REPO, ScriptedGitHub

SECOND = timedelta(seconds=1)


def of_day(*numbers: int, **fields: Any) -> list[PullRecord]:
    """Merged in the day, one a minute; the higher the number, the later."""
    return [record(n, **{"merged_at": DAY.start + timedelta(minutes=n), **fields}) for n in numbers]


def numbers(merged: DayMerges) -> list[int]:
    return [pull.number for pull in merged.pulls]


def test_a_recent_day_is_complete_while_the_search_index_lags(github: ScriptedGitHub) -> None:
    github.add(REPO, *of_day(*range(1, 46)))
    github.search_hides = set(range(1, 46))
    merged = github.pulls().list_merged(REPOSITORY, DAY)
    assert numbers(merged) == list(range(45, 0, -1))
    assert merged.count.counted == 45


@pytest.mark.slow
def test_a_recent_day_with_all_files_takes_at_most_three_calls_more_than_pull_requests(
    github: ScriptedGitHub,
) -> None:
    github.add(REPO, *of_day(*range(1, 46)))
    pulls = github.pulls()
    loaded = [pulls.load_files(pull) for pull in pulls.list_merged(REPOSITORY, DAY).pulls]
    assert [len(pull.files or ()) for pull in loaded] == [1] * 45
    assert len(github.calls) <= 45 + 3


def test_clients_that_are_gone_leave_no_sockets_behind(github: ScriptedGitHub) -> None:
    descriptors = Path("/proc/self/fd")
    if not descriptors.is_dir():
        pytest.skip("nobody counts what is open here")
    github.add(REPO, *of_day(1))
    before = len(list(descriptors.iterdir()))
    for _ in range(30):
        github.pulls().list_merged(REPOSITORY, DAY)
    # both ends of a connection are in this process, and the other one closes a moment later
    assert len(list(descriptors.iterdir())) - before < 30


def test_a_walk_stops_where_the_day_begins(github: ScriptedGitHub) -> None:
    older = [record(n, merged_at=DAY.start - timedelta(minutes=n)) for n in range(1000, 1350)]
    github.add(REPO, *of_day(1, 2, 3), *older)
    assert numbers(github.pulls().list_merged(REPOSITORY, DAY)) == [3, 2, 1]
    assert github.queries == 1


@pytest.mark.parametrize("now", [MORNING, LONG_AFTER], ids=["walk", "search"])
def test_a_day_goes_from_midnight_to_midnight_to_the_second(github: ScriptedGitHub, now: datetime) -> None:
    edges = {1: DAY.start - SECOND, 2: DAY.start, 3: DAY.end - SECOND, 4: DAY.end}
    github.add(REPO, *(record(number, merged_at=at) for number, at in edges.items()))
    merged = github.pulls(now).list_merged(REPOSITORY, DAY)
    assert (numbers(merged), merged.count.counted) == ([3, 2], 2)


def test_a_merge_of_the_day_is_found_however_late_it_was_commented_on(github: ScriptedGitHub) -> None:
    github.add(REPO, *of_day(1, updated_at=MORNING), *of_day(2))
    assert numbers(github.pulls().list_merged(REPOSITORY, DAY)) == [2, 1]


@pytest.mark.slow
def test_a_walk_goes_over_several_pages(github: ScriptedGitHub) -> None:
    github.add(REPO, *of_day(*range(1, 251)))
    merged = github.pulls().list_merged(REPOSITORY, DAY)
    assert numbers(merged) == list(range(250, 0, -1))
    assert merged.count.counted == 250
    # three pages of the walk, and two more of the branch's 250 commits
    assert github.queries == 5


@pytest.mark.slow
def test_a_pull_request_that_moves_between_two_pages_is_found_through_the_branch(github: ScriptedGitHub) -> None:
    github.add(REPO, *of_day(*range(1, 151)))
    moved = of_day(1, updated_at=MORNING)

    def comment_on_it(answered: int, _body: dict[str, Any]) -> None:
        if answered == 1:
            github.add(REPO, *moved)

    github.after = comment_on_it
    merged = github.pulls().list_merged(REPOSITORY, DAY)
    assert numbers(merged) == list(range(150, 0, -1))
    assert merged.count.counted == 150


def test_a_day_long_past_is_searched_and_not_walked(github: ScriptedGitHub) -> None:
    since = [record(n, merged_at=DAY.end + timedelta(minutes=n)) for n in range(1000, 1400)]
    github.add(REPO, *of_day(*range(1, 31)), *since)
    merged = github.pulls(LONG_AFTER).list_merged(REPOSITORY, DAY)
    assert (numbers(merged), merged.count.counted) == (list(range(30, 0, -1)), 30)
    assert github.queries == 1


def test_what_the_search_index_hides_is_found_through_the_branch(github: ScriptedGitHub) -> None:
    github.add(REPO, *of_day(*range(1, 31)))
    github.search_hides = {4, 7, 30}
    merged = github.pulls(LONG_AFTER).list_merged(REPOSITORY, DAY)
    assert (numbers(merged), merged.count.counted) == (list(range(30, 0, -1)), 30)


@pytest.mark.slow
def test_a_day_of_more_results_than_search_gives_is_split(github: ScriptedGitHub) -> None:
    many = [
        record(n, merged_at=DAY.start + timedelta(seconds=80 * n), files=[], base_ref="release")
        for n in range(1, 1021)
    ]
    github.add(REPO, *many)
    merged = github.pulls(LONG_AFTER).list_merged(REPOSITORY, DAY)
    assert numbers(merged) == list(range(1020, 0, -1))


@pytest.mark.parametrize("now", [MORNING, LONG_AFTER], ids=["walk", "search"])
def test_a_day_without_merges_is_empty_and_counted(github: ScriptedGitHub, now: datetime) -> None:
    github.add(REPO, record(1, merged_at=DAY.start - timedelta(days=2)), record(2, state="OPEN"))
    merged = github.pulls(now).list_merged(REPOSITORY, DAY)
    assert (merged.pulls, merged.count.counted) == ((), 0)


def test_a_repository_that_never_had_a_pull_request_has_an_empty_day(github: ScriptedGitHub) -> None:
    github.add(REPO)
    assert github.pulls().list_merged(REPOSITORY, DAY).pulls == ()


def test_the_count_names_its_source(github: ScriptedGitHub) -> None:
    github.add(REPO, *of_day(1))
    assert github.pulls().list_merged(REPOSITORY, DAY).count.source == "the commits of main"


@pytest.mark.parametrize("now", [MORNING, LONG_AFTER], ids=["walk", "search"])
def test_a_merge_into_another_branch_counts_as_it_was_found(github: ScriptedGitHub, now: datetime) -> None:
    github.add(REPO, *of_day(1, 2), *of_day(3, base_ref="release-1"))
    merged = github.pulls(now).list_merged(REPOSITORY, DAY)
    assert (numbers(merged), merged.count.counted) == ([3, 2, 1], 3)


def test_a_listed_pull_request_that_the_branch_does_not_know_shows_in_the_count(github: ScriptedGitHub) -> None:
    github.add(REPO, *of_day(1, 2, 3))

    def forget(_answered: int, body: dict[str, Any]) -> None:
        history = body["data"]["repository"]["defaultBranchRef"]["target"]["history"]
        history["nodes"] = history["nodes"][1:]

    github.after = forget
    merged = github.pulls().list_merged(REPOSITORY, DAY)
    assert (numbers(merged), merged.count.counted) == ([3, 2, 1], 2)


@pytest.mark.parametrize("branch", [None, {"name": "main", "target": None}], ids=["no-branch", "no-commit"])
def test_without_a_default_branch_there_is_no_count(github: ScriptedGitHub, branch: object) -> None:
    github.add(REPO, *of_day(1, 2))
    github.after = lambda _answered, body: body["data"]["repository"].update(defaultBranchRef=branch)
    merged = github.pulls().list_merged(REPOSITORY, DAY)
    assert (numbers(merged), merged.count.counted) == ([2, 1], None)


def test_merges_of_one_second_are_ordered_by_number(github: ScriptedGitHub) -> None:
    github.add(REPO, *of_day(5, 9, 7, merged_at=DAY.start + timedelta(hours=1)))
    assert numbers(github.pulls().list_merged(REPOSITORY, DAY)) == [9, 7, 5]


@pytest.mark.parametrize("now", [MORNING, LONG_AFTER], ids=["walk", "search"])
def test_a_pull_request_comes_with_its_facts(github: ScriptedGitHub, now: datetime) -> None:
    facts: dict[str, Any] = {"title": "a [b] `c`  <d>", "body": "Why.", "labels": ("bug", "v1")}
    facts["commit_message"] = 'a [b] (#7)\n\n* Revert "é"\n\nThis reverts commit 1234567.'
    github.add(REPO, *of_day(7, **facts, author="ada", merged_by="maintainer"))
    (pull_request,) = github.pulls(now).list_merged(REPOSITORY, DAY).pulls
    assert (pull_request.title, pull_request.body, pull_request.labels) == (
        "a [b] `c`  <d>",
        "Why.",
        ("bug", "v1"),
    )
    assert (pull_request.author, pull_request.merged_by) == (Account("ada"), Account("maintainer"))
    assert pull_request.merged_at == DAY.start + timedelta(minutes=7)
    assert (pull_request.merge_commit, pull_request.head_commit) == (
        record(7).merge_commit_sha,
        record(7).head_sha,
    )
    assert (pull_request.additions, pull_request.deletions, pull_request.changed_files) == (1, 1, 1)
    assert (pull_request.base, pull_request.state, pull_request.files) == ("main", "MERGED", None)
    assert pull_request.commit_message == facts["commit_message"]


@pytest.mark.parametrize("now", [MORNING, LONG_AFTER], ids=["walk", "search"])
def test_a_pull_request_comes_with_the_issues_that_it_closes(github: ScriptedGitHub, now: datetime) -> None:
    issues = (IssueRecord(3, "Counts\ntwice  `x`"), IssueRecord(4, ""), IssueRecord(5, "ghp_" + "a1B2" * 9))
    github.add(REPO, *of_day(7, closes=issues), *of_day(8))
    eight, seven = github.pulls(now).list_merged(REPOSITORY, DAY).pulls
    assert eight.linked_issues == ()
    first, second, third = seven.linked_issues
    assert (first, second) == (LinkedIssue(3, "Counts twice  `x`"), LinkedIssue(4, "(no title)"))
    assert "a1B2" not in third.title
    assert github.pulls().fetch_pull_request(REPOSITORY, 7).linked_issues == seven.linked_issues


def test_of_many_linked_issues_five_come_and_none_of_another_repository(github: ScriptedGitHub) -> None:
    issues = (IssueRecord(900, "Secret", "octo/private"), *(IssueRecord(n, "An issue") for n in range(10, 20)))
    github.add(REPO, *of_day(7, closes=issues))
    (pull_request,) = github.pulls().list_merged(REPOSITORY, DAY).pulls
    assert [issue.number for issue in pull_request.linked_issues] == [10, 11, 12, 13]


@pytest.mark.parametrize("now", [MORNING, LONG_AFTER], ids=["walk", "search"])
def test_linked_issues_cost_no_further_call(github: ScriptedGitHub, now: datetime) -> None:
    issues = tuple(IssueRecord(n, "An issue") for n in range(900, 905))
    github.add(REPO, *of_day(*range(1, 68), closes=issues))
    pull_requests = github.pulls(now).list_merged(REPOSITORY, DAY).pulls
    assert [len(pull.linked_issues) for pull in pull_requests] == [5] * 67
    assert [call.path for call in github.calls] == ["/graphql"]


@pytest.mark.parametrize("kind", ["NOT_FOUND", "FORBIDDEN"])
def test_a_token_that_may_not_see_issues_reads_the_day(github: ScriptedGitHub, kind: str) -> None:
    def hide(_answered: int, body: dict[str, Any]) -> None:
        node = body["data"]["repository"]["pullRequests"]["nodes"][0]
        node["closingIssuesReferences"] = None
        place = ["repository", "pullRequests", "nodes", 0, "closingIssuesReferences"]
        body["errors"] = [{"type": kind, "path": place, "message": "Resource not accessible"}]

    github.add(REPO, *of_day(7, closes=(IssueRecord(3, "An issue"),)))
    github.after = hide
    (pull_request,) = github.pulls().list_merged(REPOSITORY, DAY).pulls
    assert (pull_request.number, pull_request.linked_issues) == (7, ())


@pytest.mark.parametrize(
    "odd",
    [
        {"closingIssuesReferences": None},
        {"closingIssuesReferences": {"nodes": [None, 7, {}, {"number": 0}, {"number": "3", "title": "x"}]}},
        {"closingIssuesReferences": {"nodes": [{"number": 3, "title": "x"}]}},
        {"repository": None},
        {"repository": {"id": None}, "closingIssuesReferences": {"nodes": [{"number": 3, "repository": None}]}},
        {"repository": "x", "closingIssuesReferences": "x"},
    ],
)
def test_issues_that_can_not_be_read_are_left_out(github: ScriptedGitHub, odd: dict[str, Any]) -> None:
    github.add(REPO, *of_day(7, closes=(IssueRecord(3, "An issue"),)))
    github.spoil(7, odd)
    (pull_request,) = github.pulls().list_merged(REPOSITORY, DAY).pulls
    assert pull_request.linked_issues == ()


def test_a_deleted_account_is_shown_as_ghost(github: ScriptedGitHub) -> None:
    github.add(REPO, *of_day(1, author=None, merged_by=None))
    (pull_request,) = github.pulls().list_merged(REPOSITORY, DAY).pulls
    assert (pull_request.author, pull_request.merged_by) == (GHOST, GHOST)


def test_a_bot_is_known_as_one(github: ScriptedGitHub) -> None:
    github.add(REPO, *of_day(1, author="dependabot", author_is_bot=True))
    (pull_request,) = github.pulls().list_merged(REPOSITORY, DAY).pulls
    assert pull_request.author == Account("dependabot", is_bot=True)


def test_an_answer_with_errors_about_single_fields_is_used(github: ScriptedGitHub) -> None:
    github.add(REPO, *of_day(1))
    problem = {"type": "SERVICE_UNAVAILABLE", "path": ["repository", "pullRequests", "nodes", 0, "labels"]}
    github.after = lambda _answered, body: body.update(errors=[{**problem, "message": "no labels now"}])
    assert numbers(github.pulls().list_merged(REPOSITORY, DAY)) == [1]


# --- fields that GitHub could not compute: null beside an error, in an answer with success

LIMITS = "RESOURCE_LIMITS_EXCEEDED"
FACTS = ("labels", "author", "mergeCommit", "mergedBy", "closingIssuesReferences", "body", "baseRefName")


def leave_out(body: dict[str, Any], *fields: str, number: int = 2, kind: str = LIMITS) -> None:
    """Leave these fields of a record out, wherever it is in an answer."""
    data = body["data"]
    for place in (["repository", "pullRequests", "nodes"], ["search", "nodes"], ["repository", "pullRequest"]):
        there = data
        for step in place:
            there = (there or {}).get(step)
        records = there if isinstance(there, list) else [there] if there else []
        for position, node in enumerate(records):
            if node["number"] == number:
                path = [*place, *([position] if isinstance(there, list) else [])]
                node.update(dict.fromkeys(fields))
                errors = ({"type": kind, "path": [*path, name], "message": "Limits exceeded."} for name in fields)
                body.setdefault("errors", []).extend(errors)


@pytest.mark.parametrize("now", [MORNING, LONG_AFTER], ids=["walk", "search"])
@pytest.mark.parametrize("field", FACTS)
def test_a_record_with_a_gap_is_asked_for_alone(github: ScriptedGitHub, now: datetime, field: str) -> None:
    fields: dict[str, Any] = {"labels": ["bug"], "closes": (IssueRecord(3, "An issue"),), "body": "Because."}
    github.add(REPO, *of_day(1, 2, **fields))
    whole = github.pulls(now).list_merged(REPOSITORY, DAY)
    github.calls.clear()
    github.after = lambda answered, body: leave_out(body, field) if answered == 1 else None
    merged = github.pulls(now).list_merged(REPOSITORY, DAY)
    assert merged == whole
    assert merged.caveat == ""
    assert github.queries == 2


@pytest.mark.parametrize("now", [MORNING, LONG_AFTER], ids=["walk", "search"])
@pytest.mark.parametrize("kind", [LIMITS, "SERVICE_UNAVAILABLE", None])
def test_a_gap_that_stays_is_told(github: ScriptedGitHub, now: datetime, kind: str) -> None:
    github.add(REPO, *of_day(1, 2, labels=["bug"]))
    github.after = lambda _answered, body: leave_out(body, "labels", kind=kind)
    merged = github.pulls(now).list_merged(REPOSITORY, DAY)
    assert numbers(merged) == [2, 1]
    assert "GitHub left out labels, author or commit of #2" in merged.caveat


@pytest.mark.parametrize("now", [MORNING, LONG_AFTER], ids=["walk", "search"])
@pytest.mark.parametrize("stays", [False, True])
@pytest.mark.parametrize("fields", [("mergedAt",), ("mergedAt", "labels")], ids="-".join)
def test_a_record_whose_day_is_left_out_is_asked_for_alone_then_told(
    github: ScriptedGitHub, now: datetime, fields: tuple[str, ...], *, stays: bool
) -> None:
    """Also one that was merged into another branch, whose commit is not in the default one."""
    github.add(REPO, *of_day(1, 3), *of_day(2, base_ref="releases/v1", labels=["bug"]))
    whole = github.pulls(now).list_merged(REPOSITORY, DAY)
    github.after = lambda answered, body: leave_out(body, *fields) if stays or answered == 1 else None
    merged = github.pulls(now).list_merged(REPOSITORY, DAY)
    if stays:
        assert numbers(merged) == [3, 1]
        assert "1 merge in GitHub's list could not be read" in merged.caveat
    else:
        assert (merged, merged.caveat) == (whole, "")


@pytest.mark.parametrize("now", [MORNING, LONG_AFTER], ids=["walk", "search"])
@pytest.mark.parametrize("path", [None, []])
@pytest.mark.parametrize("stays", [False, True])
def test_an_error_that_names_no_field_may_be_about_each_that_is_null(
    github: ScriptedGitHub, now: datetime, path: list[str] | None, *, stays: bool
) -> None:
    github.add(REPO, *of_day(1, 2, labels=["bug"]))

    def limit(answered: int, body: dict[str, Any]) -> None:
        if stays or answered == 1:
            leave_out(body, "labels")
            body["errors"] = [{"type": LIMITS, "path": path, "message": "Limits exceeded."}]

    whole = github.pulls(now).list_merged(REPOSITORY, DAY)
    github.after = limit
    merged = github.pulls(now).list_merged(REPOSITORY, DAY)
    assert numbers(merged) == [2, 1]
    assert ("#2" in merged.caveat, merged == whole) == (stays, not stays)


def test_of_many_gaps_some_are_asked_for_and_all_others_told(github: ScriptedGitHub) -> None:
    github.add(REPO, *of_day(*range(1, 41)))

    def limit(answered: int, body: dict[str, Any]) -> None:
        for number in range(1, 41) if answered == 1 else ():
            leave_out(body, "labels", "author", number=number)

    github.after = limit
    merged = github.pulls().list_merged(REPOSITORY, DAY)
    assert len(merged.pulls) == 40
    assert merged.count.incomplete == tuple(range(21, 41))
    assert github.queries == 21
    assert merged.caveat.endswith("#27, #28 and 12 more, so a filter may miss them")


@pytest.mark.parametrize("nodes", [None, [None]], ids=str)
def test_a_branch_whose_commits_are_null_gives_no_count(github: ScriptedGitHub, nodes: list[None] | None) -> None:
    github.add(REPO, *of_day(1, 2))

    def limit(_answered: int, body: dict[str, Any]) -> None:
        history = body["data"]["repository"]["defaultBranchRef"]["target"]["history"]
        history["nodes"] = nodes
        place = ["repository", "defaultBranchRef", "target", "history", "nodes", *([0] if nodes else [])]
        body["errors"] = [{"type": LIMITS, "path": place, "message": "Limits exceeded."}]

    github.after = limit
    merged = github.pulls().list_merged(REPOSITORY, DAY)
    assert (numbers(merged), merged.count.counted) == ([2, 1], None)
    assert merged.caveat.startswith("count not checked")


def unlink(body: dict[str, Any], *commits: str, pulls: Any = None) -> None:
    """Leave out which pull requests these commits are of, wherever they are in an answer."""
    place = body["data"]["repository"]
    there = ((place.get("defaultBranchRef") or {}).get("target") or {}).get("history", {}).get("nodes", [])
    for node in [*there, *(value for name, value in place.items() if name[0] == "c" and value)]:
        if node["oid"] in commits:
            node["associatedPullRequests"] = pulls
    body["errors"] = [{"type": LIMITS, "path": ["repository", "x"], "message": "Limits exceeded."}]


@pytest.mark.parametrize("now", [MORNING, LONG_AFTER], ids=["walk", "search"])
@pytest.mark.parametrize("stays", [False, True])
@pytest.mark.parametrize("pulls", [None, {"nodes": None}, {"nodes": [None]}], ids=str)
def test_a_commit_without_its_pull_request_is_asked_for_again_then_told(
    github: ScriptedGitHub, now: datetime, pulls: Any, *, stays: bool
) -> None:
    github.add(REPO, *of_day(1, 2))
    commit = github.pulls(now).list_merged(REPOSITORY, DAY).pulls[0].commit
    github.calls.clear()
    github.after = lambda answered, body: unlink(body, commit, pulls=pulls) if stays or answered == 1 else None
    merged = github.pulls(now).list_merged(REPOSITORY, DAY)
    assert (numbers(merged), github.queries) == ([2, 1], 2)
    unlinked = f"GitHub does not say which pull request was merged as {commit[:10]}"
    assert (unlinked in merged.caveat, merged.caveat == "") == (stays, not stays)


@pytest.mark.parametrize("at", [["path"], []], ids=["named", "unnamed"])
@pytest.mark.parametrize("path", [["repository", "pullRequests"], ["repository", "pullRequests", "nodes"]])
def test_a_list_that_is_null_is_no_day_without_merges(
    github: ScriptedGitHub, path: list[str], at: list[str]
) -> None:
    github.add(REPO, *of_day(1, 2))

    def limit(_answered: int, body: dict[str, Any]) -> None:
        place = body["data"]
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = None
        body["errors"] = [{"type": LIMITS, "message": "Limits exceeded.", **dict.fromkeys(at, path)}]

    github.after = limit
    with pytest.raises(GitHubUnavailable):
        github.pulls().list_merged(REPOSITORY, DAY)


def test_a_record_that_is_null_as_a_whole_is_found_through_the_branch_and_told(github: ScriptedGitHub) -> None:
    github.add(REPO, *of_day(1, 2))

    def limit(answered: int, body: dict[str, Any]) -> None:
        if answered == 1:
            body["data"]["repository"]["pullRequests"]["nodes"][0] = None
            place = ["repository", "pullRequests", "nodes", 0]
            body["errors"] = [{"type": LIMITS, "path": place, "message": "Limits exceeded."}]

    github.after = limit
    merged = github.pulls().list_merged(REPOSITORY, DAY)
    assert numbers(merged) == [2, 1]
    assert "1 merge in GitHub's list could not be read" in merged.caveat


def test_a_single_pull_request_with_a_gap_is_asked_for_once_more(github: ScriptedGitHub) -> None:
    github.add(REPO, *of_day(2, labels=["bug"]))
    github.after = lambda answered, body: leave_out(body, "labels") if answered == 1 else None
    assert github.pulls().fetch_pull_request(REPOSITORY, 2).labels == ("bug",)
    github.after = lambda _answered, body: leave_out(body, "labels")
    with pytest.raises(GitHubUnavailable, match="try again"):
        github.pulls().fetch_pull_request(REPOSITORY, 2)


@pytest.mark.parametrize("now", [MORNING, LONG_AFTER], ids=["walk", "search"])
@pytest.mark.parametrize("home", [{"id": "R_fork"}, {"id": None}, None])
def test_a_merge_of_another_repository_is_none_of_the_days(
    github: ScriptedGitHub, now: datetime, home: dict[str, Any] | None
) -> None:
    """A fork that takes the branch over by a pull request names the same commits, by numbers of its own."""
    github.add(REPO, record(12, merged_at=DAY.start - timedelta(days=900)), *of_day(7, 8))

    def fork(_answered: int, body: dict[str, Any]) -> None:
        for node in body["data"]["repository"]["defaultBranchRef"]["target"]["history"]["nodes"]:
            merged_at = (DAY.start + timedelta(hours=3)).isoformat().replace("+00:00", "Z")
            foreign = {"number": 12, "mergedAt": merged_at, "repository": home}
            node["associatedPullRequests"]["nodes"].append(foreign)

    github.after = fork
    merged = github.pulls(now).list_merged(REPOSITORY, DAY)
    assert (numbers(merged), merged.count.counted, merged.caveat) == ([8, 7], 2, "")
    assert github.queries == 1


@pytest.mark.parametrize("now", [MORNING, LONG_AFTER], ids=["walk", "search"])
def test_a_renamed_repository_is_read_by_the_name_that_is_known_here(
    github: ScriptedGitHub, now: datetime, caplog: pytest.LogCaptureFixture
) -> None:
    """Else nothing that was kept by it would be found again."""
    github.add(REPO, *of_day(7, 8))
    before = github.pulls(now).list_merged(REPOSITORY, DAY)
    # it is told once in a process
    present = "elsewhere/motor" if now is LONG_AFTER else "elsewhere/drive"
    github.store.rename(REPO, present)
    merged = github.pulls(now).list_merged(REPOSITORY, DAY)
    assert merged == before
    assert github.pulls(now).fetch_pull_request(REPOSITORY, 7) == before.pulls[1]
    # which GitHub's REST API answers by the new address
    assert github.pulls(now).load_files(before.pulls[1]).files
    github.pulls(now).list_merged(REPOSITORY, DAY)
    assert caplog.text.count(f"was renamed to {present}") == 1


def test_an_open_pull_request_can_be_had_by_its_number(github: ScriptedGitHub) -> None:
    github.add(REPO, record(5, state="OPEN"))
    pull_request = github.pulls().fetch_pull_request(REPOSITORY, 5)
    assert (pull_request.number, pull_request.state, pull_request.is_merged, pull_request.merge_commit) == (
        5,
        "OPEN",
        False,
        None,
    )
    assert pull_request.commit_message == ""
