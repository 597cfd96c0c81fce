"""The summary of one pull request: the model's, with its claims checked, or facts in its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.domain.errors import ModelRefusal, StoreUnavailable
from bot.domain.operations.usage import Usage
from bot.domain.summaries.diff_packing import Coverage
from bot.domain.summaries.fallback import describe_fallback
from bot.domain.summaries.models import ChangeType, RiskKind, SummaryRisk
from bot.platform.models.claude import CLAUDE
from bot.services.summaries.structured_completion import StructuredCompletion
from bot.services.summaries.summarizer import Summariser
from tests.emulators.claude.server import summary_answer
from tests.helpers.builders import changed_file, pull
from tests.services.doubles import MemoryCache, ScriptedModel, Sleeps

MODEL = "claude-haiku-5-5"
LINE = "new line 0 of engine/core.py"
QUOTED = {"path": "engine/core.py", "quote": LINE}


def summariser(
    *steps: str | Exception, model: str = MODEL, budget: int = 30_000
) -> tuple[Summariser, ScriptedModel]:
    scripted = ScriptedModel.of(*steps)
    return Summariser(
        StructuredCompletion(scripted, MemoryCache(), Sleeps(), CLAUDE.prices), model, budget
    ), scripted


def answer(**fields: Any) -> str:
    return json.dumps(summary_answer(**fields))


def test_a_summary_is_the_models_with_its_cost() -> None:
    done = summariser(answer(headline="Counts once", type="TRIVIAL"))[0].summarise_pull_request(pull())
    assert (done.summary.headline, done.summary.type) == ("Counts once", ChangeType.TRIVIAL)
    assert (done.summary.is_fallback, done.from_cache, done.cost) == (
        False,
        False,
        CLAUDE.prices.cost(MODEL, Usage(10, 5)),
    )
    assert done.summary.coverage is Coverage.FULL


def test_a_summary_from_the_cache_costs_nothing() -> None:
    subject, model = summariser(answer())
    subject.summarise_pull_request(pull())
    done = subject.summarise_pull_request(pull())
    assert (done.from_cache, done.cost, len(model.prompts)) == (True, 0.0, 1)


def test_the_cost_of_a_model_without_a_known_price_is_unknown() -> None:
    assert summariser(answer(), model="claude-fable-5-1")[0].summarise_pull_request(pull()).cost is None


def test_who_has_read_the_changes_before_needs_no_quotes() -> None:
    scripted = ScriptedModel.of(answer(evidence=[], action="Set it.", risk_reason="It may break."))
    subject = Summariser(StructuredCompletion(scripted, MemoryCache(), Sleeps()), MODEL, 30_000, must_prove=False)
    done = subject.summarise_pull_request(pull())
    assert (done.summary.evidence, done.summary.action, done.summary.risk_reason) == (
        (),
        "Set it.",
        "It may break.",
    )


def test_a_quote_that_stands_in_the_diff_bears_out_the_claims() -> None:
    done = summariser(answer(evidence=[QUOTED], action="Set it.", risk_reason="It may break."))[
        0
    ].summarise_pull_request(pull())
    (evidence,) = done.summary.evidence
    assert (evidence.path, evidence.quote, evidence.line) == ("engine/core.py", LINE, 1)
    assert (done.summary.action, done.summary.risk_reason) == ("Set it.", "It may break.")


@pytest.mark.parametrize(
    "quote",
    [
        {"path": "engine/core.py", "quote": "a line that nobody wrote"},
        {"path": "engine/other.py", "quote": LINE},
        {"path": "", "quote": ""},
    ],
)
def test_claims_without_a_quote_of_the_diff_are_dropped(quote: dict[str, str]) -> None:
    done = summariser(answer(evidence=[quote], action="Set it.", risk_reason="It may break."))[
        0
    ].summarise_pull_request(pull())
    assert (done.summary.evidence, done.summary.action, done.summary.risk_reason) == ((), "", "")


def test_risks_are_a_list_and_one_text_for_the_report() -> None:
    risks = [
        {"claim": "Callers that pass None fail.", "where": "engine/core.py", "kind": "compatibility"},
        {"claim": "  ", "where": "engine/core.py", "kind": "other"},
        {"claim": "The loop may end early.", "where": "../../etc/passwd", "kind": "correctness"},
    ]
    summary = summariser(answer(risks=risks))[0].summarise_pull_request(pull()).summary
    assert summary.risks == (
        SummaryRisk("Callers that pass None fail.", "engine/core.py", RiskKind.COMPATIBILITY),
        SummaryRisk("The loop may end early.", "", RiskKind.CORRECTNESS),
    )
    assert summary.potential_risks == "Callers that pass None fail. The loop may end early."


def test_where_nothing_is_to_be_said_of_risks_or_insights_a_reader_sees_no_empty_section() -> None:
    summary = summariser(answer(risks=[], key_insights=" "))[0].summarise_pull_request(pull()).summary
    assert [name for name, _ in summary.sections] == [
        "What changed and why",
        "Technical impact",
        "Potential risks",
    ]
    assert summary.potential_risks == "No particular risk stands out."


def test_without_a_model_there_are_facts_and_the_reason() -> None:
    done = Summariser(None, MODEL, 30_000).summarise_pull_request(pull(title="Count once"))
    assert (done.summary.headline, describe_fallback(done.summary.fallback)) == (
        "Count once",
        "no model is set up",
    )
    assert done.cost == 0.0


def test_files_that_could_not_be_loaded_cost_no_call() -> None:
    subject, model = summariser(answer())
    done = subject.summarise_pull_request(pull(files=None))
    assert describe_fallback(done.summary.fallback) == "its files could not be loaded"
    assert (done.summary.coverage, model.prompts) == (Coverage.NONE, [])


def test_a_refusal_leaves_facts_with_the_reason_and_what_it_cost() -> None:
    done = summariser(ModelRefusal("the model declined to summarize it", Usage(1_000_000, 0)))[
        0
    ].summarise_pull_request(pull())
    assert describe_fallback(done.summary.fallback) == "the model declined to summarize it"
    assert done.cost == CLAUDE.prices.cost(MODEL, Usage(1_000_000, 0))
    assert "the model declined" in done.summary.what_changed_and_why


def test_facts_are_not_kept_in_place_of_a_summary() -> None:
    subject, _ = summariser(ModelRefusal("declined"), answer(headline="The model's"))
    assert subject.summarise_pull_request(pull()).summary.is_fallback
    assert subject.summarise_pull_request(pull()).summary.headline == "The model's"


def test_an_answer_wrong_each_time_leaves_facts() -> None:
    done = summariser(*(answer(headline=" ") for _ in range(3)))[0].summarise_pull_request(pull())
    assert "headline" in describe_fallback(done.summary.fallback)
    assert done.cost == CLAUDE.prices.cost(MODEL, Usage(30, 15))


def test_a_diff_larger_than_the_budget_is_clipped_and_says_so() -> None:
    files = [changed_file(f"engine/part_{n}.py", 200) for n in range(20)]
    subject, model = summariser(answer(), budget=2_000)
    done = subject.summarise_pull_request(pull(files=files))
    assert done.summary.coverage is Coverage.CLIPPED
    assert done.summary.left_out
    assert len(model.prompts[0].user) / 4 < 2_000 + 100


def test_a_file_without_a_patch_is_no_fault_of_the_model() -> None:
    done = summariser(answer())[0].summarise_pull_request(pull(files=[changed_file("logo.png", 0, patch=None)]))
    assert done.summary.coverage is Coverage.FULL


def test_a_store_that_is_away_is_not_taken_for_a_model_that_is() -> None:
    class Away(MemoryCache):
        def get(self, key: str) -> str | None:
            raise StoreUnavailable(f"no store for {key[:3]}")

    subject = Summariser(StructuredCompletion(ScriptedModel.of(), Away(), Sleeps()), MODEL, 30_000)
    with pytest.raises(StoreUnavailable):
        subject.summarise_pull_request(pull())
