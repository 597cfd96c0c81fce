"""Texts for the model of files as they are after a pull request: parts of a file, and uses of a name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from bot.domain.pull_requests.diff import DiffLine
from bot.domain.pull_requests.models import PullRequest
from bot.domain.source.excerpts import MAX_EXCERPT_LINES, NamePlaces, SourceExcerpt, find_name
from bot.domain.source.search import SourceChange, SourceUse
from bot.domain.text.strings import collapse_lines, format_count, quote_input, truncate_text
from bot.services.source.text_limits import MAX_RESULT_LENGTH, join_items
from impact.source.models import SourceFile

# of a file, which may have long lines: some 5,000 tokens
MAX_FILE_LENGTH = 20_000
# lines with a name that are shown, and characters of each
MAX_USES = 100
_MAX_USE_LENGTH, _LEAD = 300, 100
_MAX_NUMBERS_LENGTH = 200
# commits of a path that are shown, and characters of the first line of each message
MAX_CHANGES = 20
_MAX_TITLE_LENGTH = 120
# characters of one line of a file
_MAX_LINE_LENGTH = 2_000
_ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class FilePart:
    """The part of a file to show: from ``first`` to ``last`` (0: up to the limit), or around a name."""

    first: int = 1
    last: int = 0
    around: str = ""


def select_lines(file: SourceFile, part: FilePart) -> tuple[Sequence[int], str]:
    """Return the numbers of the lines to show, and what is shown, as a sentence."""
    count, name = len(file.lines), part.around.strip()
    if name:
        places = find_name(file, name)
        count_text = format_count(len(places.uses), "line has", "lines have")
        return places.shown, f"{count_text} {quote_input(name)}{_name_hidden(places)}."
    last = min(part.last or count, part.first + MAX_EXCERPT_LINES - 1, count)
    if part.first > count:
        return (), f"there is no line {part.first}."
    return range(part.first, last + 1), f"lines {part.first} to {last}."


def _name_hidden(places: NamePlaces) -> str:
    """Return the numbers of the lines with the name that are not shown."""
    shown = set(places.shown)
    hidden = [str(number) for number in places.uses if number not in shown]
    return f", not shown: {join_items(hidden, _MAX_NUMBERS_LENGTH)}" if hidden else ""


def fit_excerpts(excerpts: Iterable[SourceExcerpt]) -> list[SourceExcerpt]:
    """Return the excerpts up to the limit of characters, the last one perhaps cut."""
    fitting, room = [], MAX_FILE_LENGTH
    for excerpt in excerpts:
        lines: list[DiffLine] = []
        for line in excerpt.lines:
            shown = replace(line, text=truncate_text(line.text, _MAX_LINE_LENGTH))
            room -= len(shown.text) + 10
            if room < 0:
                break
            lines.append(shown)
        if lines:
            fitting.append(SourceExcerpt(excerpt.path, tuple(lines), excerpt.has_marks))
        if room < 0:
            break
    return fitting


def format_excerpts(excerpts: Iterable[SourceExcerpt]) -> list[str]:
    """Return the lines with their numbers and marks, and a mark between the excerpts."""
    lines: list[str] = []
    for excerpt in excerpts:
        lines += [_ELLIPSIS] if lines else []
        lines += [f"{line.new}: {line.mark}{line.text}" for line in excerpt.lines]
    return lines


def explain_marks(pull: PullRequest, whole: SourceExcerpt) -> str:
    """Return what is known of the lines that the pull request added, as a sentence."""
    if not whole.has_marks:
        return f"Which of them #{pull.number} changed is not known."
    if any(line.mark == "+" for line in whole.lines):
        return f"Those with + were added by #{pull.number}, the others are unchanged."
    return f"#{pull.number} added none of the file's lines."


def describe_commit(pull: PullRequest) -> str:
    """Return at which commit the files are."""
    return f"at the {'merge' if pull.merge_commit else 'head'} commit of #{pull.number}"


def fit_uses(uses: Sequence[SourceUse]) -> Sequence[SourceUse]:
    """Return the uses that are shown, from the first one: what is not shown can't be quoted."""
    lengths = accumulate(len(format_use(use)) + 1 for use in uses[:MAX_USES])
    return uses[: sum(length <= MAX_RESULT_LENGTH for length in lengths)]


def format_use(use: SourceUse) -> str:
    """Return a line with its place."""
    return f"{use.path}:{use.line}: {use.text}"


def shorten_use(text: str, name: str) -> str:
    """Return a line, or of a long one what is around a name."""
    if len(text) <= _MAX_USE_LENGTH:
        return text
    begin = max(text.find(name) - _LEAD, 0)
    return f"{_ELLIPSIS if begin else ''}{truncate_text(text[begin:], _MAX_USE_LENGTH)}"


def format_changes(pull: PullRequest, path: str, changes: Sequence[SourceChange]) -> str:
    """Return the commits that changed a path, newest first."""
    if not changes:
        return f"No commit up to that of #{pull.number} changed {quote_input(path)}."
    lines = [f"{each.committed_at:%Y-%m-%d} {each.commit[:9]} {_shorten_title(each.title)}" for each in changes]
    more = ", and older ones" if len(changes) == MAX_CHANGES else ""
    count = format_count(len(changes), "commit")
    return "\n".join([f"{count} of {quote_input(path)}, newest first{more}:", *lines])


def _shorten_title(title: str) -> str:
    return truncate_text(collapse_lines(title), _MAX_TITLE_LENGTH)
