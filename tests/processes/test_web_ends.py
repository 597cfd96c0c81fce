"""A web process lets go of its sockets in the order that its own thread can bear."""

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from flask import Flask
from waitress import wasyncore
from waitress.trigger import trigger

from bot.http_server import close_sockets, serve_app
from bot.web import MAX_REQUEST_BYTES

pytestmark = pytest.mark.slow

LOCAL = "127.0.0.1"


@contextmanager
def complaints() -> Iterator[list[threading.ExceptHookArgs]]:
    heard: list[threading.ExceptHookArgs] = []
    usual, threading.excepthook = threading.excepthook, heard.append
    try:
        yield heard
    finally:
        threading.excepthook = usual


def app() -> Flask:
    made = Flask(__name__)
    made.add_url_rule("/", view_func=lambda: "here")
    return made


def ask(port: int) -> http.client.HTTPConnection:
    """A connection that stays open, as Slack's and browsers' do."""
    connection = http.client.HTTPConnection(LOCAL, port, timeout=10)
    connection.request("GET", "/")
    assert connection.getresponse().read() == b"here"
    return connection


def loops() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "web"]


@pytest.mark.parametrize("is_asked", [False, True], ids=["idle", "with a connection that is open"])
def test_the_sockets_are_closed_by_the_thread_that_waits_for_them(is_asked: bool) -> None:
    """Closed under a running select they are bad file descriptors, or those of others that came in their place."""
    with complaints() as heard:
        with serve_app(app(), LOCAL, 0, MAX_REQUEST_BYTES) as port:
            connection = ask(port) if is_asked else None
        assert loops() == []
        if connection:
            connection.close()
    assert heard == []


class BusyTrigger(trigger):  # type: ignore[misc]
    """A pipe that wakes the loop just before it is written to, as the end of a request in another thread does."""

    def _physical_pull(self) -> None:
        super()._physical_pull()
        time.sleep(0.2)
        super()._physical_pull()


def test_a_request_that_ends_meanwhile_does_not_close_what_is_about_to_be_written_to() -> None:
    with complaints() as heard:
        sockets: dict[int, wasyncore.dispatcher] = {}
        wakeup = BusyTrigger(sockets)
        loop = threading.Thread(target=wasyncore.loop, kwargs={"map": sockets, "use_poll": True})
        loop.start()
        close_sockets(wakeup, sockets)
        loop.join(10)
        assert not loop.is_alive()
    assert (heard, sockets) == ([], {})


def test_at_the_end_its_port_is_free_and_no_thread_is_left() -> None:
    # those of other tests may end meanwhile
    before = set(threading.enumerate())
    with serve_app(app(), LOCAL, 0, MAX_REQUEST_BYTES) as port:
        ask(port).close()
    assert set(threading.enumerate()) <= before
    with socket.socket() as again, pytest.raises(ConnectionRefusedError):
        again.connect((LOCAL, port))


def test_what_is_being_answered_is_answered_before_the_end() -> None:
    begun, goes_on = threading.Event(), threading.Event()
    made, answers = Flask(__name__), []

    def slow() -> str:
        begun.set()
        assert goes_on.wait(10)
        return "done"

    made.add_url_rule("/", view_func=slow)

    def get(port: int) -> None:
        with closing(http.client.HTTPConnection(LOCAL, port, timeout=10)) as connection:
            connection.request("GET", "/")
            answers.append(connection.getresponse().read())

    with serve_app(made, LOCAL, 0, MAX_REQUEST_BYTES) as port:
        asking = threading.Thread(target=get, args=(port,))
        asking.start()
        assert begun.wait(10)
        threading.Timer(0.2, goes_on.set).start()
    asking.join(10)
    assert answers == [b"done"]
