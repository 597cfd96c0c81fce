"""The GitHub emulator, asked by the client that the product uses."""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from github import Auth, Github, GithubException, GithubRetry
from github.GithubException import (
    BadCredentialsException,
    RateLimitExceededExceedsMaxWait,
    RateLimitExceededException,
    UnknownObjectException,
)
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    build_schema,
)
from requests.exceptions import ConnectionError as ConnectionLost

from tests.emulators.github import FailureKind, GitHubEmulator, changed_file, pull
from tests.emulators.github_schema import schema

REPO = "acme/rocket"
NOON = datetime(2026, 2, 28, 12, 0, tzinfo=UTC)
FULL_SCHEMA = Path(__file__).parents[3] / "shared" / "facts" / "github-schema.graphql.gz"
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


def started() -> GitHubEmulator:
    found = GitHubEmulator()
    found.add(REPO, *(pull(number, merged_at=NOON + timedelta(hours=number)) for number in range(1, 8)))
    return found


@pytest.fixture
def emulator() -> Iterator[GitHubEmulator]:
    with started() as found:
        yield found


@pytest.fixture(scope="module")
def unchanged() -> Iterator[GitHubEmulator]:
    """One emulator for the tests that only read; its REST search limit is out of their way."""
    with started() as found:
        found.set_limit("search", 1000)
        yield found


TOKEN = Auth.Token("ghp_test")


def client(emulator: GitHubEmulator, auth: Auth.Auth | None = TOKEN, retries: int = 0, **options: Any) -> Github:
    """A client without PyGithub's pauses between calls; without retries it raises what it is told."""
    retry = GithubRetry(total=retries, backoff_factor=0, max_rate_limit_wait=5) if retries else None
    pace: dict[str, Any] = {"seconds_between_requests": None, "seconds_between_writes": None}
    return Github(auth=auth, base_url=emulator.url, retry=retry, **pace, **options)


def ask(emulator: GitHubEmulator, query: str, **variables: Any) -> dict[str, Any]:
    with client(emulator) as github:
        found: dict[str, Any] = github.requester.graphql_query(query, variables)[1]["data"]
    return found


def refusal(emulator: GitHubEmulator, query: str, **variables: Any) -> dict[str, Any]:
    with pytest.raises(GithubException) as caught:
        ask(emulator, query, **variables)
    body: dict[str, Any] = caught.value.data
    return body


def numbers(page: dict[str, Any]) -> list[int]:
    return [node["number"] for node in page["nodes"]]


# --- GraphQL


def test_a_walk_by_update_time_visits_every_merge_once(emulator: GitHubEmulator) -> None:
    emulator.add(REPO, pull(8, state="OPEN"), pull(9, state="CLOSED"))
    seen: list[int] = []
    after: str | None = None
    for _ in range(3):
        page = ask(emulator, WALK, first=3, after=after)["repository"]["pullRequests"]
        seen += numbers(page)
        after = page["pageInfo"]["endCursor"]
    assert (seen, page["totalCount"]) == ([7, 6, 5, 4, 3, 2, 1], 7)
    assert page["pageInfo"]["hasNextPage"] is False


def test_an_update_during_a_walk_does_not_shift_the_next_page(emulator: GitHubEmulator) -> None:
    first = ask(emulator, WALK, first=3)["repository"]["pullRequests"]
    emulator.add(REPO, pull(2, updated_at=NOON + timedelta(days=9)))
    second = ask(emulator, WALK, first=3, after=first["pageInfo"]["endCursor"])["repository"]["pullRequests"]
    assert numbers(first) + numbers(second) == [7, 6, 5, 4, 3, 1]


