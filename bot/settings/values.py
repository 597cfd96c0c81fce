"""Types of values: parsed from text, or refused with advice that does not repeat the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import time
from ipaddress import ip_address
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator

from bot.domain.errors import UsageError
from bot.domain.operations.usage import ModelPrice
from bot.domain.time.day import parse_time

# workspaces and organisations, channels, users
_SLACK_ID_PATTERN = re.compile(r"[TECGDUW][A-Z0-9]{2,}")
_CHANNEL_ID_PATTERN = re.compile(r"[CGD][A-Z0-9]{2,}")
_SECONDS_PATTERN = re.compile(r"(\d\d:\d\d):00")

# of a region or a project of a cloud, both of which stand in addresses
_CLOUD_NAME_PATTERN = re.compile(r"[a-z][a-z0-9-]{1,62}")

# names that no public network resolves
_PRIVATE_SUFFIXES = (".localhost", ".local", ".internal", ".lan", ".home.arpa", ".svc", ".cluster.local")
# an address without a user, a query and a fragment
_PLAIN_ADDRESS_PATTERN = re.compile(r"(?:(?![@?#])[!-~])+")
_PLAIN_NAME_PATTERN = re.compile(r"[a-z][a-z0-9_-]*")
# US dollars, up to a million
_PRICE_PATTERN = re.compile(r"(?P<input>[0-9]{1,6}(?:\.[0-9]{1,6})?)/(?P<output>[0-9]{1,6}(?:\.[0-9]{1,6})?)")

# the prefix of keys, without colon and slash, which are separators
_PREFIX_PATTERN = re.compile(r"[A-Za-z0-9._-]{1,64}")
_PORT_PATTERN = re.compile(r"[0-9]{1,5}")
# two more than the port of the first process are needed for the others
_MAX_PORT = 65_533
LOOPBACK = "127.0.0.1"


def split_list(value: str) -> list[str]:
    """Split a list at commas and blanks."""
    return value.replace(",", " ").split()


def parse_or_advise(parse: Callable[[str], object], value: object, advice: str) -> object:
    """Return the parsed value. A value that can't be parsed may be a misplaced secret, so it is not repeated.

    Raises:
        ValueError: with ``advice``.
    """
    if not isinstance(value, str):
        return value
    try:
        return parse(value)
    except UsageError as error:
        raise ValueError(advice) from error


def check_channel_id(value: str | None) -> str | None:
    """Return the id of a channel. Raises ValueError with advice for a name or another value."""
    if value is not None and not _CHANNEL_ID_PATTERN.fullmatch(value):
        raise ValueError("use the channel's id, such as C0123ABCD, not its name")
    return value


def _parse_time(value: object) -> object:
    """Parse a time of day as people write it in Slack, ``9am`` or ``09:00``. Raises ValueError with advice."""
    text = _SECONDS_PATTERN.sub(r"\1", value) if isinstance(value, str) else value
    return parse_or_advise(parse_time, text, "write it as 09:00 or 9am")


def _check_address(value: str) -> str:
    """Return an HTTP address. Raises ValueError for another value."""
    address = urlsplit(value)
    if address.scheme not in ("http", "https") or not address.hostname:
        raise ValueError("write it as http://host or https://host")
    return value


def _check_private_address(value: str | None) -> str | None:
    """Return an HTTPS address, or one over plain HTTP that stays on this machine or in a private network.

    Raises:
        ValueError: it is another value, or has parts besides host, port and path.
    """
    if value is None:
        return None
    try:
        address = urlsplit(value)
        has_host = address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:
        # a port that is none, or brackets
        has_host = False
    if not has_host or not _PLAIN_ADDRESS_PATTERN.fullmatch(value):
        raise ValueError("write host, port and path alone, such as http://127.0.0.1:8000/v1 or https://host/v1")
    if address.scheme == "http" and not _is_private_host(address.hostname or ""):
        raise ValueError("write it with https: plain http is for this machine and private networks alone")
    return value


def _is_private_host(host: str) -> bool:
    """Return whether a host is this machine or in a private network, by its name or address alone.

    A name without a dot is that of a container or a service beside this one.
    """
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        # a number without dots is an address, too
        return bool(_PLAIN_NAME_PATTERN.fullmatch(host)) or host.endswith(_PRIVATE_SUFFIXES)
    return address.is_loopback or (address.is_private and not address.is_unspecified)


def _parse_prices(value: object) -> object:
    """Parse ``IN/OUT`` for all models, or ``NAME=IN/OUT`` for each. Raises ValueError with advice."""
    if not isinstance(value, str):
        return value
    prices = {}
    for part in split_list(value):
        name, _, price = part.rpartition("=")
        match = _PRICE_PATTERN.fullmatch(price)
        if match is None:
            raise ValueError(
                "write IN/OUT in dollars for a million tokens, such as 0.10/0.40, or NAME=IN/OUT for each model"
            )
        prices[name] = ModelPrice(float(match["input"]), float(match["output"]))
    return prices


def _check_slack_id(value: str | None) -> str | None:
    """Return an id of Slack. Raises ValueError for another value."""
    if value is not None and not _SLACK_ID_PATTERN.fullmatch(value):
        raise ValueError("use a Slack id such as C0123ABCD, not a name")
    return value


def _parse_slack_ids(value: object) -> object:
    """Parse a list of ids of Slack. Raises ValueError for another value."""
    if not isinstance(value, str):
        return value
    ids = frozenset(split_list(value))
    if not ids:
        raise ValueError("name at least one, or leave it empty to allow all")
    if not all(_SLACK_ID_PATTERN.fullmatch(each) for each in ids):
        raise ValueError("use Slack ids such as C0123ABCD, not names, separated by commas")
    return ids


def _check_prefix(value: str) -> str:
    """Return a prefix for keys. Raises ValueError for another value."""
    if value and not _PREFIX_PATTERN.fullmatch(value):
        raise ValueError("use up to 64 letters, digits, dots, dashes and underscores, such as team-a")
    return value


def _check_cloud_name(value: str | None) -> str | None:
    """Return the name of a region or project. Raises ValueError for another value."""
    if value is not None and not _CLOUD_NAME_PATTERN.fullmatch(value):
        raise ValueError("use lower-case letters, digits and dashes, such as us-east-1")
    return value


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """A host and a port to listen on; port 0 takes any free one."""

    host: str
    port: int

    def __str__(self) -> str:
        # an IPv6 address has colons of its own
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def _parse_listen_address(value: object) -> object:
    """Parse ``HOST:PORT``, or a port of this machine alone. Raises ValueError with advice."""
    if not isinstance(value, str):
        return value
    host, _, port = value.strip().rpartition(":")
    if not _PORT_PATTERN.fullmatch(port) or int(port) > _MAX_PORT:
        raise ValueError("write a port, such as 9464, or HOST:PORT")
    return ListenAddress(host.strip("[]") or LOOPBACK, int(port))


Address = Annotated[str, AfterValidator(_check_address)]
PrivateAddress = Annotated[str | None, AfterValidator(_check_private_address)]
ModelPrices = Annotated[Mapping[str, ModelPrice], BeforeValidator(_parse_prices)]
SlackId = Annotated[str | None, AfterValidator(_check_slack_id)]
SlackIds = Annotated[frozenset[str], BeforeValidator(_parse_slack_ids)]
MetricsAddress = Annotated[ListenAddress | None, BeforeValidator(_parse_listen_address)]
RequiredAddress = Annotated[ListenAddress, BeforeValidator(_parse_listen_address)]
ChannelId = Annotated[str | None, AfterValidator(check_channel_id)]
TimeOfDay = Annotated[time, BeforeValidator(_parse_time)]
CloudName = Annotated[str | None, AfterValidator(_check_cloud_name)]
StorePrefix = Annotated[str, AfterValidator(_check_prefix)]
