"""Reads a merged pull request for bugs: the larger model reads, and code checks what it quotes."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pydantic import ValidationError

from bot.errors import ModelAnswerInvalid, ModelInputTooLong, SourceUnavailable
from bot.features.merges.neighbors import NO_NEIGHBORS, Neighbors, describe_surroundings
from bot.features.merges.review import BugReview
from bot.features.reviews.prepared import prepare_questions
from bot.features.reviews.report import (
    Recognition,
    ReviewAnswer,
    build_review,
    list_prompt_excerpts,
)
from bot.platform import deadlines
from bot.platform.models import Chat, ChatModel, TextPart, ToolResult, Turn
from bot.platform.models.agent import AgentLimits, AgentLoop, TokenCount
from bot.platform.models.completion import build_schema, describe_validation_error
from bot.platform.models.packing import PackedChange, choose_smaller_budget, format_change, pack_change
from bot.platform.models.prompts import read_instructions
from bot.platform.models.tools import Tools, define_tools
from bot.platform.pulls.diff import split_hunks
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.paths import PathClassesLookup, get_default_classes
from bot.platform.source.models import SourceFiles
from bot.platform.source.reading import CodeSources, Provenance, PullSource
from bot.platform.source.tools import SOURCE_TOOLS, list_missing_tools
from bot.usage import NO_USAGE, CallPurpose, PriceList, Usage
from impact.repository import Repository
from impact.source.models import DiffSide, SourceFile

log = logging.getLogger(__name__)

REVIEW_VERSION = "review.v3"
# the last forty seconds are for the report
REVIEW_LIMITS = AgentLimits(
    rounds=4,
    calls=4,
    seconds=180.0,
    last_seconds=40.0,
    silence_seconds=60.0,
    new_tokens=24_000,
    written_tokens=4_000,
)
MAX_FILE_REQUESTS = 3  # to GitHub for files of one review, besides those of its summary
# tokens of diff in the prompt of a review at most: it is paid for again, at a tenth, in each round
MAX_DIFF_TOKENS = 15_000
# a usual review, in tokens: instructions, description and tools; results of tools; calls, thinking and report. The
# functions around a change make a diff up to 2.5 times as long (docs/decisions/0007-whole-functions.md)
_INSTRUCTION_TOKENS, _RESULT_TOKENS, _OUTPUT_TOKENS = 2_500, 3_500, 2_500
_CONTEXT_FACTOR, _CHARACTERS_PER_TOKEN = 2.5, 4
_READING_SHARE = 0.6  # of what is set aside for a review


# --- the tools: they read the source at the merge commit


def build_review_tools(source: PullSource, code: CodeSources) -> Tools:
    missing = list_missing_tools(code)
    return {
        name: (shape, partial(run, source)) for name, (shape, run) in SOURCE_TOOLS.items() if name not in missing
    }


def _list_added_files(pull: PullRequest) -> Mapping[str, SourceFile]:
    added = {
        file.path: [line.text for _, lines in split_hunks(file.patch) for line in lines]
        for file in pull.files or ()
        if file.status == "added" and file.patch and not file.unread
    }
    return {path: SourceFile(path, "".join(f"{line}\n" for line in lines)) for path, lines in added.items()}


class LimitedSourceFiles:
    """``SourceFiles`` that is asked at most ``MAX_FILE_REQUESTS`` times."""

    def __init__(self, files: SourceFiles) -> None:
        self._files = files
        self._left = MAX_FILE_REQUESTS
        self._lock = threading.Lock()

    def read_files(
        self, repository: Repository, commit: str, paths: Sequence[str], side: DiffSide = DiffSide.NEW
    ) -> Mapping[str, SourceFile]:
        """Return each file of ``paths``. Raises SourceUnavailable after the last request."""
        with self._lock:
            self._left -= 1
            if self._left < 0:
                raise SourceUnavailable("This review has read as many files as it may.")
        return self._files.read_files(repository, commit, paths, side)


# --- the reading


@dataclass(kw_only=True)
class ReviewCost(TokenCount):
    """The cost of one review so far: tokens and US dollars, None if a price is unknown.

    ``cautious_dollars`` is what a budget counts, ``reserved`` what is set aside there for this review.
    """

    model: str
    prices: PriceList
    reserved: float = 0.0
    dollars: float | None = 0.0
    cautious_dollars: float = 0.0

    @property
    def is_mostly_spent(self) -> bool:
        """Whether the rest of what is set aside is needed for the report."""
        return bool(self.reserved) and self.cautious_dollars > _READING_SHARE * self.reserved

    def add_turn(self, usage: Usage) -> None:
        super().add_turn(usage)
        cost = self.prices.cost(self.model, usage)
        self.dollars = None if cost is None or self.dollars is None else self.dollars + cost
        if usage != NO_USAGE and self.prices.prices:
            self.cautious_dollars += self.prices.cautious_cost(self.model, usage)


@dataclass(frozen=True, slots=True)
class ReviewResult:
    """A review, and how far the model says that it remembers the change (for evaluations)."""

    review: BugReview
    recognised: Recognition = Recognition.NO


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Who reviews: the ``model`` of a name, with ``diff_tokens`` of a diff. ``clock`` counts seconds upwards."""

    chat: ChatModel
    model: str
    prices: PriceList
    diff_tokens: int
    code: CodeSources
    sleep: Callable[[float], None]
    classes_of: PathClassesLookup = get_default_classes
    clock: Callable[[], float] = time.monotonic
    limits: AgentLimits = REVIEW_LIMITS

    def start_cost(self, pull: PullRequest) -> ReviewCost:
        """Return the cost of a review that begins, with the US dollars that it will most likely not exceed."""
        # they follow from the length of the diff. Once most of them are spent, the model gets no more tools.
        if not self.prices.prices:
            return ReviewCost(model=self.model, prices=self.prices)
        characters = sum(len(file.patch or "") for file in pull.files or ())
        diff = min(self.diff_tokens, round(_CONTEXT_FACTOR * characters / _CHARACTERS_PER_TOKEN))
        # the instructions are the same in all reviews, so that the first one of an hour leaves them in the cache
        usage = Usage(
            cache_write=diff + _RESULT_TOKENS, cache_read=3 * _INSTRUCTION_TOKENS + 2 * diff, output=_OUTPUT_TOKENS
        )
        reserved = self.prices.cautious_cost(self.model, usage)
        return ReviewCost(model=self.model, prices=self.prices, reserved=reserved)

    def review(self, pull: PullRequest, cost: ReviewCost, neighbors: Neighbors = NO_NEIGHBORS) -> ReviewResult:
        """Review a pull request whose files are loaded; ``cost`` counts what that takes, also if it fails.

        A change that the model's context window can't hold is shown with less of its diff. Raises ModelError
        without a report, StoreUnavailable if what was read can't be kept.
        """
        change = self._pack(pull, self.diff_tokens)
        while True:
            try:
                return self._review_change(pull, change, cost, neighbors)
            except ModelInputTooLong as error:
                shorter = self._pack(pull, choose_smaller_budget(change.diff.text, error))
                if len(shorter.diff.text) >= len(change.diff.text):
                    raise
                change = shorter

    def _pack(self, pull: PullRequest, diff_tokens: int) -> PackedChange:
        return pack_change(pull, diff_tokens, self.classes_of(pull.repository), self.code)

    def _review_change(
        self, pull: PullRequest, change: PackedChange, cost: ReviewCost, neighbors: Neighbors
    ) -> ReviewResult:
        search = self.code.search
        has_mirror = search is not None and search.has_commit(pull.repository, pull.commit)
        files = self.code.files
        code = self.code if has_mirror else CodeSources(LimitedSourceFiles(files) if files else None)
        known = {**_list_added_files(pull), **change.sources}
        source = PullSource(pull, code, Provenance(), known, reads_to_search=has_mirror)
        tools = build_review_tools(source, code)
        classes = self.classes_of(pull.repository)
        prepared = prepare_questions(pull, code, known, classes, self.clock)
        looked_up = describe_surroundings(pull, change, neighbors)
        text = "\n\n".join(filter(None, [format_change(pull, change.diff, looked_up), prepared.text]))
        answer, results = self._ask(tools, text, cost)
        shown = list_prompt_excerpts(pull, change.diff.text, change.sources)
        excerpts = [*shown, *prepared.excerpts, *source.excerpts]
        return ReviewResult(build_review(answer, pull, excerpts, text, results), answer.recognised)

    def _ask(self, tools: Tools, change: str, cost: ReviewCost) -> tuple[ReviewAnswer, str]:
        """Return the report on a change, and what the tools showed.

        One that is no report is asked for again, once. Raises ModelError.
        """
        limits = self.limits
        chat = Chat(
            model=self.model,
            system=read_instructions(REVIEW_VERSION),
            tools=define_tools(tools),
            turns=(Turn("person", (TextPart(change),)),),
            max_tokens=limits.output_tokens,
            silence=limits.silence_seconds,
            seconds=limits.seconds,
            schema=build_schema(ReviewAnswer),
            need=CallPurpose.SECOND_READING,
        )
        loop = AgentLoop(
            self.chat,
            chat,
            tools,
            limits,
            "No more tools: write the report now from what you have seen.",
            self.clock,
            self.sleep,
            self.clock() + min(limits.seconds, deadlines.get_seconds_left()),
            cost,
            # a service that knows of no tools in one turn has another prompt cache for it
            forbids_tools=False,
        )
        answer = _ask_for_report(loop)
        if answer is None:
            loop.has_tools, loop.chat = False, replace(loop.chat, may_use_tools=False)
            answer = _ask_for_report(loop)
        if answer is None:
            raise ModelAnswerInvalid("the model's report was not usable")
        parts = (part for turn in loop.chat.turns[1:] for part in turn.parts)
        return answer, "\n".join(part.text for part in parts if isinstance(part, ToolResult))


def _ask_for_report(loop: AgentLoop) -> ReviewAnswer | None:
    for _ in loop.run():
        pass
    turn, results = loop.turn, tuple[ToolResult, ...]()
    if turn.end is None or turn.is_cut:
        problem = "it was cut at its length limit"
    elif turn.calls:
        problem, refusal = "it calls tools", "There are no more tools for this review."
        results = tuple(ToolResult(call.id, refusal, is_error=True) for call in turn.calls)
    else:
        try:
            return ReviewAnswer.model_validate_json(turn.text)
        except ValidationError as error:
            problem = describe_validation_error(error)
    log.info("a review is refused: %s", problem)
    note = TextPart(f"Your report was refused: {problem}. Write it again, as JSON within the limits.")
    if turn.end is None or turn.is_cut:
        *before, last = loop.chat.turns
        loop.chat = replace(loop.chat, turns=(*before, replace(last, parts=(*last.parts, note))))
    else:
        loop.add_turns(turn.end.turn, Turn("person", (*results, note)))
    return None
