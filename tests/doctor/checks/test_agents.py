"""What the doctor says of the MCP server."""

from __future__ import annotations

import pytest

from bot.doctor.checks.agents import AgentPlan, check_agents
from bot.domain.errors import ConfigurationError
from bot.mcp.extra import EXTRA_HINT, has_sdk, require_sdk
from tests.doctor.findings import format_findings
from tests.helpers.checks import is_one_sentence


@pytest.mark.parametrize(
    ("plan", "lines"),
    [
        (AgentPlan(missing_sdk=EXTRA_HINT), []),
        (AgentPlan("127.0.0.1:3010"), ["+ Agents: MCP on 127.0.0.1:3010 with the token: no profiles"]),
        (
            AgentPlan("", ("app", "plugin")),
            ["+ Agents: MCP for clients on this machine: profiles app, plugin"],
        ),
        (
            AgentPlan("127.0.0.1:3010", (), EXTRA_HINT),
            [f"! Agents: no MCP server: the extra mcp is not installed -> {EXTRA_HINT}"],
        ),
    ],
    ids=["off", "over HTTP", "over standard input", "extra missing"],
)
def test_it_says_what_agents_reach(plan: AgentPlan, lines: list[str]) -> None:
    assert format_findings(check_agents(plan)) == lines


def test_without_the_extra_a_sentence_says_what_to_install() -> None:
    assert has_sdk()
    require_sdk(is_installed=True)
    with pytest.raises(ConfigurationError) as refused:
        require_sdk(is_installed=False)
    assert is_one_sentence(str(refused.value))
