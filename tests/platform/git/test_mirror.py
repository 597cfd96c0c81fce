"""Mirrors over real HTTP: made once, brought up to date, made again when they are broken, and never half made."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from bot.errors import ConfigurationError, MirrorUnavailable, SourceUnavailable
from bot.platform import deadlines
from bot.platform.deadlines import ProcessShutdown, ShutdownSignal
from bot.platform.git.folder import MirrorFolder, measure_size
from bot.platform.git.mirror import MirrorLimits, is_own_address
from bot.platform.git.reading import MirrorReader
from impact.repository import Repository
from impact.source.models import DiffSide
from impact.testing.clones import BEGIN, Builder, git, lines, needs_git
from tests.helpers.checks import closed_port
from tests.helpers.git_server import TOKEN, GitServer
from tests.platform.git.conftest import ENGINE, MirrorSetup

pytestmark = [needs_git, pytest.mark.slow]

Serve = Callable[[Callable[[Builder], object]], MirrorSetup]
ANY = MirrorLimits()
SHORT = MirrorLimits(clone_seconds=1.5, fetch_seconds=1.5, lock_seconds=0.3)


def catch_refusal(setup: MirrorSetup, limits: MirrorLimits = ANY) -> str:
    with pytest.raises(MirrorUnavailable) as caught:
        setup.update(limits)
    assert TOKEN not in str(caught.value)
    assert not setup.token or setup.token not in str(caught.value)
    return str(caught.value)


def trigger_when_stalled(setup: MirrorSetup, shutdown: ShutdownSignal) -> None:
    setup.server.has_stalled.wait(10)
    shutdown.trigger()


def read(setup: MirrorSetup, commit: str = "") -> str:
    return setup.files.read_files(ENGINE, commit or setup.head, ["a.py"])["a.py"].text


def beside(setup: MirrorSetup) -> list[str]:
    """What stands where the mirror is."""
    return sorted(path.name for path in setup.path.parent.iterdir())


class TestUpdates:
    def test_it_is_made_at_first_and_brought_up_to_date_then(self, setup: MirrorSetup) -> None:
        setup.update()
        first = setup.head
        assert read(setup) == "retries = 2\n"
        setup.commit("More (#3)", {"a.py": b"retries = 3\n"})
        with pytest.raises(SourceUnavailable):
            read(setup)
        setup.update()
        assert (read(setup), read(setup, first)) == ("retries = 3\n", "retries = 2\n")
        assert beside(setup) == ["engine.git", "engine~lock"]

    def test_it_is_bare_has_one_branch_and_only_its_user_may_see_it(self, setup: MirrorSetup) -> None:
        git(setup.source, "branch", "other", "main~1")
        git(setup.source, "tag", "v1", "main")
        setup.update()
        assert git(setup.path, "for-each-ref", "--format=%(refname)") == "refs/heads/default"
        assert git(setup.path, "rev-parse", "--is-bare-repository") == "true"
        assert git(setup.path, "fsck", "--full") == ""
        assert {(path.stat().st_mode & 0o077) for path in (setup.root, setup.path.parent, setup.path)} == {0}

    def test_a_branch_that_was_renamed_or_written_anew_is_followed(self, setup: MirrorSetup) -> None:
        setup.update()
        old = setup.head
        git(setup.source, "branch", "-m", "main", "trunk")
        git(setup.source, "update-ref", "refs/heads/trunk", "trunk~1")
        setup.update()
        assert git(setup.path, "rev-parse", "default") == git(setup.source, "rev-parse", "trunk")
        assert read(setup, old) == "retries = 2\n"

    def test_that_of_a_renamed_repository_is_updated_by_its_present_name(self, setup: MirrorSetup) -> None:
        setup.update()
        setup.source = setup.source.rename(setup.source.with_name("motor.git"))
        assert "does not let the token fetch" in catch_refusal(setup)
        setup.present_names[ENGINE] = Repository("octo", "motor")
        setup.commit("More (#3)", {"a.py": b"retries = 3\n"})
        setup.update()
        assert (read(setup), beside(setup)) == ("retries = 3\n", ["engine.git", "engine~lock"])

    def test_a_fresh_one_is_not_fetched_again(self, setup: MirrorSetup) -> None:
        for _ in range(3):
            setup.mirror().update(ENGINE)
        assert setup.server.fetches == 1

    def test_many_updates_leave_few_files_of_objects(self, setup: MirrorSetup) -> None:
        commits = []
        for number in range(24):
            commits.append(setup.commit(f"More (#{number})", {"a.py": b"retries = %d\n" % number}))
            setup.update()
        assert len(list(setup.path.glob("objects/pack/*.pack"))) < 20
        assert [read(setup, commit) for commit in commits] == [f"retries = {number}\n" for number in range(24)]

    def test_one_below_another_folder_is_not_that_folder(self, setup: MirrorSetup, tmp_path: Path) -> None:
        git(tmp_path, "init", "-q", "outer")
        setup.root = tmp_path / "outer" / "mirrors"
        setup.update()
        assert read(setup) == "retries = 2\n"

    def test_a_folder_may_be_named_from_here(
        self, setup: MirrorSetup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        setup.root = Path("mirrors")
        setup.update()
        assert read(setup) == "retries = 2\n"


def serve_days(serve: Serve, *days: int) -> MirrorSetup:
    """A repository with a commit on each of some days, which count from its first."""

    def build(builder: Builder) -> None:
        for day in days:
            builder.commit(f"Day {day}", {"a.py": b"day = %d\n" % day}, at=BEGIN + timedelta(days=day))

    made = serve(build)
    made.now = BEGIN + timedelta(days=days[-1] + 1)
    return made


class TestHistory:
    def test_it_begins_at_a_date_before_which_nothing_is_claimed(self, serve: Serve) -> None:
        setup = serve_days(serve, 0, 10, 20, 30, 40)
        commits = git(setup.source, "rev-list", "--reverse", "main").split()
        setup.update(MirrorLimits(days=25))
        assert git(setup.path, "rev-list", "--count", "default") == "3"
        assert [read(setup, commit) for commit in commits[2:]] == [f"day = {day}\n" for day in (20, 30, 40)]
        for commit in commits[:2]:
            assert not setup.files.has_commit(ENGINE, commit)
            with pytest.raises(SourceUnavailable, match="does not have that commit"):
                setup.search.find_uses(ENGINE, commit, "day", 5)
        with pytest.raises(SourceUnavailable):
            # the parent of its first commit is not there, which does not mean that there was none
            setup.files.read_files(ENGINE, commits[2], ["a.py"], DiffSide.OLD)
        titles = [each.title for each in setup.search.list_changes(ENGINE, commits[-1], "a.py", 9)]
        assert titles == ["Day 40", "Day 30"], "the first commit did not add all files"
        assert not setup.search.has_whole_history(ENGINE)
        assert git(setup.path, "fsck", "--no-dangling") == ""

    def test_an_update_adds_what_is_new_and_nothing_older(self, serve: Serve) -> None:
        setup = serve_days(serve, 0, 10, 20, 30, 40)
        limits = MirrorLimits(days=25)
        setup.update(limits)
        old = git(setup.source, "rev-parse", "main~4")
        identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        tree = git(setup.source, "rev-parse", "main^{tree}")
        # a branch that began before the mirror does
        side = git(setup.source, *identity, "commit-tree", "-p", old, "-m", "Beside", tree)
        parents = ("-p", "main", "-p", side)
        merge = git(setup.source, *identity, "commit-tree", *parents, "-m", "Join", tree)
        git(setup.source, "update-ref", "refs/heads/main", merge)
        setup.update(limits)
        assert read(setup, merge) == "day = 40\n"
        assert not setup.files.has_commit(ENGINE, old)

    def test_a_repository_at_rest_has_its_last_commits(self, serve: Serve) -> None:
        setup = serve_days(serve, 0, 1)
        setup.now += timedelta(days=400)
        for _ in range(2):
            setup.update(MirrorLimits(days=25))
            assert read(setup) == "day = 1\n"

    @pytest.mark.parametrize(("later", "days", "count"), [(60, 25, "1"), (1, 5, "1"), (1, 0, "5"), (1, 25, "3")])
    def test_it_is_made_again_when_it_reaches_too_far_or_is_to_be_another(
        self, serve: Serve, later: int, days: int, count: str
    ) -> None:
        setup = serve_days(serve, 0, 10, 20, 30, 40)
        setup.update(MirrorLimits(days=25))
        setup.now += timedelta(days=later)
        if later > 25:
            setup.commit("Now", {"a.py": b"now\n"})
        setup.update(MirrorLimits(days=days))
        assert git(setup.path, "rev-list", "--count", "default") == count

    @pytest.mark.parametrize("is_removed", [True, False])
    def test_one_that_is_too_large_has_fewer_days_or_is_told(self, serve: Serve, *, is_removed: bool) -> None:
        large = random.Random(1).randbytes(400_000)  # noqa: S311 (nothing secret)

        def build(builder: Builder) -> None:
            builder.commit("Large", {"a.bin": large}, at=BEGIN)
            builder.commit("Small", {"a.py": b"a\n", "a.bin": None if is_removed else large[1:]})
            builder.commit("Later", {"a.py": b"b\n"}, at=BEGIN + timedelta(days=40))

        setup, limits = serve(build), MirrorLimits(days=60, max_bytes=200_000)
        setup.now = BEGIN + timedelta(days=41)
        if not is_removed:
            assert "larger than 0.0002 GB; set PRDIGEST_MIRROR_DAYS=0" in catch_refusal(setup, limits)
            assert beside(setup) == ["engine~failed", "engine~lock"]
            return
        setup.update(limits)
        assert (read(setup), measure_size(setup.path) < 200_000) == ("b\n", True)
        window = MirrorFolder(setup.root, ENGINE).read_window()
        assert window == (60, setup.now - timedelta(days=14))
        setup.update(limits)
        assert MirrorFolder(setup.root, ENGINE).read_window() == window, "it goes on"


class TestTokens:
    def test_the_token_opens_it_and_is_nowhere_on_the_disk(self, setup: MirrorSetup) -> None:
        setup.update()
        assert {call.token for call in setup.server.calls} == {TOKEN}
        setup.update()
        secrets = [TOKEN.encode(), b"eC1hY2Nlc3MtdG9rZW4", b"Authorization"]
        files = [path for path in setup.root.rglob("*") if path.is_file()]
        assert files
        assert [path for path in files if any(secret in path.read_bytes() for secret in secrets)] == []

    def test_the_token_is_in_no_argument(self, setup: MirrorSetup, tmp_path: Path) -> None:
        spy = tmp_path / "git"
        spy.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {tmp_path}/arguments\nexec git "$@"\n')
        spy.chmod(0o700)
        setup.mirror(program=str(spy)).update(ENGINE)
        assert "fetch" in (tmp_path / "arguments").read_text()
        assert TOKEN not in (tmp_path / "arguments").read_text()
        assert "Authorization" not in (tmp_path / "arguments").read_text()

    def test_a_public_one_needs_no_token(self, setup: MirrorSetup) -> None:
        setup.server.token = setup.token = ""
        setup.mirror().update(ENGINE)
        assert read(setup) == "retries = 2\n"

    @pytest.mark.parametrize("token", ["", "ghp_wrongwrongwrong"])
    def test_a_wrong_or_missing_token_is_a_sentence(
        self, setup: MirrorSetup, token: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        setup.token = token
        with pytest.raises(MirrorUnavailable, match="does not let the token fetch Octo/Engine"):
            setup.update()
        assert not setup.path.exists()
        assert not token or token not in caplog.text

    def test_no_setting_of_the_user_helps_out(
        self, setup: MirrorSetup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        trap, sprung = tmp_path / "trap", tmp_path / "sprung"
        trap.write_text(f"#!/bin/sh\ntouch {sprung}\necho password={TOKEN}\n")
        trap.chmod(0o700)
        (tmp_path / ".gitconfig").write_text(
            f'[credential]\n\thelper = {trap}\n[url "file:///etc/"]\n\tinsteadOf = {setup.server.url}/\n'
        )
        (tmp_path / ".netrc").write_text(f"machine 127.0.0.1 login x-access-token password {TOKEN}\n")
        for name in ("GIT_ASKPASS", "SSH_ASKPASS", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND"):
            monkeypatch.setenv(name, str(trap))
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / ".gitconfig"))
        setup.token = ""
        assert "does not let the token fetch" in catch_refusal(setup)
        assert not sprung.exists()
        assert {call.token for call in setup.server.calls} == {""}

    def test_the_token_goes_to_no_other_address(self, setup: MirrorSetup, tmp_path: Path) -> None:
        with GitServer(tmp_path / "served") as other:
            setup.server.location = other.url
            assert "could not be updated" in catch_refusal(setup)
            assert other.calls == []

    def test_the_certificates_of_a_network_are_those_of_the_rest_of_the_bot(
        self, setup: MirrorSetup, certificate: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("GIT_SSL_CAINFO", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
            monkeypatch.delenv(name, raising=False)
        with GitServer(setup.source.parents[1], certificate=certificate) as server:
            setup.server = server
            assert "could not be updated" in catch_refusal(setup)
            assert server.calls == []
            monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
            setup.update()
            assert {call.token for call in server.calls} == {TOKEN}

    def test_an_error_of_the_token_is_told(self, setup: MirrorSetup) -> None:
        def read_token() -> str:
            raise ConfigurationError("Set GITHUB_TOKEN.")

        mirror = setup.mirror()
        mirror._read_token = read_token
        with pytest.raises(MirrorUnavailable, match=r"Set GITHUB_TOKEN\."):
            mirror.update(ENGINE)

    @pytest.mark.parametrize(
        ("api", "web", "is_own"),
        [
            ("https://api.github.com", "https://github.com", True),
            ("https://api.acme.ghe.com", "https://acme.ghe.com", True),
            ("https://git.example.com/api/v3", "https://git.example.com", True),
            ("http://127.0.0.1:80/api/v3", "http://127.0.0.1:80", True),
            ("http://127.0.0.1:81", "https://github.com", False),
            ("https://api.github.com.example.com", "https://github.com", False),
        ],
    )
    def test_a_token_fits_the_pages_of_the_same_github(self, api: str, web: str, *, is_own: bool) -> None:
        assert is_own_address(api, web) is is_own


class TestFailures:
    def test_no_server(self, setup: MirrorSetup) -> None:
        setup.server = replace_url(setup.server, f"http://127.0.0.1:{closed_port()}")
        assert "could not be updated" in catch_refusal(setup)

    def test_a_repository_that_is_not_there(self, setup: MirrorSetup) -> None:
        setup.source.rename(setup.source.parent / "other.git")
        assert "does not let the token fetch" in catch_refusal(setup)

    def test_no_git(self, setup: MirrorSetup) -> None:
        told = []
        for _ in range(2):
            setup.now += timedelta(hours=1)
            with pytest.raises(MirrorUnavailable, match="install git, or set PRDIGEST_MIRROR=off") as caught:
                setup.mirror(program="nosuchgit").update(ENGINE)
            told.append(caught.value.is_known)
        assert told == [False, True], "it is told once"

    def test_a_folder_that_can_not_be_written(self, setup: MirrorSetup) -> None:
        setup.root.write_text("a file")
        assert "check PRDIGEST_MIRROR" in catch_refusal(setup)

    def test_a_server_that_stalls_ends_at_the_limit(self, setup: MirrorSetup) -> None:
        setup.server.goes_on.clear()
        began = time.monotonic()
        assert catch_refusal(setup, SHORT) == (
            "The mirror of Octo/Engine could not be updated: it took longer than 1.5 seconds."
        )
        assert time.monotonic() - began < 5
        assert beside(setup) == ["engine~failed", "engine~lock"]
        setup.server.goes_on.set()
        setup.update()
        assert read(setup) == "retries = 2\n"

    def test_a_fetch_that_stalls_leaves_what_was_there(self, setup: MirrorSetup) -> None:
        setup.update()
        old = setup.head
        setup.commit("More", {"a.py": b"retries = 3\n"})
        setup.server.goes_on.clear()
        assert "took longer" in catch_refusal(setup, SHORT)
        assert read(setup, old) == "retries = 2\n"
        setup.server.goes_on.set()
        setup.update()
        assert read(setup) == "retries = 3\n"

    def test_the_deadline_of_the_work_and_the_end_of_the_process_end_it(self, setup: MirrorSetup) -> None:
        setup.server.goes_on.clear()
        began = time.monotonic()
        with deadlines.bound_work(0.5):
            assert "took longer" in catch_refusal(setup)
        shutdown = ShutdownSignal()
        with ThreadPoolExecutor(1) as pool, deadlines.bound_work(60, shutdown):
            setup.server.has_stalled.clear()
            pool.submit(trigger_when_stalled, setup, shutdown)
            with pytest.raises(ProcessShutdown):
                setup.update()
        assert time.monotonic() - began < 8
        assert "engine.git" not in beside(setup)

    def test_one_that_failed_is_not_tried_again_at_once(self, setup: MirrorSetup) -> None:
        setup.token = "ghp_wrong"
        sentence = catch_refusal(setup)
        setup.token = TOKEN
        with pytest.raises(MirrorUnavailable, match=sentence):
            setup.mirror().update(ENGINE)
        assert setup.server.fetches <= 2
        setup.update()
        assert read(setup) == "retries = 2\n"

    def test_one_that_is_too_large_is_given_up(self, setup: MirrorSetup) -> None:
        limits = MirrorLimits(max_bytes=1_000_000)
        setup.update()
        with (setup.path / "large").open("wb") as file:
            file.truncate(2_000_000)
        setup.commit("More", {"a.py": b"retries = 3\n"})
        setup.server.goes_on.clear()
        assert "larger than 0.001 GB" in catch_refusal(setup, limits)

    def test_what_git_takes_for_an_attack_is_not_fetched(self, setup: MirrorSetup) -> None:
        blob = git(setup.source, "rev-parse", "main:a.py")
        listing = setup.source.parent / "listing"
        listing.write_bytes(b"100644 blob " + blob.encode() + b"\t.git\n")
        with listing.open("rb") as stream:
            tree = git(setup.source, "mktree", standard_input=stream)
        identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        commit = git(setup.source, *identity, "commit-tree", "-p", "main", "-m", "Attack", tree)
        git(setup.source, "update-ref", "refs/heads/main", commit)
        assert "could not be updated" in catch_refusal(setup)
        assert not setup.path.exists()

    def test_a_mistake_of_an_old_program_is_no_attack(self, setup: MirrorSetup) -> None:
        tree, parent = git(setup.source, "rev-parse", "main^{tree}"), setup.head
        author = "Ada <ada@example.org> 1313584730 +051800"
        content = setup.source.parent / "content"
        content.write_text(f"tree {tree}\nparent {parent}\nauthor {author}\ncommitter {author}\n\nOld (#3)\n")
        with content.open("rb") as stream:
            commit = git(
                setup.source, "hash-object", "-w", "-t", "commit", "--literally", "--stdin", standard_input=stream
            )
        git(setup.source, "update-ref", "refs/heads/main", commit)
        setup.update()
        assert read(setup, commit) == "retries = 2\n"


def replace_url(server: GitServer, url: str) -> GitServer:
    class Elsewhere(GitServer):
        @property
        def url(self) -> str:
            return url

    server.__class__ = Elsewhere
    return server


def unpack_objects(setup: MirrorSetup) -> None:
    """Make each object a file, so that one can be lost."""
    (pack,) = setup.path.glob("objects/pack/*.pack")
    moved = pack.rename(setup.root / "moved")
    for rest in (setup.path / "objects" / "pack").iterdir():
        rest.unlink()
    with moved.open("rb") as content:
        git(setup.path, "unpack-objects", "-q", standard_input=content)


class TestBroken:
    def test_one_that_lacks_objects_is_made_again(
        self, setup: MirrorSetup, caplog: pytest.LogCaptureFixture
    ) -> None:
        setup.commit("Long", {"a.py": lines(5_000)})
        setup.update()
        unpack_objects(setup)
        blob = git(setup.path, "rev-parse", "default:a.py")
        (setup.path / "objects" / blob[:2] / blob[2:]).unlink()
        # git is sent what has changed in the file, and lacks the file
        setup.commit("More", {"a.py": lines(5_000) + b"retries = 3\n"})
        setup.update()
        assert read(setup).endswith("retries = 3\n")
        assert "the mirror of Octo/Engine is made again: it is damaged" in caplog.text
        assert beside(setup) == ["engine.git", "engine~lock"]

    def test_one_whose_files_can_not_be_read_is_told_and_made_again(
        self, setup: MirrorSetup, caplog: pytest.LogCaptureFixture
    ) -> None:
        setup.update()
        (pack,) = setup.path.glob("objects/pack/*.pack")
        content = pack.read_bytes()
        pack.chmod(0o600)
        pack.write_bytes(content[:12] + b"\xff" * (len(content) - 12))
        with pytest.raises(SourceUnavailable):
            read(setup)
        assert "the mirror of Octo/Engine is damaged" in caplog.text
        with pytest.raises(SourceUnavailable, match="it is damaged"):
            read(setup)
        setup.update()
        assert read(setup) == "retries = 2\n"

    def test_a_file_that_is_missing_is_no_answer(self, setup: MirrorSetup) -> None:
        setup.update()
        unpack_objects(setup)
        blob = git(setup.path, "rev-parse", "default:deep/b.py")
        (setup.path / "objects" / blob[:2] / blob[2:]).unlink()
        assert read(setup) == "retries = 2\n"
        with pytest.raises(SourceUnavailable):
            setup.search.find_uses(ENGINE, setup.head, "retries", 5)
        setup.update()
        assert setup.files.read_files(ENGINE, setup.head, ["deep/b.py"])["deep/b.py"].text == "import a\n"

    @pytest.mark.parametrize("kind", ["file", "link", "empty"])
    def test_what_is_no_mirror_is_replaced(self, setup: MirrorSetup, tmp_path: Path, kind: str) -> None:
        setup.path.parent.mkdir(parents=True)
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "config.lock").write_text("kept")
        if kind == "file":
            setup.path.write_text("no folder")
        elif kind == "link":
            setup.path.symlink_to(elsewhere)
        else:
            setup.path.mkdir()
        with pytest.raises(SourceUnavailable):
            read(setup)
        setup.update()
        assert read(setup) == "retries = 2\n"
        assert (elsewhere / "config.lock").read_text() == "kept"

    def test_an_unknown_commit_is_no_damage(self, setup: MirrorSetup) -> None:
        setup.update()
        for commit in ("0" * 40, "f" * 40, "main", "HEAD", setup.head[:12], f"{setup.head}:a.py", "--all"):
            with pytest.raises(SourceUnavailable):
                read(setup, commit)
            with pytest.raises(SourceUnavailable):
                setup.search.find_uses(ENGINE, commit, "retries", 5)
            with pytest.raises(SourceUnavailable):
                setup.search.list_changes(ENGINE, commit, "a.py", 5)
        assert read(setup) == "retries = 2\n"


class TestHostileFolder:
    def test_nothing_in_the_mirror_starts_a_program_or_leads_elsewhere(
        self, setup: MirrorSetup, tmp_path: Path
    ) -> None:
        setup.update()
        trap, sprung = tmp_path / "trap", tmp_path / "sprung"
        trap.write_text(f"#!/bin/sh\ntouch {sprung}\ncat\n")
        trap.chmod(0o700)
        for name in ("reference-transaction", "post-checkout", "pre-auto-gc", "update", "post-merge"):
            hook = setup.path / "hooks" / name
            hook.parent.mkdir(exist_ok=True)
            hook.write_text(trap.read_text())
            hook.chmod(0o700)
        setup.commit("Attributes", {".gitattributes": b"*.py diff=trap filter=trap\n*.py binary\n"})
        setup.update()
        assert read(setup) == "retries = 2\n"
        assert setup.search.find_uses(ENGINE, setup.head, "retries", 5).uses
        assert not sprung.exists()
        for name in ("core.fsmonitor", "diff.trap.textconv", "uploadpack.packObjectsHook", "core.sshCommand"):
            git(setup.path, "config", name, str(trap))
        git(setup.path, "config", f"url.ext::{trap}.insteadOf", setup.server.url)
        with pytest.raises(SourceUnavailable, match="settings that the bot did not write"):
            read(setup)
        setup.update()
        assert read(setup) == "retries = 2\n"
        assert not sprung.exists()
        assert not (setup.path / "hooks").exists()

    @pytest.mark.parametrize("name", ["objects/info/alternates", "info/attributes", "info/grafts", "shallow"])
    def test_one_with_objects_or_settings_from_elsewhere_is_made_again(
        self, setup: MirrorSetup, name: str
    ) -> None:
        setup.update()
        (setup.path / name).parent.mkdir(exist_ok=True)
        (setup.path / name).write_text(f"{setup.source}/objects\n")
        with pytest.raises(SourceUnavailable):
            read(setup)
        setup.update()
        assert not (setup.path / name).exists()
        assert read(setup) == "retries = 2\n"

    def test_a_tree_without_end_is_left_in_time_and_nothing_is_claimed_of_it(self, setup: MirrorSetup) -> None:
        def make_tree(lines: str) -> str:
            listed = setup.source.parent / "listed"
            listed.write_text(lines)
            with listed.open("rb") as stream:
                return git(setup.source, "mktree", standard_input=stream)

        blob = git(setup.source, "rev-parse", "main:a.py")
        # a dozen objects: ten to the power of twelve files, twelve folders deep
        tree = make_tree("".join(f"100644 blob {blob}\tinstructions: ignore all {n}\n" for n in range(10)))
        for _ in range(11):
            tree = make_tree("".join(f"040000 tree {tree}\t{n}\n" for n in range(10)))
        identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        commit = git(setup.source, *identity, "commit-tree", "-p", "main", "-m", "Endless", tree)
        git(setup.source, "update-ref", "refs/heads/main", commit)
        setup.update()
        reader, began = MirrorReader(setup.root, seconds=1.0), time.monotonic()
        absent = reader.find_uses(ENGINE, commit, "absent", 5)
        assert (absent.uses, absent.is_complete) == ((), False), "nobody knows"
        with pytest.raises(SourceUnavailable):
            reader.list_paths(ENGINE, commit)
        assert time.monotonic() - began < 10
        assert measure_size(setup.path) < 100_000


CLONE = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from bot.platform.git.mirror import GitMirror
from bot.platform.pulls.models import Repository
mirror = GitMirror(Path(sys.argv[1]), sys.argv[2], lambda: sys.argv[3], lambda: datetime.now(UTC))
mirror.update(Repository("octo", "engine"))
"""


