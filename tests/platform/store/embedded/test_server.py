import fcntl
import os
import shutil
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import cast

import pytest
from redis import Redis

from bot.errors import StoreUnavailable
from bot.platform.store.connection import connect_embedded, connect_server
from bot.platform.store.embedded.keeper import LINGER_SECONDS, run_keeper
from bot.platform.store.embedded.server import get_socket_path, is_store_running, start_embedded_url, stop_embedded
from tests.helpers.checks import eventually
from tests.helpers.processes.command import ROOT
from tests.helpers.worlds import PYTHON, within

pytestmark = pytest.mark.slow

COMMAND = """
import sys
from pathlib import Path
from bot.platform.store.embedded.server import start_embedded_url
from bot.platform.store.connection import connect_embedded, connect_server
from bot.errors import StoreUnavailable
client = connect_server(start_embedded_url(Path(sys.argv[1])))
client.set(sys.argv[2], "set by another process")
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    directory = tmp_path_factory.mktemp("embedded")
    with connect_server(start_embedded_url(directory)) as client:
        client.ping()
        yield directory


def command(state: Path, key: str) -> subprocess.Popen[str]:
    """A process that starts or adopts the store, sets a key and stays."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [PYTHON, "-c", COMMAND, str(state), key], cwd=ROOT, stdin=pipe, stdout=pipe, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def server_of(client: Redis) -> int:
    return int(cast("dict[str, int]", client.info("server"))["process_id"])


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_running_store_is_adopted(state: Path) -> None:
    with connect_server(start_embedded_url(state)) as first, connect_server(start_embedded_url(state)) as second:
        assert server_of(first) == server_of(second)


