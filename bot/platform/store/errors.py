"""Errors of a Redis server as one sentence that names the cause and what to do about it."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

from redis.exceptions import AuthenticationError, RedisError, ResponseError

from bot.errors import StoreUnavailable

CLUSTER_UNSUPPORTED = (
    "The store is a Redis Cluster, which prdigest doesn't support: set REDIS_URL to a single server."
)
_UNREACHABLE = "The store does not answer: start Redis or check REDIS_URL (unset it to use the embedded store)."
_WRONG_PASSWORD = "The store rejected the password: check the user and the password in REDIS_URL."  # noqa: S105 (about it)
_READ_ONLY_REPLICA = "The store is a read-only replica: set REDIS_URL to its primary."
_MISSING_RIGHTS = "The store's user lacks a permission: in its ACL, allow {} and the keys of prdigest."
_CONNECTION_CLOSED = (
    "The store closes the connection: check that it runs, or write rediss:// in REDIS_URL if it needs TLS."
)
# the first word of an error of a server, by its protocol
_SENTENCES_BY_CODE = {
    "NOAUTH": "The store needs a password: write it into REDIS_URL as redis://:password@host:6379/0.",
    "WRONGPASS": _WRONG_PASSWORD,
    "NOPERM": _MISSING_RIGHTS.format("all commands (+@all)"),
    "OOM": "The store is full: raise maxmemory of the server.",
    "READONLY": _READ_ONLY_REPLICA,
    "MASTERDOWN": _READ_ONLY_REPLICA,
    "MISCONF": "The store accepts no writes because it can't save its data: check its disk and its log.",
    "LOADING": "The store is still reading its data: try again in a minute.",
    "WRONGTYPE": (
        "The store has another program's data under a key of prdigest: set PRDIGEST_STORE_PREFIX, or use "
        "another REDIS_URL."
    ),
    **dict.fromkeys(("CLUSTERDOWN", "MOVED", "ASK", "TRYAGAIN", "CROSSSLOT"), CLUSTER_UNSUPPORTED),
}
# parts of errors that have no such word, or that a script or a pipeline passed on
_SENTENCES_BY_TEXT = {
    "ACL failure in script": _MISSING_RIGHTS.format("all commands (+@all)"),
    "max number of clients": "The store accepts no more connections: raise maxclients of the server.",
    "Connection closed by server": _CONNECTION_CLOSED,
    "Connection reset by peer": _CONNECTION_CLOSED,
}
_NO_TLS = "The store does not answer in TLS: check that it runs, or write redis:// in REDIS_URL if it has no TLS."
_UNVERIFIED_CERTIFICATE = (
    "The store's certificate can't be verified: add its authority to REDIS_URL as ?ssl_ca_certs=/path/to/ca.pem."
)
_COMMAND_REFUSED = "The store rejected a command: see the log of the server."
_MISSING_COMMAND = "The store has no command {}, which prdigest needs: set REDIS_URL to another server."
# of an ACL, and of a server that lacks a command or hides it
_REFUSED_COMMAND = re.compile(r"no permissions to run the '([a-z|]{2,40})'", re.I)
_UNKNOWN_COMMAND = re.compile(r"unknown command [`']?([a-z|]{2,40})\b", re.I)
# a pipeline first names the command that failed
_ERROR_CODE = re.compile(r"(?:Command # \d+ .* of pipeline caused error: )?([A-Z]+) ", re.S)


@contextmanager
def translate_redis_errors() -> Iterator[None]:
    """Raise StoreUnavailable in place of what redis-py raises in the block."""
    try:
        yield
    except RedisError as error:
        raise StoreUnavailable(describe_redis_error(error)) from error


def describe_redis_error(error: RedisError) -> str:
    """Return the cause of an error and what to do about it, in one sentence without the server's own words."""
    text = str(error)
    code = error.status_code or (written[1] if (written := _ERROR_CODE.match(text)) else "")
    if refused := _REFUSED_COMMAND.search(text):
        name = refused[1].lower()
        return _MISSING_RIGHTS.format(f"{name.replace('|', ' ').upper()} (+{name})")
    if unknown := _UNKNOWN_COMMAND.search(text):
        return _MISSING_COMMAND.format(unknown[1].upper())
    by_text = (sentence for mark, sentence in _SENTENCES_BY_TEXT.items() if mark in text)
    if sentence := _SENTENCES_BY_CODE.get(code) or next(by_text, None):
        return sentence
    # a failed handshake is wrapped
    causes = _list_causes(error)
    if any(isinstance(each, ssl.SSLCertVerificationError) for each in causes):
        return _UNVERIFIED_CERTIFICATE
    if any(isinstance(each, ssl.SSLError) or "handshake" in str(each) for each in causes):
        return _NO_TLS
    if isinstance(error, AuthenticationError):
        return _WRONG_PASSWORD
    return _COMMAND_REFUSED if isinstance(error, ResponseError) else _UNREACHABLE


def _list_causes(error: BaseException) -> list[BaseException]:
    causes: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in causes:
        causes.append(current)
        current = current.__cause__ or current.__context__
    return causes
