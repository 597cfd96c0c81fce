from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from localslack.loopback import Loopback, Request, Response
from pydantic import SecretStr

from bot.platform.github.check import check_github
from bot.settings import Settings
from impact.repository import Repository
from tests.doctor.findings import outcome
from tests.emulators.github.server import GitHubEmulator
from tests.helpers.checks import closed_port
from tests.helpers.worlds import WebPage

ENGINE, OTHER = Repository("octo", "engine"), Repository("octo", "other")


@pytest.fixture
def github() -> Iterator[GitHubEmulator]:
    with GitHubEmulator() as emulator:
        emulator.add("octo/engine")
        yield emulator


GOOD = "ghp_test"
LATE = timedelta(minutes=10)


def probe_github(url: str, *repositories: Repository, token: str = GOOD) -> tuple[list[str], timedelta | None]:
    """The lines about GitHub, asked by a machine whose clock is late."""
    settings = Settings(github_api_url=url, github_token=SecretStr(token) if token else None)
    return outcome(check_github(settings, repositories, lambda: datetime.now(UTC) - LATE, seconds=1))


def test_a_token_its_limit_and_each_repository_are_told(github: GitHubEmulator) -> None:
    github.add("octo/other")
    lines, ahead = probe_github(github.url, ENGINE, OTHER)
    assert lines == [
        "+ GitHub token: accepted",
        "+ GitHub rate limit: 5,000 calls left, resets in 70 min",
        "+ GitHub octo/engine: the token can read pull requests and contents",
        "+ GitHub octo/other: the token can read pull requests and contents",
    ]
    assert ahead is not None
    assert abs(ahead - LATE) < timedelta(seconds=3)


ELSEWHERE = "The server is not GitHub: check GITHUB_API_URL."
UNCHECKED = "- GitHub octo/engine: not checked: see GitHub token above"


def test_a_token_that_is_refused_is_the_one_failure(github: GitHubEmulator) -> None:
    lines, ahead = probe_github(github.url, ENGINE, token="ghp_wrong")
    advice = "GitHub rejected the token: set GITHUB_TOKEN to a valid one."
    assert (lines, ahead) == ([f"! GitHub token: refused -> {advice}", UNCHECKED], None)


def test_without_a_token_it_says_what_to_set() -> None:
    lines, _ = probe_github("http://127.0.0.1:1", ENGINE, token="")
    advice = "Set GITHUB_TOKEN to a token that may read pull requests, or set up a GitHub App (GITHUB_APP_…)."
    assert lines == [f"! GitHub token: not set up -> {advice}", UNCHECKED]


def test_a_github_that_is_not_there_is_asked_once() -> None:
    lines, _ = probe_github(f"http://127.0.0.1:{closed_port()}", ENGINE)
    advice = "GitHub can't be reached: check GITHUB_API_URL and the network, then try again."
    assert lines == [f"! GitHub token: no answer -> {advice}", UNCHECKED]


@pytest.mark.slow
def test_a_github_that_hangs_is_left_soon(github: GitHubEmulator) -> None:
    github.latency = 1.5
    lines, _ = probe_github(github.url, ENGINE)
    assert lines[0].startswith("! GitHub token: no answer")


def test_a_repository_that_is_not_there_does_not_hide_the_next(github: GitHubEmulator) -> None:
    lines, _ = probe_github(github.url, OTHER, ENGINE)
    advice = (
        "GitHub has no repository octo/other, or the token may not read it: check its name in the settings, and "
        "give the token access."
    )
    assert lines[2:] == [
        f"! GitHub octo/other: not found -> {advice}",
        "+ GitHub octo/engine: the token can read pull requests and contents",
    ]


def test_a_repository_with_another_name_is_told(github: GitHubEmulator) -> None:
    github.store.rename(str(ENGINE), "elsewhere/motor")
    lines, _ = probe_github(github.url, ENGINE)
    assert lines[2].startswith(
        "- GitHub octo/engine: renamed to elsewhere/motor -> Set elsewhere/motor in the settings"
    )


def test_an_archived_repository_is_told(github: GitHubEmulator) -> None:
    place = github.store.find(str(ENGINE))
    assert place
    place.is_archived = True
    lines, _ = probe_github(github.url, ENGINE)
    assert lines[2].startswith("- GitHub octo/engine: archived -> Nothing is merged there any more: unsubscribe")


