"""The overview of a day: the model's over the day's own numbers, or counts in its place."""

from __future__ import annotations

import json
from typing import Any

from bot.domain.digest.models import MAX_OVERVIEW_LENGTH
from bot.domain.errors import ModelBusy, ModelRequestRejected
from bot.domain.operations.usage import Usage
from bot.domain.summaries.fallback import Fallback, FallbackReason
from bot.domain.summaries.models import ChangeType
from bot.features.digest.rules import Overview, Theme
from bot.platform.models.claude import CLAUDE
from bot.services.digest.overview_writer import OverviewWriter
from bot.services.summaries.structured_completion import StructuredCompletion
from tests.emulators.claude.server import overview_answer
from tests.helpers.builders import DAY, REPOSITORY, changed_file, entry, failed, summary
from tests.services.doubles import MemoryCache, ScriptedModel, Sleeps

MODEL = "claude-sonnet-5-5"
PAID = CLAUDE.prices.cost(MODEL, Usage(10, 5))
TRIVIAL = summary(type=ChangeType.TRIVIAL)


class Bench:
    def __init__(self, *steps: str | Exception) -> None:
        self.model = ScriptedModel.of(*steps)
        self._overviewer = OverviewWriter(
            StructuredCompletion(self.model, MemoryCache(), Sleeps(), CLAUDE.prices), MODEL
        )

    def of(self, *entries: Any) -> Overview:
        return self._overviewer.write_overview(REPOSITORY, DAY, entries)


def answer(**fields: Any) -> str:
    return json.dumps(overview_answer(**fields))


def themes(*pairs: tuple[str, list[int]]) -> list[dict[str, Any]]:
    return [{"title": title, "pull_requests": numbers} for title, numbers in pairs]


def test_a_day_without_merges_makes_no_call() -> None:
    bench = Bench()
    assert bench.of() == Overview("Nothing was merged.")
    assert bench.model.prompts == []


def test_the_overview_is_the_models_with_its_cost() -> None:
    day_overview = Bench(answer(overview="Retries (#1) changed.", themes=themes(("Retries", [1, 2])))).of(
        entry(1), entry(2)
    )
    assert (day_overview.text, day_overview.themes) == ("Retries (#1) changed.", (Theme("Retries", (1, 2)),))
    assert (day_overview.cost, day_overview.from_cache, day_overview.fallback) == (PAID, False, None)


def test_an_overview_from_the_cache_costs_nothing() -> None:
    bench = Bench(answer())
    bench.of(entry(1))
    day_overview = bench.of(entry(1))
    assert (day_overview.from_cache, day_overview.cost, len(bench.model.prompts)) == (True, 0.0, 1)


def test_another_headline_is_another_overview() -> None:
    bench = Bench(answer(), answer())
    bench.of(entry(1))
    bench.of(entry(1, entry_summary=summary(headline="Another")))
    assert len(bench.model.prompts) == 2


def test_numbers_that_are_not_of_the_day_are_dropped() -> None:
    theme_fields = themes(("Mixed", [1, 99, 1]), ("Invented", [98, 99]))
    day_overview = Bench(answer(overview="See #1 and (#99).", themes=theme_fields)).of(entry(1))
    assert "#99" not in day_overview.text
    assert "#1" in day_overview.text
    assert day_overview.themes == (Theme("Mixed", (1,)),)


def test_without_a_model_there_are_counts_and_the_reason() -> None:
    entries = (entry(1), entry(2), entry(3, entry_summary=TRIVIAL, files=[changed_file("docs/a.md")]))
    day_overview = OverviewWriter(None, MODEL).write_overview(REPOSITORY, DAY, entries)
    assert day_overview.text == f"Most of it in {entries[0].area} (2). 1 pull request changed no product code."
    assert (day_overview.fallback, day_overview.cost, day_overview.themes) == (
        Fallback(FallbackReason.NO_MODEL),
        0.0,
        (),
    )


def test_a_day_of_trivial_changes_names_no_area() -> None:
    day_overview = OverviewWriter(None, MODEL).write_overview(
        REPOSITORY, DAY, (entry(1, entry_summary=TRIVIAL), entry(2, entry_summary=TRIVIAL))
    )
    assert day_overview.text == "2 pull requests changed no product code."


def test_a_model_that_fails_leaves_counts_the_reason_and_its_cost() -> None:
    day_overview = Bench(ModelRequestRejected("the key is refused", Usage(1_000, 0))).of(entry(1))
    assert day_overview.fallback == failed("the key is refused")
    assert day_overview.text.startswith("Most of it in")
    assert day_overview.cost == CLAUDE.prices.cost(MODEL, Usage(1_000, 0))


def test_a_failure_is_not_kept() -> None:
    bench = Bench(*(ModelBusy("busy") for _ in range(3)), answer(overview="Later."))
    assert bench.of(entry(1)).fallback == failed("busy")
    assert bench.of(entry(1)).text == "Later."


def test_an_overview_that_is_too_long_is_cut_after_one_call() -> None:
    bench = Bench(answer(overview="word " * 200))
    text = bench.of(entry(1)).text
    assert (len(text) <= MAX_OVERVIEW_LENGTH, text.endswith("word…"), len(bench.model.prompts)) == (True, True, 1)


def test_one_title_that_is_too_long_costs_neither_the_overview_nor_a_call() -> None:
    bench = Bench(answer(overview="Retries changed.", themes=themes(("x" * 81, [1]), ("Retries", [1, 2]))))
    day_overview = bench.of(entry(1), entry(2))
    assert (day_overview.text, day_overview.fallback, len(bench.model.prompts)) == ("Retries changed.", None, 1)
    assert [theme.title for theme in day_overview.themes] == ["x" * 79 + "…", "Retries"]
