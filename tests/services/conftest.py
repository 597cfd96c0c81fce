"""The outside worlds of the services: a model and a Slack on the loopback, and a real store."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from redis import Redis

from bot.platform.models.claude.connection import ClaudeConnection, make_claude_client
from bot.platform.store.connection import RedisCache
from bot.ports import Model
from tests.emulators.claude.server import ClaudeEmulator


@pytest.fixture
def model(claude: ClaudeEmulator) -> Iterator[Model]:
    with make_claude_client(claude.api_key, claude.url) as client:
        yield ClaudeConnection(client)


@pytest.fixture
def cache(store: Redis) -> RedisCache:
    return RedisCache(store)
