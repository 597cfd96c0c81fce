"""The real store for a simulation: a client without what a network needs."""

from __future__ import annotations

from collections.abc import Sequence
from socket import AF_UNIX, SOCK_STREAM, socket
from types import TracebackType
from typing import Any

from redis import Redis
from redis.exceptions import NoScriptError, ResponseError

_Call = tuple[tuple[Any, ...], dict[str, Any]]


class QuickRedis(Redis):
    """A client on one unix socket, for one thread.

    Half of the time of a simulation would go into redis-py's own pools, retries and observers, which have their
    tests elsewhere.
    """

    def __init__(self, url: str) -> None:
        super().__init__(connection_pool=Redis.from_url(url, protocol=2).connection_pool)
        self._socket = socket(AF_UNIX, SOCK_STREAM)
        self._socket.connect(url.removeprefix("unix://"))
        self._answers = self._socket.makefile("rb")
        self._shapes: dict[str, Any] = dict(self.response_callbacks)

    def execute_command(self, *args: Any, **options: Any) -> Any:
        return self.together([(args, options)])[0]

    def pipeline(self, transaction: bool = True, shard_hint: Any = None) -> Any:
        return _Together(self)

    def together(self, calls: Sequence[_Call]) -> list[Any]:
        self._socket.sendall(b"".join([_pack_command(args) for args, _ in calls]))
        answers = [self._answer() for _ in calls]
        for answer in answers:
            if isinstance(answer, ResponseError):
                raise answer
        return [self._as_usual(call, answer) for call, answer in zip(calls, answers, strict=True)]

    def close(self) -> None:
        self._answers.close()
        self._socket.close()

    def _as_usual(self, call: _Call, answer: Any) -> Any:
        args, options = call
        shape = self._shapes.get(args[0])
        return (
            shape(answer, **{name: each for name, each in options.items() if name != "keys"}) if shape else answer
        )

    def _answer(self) -> Any:
        line = self._answers.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"$":
            return None if rest == b"-1" else self._answers.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self._answer() for _ in range(int(rest))]
        if kind == b"-":
            return (NoScriptError if rest.startswith(b"NOSCRIPT") else ResponseError)(rest.decode())
        return int(rest) if kind == b":" else rest


class _Together(Redis):
    """A pipeline: what it is told waits until it is executed."""

    def __init__(self, client: QuickRedis) -> None:
        self._client = client
        self._calls: list[_Call] = []

    def execute_command(self, *args: Any, **options: Any) -> Any:
        self._calls.append((args, options))
        return self

    def execute(self) -> list[Any]:
        calls, self._calls = self._calls, []
        return self._client.together(calls)

    def __enter__(self) -> _Together:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """There is nothing to give back."""

    def __del__(self) -> None:
        """Nor here."""


def _pack_command(args: tuple[Any, ...]) -> bytes:
    words = (*args[0].split(), *args[1:])
    parts = [each if isinstance(each, bytes) else str(each).encode() for each in words]
    return b"*%d\r\n" % len(parts) + b"".join([b"$%d\r\n%b\r\n" % (len(part), part) for part in parts])
