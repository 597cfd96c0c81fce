"""What the keeper asks its server, over a connection of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from redis import Redis

from bot.adapters.embedded.server import start_embedded
from bot.adapters.embedded.socket_call import STOP_COMMAND, open_socket
from bot.adapters.embedded.socket_path import is_answering
from tests.helpers.checks import eventually


def test_answers_come_whole_one_after_the_other(store: Redis) -> None:
    value = "ä\r\n" * 100_000
    store.set("long", value)
    store.set("empty", "")
    path = Path(store.connection_pool.connection_kwargs["path"])
    with open_socket(path) as call:
        assert [call("PING"), call("GET long"), call("GET empty"), call("PING")] == [
            b"PONG",
            value.encode(),
            b"",
            b"PONG",
        ]


def test_an_error_is_the_sentence_of_the_server(store: Redis) -> None:
    path = Path(store.connection_pool.connection_kwargs["path"])
    with open_socket(path) as call, pytest.raises(OSError, match="ERR unknown command 'NONSENSE'"):
        call("NONSENSE")


def test_a_server_that_is_told_to_stop_hangs_up(tmp_path: Path) -> None:
    path = start_embedded(tmp_path)
    with open_socket(path) as call, pytest.raises(OSError, match=r"hung up|reset"):
        call(STOP_COMMAND)
    eventually(lambda: not is_answering(path))
