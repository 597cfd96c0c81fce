from datetime import UTC, datetime, timedelta

import pytest
from github import Auth

from bot.platform.github.client import GitHubRateLimits
from bot.platform.pulls.sources import RateAllowance
from tests.emulators.github.server import FailureKind
from tests.emulators.github.server import pull as record
from tests.helpers.builders import DAY, NOON, REPOSITORY
from tests.helpers.checks import closed_port
from tests.helpers.worlds import REPO, ScriptedGitHub

HOUR = timedelta(hours=1)


def limits(github: ScriptedGitHub, token: str = "ghp_test") -> GitHubRateLimits:  # noqa: S107
    return GitHubRateLimits(github.url, Auth.Token(token))


def test_it_tells_what_is_left_of_both_limits(github: ScriptedGitHub) -> None:
    github.add(REPO, record(1, merged_at=NOON))
    github.set_limit("core", 40)
    pulls = github.pulls()
    pulls.load_files(pulls.list_merged(REPOSITORY, DAY).pulls[0])
    core, graphql = limits(github).list_allowances()
    assert (core.remaining, core.limit) == (39, 40)
    assert (graphql.remaining, graphql.limit) == (4_999, 5_000)
    assert datetime.now(UTC) < core.resets_at <= datetime.now(UTC) + HOUR


def test_asking_costs_nothing(github: ScriptedGitHub) -> None:
    subject = limits(github)
    first, second = (subject.list_allowances() for _ in range(2))
    assert [each.remaining for each in (*first, *second)] == [5_000] * 4
    assert all(isinstance(each, RateAllowance) for each in second)


@pytest.mark.parametrize("kind", ["404", "500", "secondary", "hang_up", "timeout-502-html"])
def test_where_github_does_not_say_nothing_is_known(github: ScriptedGitHub, kind: FailureKind) -> None:
    github.retry_after = 3_600
    github.fail_next(kind)
    assert limits(github).list_allowances() == ()
    assert len(github.calls) == 1


def test_a_refused_token_is_for_the_next_call_to_tell(github: ScriptedGitHub) -> None:
    assert limits(github, "ghp_wrong").list_allowances() == ()


def test_no_server_is_no_answer() -> None:
    assert GitHubRateLimits(f"http://127.0.0.1:{closed_port()}", None).list_allowances() == ()
