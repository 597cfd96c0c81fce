from datetime import timedelta

import pytest
from github import Auth

from bot.errors import RepositoryNotFound, SourceUnavailable
from bot.platform.github.client import GitHubClient
from bot.platform.github.source_files import GitHubTrees
from bot.platform.source.models import RepositoryTree, TreeFile
from impact.repository import Repository
from tests.emulators.github.server import pull
from tests.emulators.github.store import sha
from tests.emulators.github.trees import EXECUTABLE, SUBMODULE, SYMLINK, Entry, FixedTree, TreeCommit, hash_object
from tests.helpers.builders import NOON
from tests.helpers.worlds import REPO, ScriptedGitHub

REPOSITORY = Repository.parse(REPO)
ENTRIES = {
    "a.py": Entry(b"a = 1\n"),
    "src/größe.py": Entry(b"b"),
    "run.sh": Entry(b"echo\n", EXECUTABLE),
    "link": Entry(b"a.py", SYMLINK),
    "vendored": Entry(mode=SUBMODULE),
}


def trees(github: ScriptedGitHub) -> GitHubTrees:
    return GitHubTrees(GitHubClient(github.url, Auth.Token(github.token)))


def test_the_files_of_the_newest_commit_are_listed(github: ScriptedGitHub) -> None:
    commit = sha("merge 7")
    github.add(REPO, pull(7))
    github.add_commit(REPO, TreeCommit(commit, FixedTree(ENTRIES)))
    files = [
        TreeFile(path, hash_object(b"blob", ENTRIES[path].data), len(ENTRIES[path].data))
        for path in ("a.py", "src/größe.py", "run.sh")
    ]
    assert trees(github).list_tree(REPOSITORY) == RepositoryTree(commit, tuple(files))
    assert len(github.calls) == 2
    # by the name that it has here, which GitHub goes on to know
    github.store.rename(REPO, "elsewhere/motor")
    assert trees(github).list_tree(REPOSITORY) == RepositoryTree(commit, tuple(files))


def test_an_unknown_repository_is_named(github: ScriptedGitHub) -> None:
    with pytest.raises(RepositoryNotFound, match="octo/nothing"):
        trees(github).list_tree(Repository("octo", "nothing"))


def test_an_earlier_tree_is_that_of_the_last_commit_before(github: ScriptedGitHub) -> None:
    for number, days in ((7, 2), (8, 0)):
        github.add(REPO, pull(number, merged_at=NOON - timedelta(days=days)))
        github.add_commit(REPO, TreeCommit(sha(f"merge {number}"), FixedTree({f"{number}.py": Entry(b"")})))
    assert [file.path for file in trees(github).list_tree(REPOSITORY).files] == ["8.py"]
    assert [file.path for file in trees(github).list_tree(REPOSITORY, NOON - timedelta(days=1)).files] == ["7.py"]
    with pytest.raises(SourceUnavailable, match="no commit until 2026-02-18"):
        trees(github).list_tree(REPOSITORY, NOON - timedelta(days=10))
