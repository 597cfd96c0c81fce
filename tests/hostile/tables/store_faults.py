"""Faults of a Redis server that is there: how an operator brings each about, and what everybody has to be told.

What must not happen: "does not answer" or a traceback for any of them, a password in a sentence, a process that
says it is ready, or one that has to be started again when the fault is gone.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from redis import Redis

from tests.helpers.checks import eventually


@dataclass(frozen=True)
class Fault:
    """A server started with a configuration, changed by ``act``, and asked at an address that may be wrong too.

    ``sentence`` is the beginning of what is said of a write.
    """

    sentence: str
    act: Callable[[Redis], object] = Redis.ping
    config: Mapping[str, str] = field(default_factory=dict)
    address: str = "redis://127.0.0.1:{port}/0"


def configure(**options: str) -> Callable[[Redis], object]:
    """Change what may be changed while a server runs; the options are named with underscores."""
    return lambda client: [client.config_set(name.replace("_", "-"), value) for name, value in options.items()]


def let_guest_in(rights: str) -> Callable[[Redis], object]:
    command = ("ACL", "SETUSER", "guest", "on", ">SECRET", *rights.split())
    return lambda client: client.execute_command(*command)  # type: ignore[no-untyped-call]


def follow(client: Redis) -> object:
    return client.replicaof("127.0.0.1", "9")


def follow_strictly(client: Redis) -> object:
    """The same of one that says nothing while its primary is away."""
    client.config_set("replica-serve-stale-data", "no")
    return follow(client)


def lose_disk(client: Redis) -> object:
    """Let a snapshot fail: its folder is gone."""
    client.config_set("dir", "/proc/self")
    client.bgsave()
    return eventually(lambda: client.info("persistence")["rdb_last_bgsave_status"] == "err")


def use_keys(client: Redis) -> object:
    """Keep something else under the names that the tests write to."""
    return [client.rpush(key, "x") for key in ("key", "dramatiq:queue.msgs")]


def serve_some_slots(client: Redis) -> object:
    """Make it serve half of the keys."""
    command = ("CLUSTER", "ADDSLOTSRANGE", "0", "8000")
    return client.execute_command(*command)  # type: ignore[no-untyped-call]


GUEST = "redis://guest:SECRET@127.0.0.1:{port}/0"
FAULTS = {
    "no password": Fault("The store needs a password: ", configure(requirepass="SECRET")),
    "wrong password": Fault(
        "The store rejected the password: ",
        configure(requirepass="right"),
        address="redis://:SECRET@127.0.0.1:{port}/0",
    ),
    "unknown user": Fault("The store rejected the password: ", address="redis://who:SECRET@127.0.0.1:{port}/0"),
    "no right to a command": Fault(
        "The store's user lacks a permission: ",
        let_guest_in("~* +@all -set -hset -evalsha -eval -watch"),
        address=GUEST,
    ),
    "no right in scripts": Fault(
        "The store's user lacks a permission: ", let_guest_in("~* +@all -set -hset -watch"), address=GUEST
    ),
    "no right to a key": Fault(
        "The store's user lacks a permission: ", let_guest_in("~others:* +@all"), address=GUEST
    ),
    "no memory": Fault("The store is full: ", configure(maxmemory="1")),
    "replica": Fault("The store is a read-only replica", follow),
    "replica without its primary": Fault("The store is a read-only replica", follow_strictly),
    "no disk": Fault("The store accepts no writes because it can't save its data: ", lose_disk),
    "cluster": Fault("The store is a Redis Cluster", config={"cluster-enabled": "yes"}),
    "half a cluster": Fault("The store is a Redis Cluster", serve_some_slots, config={"cluster-enabled": "yes"}),
    "no more connections": Fault("The store accepts no more connections: ", configure(maxclients="1")),
    "TLS to a plain port": Fault(
        "The store does not answer in TLS: ", address="rediss://127.0.0.1:{port}/0?ssl_cert_reqs=none"
    ),
    "another program's key": Fault("The store has another program's data under a key of prdigest: ", use_keys),
}
