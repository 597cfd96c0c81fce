import json

import pytest
from click.testing import CliRunner
from localslack.manifest import AgentView, read_manifest

from bot.cli.maintain import manifest_command
from tests.helpers.processes.command import ROOT


def show(*options: str) -> str:
    return CliRunner().invoke(manifest_command, options, catch_exceptions=False).output


def test_without_options_it_is_the_file_itself() -> None:
    assert show() == (ROOT / "manifest.json").read_text()


def test_previews_add_what_they_need_and_no_more() -> None:
    plain, previews = json.loads(show()), json.loads(show("--previews"))
    scopes = [each["oauth_config"]["scopes"]["bot"] for each in (plain, previews)]
    assert set(scopes[1]) - set(scopes[0]) == {"links:read", "links:write"}
    assert previews["features"]["unfurl_domains"] == ["github.com"]
    events = [each["settings"]["event_subscriptions"]["bot_events"] for each in (plain, previews)]
    assert set(events[1]) - set(events[0]) == {"link_shared"}


def test_an_agent_adds_what_it_needs_and_slack_would_take_it() -> None:
    plain, agent = json.loads(show()), json.loads(show("--agent"))
    scopes = [each["oauth_config"]["scopes"]["bot"] for each in (plain, agent)]
    assert set(scopes[1]) - set(scopes[0]) == {"assistant:write"}
    events = [each["settings"]["event_subscriptions"]["bot_events"] for each in (plain, agent)]
    assert set(events[1]) - set(events[0]) == {"agent_session_stopped"}
    assert set(agent["features"]) - set(plain["features"]) == {"agent_view"}
    assert read_manifest(show("--agent")).agent == AgentView(hears_stop=True)
    both = json.loads(show("--agent", "--previews"))["settings"]["event_subscriptions"]["bot_events"]
    assert {"agent_session_stopped", "link_shared"} <= set(both)


def test_tools_for_slackbot_have_their_address_and_scope() -> None:
    plain, tools = json.loads(show()), json.loads(show("--slackbot", "https://mcp.example.com/mcp"))
    assert tools.pop("mcp_servers") == {
        "prdigest": {"url": "https://mcp.example.com/mcp", "auth_type": "slack_identity_auth"}
    }
    scopes = [each["oauth_config"]["scopes"].pop("bot") for each in (plain, tools)]
    assert set(scopes[1]) - set(scopes[0]) == {"mcp:connect"}
    assert tools == plain


def test_the_domain_is_that_of_your_own_github(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_API_URL", "https://git.corp.example/api/v3")
    assert json.loads(show("--previews"))["features"]["unfurl_domains"] == ["git.corp.example"]
