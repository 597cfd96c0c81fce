"""The few things that are asked of the embedded server without a library: what it says, and what goes wrong."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.platform.store.embedded.server import is_answering, open_connection


@contextmanager
def listening(path: Path, *replies: bytes) -> Iterator[list[bytes]]:
    """A server that gives one reply to each line and then closes the connection; what it was asked."""
    asked: list[bytes] = []

    def serve() -> None:
        connection, _ = server.accept()
        with connection, connection.makefile("rwb") as stream:
            for reply in replies:
                asked.append(stream.readline())
                stream.write(reply)
                stream.flush()

    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.fspath(path))
        server.listen()
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield asked
        finally:
            thread.join(10)


@pytest.mark.parametrize(
    ("reply", "answers"),
    [
        (b"+PONG\r\n", True),
        (b"-MISCONF Errors writing to the AOF file: No space left on device\r\n", True),
        (b"-LOADING Valkey is loading the dataset in memory\r\n", False),
        (b"-ERR max number of clients reached\r\n", False),
        (b"", False),
    ],
)
def test_a_server_answers_once_it_has_loaded_its_data(tmp_path: Path, reply: bytes, answers: bool) -> None:
    with listening(tmp_path / "s", reply) as asked:
        assert is_answering(tmp_path / "s") is answers
    assert asked == [b"PING\r\n"]


def test_where_nobody_listens_nobody_answers(tmp_path: Path) -> None:
    assert not is_answering(tmp_path / "s")
    (tmp_path / "s").touch()
    assert not is_answering(tmp_path / "s")


def test_the_connection_itself_is_no_other_client(tmp_path: Path) -> None:
    lines = b"id=3 addr=a\nid=4 addr=b\nid=5 addr=c\n"
    reply = b"$%d\r\n%b\r\n" % (len(lines), lines)
    with listening(tmp_path / "s", reply, reply) as asked, open_connection(tmp_path / "s") as connection:
        assert [connection.count_other_clients() for _ in range(2)] == [2, 2]
    assert asked == [b"CLIENT LIST TYPE normal\r\n"] * 2


@pytest.mark.parametrize("reply", [b"-NOPERM no\r\n", b""])
def test_a_server_that_does_not_list_its_clients_is_an_error(tmp_path: Path, reply: bytes) -> None:
    with (
        listening(tmp_path / "s", reply),
        pytest.raises(ConnectionError, match="does not list its clients"),
        open_connection(tmp_path / "s") as connection,
    ):
        connection.count_other_clients()
