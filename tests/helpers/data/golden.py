"""Reads the texts out of a golden report, so that they can be a model's answers."""

import re
from pathlib import Path
from typing import Any

_SECTION = re.compile(
    r"\*\*What changed and why\*\*  \n(?P<what>.*?)\n\n\*\*Technical impact\*\*  \n(?P<impact>.*?)\n\n"
    r"\*\*Potential risks\*\*  \n(?P<risks>.*?)\n\n\*\*Key insights\*\*  \n(?P<insights>.*?)\n\n---\n",
    re.S,
)
_ENTRY = re.compile(r"^## \d+\. ", re.M)


def answers_of(report: Path) -> dict[int, dict[str, Any]]:
    """A valid answer for each pull request of a report; bars are as the model would write them."""
    chunks = _ENTRY.split(report.read_text(encoding="utf-8"))[1:]
    return dict(_answer(chunk) for chunk in chunks)


def _answer(chunk: str) -> tuple[int, dict[str, Any]]:
    number = re.search(r"\*\*PR Number:\*\* #(\d+)", chunk)
    kind = re.search(r"\*\*Type:\*\* `(\w+)`", chunk)
    section = _SECTION.search(chunk)
    assert number is not None, chunk[:200]
    assert kind is not None, chunk[:200]
    assert section is not None, chunk[:200]
    text = {name: value.replace("\\|", "|") for name, value in section.groupdict().items()}
    return int(number[1]), {
        "type": kind[1],
        "headline": f"What pull request {number[1]} changes",
        "condition": "",
        "what_changed_and_why": text["what"],
        "technical_impact": text["impact"],
        "risks": [{"claim": text["risks"], "where": "", "kind": "other"}],
        "key_insights": text["insights"],
        "risk_reason": "",
        "action": "",
        "evidence": [],
    }
