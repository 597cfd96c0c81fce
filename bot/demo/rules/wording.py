"""Formats of sentences, numbers and dates in answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date

from bot.demo.rules.findings import PullRequestFacts

# words about one pull request of a few
MAX_SECTION_WORDS = 45
EXAMPLES = "“which of these touch ROCm?” or “what may break our callers?”"
_DAY_PATTERN = re.compile(r"\d{4}-\d\d-\d\d", re.A)
_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+(?=[^a-z])")


def format_section(pull: PullRequestFacts, section: str, words: int) -> str:
    """Return the beginning of a section of a summary."""
    return truncate_sentences(pull.sections.get(section, ""), words)


def truncate_sentences(text: str, words: int) -> str:
    """Return whole sentences from the beginning, at least one, with at most ``words`` words."""
    kept: list[str] = []
    for sentence in _SENTENCE_ENDS.split(text):
        if kept and len(" ".join([*kept, sentence]).split()) > words:
            break
        kept.append(sentence)
    return " ".join(kept)


def end_sentence(text: str) -> str:
    """Return a headline with a full stop."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def format_days(days: str) -> str:
    """Format days of the tools as in the bot's messages."""
    return _DAY_PATTERN.sub(_format_date, days.replace("..", " \u2013 "))


def _format_date(day: re.Match[str]) -> str:
    """Format a date; return an impossible one unchanged."""
    try:
        return f"{date.fromisoformat(day[0]):%-d %B %Y}"
    except ValueError:
        return day[0]


def format_instant(instant: str) -> str:
    """Format an instant of the tools for people."""
    day, _, time = instant.partition(" ")
    return f"{format_days(day)} at {time.removesuffix('Z')} UTC"


def format_size(pull: PullRequestFacts) -> str:
    """Format the number of files and lines."""
    return pull.size.replace(" +", ", +").replace(" -", " \u2212")


def format_labelled(label: str, text: str) -> str:
    """Return the beginning of a text after a label, empty if there is no text."""
    return f"{label}: {truncate_sentences(text, 2 * MAX_SECTION_WORDS)}" if text else ""


def format_action(pull: PullRequestFacts) -> str:
    """Format what users have to do, empty if nothing."""
    return f"**To do:** {pull.action}" if pull.action else ""


def format_numbers(numbers: Iterable[int]) -> str:
    """Format the numbers of pull requests as a list."""
    return join_words([f"#{number}" for number in numbers], "and")


def join_words(words: Sequence[str], link: str) -> str:
    """Join words with commas, and with ``link`` before the last one."""
    *most, last = words or [""]
    return f"{', '.join(most)} {link} {last}" if most else last
