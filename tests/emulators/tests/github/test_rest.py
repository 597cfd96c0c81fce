"""The GitHub emulator's REST calls, asked by the client that the product uses."""

from datetime import timedelta

import pytest
from github import GithubException
from github.GithubException import UnknownObjectException

from tests.emulators.github.client import NOON, REPO, client
from tests.emulators.github.server import GitHubEmulator, changed_file, pull


def test_rest_shows_a_pull_request(hub: GitHubEmulator) -> None:
    with client(hub) as github:
        repository = github.get_repo(REPO)
        pull_request = repository.get_pull(7)
        assert (repository.full_name, repository.default_branch) == (REPO, "main")
        assert (pull_request.number, pull_request.merged, pull_request.merged_at) == (
            7,
            True,
            NOON + timedelta(hours=7),
        )
        assert (pull_request.user.login, pull_request.merged_by.login, pull_request.base.ref) == (
            "octocat",
            "maintainer",
            "main",
        )
        assert (pull_request.additions, pull_request.changed_files) == (1, 1)
        assert pull_request.merge_commit_sha == pull(7).merge_commit_sha
        issue = next(iter(github.search_issues(f"repo:{REPO} is:pr merged:>=2026-02-28T19:00:00Z")))
        assert issue.as_pull_request().head.sha == pull_request.head.sha


def test_the_newest_api_version_has_no_merge_commit(hub: GitHubEmulator) -> None:
    with client(hub, api_version="2026-03-10") as github:
        assert "merge_commit_sha" not in github.get_repo(REPO).get_pull(7).raw_data


@pytest.mark.slow
def test_files_page_to_the_end_and_stop_at_3000(hub: GitHubEmulator) -> None:
    files = [changed_file(f"f{number}.py", None) for number in range(3005)]
    hub.add(REPO, pull(50, files=files))
    with client(hub, per_page=100) as github:
        pull_request = github.get_repo(REPO).get_pull(50)
        names = [item.filename for item in pull_request.get_files()]
    assert (pull_request.changed_files, len(names), len(set(names))) == (3005, 3000, 3000)
    assert len(hub.calls_to(f"/repos/{REPO}/pulls/50/files")) == 30


def test_pages_are_30_by_default_and_link_to_their_neighbours(hub: GitHubEmulator) -> None:
    hub.add(REPO, pull(51, files=[changed_file(f"f{number}.py") for number in range(70)]))
    path = f"/repos/{REPO}/pulls/51/files"
    with client(hub) as github:
        assert len(list(github.get_repo(REPO).get_pull(51).get_files())) == 70
        headers, shown = github.requester.requestJsonAndCheck("GET", f"{path}?page=2")
        assert len(github.requester.requestJsonAndCheck("GET", f"{path}?per_page=500")[1]) == 70
    assert len(shown) == 30
    assert all(f'rel="{name}"' in headers["link"] for name in ("first", "prev", "next", "last"))
    assert headers["link"].count(hub.url) == 4


def test_an_unchanged_answer_is_304_and_free(hub: GitHubEmulator) -> None:
    path = f"/repos/{REPO}/pulls/1/files"
    with client(hub) as github:
        first, shown = github.requester.requestJsonAndCheck("GET", path)
        second, nothing = github.requester.requestJsonAndCheck(
            "GET", path, headers={"If-None-Match": first["etag"]}
        )
    assert (shown[0]["patch"], nothing) == ("@@ -1 +1 @@\n-old\n+new", None)
    assert first["x-ratelimit-remaining"] == second["x-ratelimit-remaining"] == "4999"


def test_what_is_not_there_is_404(hub: GitHubEmulator) -> None:
    with client(hub) as github:
        for path in ("/repos/x/y", f"/repos/{REPO}/pulls/99", f"/repos/{REPO}/pulls/99/files", "/nowhere"):
            with pytest.raises(UnknownObjectException):
                github.requester.requestJsonAndCheck("GET", path)


def test_rest_search_must_name_a_kind(hub: GitHubEmulator) -> None:
    with client(hub) as github, pytest.raises(GithubException) as caught:
        list(github.search_issues(f"repo:{REPO}"))
    assert caught.value.status == 422
