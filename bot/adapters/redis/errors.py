"""What a Redis server refuses or fails at, as one sentence that names the cause and what to do about it."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

from redis.exceptions import AuthenticationError, RedisError, ResponseError

from bot.domain.errors import StoreUnavailable

CLUSTER = "The store is a Redis Cluster, which prdigest can't use: set REDIS_URL to a single server."
_AWAY = "The store does not answer: start Redis or check REDIS_URL (unset it to use the embedded one)."
_PASSWORD = "The store refuses the password: check the user and the password in REDIS_URL."  # noqa: S105 (about it)
_REPLICA = "The store is a replica that takes no writes: set REDIS_URL to its primary."
_RIGHTS = "The store's user lacks a right: in its ACL, allow all commands (+@all) and the keys of prdigest."
_CLOSED = "The store closes the connection: see that it runs, or write rediss:// in REDIS_URL if it wants TLS."
# the first word of what a server answers, by its protocol
_BY_CODE = {
    "NOAUTH": "The store wants a password: write it into REDIS_URL as redis://:password@host:6379/0.",
    "WRONGPASS": _PASSWORD,
    "NOPERM": _RIGHTS,
    "OOM": "The store is full: raise maxmemory of the server.",
    "READONLY": _REPLICA,
    "MASTERDOWN": _REPLICA,
    "MISCONF": "The store takes no writes because it can't save its snapshots: see its disk and its log.",
    "LOADING": "The store is still reading its data: try again in a minute.",
    "WRONGTYPE": (
        "The store holds another program's data under a key of prdigest: set PRDIGEST_STORE_PREFIX, or use another"
        " REDIS_URL."
    ),
    **dict.fromkeys(("CLUSTERDOWN", "MOVED", "ASK", "TRYAGAIN", "CROSSSLOT"), CLUSTER),
}
# in the sentence of an error that has no such word, or that a script or a pipeline passed on
_BY_TEXT = {
    "ACL failure in script": _RIGHTS,
    "max number of clients": "The store takes no more connections: raise maxclients of the server.",
    "Connection closed by server": _CLOSED,
    "Connection reset by peer": _CLOSED,
}
_PLAIN = "The store does not answer in TLS: write redis:// in REDIS_URL if it has none, or see that it runs."
_CERTIFICATE = (
    "The store's certificate can't be verified: give its authority in REDIS_URL as ?ssl_ca_certs=/path/to/ca.pem."
)
_REFUSED = "The store refuses a command: see the log of the server."
# a pipeline says first which of its commands failed
_CODE = re.compile(r"(?:Command # \d+ .* of pipeline caused error: )?([A-Z]+) ", re.S)


@contextmanager
def translate_redis_errors() -> Iterator[None]:
    """Turn what redis-py raises into StoreUnavailable."""
    try:
        yield
    except RedisError as error:
        raise StoreUnavailable(sentence_of(error)) from error


def sentence_of(error: RedisError) -> str:
    """The cause of an error and what to do about it, in one sentence. It repeats nothing that the server said."""
    return _answer_sentence(error) or _tls_sentence(error) or _usual_sentence(error)


def _answer_sentence(error: RedisError) -> str | None:
    """Of an error that the server answered with."""
    text = str(error)
    code = error.status_code or (written[1] if (written := _CODE.match(text)) else "")
    if sentence := _BY_CODE.get(code):
        return sentence
    return next((sentence for mark, sentence in _BY_TEXT.items() if mark in text), None)


def _tls_sentence(error: RedisError) -> str | None:
    """Of a failed handshake, which redis-py wraps."""
    causes = _causes(error)
    if any(isinstance(each, ssl.SSLCertVerificationError) for each in causes):
        return _CERTIFICATE
    is_handshake = any(isinstance(each, ssl.SSLError) or "handshake" in str(each) for each in causes)
    return _PLAIN if is_handshake else None


def _usual_sentence(error: RedisError) -> str:
    if isinstance(error, AuthenticationError):
        return _PASSWORD
    return _REFUSED if isinstance(error, ResponseError) else _AWAY


def _causes(error: BaseException) -> list[BaseException]:
    """The error and those that led to it, the last first."""
    causes: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in causes:
        causes.append(current)
        current = current.__cause__ or current.__context__
    return causes
