"""The search for words in pull requests: in their diffs, line by line, and in their texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.digest.models import Entry
from bot.domain.pull_requests.diff import DiffLine, split_hunks
from bot.domain.pull_requests.models import ChangedFile, PullRequest
from bot.domain.text.strings import collapse_lines, remove_comments, truncate_text


class Where(StrEnum):
    """What is searched."""  # in the schema that the model gets

    CHANGED = "changed_lines"
    DIFF = "diff"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class SearchMatch:
    """A line with one of the words.

    ``place`` is the name of a text, or a file and a line number: that after the change, or before it for ``-``.
    """

    number: int
    place: str
    text: str


def search_entries(entries: Iterable[Entry], words: Iterable[str], where: Where) -> Iterator[SearchMatch]:
    """Yield the lines with any of the words, case-insensitively."""
    folded_words = tuple(word.casefold() for word in words if word.strip())
    for entry in entries:
        is_text, is_changed = where is Where.TEXT, where is Where.CHANGED
        lines = (
            _iterate_texts(entry)
            if is_text
            else _iterate_diff_lines(entry.pull, folded_words, only_changed=is_changed)
        )
        for place, text in lines:
            if has_word(text, folded_words):
                yield SearchMatch(entry.number, place, text)


def has_word(text: str, words: tuple[str, ...]) -> bool:
    """Return whether the text has one of the words, which are casefolded."""
    folded = text.casefold()
    return any(word in folded for word in words)


def _iterate_texts(entry: Entry) -> Iterator[tuple[str, str]]:
    yield "title", collapse_lines(entry.pull.title)
    for line in remove_comments(entry.pull.body).splitlines():
        if line.strip():
            yield "description", collapse_lines(line)
    if not entry.summary.is_fallback:
        yield "headline", entry.summary.headline
        for name, text in entry.summary.sections:
            yield f"summary, {name.lower()}", collapse_lines(text)


def _iterate_diff_lines(
    pull: PullRequest, words: tuple[str, ...], *, only_changed: bool
) -> Iterator[tuple[str, str]]:
    for file in pull.files or ():
        if not has_word(file.patch or "", words):
            continue
        for line in _iterate_lines(file):
            if line.is_change or not only_changed:
                number = line.old if line.mark == "-" else line.new
                yield f"{file.path}:{number}", f"{line.mark}{line.text}"


def _iterate_lines(file: ChangedFile) -> Iterator[DiffLine]:
    for _, lines in split_hunks(file.patch or ""):
        yield from lines


def format_match(match: SearchMatch) -> str:
    """Format a match as a line."""
    return f"#{match.number} {match.place}: {truncate_text(match.text.rstrip(), 200)}"


def interleave_matches(matches: tuple[SearchMatch, ...]) -> list[SearchMatch]:
    """Return the first match of each pull request, then the second ones, so that truncation hides none of them."""
    seen: Counter[int] = Counter()
    ranked = []
    for match in matches:
        seen[match.number] += 1
        ranked.append((seen[match.number], match))
    return [match for _, match in sorted(ranked, key=lambda pair: pair[0])]
