"""Settings of the MCP server, over which other people's agents read what the bot knows."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

from bot.settings.description import Process, SettingsGroup, SettingUse
from bot.settings.values import LOOPBACK, ListenAddress, RequiredAddress, parse_or_advise, split_list
from impact.profile.names import parse_profile_name

_COMMANDS = (Process.COMMANDS,)
# characters; 32 random ones can't be guessed
MIN_TOKEN_LENGTH = 32
_DEFAULT_ADDRESS = ListenAddress(LOOPBACK, 3010)
# a name or an IPv4 address of a host, perhaps with a port, as a Host header has it
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::\d{1,5})?", re.I | re.A)


def _check_token(value: SecretStr | None) -> SecretStr | None:
    """Return a token. Raises ValueError for one that is too short."""
    if value is not None and len(value.get_secret_value()) < MIN_TOKEN_LENGTH:
        raise ValueError(f"use {MIN_TOKEN_LENGTH} characters or more, such as those of `openssl rand -hex 32`")
    return value


def _parse_hosts(value: object) -> object:
    """Parse a list of hosts. Raises ValueError with advice."""
    if not isinstance(value, str):
        return value
    hosts = frozenset(each.lower() for each in split_list(value))
    if not all(_HOST.fullmatch(each) for each in hosts):
        raise ValueError("write names of hosts, such as mcp.example.com, separated by commas")
    return hosts


def _parse_profiles(value: object) -> object:
    """Parse a list of names of profiles. Raises ValueError with advice."""
    if not isinstance(value, str):
        return value
    return frozenset(
        str(parse_or_advise(parse_profile_name, each, "write names of profiles, separated by commas"))
        for each in split_list(value)
    )


class AgentSettings(SettingsGroup):
    """What agents may read over MCP, and how they reach it."""

    heading: ClassVar = "Agents (MCP)"

    prdigest_mcp_profiles: Annotated[frozenset[str], BeforeValidator(_parse_profiles), SettingUse(_COMMANDS)] = (
        Field(
            default=frozenset(),
            description=(
                "The profiles that agents may see over MCP, separated by commas. Empty means none: the tools "
                "about profiles are then left out. One whose team says `explain: off` stays hidden all the same."
            ),
            examples=["plugin"],
        )
    )
    prdigest_mcp_calls: Annotated[int, Field(ge=1, le=10_000), SettingUse(_COMMANDS)] = Field(
        default=60, description="Maximum tool calls over MCP in a minute, 1 to 10000, of each way to connect."
    )
    prdigest_mcp_token: Annotated[
        SecretStr | None, AfterValidator(_check_token), SettingUse(_COMMANDS, is_token=True)
    ] = Field(
        default=None,
        description=(
            f"The bearer token that clients of `prdigest mcp --http` send, {MIN_TOKEN_LENGTH} characters or more. "
            "Anybody who has it reads what the tools read. Not needed over standard input and output."
        ),
    )
    prdigest_mcp_address: Annotated[RequiredAddress, SettingUse(_COMMANDS)] = Field(
        default=_DEFAULT_ADDRESS,
        description=(
            "Where `prdigest mcp --http` listens: a port on this machine alone, or HOST:PORT. Tokens and texts "
            "cross it unencrypted, so put a proxy with TLS in front before others reach it."
        ),
        examples=["3010", "10.0.0.5:3010"],
    )
    prdigest_mcp_hosts: Annotated[frozenset[str], BeforeValidator(_parse_hosts), SettingUse(_COMMANDS)] = Field(
        default=frozenset(),
        description=(
            "Names under which clients reach `prdigest mcp --http`, separated by commas, besides those of this "
            "machine. Requests for another host, and from the page of another one, are refused."
        ),
        examples=["mcp.example.com"],
    )
