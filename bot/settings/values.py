"""Types of values: parsed from text, or refused with advice that does not repeat the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import time
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

from bot.dates import parse_time, parse_zone
from bot.errors import UsageError
from bot.usage import ModelPrice
from impact.profile.models import parse_profile_name
from impact.repository import Repository

# workspaces and organisations, channels, users
_SLACK_ID = re.compile(r"[TECGDUW][A-Z0-9]{2,}")
_SECONDS = re.compile(r"(\d\d:\d\d):00")
# names that no public network resolves
_PRIVATE_SUFFIXES = (".localhost", ".local", ".internal", ".lan", ".home.arpa", ".svc", ".cluster.local")
# an address without a user, a query and a fragment
_PLAIN_ADDRESS = re.compile(r"(?:(?![@?#])[!-~])+")
_PLAIN_NAME = re.compile(r"[a-z][a-z0-9_-]*")
# US dollars, up to a million
_PRICE = re.compile(r"(?P<input>[0-9]{1,6}(?:\.[0-9]{1,6})?)/(?P<output>[0-9]{1,6}(?:\.[0-9]{1,6})?)")
_PORT = re.compile(r"[0-9]{1,5}")
# two more than the port of the first process are needed for the others
_MAX_PORT = 65_533
LOOPBACK = "127.0.0.1"
OFF = "off"
# of one upstream: each is fetched every six hours
MAX_DOWNSTREAMS = 12
# characters; 32 random ones can't be guessed
MIN_TOKEN_LENGTH = 32
# a name or an IPv4 address of a host, perhaps with a port, as a Host header has it
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::\d{1,5})?", re.I | re.A)


def split_list(value: str) -> list[str]:
    return value.replace(",", " ").split()


def parse_or_advise(parse: Callable[[str], object], value: object, advice: str) -> object:
    """Return the parsed value. Raises ValueError with ``advice``, which repeats no misplaced secret."""
    if not isinstance(value, str):
        return value
    try:
        return parse(value)
    except UsageError as error:
        raise ValueError(advice) from error


def _parse_folders(value: object) -> object:
    """Return folders, each of another name. Raises ValueError."""
    if not isinstance(value, str):
        return value
    folders = [Path(part.strip()) for part in value.split(",") if part.strip()]
    if len({folder.name for folder in folders}) < len(folders):
        raise ValueError("write folders of different names, separated by commas")
    return tuple(folders)


def _make_parser(parse: Callable[[str], object], advice: str = "") -> BeforeValidator:
    return BeforeValidator(lambda value: parse_or_advise(parse, value, advice))


def _make_check(pattern: str, advice: str) -> Callable[[str | None], str | None]:
    """Return a function that returns what is empty or fits, and raises ValueError with advice for all else."""

    def check(value: str | None) -> str | None:
        if value and not re.fullmatch(pattern, value):
            raise ValueError(advice)
        return value

    return check


def _check_address(value: str) -> str:
    address = urlsplit(value)
    if address.scheme not in ("http", "https") or not address.hostname:
        raise ValueError("write it as http://host or https://host")
    return value


def _check_private_address(value: str | None) -> str | None:
    """Return an HTTPS address of host, port and path, or HTTP in a private network. Raises ValueError."""
    if value is None:
        return None
    try:
        address = urlsplit(value)
        has_host = address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:
        # a port that is none, or brackets
        has_host = False
    if not has_host or not _PLAIN_ADDRESS.fullmatch(value):
        raise ValueError("write host, port and path alone, such as http://127.0.0.1:8000/v1 or https://host/v1")
    if address.scheme == "http" and not is_private_host(address.hostname or ""):
        raise ValueError("write it with https: plain http is for this machine and private networks alone")
    return value


def is_private_host(host: str) -> bool:
    """Return whether a host is private by name or address alone; one without a dot is a neighboring container."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        # a number without dots is an address, too
        return bool(_PLAIN_NAME.fullmatch(host)) or host.endswith(_PRIVATE_SUFFIXES)
    return address.is_loopback or (address.is_private and not address.is_unspecified)


def _parse_prices(text: str) -> Mapping[str, ModelPrice]:
    """Parse ``IN/OUT`` for all models, or ``NAME=IN/OUT`` for each. Raises ValueError with advice."""
    prices = {}
    for part in split_list(text):
        name, _, price = part.rpartition("=")
        match = _PRICE.fullmatch(price)
        if match is None:
            raise ValueError(
                "write IN/OUT in dollars for a million tokens, such as 0.10/0.40, or NAME=IN/OUT for each model"
            )
        prices[name] = ModelPrice(float(match["input"]), float(match["output"]))
    return prices


def parse_slack_ids(text: str) -> frozenset[str]:
    ids = frozenset(split_list(text))
    if not ids:
        raise ValueError("name at least one, or leave it empty to allow all")
    if not all(_SLACK_ID.fullmatch(each) for each in ids):
        raise ValueError("use Slack ids such as C0123ABCD, not names, separated by commas")
    return ids


def _check_token(value: SecretStr | None) -> SecretStr | None:
    if value is not None and len(value.get_secret_value()) < MIN_TOKEN_LENGTH:
        raise ValueError(f"use {MIN_TOKEN_LENGTH} characters or more, such as those of `openssl rand -hex 32`")
    return value


def _check_listen_host(text: str | None) -> str | None:
    try:
        return str(ip_address(text)) if text else None
    except ValueError as error:
        raise ValueError("write an IP address, such as 127.0.0.1, or 0.0.0.0 for all") from error


