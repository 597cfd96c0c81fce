"""Marks for answers: facts, citations that hold, cost and time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bot.domain.text.issue_numbers import NUMBER_PATTERN
from bot.services.questions.answer_inputs import AnswerInputs
from evals.cases import Case

_LINK = re.compile(r"\[([^\]]*)\]\([^)\s]*\)")


@dataclass(frozen=True, slots=True)
class Mark:
    """The mark of one answer.

    ``facts`` is the share of the checks that it passes, ``held`` and ``failed`` count its citations, ``missing``
    lists its faults in words. ``cost`` is in US dollars, ``seconds`` until it was whole.
    """

    case: Case
    answer: str
    facts: float
    missing: tuple[str, ...]
    held: int
    failed: int
    cost: float
    seconds: float
    rounds: int = 0


@dataclass(frozen=True, slots=True)
class Total:
    """All marks together."""

    facts: float
    citations: float
    cost: float
    seconds: float
    count: int


def mark_answer(case: Case, answer: str, inputs: AnswerInputs, cost: float, seconds: float) -> Mark:
    """Judge an answer. ``inputs`` are what it was made of."""
    text = _LINK.sub(r"\1", answer)
    checks = [*_check_facts(case, text), *_check_citations(case, inputs)]
    missing = tuple(fault for fault, is_right in checks if not is_right)
    return Mark(
        case=case,
        answer=answer,
        facts=1 - len(missing) / len(checks) if checks else 1.0,
        missing=missing,
        held=len(inputs.citations),
        failed=len(inputs.failed_citations),
        cost=cost,
        seconds=seconds,
        rounds=inputs.rounds,
    )


def sum_marks(marks: Iterable[Mark]) -> Total:
    """Return the means of the marks, and the sum of their costs."""
    all_marks = tuple(marks)
    cited = sum(each.held + each.failed for each in all_marks)
    return Total(
        facts=_compute_mean(all_marks, lambda each: each.facts),
        citations=sum(each.held for each in all_marks) / cited if cited else 1.0,
        cost=sum(each.cost for each in all_marks),
        seconds=_compute_mean(all_marks, lambda each: each.seconds),
        count=len(all_marks),
    )


def _check_facts(case: Case, text: str) -> list[tuple[str, bool]]:
    numbers = {int(match["number"]) for match in re.finditer(NUMBER_PATTERN, text)}
    others = ", ".join(f"#{number}" for number in sorted(numbers - set(case.names)))
    return [
        *((f"does not name #{number}", number in numbers) for number in case.names),
        *([(f"names {others} too", not others)] if case.names and case.exactly else []),
        *((f"does not say {fact!r}", bool(re.search(fact, text, re.I))) for fact in case.facts),
        *((f"says {wrong!r}", not re.search(wrong, text, re.I)) for wrong in case.never),
    ]


def _check_citations(case: Case, inputs: AnswerInputs) -> list[tuple[str, bool]]:
    cited = {each.number for each in inputs.citations}
    return [(f"cites nothing of #{number}", number in cited) for number in case.cites]


def _compute_mean(marks: tuple[Mark, ...], value: Callable[[Mark], float]) -> float:
    return sum(map(value, marks)) / len(marks) if marks else 0.0