def test_a_pull_request_has_its_facts(emulator: GitHubEmulator) -> None:
    files = [changed_file("a.py"), changed_file("b.bin", None, status="added")]
    emulator.add(REPO, pull(20, title="a [b] `c`", body=None, labels=("bug",), files=files))
    query = """{ repository(owner: "ACME", name: "Rocket") { nameWithOwner pullRequest(number: 20) {
      title body state merged url mergedAt changedFiles additions mergedBy { login } mergeCommit { oid }
      author { __typename login url } labels(first: 9) { nodes { name } }
      files(first: 1) { totalCount pageInfo { hasNextPage } nodes { path additions changeType } } } } }"""
    repository = ask(emulator, query)["repository"]
    found = repository["pullRequest"]
    assert repository["nameWithOwner"] == REPO
    assert (found["title"], found["body"], found["state"], found["merged"]) == ("a [b] `c`", "", "MERGED", True)
    assert found["mergedAt"] == "2026-01-15T18:00:00Z"
    assert found["url"] == "https://github.com/acme/rocket/pull/20"
    assert found["author"] == {"__typename": "User", "login": "octocat", "url": "https://github.com/octocat"}
    assert found["mergeCommit"]["oid"] == pull(20).merge_commit_sha
    assert found["labels"]["nodes"] == [{"name": "bug"}]
    assert (found["changedFiles"], found["additions"]) == (2, 1)
    assert found["files"] == {
        "totalCount": 2,
        "pageInfo": {"hasNextPage": True},
        "nodes": [{"path": "a.py", "additions": 1, "changeType": "MODIFIED"}],
    }


@pytest.mark.parametrize(
    ("record", "author"),
    [
        (pull(30, author=None), None),
        (pull(30, author="fixer", author_is_bot=True), {"__typename": "Bot", "login": "fixer"}),
        (pull(30, author="fixer[bot]"), {"__typename": "Bot", "login": "fixer"}),
    ],
)
def test_authors_may_be_gone_or_bots(emulator: GitHubEmulator, record: Any, author: Any) -> None:
    emulator.add(REPO, record)
    query = '{repository(owner:"acme",name:"rocket"){pullRequest(number:30){author{__typename login}}}}'
    assert ask(emulator, query)["repository"]["pullRequest"]["author"] == author
    with client(emulator) as github:
        shown = github.get_repo(REPO).get_pull(30).user
    assert shown.login == ("ghost" if author is None else "fixer[bot]")


def test_history_of_the_default_branch_counts_both_ends(emulator: GitHubEmulator) -> None:
    emulator.add(REPO, pull(40, base_ref="release", merged_at=NOON + timedelta(hours=3)))
    query = """query ($since: GitTimestamp, $until: GitTimestamp) { repository(owner: "acme", name: "rocket") {
      defaultBranchRef { name target { oid ... on Commit { history(since: $since, until: $until, first: 100) {
        totalCount nodes { message committedDate associatedPullRequests(first: 1) { nodes { number } } } }
      } } } } }"""
    window = {"since": "2026-02-28T14:00:00Z", "until": "2026-02-28T08:00:00-08:00"}
    branch = ask(emulator, query, **window)["repository"]["defaultBranchRef"]
    history = branch["target"]["history"]
    assert (branch["name"], branch["target"]["oid"], history["totalCount"]) == (
        "main",
        pull(7).merge_commit_sha,
        3,
    )
    assert [node["associatedPullRequests"]["nodes"][0]["number"] for node in history["nodes"]] == [4, 3, 2]
    assert history["nodes"][0]["message"] == "Change part 4 (#4)"


def test_an_object_is_found_by_id_or_branch(emulator: GitHubEmulator) -> None:
    query = """query ($oid: GitObjectID!) { repository(owner: "acme", name: "rocket") {
      head: object(expression: "main") { oid } one: object(oid: $oid) { oid } none: object(expression: "x") { oid }
    } viewer { login } rateLimit { limit cost remaining resetAt } }"""
    found = ask(emulator, query, oid=pull(3).merge_commit_sha)
    assert found["repository"]["head"]["oid"] == pull(7).merge_commit_sha
    assert found["repository"]["one"]["oid"] == pull(3).merge_commit_sha
    assert found["repository"]["none"] is None
    assert found["viewer"]["login"]
    assert (found["rateLimit"]["limit"], found["rateLimit"]["remaining"]) == (5000, 4999)


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
def test_search_understands(unchanged: GitHubEmulator, text: str, expected: list[int]) -> None:
    full = f"repo:{REPO} is:pr {text}"
    found = ask(unchanged, FIND, text=full)["search"]
    assert (numbers(found), found["issueCount"]) == (expected, len(expected))
    with client(unchanged) as github:
        assert [issue.number for issue in github.search_issues(full)] == expected


