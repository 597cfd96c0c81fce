"""Reviewer of single pull requests for bugs: the larger model reads, and code checks what it quotes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.domain.errors import ModelInputTooLong
from bot.domain.operations.usage import PriceList, Usage
from bot.domain.pull_requests.models import PullRequest
from bot.domain.pull_requests.path_classes import PathClassesLookup, get_default_classes
from bot.domain.review.models import BugReview
from bot.platform.models.agent import AgentLimits
from bot.platform.provenance import Provenance
from bot.platform.source import CodeSources, PullSource
from bot.ports import ChatModel
from bot.services.review.conversation import REVIEW_LIMITS, ReviewCost, run_review
from bot.services.review.findings import build_review, list_prompt_excerpts
from bot.services.review.tools import build_review_tools, has_commit, limit_requests, list_added_files
from bot.services.summaries.packed_change import (
    PackedChange,
    SourceLookup,
    choose_smaller_budget,
    pack_change,
    read_nothing,
)
from bot.services.summaries.prompts import format_change

# a usual review, in tokens: instructions, description and tools; results of tools; calls, thinking and report. The
# functions around a change make a diff up to 2.5 times as long (docs/decisions/0007-whole-functions.md)
_INSTRUCTION_TOKENS, _RESULT_TOKENS, _OUTPUT_TOKENS = 2_000, 3_500, 2_500
_CONTEXT_FACTOR, _CHARACTERS_PER_TOKEN = 2.5, 4
# tokens of diff in the prompt of a review at most: it is paid for again, at a tenth, in each round
MAX_DIFF_TOKENS = 15_000


@dataclass(frozen=True, slots=True)
class ReviewResult:
    """A review, and whether the model says that it knows what became of the change (for evaluations)."""

    review: BugReview
    recognised: bool = False


@dataclass(frozen=True, slots=True)
class ReviewModel:
    """The model that reviews: its name, its prices, and the tokens of diff that it gets."""

    chat: ChatModel
    name: str
    prices: PriceList
    diff_tokens: int = MAX_DIFF_TOKENS

    def start_cost(self, pull: PullRequest) -> ReviewCost:
        """Return the cost of a review that begins, with the US dollars that it will most likely not exceed.

        They follow from the length of the diff. Once most of them are spent, the model gets no more tools.
        """
        if not self.prices.prices:
            return ReviewCost(model=self.name, prices=self.prices)
        characters = sum(len(file.patch or "") for file in pull.files or ())
        diff = min(self.diff_tokens, round(_CONTEXT_FACTOR * characters / _CHARACTERS_PER_TOKEN))
        first = diff + _INSTRUCTION_TOKENS
        usage = Usage(cache_write=first + _RESULT_TOKENS, cache_read=2 * first, output=_OUTPUT_TOKENS)
        reserved = self.prices.cautious_cost(self.name, usage)
        return ReviewCost(model=self.name, prices=self.prices, reserved=reserved)


class BugReviewer:
    """Reviewer of merged pull requests whose files are loaded.

    ``code`` is where their files are read; ``read_sources`` reads the files that the prompt shows functions of.
    """

    def __init__(
        self,
        model: ReviewModel,
        code: CodeSources,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        *,
        classes_of: PathClassesLookup = get_default_classes,
        read_sources: SourceLookup = read_nothing,
        limits: AgentLimits = REVIEW_LIMITS,
    ) -> None:
        self.model = model
        self._code = code
        self._clock = clock
        self._sleep = sleep
        self._classes_of = classes_of
        self._read_sources = read_sources
        self._limits = limits

    def review_pull_request(self, pull: PullRequest, cost: ReviewCost) -> ReviewResult:
        """Review a pull request; ``cost`` counts what that takes, also if it fails.

        A change that the model's context window can't hold is shown with less of its diff.

        Raises:
            ModelError: the model gives no report.
            StoreUnavailable: what was read can't be kept.
        """
        change = self._pack_change(pull, self.model.diff_tokens)
        while True:
            try:
                return self._review_change(pull, change, cost)
            except ModelInputTooLong as error:
                shorter = self._pack_change(pull, choose_smaller_budget(change.diff.text, error.excess))
                if len(shorter.diff.text) >= len(change.diff.text):
                    raise
                change = shorter

    def _pack_change(self, pull: PullRequest, diff_tokens: int) -> PackedChange:
        """Pack what the model is shown of a pull request."""
        classes = self._classes_of(pull.repository)
        return pack_change(pull, pull.files or (), diff_tokens, classes, self._read_sources)

    def _review_change(self, pull: PullRequest, change: PackedChange, cost: ReviewCost) -> ReviewResult:
        """Review what the model is shown. Raises ModelError and StoreUnavailable."""
        has_mirror = has_commit(self._code, pull)
        known = {**list_added_files(pull), **change.sources}
        code = self._code if has_mirror else limit_requests(self._code)
        source = PullSource(pull, code, Provenance(), known, reads_to_search=has_mirror)
        tools = build_review_tools(source, has_history=has_mirror)
        text = format_change(pull, change.diff)
        answer = run_review(self.model.chat, tools, cost, text, self._clock, self._sleep, self._limits)
        shown = list_prompt_excerpts(pull, change.diff.text, change.sources)
        return ReviewResult(build_review(answer, pull, [*shown, *source.excerpts]), answer.recognised)
