"""The embedded store in folders whose names mean something to a shell, an address or a configuration."""

import os
import stat
from pathlib import Path

import pytest

from bot.platform.store.connection import connect_embedded, connect_server
from bot.platform.store.embedded.server import (
    MAX_SOCKET_PATH,
    get_socket_path,
    is_store_running,
    start_embedded_url,
    stop_embedded,
)
from tests.helpers.processes.command import prdigest
from tests.hostile.tables.folders import FOLDERS

pytestmark = pytest.mark.slow

# one for each way in which a name may hurt: as an option, in a configuration, as bytes, as the path of a socket
STARTED_AGAIN = ("option", "double quote", "not UTF-8", "longer than a socket's path")


@pytest.mark.parametrize("name", FOLDERS.values(), ids=FOLDERS)
def test_the_store_starts_in_any_folder_keeps_its_data_there_and_its_address_leads_there(
    name: str, tmp_path: Path
) -> None:
    state, value = tmp_path / name, name.encode("utf-8", "surrogateescape")
    with connect_embedded(state) as client:
        client.set("kept", value)
        if name != FOLDERS["not UTF-8"]:
            with connect_server(start_embedded_url(state)) as other:
                assert other.get("kept") == value
    stop_embedded(state)
    assert not is_store_running(state)
    # the log that the next server reads, which is started in the same way
    (log,) = (state / "valkey").rglob("*.incr.aof")
    assert value in log.read_bytes()
    assert [each.name for each in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", [FOLDERS[name] for name in STARTED_AGAIN], ids=STARTED_AGAIN)
def test_the_next_store_in_a_folder_finds_the_data_of_the_one_before(name: str, tmp_path: Path) -> None:
    state = tmp_path / name
    for before in (None, b"1"):
        with connect_embedded(state) as client:
            assert client.get("kept") == before
            client.set("kept", "1")
        stop_embedded(state)


def test_the_address_of_a_store_starts_it(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with connect_server(start_embedded_url(state)) as client, connect_embedded(state) as other:
        client.set("key", "value")
        assert other.get("key") == b"value"
    stop_embedded(state)


def test_stores_in_folders_that_an_address_takes_for_one_are_two(tmp_path: Path) -> None:
    with connect_embedded(tmp_path / "staAte") as one, connect_embedded(tmp_path / "sta%41te") as other:
        one.set("key", "one")
        assert other.get("key") is None


def test_the_folder_may_be_named_from_where_the_command_runs(tmp_path: Path) -> None:
    for name in ("-state", "with blank"):
        settings = {"PRDIGEST_STATE_DIR": name}
        done = prdigest("votes", settings=settings, folder=tmp_path)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        stop_embedded(tmp_path / name)


def test_a_path_of_any_length_leads_to_a_socket(tmp_path: Path) -> None:
    """The kernel takes 107 bytes: where the path is longer, a link of that length leads to it."""
    state = tmp_path / ("ü" * 60)
    with connect_embedded(state) as client:
        assert client.ping()
        assert len(os.fsencode(get_socket_path(state))) <= MAX_SOCKET_PATH
        assert stat.S_ISSOCK((state / "valkey.sock").stat().st_mode)
        link = get_socket_path(state)
        assert link.resolve() == (state / "valkey.sock").resolve()
        assert stat.S_IMODE(link.parent.stat().st_mode) == 0o700
    stop_embedded(state)
    assert not link.parent.exists()


def test_processes_with_different_temporary_folders_share_one_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / ("deep" * 30)
    with connect_embedded(state) as client:
        client.set("key", "value")
        other = tmp_path / "tmp dir"
        other.mkdir()
        settings = {"PRDIGEST_STATE_DIR": str(state), "TMPDIR": str(other)}
        done = prdigest("votes", settings=settings, folder=tmp_path)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
    stop_embedded(state)


def test_a_temporary_folder_with_a_long_name_is_passed_over(tmp_path: Path) -> None:
    state, long = tmp_path / ("deep" * 30), tmp_path / ("long" * 30)
    long.mkdir()
    settings = {"PRDIGEST_STATE_DIR": str(state), "TMPDIR": str(long)}
    done = prdigest("votes", settings=settings, folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    stop_embedded(state)