def test_search_lags_and_ends_at_a_thousand(emulator: GitHubEmulator) -> None:
    emulator.search_hides = {5}
    assert 5 not in numbers(ask(emulator, FIND, text=f"repo:{REPO} is:pr")["search"])
    emulator.add("acme/big", *(pull(number, files=[]) for number in range(1, 1102)))
    with client(emulator, per_page=100) as github:
        found = github.search_issues("repo:acme/big is:pr")
        assert (found.totalCount, len(list(found))) == (1000, 1000)
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
def test_wrong_queries_are_refused(unchanged: GitHubEmulator, query: str, kind: str | None, message: str) -> None:
    error = refusal(unchanged, query)["errors"][0]
    assert error.get("type") == kind
    assert message in error["message"]


def test_an_unknown_repository_is_null_with_its_path(unchanged: GitHubEmulator) -> None:
    body = refusal(unchanged, '{repository(owner:"x",name:"y"){id}}')
    assert body["data"] == {"repository": None}
    assert body["errors"][0]["path"] == ["repository"]


def test_a_count_needs_no_page_size(unchanged: GitHubEmulator) -> None:
    query = '{repository(owner:"acme",name:"rocket"){pullRequests{totalCount}}}'
    assert ask(unchanged, query)["repository"]["pullRequests"]["totalCount"] == 7


# --- REST


def test_rest_shows_a_pull_request(emulator: GitHubEmulator) -> None:
    with client(emulator) as github:
        repository = github.get_repo(REPO)
        found = repository.get_pull(7)
        assert (repository.full_name, repository.default_branch) == (REPO, "main")
        assert (found.number, found.merged, found.merged_at) == (7, True, NOON + timedelta(hours=7))
        assert (found.user.login, found.merged_by.login, found.base.ref) == ("octocat", "maintainer", "main")
        assert (found.additions, found.changed_files) == (1, 1)
        assert found.merge_commit_sha == pull(7).merge_commit_sha
        issue = next(iter(github.search_issues(f"repo:{REPO} is:pr merged:>=2026-02-28T19:00:00Z")))
        assert issue.as_pull_request().head.sha == found.head.sha


def test_the_newest_api_version_has_no_merge_commit(emulator: GitHubEmulator) -> None:
    with client(emulator, api_version="2026-03-10") as github:
        assert "merge_commit_sha" not in github.get_repo(REPO).get_pull(7).raw_data


def test_files_page_to_the_end_and_stop_at_3000(emulator: GitHubEmulator) -> None:
    files = [changed_file(f"f{number}.py", None) for number in range(3005)]
    emulator.add(REPO, pull(50, files=files))
    with client(emulator, per_page=100) as github:
        found = github.get_repo(REPO).get_pull(50)
        names = [item.filename for item in found.get_files()]
    assert (found.changed_files, len(names), len(set(names))) == (3005, 3000, 3000)
    assert len(emulator.calls_to(f"/repos/{REPO}/pulls/50/files")) == 30


def test_pages_are_30_by_default_and_link_to_their_neighbours(emulator: GitHubEmulator) -> None:
    emulator.add(REPO, pull(51, files=[changed_file(f"f{number}.py") for number in range(70)]))
    path = f"/repos/{REPO}/pulls/51/files"
    with client(emulator) as github:
        assert len(list(github.get_repo(REPO).get_pull(51).get_files())) == 70
        headers, shown = github.requester.requestJsonAndCheck("GET", f"{path}?page=2")
        assert len(github.requester.requestJsonAndCheck("GET", f"{path}?per_page=500")[1]) == 70
    assert len(shown) == 30
    assert all(f'rel="{name}"' in headers["link"] for name in ("first", "prev", "next", "last"))
    assert headers["link"].count(emulator.url) == 4


def test_an_unchanged_answer_is_304_and_free(emulator: GitHubEmulator) -> None:
    path = f"/repos/{REPO}/pulls/1/files"
    with client(emulator) as github:
        first, shown = github.requester.requestJsonAndCheck("GET", path)
        second, nothing = github.requester.requestJsonAndCheck(
            "GET", path, headers={"If-None-Match": first["etag"]}
        )
    assert (shown[0]["patch"], nothing) == ("@@ -1 +1 @@\n-old\n+new", None)
    assert first["x-ratelimit-remaining"] == second["x-ratelimit-remaining"] == "4999"


