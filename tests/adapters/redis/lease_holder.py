"""A process that holds leases: ``python -m …lease_holder URL KIND NAME``; ends with its standard input."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from redis import Redis

from bot.adapters.redis.connection import RedisCache, connect_server
from tests.helpers.command import ROOT
from tests.helpers.records import digest_store

ROUNDS = 5


@contextmanager
def holder(url: str, kind: str, name: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that does what ``kind`` says; for the holding kinds it holds the lease already."""
    command = [sys.executable, "-m", "tests.adapters.redis.lease_holder", url, kind, name]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "begun\n"
        try:
            yield process
        finally:
            process.stdin.close()


def main(url: str, kind: str, name: str) -> None:
    with connect_server(url) as client:
        if kind == "rounds":
            say("begun")
            rounds(client, name)
        elif kind == "cache":
            with RedisCache(client).acquire_lease(name):
                say("begun")
                sys.stdin.read()
        else:
            with digest_store(client).hold_lock(name):
                say("begun")
                sys.stdin.read()


def rounds(client: Redis, name: str) -> None:
    """Enters the lease several times and counts how often somebody else was inside too."""
    for _ in range(ROUNDS):
        with RedisCache(client).acquire_lease(name):
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
