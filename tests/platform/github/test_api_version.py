"""Which version of its interface GitHub is asked for: the same in every call, whatever it takes as the newest."""

from collections.abc import Callable

import pytest
from github import Auth
from pydantic import SecretStr

from bot.platform.github.check import check_github
from bot.platform.github.client import GitHubRateLimits
from bot.settings import Settings
from tests.doctor.findings import outcome
from tests.emulators.github.server import pull as record
from tests.helpers.builders import DAY, NOON, REPOSITORY
from tests.helpers.builders import pull as known_pull
from tests.helpers.worlds import REPO, ScriptedGitHub

TOKEN = Auth.Token("ghp_test")


def examine(url: str) -> list[str]:
    settings = Settings(github_api_url=url, github_token=SecretStr("ghp_test"))
    return outcome(check_github(settings, [REPOSITORY], lambda: NOON, seconds=2))[0]


ACTS: dict[str, tuple[Callable[[ScriptedGitHub], object], set[str]]] = {
    "day": (lambda github: github.pulls().list_merged(REPOSITORY, DAY), {"/graphql"}),
    "one": (lambda github: github.pulls().fetch_pull_request(REPOSITORY, 1), {"/graphql"}),
    "files": (lambda github: github.pulls().load_files(known_pull(1)), {"/repos/octo/engine/pulls/1/files"}),
    "doctor": (lambda github: examine(github.url), {"/rate_limit", "/graphql"}),
}


@pytest.mark.parametrize(("act", "paths"), ACTS.values(), ids=ACTS)
def test_every_call_names_the_version_and_the_media_type(
    github: ScriptedGitHub, act: Callable[[ScriptedGitHub], object], paths: set[str]
) -> None:
    github.add(REPO, record(1, merged_at=NOON))
    act(github)
    assert {call.path for call in github.calls} == paths
    for call in github.calls:
        assert call.headers["x-github-api-version"] == "2022-11-28"
        assert call.headers["accept"] == "application/vnd.github+json"


def test_the_limits_are_asked_for_in_the_same_version(github: ScriptedGitHub) -> None:
    GitHubRateLimits(github.url, TOKEN).list_allowances()
    assert [call.headers["x-github-api-version"] for call in github.calls] == ["2022-11-28"]
