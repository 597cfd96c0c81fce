"""The releases of a repository: what is out, oldest first, in one call."""

from __future__ import annotations

from datetime import timedelta

import pytest
from github import Auth

from bot.adapters.github import GitHubClient, GitHubReleases
from bot.domain.contract.releases import Release
from bot.domain.errors import RepositoryNotFound
from bot.domain.pull_requests.models import Repository
from tests.adapters.worlds import REPO, ScriptedGitHub
from tests.emulators.github.store import ReleaseRecord
from tests.helpers.builders import NOON


def source(github: ScriptedGitHub) -> GitHubReleases:
    return GitHubReleases(GitHubClient(github.url, Auth.Token(github.token)))


def test_what_is_out_is_listed_oldest_first(github: ScriptedGitHub) -> None:
    github.add_releases(
        REPO,
        ReleaseRecord("v1.1.0", NOON),
        ReleaseRecord("v1.0.0", NOON - timedelta(days=9)),
        ReleaseRecord("v1.2.0", None),
        ReleaseRecord("v1.2.0rc1", NOON),
        ReleaseRecord("v1.3.0", NOON, is_prerelease=True),
        ReleaseRecord("nightly", NOON),
    )
    assert source(github).list_releases(Repository.parse(REPO)) == (
        Release("v1.0.0", (1, 0, 0), NOON - timedelta(days=9)),
        Release("v1.1.0", (1, 1, 0), NOON),
    )
    assert len(github.calls) == 1


def test_a_repository_may_have_none_or_be_unknown(github: ScriptedGitHub) -> None:
    github.add(REPO)
    assert source(github).list_releases(Repository.parse(REPO)) == ()
    with pytest.raises(RepositoryNotFound, match="octo/nothing"):
        source(github).list_releases(Repository("octo", "nothing"))
