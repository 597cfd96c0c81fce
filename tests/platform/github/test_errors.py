import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from github import Auth
from localslack.loopback import Loopback, Request, Response

from bot.errors import (
    ConfigurationError,
    GitHubAccessDenied,
    GitHubUnavailable,
    PrdigestError,
    PullRequestNotFound,
    RateLimited,
    RepositoryNotFound,
)
from bot.platform.github.client import GitHubClient
from bot.platform.github.pulls import GitHubPullRequests
from impact.repository import Repository
from tests.emulators.github.server import FailureKind
from tests.emulators.github.server import pull as record
from tests.helpers.builders import DAY, NOON, REPOSITORY
from tests.helpers.builders import pull as known_pull
from tests.helpers.checks import closed_port, is_one_sentence
from tests.helpers.worlds import MORNING, REPO, ScriptedGitHub, WebPage, within

Act = Callable[[GitHubPullRequests], object]


def list_day(pulls: GitHubPullRequests) -> object:
    return pulls.list_merged(REPOSITORY, DAY)


def read_files(pulls: GitHubPullRequests) -> object:
    return pulls.load_files(known_pull(1))


@dataclass(frozen=True)
class Case:
    kind: FailureKind
    times: int
    error: type[PrdigestError]
    acts: tuple[Act, ...] = (list_day, read_files)

    def __str__(self) -> str:
        return f"{self.kind}-{self.error.__name__}"


CASES = (
    Case("401", 1, GitHubAccessDenied),
    Case("404", 1, ConfigurationError, (list_day,)),
    Case("404", 1, PullRequestNotFound, (read_files,)),
    Case("429-bare", 1, RateLimited),
    Case("502", 99, GitHubUnavailable),
    Case("500", 99, GitHubUnavailable),
    Case("timeout-502-html", 99, GitHubUnavailable),
    Case("hang_up", 99, GitHubUnavailable),
    Case("429", 99, RateLimited, (list_day,)),
    Case("graphql-rate-limited", 1, RateLimited, (list_day,)),
)
TABLE = [(case, act) for case in CASES for act in case.acts]
IDS = [f"{case}-{act.__name__}" for case, act in TABLE]


def failure(github: ScriptedGitHub, act: Act) -> PrdigestError:
    with pytest.raises(PrdigestError) as caught:
        act(github.pulls())
    return caught.value


def with_a_pull(github: ScriptedGitHub) -> ScriptedGitHub:
    github.add(REPO, record(1, merged_at=NOON))
    github.retry_after = 0
    return github


@pytest.mark.parametrize(("case", "act"), TABLE, ids=IDS)
def test_a_failure_becomes_an_error_of_the_domain(github: ScriptedGitHub, case: Case, act: Act) -> None:
    with_a_pull(github).fail_next(case.kind, case.times)
    error = failure(github, act)
    assert type(error) is case.error
    assert "ghp_test" not in str(error)
    assert "\n" not in str(error)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_message_is_one_sentence(github: ScriptedGitHub, case: Case) -> None:
    with_a_pull(github).fail_next(case.kind, case.times)
    assert is_one_sentence(str(failure(github, case.acts[0])))


@pytest.mark.parametrize("kind", ["502", "500", "timeout-502-html", "hang_up", "429", "secondary"])
@pytest.mark.parametrize("act", [list_day, read_files])
def test_a_failure_that_passes_is_waited_out(github: ScriptedGitHub, kind: FailureKind, act: Act) -> None:
    with_a_pull(github).fail_next(kind, 2)
    act(github.pulls())
    assert len(github.calls) == 3


@pytest.mark.slow
def test_a_secondary_limit_is_given_the_second_that_it_asks_for(github: ScriptedGitHub) -> None:
    with_a_pull(github).fail_next("secondary")
    github.retry_after = 1
    begun = time.monotonic()
    list_day(github.pulls())
    assert 0.9 <= time.monotonic() - begun < 5


def test_a_primary_limit_of_an_hour_is_told_at_once(github: ScriptedGitHub) -> None:
    with_a_pull(github).fail_next("primary")
    github.retry_after = 3_600
    error = within(2, lambda: list_day(github.pulls()))
    assert isinstance(error, RateLimited)
    assert error.retry_after == pytest.approx(3_600, abs=5)
    # the next minute where the second turns meanwhile
    assert re.search(r"in 6[01] minutes", str(error))
    assert len(github.calls) == 1


