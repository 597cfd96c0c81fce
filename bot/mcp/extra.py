"""Whether the packages of the extra ``mcp`` are installed."""

from __future__ import annotations

from importlib.util import find_spec

from bot.domain.errors import ConfigurationError

EXTRA_HINT = "The MCP server needs an extra: install it with `uv sync --no-dev --extra mcp`."


def has_sdk() -> bool:
    """Return whether they are installed."""
    return all(find_spec(package) is not None for package in ("mcp", "uvicorn"))


def require_sdk(*, is_installed: bool) -> None:
    """Raise ConfigurationError, which says what to install, without them."""
    if not is_installed:
        raise ConfigurationError(EXTRA_HINT)
