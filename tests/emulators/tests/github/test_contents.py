"""The GitHub emulator's calls for commits, files and comments, asked by the client that the product uses."""

import pytest
from github.GithubException import UnknownObjectException

from tests.emulators.github.client import REPO, client
from tests.emulators.github.server import GitHubEmulator, pull
from tests.emulators.github.trees import Entry, FixedTree, TreeCommit


def test_a_pull_request_has_one_commit_on_its_base(hub: GitHubEmulator) -> None:
    with client(hub) as github:
        repository = github.get_repo(REPO)
        pull_request = repository.get_pull(7)
        assert [each.sha for each in pull_request.get_commits()] == [pull(7).head_sha]
        compared = repository.compare(pull(7).base_sha, pull(7).head_sha)
        assert compared.merge_base_commit.sha == pull(7).base_sha
        assert [each.filename for each in compared.files] == ["src/part_7.py"]
        with pytest.raises(UnknownObjectException):
            _ = repository.compare(pull(6).base_sha, pull(7).head_sha).status


def test_the_default_branch_has_a_commit(hub: GitHubEmulator) -> None:
    with client(hub) as github:
        repository = github.get_repo(REPO)
        tip = repository.get_branch("main").commit.sha
        assert repository.get_commit("main").sha == tip
        assert repository.get_languages()["Python"] == 1
        with pytest.raises(UnknownObjectException):
            repository.get_branch("topic")


def test_a_file_is_that_of_the_commit(hub: GitHubEmulator) -> None:
    oid = "ab" * 20
    entries = {"src/a b.py": Entry("text “ü”\n".encode()), "large.py": Entry(b"x" * 1_000_001)}
    hub.add_commit(REPO, TreeCommit(oid, FixedTree(entries)))
    with client(hub) as github:
        repository = github.get_repo(REPO)
        content_file = repository.get_contents("src/a b.py", ref=oid)
        assert not isinstance(content_file, list)
        assert (content_file.decoded_content.decode(), content_file.size) == ("text “ü”\n", 14)
        large = repository.get_contents("large.py", ref=oid)
        assert not isinstance(large, list)
        assert (large.encoding, large.size) == ("none", 1_000_001)
        for path, ref in (("src/a b.py", "cd" * 20), ("other.py", oid)):
            with pytest.raises(UnknownObjectException):
                repository.get_contents(path, ref=ref)


def test_comments_and_descriptions_are_taken(hub: GitHubEmulator) -> None:
    with client(hub) as github:
        pull_request = github.get_repo(REPO).get_pull(7)
        comment = pull_request.create_issue_comment("Working on it")
        assert comment.body == "Working on it"
        comment.edit("Done")
        assert comment.body == "Done"
        comment.delete()
        pull_request.edit(body="What it does")
        assert pull_request.body == "What it does"
    assert [call.method for call in hub.calls[-4:]] == ["POST", "PATCH", "DELETE", "PATCH"]
