"""A local Slack and its page, started for a bot that runs beside it."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from localslack.manifest import Manifest
from localslack.page.about import About, Suggestion
from localslack.page.setup import YOU, Reader, make_page
from localslack.server.local_slack import LocalSlack
from localslack.server.team import Times, refuse_socket
from localslack.users.transport import HttpTransport, Transport

_CHANNEL = "C0GENERAL"
# Slack's own limit of posts to a channel
_POSTS_PER_SECOND = 1.0


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """The app, the transport of its events, its credentials and the ports to serve on.

    Without a ``bot_url`` the bot opens WebSockets (Socket Mode). A port of 0 is any free one.
    """

    app: Manifest
    bot_url: str | None
    signing_secret: str
    bot_token: str
    app_token: str
    channel: str
    zone: ZoneInfo
    port: int = 0
    api_port: int = 0


@dataclass(frozen=True, slots=True)
class Addresses:
    """Addresses of a running local Slack: the page, with its access token, and the base address of the Web API."""

    page: str
    api: str


@contextmanager
def start(launch: LaunchOptions) -> Iterator[Addresses]:
    """Run the local Slack while the context lasts.

    Raises:
        OSError: a port is not available.
        ModuleNotFoundError: the library for Socket Mode is not installed.
    """
    with ExitStack() as parts:
        link, transport = _open_transport(launch, parts)
        slack = parts.enter_context(_make_slack(launch, link))
        slack.set_person(YOU, name="You", tz=launch.zone.key)
        slack.enable_home(enabled=launch.app.has_home)
        slack.watch_domains(launch.app.unfurl_domains)
        slack.declare_steps(launch.app.steps)
        if agent := launch.app.agent:
            slack.declare_agent(hears_stop=agent.hears_stop, prompts=agent.prompts)
        reader = Reader(zone=launch.zone, now=lambda: datetime.now(launch.zone))
        page = make_page(
            slack,
            transport,
            _make_about(launch.app),
            secrets.token_urlsafe(),
            reader=reader,
            app=launch.app,
            port=launch.port,
        )
        parts.enter_context(page)
        parts.callback(page.close)
        yield Addresses(page.address, f"{slack.url}/api/")


def _open_transport(launch: LaunchOptions, parts: ExitStack) -> tuple[Callable[[], str], Transport]:
    """Return the function that makes WebSocket addresses, and the transport to the bot."""
    url = launch.bot_url
    if url is not None:
        return refuse_socket, HttpTransport(url, launch.signing_secret)
    # only Socket Mode needs its library
    from localslack.socket_mode import SocketModeServer, SocketTransport  # noqa: PLC0415

    socket = SocketModeServer()
    parts.callback(socket.stop)
    return socket.make_address, SocketTransport(socket)


def _make_slack(launch: LaunchOptions, link: Callable[[], str]) -> LocalSlack:
    return LocalSlack(
        launch.bot_token,
        scopes=launch.app.scopes,
        app_token=launch.app_token,
        bot_name=launch.app.name,
        channel=(_CHANNEL, launch.channel),
        posts_per_second=_POSTS_PER_SECOND,
        link=link,
        times=Times(now=time.time),
        port=launch.api_port,
    )


def _make_about(app: Manifest) -> About:
    """Return the page's heading and its suggestions."""
    tries = (*(Suggestion(command.name) for command in app.commands[:3]), Suggestion(f"@{app.name} hello"))
    return About(f"{app.name} in a local Slack", tries=tries)