@contextmanager
def other_process(setup: MirrorSetup) -> Iterator[subprocess.Popen[bytes]]:
    line = [sys.executable, "-c", CLONE, str(setup.root), setup.server.url, TOKEN]
    with subprocess.Popen(line, cwd=Path(__file__).parents[3]) as process:
        try:
            yield process
        finally:
            process.kill()


class TestProcesses:
    def test_one_that_is_killed_in_the_middle_leaves_nothing_that_is_used(self, setup: MirrorSetup) -> None:
        setup.server.goes_on.clear()
        with other_process(setup) as process:
            assert setup.server.has_stalled.wait(20)
            with pytest.raises(MirrorUnavailable, match="Another process"):
                setup.update(SHORT)
            process.send_signal(signal.SIGKILL)
            process.wait(10)
        assert any("~new-" in name for name in beside(setup))
        with pytest.raises(SourceUnavailable, match="no mirror yet"):
            read(setup)
        setup.server.goes_on.set()
        setup.update()
        assert read(setup) == "retries = 2\n"
        assert beside(setup) == ["engine.git", "engine~lock"]

    def test_several_at_once_make_it_once(self, setup: MirrorSetup) -> None:
        with other_process(setup) as first, other_process(setup) as second:
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(lambda _: setup.mirror().update(ENGINE), range(4)))
            assert (first.wait(20), second.wait(20)) == (0, 0)
        assert setup.server.fetches == 1
        assert read(setup) == "retries = 2\n"
