"""The GitHub emulator's GraphQL, asked by the client that the product uses."""

from datetime import timedelta
from typing import Any

import pytest
from github import GithubException

from tests.emulators.github.client import NOON, REPO, ask, client, numbers, refusal
from tests.emulators.github.server import GitHubEmulator, IssueRecord, changed_file, pull
from tests.emulators.github.trees import FixedTree, TreeCommit

WALK = """
query ($after: String, $first: Int!) {
  repository(owner: "acme", name: "rocket") {
    pullRequests(states: MERGED, first: $first, after: $after, orderBy: {field: UPDATED_AT, direction: DESC}) {
      totalCount
      pageInfo { hasNextPage endCursor }
      nodes { number updatedAt }
    }
  }
}
"""
FIND = """
query ($text: String!) {
  search(type: ISSUE, query: $text, first: 100) { issueCount nodes { ... on PullRequest { number } } }
}
"""


def test_a_walk_by_update_time_visits_every_merge_once(hub: GitHubEmulator) -> None:
    hub.add(REPO, pull(8, state="OPEN"), pull(9, state="CLOSED"))
    seen: list[int] = []
    after: str | None = None
    for _ in range(3):
        page = ask(hub, WALK, first=3, after=after)["repository"]["pullRequests"]
        seen += numbers(page)
        after = page["pageInfo"]["endCursor"]
    assert (seen, page["totalCount"]) == ([7, 6, 5, 4, 3, 2, 1], 7)
    assert page["pageInfo"]["hasNextPage"] is False


def test_an_update_during_a_walk_does_not_shift_the_next_page(hub: GitHubEmulator) -> None:
    first = ask(hub, WALK, first=3)["repository"]["pullRequests"]
    hub.add(REPO, pull(2, updated_at=NOON + timedelta(days=9)))
    second = ask(hub, WALK, first=3, after=first["pageInfo"]["endCursor"])["repository"]["pullRequests"]
    assert numbers(first) + numbers(second) == [7, 6, 5, 4, 3, 1]


def test_a_pull_request_has_its_facts(hub: GitHubEmulator) -> None:
    files = [changed_file("a.py"), changed_file("b.bin", None, status="added")]
    hub.add(REPO, pull(20, title="a [b] `c`", body=None, labels=("bug",), files=files))
    query = """{ repository(owner: "ACME", name: "Rocket") { nameWithOwner pullRequest(number: 20) {
      title body state merged url mergedAt changedFiles additions mergedBy { login } mergeCommit { oid }
      author { __typename login url } labels(first: 9) { nodes { name } }
      files(first: 1) { totalCount pageInfo { hasNextPage } nodes { path additions changeType } } } } }"""
    repository = ask(hub, query)["repository"]
    pull_request = repository["pullRequest"]
    assert repository["nameWithOwner"] == REPO
    assert (pull_request["title"], pull_request["body"], pull_request["state"], pull_request["merged"]) == (
        "a [b] `c`",
        "",
        "MERGED",
        True,
    )
    assert pull_request["mergedAt"] == "2026-01-15T18:00:00Z"
    assert pull_request["url"] == "https://github.com/acme/rocket/pull/20"
    assert pull_request["author"] == {
        "__typename": "User",
        "login": "octocat",
        "url": "https://github.com/octocat",
    }
    assert pull_request["mergeCommit"]["oid"] == pull(20).merge_commit_sha
    assert pull_request["labels"]["nodes"] == [{"name": "bug"}]
    assert (pull_request["changedFiles"], pull_request["additions"]) == (2, 1)
    assert pull_request["files"] == {
        "totalCount": 2,
        "pageInfo": {"hasNextPage": True},
        "nodes": [{"path": "a.py", "additions": 1, "changeType": "MODIFIED"}],
    }


