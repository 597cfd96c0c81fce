from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from redis import Redis

from bot.cli import run_cli
from bot.errors import UsageError
from bot.platform.store.due_queue import DueQueue, ProfileRefresh
from tests.emulators.github.server import GitHubEmulator
from tests.emulators.github.store import pull, sha
from tests.emulators.github.trees import Entry, FixedTree, TreeCommit
from tests.helpers.checks import closed_port

FILES = {
    "octo/engine": {"engine/__init__.py": b"from engine.core import run\n", "engine/core.py": b"def run(): ...\n"},
    "octo/plugin": {"plugin/a.py": b"import engine\n\nengine.run()\n"},
}


@pytest.fixture
def github(store: Redis, store_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[GitHubEmulator]:
    with GitHubEmulator() as emulator:
        settings = {"GITHUB_API_URL": emulator.url, "GITHUB_TOKEN": emulator.token, "REDIS_URL": store_url}
        for name, value in {**settings, "PRDIGEST_REPO": "octo/engine"}.items():
            monkeypatch.setenv(name, value)
        for number, (repository, files) in enumerate(FILES.items(), 1):
            add_commit(emulator, repository, number, files)
        yield emulator


def add_commit(github: GitHubEmulator, repository: str, number: int, files: Mapping[str, bytes]) -> None:
    github.add(repository, pull(number, merged_at=datetime.now(UTC) - timedelta(days=30)))
    tree = FixedTree({path: Entry(data) for path, data in files.items()})
    github.add_commit(repository, TreeCommit(sha(f"merge {number}"), tree))


def read_output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    run_cli(["profile", *arguments])
    return capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.usefixtures("github")
def test_a_profile_of_a_repository_is_scanned_at_once_and_each_day(
    capsys: pytest.CaptureFixture[str], store: Redis
) -> None:
    line = read_output(capsys, "add", "Plugin", "--repo", "octo/plugin")
    assert line.startswith(f"plugin: octo/plugin at {sha('merge 2')[:9]} on octo/engine · ")
    assert "in 1 file" in line
    due = DueQueue(store).get_time(ProfileRefresh("plugin"))
    assert due is not None
    assert timedelta(hours=23) < due - datetime.now(UTC) <= timedelta(days=1)
    assert read_output(capsys, "list") == line
    shown = read_output(capsys, "show", "plugin", "--uses")
    assert "Packages: engine" in shown
    assert "plugin/a.py:3 calls engine.run" in shown
    assert read_output(capsys, "remove", "plugin") == "Removed.\n"
    assert read_output(capsys, "list") == ""
    assert DueQueue(store).get_time(ProfileRefresh("plugin")) is None


@pytest.mark.slow
@pytest.mark.usefixtures("github")
def test_what_is_shown_as_json_can_be_added_as_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    read_output(capsys, "add", "plugin", "--repo", "octo/plugin")
    file = tmp_path / "plugin.json"
    file.write_text(read_output(capsys, "show", "plugin", "--json"), encoding="utf-8")
    line = read_output(capsys, "add", "laptop", "--file", str(file))
    assert line.startswith("laptop: a file at")
    uses = [read_output(capsys, "show", name, "--uses").splitlines()[-1] for name in ("plugin", "laptop")]
    assert uses[0] == uses[1]


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("lack", ["GITHUB_TOKEN", "network"])
def test_a_file_is_added_shown_and_listed_without_a_token_or_github(
    lack: str, store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REDIS_URL", store_url)
    if lack == "network":
        monkeypatch.setenv("GITHUB_TOKEN", "ghp_none")
        monkeypatch.setenv("GITHUB_API_URL", f"http://127.0.0.1:{closed_port()}")
    tree, file = tmp_path / "team", tmp_path / "team.json"
    tree.mkdir()
    (tree / "a.py").write_text("import engine\n\nengine.run()\n")
    run_cli(["profile", "scan", str(tree), "--package", "engine", "--out", str(file)])
    capsys.readouterr()
    added, told = read_output(
        capsys, "add", "laptop", "--upstream", "octo/engine", "--file", str(file)
    ).splitlines()
    assert added.startswith("laptop: a file on octo/engine · ")
    assert told.startswith("Its names are not looked up in octo/engine yet; the clock tries each day: ")
    assert "failed" not in added + told
    assert "a.py:3 calls engine.run" in read_output(capsys, "show", "laptop", "--uses")
    assert read_output(capsys, "list").startswith("laptop: a file on octo/engine · ")


def test_the_help_of_add_names_no_default_of_the_repository(capsys: pytest.CaptureFixture[str]) -> None:
    told = " ".join(read_output(capsys, "add", "--help").split())
    assert "--repo OWNER/NAME Repository of the team's tree, which the bot scans each day. --upstream" in told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("add", "a"), "either --repo owner/name or --file"),
        (("add", "a b", "--repo", "octo/plugin"), "not a name of a profile"),
        (("add", "a", "--repo", "octo/nothing"), "the scan failed: GitHub has no repository octo/nothing"),
        (("show", "nobody"), "no profile"),
        (("remove", "nobody"), "no profile"),
    ],
)
@pytest.mark.usefixtures("github")
def test_what_is_wrong_is_said_in_a_sentence(arguments: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        run_cli(["profile", *arguments])


@pytest.mark.usefixtures("github")
@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\xff", b'{"version": 9}', b"[" * 100_000])
def test_a_file_that_is_no_profile_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "plugin.json"
    file.write_bytes(content)
    with pytest.raises(UsageError, match="profile"):
        run_cli(["profile", "add", "plugin", "--file", str(file)])