def test_processes_that_start_at_once_get_one_store(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        urls = list(pool.map(lambda _: start_embedded_url(tmp_path), range(4)))
    assert len(set(urls)) == 1
    with connect_server(urls[0]) as client:
        assert client.ping()


def test_who_uses_it_alone_ends_it_with_nothing_left_elsewhere(tmp_path: Path) -> None:
    far = tmp_path / ("far" * 30)
    with connect_server(start_embedded_url(far)) as client:
        pid = server_of(client)
    stop_embedded(far)
    assert not lives(pid)
    assert not get_socket_path(far).is_relative_to(far)
    assert not get_socket_path(far).parent.exists()


def test_two_processes_see_the_same_data(state: Path) -> None:
    with command(state, "from-another") as process, connect_server(start_embedded_url(state)) as client:
        assert client.get("from-another") == b"set by another process"
        assert process.stdin is not None
        process.stdin.close()


def test_the_log_of_writes_is_on_and_nothing_is_dropped(state: Path) -> None:
    with connect_server(start_embedded_url(state)) as client:
        settings = [client.config_get(name) for name in ("appendonly", "maxmemory-policy")]
    assert settings == [{"appendonly": "yes"}, {"maxmemory-policy": "noeviction"}]
    assert list((state / "valkey").rglob("*.aof"))


def test_the_store_is_not_to_be_reached_over_the_network(state: Path) -> None:
    with connect_server(start_embedded_url(state)) as client:
        assert client.config_get("port") == {"port": "0"}


def test_a_store_that_can_not_save_says_so_and_is_not_started_again(tmp_path: Path) -> None:
    with connect_server(start_embedded_url(tmp_path / "state")) as client:
        client.config_set("save", "3600 1")
        # what stands where the snapshot belongs is a folder
        (tmp_path / "state" / "valkey" / "dump.rdb").mkdir()
        client.bgsave()
        eventually(lambda: client.info("persistence")["rdb_last_bgsave_status"] == "err")
        server = server_of(client)
        with pytest.raises(StoreUnavailable, match="accepts no writes because it can't save its data"):
            connect_embedded(tmp_path / "state")
        assert server_of(client) == server


def test_a_second_keeper_steps_back(state: Path) -> None:
    def step_back() -> str:
        run_keeper(state)
        return "stepped back"

    with connect_server(start_embedded_url(state)) as client:
        before = server_of(client)
        assert within(3, step_back) == "stepped back"
        assert server_of(client) == before


def test_data_outlives_a_killed_process_that_had_started_the_store(tmp_path: Path) -> None:
    with command(tmp_path, "kept") as process:
        os.kill(process.pid, signal.SIGKILL)
    with connect_server(start_embedded_url(tmp_path)) as client:
        assert client.get("kept") == b"set by another process"


def test_the_store_ends_when_nobody_is_connected_and_its_data_stays(tmp_path: Path) -> None:
    with connect_server(start_embedded_url(tmp_path)) as client:
        client.set("kept", "1")
        server = server_of(client)
        time.sleep(LINGER_SECONDS / 5)
    time.sleep(LINGER_SECONDS / 2)
    assert lives(server)
    assert eventually(lambda: not lives(server), 2 * LINGER_SECONDS)
    with connect_server(restart_store(tmp_path)) as client:
        assert (client.get("kept"), server_of(client) != server) == (b"1", True)


def restart_store(state: Path) -> str:
    """The store's address after the keeper before has let go, too."""
    # see test_a_store_is_there_for_a_command_that_comes_as_the_one_before_ends
    with (state / "keeper.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
    return start_embedded_url(state)


def keeper_of(server: int) -> int:
    return int(Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()[1])


def test_data_outlives_a_crash_of_the_machine(tmp_path: Path) -> None:
    with connect_server(start_embedded_url(tmp_path)) as client:
        client.set("kept", "1")
        server = server_of(client)
        os.kill(keeper_of(server), signal.SIGKILL)
        os.kill(server, signal.SIGKILL)
    assert eventually(lambda: not lives(server), 10)
    # see test_a_socket_left_by_a_crash_does_not_hold_up_the_start
    get_socket_path(tmp_path).unlink()
    with connect_server(start_embedded_url(tmp_path)) as client:
        assert client.get("kept") == b"1"


def test_a_store_is_there_for_a_command_that_comes_as_the_one_before_ends(tmp_path: Path) -> None:
    with connect_server(start_embedded_url(tmp_path)) as client:
        client.ping()
        time.sleep(LINGER_SECONDS / 5)
    assert eventually(lambda: not get_socket_path(tmp_path).exists(), 2 * LINGER_SECONDS)
    assert str(within(6, lambda: start_embedded_url(tmp_path))).startswith("unix://")


def test_a_socket_left_by_a_crash_does_not_hold_up_the_start(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(get_socket_path(tmp_path)))
    assert str(within(6, lambda: start_embedded_url(tmp_path))).startswith("unix://")


def test_a_server_whose_keeper_was_killed_ends_too(tmp_path: Path) -> None:
    with connect_server(start_embedded_url(tmp_path)) as client:
        server = server_of(client)
        keeper = keeper_of(server)
        os.kill(keeper, signal.SIGKILL)
        assert eventually(lambda: not lives(keeper), 10)
    # a command as any other: it may put a keeper in place of the one that is missing
    with connect_server(start_embedded_url(tmp_path)) as client:
        client.ping()
    try:
        assert eventually(lambda: not lives(server), LINGER_SECONDS + 3)
    finally:
        with suppress(ProcessLookupError):
            os.kill(server, signal.SIGTERM)


def test_a_path_too_long_for_a_socket_gets_a_short_one(tmp_path: Path) -> None:
    deep = tmp_path / ("deep" * 25)
    with connect_server(start_embedded_url(deep)) as client:
        assert client.set("key", "value")
    assert len(os.fsencode(get_socket_path(deep))) <= 107
    assert list((deep / "valkey").rglob("*.aof"))
    assert get_socket_path(deep) != get_socket_path(tmp_path / ("other" * 25))


def test_the_short_socket_path_is_in_a_directory_of_our_own(tmp_path: Path) -> None:
    deep = tmp_path / ("private" * 20)
    start_embedded_url(deep)
    assert stat.S_IMODE(get_socket_path(deep).parent.stat().st_mode) == 0o700


def test_whoever_uses_it_alone_ends_it_at_once_and_finds_all_of_it_again(tmp_path: Path) -> None:
    with connect_server(start_embedded_url(tmp_path)) as client:
        client.set("kept", "x")
        assert is_store_running(tmp_path)
    stop_embedded(tmp_path)
    assert not is_store_running(tmp_path)
    assert not get_socket_path(tmp_path).exists()
    with connect_server(start_embedded_url(tmp_path)) as client:
        assert client.get("kept") == b"x"
    stop_embedded(tmp_path)


def test_a_copy_of_its_folder_is_a_backup(tmp_path: Path) -> None:
    state, copy = tmp_path / "state", tmp_path / "copy"
    with connect_server(start_embedded_url(state)) as client:
        client.set("before", "1")
        client.bgrewriteaof()
        eventually(lambda: not client.info("persistence")["aof_rewrite_in_progress"])
        client.hset("profiles", mapping={"ascend": "p{}"})
        client.zadd("agenda", {"post:1": 1772308800})
        client.set("cached", "x", ex=1_000)
    stop_embedded(state)
    shutil.copytree(state, copy)
    with connect_server(start_embedded_url(state)) as client:
        client.delete("before")
    stop_embedded(state)
    with connect_server(start_embedded_url(copy)) as client:
        assert (client.get("before"), client.hgetall("profiles")) == (b"1", {b"ascend": b"p{}"})
        assert client.zrange("agenda", 0, -1, withscores=True) == [(b"post:1", 1772308800)]
        assert 0 < int(str(client.ttl("cached"))) <= 1_000
    stop_embedded(copy)


def test_its_log_of_plain_commands_brings_the_data_to_any_server(tmp_path: Path, store: Redis) -> None:
    with connect_server(start_embedded_url(tmp_path)) as client:
        client.set("before", "1")
        client.config_set("aof-use-rdb-preamble", "no")
        client.bgrewriteaof()
        eventually(lambda: list((tmp_path / "valkey").rglob("*.base.aof")))
        client.zadd("agenda", {"post:1": 1772308800})
    stop_embedded(tmp_path)
    logs = [next((tmp_path / "valkey" / "appendonlydir").glob(f"*.{part}.aof")) for part in ("base", "incr")]
    # as redis-cli --pipe does
    connection = store.connection_pool.get_connection()
    for log in logs:
        text = log.read_bytes()
        connection.send_packed_command([text])  # type: ignore[no-untyped-call]
        for _ in range(text.count(b"\r\n*") + 1):
            connection.read_response()
    store.connection_pool.release(connection)
    assert (store.get("before"), store.zscore("agenda", "post:1")) == (b"1", 1772308800)


def test_ending_what_does_not_run_does_nothing(tmp_path: Path) -> None:
    stop_embedded(tmp_path / "never")
    assert not is_store_running(tmp_path / "never")
    assert list(tmp_path.iterdir()) == []
