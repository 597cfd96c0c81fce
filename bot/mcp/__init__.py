"""The edge to other people's agents: tools and resources over the Model Context Protocol.

``server`` and ``http`` alone need the packages of the extra ``mcp``.
"""

from importlib.util import find_spec

EXTRA_HINT = "The MCP server needs an extra: install it with `uv sync --no-dev --extra mcp`."


def has_sdk() -> bool:
    return all(find_spec(package) is not None for package in ("mcp", "uvicorn"))
