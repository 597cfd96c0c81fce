"""Reviewer of single pull requests for bugs: the larger model reads, and code checks what it quotes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.domain.operations.usage import PriceList, Usage
from bot.domain.pull_requests.models import PullRequest
from bot.domain.pull_requests.path_classes import PathClassesLookup, get_default_classes
from bot.domain.review.models import BugReview
from bot.ports import ChatModel
from bot.services.review.conversation import DEFAULT_LIMITS, ReviewConversation, ReviewCost, ReviewLimits
from bot.services.review.findings import build_review, list_prompt_excerpts
from bot.services.review.tools import NoRecord, build_review_tools, limit_requests
from bot.services.source.code_sources import CodeSources
from bot.services.source.pull_source import PullSource
from bot.services.summaries.packed_change import SourceLookup, pack_change, read_nothing
from bot.services.summaries.prompts import format_change

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

    def start_cost(self) -> ReviewCost:
        """Return the cost of a review that begins."""
        return ReviewCost(self.name, self.prices)


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
        limits: ReviewLimits = DEFAULT_LIMITS,
    ) -> None:
        self.model = model
        self._code = code
        self._clock = clock
        self._sleep = sleep
        self._classes_of = classes_of
        self._read_sources = read_sources
        self._limits = limits

    @property
    def reserved_cost(self) -> float:
        """The US dollars that a review may cost before it gets no more tools; its report may cost a bit more."""
        limits = self._limits
        # half of what is new is in the first prompt, which each round reads again
        read = limits.rounds * limits.new_tokens // 2
        usage = Usage(cache_write=limits.new_tokens, cache_read=read, output=limits.written_tokens)
        return self.model.prices.cautious_cost(self.model.name, usage) if self.model.prices.prices else 0.0

    def review_pull_request(self, pull: PullRequest, cost: ReviewCost) -> ReviewResult:
        """Review a pull request; ``cost`` counts what that takes, also if it fails.

        Raises:
            ModelError: the model gives no report.
            StoreUnavailable: what was read can't be kept.
        """
        classes = self._classes_of(pull.repository)
        change = pack_change(pull, pull.files or (), self.model.diff_tokens, classes, self._read_sources)
        source = PullSource(pull, limit_requests(self._code), NoRecord(), change.sources)
        tools = build_review_tools(source, has_history=self._code.search is not None)
        conversation = ReviewConversation(self.model.chat, tools, cost, self._clock, self._sleep, self._limits)
        answer = conversation.run_review(format_change(pull, change.diff))
        shown = list_prompt_excerpts(pull, change.diff.text, change.sources)
        return ReviewResult(build_review(answer, pull, [*shown, *source.excerpts]), answer.recognised)
