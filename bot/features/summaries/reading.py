"""Reads single pull requests: the model's summary, verified in the diff, or facts in its place."""

from __future__ import annotations

import logging
from functools import partial
from typing import Annotated

from pydantic import AfterValidator, Field

from bot.app import App
from bot.errors import (
    GitHubAccessDenied,
    GitHubUnavailable,
    ModelError,
    ModelInputTooLong,
    PullRequestNotFound,
    RateLimited,
)
from bot.features.merges.neighbors import Neighbors, describe_surroundings, find_neighbors
from bot.features.merges.summary import (
    MAX_CONDITION_LENGTH,
    MAX_HEADLINE_LENGTH,
    NO_RISKS,
    ChangeType,
    Fallback,
    FallbackReason,
    Quote,
    RiskKind,
    SummarisedPullRequest,
    Summary,
    SummaryRisk,
    build_fallback_summary,
    explain_fallback,
    read_isolated,
    remove_unproven_claims,
    verify_quotes,
)
from bot.platform.costs import Expense, get_account
from bot.platform.models import Model, Prompt
from bot.platform.models.completion import (
    AnswerShape,
    NonEmpty,
    OptionalProse,
    Prose,
    SafeLine,
    SafeText,
    build_schema,
    limit_length,
    request_answer,
)
from bot.platform.models.packing import (
    Coverage,
    PackedChange,
    PackedDiff,
    choose_smaller_budget,
    format_change,
    pack_change,
)
from bot.platform.models.prompts import read_instructions
from bot.platform.models.slots import hold_model_slot
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.paths import determine_area
from bot.platform.source.reading import CodeSources
from bot.redaction import redact_text
from bot.text import add_condition
from bot.usage import classify_purpose
from impact.text.strings import collapse_lines

log = logging.getLogger(__name__)

SUMMARY_VERSION = "summary.v5"
MAX_QUOTES = 12  # each is searched in the diff; more would prove nothing more
_MAX_RISKS = 8  # more would be read by nobody; the prompt asks for four
# four sections of about 400 characters and the quotes take under 1,000 tokens; the rest is room to think
_MAX_SUMMARY_TOKENS = 6_000


# --- what the model is asked


class QuoteAnswer(AnswerShape):
    """A quote of a line in the diff, not verified."""

    path: Annotated[str, AfterValidator(redact_text)]
    quote: Annotated[str, AfterValidator(redact_text)]


class RiskAnswer(AnswerShape):
    """One thing that could break."""

    claim: OptionalProse
    where: SafeText = ""
    kind: RiskKind = RiskKind.OTHER


def _select_risks(risks: list[RiskAnswer]) -> list[RiskAnswer]:
    return [risk for risk in risks if collapse_lines(risk.claim)][:_MAX_RISKS]


class SummaryAnswer(AnswerShape):
    """The summary of one pull request."""

    type: ChangeType
    headline: Annotated[str, SafeLine, NonEmpty, limit_length(MAX_HEADLINE_LENGTH)]
    condition: Annotated[str, SafeLine, limit_length(MAX_CONDITION_LENGTH)] = ""
    what_changed_and_why: Prose
    technical_impact: Prose
    risks: Annotated[list[RiskAnswer], AfterValidator(_select_risks)] = Field(default_factory=list)
    key_insights: OptionalProse = ""
    risk_reason: SafeText = ""
    action: SafeText = ""
    evidence: list[QuoteAnswer] = Field(default_factory=list)


def build_summary_prompt(model: str, pull: PullRequest, diff: PackedDiff, looked_up: str = "") -> Prompt:
    return Prompt(
        model,
        SUMMARY_VERSION,
        read_instructions(SUMMARY_VERSION),
        format_change(pull, diff, looked_up),
        build_schema(SummaryAnswer),
        _MAX_SUMMARY_TOKENS,
        classify_purpose(pull.changed_lines),
    )


# --- reading


def load_files(app: App, pull: PullRequest) -> PullRequest:
    if pull.files is not None:
        return pull
    try:
        return app.pulls.load_files(pull)
    except (GitHubAccessDenied, GitHubUnavailable, PullRequestNotFound, RateLimited) as error:
        log.info("no files of %s#%d: %s", pull.repository, pull.number, error)
        return pull


