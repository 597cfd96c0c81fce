import json
import re

from localslack.methods.registry import METHODS

from bot.platform.slack.app_manifest import (
    AGENT_SCOPES,
    PREVIEW_SCOPES,
    SLACKBOT_SCOPES,
    add_agent_view,
    add_previews,
    add_slackbot,
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


# what only some apps call or hear, by what their manifest asks for besides the usual one
ADDED = {
    "chat.unfurl": PREVIEW_SCOPES,
    "link_shared": PREVIEW_SCOPES,
    "assistant.threads.setSuggestedPrompts": AGENT_SCOPES,
    "tools for Slackbot": SLACKBOT_SCOPES,
}
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
    manifest = json.loads((ROOT / "manifest.json").read_text())
    uses = read_uses()
    usual = set().union(*(scopes for name, scopes in uses.items() if name not in ADDED)) - {"connections:write"}
    for asked, more in (
        (manifest, dict[str, str]()),
        (add_agent_view(manifest), AGENT_SCOPES),
        (add_previews(manifest, "github.com"), PREVIEW_SCOPES),
        (add_slackbot(manifest, "https://bot.example/mcp"), SLACKBOT_SCOPES),
    ):
        used = set().union(*(uses[name] for name, scopes in ADDED.items() if scopes is more))
        assert used == set(more)
        assert set(asked["oauth_config"]["scopes"]["bot"]) == usual | used