def _parse_hosts(text: str) -> frozenset[str]:
    hosts = frozenset(each.lower() for each in split_list(text))
    if not all(_HOST.fullmatch(each) for each in hosts):
        raise ValueError("write names of hosts, such as mcp.example.com, separated by commas")
    return hosts


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """A host and a port to listen on; port 0 takes any free one."""

    host: str
    port: int

    def __str__(self) -> str:
        # an IPv6 address has colons of its own
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class PackageIndexAddress:
    """The address of a package index, without a slash at its end, and other hosts that its files may lie on."""

    url: str
    hosts: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return ",".join([self.url, *sorted(self.hosts)])


def _parse_package_index(text: str) -> PackageIndexAddress | None:
    """Parse an address, and hosts after it. Raises ValueError with advice."""
    url, *hosts = split_list(text) or [""]
    _check_private_address(url)
    return PackageIndexAddress(url.rstrip("/"), _parse_hosts(" ".join(hosts)))


@dataclass(frozen=True, slots=True)
class DownstreamLists:
    """Public repositories that build on others, by the names of these in lower case."""

    by_upstream: Mapping[str, tuple[Repository, ...]]

    def __str__(self) -> str:
        lists = (f"{name}={','.join(map(str, listed))}" for name, listed in self.by_upstream.items())
        return "; ".join(lists) or OFF


def parse_downstreams(text: str) -> DownstreamLists:
    """Parse ``upstream=downstream,downstream; …``, or ``off``. Raises UsageError."""
    by_upstream: dict[str, tuple[Repository, ...]] = {}
    for part in filter(str.strip, text.split(";") if text.strip().lower() != OFF else ()):
        upstream, *listed = map(Repository.parse, split_list(part.replace("=", " ", 1))[: MAX_DOWNSTREAMS + 2])
        if not listed or len(listed) > MAX_DOWNSTREAMS:
            raise UsageError(f"Name up to {MAX_DOWNSTREAMS} repositories that build on {upstream}.")
        by_upstream[str(upstream).lower()] = tuple(listed)
    return DownstreamLists(by_upstream)


def _parse_listen_address(text: str) -> ListenAddress:
    """Parse ``HOST:PORT``, or a port of this machine alone. Raises ValueError with advice."""
    host, _, port = text.strip().rpartition(":")
    if not _PORT.fullmatch(port) or int(port) > _MAX_PORT:
        raise ValueError("write a port, such as 9464, or HOST:PORT")
    return ListenAddress(host.strip("[]") or LOOPBACK, int(port))


check_channel_id = _make_check(r"[CGD][A-Z0-9]{2,}", "use the channel's id, such as C0123ABCD, not its name")
_check_slack_id = _make_check(_SLACK_ID.pattern, "use a Slack id such as C0123ABCD, not a name")
# of a region or a project of a cloud, both of which stand in addresses
_check_cloud_name = _make_check(
    r"[a-z][a-z0-9-]{1,62}", "use lower-case letters, digits and dashes, such as us-east-1"
)
# without colon and slash, which are separators in keys
_check_prefix = _make_check(
    r"[A-Za-z0-9._-]{1,64}", "use up to 64 letters, digits, dots, dashes and underscores, such as team-a"
)

Address = Annotated[str, AfterValidator(_check_address)]
PrivateAddress = Annotated[str | None, AfterValidator(_check_private_address)]
ModelPrices = Annotated[Mapping[str, ModelPrice], _make_parser(_parse_prices)]
SlackId = Annotated[str | None, AfterValidator(_check_slack_id)]
SlackIds = Annotated[frozenset[str], _make_parser(parse_slack_ids)]
PackageIndexSetting = Annotated[PackageIndexAddress | None, _make_parser(_parse_package_index)]
DownstreamSetting = Annotated[
    DownstreamLists,
    _make_parser(
        parse_downstreams,
        f"write owner/upstream=owner/name,owner/name with up to {MAX_DOWNSTREAMS} names, separated by semicolons, "
        "or off",
    ),
]
RequiredAddress = Annotated[ListenAddress, _make_parser(_parse_listen_address)]
ListenHost = Annotated[str | None, AfterValidator(_check_listen_host)]
MetricsAddress = Annotated[ListenAddress | None, _make_parser(_parse_listen_address)]
ChannelId = Annotated[str | None, AfterValidator(check_channel_id)]
CloudName = Annotated[str | None, AfterValidator(_check_cloud_name)]
StorePrefix = Annotated[str, AfterValidator(_check_prefix)]
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]
LongToken = Annotated[SecretStr | None, AfterValidator(_check_token)]
HostNames = Annotated[frozenset[str], _make_parser(_parse_hosts)]
ProfileNames = Annotated[
    frozenset[str],
    _make_parser(
        lambda text: frozenset(map(parse_profile_name, split_list(text))),
        "write names of profiles, separated by commas",
    ),
]
CloneFolders = Annotated[tuple[Path, ...], BeforeValidator(_parse_folders)]
Zone = Annotated[ZoneInfo, _make_parser(parse_zone, "use an IANA name, such as America/Los_Angeles")]
# as people write it in Slack
TimeOfDay = Annotated[
    time, _make_parser(lambda text: parse_time(_SECONDS.sub(r"\1", text)), "write it as 09:00 or 9am")
]
