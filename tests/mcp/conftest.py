"""The world of an agent, one for each module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bot.mcp.calls import AgentTools
from bot.services.agents.sources import AgentSources
from tests.helpers.agents import AgentWorld, make_tools, open_agent_world, open_sources


@pytest.fixture(scope="module")
def there(store_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentWorld]:
    with open_agent_world(store_url, tmp_path_factory.mktemp("agents")) as agent_world:
        yield agent_world


@pytest.fixture(scope="module")
def sources(there: AgentWorld) -> Iterator[AgentSources]:
    with open_sources(there.settings) as agent_sources:
        yield agent_sources


@pytest.fixture
def tools(sources: AgentSources) -> AgentTools:
    return make_tools(sources)
