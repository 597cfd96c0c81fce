"""Stand-ins of the ports that a test can look into."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta

from bot.domain.costs import Usage
from bot.domain.days import LocalDay
from bot.domain.digest import CountCheck
from bot.domain.errors import PrdigestError
from bot.domain.pulls import ChangedFile, PullRequest, Repository
from bot.ports import Completion, Merged, Prompt
from tests.support import changed_file


@dataclass
class ScriptedModel:
    """Answers with a list of texts and errors, each at 10 tokens in and 5 out; keeps the prompts."""

    steps: deque[str | Exception]
    prompts: list[Prompt] = field(default_factory=list)

    @classmethod
    def of(cls, *steps: str | Exception) -> ScriptedModel:
        return cls(deque(steps))

    def complete(self, prompt: Prompt) -> Completion:
        self.prompts.append(prompt)
        step = self.steps.popleft()
        if isinstance(step, Exception):
            raise step
        return Completion(step, Usage(10, 5))


@dataclass
class MemoryCache:
    """``Cache`` in a dictionary; keeps the lifetimes it was given."""

    values: dict[str, str] = field(default_factory=dict)
    lifetimes: list[timedelta] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, key: str) -> str | None:
        return self.values.get(key)

    def put(self, key: str, value: str, lifetime: timedelta) -> None:
        self.values[key] = value
        self.lifetimes.append(lifetime)

    @contextmanager
    def lease(self, name: str) -> Iterator[None]:
        with self.lock:
            yield


@dataclass
class ScriptedPulls:
    """``PullRequests`` over a list; ``failing`` are the errors that reading the files of a number raises."""

    pulls: tuple[PullRequest, ...] = ()
    failing: dict[int, PrdigestError] = field(default_factory=dict)
    refuses: PrdigestError | None = None
    files: tuple[ChangedFile, ...] = (changed_file(),)

    def merged_on(self, repository: Repository, day: LocalDay) -> Merged:
        if self.refuses:
            raise self.refuses
        return Merged(self.pulls, CountCheck(len(self.pulls), f"{repository} on {day.date}"))

    def pull(self, repository: Repository, number: int) -> PullRequest:
        return next(pull for pull in self.pulls if (pull.repository, pull.number) == (repository, number))

    def with_files(self, pull: PullRequest) -> PullRequest:
        if pull.number in self.failing:
            raise self.failing[pull.number]
        return replace(pull, files=self.files)


class Sleeps(list[float]):
    """A ``sleep`` that takes no time and keeps what it was asked for."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)
