"""A mirror and GitHub give the same files, to the byte, whatever a repository holds."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from github import Auth

from bot.platform.git.mirror import GitMirror
from bot.platform.git.reading import MirrorReader
from bot.platform.github.client import GitHubClient
from bot.platform.github.source_files import GitHubSourceFiles
from impact.repository import Repository
from impact.source.models import DiffSide, SourceFile, SourceVersions
from impact.testing.clones import building, git, needs_git
from tests.emulators.github.trees import read_commit
from tests.helpers.git_server import TOKEN, GitServer
from tests.helpers.worlds import REPO, ScriptedGitHub
from tests.platform.git.test_mirror_files import FILES, MODES
from tests.platform.git.test_mirror_files import PROBLEMS as MIRROR_PROBLEMS
from tests.platform.github.test_source_files import BYTES, NO_PATHS, PROBLEMS

pytestmark = [needs_git, pytest.mark.slow]

REPOSITORY = Repository.parse(REPO)
# a lone surrogate can't be sent to GitHub as JSON in UTF-8, and both say so before they ask
ALL_PATHS = [*dict.fromkeys([*FILES, *BYTES, *PROBLEMS, *MIRROR_PROBLEMS, *NO_PATHS])]


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parity")
    with building(folder / "made") as builder:
        builder.commit(
            "Before", {path: (data or b"") + b"old" for path, data in FILES.items() if path not in MODES}
        )
        builder.commit("Merged (#1)", {**BYTES, **FILES}, modes=MODES)
    source = folder / "served" / REPOSITORY.owner / f"{REPOSITORY.name}.git"
    git(folder, "clone", "-q", "--bare", str(folder / "made"), str(source))
    with GitServer(folder / "served") as server:
        GitMirror(folder / "mirrors", server.url, lambda: TOKEN, lambda: datetime.now(UTC)).update(REPOSITORY)
    return folder


@pytest.mark.parametrize("side", DiffSide)
@pytest.mark.parametrize("revision", ["main", "main~1"])
def test_both_give_the_same(clone: Path, github: ScriptedGitHub, revision: str, side: DiffSide) -> None:
    commit = git(clone / "made", "rev-parse", revision)
    github.add_commit(REPO, read_commit(clone / "made", commit))
    by_api = GitHubSourceFiles(GitHubClient(github.url, Auth.Token(github.token)))
    by_git = MirrorReader(clone / "mirrors")
    expected = by_api.read_files(REPOSITORY, commit, ALL_PATHS, side)
    files = by_git.read_files(REPOSITORY, commit, ALL_PATHS, side)
    sides = (ALL_PATHS, []) if side is DiffSide.OLD else ([], ALL_PATHS)
    both = [source.read_versions(REPOSITORY, commit, *sides) for source in (by_api, by_git)]
    assert both[0] == both[1] == SourceVersions(*((files, {}) if side is DiffSide.OLD else ({}, files)))
    differences: dict[str, tuple[SourceFile, SourceFile]] = {
        path: (files[path], expected[path]) for path in ALL_PATHS if files[path] != expected[path]
    }
    assert differences == {}
    assert list(files) == list(expected)
    is_before_all = revision == "main~1" and side is DiffSide.OLD
    assert bool(is_before_all) is not any(file.text for file in files.values())


def test_both_sides_of_a_commit_take_one_call(clone: Path, github: ScriptedGitHub) -> None:
    commit, paths = git(clone / "made", "rev-parse", "main"), list(FILES)[:20]
    github.add_commit(REPO, read_commit(clone / "made", commit))
    by_api = GitHubSourceFiles(GitHubClient(github.url, Auth.Token(github.token)))
    versions = by_api.read_versions(REPOSITORY, commit, paths, paths)
    assert github.queries == 1
    assert versions == MirrorReader(clone / "mirrors").read_versions(REPOSITORY, commit, paths, paths)
    assert versions.old != versions.new
