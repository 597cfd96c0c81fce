"""Reasoning within the text of an answer, which nobody reads: ``<think>…</think>`` before it.

A server with a parser for the model's reasoning keeps it apart. Without one it is in the text. Some templates put
the opening tag into the prompt, so that the text has the closing one alone, and nothing shows at first that it is
reasoning. The text of a model is therefore held back to the end of its turn, until a whole turn has shown its
habit.
"""

from __future__ import annotations

import re
import threading
from enum import Enum, auto

_OPEN_TAG, _CLOSE_TAG = "<think>", "</think>"
# one that a model writes about, in code or in quotes, ends nothing
_UNQUOTED_CLOSE = re.compile(r"(?<![`'\"])</think>(?![`'\"])")
_FENCE = "```"


class ThinkingHabit(Enum):
    """Where the reasoning of a model is."""

    UNKNOWN = auto()
    # nowhere, beside the text, or between both tags
    MARKED = auto()
    # in the text, before a closing tag
    UNMARKED = auto()


class ThinkingHabits:
    """What is known of the models of a connection. May be shared by threads."""

    def __init__(self) -> None:
        self._habits: dict[str, ThinkingHabit] = {}
        self._lock = threading.Lock()

    def get_habit(self, model: str) -> ThinkingHabit:
        """Return the habit of a model."""
        with self._lock:
            return self._habits.get(model, ThinkingHabit.UNKNOWN)

    def note_habit(self, model: str, habit: ThinkingHabit) -> None:
        """Note the habit that a turn has shown. One that showed nothing changes nothing."""
        if habit is not ThinkingHabit.UNKNOWN:
            with self._lock:
                self._habits[model] = habit


class ThinkingFilter:
    """Filter of the text of one turn, which comes in pieces that are cut anywhere.

    ``habit`` is what the turn has shown so far, or what was known before.
    """

    def __init__(self, habit: ThinkingHabit) -> None:
        self.habit = habit
        self._is_thinking = False
        self._has_begun = False
        self._waiting = ""

    def note_reasoning(self) -> None:
        """Note that the server keeps the reasoning apart."""
        self.habit = ThinkingHabit.MARKED

    def feed(self, text: str) -> str:
        """Add text and return what may be passed on now."""
        self._waiting += text
        if not self._has_begun:
            self._begin()
        if self._is_thinking:
            self._skip_thoughts()
        if self._is_thinking or not self._has_begun or self.habit is not ThinkingHabit.MARKED:
            return ""
        passed, self._waiting = self._waiting, ""
        return passed

    def end(self, *, is_whole: bool) -> str:
        """Return the rest of the text. A turn that was cut may hold nothing but reasoning."""
        if self._is_thinking:
            return ""
        if self.habit is not ThinkingHabit.MARKED:
            end = _find_unmarked_end(self._waiting)
            if end:
                self.habit = ThinkingHabit.UNMARKED
                self._waiting = self._waiting[end:].lstrip()
            elif not is_whole:
                return ""
            elif self._waiting.strip():
                self.habit = ThinkingHabit.MARKED
        rest, self._waiting = self._waiting, ""
        return rest

    def _begin(self) -> None:
        """Find out whether the text begins with an opening tag."""
        start = self._waiting.lstrip()
        if start.startswith(_OPEN_TAG):
            self._has_begun = self._is_thinking = True
            self._waiting = start.removeprefix(_OPEN_TAG)
        else:
            self._has_begun = bool(start) and not _OPEN_TAG.startswith(start)

    def _skip_thoughts(self) -> None:
        """Drop thoughts up to their closing tag; keep what may be a part of it."""
        before, tag, after = self._waiting.partition(_CLOSE_TAG)
        if tag:
            self._is_thinking = False
            self.habit = ThinkingHabit.MARKED
            self._waiting = after.lstrip()
        else:
            self._waiting = before[-len(_CLOSE_TAG) :]


def _find_unmarked_end(text: str) -> int:
    """Return where the reasoning ends in a text without an opening tag; 0 if there is none."""
    for match in _UNQUOTED_CLOSE.finditer(text):
        if text.count(_FENCE, 0, match.start()) % 2 == 0:
            return match.end()
    return 0


def extract_json(text: str) -> str:
    """Return the JSON object in an answer, without reasoning and words around it; without one, the whole text."""
    start = text.lstrip()
    if not start.startswith("{") and _CLOSE_TAG in start:
        start = start.partition(_CLOSE_TAG)[2]
    begin, end = start.find("{"), start.rfind("}")
    return start[begin : end + 1] if 0 <= begin < end else start
