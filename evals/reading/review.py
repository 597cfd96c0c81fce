"""The bot's own review of merges of a local clone: by its model within a cost, or by a reader who has no key."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from bot.app import App
from bot.connections.sources import load_path_settings
from bot.errors import ConfigurationError, ModelError, ModelRequestRejected, SourceUnavailable
from bot.features.reviews.reading import MAX_DIFF_TOKENS, ReviewCost, Reviewer, ReviewResult
from bot.features.reviews.report import Recognition
from bot.features.reviews.service import review_once
from bot.platform import deadlines
from bot.platform.costs import MeteredChat
from bot.platform.models import Chat, ChatEvent, ChatModel, TextDelta, TextPart, ToolCall, Turn, TurnEnd, TurnUsage
from bot.platform.models.registry import choose_provider
from bot.platform.pulls.models import PullRequest
from bot.platform.source.reading import CodeSources
from bot.platform.worker_threads import DeadlineExecutor
from bot.settings import Settings
from bot.usage import PriceList, Usage
from evals.reading.clone import CloneReader, load_files
from evals.reading.figures import Reading

# readings without a report, one after another, after which the model is not asked again
_MAX_FAILURES = 5
# characters of a token, for the cost and the limits of a conversation that no model counts
_CHARACTERS_PER_TOKEN = 4


def build_reviewer(clone: Path, chat: ChatModel, prices: PriceList, settings: Settings) -> Reviewer:
    reader = CloneReader(clone)
    files = reader
    diff_tokens = min(settings.prdigest_diff_tokens, MAX_DIFF_TOKENS)
    return Reviewer(
        chat,
        settings.prdigest_answer_model,
        prices,
        diff_tokens,
        CodeSources(files, reader),
        deadlines.sleep,
        load_path_settings(settings).get_path_classes,
    )


def review_merge(
    pull: PullRequest, review: Callable[[PullRequest, ReviewCost], ReviewResult], cost: ReviewCost
) -> Reading:
    """Review a merge whose patches are loaded. A failure is the reading's problem.

    Raises:
        StoreUnavailable: what was read can't be kept.
    """
    try:
        result = review(pull, cost)
    except ModelError as error:
        return Reading(cost=cost.dollars, problem=str(error).rstrip("."))
    return Reading(result.review, result.recognised is not Recognition.NO, cost.dollars)


class ModelReader:
    """Reader of merges by the bot's model. Its reviews are kept, apart from those of digests.

    Once ``max_cost`` US dollars are spent, or five readings in a row failed, it reads no more.
    """

    def __init__(self, app: App, files: CloneReader, reviewer: Reviewer, max_cost: float) -> None:
        self._app = app
        self._files = files
        self._reviewer = reviewer
        self._max_cost = max_cost
        self._spent = 0.0
        self._failures = 0
        self._lock = threading.Lock()

    def read_merges(
        self, merges: Sequence[PullRequest], workers: int, progress: Callable[[int, int], None]
    ) -> list[Reading]:
        """Read merges, ``workers`` at a time. Raises StoreUnavailable."""
        done = count(1)

        def read_next(pull: PullRequest) -> Reading:
            reading = self._read(pull)
            with self._lock:
                progress(next(done), len(merges))
            return reading

        with DeadlineExecutor(workers, "reading") as crew:
            return crew.map_items(read_next, merges)

    def _read(self, pull: PullRequest) -> Reading:
        with self._lock:
            if self._failures >= _MAX_FAILURES:
                return Reading(problem=f"not read, as {self._failures} readings in a row failed")
            if self._spent >= self._max_cost:
                return Reading(problem=f"not read, as the limit of ${self._max_cost:.2f} is reached")
        try:
            loaded = load_files(self._files, pull)
        except SourceUnavailable as error:
            reading, spent = Reading(problem=str(error).rstrip(".")), 0.0
        else:
            cost = self._reviewer.start_cost(loaded)
            reading = review_merge(loaded, partial(review_once, self._app, self._reviewer, use="clone "), cost)
            spent = cost.cautious_dollars if cost.dollars is None else cost.dollars
        with self._lock:
            self._spent += spent
            self._failures = 0 if reading.review else self._failures + 1
        return reading


def build_model_reader(app: App, clone: Path, max_cost: float) -> ModelReader:
    """Build the reader by the bot's model.

    Raises:
        ConfigurationError: there is no model.
        StoreUnavailable: the store can't be opened.
    """
    chat, settings = app.sources.chat, app.settings
    if chat is None or app.sources.stands_in:
        raise ConfigurationError(f"Set {app.provider.key_variable}: a reading asks the model.")
    reviewer = build_reviewer(clone, MeteredChat(chat, app.meter), app.provider.prices, settings)
    return ModelReader(app, CloneReader(clone), reviewer, max_cost)


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: dict[str, Any]


Round = tuple[Call, ...]


@dataclass
class ScriptedReader:
    """``ChatModel`` that plays back what a reader did about one merge: rounds of tools, then a report.

    ``chats`` has what was sent, turn by turn; tokens are estimated by their length. Without an answer, and after
    one that was refused, there is no further turn.
    """

    rounds: Sequence[Round] = ()
    answer: str | None = None
    chats: list[Chat] = field(default_factory=list)

    def review(self, pull: PullRequest, clone: Path, settings: Settings) -> Reading:
        reviewer = build_reviewer(clone, self, choose_provider(settings).prices, settings)
        # what is sent must not depend on how fast this machine searches
        reviewer = replace(reviewer, clock=lambda: 0.0)
        return review_merge(pull, reviewer.review, reviewer.start_cost(pull))

    def stream_turn(self, chat: Chat) -> Generator[ChatEvent, None, None]:
        """Yield the next turn of the reader. Raise ModelRequestRejected if there is none."""
        place = len(self.chats)
        self.chats.append(chat)
        if place < len(self.rounds):
            calls = self.rounds[place]
            for number, call in enumerate(calls):
                yield ToolCall(f"call_{place}_{number}", call.name, call.arguments)
            yield from self._end_turn(json.dumps([asdict(call) for call in calls]))
        elif place > len(self.rounds):
            raise ModelRequestRejected(f"the report was refused: {list_results(chat)[-1]}")
        elif self.answer is None:
            raise ModelRequestRejected("there is no answer")
        else:
            yield TextDelta(self.answer)
            yield from self._end_turn(self.answer)

    def _end_turn(self, text: str) -> Generator[ChatEvent, None, None]:
        sizes = [0, *map(_measure_chat, self.chats)]
        usage = Usage(
            cache_write=(sizes[-1] - sizes[-2]) // _CHARACTERS_PER_TOKEN,
            cache_read=sizes[-2] // _CHARACTERS_PER_TOKEN,
            output=len(text) // _CHARACTERS_PER_TOKEN,
        )
        yield TurnUsage(usage)
        yield TurnEnd(Turn("model", (TextPart(text),)))


def list_results(chat: Chat) -> list[str]:
    """Return the texts of the last turn that was sent: results of tools, and notes."""
    return [part.text for part in chat.turns[-1].parts]


def _measure_chat(chat: Chat) -> int:
    """Return the characters of what is sent."""
    turns = sum(len(part.text) for turn in chat.turns for part in turn.parts)
    return len(chat.system) + len(json.dumps([chat.tools, chat.schema], default=str)) + turns
