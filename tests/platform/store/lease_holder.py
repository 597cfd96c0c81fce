"""A process that holds leases: ``python -m …lease_holder URL KIND NAME``; ends with its standard input."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from redis import Redis

from bot.platform.store.connection import UNPREFIXED, connect_server
from bot.platform.store.leases import hold_lease
from tests.helpers.processes.command import ROOT, Process, started
from tests.helpers.records import digest_store

ROUNDS = 5


@contextmanager
def holder(url: str, kind: str, name: str) -> Iterator[Process]:
    """Another process that does what ``kind`` says; for the holding kinds it holds the lease already."""
    stdin, stays = os.pipe()
    says, stdout = os.pipe()
    with os.fdopen(stays, "w") as held, os.fdopen(says) as output:
        try:
            process = started(
                url,
                kind,
                name,
                settings={},
                folder=ROOT,
                module="tests.platform.store.lease_holder",
                files=(stdin, stdout, 2),
            )
        finally:
            os.close(stdin)
            os.close(stdout)
        assert output.readline() == "begun\n"
        yield process
        held.close()
        process.wait(30)


def main(url: str, kind: str, name: str) -> None:
    with connect_server(url) as client:
        if kind == "rounds":
            say("begun")
            rounds(client, name)
        elif kind == "cache":
            with hold_lease(client, UNPREFIXED, name):
                say("begun")
                sys.stdin.read()
        else:
            with digest_store(client).hold_lock(name):
                say("begun")
                sys.stdin.read()


def rounds(client: Redis, name: str) -> None:
    """Enters the lease several times and counts how often somebody else was inside too."""
    for _ in range(ROUNDS):
        with hold_lease(client, UNPREFIXED, name):
            if client.incr("inside") != 1:
                client.incr("clashes")
            time.sleep(0.01)
            client.decr("inside")
            client.incr("rounds")


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