def test_a_pull_request_names_the_issues_that_it_closes(hub: GitHubEmulator) -> None:
    issues = [IssueRecord(n, f"Issue {n}") for n in range(40, 47)]
    hub.add(REPO, pull(20, closes=(*issues, IssueRecord(5, "Elsewhere", "acme/secret"))))
    query = """{ repository(owner: "acme", name: "rocket") { id pullRequest(number: 20) {
      repository { id } closingIssuesReferences(first: 5) { totalCount nodes { number title } }
      last: closingIssuesReferences(last: 1) { nodes { number url repository { id nameWithOwner } } } } } }"""
    repository = ask(hub, query)["repository"]
    pull_request = repository["pullRequest"]
    assert pull_request["repository"]["id"] == repository["id"]
    assert numbers(pull_request["closingIssuesReferences"]) == [40, 41, 42, 43, 44]
    assert pull_request["closingIssuesReferences"]["totalCount"] == 8
    (last,) = pull_request["last"]["nodes"]
    assert (last["number"], last["repository"]["nameWithOwner"]) == (5, "acme/secret")
    assert last["url"] == "https://github.com/acme/secret/issues/5"
    assert last["repository"]["id"] != repository["id"]


@pytest.mark.parametrize(
    ("record", "author"),
    [
        (pull(30, author=None), None),
        (pull(30, author="fixer", author_is_bot=True), {"__typename": "Bot", "login": "fixer"}),
        (pull(30, author="fixer[bot]"), {"__typename": "Bot", "login": "fixer"}),
    ],
)
def test_authors_may_be_gone_or_bots(hub: GitHubEmulator, record: Any, author: Any) -> None:
    hub.add(REPO, record)
    query = '{repository(owner:"acme",name:"rocket"){pullRequest(number:30){author{__typename login}}}}'
    assert ask(hub, query)["repository"]["pullRequest"]["author"] == author
    with client(hub) as github:
        shown = github.get_repo(REPO).get_pull(30).user
    assert shown.login == ("ghost" if author is None else "fixer[bot]")


def test_history_of_the_default_branch_counts_both_ends(hub: GitHubEmulator) -> None:
    hub.add(REPO, pull(40, base_ref="release", merged_at=NOON + timedelta(hours=3)))
    query = """query ($since: GitTimestamp, $until: GitTimestamp) { repository(owner: "acme", name: "rocket") {
      defaultBranchRef { name target { oid ... on Commit { history(since: $since, until: $until, first: 100) {
        totalCount nodes { message committedDate associatedPullRequests(first: 1) { nodes { number } } } }
      } } } } }"""
    window = {"since": "2026-02-28T14:00:00Z", "until": "2026-02-28T08:00:00-08:00"}
    branch = ask(hub, query, **window)["repository"]["defaultBranchRef"]
    history = branch["target"]["history"]
    assert (branch["name"], branch["target"]["oid"], history["totalCount"]) == (
        "main",
        pull(7).merge_commit_sha,
        3,
    )
    assert [node["associatedPullRequests"]["nodes"][0]["number"] for node in history["nodes"]] == [4, 3, 2]
    assert history["nodes"][0]["message"] == "Change part 4 (#4)"


def test_an_object_is_found_by_id_or_branch(hub: GitHubEmulator) -> None:
    oid = str(pull(3).merge_commit_sha)
    hub.add_commit(REPO, TreeCommit(oid, FixedTree({})))
    query = """query ($oid: GitObjectID!) { repository(owner: "acme", name: "rocket") {
      head: object(expression: "main") { oid } one: object(oid: $oid) { oid } none: object(expression: "x") { oid }
    } viewer { login } rateLimit { limit cost remaining resetAt } }"""
    data = ask(hub, query, oid=oid)
    assert data["repository"]["head"]["oid"] == pull(7).merge_commit_sha
    assert data["repository"]["one"]["oid"] == oid
    assert data["repository"]["none"] is None
    assert data["viewer"]["login"]
    assert (data["rateLimit"]["limit"], data["rateLimit"]["remaining"]) == (5000, 4999)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("is:merged merged:2026-02-28T14:00:00Z..2026-02-28T16:00:00Z", [4, 3, 2]),
        ("is:merged merged:2026-02-28T14:00:01+00:00..2026-02-28T15:59:59+00:00", [3]),
        ("is:merged merged:>=2026-02-28T18:00:00Z", [7, 6]),
        ("is:merged merged:2026-02-28", [7, 6, 5, 4, 3, 2, 1]),
        ("is:merged base:release", []),
        ("is:open", []),
        ("part 7", [7]),
        ("is:merged sort:updated-asc", [1, 2, 3, 4, 5, 6, 7]),
    ],
)
def test_search_understands(unchanged_emulator: GitHubEmulator, text: str, expected: list[int]) -> None:
    full = f"repo:{REPO} is:pr {text}"
    search_results = ask(unchanged_emulator, FIND, text=full)["search"]
    assert (numbers(search_results), search_results["issueCount"]) == (expected, len(expected))
    with client(unchanged_emulator) as github:
        assert [issue.number for issue in github.search_issues(full)] == expected


