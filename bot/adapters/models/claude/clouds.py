"""Claude through a cloud: the SDK's own clients for Bedrock and Vertex AI, with the credentials of that cloud.

The cloud's library finds the credentials (environment, profile, role, metadata service). This project never reads
them. The library calls services of its own for that, with its own limits: boto3 waits 60 seconds for an answer,
google-auth 120. A call whose deadline has passed by then ends at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec

import httpx2
from anthropic import AnthropicBedrockMantle, AnthropicError, AnthropicVertex

from bot.adapters.models.claude import PROJECT, REGION
from bot.adapters.models.claude.errors import CloudAccessError
from bot.adapters.models.claude.transport import make_tracking_client
from bot.domain.errors import ConfigurationError
from bot.ports import ModelAccess

# Bedrock's names of Claude's models begin with the name of their maker
_BEDROCK_PREFIX = "anthropic."


@contextmanager
def _report_missing_access() -> Iterator[None]:
    """Raise CloudAccessError if the cloud's library finds no credentials, or can't renew them.

    Those libraries raise errors of many types; the request itself is not sent within the block.
    """
    try:
        yield
    except AnthropicError:
        raise
    except Exception as error:
        raise CloudAccessError(type(error).__name__) from error


class BedrockClient(AnthropicBedrockMantle):
    """Client of Bedrock's Messages API that reports missing credentials as an error of the SDK."""

    def _prepare_request(self, request: httpx2.Request) -> None:
        with _report_missing_access():
            super()._prepare_request(request)


class VertexClient(AnthropicVertex):
    """Client of Vertex AI that reports missing credentials as an error of the SDK."""

    def _prepare_request(self, request: httpx2.Request) -> None:
        with _report_missing_access():
            super()._prepare_request(request)


CloudClient = BedrockClient | VertexClient


def _make_bedrock_client(access: ModelAccess, timeout: float) -> BedrockClient:
    """Create a client without retries. Raises ConfigurationError if the cloud's library is not installed."""
    require_library("boto3", "bedrock")
    return BedrockClient(
        aws_region=access.get_text(REGION), timeout=timeout, max_retries=0, http_client=make_tracking_client()
    )


def _make_vertex_client(access: ModelAccess, timeout: float) -> VertexClient:
    """Create a client without retries. Raises ConfigurationError if the cloud's library is not installed."""
    require_library("google.auth", "vertex")
    return VertexClient(
        region=access.get_text(REGION),
        project_id=access.get_text(PROJECT),
        timeout=timeout,
        max_retries=0,
        http_client=make_tracking_client(),
    )


def require_library(module: str, extra: str) -> None:
    """Raise ConfigurationError if the library of an extra is not installed."""
    if not _is_installed(module):
        raise ConfigurationError(
            f"PRDIGEST_MODEL_PROVIDER={extra} needs more libraries: install prdigest[{extra}], or run uv sync "
            f"--extra {extra}."
        )


def _is_installed(module: str) -> bool:
    """Return whether a module can be imported, without importing it."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        # the package around it
        return False


@dataclass(frozen=True, slots=True)
class ModelNaming:
    """Names of Claude's models at a cloud. ``prefix`` is added to the names of Claude's own API."""

    prefix: str = ""

    def name_model(self, model: str) -> str:
        """Return the cloud's name of a model. A name that is the cloud's already stays as it is."""
        return self.prefix + model if model.startswith("claude-") else model


# by the value of PRDIGEST_MODEL_PROVIDER: what creates a client with a limit in seconds, and the names of models
CLOUDS: Mapping[str, tuple[Callable[[ModelAccess, float], CloudClient], ModelNaming]] = {
    "bedrock": (_make_bedrock_client, ModelNaming(_BEDROCK_PREFIX)),
    "vertex": (_make_vertex_client, ModelNaming()),
}
