"""Words of answers: sentences and numbers out of what was told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date

from bot.demo.rules.findings import PullRequestFacts

# of one pull request, where there are few of them
MAX_SECTION_WORDS = 45
EXAMPLES = "“which of these touch ROCm?” or “what may break our callers?”"
_DAY_PATTERN = re.compile(r"\d{4}-\d\d-\d\d", re.A)
_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+(?=[^a-z])")


def format_section(told: PullRequestFacts, section: str, words: int) -> str:
    """The beginning of a section of its summary."""
    return truncate_sentences(told.sections.get(section, ""), words)


def truncate_sentences(text: str, words: int) -> str:
    """Whole sentences from the start, at least one."""
    kept: list[str] = []
    for sentence in _SENTENCE_ENDS.split(text):
        if kept and len(" ".join([*kept, sentence]).split()) > words:
            break
        kept.append(sentence)
    return " ".join(kept)


def end_sentence(text: str) -> str:
    """A headline as a sentence."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def format_days(days: str) -> str:
    """Days as the tools write them, as the bot's messages do."""
    return _DAY_PATTERN.sub(_format_date, days.replace("..", " \u2013 "))


def _format_date(day: re.Match[str]) -> str:
    try:
        return f"{date.fromisoformat(day[0]):%-d %B %Y}"
    except ValueError:
        return day[0]


def format_instant(when: str) -> str:
    """An instant as the tools write it, in words."""
    day, _, time = when.partition(" ")
    return f"{format_days(day)} at {time.removesuffix('Z')} UTC"


def format_size(told: PullRequestFacts) -> str:
    """How many files and lines."""
    return told.size.replace(" +", ", +").replace(" -", " \u2212")


def format_labelled(label: str, text: str) -> str:
    """More of a text, with what it is."""
    return f"{label}: {truncate_sentences(text, 2 * MAX_SECTION_WORDS)}" if text else ""


def format_action(told: PullRequestFacts) -> str:
    """What its users have to do, if anything."""
    return f"**To do:** {told.action}" if told.action else ""


def format_numbers(numbers: Iterable[int]) -> str:
    """Their numbers, as they are said."""
    return join_words([f"#{number}" for number in numbers], "and")


def join_words(words: Sequence[str], link: str) -> str:
    """In a row, with a word before the last."""
    *most, last = words or [""]
    return f"{', '.join(most)} {link} {last}" if most else last
