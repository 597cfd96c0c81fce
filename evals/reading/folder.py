"""The folder that readers get, the key beside it, and what becomes of their answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from bot.errors import UsageError
from bot.features.merges.risk import Risk, assess_pull_request
from bot.features.reviews.reading import REVIEW_VERSION
from bot.platform.models import Chat
from bot.platform.pulls.models import PullRequest
from bot.settings import Settings
from evals.json_files import Part, read_part, write_json
from evals.merges import MergeHistory
from evals.reading.clone import CloneReader, load_files
from evals.reading.figures import Reading, ReadPair
from evals.reading.pairs import MatchedPair, PairChoice
from evals.reading.review import Call, Round, ScriptedReader, list_results

_PULL = TypeAdapter(PullRequest)
_INSTRUCTIONS = Path(__file__).parent / "reader.md"


class ReadingPlan(Part):
    """What a folder of prompts is made of. ``clone`` is where tools read, ``prompts`` the number of merges."""

    repository: str
    branch: str
    clone: str
    since: str
    until: str
    timezone: str
    seed: int
    prompts: int
    instructions: str = REVIEW_VERSION


class KeyedMerge(Part):
    """A merge of a pair: the number of its prompt, its own number, and its points by the rules."""

    prompt: int
    number: int
    points: float


class KeyedPair(Part):
    """A pair: which merge was later repaired, and which one was not."""

    repaired: KeyedMerge
    other: KeyedMerge


class PairKey(Part):
    """What no reader may see: which of two merges was repaired. ``eligible`` could have been in a pair."""

    eligible: int
    pairs: tuple[KeyedPair, ...]


class StoredCall(Part):
    name: str
    arguments: dict[str, Any]


class StoredRounds(Part):
    """The rounds of tools of one reading, in their order."""

    rounds: tuple[tuple[StoredCall, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class ReadingFolder:
    """A folder of prompts. Nothing in it says which merge was repaired: that is in ``key``, beside it."""

    path: Path

    @property
    def manifest(self) -> Path:
        return self.path / "reading.json"

    @property
    def key(self) -> Path:
        return self.path.parent / f"{self.path.name}-key.json"

    def get_file(self, kind: str, number: int) -> Path:
        return self.path / kind / f"{number:03}.json"

    def require_unused(self) -> None:
        """Raise UsageError if there are prompts already."""
        if self.manifest.exists():
            raise UsageError(f"{self.path} has prompts already: name a new folder.")

    def read_plan(self) -> ReadingPlan:
        """Read how the prompts were made. Raises UsageError."""
        if not self.manifest.is_file():
            raise UsageError(f"{self.path} has no prompts: begin with collect.")
        return read_part(self.manifest, ReadingPlan)

    def read_pull(self, number: int) -> PullRequest:
        """Read the merge of a prompt. Raises UsageError."""
        path = self.get_file("merges", number)
        try:
            return _PULL.validate_json(path.read_bytes())
        except (OSError, ValidationError) as error:
            raise UsageError(f"There is no prompt {number}: {path.name} can't be used.") from error

    def read_rounds(self, number: int) -> tuple[Round, ...]:
        """Read the rounds of tools of a reading; none if no tool was called. Raises UsageError."""
        path = self.get_file("calls", number)
        stored = read_part(path, StoredRounds) if path.exists() else StoredRounds()
        return tuple(tuple(Call(call.name, call.arguments) for call in calls) for calls in stored.rounds)

    def collect_prompts(
        self,
        plan: ReadingPlan,
        merges: Sequence[PullRequest],
        key: Part,
        settings: Settings,
        progress: Callable[[int, int], None],
    ) -> None:
        """Write the prompt of each merge, which are in an order that says nothing, and the key.

        Raises:
            UsageError: nothing would be sent about a merge.
            SourceUnavailable: the clone can't be read.
        """
        clone = Path(plan.clone)
        files = CloneReader(clone)
        for number, pull in enumerate(merges, 1):
            loaded = load_files(files, pull)
            write_json(self.get_file("merges", number), _PULL.dump_python(loaded, mode="json"))
            reader = ScriptedReader()
            reading = reader.review(loaded, clone, settings)
            if not reader.chats:
                raise UsageError(f"#{pull.number} can't be read: {reading.problem}.")
            write_json(self.get_file("prompts", number), describe_prompt(number, reader.chats[0]))
            progress(number, len(merges))
        write_json(self.key, key)
        (self.path / "answers").mkdir(exist_ok=True)
        instructions = _INSTRUCTIONS.read_text(encoding="utf-8").replace("DIR", str(self.path.resolve()))
        (self.path / "README.md").write_text(instructions, encoding="utf-8")
        write_json(self.manifest, plan)

    def use_tools(self, number: int, calls: Round, settings: Settings) -> list[str]:
        """Run a round of tools of a reading, as the bot would, and keep it. Return what a model would be sent.

        Raises:
            UsageError: there is no such prompt, or the bot would allow no more tools.
        """
        rounds = (*self.read_rounds(number), calls)
        reader = ScriptedReader(rounds)
        reader.review(self.read_pull(number), Path(self.read_plan().clone), settings)
        # after the last round of tools, the bot refuses more of them and asks for the report once more
        if len(reader.chats) <= len(rounds) or not reader.chats[-1].may_use_tools:
            raise UsageError("No more tools: write the report now.")
        stored = tuple(
            tuple(StoredCall(name=call.name, arguments=call.arguments) for call in each) for each in rounds
        )
        write_json(self.get_file("calls", number), StoredRounds(rounds=stored))
        return list_results(reader.chats[-1])

    def read_pairs(self, settings: Settings) -> tuple[int, tuple[ReadPair, ...]]:
        """Return how many merges could have been in a pair, and each pair with its readings.

        They are checked as the bot checks a model.

        Raises:
            UsageError: the folder and its key do not belong together, or a prompt has changed.
        """
        key = read_part(self.key, PairKey)
        return key.eligible, tuple(self._read_pair(pair, settings) for pair in key.pairs)

    def _read_pair(self, pair: KeyedPair, settings: Settings) -> ReadPair:
        repaired, other = (self.read_pull(merge.prompt) for merge in (pair.repaired, pair.other))
        if (repaired.number, other.number) != (pair.repaired.number, pair.other.number):
            raise UsageError(f"{self.key.name} is not the key of {self.path.name}.")
        return ReadPair(
            MatchedPair(repaired, other),
            self.read_answer(pair.repaired.prompt, settings),
            self.read_answer(pair.other.prompt, settings),
            Risk(pair.repaired.points, ()),
            Risk(pair.other.points, ()),
        )

    def read_answer(self, number: int, settings: Settings) -> Reading:
        """Return the reading of a merge by what its reader did and wrote. Raises UsageError."""
        pull, clone = self.read_pull(number), Path(self.read_plan().clone)
        path, prompt = self.get_file("answers", number), self.get_file("prompts", number)
        if not path.exists():
            return Reading(problem="there is no answer")
        try:
            reader = ScriptedReader(self.read_rounds(number), path.read_text(encoding="utf-8"))
            collected = json.loads(prompt.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UsageError(f"Prompt {number} or its answer can't be read: {error}.") from error
        reading = reader.review(pull, clone, settings)
        sent = json.loads(json.dumps(describe_prompt(number, reader.chats[0]))) if reader.chats else None
        if sent != collected:
            raise UsageError(
                f"prompts/{prompt.name} is not what the bot would send now: settings, instructions or the clone "
                "have changed. Collect again."
            )
        return reading


def describe_pairs(history: MergeHistory, choice: PairChoice, merges: Sequence[PullRequest]) -> PairKey:
    """Return the key of pairs whose merges have their prompts in an order."""
    places = {pull.number: place for place, pull in enumerate(merges, 1)}

    def describe_merge(pull: PullRequest) -> KeyedMerge:
        points = assess_pull_request(pull, history.classes, history.past).points
        return KeyedMerge(prompt=places[pull.number], number=pull.number, points=points)

    pairs = tuple(
        KeyedPair(repaired=describe_merge(pair.repaired), other=describe_merge(pair.other))
        for pair in choice.pairs
    )
    return PairKey(eligible=choice.eligible, pairs=pairs)


def describe_prompt(number: int, chat: Chat) -> dict[str, Any]:
    """Return what a model would be sent first, without the time that it has."""
    return {
        "prompt": number,
        "model": chat.model,
        "max_tokens": chat.max_tokens,
        "system": chat.system,
        "tools": [dict(tool) for tool in chat.tools],
        "user": "\n\n".join(part.text for part in chat.turns[0].parts),
        "schema": chat.schema,
    }
