"""The answer without a model: a search of pull requests for the words of a question."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.domain.digest.models import Entry
from bot.domain.text.issue_numbers import parse_digits

MAX_RESULTS = 8
_WORD = re.compile(r"[\w][\w./-]{2,}")
_NUMBER = re.compile(r"#(\d{1,9})\b|\b(\d{2,9})\b")
_COMMON_WORDS = frozenset(
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
# a title says more than a path, a path more than a description or a diff
_TITLE_WEIGHT, _PLACE_WEIGHT, _TEXT_WEIGHT = 5, 3, 1


def search_by_words(question: str, entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Return the pull requests with the question's words, best first, after those that it names by number."""
    words = {word.casefold().strip("./-") for word in _WORD.findall(question)}
    words = {word for word in words - _COMMON_WORDS if not word.isdecimal()}
    numbers = {parse_digits(match[1] or match[2]) for match in _NUMBER.finditer(question)}
    # a pull request named by its number is meant, whatever else matches
    scored = [((entry.number in numbers, _score_entry(entry, words)), entry) for entry in entries]
    matching = sorted((each for each in scored if any(each[0])), key=lambda each: each[0], reverse=True)
    return tuple(entry for _, entry in matching)[:MAX_RESULTS]


def _score_entry(entry: Entry, words: set[str]) -> int:
    pull, summary = entry.pull, entry.summary
    title = f"{pull.title} {summary.headline}".casefold()
    places = " ".join([entry.area, pull.author.login, *(file.path for file in pull.files or ())]).casefold()
    patches = (file.patch or "" for file in pull.files or ())
    text = " ".join([pull.body, *(text for _, text in summary.sections), *patches]).casefold()
    return sum(
        _TITLE_WEIGHT * (word in title) + _PLACE_WEIGHT * (word in places) + _TEXT_WEIGHT * (word in text)
        for word in words
        if word
    )
