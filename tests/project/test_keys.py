"""Keys of the store are spelled in one module."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.domain.keyspace.keys import FAMILIES, JOBS_NAMESPACE
from tests.project.tools.module_nodes import list_nodes

ROOT = Path(__file__).parents[2]
KEYSPACE = ROOT / "bot" / "domain" / "keyspace"
# what people type and read has words with colons too, and the local Slack and the demo have no store
ELSEWHERE = (ROOT / "bot" / "sandbox", ROOT / "bot" / "demo")
# a scope of Slack's
_NO_KEYS = {"files:write"}
PREFIXES = (
    *(each.prefix for each in FAMILIES if each.prefix.endswith(":")),
    f"{JOBS_NAMESPACE}:",
    "clock:ticked",
    "doctor:",
)
# most modules have none, which is seen without parsing them
_POSSIBLE_KEY = re.compile(rf"""["'](?:{"|".join(map(re.escape, PREFIXES))})|\badd_prefix\b""")


def modules() -> Iterator[Path]:
    for folder in ("bot", "handlers"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if KEYSPACE not in path.parents and not any(each in path.parents for each in ELSEWHERE):
                yield path


def spelled_keys(source: str) -> list[str]:
    """Return the texts of a module that begin as keys do, and those that a keyspace is given as they are."""
    if not _POSSIBLE_KEY.search(source):
        return []
    nodes = list_nodes(source)
    prose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    texts = [node for node in nodes if isinstance(node, ast.Constant) and id(node) not in prose]
    begun = [node.value for node in texts if isinstance(node.value, str) and node.value.startswith(PREFIXES)]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    made = [call.args[0] for call in calls if getattr(call.func, "attr", "") == "add_prefix" and call.args]
    begun = [text for text in begun if text not in _NO_KEYS]
    return [*begun, *(ast.unparse(each) for each in made if isinstance(each, ast.Constant | ast.JoinedStr))]


@pytest.mark.slow
def test_no_other_module_spells_a_key() -> None:
    found = {str(path.relative_to(ROOT)): spelled_keys(path.read_text()) for path in modules()}
    assert len(found) > 200
    assert {path: texts for path, texts in found.items() if texts} == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('key = f"thread:{channel}:{thread}"', ["thread:"]),
        ('client.set("schema", keyspace.add_prefix("owner"))', ["'owner'"]),
        ('key.startswith("digest:")', ["digest:"]),
        ('"""thread: what was said."""\nkeyspace.add_prefix(THREAD.key(channel, thread))', []),
    ],
)
def test_a_spelled_key_is_seen(source: str, found: list[str]) -> None:
    assert spelled_keys(source) == found
