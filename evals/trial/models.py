"""Models of a trial: one records the prompts of the bot, the other returns the answers of readers."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.domain.errors import ModelRequestRejected
from bot.domain.operations.usage import NO_USAGE
from bot.ports import Completion, Prompt

# how the text about a pull request begins
_SUBJECT = re.compile(r'<pull_request id="[0-9a-f]+">\n\S+ #(\d+): ')


def get_number(prompt: Prompt) -> int:
    """Return the number of the pull request that a summary prompt is about; 0 for another prompt."""
    match = _SUBJECT.match(prompt.user)
    return int(match[1]) if match else 0


@dataclass(frozen=True)
class PromptRecorder:
    """``Model`` that records the first prompt about each pull request, by number, and answers none.

    Threads may share it.
    """

    prompts: dict[int, Prompt] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def complete(self, prompt: Prompt) -> Completion:
        """Record a prompt. Raise ModelRequestRejected, after which nobody tries again."""
        with self._lock:
            self.prompts.setdefault(get_number(prompt), prompt)
        raise ModelRequestRejected("the trial only records prompts")


@dataclass(frozen=True)
class ReaderAnswers:
    """``Model`` that returns the answers of readers, by number.

    ``keys`` are those of the prompts that were answered. What is asked by another prompt is in ``changed`` then.
    """

    answers: Mapping[int, str]
    keys: Mapping[int, str]
    changed: set[int] = field(default_factory=set)
    _asked: set[int] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def complete(self, prompt: Prompt) -> Completion:
        """Return the answer about a pull request. Raise ModelRequestRejected if there is none."""
        number = get_number(prompt)
        with self._lock:
            # a further prompt about the same pull request says what was wrong with the answer
            if number in self.keys and number not in self._asked and prompt.key != self.keys[number]:
                self.changed.add(number)
            self._asked.add(number)
        if number not in self.answers:
            raise ModelRequestRejected("nobody was asked about it")
        return Completion(self.answers[number], NO_USAGE)
