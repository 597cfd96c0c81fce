"""The GitHub emulator, asked by the client that the product uses: who asks, how often, and what fails."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from github import Auth, GithubException
from github.GithubException import (
    BadCredentialsException,
    RateLimitExceededExceedsMaxWait,
    RateLimitExceededException,
    UnknownObjectException,
)
from requests.exceptions import ConnectionError as ConnectionLost

from tests.emulators.github.client import REPO, client, refusal
from tests.emulators.github.server import FailureKind, GitHubEmulator

# --- who asks, and how often


def test_a_wrong_token_is_refused(hub: GitHubEmulator) -> None:
    with client(hub, Auth.Token("ghp_other")) as github:
        with pytest.raises(BadCredentialsException):
            github.get_repo(REPO)
        with pytest.raises(BadCredentialsException):
            github.requester.graphql_query("{viewer{login}}", {})


def test_without_a_token_only_rest_answers_and_only_if_allowed(hub: GitHubEmulator) -> None:
    with client(hub, None) as github, pytest.raises(BadCredentialsException):
        github.get_repo(REPO)
    hub.anonymous = True
    with client(hub, None) as github:
        assert github.get_repo(REPO).full_name == REPO
        assert github.rate_limiting[1] == 60
        with pytest.raises(BadCredentialsException):
            github.requester.graphql_query("{viewer{login}}", {})


def test_an_app_gets_a_token_for_its_installation(hub: GitHubEmulator) -> None:
    key = "a key that is long enough for the algorithm"
    app = Auth.AppAuth("1", sign_func=Auth.JwtSigner(key, "HS256").jwt_sign)
    with client(hub, app.get_installation_auth(12)) as github:
        assert github.get_repo(REPO).full_name == REPO
        assert github.requester.graphql_query("{viewer{login}}", {})[1]["data"]["viewer"]["login"]
    with client(hub, app) as github:
        assert github.requester.requestJsonAndCheck("GET", f"/repos/{REPO}/installation")[1]["id"]
        assert github.requester.requestJsonAndCheck("GET", "/app")[1]["slug"]
    assert len(hub.calls_to("/app/installations/12/access_tokens")) == 1


def test_limits_are_counted_by_resource(hub: GitHubEmulator) -> None:
    with client(hub) as github:
        github.get_repo(REPO)
        list(github.search_issues(f"repo:{REPO} is:pr"))
        resources = github.get_rate_limit().resources
    assert (resources.core.used, resources.search.used, resources.graphql.used) == (1, 1, 0)
    assert (resources.core.limit, resources.search.limit) == (5000, 30)


def test_a_used_up_limit_is_refused(hub: GitHubEmulator) -> None:
    hub.set_limit("core", 1)
    with client(hub) as github:
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
    hub: GitHubEmulator, kind: FailureKind, error: type[Exception]
) -> None:
    hub.fail_next(kind)
    with client(hub) as github:
        with pytest.raises(error):
            github.get_repo(REPO)
        assert github.get_repo(REPO).full_name == REPO


@pytest.mark.parametrize("kind", ["500", "502", "429", "secondary", "primary", "hang_up"])
def test_the_client_retries(hub: GitHubEmulator, kind: FailureKind) -> None:
    hub.retry_after = 0
    hub.fail_next(kind)
    with client(hub, retries=1) as github:
        assert github.get_repo(REPO).full_name == REPO
    assert len(hub.calls) == 2


def test_a_long_wait_for_the_primary_limit_is_told(hub: GitHubEmulator) -> None:
    hub.retry_after = 900
    hub.fail_next("primary")
    with client(hub, retries=1) as github, pytest.raises(RateLimitExceededExceedsMaxWait) as caught:
        github.get_repo(REPO)
    assert (caught.value.wait or 0) > 890


def test_a_graphql_limit_is_an_answer_with_errors(hub: GitHubEmulator) -> None:
    hub.fail_next("graphql-rate-limited", match="/graphql")
    with client(hub) as github:
        github.get_repo(REPO)
    assert refusal(hub, "{viewer{login}}")["errors"][0]["type"] == "RATE_LIMITED"


def test_an_unknown_failure_is_an_error_in_the_test(hub: GitHubEmulator) -> None:
    with pytest.raises(ValueError, match="no such failure"):
        hub.fail_next("503")  # type: ignore[arg-type]


# --- the emulator itself


def test_many_threads_get_their_own_answers(hub: GitHubEmulator) -> None:
    hub.latency = 0.01

    def fetch(number: int) -> bool:
        with client(hub) as github:
            path = f"/repos/{REPO}/pulls/{number}"
            return bool(github.requester.requestJsonAndCheck("GET", path)[1]["number"] == number)

    began = time.monotonic()
    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(fetch, [number % 7 + 1 for number in range(64)]))
    assert time.monotonic() - began >= 0.04
    assert len(hub.calls) == 64


def test_a_replay_day_is_loaded(hub: GitHubEmulator, tmp_path: Path) -> None:
    fact = '{"number": 5, "title": "T", "body": null, "author": "a[bot]", "merged_by": "b", "additions": 9,'
    fact += '"merged_at": "2026-02-03T04:05:06Z", "merge_commit_sha": "c", "base_sha": "d", "head_sha": "e",'
    fact += '"deletions": 8, "changed_files": 1}'
    (tmp_path / "files").mkdir()
    (tmp_path / "pulls.json").write_text(f'{{"repository": "o/n", "date": "2026-02-03", "pulls": [{fact}]}}')
    (tmp_path / "files" / "5.json").write_text(
        '[{"filename": "x.py", "status": "renamed", "additions": 9, "deletions": 8}]'
    )
    hub.load_replay(tmp_path)
    with client(hub) as github:
        pull_request = github.get_repo("o/n").get_pull(5)
        assert (pull_request.additions, pull_request.user.type) == (9, "Bot")
        assert not pull_request.body
        assert pull_request.updated_at == pull_request.merged_at == datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
        assert [item.filename for item in pull_request.get_files()] == ["x.py"]
