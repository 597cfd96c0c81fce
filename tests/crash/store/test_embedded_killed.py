import os
import signal
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import pytest
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from bot.platform.store.embedded.server import get_socket_path
from tests.crash.conftest import Site, Web, site_in
from tests.crash.overlap import StoreSlot, overlapping
from tests.helpers.checks import closed_port, eventually
from tests.platform.store.embedded.test_server import keeper_of, lives, server_of

# seconds from the death of the store until a command is taken and answered again
BACK = 10.0


@contextmanager
def open_embedded_site(slot: StoreSlot) -> Iterator[Site]:
    """A site whose processes have an embedded store of their own; it ends soon after them."""
    with site_in(slot) as site:
        site.world.settings.update(REDIS_URL="", PRDIGEST_STATE_DIR=str(state_of(site)))
        yield site


def state_of(site: Site) -> Path:
    return site.folder / "my state"


def process_of(site: Site, name: str) -> Web:
    port = closed_port()
    return Web(site.start(name, PORT=str(port)), port)


def connect_to(path: Path) -> Redis:
    """A client that tries nothing again and starts nothing."""
    return Redis(unix_socket_path=str(path), socket_timeout=5, retry=Retry(NoBackoff(), 0))


def kill_store(state: Path, *, with_keeper: bool) -> int:
    """End the server, with its keeper or without, as the system does when memory runs out; the server's id."""
    with connect_to(get_socket_path(state)) as client:
        client.set("kept", "1")
        # while the disk is busy, the server holds back what it writes for up to two seconds, which may be lost
        eventually(lambda: client.info("persistence")["aof_buffer_length"] == 0)
        server = server_of(client)
    if with_keeper:
        os.kill(keeper_of(server), signal.SIGKILL)
    os.kill(server, signal.SIGKILL)
    eventually(lambda: not lives(server))
    return server


def healthz(web: Web) -> int:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{web.port}/healthz", timeout=5) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def ask_until_taken(site: Site, web: Web, number: str) -> None:
    def is_taken() -> bool:
        asked = site.person(web).send_command("/prsummary", number)
        if (asked.ack.status, asked.ack.text) != (200, ""):
            return False
        eventually(lambda: site.answers(asked), BACK)
        return True

    eventually(is_taken, BACK)


KILLS: dict[str, Callable[[Path], int]] = {
    "server": lambda state: kill_store(state, with_keeper=False),
    "server and keeper": lambda state: kill_store(state, with_keeper=True),
}


@pytest.mark.parametrize("kill", KILLS.values(), ids=KILLS)
@overlapping(open_embedded_site)
def test_a_bot_whose_store_is_killed_answers_within_seconds(own: Site, kill: Callable[[Path], int]) -> None:
    bot = process_of(own, "run")
    eventually(bot.is_ready)
    ask_until_taken(own, bot, "101")
    for number in ("102", "103"):
        before = kill(state_of(own))
        began = monotonic()
        ask_until_taken(own, bot, number)
        assert monotonic() - began < BACK
        assert bot.is_ready()
        with connect_to(get_socket_path(state_of(own))) as client:
            assert (client.get("kept"), server_of(client) != before) == (b"1", True)
    assert bot.process.poll() is None


@overlapping(open_embedded_site)
def test_of_many_processes_one_starts_it(own: Site) -> None:
    web = process_of(own, "web")
    others = [process_of(own, name) for name in ("worker", "worker", "clock", "web")]
    eventually(lambda: web.is_ready() and others[-1].is_ready())
    eventually(lambda: _users(state_of(own)) >= 5)
    kill_store(state_of(own), with_keeper=True)
    ask_until_taken(own, web, "101")
    eventually(lambda: web.is_ready() and others[-1].is_ready(), BACK)
    assert len(_servers(state_of(own))) == 1
    assert [each.process.poll() for each in (web, *others)] == [None] * 5


@overlapping(open_embedded_site)
def test_while_it_can_not_come_back_the_process_lives_and_is_not_ready(own: Site) -> None:
    bot = process_of(own, "run")
    eventually(bot.is_ready)
    state = state_of(own)
    away = state.with_name("moved away")
    state.rename(away)
    # where the folder was is a file now: nobody can start a store there
    state.touch()
    with connect_to(away / "valkey.sock") as client:
        server = server_of(client)
    os.kill(server, signal.SIGKILL)
    eventually(lambda: not lives(server))
    eventually(lambda: not bot.is_ready(), BACK)
    assert healthz(bot) == 200
    state.unlink()
    away.rename(state)
    eventually(bot.is_ready, BACK)
    ask_until_taken(own, bot, "101")


def _users(state: Path) -> int:
    with connect_to(get_socket_path(state)) as client:
        return len({each["addr"] + each["id"] for each in client.client_list(_type="normal")}) - 1


def _servers(state: Path) -> list[int]:
    data = (state / "valkey").resolve()
    return [int(each.name) for each in Path("/proc").iterdir() if each.name.isdecimal() and _works_in(each, data)]


def _works_in(process: Path, folder: Path) -> bool:
    try:
        return (process / "cwd").resolve(strict=True) == folder and lives(int(process.name))
    except OSError:
        return False
