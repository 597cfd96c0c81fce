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
        # what may be a part of a tag, and the text that is held back: pieces, because a text may have very many
        self._undecided = ""
        self._held: list[str] = []

    def note_reasoning(self) -> None:
        """Note that the server keeps the reasoning apart."""
        self.habit = ThinkingHabit.MARKED

    def feed(self, text: str) -> str:
        """Add text and return what may be passed on now."""
        if not self._has_begun:
            text = self._begin(text)
        if self._is_thinking:
            text = self._skip_thoughts(text)
        self._held.append(text)
        return self._release() if self.habit is ThinkingHabit.MARKED else ""

    def end(self, *, is_whole: bool) -> str:
        """Return the rest of the text. A turn that was cut may hold nothing but reasoning."""
        if self._is_thinking:
            return ""
        self._held.append(self._undecided)
        rest = self._release()
        if self.habit is ThinkingHabit.MARKED:
            return rest
        end = _find_unmarked_end(rest)
        if end:
            self.habit = ThinkingHabit.UNMARKED
            return rest[end:].lstrip()
        if is_whole and rest.strip():
            self.habit = ThinkingHabit.MARKED
        return rest if is_whole else ""

    def _begin(self, text: str) -> str:
        """Return the text behind an opening tag, or all of it once it is clear that there is none."""
        text = self._undecided + text
        start, self._undecided = text.lstrip(), ""
        if start.startswith(_OPEN_TAG):
            self._has_begun = self._is_thinking = True
            return start.removeprefix(_OPEN_TAG)
        if start and not _OPEN_TAG.startswith(start):
            self._has_begun = True
            return text
        self._undecided = text
        return ""

    def _skip_thoughts(self, text: str) -> str:
        """Return the text behind the closing tag; before it, keep what may be a part of that tag."""
        before, tag, after = (self._undecided + text).partition(_CLOSE_TAG)
        if not tag:
            self._undecided = before[-len(_CLOSE_TAG) :]
            return ""
        self._is_thinking, self._undecided = False, ""
        self.habit = ThinkingHabit.MARKED
        return after.lstrip()

    def _release(self) -> str:
        """Return the text that was held back."""
        text = "".join(self._held)
        self._held.clear()
        return text


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