def test_what_is_not_there_is_404(emulator: GitHubEmulator) -> None:
    with client(emulator) as github:
        for path in ("/repos/x/y", f"/repos/{REPO}/pulls/99", f"/repos/{REPO}/pulls/99/files", "/nowhere"):
            with pytest.raises(UnknownObjectException):
                github.requester.requestJsonAndCheck("GET", path)


def test_rest_search_must_name_a_kind(emulator: GitHubEmulator) -> None:
    with client(emulator) as github, pytest.raises(GithubException) as caught:
        list(github.search_issues(f"repo:{REPO}"))
    assert caught.value.status == 422


# --- who asks, and how often


def test_a_wrong_token_is_refused(emulator: GitHubEmulator) -> None:
    with client(emulator, Auth.Token("ghp_other")) as github:
        with pytest.raises(BadCredentialsException):
            github.get_repo(REPO)
        with pytest.raises(BadCredentialsException):
            github.requester.graphql_query("{viewer{login}}", {})


def test_without_a_token_only_rest_answers_and_only_if_allowed(emulator: GitHubEmulator) -> None:
    with client(emulator, None) as github, pytest.raises(BadCredentialsException):
        github.get_repo(REPO)
    emulator.anonymous = True
    with client(emulator, None) as github:
        assert github.get_repo(REPO).full_name == REPO
        assert github.rate_limiting[1] == 60
        with pytest.raises(BadCredentialsException):
            github.requester.graphql_query("{viewer{login}}", {})


def test_an_app_gets_a_token_for_its_installation(emulator: GitHubEmulator) -> None:
    key = "a key that is long enough for the algorithm"
    app = Auth.AppAuth("1", sign_func=Auth.JwtSigner(key, "HS256").jwt_sign)
    with client(emulator, app.get_installation_auth(12)) as github:
        assert github.get_repo(REPO).full_name == REPO
        assert github.requester.graphql_query("{viewer{login}}", {})[1]["data"]["viewer"]["login"]
    with client(emulator, app) as github:
        assert github.requester.requestJsonAndCheck("GET", f"/repos/{REPO}/installation")[1]["id"]
        assert github.requester.requestJsonAndCheck("GET", "/app")[1]["slug"]
    assert len(emulator.calls_to("/app/installations/12/access_tokens")) == 1


def test_limits_are_counted_by_resource(emulator: GitHubEmulator) -> None:
    with client(emulator) as github:
        github.get_repo(REPO)
        list(github.search_issues(f"repo:{REPO} is:pr"))
        found = github.get_rate_limit().resources
    assert (found.core.used, found.search.used, found.graphql.used) == (1, 1, 0)
    assert (found.core.limit, found.search.limit) == (5000, 30)


def test_a_used_up_limit_is_refused(emulator: GitHubEmulator) -> None:
    emulator.set_limit("core", 1)
    with client(emulator) as github:
        github.get_repo(REPO)
        with pytest.raises(RateLimitExceededException):
            github.get_repo(REPO)


# --- scripted failures


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("401", BadCredentialsException),
        ("404", UnknownObjectException),
        ("429", GithubException),
        ("429-bare", GithubException),
        ("500", GithubException),
        ("502", GithubException),
        ("hang_up", ConnectionLost),
        ("primary", RateLimitExceededException),
        ("secondary", RateLimitExceededException),
        ("timeout-502-html", GithubException),
    ],
)
def test_a_scripted_failure_reaches_the_client_once(
    emulator: GitHubEmulator, kind: FailureKind, error: type[Exception]
) -> None:
    emulator.fail_next(kind)
    with client(emulator) as github:
        with pytest.raises(error):
            github.get_repo(REPO)
        assert github.get_repo(REPO).full_name == REPO


@pytest.mark.parametrize("kind", ["500", "502", "429", "secondary", "primary", "hang_up"])
def test_the_client_retries(emulator: GitHubEmulator, kind: FailureKind) -> None:
    emulator.retry_after = 0
    emulator.fail_next(kind)
    with client(emulator, retries=1) as github:
        assert github.get_repo(REPO).full_name == REPO
    assert len(emulator.calls) == 2


