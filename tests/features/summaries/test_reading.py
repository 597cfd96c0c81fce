"""The summary of one pull request: the model's, with its claims checked, or facts in its place."""

import difflib
import json
import logging
from dataclasses import replace
from typing import Any

import pytest

from bot.app import App
from bot.errors import GitHubUnavailable, ModelRefusal, RateLimited, SourceUnavailable, StoreUnavailable
from bot.features.merges.summary import ChangeType, RiskKind, SummarisedPullRequest, SummaryRisk, describe_fallback
from bot.features.summaries.reading import read_pull_request
from bot.platform.models.claude import CLAUDE
from bot.platform.models.packing import Coverage
from bot.platform.pulls.models import PullRequest
from bot.usage import Usage
from tests.emulators.claude.server import summary_answer
from tests.helpers.apps import make_reading_app
from tests.helpers.builders import changed_file, pull
from tests.helpers.doubles import FileTree, KnownPulls, MemoryStore, ScriptedModel

MODEL = "claude-haiku-5-5"
LINE = "new line 0 of engine/core.py"
QUOTED = {"path": "engine/core.py", "quote": LINE}
BARE = pull(files=None)


def make_subject(
    *steps: str | Exception, name: str = MODEL, budget: int = 30_000, has_model: bool = True, **parts: Any
) -> App:
    pulls = KnownPulls((pull(),), {"files 1": GitHubUnavailable("away")})
    app = make_reading_app(pulls, ScriptedModel.of(*steps) if has_model else None, **parts)
    settings = {"prdigest_summary_model": name, "prdigest_diff_tokens": budget}
    app.settings = app.settings.model_copy(update=settings)
    return app


def read(
    *steps: str | Exception, of: PullRequest | None = None, name: str = MODEL, **parts: Any
) -> SummarisedPullRequest:
    return read_pull_request(make_subject(*steps, name=name, **parts), of or pull())


def answer(**fields: Any) -> str:
    return json.dumps(summary_answer(**fields))


def list_prompts(app: App) -> list[str]:
    assert isinstance(app.model, ScriptedModel)
    return [prompt.user for prompt in app.model.prompts]


def test_a_summary_is_the_models_with_its_cost() -> None:
    done = read(answer(headline="Counts once", type="TRIVIAL"))
    assert (done.summary.headline, done.summary.type) == ("Counts once", ChangeType.TRIVIAL)
    assert (done.summary.is_fallback, done.from_cache, done.summary.coverage) == (False, False, Coverage.FULL)
    assert done.cost == CLAUDE.prices.cost(MODEL, Usage(10, 5))
    # of a model without a known price
    assert read(answer(), name="claude-fable-5-1").cost is None


def test_a_condition_goes_with_each_claim() -> None:
    claims = {"headline": "Counts once", "action": "Must set `b`.", "risk_reason": "It may break."}
    summary = read(answer(condition="only with `--once`", evidence=[QUOTED], **claims)).summary
    assert (summary.headline, summary.condition) == ("Counts once, only with --once", "only with `--once`")
    assert summary.action == "Must set `b`, only with `--once`."
    assert summary.risk_reason == "It may break, only with `--once`."
    assert summary.is_reachable
    bare = read(answer(condition=" ", **claims)).summary
    assert (bare.headline, bare.condition) == ("Counts once", "")


@pytest.mark.parametrize(
    ("condition", "is_reachable"),
    [
        ("not reachable yet", False),
        ("Not yet reachable: the scheduler ignores it", False),
        ("nothing calls it", False),
        ("not on ROCm", True),
        ("only if reachable over TCP", True),
        ("", True),
    ],
)
def test_what_nothing_reaches_yet_says_so(condition: str, *, is_reachable: bool) -> None:
    assert read(answer(condition=condition)).summary.is_reachable is is_reachable


def test_a_summary_from_the_cache_costs_nothing() -> None:
    subject = make_subject(answer())
    first, second = (read_pull_request(subject, pull()) for _ in range(2))
    assert (first.from_cache, second.from_cache, second.cost) == (False, True, 0.0)
    assert len(list_prompts(subject)) == 1


def test_who_has_read_the_changes_before_needs_no_quotes() -> None:
    subject = make_subject(answer(evidence=[], action="Set it.", risk_reason="It may break."))
    subject.sources.stands_in = "written before"  # type: ignore[misc]
    summary = read_pull_request(subject, pull()).summary
    assert (summary.evidence, summary.action, summary.risk_reason) == ((), "Set it.", "It may break.")


def test_a_quote_that_stands_in_the_diff_bears_out_the_claims() -> None:
    summary = read(answer(evidence=[QUOTED], action="Set it.", risk_reason="It may break.")).summary
    (evidence,) = summary.evidence
    assert (evidence.path, evidence.quote, evidence.line) == ("engine/core.py", LINE, 1)
    assert (summary.action, summary.risk_reason) == ("Set it.", "It may break.")


@pytest.mark.parametrize(
    "quote",
    [
        {"path": "engine/core.py", "quote": "a line that nobody wrote"},
        {"path": "engine/other.py", "quote": LINE},
        {"path": "", "quote": ""},
    ],
)
def test_claims_without_a_quote_of_the_diff_are_dropped(quote: dict[str, str]) -> None:
    summary = read(answer(evidence=[quote], action="Set it.", risk_reason="It may break.")).summary
    assert (summary.evidence, summary.action, summary.risk_reason) == ((), "", "")


