from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from github import Auth
from redis import Redis

from bot.app import open_app
from bot.connections.sources import LiveSources, add_mirror, build_mirror
from bot.errors import GitHubUnavailable, MirrorUnavailable
from bot.features.digest.service import build_digest
from bot.platform.git.folder import MirrorFolder, check_mirror, measure_size
from bot.platform.github.client import read_git_token
from bot.platform.models.claude import CLAUDE
from bot.settings import load_settings
from impact.repository import Repository
from impact.testing.clones import building, git, needs_git
from tests.connections.test_mirrored_files import KnownFiles
from tests.connections.test_sources import Known
from tests.doctor.findings import format_findings
from tests.helpers.builders import DAY, REPOSITORY, changed_file, pull
from tests.helpers.checks import closed_port
from tests.helpers.doubles import KnownPulls, Sleeps
from tests.helpers.git_server import TOKEN, GitServer
from tests.helpers.worlds import MORNING, ScriptedGitHub

pytestmark = [needs_git, pytest.mark.slow]

Env = pytest.MonkeyPatch
ENGINE = Repository("octo", "engine")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: Env) -> Iterator[GitServer]:
    with building(tmp_path / "made") as builder:
        builder.commit("Begin (#1)", {"a.py": b"retries = 1\n"})
    git(
        tmp_path, "clone", "-q", "--bare", str(tmp_path / "made"), str(tmp_path / "served" / "octo" / "engine.git")
    )
    with GitServer(tmp_path / "served") as running:
        monkeypatch.setenv("GITHUB_API_URL", f"{running.url}/api/v3")
        monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
        monkeypatch.setenv("PRDIGEST_MIRROR", str(tmp_path / "mirrors"))
        yield running


def test_without_a_folder_github_alone_is_read() -> None:
    settings, github = load_settings(), KnownFiles("github")
    assert build_mirror(settings, lambda: MORNING) is None
    assert add_mirror(settings, github) is github
    sources = LiveSources(settings, lambda: MORNING, CLAUDE)
    assert (sources.source_mirror, sources.source_search) == (None, None)


def test_without_a_setting_it_is_in_the_folder_of_the_state(
    server: GitServer, tmp_path: Path, monkeypatch: Env
) -> None:
    monkeypatch.delenv("PRDIGEST_MIRROR")
    monkeypatch.setenv("PRDIGEST_STATE_DIR", str(tmp_path / "state"))
    sources = LiveSources(load_settings(), lambda: MORNING, CLAUDE)
    assert sources.source_mirror is not None
    sources.source_mirror.update(ENGINE)
    folder = MirrorFolder(tmp_path / "state" / "mirror", ENGINE)
    assert (folder.find_problem(), folder.read_window()) == ("", (180, MORNING - timedelta(days=180)))
    # the token is in no file
    texts = [path.read_bytes() for path in (tmp_path / "state").rglob("*") if path.is_file()]
    assert not any(TOKEN.encode() in text for text in texts)
    # all of the history
    monkeypatch.setenv("PRDIGEST_MIRROR_DAYS", "0")
    mirror = build_mirror(load_settings(), lambda: MORNING + timedelta(hours=1))
    assert mirror is not None
    mirror.update(ENGINE)
    assert (folder.find_problem(), folder.read_window()) == ("", None)


def test_it_is_fetched_with_the_token_and_read_before_github(server: GitServer, tmp_path: Path) -> None:
    settings = load_settings()
    sources = LiveSources(settings, lambda: MORNING, CLAUDE)
    assert sources.source_mirror is not None
    assert sources.source_search is not None
    sources.source_mirror.update(ENGINE)
    assert {call.token for call in server.calls} == {TOKEN}
    commit, unknown = git(tmp_path / "made", "rev-parse", "main"), "0" * 40
    github = KnownFiles("github", [unknown])
    files = add_mirror(settings, github)
    assert files.read_files(ENGINE, commit, ["a.py"])["a.py"].text == "retries = 1\n"
    assert github.asked == []
    assert files.read_files(ENGINE, unknown, ["a.py"])["a.py"].text == "github"
    assert [use.line for use in sources.source_search.find_uses(ENGINE, commit, "retries", 9).uses] == [1]
    folder = MirrorFolder(tmp_path / "mirrors", ENGINE)
    assert (folder.find_problem(), folder.read_update_time(), folder.read_failure()) == ("", MORNING, None)
    assert 500 < measure_size(folder.path) < 100_000


def test_a_digest_brings_it_up_to_date_and_does_without(
    server: GitServer,
    store: Redis,
    store_url: str,
    tmp_path: Path,
    monkeypatch: Env,
    caplog: pytest.LogCaptureFixture,
) -> None:
    store.ping()
    monkeypatch.setenv("REDIS_URL", store_url)
    (tmp_path / "served" / "octo").rename(tmp_path / "served" / REPOSITORY.owner)
    served = tmp_path / "served" / REPOSITORY.owner
    (served / "engine.git").rename(served / f"{REPOSITORY.name}.git")
    pulls = KnownPulls((pull(7, files=(changed_file(),)),))
    for token, is_updated in (("ghp_wrongwrong", False), (TOKEN, True)):
        monkeypatch.setenv("GITHUB_TOKEN", token)
        monkeypatch.setenv("PRDIGEST_MIRROR", str(tmp_path / token))
        known = Known(pulls, source_mirror=build_mirror(load_settings(), lambda: MORNING))
        with open_app(load_settings(), lambda: MORNING, Sleeps(), known) as base:
            digest = build_digest(base, REPOSITORY, DAY, "Engine")
        assert [entry.number for entry in digest.entries] == [7]
        assert MirrorFolder(tmp_path / token, REPOSITORY).exists is is_updated
    assert sum("are read from GitHub where the mirror lacks them" in line for line in caplog.messages) == 1


def test_the_last_failure_is_told_to_the_doctor(server: GitServer, tmp_path: Path, monkeypatch: Env) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_wrongwrong")
    mirror = build_mirror(load_settings(), lambda: MORNING)
    assert mirror is not None
    with pytest.raises(MirrorUnavailable) as caught:
        mirror.update(ENGINE)
    [*_, line] = format_findings(check_mirror(tmp_path / "mirrors", (ENGINE,), lambda: MORNING))
    assert line == f"! Mirror octo/engine: none yet; the last update failed -> {caught.value}"
    assert {call.token for call in server.calls} <= {"", "ghp_wrongwrong"}


def test_without_credentials_it_says_what_to_set(server: GitServer, monkeypatch: Env) -> None:
    monkeypatch.delenv("GITHUB_TOKEN")
    mirror = build_mirror(load_settings(), lambda: MORNING)
    assert mirror is not None
    with pytest.raises(MirrorUnavailable, match="Set GITHUB_TOKEN"):
        mirror.update(ENGINE)
    assert server.calls == []


def test_an_app_has_a_token_of_its_installation(github: ScriptedGitHub) -> None:
    app = Auth.AppAuth(
        "1", sign_func=Auth.JwtSigner("a key that is long enough for the algorithm", "HS256").jwt_sign
    )
    assert read_git_token(github.url, app.get_installation_auth(12)).startswith("ghs_")
    assert len(github.calls_to("/app/installations/12/access_tokens")) == 1


def test_an_app_without_a_token_is_a_sentence() -> None:
    app = Auth.AppAuth(
        "1", sign_func=Auth.JwtSigner("a key that is long enough for the algorithm", "HS256").jwt_sign
    )
    with pytest.raises(GitHubUnavailable, match="gave the app no token"):
        read_git_token(f"http://127.0.0.1:{closed_port()}", app.get_installation_auth(12))
