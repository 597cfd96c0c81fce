"""The world of an agent, one for each module."""

from collections.abc import Iterator

import pytest

from bot.app import App
from bot.mcp.calls import AgentTools
from tests.helpers.agents import AgentWorld, make_tools, open_agent_world, open_base


@pytest.fixture(scope="module")
def there(store_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentWorld]:
    with open_agent_world(store_url, tmp_path_factory.mktemp("agents")) as agent_world:
        yield agent_world


@pytest.fixture(scope="module")
def app(there: AgentWorld) -> Iterator[App]:
    with open_base(there.settings) as opened:
        yield opened


@pytest.fixture
def tools(app: App) -> AgentTools:
    return make_tools(app)