def test_risks_are_a_list_and_one_text_for_the_report() -> None:
    risks = [
        {"claim": "Callers that pass None fail.", "where": "engine/core.py", "kind": "compatibility"},
        {"claim": "  ", "where": "engine/core.py", "kind": "other"},
        {"claim": "The loop may end early.", "where": "../../etc/passwd", "kind": "correctness"},
    ]
    summary = read(answer(risks=risks)).summary
    assert summary.risks == (
        SummaryRisk("Callers that pass None fail.", "engine/core.py", RiskKind.COMPATIBILITY),
        SummaryRisk("The loop may end early.", "", RiskKind.CORRECTNESS),
    )
    assert summary.potential_risks == "Callers that pass None fail. The loop may end early."


def test_where_nothing_is_to_be_said_of_risks_or_insights_a_reader_sees_no_empty_section() -> None:
    summary = read(answer(risks=[], key_insights=" ")).summary
    assert [name for name, _ in summary.sections] == [
        "What changed and why",
        "Technical impact",
        "Potential risks",
    ]
    assert summary.potential_risks == "No particular risk stands out."


REFUSAL = ModelRefusal("the model declined to summarize it", Usage(1_000_000, 0))


@pytest.mark.parametrize(
    ("steps", "of", "clause", "usage"),
    [
        ([], BARE, "its files could not be loaded", Usage()),
        ([REFUSAL], pull(), "the model declined to summarize it", REFUSAL.usage),
        ([answer(headline=" ")] * 3, pull(), "headline: Value error, must not be empty", Usage(30, 15)),
    ],
)
def test_without_an_answer_there_are_facts_with_the_reason_and_what_it_cost(
    steps: list[Any], of: PullRequest, clause: str, usage: Usage
) -> None:
    done = read(*steps, of=of)
    assert clause in describe_fallback(done.summary.fallback)
    assert (done.cost, clause in done.summary.what_changed_and_why) == (CLAUDE.prices.cost(MODEL, usage), True)


def test_without_a_model_there_are_facts_and_the_reason() -> None:
    tree = FileTree(TREE)
    done = read(of=make_change(), has_model=False, source_files=tree)
    assert (done.summary.headline, describe_fallback(done.summary.fallback), done.cost) == (
        make_change().title,
        "no model is set up",
        0.0,
    )
    assert tree.asked == []


def test_facts_are_not_kept_in_place_of_a_summary() -> None:
    subject = make_subject(ModelRefusal("declined"), answer(headline="The model's"))
    assert read_pull_request(subject, pull()).summary.is_fallback
    assert read_pull_request(subject, pull()).summary.headline == "The model's"


def test_a_diff_larger_than_the_budget_is_clipped_and_says_so() -> None:
    subject = make_subject(answer(), budget=2_000)
    files = [changed_file(f"engine/part_{n}.py", 200) for n in range(20)]
    done = read_pull_request(subject, pull(files=files))
    assert (done.summary.coverage, bool(done.summary.left_out)) == (Coverage.CLIPPED, True)
    assert len(list_prompts(subject)[0]) / 4 < 2_000 + 100


def test_a_file_without_a_patch_is_no_fault_of_the_model() -> None:
    done = read(answer(), of=pull(files=[changed_file("logo.png", 0, patch=None)]))
    assert done.summary.coverage is Coverage.FULL


def test_a_store_that_is_away_is_not_taken_for_a_model_that_is() -> None:
    class Away(MemoryStore):
        def get_each(self, *_: Any) -> Any:
            raise StoreUnavailable("no store")

    with pytest.raises(StoreUnavailable):
        read(cached=Away())


# --- the files around a change are read where that is possible; the diff has to do elsewhere

PATH = "engine/core.py"
OLD = ["import a", "", "def run(limit):", *(f"    step({n})" for n in range(20)), "    return limit"]
NEW = [*OLD[:12], "    other(9)", *OLD[13:]]
PATCH = "\n".join([*difflib.unified_diff(OLD, NEW, lineterm="")][2:])
TREE = {PATH: "\n".join(NEW) + "\n"}


def make_change(number: int = 1) -> PullRequest:
    return pull(number, files=[changed_file(PATH, 1, 1, patch=PATCH)])


def prompt_with(tree: FileTree | None, change: PullRequest) -> str:
    subject = make_subject(answer(), source_files=tree)
    read_pull_request(subject, change)
    return list_prompts(subject)[0]


def test_a_model_gets_the_whole_function_at_the_merge_commit_or_at_the_head() -> None:
    tree, change = FileTree(TREE), make_change()
    prompt = prompt_with(tree, change)
    assert " def run(limit):" in prompt
    assert "     return limit" in prompt
    opened = replace(change, merge_commit=None, merged_at=None, state="OPEN")
    prompt_with(tree, opened)
    assert [(commit, paths) for commit, _, paths in tree.asked] == [
        (change.commit, (PATH,)),
        (opened.head_commit, (PATH,)),
    ]


@pytest.mark.parametrize(
    "error",
    [SourceUnavailable("no such commit"), GitHubUnavailable("away"), RateLimited("later", 900.0)],
    ids=lambda error: type(error).__name__,
)
def test_without_the_files_the_diff_has_to_do(error: GitHubUnavailable, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "bot.platform.models.packing"):
        assert PATCH in prompt_with(FileTree(TREE, error), make_change(7))
        # where there are no files, nothing is said
        assert PATCH in prompt_with(None, make_change(7))
    assert [record.getMessage() for record in caplog.records] == [
        f"octo/engine#7 is read without its files: {error}"
    ]