def test_a_github_that_falls_silent_is_asked_no_more(github: GitHubEmulator) -> None:
    github.fail_next("hang_up", match="/graphql")
    lines, _ = probe_github(github.url, ENGINE, OTHER)
    assert lines[2].startswith("! GitHub octo/engine: no answer")
    assert lines[3] == "- GitHub octo/other: not checked: GitHub does not answer"


def test_few_calls_left_are_noted(github: GitHubEmulator) -> None:
    github.set_limit("graphql", 199)
    lines, _ = probe_github(github.url)
    advice = "If other programs use this token, give the bot its own: each pull request takes a call."
    assert lines[1] == f"- GitHub rate limit: 199 calls left, resets in 70 min -> {advice}"


def test_no_call_left_is_a_failure_and_the_only_one(github: GitHubEmulator) -> None:
    github.set_limit("graphql", 0)
    advice = "Wait until then, or give the bot its own token."
    lines, _ = probe_github(github.url, ENGINE)
    assert lines[1:] == [
        f"! GitHub rate limit: 0 calls left, resets in 70 min -> {advice}",
        "- GitHub octo/engine: not checked: see GitHub rate limit above",
    ]


@pytest.mark.parametrize("path", ["/api", "/v3"])
def test_an_address_without_githubs_interface_names_the_setting(github: GitHubEmulator, path: str) -> None:
    lines, _ = probe_github(f"{github.url}{path}", ENGINE)
    assert lines == [f"! GitHub token: no answer -> {ELSEWHERE}", UNCHECKED]


def test_a_page_of_whoever_stands_between_is_no_server_without_limits() -> None:
    for status in (200, 404):
        with WebPage(status) as world:
            lines, _ = probe_github(world.url, ENGINE)
        assert lines[0] == f"! GitHub token: no answer -> {ELSEWHERE}"


def test_graphql_that_is_not_there_names_the_setting(github: GitHubEmulator) -> None:
    github.fail_next("404", match="/graphql")
    lines, _ = probe_github(github.url, ENGINE, OTHER)
    advice = (
        "GITHUB_API_URL has no GraphQL API: set it to https://api.github.com, or to https://HOST/api/v3 for "
        "GitHub Enterprise."
    )
    assert lines[2:] == [
        f"! GitHub octo/engine: not set up -> {advice}",
        "- GitHub octo/other: not checked: see GitHub octo/engine above",
    ]


class _Enterprise(Loopback):
    """A server without limits, whose token may read what ``data`` shows."""

    def __init__(self, data: object, *errors: object) -> None:
        super().__init__()
        self._answer = {"data": data, "errors": list(errors)}

    def handle(self, request: Request) -> Response:
        if request.path == "/rate_limit":
            return Response.of_json({"message": "Rate limiting is not enabled."}, 404)
        return Response.of_json(self._answer)


def test_a_server_without_limits_says_so() -> None:
    with _Enterprise(
        {"repository": {"pullRequests": {"nodes": []}, "defaultBranchRef": {"name": "main"}}}
    ) as world:
        lines, ahead = probe_github(world.url, ENGINE)
    assert lines[:2] == ["+ GitHub token: accepted", "+ GitHub rate limit: no limit"]
    assert lines[2].startswith("+")
    assert ahead is not None


def test_contents_that_can_not_be_read_are_noted() -> None:
    with _Enterprise({"repository": {"pullRequests": {"nodes": []}, "defaultBranchRef": None}}) as world:
        lines, _ = probe_github(world.url, ENGINE)
    assert lines[2] == (
        "- GitHub octo/engine: the token can read pull requests, but not contents: digests will say that the "
        "count is not checked -> Give the token read access to contents."
    )


def test_pull_requests_that_can_not_be_read_are_a_failure() -> None:
    data = {"repository": {"pullRequests": None, "defaultBranchRef": {"name": "main"}}}
    error = {"type": "FORBIDDEN", "message": "Resource not accessible by personal access token"}
    with _Enterprise(data, error) as world:
        lines, _ = probe_github(world.url, ENGINE)
    assert lines[2] == (
        "! GitHub octo/engine: refused -> "
        "The token may not read octo/engine: give it read access to pull requests."
    )