@pytest.mark.parametrize("kind", ["secondary", "429"])
def test_a_secondary_limit_of_an_hour_is_told_at_once(github: ScriptedGitHub, kind: FailureKind) -> None:
    with_a_pull(github).fail_next(kind, 99)
    github.retry_after = 3_600
    error = within(2, lambda: list_day(github.pulls()))
    assert isinstance(error, RateLimited)
    assert error.retry_after == pytest.approx(3_600, abs=5)


def test_a_wrong_token_is_refused(github: ScriptedGitHub) -> None:
    with_a_pull(github)
    with pytest.raises(GitHubAccessDenied, match="GITHUB_TOKEN") as caught:
        list_day(github.pulls(token="ghp_wrong"))
    assert "ghp_wrong" not in str(caught.value)


def test_an_unknown_repository_is_named(github: ScriptedGitHub) -> None:
    with pytest.raises(RepositoryNotFound, match="octo/nothing"):
        with_a_pull(github).pulls().list_merged(Repository("octo", "nothing"), DAY)


def test_an_unknown_pull_request_is_named(github: ScriptedGitHub) -> None:
    with pytest.raises(PullRequestNotFound, match="octo/engine has no pull request #404"):
        with_a_pull(github).pulls().fetch_pull_request(REPOSITORY, 404)


def test_a_pull_request_of_an_unknown_repository_blames_the_repository(github: ScriptedGitHub) -> None:
    with pytest.raises(RepositoryNotFound, match="octo/nothing"):
        with_a_pull(github).pulls().fetch_pull_request(Repository("octo", "nothing"), 1)


def test_a_token_without_the_right_is_refused(github: ScriptedGitHub) -> None:
    def forbid(_answered: int, body: dict[str, Any]) -> None:
        body.update(data=None, errors=[{"type": "FORBIDDEN", "message": "Resource not accessible"}])

    github.after = forbid
    with pytest.raises(GitHubAccessDenied, match="read access"):
        list_day(with_a_pull(github).pulls())


def test_a_query_that_github_could_not_finish_is_unavailable(github: ScriptedGitHub) -> None:
    def break_off(_answered: int, body: dict[str, Any]) -> None:
        body.update(data=None, errors=[{"message": "Something went wrong while executing your query"}])

    github.after = break_off
    with pytest.raises(GitHubUnavailable):
        list_day(with_a_pull(github).pulls())


def pulls_at(url: str) -> GitHubPullRequests:
    return GitHubPullRequests(GitHubClient(url, Auth.Token("ghp_test")), lambda: MORNING)


@pytest.mark.parametrize("act", [list_day, read_files])
def test_a_refused_connection_names_the_setting(act: Act) -> None:
    error = within(5, lambda: act(pulls_at(f"http://127.0.0.1:{closed_port()}")))
    assert isinstance(error, GitHubUnavailable)
    assert "GITHUB_API_URL" in str(error)
    assert is_one_sentence(str(error))


def test_an_address_without_graphql_names_the_setting(github: ScriptedGitHub) -> None:
    """No repository is missing: GitHub says so with a success and an error in it."""
    with_a_pull(github)
    error = within(5, lambda: list_day(pulls_at(f"{github.url}/api")))
    assert isinstance(error, ConfigurationError)
    assert "GITHUB_API_URL" in str(error)
    assert is_one_sentence(str(error))


@pytest.mark.parametrize("status", [200, 404])
def test_a_page_of_whoever_stands_between_names_the_setting(status: int) -> None:
    with WebPage(status) as world:
        error = within(5, lambda: list_day(pulls_at(world.url)))
    assert isinstance(error, PrdigestError)
    assert "GITHUB_API_URL" in str(error)
    assert is_one_sentence(str(error))


@pytest.mark.parametrize("answer", ["[]", "null", "{}", '{"data": []}', '{"data": "x", "errors": "y"}'])
def test_json_of_something_else_names_the_setting(answer: str) -> None:
    with Saying(answer) as world:
        error = within(5, lambda: list_day(pulls_at(world.url)))
    assert isinstance(error, GitHubUnavailable)
    assert "GITHUB_API_URL" in str(error)


class Saying(Loopback):
    """Answers everything with the same JSON."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def handle(self, request: Request) -> Response:
        return Response(200, self._text.encode(), {"Content-Type": "application/json"})
