"""What runs until it is stopped: the processes of the Procfile, and the server over which agents read."""

from __future__ import annotations

import secrets
import time

import click

from bot.cli.base import format_example, open_command_app
from bot.errors import ConfigurationError
from bot.mcp import EXTRA_HINT, has_sdk
from bot.settings import require_secret

_TOKEN_HINT = "a token of 32 characters or more, which clients send"  # noqa: S105 (what it is)


def _make_command(name: str, short_help: str, text: str) -> click.Command:
    @click.command(name, short_help=short_help, help=text, epilog=format_example(f"prdigest {name}"))
    def run_process() -> None:
        from bot import processes  # noqa: PLC0415

        run = {
            "run": processes.run_all,
            "web": processes.run_web,
            "worker": processes.run_worker,
            "clock": processes.run_clock,
        }[name]
        with open_command_app("INFO") as app:
            run(app)

    return run_process


PROCESS_COMMANDS = (
    _make_command("run", "Run everything in one process.", "Run the bot: everything in one process."),
    _make_command(
        "web",
        "Take Slack's requests (a process of the Procfile).",
        "Receive Slack's requests (one process of the Procfile).",
    ),
    _make_command("worker", "Run jobs (a process of the Procfile).", "Run jobs (one process of the Procfile)."),
    _make_command(
        "clock",
        "Post what is due (a process of the Procfile).",
        "Start digests at their time (one process of the Procfile).",
    ),
)


@click.command(
    "mcp", short_help="Serve tools to coding agents (MCP).", epilog=format_example("prdigest mcp --http")
)
@click.option(
    "--http",
    "over_http",
    is_flag=True,
    help="Serve over HTTP on PRDIGEST_MCP_ADDRESS, for clients that have the token.",
)
def mcp_command(*, over_http: bool) -> None:
    """Serve tools to coding agents over the Model Context Protocol.

    Without --http, one client starts this command and talks over its standard input and output. Everything is read
    only, and no model is asked.
    """
    if not has_sdk():
        raise ConfigurationError(EXTRA_HINT)
    with open_command_app("INFO") as app:
        settings = app.settings
        token = require_secret(settings.prdigest_mcp_token, "PRDIGEST_MCP_TOKEN", _TOKEN_HINT) if over_http else ""
        from bot.features.renames import follow_renames  # noqa: PLC0415
        from bot.mcp.calls import AgentTools  # noqa: PLC0415
        from bot.mcp.http import HttpServer  # noqa: PLC0415
        from bot.mcp.server import build_server, serve_stdio  # noqa: PLC0415

        follow_renames(app)
        client = "http" if over_http else "stdio"
        server = build_server(AgentTools(app, client, time.monotonic, lambda: secrets.token_hex(4)))
        if over_http:
            HttpServer(server, token, settings.prdigest_mcp_address, settings.prdigest_mcp_hosts).run()
        else:
            serve_stdio(server)
