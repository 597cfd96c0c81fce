import json
import re

from localslack.methods.registry import METHODS

from bot.platform.slack.app_manifest import (
    AGENT_SCOPES,
    PREVIEW_SCOPES,
    SLACKBOT_SCOPES,
    add_agent_view,
    add_previews,
)
from bot.platform.slack.check import SCOPES
from tests.emulators.slack.server import SCOPES as GIVEN
from tests.helpers.processes.command import ROOT


def test_the_manifest_asks_for_exactly_these_scopes_in_order() -> None:
    manifest = json.loads((ROOT / "manifest.json").read_text())
    assert manifest["oauth_config"]["scopes"]["bot"] == sorted(SCOPES)


def test_the_local_slack_gives_what_the_manifest_asks_for_and_no_more() -> None:
    assert sorted(GIVEN) == sorted(SCOPES)


def test_every_kind_of_conversation_is_heard_that_may_be_read() -> None:
    manifest = json.loads((ROOT / "manifest.json").read_text())
    events = manifest["settings"]["event_subscriptions"]["bot_events"]
    heard = {event.removeprefix("message.") for event in events if event.startswith("message.")}
    assert heard == {scope.removesuffix(":history") for scope in SCOPES if scope.endswith(":history")}


# a helper of the SDK, and what it calls
UPLOAD = {"files_upload_v2": {"files.completeUploadExternal", "files.getUploadURLExternal"}}
_CALL = re.compile(r"(?<=\.)(?:agents|apps|assistant|auth|chat|conversations|files|reactions|users|views)_\w+")


def read_uses() -> dict[str, set[str]]:
    """The scopes of each method and event, as the page has them."""
    rows = [line.strip("|").split("|") for line in (ROOT / "docs/permissions.md").read_text().splitlines()]
    uses: dict[str, set[str]] = {}
    for names, scopes in (row for row in rows if len(row) == 2):
        listed = set(re.findall(r"`([^`]+)`", scopes))
        uses |= dict.fromkeys(re.findall(r"`([^`]+)`", names) or [names.strip()], listed)
    return uses


def list_methods() -> set[str]:
    files = (ROOT / "bot/platform/slack").glob("*.py")
    calls = {call for file in files for call in _CALL.findall(file.read_text())}
    plain = {call.replace("_", ".") for call in calls - UPLOAD.keys()}
    return plain.union(*(UPLOAD[call] for call in calls & UPLOAD.keys()))


def test_the_page_has_each_method_and_event_and_no_other() -> None:
    manifest = add_agent_view(add_previews(json.loads((ROOT / "manifest.json").read_text()), "github.com"))
    events = set(manifest["settings"]["event_subscriptions"]["bot_events"])
    written = read_uses().keys() - {"method or event", "slash commands, shortcuts", "tools for Slackbot", "---"}
    assert written == list_methods() | events


# what an agent calls, and what only other apps do that are not the usual one
OF_AGENTS = "assistant.threads.setSuggestedPrompts"
OF_OTHERS = {"chat.unfurl", "link_shared", "tools for Slackbot"}
_KINDS = ("channels", "groups", "im", "mpim")
_READ = ("conversations.info", "conversations.members", "users.conversations")


def test_each_scope_is_used_and_each_method_has_the_one_that_it_needs() -> None:
    uses = read_uses()
    for name in list_methods():
        scope = METHODS[name].scope
        assert scope is None or uses[name] == {scope}, name
    for name in (*_READ, "conversations.history", "conversations.replies"):
        assert uses[name] == {f"{kind}:{'read' if name in _READ else 'history'}" for kind in _KINDS}, name


def test_each_manifest_asks_for_what_its_app_uses_and_for_nothing_else() -> None:
    manifest, uses = json.loads((ROOT / "manifest.json").read_text()), read_uses()
    own = {"connections:write"} | uses[OF_AGENTS]
    usual = set().union(*(uses[name] for name in uses.keys() - OF_OTHERS)) - own
    assert set(manifest["oauth_config"]["scopes"]["bot"]) == usual
    assert set(add_agent_view(manifest)["oauth_config"]["scopes"]["bot"]) == usual | uses[OF_AGENTS]
    assert uses[OF_AGENTS] == set(AGENT_SCOPES)
    assert set().union(*(uses[name] for name in OF_OTHERS)) == {*PREVIEW_SCOPES, *SLACKBOT_SCOPES}
