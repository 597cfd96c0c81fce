from benchmarks.agents import CALLS
from bot.mcp.tools import TOOLS


def test_each_tool_is_measured_but_those_over_clones() -> None:
    # git takes nearly all the time of these
    assert list(CALLS) == [tool.name for tool in TOOLS if tool.needs != "clones"]
