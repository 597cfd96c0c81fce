"""The server over standard input and output. All else that this process prints goes to standard error."""

from __future__ import annotations

from typing import Any

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server


def serve_stdio(server: Server[Any]) -> None:
    """Serve one client until its standard input ends."""
    anyio.run(_serve, server)


async def _serve(server: Server[Any]) -> None:
    async with stdio_server() as (requests, responses):
        await server.run(requests, responses, server.create_initialization_options())
