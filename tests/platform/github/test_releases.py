from datetime import timedelta
from typing import Any

import pytest
from github import Auth

from bot.errors import GitHubAccessDenied, RepositoryNotFound
from bot.platform.github.client import GitHubClient
from bot.platform.github.source_files import GitHubReleases
from impact.contract.deprecations import Release
from impact.repository import Repository
from tests.emulators.github.store import ReleaseRecord, TagRecord, pull, sha
from tests.helpers.builders import NOON
from tests.helpers.worlds import REPO, ScriptedGitHub


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


def test_a_tag_that_is_a_version_counts_without_a_release(github: ScriptedGitHub) -> None:
    github.add_releases(REPO, ReleaseRecord("v1.0.0", NOON), ReleaseRecord("v1.3.0", NOON, is_prerelease=True))
    github.add_tags(
        REPO,
        *(
            TagRecord(name, sha("merge 1"), NOON + timedelta(days=2), is_annotated=name == "1.2.0")
            for name in ("v1.0.0", "v1.1", "1.2.0", "v1.3.0", "v1.4.0rc1", "tools-v9.9.0", "nightly-2026.1.2")
        ),
    )
    releases = source(github).list_releases(Repository.parse(REPO))
    assert [(each.name, each.released_at - NOON) for each in releases] == [
        ("v1.0.0", timedelta()),
        ("v1.1", timedelta(days=2)),
        ("1.2.0", timedelta(days=2)),
    ]
    assert len(github.calls) == 1


@pytest.mark.parametrize("hidden", ["releases", "refs"])
def test_releases_that_may_not_be_read_are_not_none(github: ScriptedGitHub, hidden: str) -> None:
    github.add_releases(REPO, ReleaseRecord("v1.0.0", NOON))

    def hide(_answered: int, body: dict[str, Any]) -> None:
        body["data"]["repository"][hidden] = None
        body["errors"] = [{"type": "FORBIDDEN", "path": ["repository", hidden], "message": "Not accessible"}]

    github.after = hide
    with pytest.raises(GitHubAccessDenied, match="give it read access to contents"):
        source(github).list_releases(Repository.parse(REPO))


@pytest.mark.parametrize("is_annotated", [False, True])
@pytest.mark.parametrize("own", [0, 3])
def test_a_tag_holds_merges_of_the_default_branch(github: ScriptedGitHub, own: int, *, is_annotated: bool) -> None:
    merges = (pull(number, merged_at=NOON + timedelta(hours=number)) for number in (1, 2, 3))
    github.add(REPO, *merges, pull(9, merged_at=NOON + timedelta(hours=2, minutes=1), base_ref="releases/v1"))
    github.add_tags(REPO, TagRecord("v1.2.0", sha("merge 2"), is_annotated=is_annotated, own=own))
    assert source(github).find_commit(Repository.parse(REPO), "v1.2.0") == sha("merge 2")
    assert len(github.calls) == 1


def test_an_unknown_tag_has_no_commit(github: ScriptedGitHub) -> None:
    github.add(REPO)
    github.add_tags(REPO, TagRecord("v1.2.0", sha("merge 2"), own=100))
    assert source(github).find_commit(Repository.parse(REPO), "v1.2.0") == ""
    assert source(github).find_commit(Repository.parse(REPO), "v9") == ""


def test_a_repository_may_have_none_or_be_unknown(github: ScriptedGitHub) -> None:
    github.add(REPO)
    assert source(github).list_releases(Repository.parse(REPO)) == ()
    with pytest.raises(RepositoryNotFound, match="octo/nothing"):
        source(github).list_releases(Repository("octo", "nothing"))
