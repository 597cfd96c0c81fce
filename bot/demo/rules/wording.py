"""Words of answers: sentences and numbers out of what was told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date

from bot.demo.rules.findings import Told

# of one pull request, where there are few of them
MUCH = 45
EXAMPLES = "“which of these touch ROCm?” or “what may break our callers?”"
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.A)
_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+(?=[^a-z])")


def part_of(told: Told, section: str, words: int) -> str:
    """The beginning of a section of its summary."""
    return sentences(told.sections.get(section, ""), words)


def sentences(text: str, words: int) -> str:
    """Whole sentences from the start, at least one."""
    kept: list[str] = []
    for sentence in _SENTENCE_ENDS.split(text):
        if kept and len(" ".join([*kept, sentence]).split()) > words:
            break
        kept.append(sentence)
    return " ".join(kept)


def ended(text: str) -> str:
    """A headline as a sentence."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def dated(days: str) -> str:
    """Days as the tools write them, as the bot's messages do."""
    return _DAY.sub(_in_words, days.replace("..", " \u2013 "))


def _in_words(day: re.Match[str]) -> str:
    try:
        return f"{date.fromisoformat(day[0]):%-d %B %Y}"
    except ValueError:
        return day[0]


def at(when: str) -> str:
    """An instant as the tools write it, in words."""
    day, _, time = when.partition(" ")
    return f"{dated(day)} at {time.removesuffix('Z')} UTC"


def sized(told: Told) -> str:
    """How many files and lines."""
    return told.size.replace(" +", ", +").replace(" -", " \u2212")


def labelled(label: str, text: str) -> str:
    """More of a text, with what it is."""
    return f"{label}: {sentences(text, 2 * MUCH)}" if text else ""


def to_do(told: Told) -> str:
    """What its users have to do, if anything."""
    return f"**To do:** {told.action}" if told.action else ""


def listed(numbers: Iterable[int]) -> str:
    """Their numbers, as they are said."""
    return joined([f"#{number}" for number in numbers], "and")


def joined(words: Sequence[str], link: str) -> str:
    """In a row, with a word before the last."""
    *most, last = words or [""]
    return f"{', '.join(most)} {link} {last}" if most else last
