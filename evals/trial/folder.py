"""The folder of a trial: what was asked, answered, compared and judged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.domain.errors import UsageError

Side = Literal["ours", "theirs"]
T = TypeVar("T", bound=BaseModel)
_TEXTS = Path(__file__).parent


class Part(BaseModel):
    """Base of what is kept in files of a trial."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class TrialPull(Part):
    """A chosen pull request. ``key`` is the content address of its prompt."""

    number: int
    date: str
    key: str


class Trial(Part):
    """What a trial is made of: the days, the rule of choice, and the chosen pull requests.

    ``merges`` counts the merges of each day by date, ``source`` is ``records`` or ``github``.
    """

    repository: str
    timezone: str
    source: Literal["records", "github"]
    instructions: str
    sample: int
    seed: int
    merges: dict[str, int]
    pulls: tuple[TrialPull, ...]


class Pair(Part):
    """Two texts about one pull request, and what a judge needs. Nothing in it says whose text is whose."""

    number: int
    title: str
    url: str
    merge_commit: str
    description: str
    A: str
    B: str
    files: tuple[dict[str, Any], ...]


class Key(Part):
    """Whose text is A, by number. ``secret`` decides it, so that the same pairs are made again."""

    secret: str
    first: dict[int, Side]


@dataclass(frozen=True, slots=True)
class TrialFolder:
    """The paths of a trial."""

    path: Path

    @property
    def manifest(self) -> Path:
        """The record of the trial."""
        return self.path / "trial.json"

    @property
    def key(self) -> Path:
        """The record of whose text is whose."""
        return self.path / "key.json"

    @property
    def prompts(self) -> Path:
        """The folder of prompts."""
        return self.path / "prompts"

    @property
    def answers(self) -> Path:
        """The folder of answers."""
        return self.path / "answers"

    @property
    def pairs(self) -> Path:
        """The folder that judges get."""
        return self.path / "pairs"

    @property
    def verdicts(self) -> Path:
        """The folder of verdicts."""
        return self.path / "verdicts"

    def get_prompt(self, number: int) -> Path:
        """Return the path of the prompt about a pull request."""
        return self.prompts / f"{number}.json"

    def get_answer(self, number: int) -> Path:
        """Return the path of the answer about a pull request."""
        return self.answers / f"{number}.json"

    def get_pair(self, number: int) -> Path:
        """Return the path of the two texts about a pull request."""
        return self.pairs / f"{number}.json"

    def get_verdict(self, number: int) -> Path:
        """Return the path of the verdict about a pull request."""
        return self.verdicts / f"{number}.json"

    def read_trial(self) -> Trial:
        """Read the record of the trial. Raises UsageError."""
        if not self.manifest.is_file():
            raise UsageError(f"{self.path} is no trial: begin with --collect.")
        return read_part(self.manifest, Trial)

    def read_key(self) -> Key | None:
        """Read whose text is whose; None before there are pairs. Raises UsageError."""
        return read_part(self.key, Key) if self.key.is_file() else None


def read_part(path: Path, shape: type[T]) -> T:
    """Read a file of a trial.

    Raises:
        UsageError: it can't be used; the sentence says why.
    """
    try:
        return shape.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path.parent.name}/{path.name} can't be read: {error}.") from error
    except ValidationError as error:
        raise UsageError(f"{path.parent.name}/{path.name} can't be used: {describe_problems(error)}.") from error


def describe_problems(error: ValidationError) -> str:
    """Return which fields are wrong and why, at most three."""
    problems = [f"{'.'.join(map(str, each['loc'])) or 'the file'}: {each['msg']}" for each in error.errors()[:3]]
    return "; ".join(problems)


def write_json(path: Path, value: BaseModel | Mapping[str, Any]) -> None:
    """Write a value as JSON that people can read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    path.write_text(json.dumps(plain, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def copy_text(name: str, to: Path) -> None:
    """Copy instructions that stand beside this module."""
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text((_TEXTS / name).read_text(encoding="utf-8"), encoding="utf-8")
