from benchmarks.agents import CALLS
from bot.mcp.tools import TOOLS


def test_each_tool_is_measured() -> None:
    assert list(CALLS) == [tool.name for tool in TOOLS]
