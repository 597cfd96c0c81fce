"""The answer without a model: the pull requests that a question's own words find."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.domain.digest import Entry
from bot.domain.numbers import number_of

MOST_FOUND = 8
_WORD = re.compile(r"[\w][\w./-]{2,}")
_NUMBER = re.compile(r"#?(\d{2,9})\b")
_COMMON = frozenset(
    """
    about after again all also and any are been before being between both but can change changed changes changing
    could day days did does doing done each else ever every few for fork from get gets give got had has have how
    into its just know like list made make makes many may merge merged merges might more most much must need new
    not now off only other our out over pull request requests pr prs said same say see she should show since some
    such tell than that the their them then there these they this those through today touch touched touches
    touching under until use used uses using very want was way were what when where which while who whose why will
    with would yes yesterday yet you your
    """.split()
)
# a number that was named is what was asked about; a title says more than a path, a path more than a description
_NAMED, _TITLE, _PLACE, _TEXT = 100, 5, 3, 1


def found_by_words(question: str, entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """The pull requests that hold the question's words, best first; those that it names come before all."""
    words = {word.casefold().strip("./-") for word in _WORD.findall(question)}
    words = {word for word in words - _COMMON if not word.isdecimal()}
    numbers = {number_of(found) for found in _NUMBER.findall(question)}
    rated = [(_points(entry, words, numbers), entry) for entry in entries]
    return tuple(entry for points, entry in sorted(rated, key=lambda pair: -pair[0]) if points)[:MOST_FOUND]


def _points(entry: Entry, words: set[str], numbers: set[int]) -> int:
    pull, said = entry.pull, entry.summary
    title = f"{pull.title} {said.headline}".casefold()
    places = " ".join([entry.area, pull.author.login, *(file.path for file in pull.files or ())]).casefold()
    patches = (file.patch or "" for file in pull.files or ())
    text = " ".join([pull.body, *(text for _, text in said.sections), *patches]).casefold()
    by_words = sum(
        _TITLE * (word in title) + _PLACE * (word in places) + _TEXT * (word in text) for word in words if word
    )
    return by_words + (_NAMED if entry.number in numbers else 0)