def test_a_long_wait_for_the_primary_limit_is_told(emulator: GitHubEmulator) -> None:
    emulator.retry_after = 900
    emulator.fail_next("primary")
    with client(emulator, retries=1) as github, pytest.raises(RateLimitExceededExceedsMaxWait) as caught:
        github.get_repo(REPO)
    assert (caught.value.wait or 0) > 890


def test_a_graphql_limit_is_an_answer_with_errors(emulator: GitHubEmulator) -> None:
    emulator.fail_next("graphql-rate-limited", match="/graphql")
    with client(emulator) as github:
        github.get_repo(REPO)
    assert refusal(emulator, "{viewer{login}}")["errors"][0]["type"] == "RATE_LIMITED"


def test_an_unknown_failure_is_an_error_in_the_test(emulator: GitHubEmulator) -> None:
    with pytest.raises(ValueError, match="no such failure"):
        emulator.fail_next("503")  # type: ignore[arg-type]


# --- the emulator itself


def test_many_threads_get_their_own_answers(emulator: GitHubEmulator) -> None:
    emulator.latency = 0.01

    def fetch(number: int) -> bool:
        with client(emulator) as github:
            path = f"/repos/{REPO}/pulls/{number}"
            return bool(github.requester.requestJsonAndCheck("GET", path)[1]["number"] == number)

    began = time.monotonic()
    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(fetch, [number % 7 + 1 for number in range(64)]))
    assert time.monotonic() - began >= 0.04
    assert len(emulator.calls) == 64


def test_a_replay_day_is_loaded(emulator: GitHubEmulator, tmp_path: Path) -> None:
    fact = '{"number": 5, "title": "T", "body": null, "author": "a[bot]", "merged_by": "b", "additions": 9,'
    fact += '"merged_at": "2026-02-03T04:05:06Z", "merge_commit_sha": "c", "base_sha": "d", "head_sha": "e",'
    fact += '"deletions": 8, "changed_files": 1}'
    (tmp_path / "files").mkdir()
    (tmp_path / "pulls.json").write_text(f'{{"repository": "o/n", "date": "2026-02-03", "pulls": [{fact}]}}')
    (tmp_path / "files" / "5.json").write_text(
        '[{"filename": "x.py", "status": "renamed", "additions": 9, "deletions": 8}]'
    )
    emulator.load_replay(tmp_path)
    with client(emulator) as github:
        found = github.get_repo("o/n").get_pull(5)
        assert (found.additions, found.user.type) == (9, "Bot")
        assert not found.body
        assert found.updated_at == found.merged_at == datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
        assert [item.filename for item in found.get_files()] == ["x.py"]


# --- our schema against GitHub's


@pytest.fixture(scope="module")
def public_schema() -> GraphQLSchema:
    if not FULL_SCHEMA.exists():
        pytest.skip(f"GitHub's public schema is not at {FULL_SCHEMA}")
    return build_schema(gzip.decompress(FULL_SCHEMA.read_bytes()).decode(), assume_valid=True)


def own_types() -> list[str]:
    return [name for name in schema().type_map if not name.startswith("__")]


@pytest.mark.parametrize("name", own_types())
def test_what_we_declare_is_in_the_public_schema(public_schema: GraphQLSchema, name: str) -> None:
    theirs = public_schema.type_map[name]
    ours = schema().type_map[name]
    assert type(ours) is type(theirs)
    assert described(ours) <= described(theirs)


def described(kind: GraphQLNamedType) -> set[str]:
    """Everything a type declares, one text per thing."""
    match kind:
        case GraphQLEnumType():
            return set(kind.values)
        case GraphQLUnionType():
            return {member.name for member in kind.types}
        case GraphQLInputObjectType():
            return {f"{name}: {item.type}" for name, item in kind.fields.items()}
        case GraphQLObjectType() | GraphQLInterfaceType():
            return {f"implements {item.name}" for item in kind.interfaces} | field_texts(kind)
        case _:
            return set()


def field_texts(kind: GraphQLObjectType | GraphQLInterfaceType) -> set[str]:
    found = {f"{name}: {item.type}" for name, item in kind.fields.items()}
    for name, item in kind.fields.items():
        found |= {f"{name}({key}: {argument.type})" for key, argument in item.args.items()}
    return found
