"""Check of the MCP server: whether its packages are there, and what agents may reach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.domain.operations.finding import Finding

AGENTS = "Agents"


@dataclass(frozen=True, slots=True)
class AgentPlan:
    """Where ``prdigest mcp --http`` listens, empty without a token, and the profiles that agents may see.

    ``missing_sdk`` is what to do if the packages of the server are not installed; empty if they are.
    """

    address: str = ""
    profiles: Sequence[str] = ()
    missing_sdk: str = ""


def check_agents(plan: AgentPlan) -> Iterator[Finding]:
    """Report what agents may reach, if a setting is about them. Nothing depends on them."""
    if not plan.address and not plan.profiles:
        return
    if plan.missing_sdk:
        yield Finding.build_failure(AGENTS, "no MCP server: the extra mcp is not installed", plan.missing_sdk)
        return
    profiles = f"profiles {', '.join(plan.profiles)}" if plan.profiles else "no profiles"
    where = f"MCP on {plan.address} with the token" if plan.address else "MCP for clients on this machine"
    yield Finding.build_success(AGENTS, f"{where}: {profiles}")
