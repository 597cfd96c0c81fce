"""The cost of the AI bug review of a day: dollars by the price list, time, and calls of GitHub."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil
from typing import Any

from benchmarks.day import (
    AT_A_TIME,
    GITHUB_LATENCY,
    MAX_CRITICAL_PATH,
    MODEL_LATENCY,
    PULLS,
    WITHOUT_REVIEWS,
    Run,
    add_large_day,
    measure_command,
    open_empty_world,
)
from benchmarks.questions import SECTION, parse_usage
from benchmarks.table import Table
from bot.platform.models.claude import CLAUDE
from tests.emulators.claude.server import (
    Json,
    Step,
    ToolUses,
    default_answer,
    review_answer,
    schema_of,
    summary_answer,
    suspicion,
)
from tests.helpers.builders import SHARED
from tests.helpers.world import SMALL_DAY, World, replay

DAY_OF_43 = "2026-02-24"
MAX_WITH, MAX_WITHOUT, MAX_REVIEW = 1.50, 0.06, 0.05  # dollars
TURNS = 3  # of a review: two rounds of tools, and the report
SENTENCE = "What goes wrong under which input, said in as many words as the report has room for, or a few less. "
SUSPICION = suspicion(consequence=SENTENCE, trigger=SENTENCE, affected=SENTENCE, path="src/a.py", quote=SENTENCE)
# the emulator counts no thinking: words beside the calls stand for it, some 500 tokens in each turn
THOUGHTS = "What the model thinks about before it reads on. " * 40


def review_twice(body: dict[str, Any]) -> Step:
    """Answer as a model that reads for two rounds before it reports."""
    if "suspicions" not in (schema_of(body) or {}).get("properties", {}):
        usual = default_answer(body)
        is_summary = isinstance(usual, Json) and "headline" in usual.value
        names = ("what_changed_and_why", "technical_impact", "key_insights")
        return Json(summary_answer(**dict.fromkeys(names, SECTION))) if is_summary else usual
    rounds = sum(message["role"] == "assistant" for message in body["messages"])
    if rounds + 1 < TURNS:
        name = "total" if rounds else "weights"
        calls = (("read_file", {"path": _find_path(body), "around": name}), ("find_uses", {"name": name}))
        return ToolUses(calls, THOUGHTS)
    return Json(review_answer(SUSPICION, SUSPICION, suspicion(status="refuted")))


def _find_path(body: dict[str, Any]) -> str:
    """Return the path of the first changed file."""
    text = json.dumps(body["messages"][0]["content"])
    return text.partition("=== ")[2].partition(" (")[0] or "src/part_1.py"


def is_review(body: dict[str, Any]) -> bool:
    return "suspicions" in (schema_of(body) or {}).get("properties", {})


def sum_dollars(there: World) -> tuple[float, float]:
    total = reviews = 0.0
    for body, usage in zip(there.claude.requests, there.claude.usages, strict=True):
        dollars = CLAUDE.prices.cautious_cost(body["model"], parse_usage(usage))
        total += dollars
        reviews += dollars * is_review(body)
    return total, reviews


def count_reviews(there: World) -> int:
    return sum(is_review(body) and len(body["messages"]) == 1 for body in there.claude.requests)


def time_reviews(table: Table) -> None:
    """Measure a day of 43 large pull requests, all of which should be reviewed."""
    with _open_large_day() as there:
        measure_command(there, "digest", *SMALL_DAY, "--dry-run")
        total, reviews = sum_dollars(there)
        count = count_reviews(there)
    print(f"large day of {PULLS}: {count} reviewed, ${total:.2f}, ${reviews / count:.3f} a review")
    table.print_row("large day, which the cap stops: dollars", total, MAX_WITH, "dollars")
    with _open_large_day() as there:
        there.settings["PRDIGEST_REVIEW_BUDGET"] = "10"
        there.github.latency, there.claude.latency = GITHUB_LATENCY, MODEL_LATENCY
        cold = measure_command(there, "digest", *SMALL_DAY, "--dry-run")
        count = count_reviews(there)
    # as in ``time_a_day``, and the reviews eight at a time
    summaries = 3 * GITHUB_LATENCY + ceil(PULLS / AT_A_TIME) * MODEL_LATENCY + MODEL_LATENCY
    path = summaries + ceil(count / AT_A_TIME) * TURNS * MODEL_LATENCY
    ratio = cold.seconds / path
    table.print_row(f"{count} reviews a day: times the critical path", ratio, MAX_CRITICAL_PATH, "times")
    table.print_row(f"{count} reviews a day: GitHub calls (3 N + 4)", cold.github, 3 * PULLS + 4, "calls")


@contextmanager
def _open_large_day() -> Iterator[World]:
    """Yield a day of 43 large pull requests, and a model that reads before it reports."""
    with open_empty_world() as there:
        add_large_day(there.github)
        there.claude.respond = review_twice
        yield there


def price_reviews(table: Table) -> None:
    """Price the replay day of 43 merges, with the AI bug review and without; skip it without the data pack."""
    if not SHARED.is_dir():
        print("prices of the replay day: skipped, the data pack ../shared is not here")
        return
    run, with_reviews, reviews, count = _price_replay({})
    _, without, _, _ = _price_replay(WITHOUT_REVIEWS)
    print(f"{DAY_OF_43}: {count} of {PULLS} reviewed, {run.github} GitHub calls, {run.model} model calls")
    table.print_row(f"{DAY_OF_43} with the AI bug review", with_reviews, MAX_WITH, "dollars")
    table.print_row(f"{DAY_OF_43} without the AI bug review", without, MAX_WITHOUT, "dollars")
    table.print_row("one review", reviews / max(count, 1), MAX_REVIEW, "dollars")


def _price_replay(settings: dict[str, str]) -> tuple[Run, float, float, int]:
    with open_empty_world() as there:
        replay(there.github, SHARED, DAY_OF_43)
        there.claude.respond = review_twice
        there.settings.update(settings)
        day = ("--repo=vllm-project/vllm", f"--date={DAY_OF_43}", "--timezone=America/Los_Angeles")
        run = measure_command(there, "digest", *day, "--dry-run")
        return run, *sum_dollars(there), count_reviews(there)