def read_pull_request(app: App, pull: PullRequest) -> SummarisedPullRequest:
    """Return a pull request with its files and its summary, or with its facts if that meets a defect."""
    return read_isolated(pull, partial(_summarise, app))


def build_unsummarised(
    app: App, pull: PullRequest, why: Fallback, coverage: Coverage = Coverage.NONE, cost: float | None = 0.0
) -> SummarisedPullRequest:
    classes = app.paths.get_path_classes(pull.repository)
    summary = build_fallback_summary(pull, why, coverage, classes)
    return SummarisedPullRequest(pull, summary, determine_area(pull, classes), cost=cost)


def _summarise(app: App, pull: PullRequest) -> SummarisedPullRequest:
    pull = load_files(app, pull)
    if pull.files is None:
        return build_unsummarised(app, pull, Fallback(FallbackReason.NO_FILES))
    change = _pack(app, pull, app.settings.prdigest_diff_tokens)
    diff = change.diff
    if diff.coverage is Coverage.NONE and any(file.is_unreadable for file in pull.files):
        log.warning("%s#%d could not be read (no diff of it is one)", pull.repository, pull.number)
        return build_unsummarised(app, pull, Fallback(FallbackReason.UNREADABLE), diff.coverage)
    if app.model is None:
        return build_unsummarised(app, pull, Fallback(FallbackReason.NO_MODEL), diff.coverage)
    return _ask_model(app, app.model, pull, change, find_neighbors(app, pull))


def _pack(app: App, pull: PullRequest, budget: int) -> PackedChange:
    # without a model, nobody reads what stands around the changes
    code = app.code if app.model else CodeSources()
    return pack_change(pull, budget, app.paths.get_path_classes(pull.repository), code)


def _ask_model(
    app: App, model: Model, pull: PullRequest, change: PackedChange, neighbors: Neighbors
) -> SummarisedPullRequest:
    name, prices, diff = app.settings.prdigest_summary_model, app.provider.prices, change.diff
    prompt = build_summary_prompt(name, pull, diff, describe_surroundings(pull, change, neighbors))
    try:
        with hold_model_slot():
            answer = request_answer(app, model, prompt, SummaryAnswer)
    except ModelError as error:
        if isinstance(error, ModelInputTooLong):
            # the model's context window is too small
            shorter = _pack(app, pull, choose_smaller_budget(diff.text, error))
            if len(shorter.diff.text) < len(diff.text):
                return _ask_model(app, model, pull, shorter, neighbors)
        log.info("no model summary of %s#%d: %s", pull.repository, pull.number, error)
        spent = prices.cost(name, error.usage)
        return build_unsummarised(app, pull, explain_fallback(error), diff.coverage, spent)
    get_account().add_expense(Expense(cache_hits=int(answer.from_cache), cache_misses=int(not answer.from_cache)))
    value, paths = answer.value, {file.path for file in pull.files or ()}
    summary = Summary(
        type=value.type,
        # names stand without backticks there
        headline=add_condition(value.headline, value.condition.replace("`", "")),
        what_changed_and_why=value.what_changed_and_why,
        technical_impact=value.technical_impact,
        potential_risks=" ".join(risk.claim for risk in value.risks) or NO_RISKS,
        key_insights=value.key_insights,
        risk_reason=add_condition(value.risk_reason, value.condition),
        action=add_condition(value.action, value.condition),
        evidence=verify_quotes([Quote(item.path, item.quote) for item in value.evidence[:MAX_QUOTES]], pull),
        coverage=diff.coverage,
        left_out=diff.left_out,
        risks=tuple(
            SummaryRisk(risk.claim, risk.where if risk.where in paths else "", risk.kind) for risk in value.risks
        ),
        condition=value.condition,
    )
    # who has read the changes before needs no quotes
    summary = summary if app.sources.stands_in else remove_unproven_claims(summary)
    area = determine_area(pull, app.paths.get_path_classes(pull.repository))
    return SummarisedPullRequest(pull, summary, area, answer.from_cache, prices.cost(name, answer.usage))
