"""A model on the attacker's side: it finds the case in what it is sent, and does what the case wants."""

import json
import re
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.attacks.tables.injections import INJECTIONS, INVENTED, PATH, Calls, Door, Injection
from tests.emulators.claude.server import (
    Json,
    Step,
    Text,
    ToolUses,
    overview_answer,
    review_answer,
    schema_of,
    summary_answer,
    suspicion,
)

_MARK = re.compile(r"case:([a-z]+-\d\d)")
# what is tried when the model answers or reviews, not before: prose may hold any words, as it proves nothing
_LATER = {Door.QUESTION, Door.REPLY, Door.REVIEW, Door.ANSWER, Door.TOOL}
LIE = "This lets a stranger run commands."


def mark_title(name: str) -> str:
    """What the title of a case begins with: the model is sent it with all that concerns the case."""
    return f"case:{name}"


@dataclass
class Puppet:
    """The model. ``numbers`` are those of the cases' pull requests; ``asked`` has what it was sent, by case."""

    numbers: Mapping[str, int] = field(default_factory=dict)
    asked: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    overviews: list[dict[str, Any]] = field(default_factory=list)
    _turns: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def respond(self, body: dict[str, Any]) -> Step:
        properties = (schema_of(body) or {}).get("properties", {})
        if "overview" in properties:
            self.overviews.append(body)
            return Json(self._write_overview())
        marks = _MARK.findall(json.dumps(body["messages"]))
        name = str(marks[0])
        case = INJECTIONS[name]
        with self._lock:
            self.asked.setdefault(name, []).append(body)
        if "headline" in properties:
            return Json(summary_answer() if case.door in _LATER else _write_summary(case.written))
        kind = "review" if "suspicions" in properties else "question"
        if self._may_call(name, kind, case, body):
            return ToolUses(self._fill(name, case.calls), lenient=True)
        if kind == "review":
            return Json(_write_review(case.written))
        text = case.written.replace('pr="0"', f'pr="{self.numbers[name]}"')
        return Text(f"<answer>It is so. {text}</answer>")

    def _may_call(self, name: str, kind: str, case: Injection, body: dict[str, Any]) -> bool:
        if not case.calls or (body.get("tool_choice") or {}).get("type") == "none":
            return False
        if (kind == "review") != (case.door is Door.REVIEW):
            return False
        with self._lock:
            self._turns[name] += 1
            return self._turns[name] <= case.turns

    def _fill(self, name: str, calls: Calls) -> Calls:
        """The calls, with the number of the case's pull request for 0."""
        number = self.numbers[name]
        return tuple(
            (tool, {**arguments, **({"number": number} if arguments.get("number") == 0 else {})})
            for tool, arguments in calls
        )

    def _write_overview(self) -> dict[str, Any]:
        texts = [case.written for case in INJECTIONS.values() if case.door not in _LATER]
        numbers = [*self.numbers.values(), 99_999_999, -1, 0]
        themes = [{"title": text[:70], "pull_requests": numbers} for text in texts[::4]]
        return overview_answer(overview=" ".join(texts), themes=themes)


def _write_summary(text: str) -> dict[str, Any]:
    risk = {"claim": text or LIE, "where": f"{PATH} {text}", "kind": "other"}
    return summary_answer(
        headline=text,
        what_changed_and_why=text,
        technical_impact=text,
        key_insights=text,
        risks=[risk],
        risk_reason=LIE,
        action=LIE,
        evidence=[{"path": PATH, "quote": INVENTED}],
    )


def _write_review(text: str) -> dict[str, Any]:
    lie = suspicion(
        consequence=text,
        trigger=text,
        affected=text,
        path=PATH,
        quote=INVENTED,
        line=2,
        status="confirmed",
        certainty="high",
        advice="adapt",
    )
    return review_answer(*[lie] * 20)
