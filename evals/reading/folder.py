"""The folder that readers get, and the key beside it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from bot.domain.errors import UsageError
from bot.domain.pull_requests.models import PullRequest
from bot.ports import Chat
from evals.json_files import Part, read_part, write_json
from evals.reading.scripted import Call, Round

_PULL = TypeAdapter(PullRequest)
_TEXTS = Path(__file__).parent


class ReadingPlan(Part):
    """What a folder of prompts is made of. ``clone`` is where tools read, ``prompts`` the number of merges."""

    repository: str
    branch: str
    clone: str
    since: str
    until: str
    timezone: str
    instructions: str
    seed: int
    prompts: int


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
    """A call of a tool that a reader asked for."""

    name: str
    arguments: dict[str, Any]


class StoredRounds(Part):
    """The rounds of tools of one reading, in their order."""

    rounds: tuple[tuple[StoredCall, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class ReadingFolder:
    """The paths of a folder of prompts. Nothing in it says which merge was repaired."""

    path: Path

    @property
    def manifest(self) -> Path:
        """The record of how the prompts were made."""
        return self.path / "reading.json"

    @property
    def key(self) -> Path:
        """The record of which merge was repaired, beside the folder."""
        return self.path.parent / f"{self.path.name}-key.json"

    @property
    def answers(self) -> Path:
        """The folder of answers."""
        return self.path / "answers"

    def get_prompt(self, number: int) -> Path:
        """Return the path of a prompt."""
        return self.path / "prompts" / f"{number:03}.json"

    def get_answer(self, number: int) -> Path:
        """Return the path of the answer to a prompt."""
        return self.answers / f"{number:03}.json"

    def get_calls(self, number: int) -> Path:
        """Return the path of the calls of tools of a reading."""
        return self.path / "calls" / f"{number:03}.json"

    def get_merge(self, number: int) -> Path:
        """Return the path of the merge that a prompt is about, as tools need it."""
        return self.path / "merges" / f"{number:03}.json"

    def read_plan(self) -> ReadingPlan:
        """Read how the prompts were made. Raises UsageError."""
        if not self.manifest.is_file():
            raise UsageError(f"{self.path} has no prompts: begin with --collect.")
        return read_part(self.manifest, ReadingPlan)

    def read_key(self) -> PairKey:
        """Read which merges were repaired. Raises UsageError."""
        return read_part(self.key, PairKey)

    def read_pull(self, number: int) -> PullRequest:
        """Read the merge of a prompt. Raises UsageError."""
        path = self.get_merge(number)
        try:
            return _PULL.validate_json(path.read_bytes())
        except (OSError, ValidationError) as error:
            raise UsageError(f"There is no prompt {number}: {path.name} can't be used.") from error

    def write_pull(self, number: int, pull: PullRequest) -> None:
        """Keep the merge of a prompt."""
        path = self.get_merge(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_PULL.dump_json(pull, indent=1))

    def read_rounds(self, number: int) -> tuple[Round, ...]:
        """Read the rounds of tools of a reading; none if no tool was called. Raises UsageError."""
        path = self.get_calls(number)
        stored = read_part(path, StoredRounds) if path.exists() else StoredRounds()
        return tuple(tuple(Call(call.name, call.arguments) for call in calls) for calls in stored.rounds)

    def write_rounds(self, number: int, rounds: tuple[Round, ...]) -> None:
        """Keep the rounds of tools of a reading."""
        stored = tuple(
            tuple(StoredCall(name=call.name, arguments=call.arguments) for call in calls) for calls in rounds
        )
        write_json(self.get_calls(number), StoredRounds(rounds=stored))

    def read_answer(self, number: int) -> str | None:
        """Read the answer to a prompt as text; None if there is none. Raises UsageError."""
        path = self.get_answer(number)
        try:
            return path.read_text(encoding="utf-8") if path.exists() else None
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"answers/{path.name} can't be read: {error}.") from error

    def copy_instructions(self) -> None:
        """Put the instructions for readers into the folder."""
        text = (_TEXTS / "reader.md").read_text(encoding="utf-8")
        (self.path / "README.md").write_text(text.replace("DIR", str(self.path.resolve())), encoding="utf-8")


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


def hash_prompt(prompt: dict[str, Any]) -> str:
    """Return a hash of all that a prompt says."""
    return hashlib.sha256(json.dumps(prompt, sort_keys=True).encode()).hexdigest()