def test_search_lags_and_ends_at_a_thousand(hub: GitHubEmulator) -> None:
    hub.search_hides = {5}
    assert 5 not in numbers(ask(hub, FIND, text=f"repo:{REPO} is:pr")["search"])
    hub.add("acme/big", *(pull(number, files=[]) for number in range(1, 1102)))
    with client(hub, per_page=100) as github:
        issues = github.search_issues("repo:acme/big is:pr")
        assert (issues.totalCount, len(list(issues))) == (1000, 1000)
        with pytest.raises(GithubException, match="first 1000"):
            github.requester.requestJsonAndCheck("GET", "/search/issues?q=is:pr&per_page=100&page=11")


@pytest.mark.parametrize(
    ("query", "kind", "message"),
    [
        (
            '{repository(owner:"x",name:"y"){id}}',
            "NOT_FOUND",
            "Could not resolve to a Repository with the name 'x/y'.",
        ),
        (
            '{repository(owner:"acme",name:"rocket"){pullRequest(number:99){id}}}',
            "NOT_FOUND",
            "Could not resolve to a PullRequest with the number of 99.",
        ),
        (
            '{repository(owner:"acme",name:"rocket"){pullRequests(first:101){nodes{id}}}}',
            "EXCESSIVE_PAGINATION",
            "Requesting 101 records on the `pullRequests` connection exceeds the `first` limit of 100 records.",
        ),
        ('{search(type:ISSUE,query:"is:pr",first:0){issueCount}}', "EXCESSIVE_PAGINATION", "minimum of 1"),
        (
            '{repository(owner:"acme",name:"rocket"){pullRequests{nodes{id}}}}',
            "MISSING_PAGINATION_BOUNDARIES",
            "You must provide a `first` or `last` value",
        ),
        (
            '{repository(owner:"acme",name:"rocket"){pullRequests(first:1,after:"!"){nodes{id}}}}',
            "INVALID_CURSOR_ARGUMENTS",
            "does not appear to be a valid cursor",
        ),
        ("{repository(owner:1){id}}", None, "String cannot represent a non string value"),
        ('{repository(owner:"acme",name:"rocket"){stars}}', None, "Cannot query field 'stars'"),
        ("{", None, "Syntax Error"),
        ('{search(type:ISSUE,query:"is:pr milestone:x",first:1){issueCount}}', None, "milestone"),
    ],
)
def test_wrong_queries_are_refused(
    unchanged_emulator: GitHubEmulator, query: str, kind: str | None, message: str
) -> None:
    error = refusal(unchanged_emulator, query)["errors"][0]
    assert error.get("type") == kind
    assert message in error["message"]


def test_an_unknown_repository_is_null_with_its_path(unchanged_emulator: GitHubEmulator) -> None:
    body = refusal(unchanged_emulator, '{repository(owner:"x",name:"y"){id}}')
    assert body["data"] == {"repository": None}
    assert body["errors"][0]["path"] == ["repository"]


def test_a_count_needs_no_page_size(unchanged_emulator: GitHubEmulator) -> None:
    query = '{repository(owner:"acme",name:"rocket"){pullRequests{totalCount}}}'
    assert ask(unchanged_emulator, query)["repository"]["pullRequests"]["totalCount"] == 7
