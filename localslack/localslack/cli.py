"""The command line: starts a local Slack for any bot and prints what the bot needs to connect to it."""

from __future__ import annotations

import secrets
import signal
import threading
import webbrowser
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import click

from localslack.launch import Addresses, LaunchOptions, start
from localslack.manifest import Manifest, SlashCommand, read_manifest

_TOKEN_BYTES = 16


def _check_url(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Refuse any address but ``http://``: the bot runs on this machine or in a container on it."""
    if value is None:
        return None
    url = urlsplit(value)
    if url.scheme != "http" or not url.hostname:
        raise click.BadParameter("use an http:// address, such as http://127.0.0.1:3000/slack/events")
    return value


def _check_commands(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[SlashCommand, ...]:
    """Refuse what Slack does not accept as a command, which is a slash and a name without blanks."""
    for value in values:
        if not value.startswith("/") or len(value.split()) != 1 or value == "/":
            raise click.BadParameter(f"{value!r} is not a command: begin with a slash, without blanks")
    return tuple(map(SlashCommand, values))


def _check_zone(_: click.Context, __: click.Parameter, value: str) -> ZoneInfo:
    try:
        return ZoneInfo(value)
    except (ValueError, OSError, KeyError) as error:
        raise click.BadParameter(f"{value!r} is not a time zone: use one such as Europe/Berlin") from error


def _check_manifest(_: click.Context, __: click.Parameter, path: Path | None) -> Manifest:
    if path is None:
        return Manifest()
    try:
        return read_manifest(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise click.BadParameter(f"{path}: {error}") from error


@click.command(context_settings={"auto_envvar_prefix": "LOCALSLACK", "show_default": True})
@click.option("--bot-url", callback=_check_url, help="Address where the bot receives Slack's HTTP requests.")
@click.option("--socket-mode", is_flag=True, help="Use Socket Mode: the bot opens a WebSocket.")
@click.option(
    "--manifest",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=_check_manifest,
    help="The app's manifest as JSON: its name, slash commands and scopes.",
)
@click.option(
    "--command", "commands", multiple=True, callback=_check_commands, help=("A slash command, such as /hello.")
)
@click.option("--bot-name", help="Name of the bot.  [default: as in the manifest, or bot]")
@click.option("--channel", default="general", help="The name of the channel.")
@click.option("--timezone", "zone", default="UTC", callback=_check_zone, help="The time zone of the person.")
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=4500, help=("Port of the page; 0 means any free port.")
)
@click.option(
    "--api-port",
    type=click.IntRange(0, 65_535),
    default=4501,
    help=("Port of the Web API; 0 means any free port."),
)
@click.option("--signing-secret", help="Secret that signs the requests.  [default: a new one each time]")
@click.option("--bot-token", help="The bot's token.  [default: a new one each time]")
@click.option("--app-token", help="The app's token, for Socket Mode.  [default: a new one each time]")
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
def main(
    *,
    bot_url: str | None,
    socket_mode: bool,
    manifest: Manifest,
    commands: tuple[SlashCommand, ...],
    bot_name: str | None,
    channel: str,
    zone: ZoneInfo,
    port: int,
    api_port: int,
    signing_secret: str | None,
    bot_token: str | None,
    app_token: str | None,
    opens: bool,
) -> None:
    """Start a Slack on this machine, with a page to use it, for a bot that runs here too.

    Every option can be set as LOCALSLACK_<NAME> in the environment, too.
    """
    if socket_mode == bool(bot_url):
        raise click.UsageError("How does the bot receive requests? Pass --bot-url http://..., or --socket-mode.")
    app = replace(manifest, name=bot_name or manifest.name, commands=(*manifest.commands, *commands))
    launch = LaunchOptions(
        app,
        bot_url,
        signing_secret or secrets.token_hex(_TOKEN_BYTES),
        bot_token or f"xoxb-{secrets.token_hex(_TOKEN_BYTES)}",
        app_token or f"xapp-{secrets.token_hex(_TOKEN_BYTES)}",
        channel,
        zone,
        port,
        api_port,
    )
    _serve_until_stopped(launch, opens=opens)


def _serve_until_stopped(launch: LaunchOptions, *, opens: bool) -> None:
    """Run until Ctrl-C or SIGTERM."""
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    try:
        with start(launch) as addresses:
            click.echo(_format_instructions(launch, addresses))
            if opens:
                webbrowser.open(addresses.page)
            stopped.wait()
    except OSError as error:
        cause = error.strerror or str(error)
        raise click.ClickException(
            f"The ports can't be used ({cause}): choose other ports with --port and --api-port."
        ) from error
    except ModuleNotFoundError as error:
        raise click.ClickException(
            "Socket Mode needs websockets: pip install 'localslack[socket-mode]'."
        ) from error


def _format_instructions(launch: LaunchOptions, addresses: Addresses) -> str:
    """Return the text for the person: the page's address, and the settings for the bot."""
    over_http = f"SLACK_SIGNING_SECRET={launch.signing_secret}", f"Events are sent to {launch.bot_url}"
    over_socket = f"SLACK_APP_TOKEN={launch.app_token}", "Events are sent through the bot's WebSocket"
    credential, way = over_http if launch.bot_url else over_socket
    return "\n".join(
        (
            f"Open {addresses.page}",
            "",
            "Start the bot with",
            f"  SLACK_API_URL={addresses.api}",
            f"  SLACK_BOT_TOKEN={launch.bot_token}",
            f"  {credential}",
            "",
            f"{way}. Press Ctrl-C to stop.",
        )
    )
