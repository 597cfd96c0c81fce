"""Summariser of single pull requests: by the model, verified in the diff, or else by facts."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from bot.domain.errors import ModelError, ModelInputTooLong
from bot.domain.pull_requests.models import ChangedFile, PullRequest
from bot.domain.pull_requests.path_classes import PathClassesLookup, get_default_classes
from bot.domain.summaries.diff_packing import Coverage, PackedDiff
from bot.domain.summaries.fallback import Fallback, FallbackReason, explain_fallback
from bot.domain.summaries.models import (
    NO_RISKS,
    Quote,
    Summary,
    SummaryRisk,
    build_fallback_summary,
    remove_unproven_claims,
    verify_quotes,
)
from bot.platform.costs import Expense, get_account
from bot.platform.models.slots import hold_model_slot
from bot.services.summaries.packed_change import (
    SourceLookup,
    choose_smaller_budget,
    pack_change,
    read_nothing,
)
from bot.services.summaries.prompts import build_summary_prompt
from bot.services.summaries.schemas import MAX_QUOTES, SummaryAnswer
from bot.services.summaries.structured_completion import StructuredCompletion

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SummaryResult:
    """A summary, whether it was cached, and its cost now (US dollars, None if unknown)."""

    summary: Summary
    from_cache: bool = False
    cost: float | None = 0.0


class Summariser:
    """Summariser of pull requests whose files are loaded.

    ``completion`` is None if no model is set up: every summary then consists of facts. ``budget`` is in tokens and
    limits the diff in one prompt. With ``must_prove``, claims on which a reader would act are shown only with a
    quote of the diff as evidence. ``read_sources`` reads files as they are after a change.
    """

    def __init__(
        self,
        completion: StructuredCompletion | None,
        model: str,
        budget: int,
        classes_of: PathClassesLookup = get_default_classes,
        *,
        must_prove: bool = True,
        read_sources: SourceLookup = read_nothing,
    ) -> None:
        self._completion = completion
        self._model = model
        self._budget = budget
        self._classes_of = classes_of
        self._must_prove = must_prove
        self._read_sources = read_sources

    def summarise_pull_request(self, pull: PullRequest) -> SummaryResult:
        """Summarise a pull request. Without an answer of the model, return a fallback, which is not cached."""
        if pull.files is None:
            return SummaryResult(self._build_fallback(pull, Fallback(FallbackReason.NO_FILES), Coverage.NONE))
        diff = self._pack_diff(pull, pull.files, self._budget)
        if diff.coverage is Coverage.NONE and any(file.is_unreadable for file in pull.files):
            log.warning("%s#%d could not be read (no diff of it is one)", pull.repository, pull.number)
            return SummaryResult(self._build_fallback(pull, Fallback(FallbackReason.UNREADABLE), diff.coverage))
        if self._completion is None:
            return SummaryResult(self._build_fallback(pull, Fallback(FallbackReason.NO_MODEL), diff.coverage))
        return self._ask_model(self._completion, pull, pull.files, diff)

    def _pack_diff(self, pull: PullRequest, files: Sequence[ChangedFile], budget: int) -> PackedDiff:
        # without a model, nobody reads what stands around the changes
        read_sources = self._read_sources if self._completion else read_nothing
        return pack_change(pull, files, budget, self._classes_of(pull.repository), read_sources).diff

    def _ask_model(
        self, completion: StructuredCompletion, pull: PullRequest, files: Sequence[ChangedFile], diff: PackedDiff
    ) -> SummaryResult:
        try:
            with hold_model_slot():
                answer = completion.request_answer(build_summary_prompt(self._model, pull, diff), SummaryAnswer)
        except ModelError as error:
            if shorter := self._pack_shorter(pull, files, diff, error):
                return self._ask_model(completion, pull, files, shorter)
            log.info("no model summary of %s#%d: %s", pull.repository, pull.number, error)
            spent = completion.compute_cost(self._model, error.usage)
            return SummaryResult(self._build_fallback(pull, explain_fallback(error), diff.coverage), cost=spent)
        get_account().add_expense(
            Expense(cache_hits=int(answer.from_cache), cache_misses=int(not answer.from_cache))
        )
        summary = _build_summary(answer.value, pull, diff)
        summary = remove_unproven_claims(summary) if self._must_prove else summary
        return SummaryResult(summary, answer.from_cache, completion.compute_cost(self._model, answer.usage))

    def _pack_shorter(
        self, pull: PullRequest, files: Sequence[ChangedFile], diff: PackedDiff, error: ModelError
    ) -> PackedDiff | None:
        """Return a shorter diff for a model whose context window is too small; None if that can't help."""
        if not isinstance(error, ModelInputTooLong):
            return None
        shorter = self._pack_diff(pull, files, choose_smaller_budget(diff.text, error.excess))
        return shorter if len(shorter.text) < len(diff.text) else None

    def _build_fallback(self, pull: PullRequest, fallback: Fallback, coverage: Coverage) -> Summary:
        return build_fallback_summary(pull, fallback, coverage, self._classes_of(pull.repository))


def _build_summary(answer: SummaryAnswer, pull: PullRequest, diff: PackedDiff) -> Summary:
    quotes = [Quote(item.path, item.quote) for item in answer.evidence[:MAX_QUOTES]]
    return Summary(
        type=answer.type,
        headline=answer.headline,
        what_changed_and_why=answer.what_changed_and_why,
        technical_impact=answer.technical_impact,
        potential_risks=" ".join(risk.claim for risk in answer.risks) or NO_RISKS,
        key_insights=answer.key_insights,
        risk_reason=answer.risk_reason,
        action=answer.action,
        evidence=verify_quotes(quotes, pull),
        coverage=diff.coverage,
        left_out=diff.left_out,
        risks=_build_risks(answer, pull),
    )


def _build_risks(answer: SummaryAnswer, pull: PullRequest) -> tuple[SummaryRisk, ...]:
    """Return the risks; a place that is no file of the pull request is left out."""
    paths = {file.path for file in pull.files or ()}
    return tuple(
        SummaryRisk(risk.claim, risk.where if risk.where in paths else "", risk.kind) for risk in answer.risks
    )
