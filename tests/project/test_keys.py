import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import handlers  # noqa: F401 (features declare there what they keep)
from bot.platform.store.keys import FAMILIES, JOBS_NAMESPACE
from tests.project.tools.module_nodes import list_nodes

ROOT = Path(__file__).parents[2]
# where keys are declared; and the demo: it has no store, but what people type and read has words with colons, too
ELSEWHERE = tuple(
    ROOT / "bot" / name
    for name in (
        "platform/store/keys.py",
        "features",
        "demo",
        "platform/github/caches.py",
        "platform/models/completion.py",
        "platform/slack/directory.py",
        "platform/store/spending.py",
    )
)
# a scope of Slack's
_NO_KEYS = {"files:write"}
PREFIXES = (
    *(each.prefix for each in FAMILIES if each.prefix.endswith(":")),
    f"{JOBS_NAMESPACE}:",
    "clock:ticked",
    "doctor:",
)
# what is given to these is a name of the store
_NAMING_CALLS = {"add_prefix", "try_acquire", "hold_lock", "hold_lease", "try_lock", "build_key"}
# most modules have none, which is seen without parsing them
_POSSIBLE_KEY = re.compile(
    rf"""["'](?:{"|".join(map(re.escape, PREFIXES))})|\b(?:{"|".join(_NAMING_CALLS)})\b|__acks__|\}}:\{{"""
)
# a conversation, a thread, a message or a person, as the variables for them are called
_ID_NAME = re.compile(r"(?:.*[._])?(?:channel|thread|message|ts|team|user|payer|client|namespace)")


def modules() -> Iterator[Path]:
    for folder in ("bot", "handlers"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not any(each in (path, *path.parents) for each in ELSEWHERE):
                yield path


def spelled_keys(source: str) -> list[str]:
    if not _POSSIBLE_KEY.search(source):
        return []
    nodes = list_nodes(source)
    prose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    texts = [node for node in nodes if isinstance(node, ast.Constant) and id(node) not in prose]
    begun = [node.value for node in texts if isinstance(node.value, str) and node.value.startswith(PREFIXES)]
    begun = [text for text in begun if text not in _NO_KEYS]
    arguments = [each for node in nodes if isinstance(node, ast.Call) for each in named_texts(node)]
    joined = [node for node in nodes if isinstance(node, ast.JoinedStr) and is_joined_name(node)]
    return [*begun, *dict.fromkeys(ast.unparse(each) for each in (*arguments, *joined) if not begins_as_key(each))]


def begins_as_key(text: ast.expr) -> bool:
    return isinstance(text, ast.JoinedStr) and ast.unparse(text)[2:].startswith(PREFIXES)


def named_texts(call: ast.Call) -> Iterator[ast.expr]:
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if name in _NAMING_CALLS:
        for each in call.args:
            # text between fields is what makes a name; a field alone may well be a text, such as a zone
            if isinstance(each, ast.JoinedStr) or (isinstance(each, ast.Constant) and is_name(name, each)):
                yield each


def is_name(call: str, constant: ast.Constant) -> bool:
    """Return whether a call's constant is a name of its own, not the value of a field of a key."""
    return isinstance(constant.value, str) and call != "build_key"


def is_joined_name(text: ast.JoinedStr) -> bool:
    """Return whether a text joins ids with colons, or is one of Dramatiq's keys."""
    parts = text.values
    if any(isinstance(part, ast.Constant) and "__acks__" in str(part.value) for part in parts):
        return True
    between = [part.value for part in parts if isinstance(part, ast.Constant)]
    ids = [ast.unparse(part.value) for part in parts if isinstance(part, ast.FormattedValue)]
    return len(ids) > 1 and ":" in between and all(map(_ID_NAME.fullmatch, ids[:1]))


@pytest.mark.slow
def test_no_other_module_spells_a_key() -> None:
    spellings = {str(path.relative_to(ROOT)): spelled_keys(path.read_text()) for path in modules()}
    assert len(spellings) > 100
    assert {path: texts for path, texts in spellings.items() if texts} == {}


@pytest.mark.parametrize(
    ("source", "keys"),
    [
        ('key = f"thread:{channel}:{thread}"', ["thread:"]),
        ('client.set("schema", keyspace.add_prefix("owner"))', ["'owner'"]),
        ('key.startswith("digest:")', ["digest:"]),
        ('limiter.try_acquire(f"links:{team}:{user}")', ["f'links:{team}:{user}'"]),
        ('with hold_lease(client, keys, "suspects", timeout=0): pass', ["'suspects'"]),
        ('self._reports.hold_lock("watchdog")', ["'watchdog'"]),
        ('place = f"{asker.channel}:{asker.thread}"', ["f'{asker.channel}:{asker.thread}'"]),
        ('self._store.put(f"{channel}:{message}:{self.user}", vote)', ["f'{channel}:{message}:{self.user}'"]),
        ('key = f"{broker.namespace}:__acks__.{id}"', ["f'{broker.namespace}:__acks__.{id}'"]),
        ('FAMILY.build_key(f"{a}/{b}")', ["f'{a}/{b}'"]),
        ('FAMILY.build_key("begun", day.zone)', []),
        ('label = f"{title}: {channel}"', []),
        ("limiter.try_acquire(build_links_rate(team, user))", []),
        ('"""thread: what was said."""\nkeyspace.add_prefix(THREAD.key(channel, thread))', []),
    ],
)
def test_a_spelled_key_is_seen(source: str, keys: list[str]) -> None:
    assert spelled_keys(source) == keys
