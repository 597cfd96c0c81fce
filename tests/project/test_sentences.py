"""What people read stands in one module for each capability of :mod:`bot.render`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.project.tools.module_nodes import list_nodes

ROOT = Path(__file__).parents[2]
RENDER = ROOT / "bot" / "render"
CAPABILITIES = (
    "archive",
    "blocks",
    "contract",
    "conversations",
    "digest",
    "history",
    "operations",
    "previews",
    "profile",
    "review",
    "risk",
    "subscriptions",
    "summaries",
    "touches",
)
MAX_LINES = 300
# modules that hold words of their own, with the reason
ALLOWED = {
    "digest/touch_sentences.py": "the sentences about hits: with them, those of the digest would be too long",
    "digest/report.py": "headings and labels are the format of the file, which other tools read",
    "digest/since_sentences.py": "the sentences of the page since a day, for the same reason",
    "contract/deprecations.py": "each state of a deprecation has its words beside it, in a list and in a terminal",
    "contract/table.py": "its line of totals is a row of the table",
    "operations/forgetting.py": "each sentence is a line in a terminal, which nothing else shows",
    "profile/overview.py": "each heading belongs to the table below it, in a terminal",
    "touches/agent_task.py": "headings and sentences are the text that an agent gets, in their order",
    "touches/evaluation.py": "each heading belongs to the column below it, as in the evaluation of risks",
    "touches/upgrade.py": "headings and labels are the format of the file, which a canvas takes",
    "touches/upgrade_post.py": "its labels are those of that file",
    "risk/evaluation.py": "each heading belongs to the column below it",
    "risk/paired_reading.py": "each row of the table has its name, as in the evaluation",
    "subscriptions/form_context.py": "an error for the log: nobody reads it in Slack",
}
_WORD = re.compile(r"[(\"'*]*[^\W\d_]+(?:'[^\W\d_]+)?[)\"'*.,:;!?…]*")


def find_sentences(source: str) -> list[str]:
    """Return the texts of a module, without docstrings, that have two words or more; ``{}`` stands for a value."""
    nodes = list_nodes(source)
    skipped = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    # the parts of a text with values count together
    skipped |= {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    texts = (join_parts(node) for node in nodes if id(node) not in skipped)
    return [text for text in texts if sum(bool(_WORD.fullmatch(word)) for word in text.split()) > 1]


def join_parts(node: ast.AST) -> str:
    """Return the text of a literal with ``{}`` for each value; empty if the node is none."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def list_modules() -> Iterator[tuple[str, str]]:
    """Yield the modules of all capabilities but their sentences: the path below ``bot/render`` and the source."""
    for name in CAPABILITIES:
        for path in sorted((RENDER / name).rglob("*.py")):
            if path.name != "sentences.py":
                yield str(path.relative_to(RENDER)), path.read_text()


def test_each_capability_has_its_sentences() -> None:
    folders = {path.parent.name for path in RENDER.rglob("__init__.py")} - {"render"}
    assert folders == set(CAPABILITIES)
    for name in CAPABILITIES:
        source = (RENDER / name / "sentences.py").read_text()
        assert find_sentences(source)
        assert len(source.splitlines()) <= MAX_LINES


@pytest.mark.slow
def test_no_other_module_holds_a_sentence() -> None:
    sentences = {path: find_sentences(source) for path, source in list_modules()}
    assert len(sentences) > 30
    assert {path: texts for path, texts in sentences.items() if texts and path not in ALLOWED} == {}


def test_what_is_allowed_is_used() -> None:
    sources = dict(list_modules())
    assert [path for path in ALLOWED if not find_sentences(sources[path])] == []


@pytest.mark.parametrize(
    ("source", "sentences"),
    [
        ('make_text("Nothing stands out.")', ["Nothing stands out."]),
        ('make_text(f"{count} merged by {name}")', ["{} merged by {}"]),
        ('make_text(f" and {rest:,} more")', [" and {} more"]),
        ("make_text(f\"{f'{name} was here' if name else 0}\")", ["{} was here"]),
        ('make_text("It was " "listed")', ["It was listed"]),
        ('"""A module."""\n\n\ndef render() -> None:\n    """Render all of it."""', []),
        ('make_button("details", f"#{number} {title}", "2026-02-28 09:00")', []),
        ('"Europe/Berlin Africa/Nairobi UTC".split()', []),
    ],
)
def test_a_sentence_is_seen(source: str, sentences: list[str]) -> None:
    assert find_sentences(source) == sentences
