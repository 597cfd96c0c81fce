"""The answers of the scripted model: one summary in the form that each tool asks for, of about one length."""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

from benchmarks.questions import SECTION
from tests.emulators.claude.request import contents
from tests.emulators.claude.server import Json, Step, Text, default_answer, schema_of, summary_answer

OUR_ANSWER = summary_answer(**dict.fromkeys(("what_changed_and_why", "technical_impact", "key_insights"), SECTION))
# the peer shows the model each file below its name, and takes at most twenty of them
_SHOWN_FILE = re.compile(r"^## File:? '([^'\n]+)'", re.MULTILINE)
_MAX_FILES = 20


def answer_both(body: dict[str, Any]) -> Step:
    """Answer a request of either tool; ours is the one that sends a schema."""
    if schema_of(body) is None:
        texts = [block["text"] for turn in body["messages"] for block in contents(turn["content"])]
        return Text(format_description("\n".join(texts)))
    usual = default_answer(body)
    return Json(OUR_ANSWER) if isinstance(usual, Json) and "headline" in usual.value else usual


def format_description(prompt: str) -> str:
    """Return a description as the peer reads it, with each file of the prompt, of at least our answer's length."""
    paths = _SHOWN_FILE.findall(prompt)[:_MAX_FILES]
    files = [
        {"filename": path, "changes_summary": "- One part changes", "changes_title": "Change one part"}
        | {"label": "enhancement"}
        for path in dict.fromkeys(paths)
    ]
    description: dict[str, Any] = {
        "type": ["Enhancement"],
        "title": "A small change to one part",
        "pr_files": files,
    }
    description["changes_diagram"] = '```mermaid\nflowchart LR\n  a["Caller"] -- "calls" --> b["Part"]\n```'
    missing = len(json.dumps(OUR_ANSWER)) - len(_dump(description))
    description["description"] = "- " + (SECTION * 4)[: max(missing, len("One part changes"))].strip()
    return _dump(description)


def _dump(description: dict[str, Any]) -> str:
    # each text on one line, however long: what the peer reads back has no folds
    return f"```yaml\n{yaml.safe_dump(description, sort_keys=False, width=1_000_000)}```"
