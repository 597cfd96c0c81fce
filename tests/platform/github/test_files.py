from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from bot.platform.pulls.models import ChangedFile, PullRequest
from tests.emulators.github.server import changed_file
from tests.emulators.github.server import pull as record
from tests.helpers.builders import REPOSITORY
from tests.helpers.worlds import REPO, ScriptedGitHub

FILES = f"/repos/{REPO}/pulls/1/files"


def load_files(github: ScriptedGitHub, files: Iterable[dict[str, Any]], **fields: Any) -> PullRequest:
    github.add(REPO, record(1, files=list(files), **fields))
    pulls = github.pulls()
    return pulls.load_files(pulls.fetch_pull_request(REPOSITORY, 1))


def test_a_file_comes_with_its_patch_and_counts(github: ScriptedGitHub) -> None:
    patch = "@@ -1,2 +1,2 @@\n-a\n-b\n+c\n d"
    pull = load_files(github, [changed_file("src/a b.py", patch)])
    assert pull.files == (ChangedFile("src/a b.py", "modified", 1, 2, patch),)


def test_a_pull_request_without_files_costs_no_call(github: ScriptedGitHub) -> None:
    assert load_files(github, []).files == ()
    assert github.calls_to("/repos") == []


def test_a_patch_that_github_does_not_send_is_none(github: ScriptedGitHub) -> None:
    pull = load_files(github, [changed_file("logo.png", None, status="added")])
    assert pull.files == (ChangedFile("logo.png", "added", 0, 0, None),)


def test_a_renamed_file_names_its_previous_path(github: ScriptedGitHub) -> None:
    pull = load_files(github, [changed_file("new.py", None, status="renamed", previous_filename="old.py")])
    assert pull.files == (ChangedFile("new.py", "renamed", 0, 0, None, previous_path="old.py"),)


def test_284_files_come_from_three_pages_in_githubs_order(github: ScriptedGitHub) -> None:
    names = [f"src/{(n * 97) % 284:03}.py" for n in range(284)]
    pull = load_files(github, map(changed_file, names))
    assert [file.path for file in pull.files or ()] == names
    assert [call.query["page"] for call in github.calls_to(FILES)[1:]] == ["2", "3"]
    assert len(github.calls_to("/repos")) == 3


@pytest.mark.slow
def test_files_stop_at_3000_and_the_count_says_that_there_are_more(github: ScriptedGitHub) -> None:
    pull = load_files(github, (changed_file(f"f{n}", "+x") for n in range(3_050)))
    assert (len(pull.files or ()), pull.changed_files) == (3_000, 3_050)


@pytest.mark.slow
def test_threads_get_the_files_of_their_own_pull_request(github: ScriptedGitHub) -> None:
    count = 160
    github.add(REPO, *(record(n, files=[changed_file(f"of/{n}.py")]) for n in range(1, count + 1)))
    pulls = github.pulls()
    bare_pulls = [pulls.fetch_pull_request(REPOSITORY, n) for n in range(1, count + 1)]
    with ThreadPoolExecutor(16) as pool:
        loaded_pulls = list(pool.map(pulls.load_files, bare_pulls))
    assert [[file.path for file in pull.files or ()] for pull in loaded_pulls] == [
        [f"of/{n}.py"] for n in range(1, count + 1)
    ]


@pytest.mark.slow
def test_threads_get_the_pull_request_they_asked_for(github: ScriptedGitHub) -> None:
    github.add(REPO, *(record(n) for n in range(1, 97)))
    pulls = github.pulls()
    with ThreadPoolExecutor(16) as pool:
        pull_requests = list(pool.map(lambda number: pulls.fetch_pull_request(REPOSITORY, number), range(1, 97)))
    assert [pull.title for pull in pull_requests] == [f"Change part {n}" for n in range(1, 97)]
