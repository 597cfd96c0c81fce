"""The words of a question, and those of them that say what it is about."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.demo.rules import lexicon

_MAX_TOPICS = 3
_URL_PATTERN = re.compile(r"[a-z]{1,9}://\S*", re.I)
_WORD_PATTERN = re.compile(r"[^\W_](?:[\w.+/-]{0,38}[^\W_])?")


@dataclass(frozen=True, slots=True)
class Topic:
    """A word of the question as it was typed, and the words by which it is looked for: first its own stem.

    ``is_name`` says whether it is written as a name is: with a capital, a digit or a dot.
    """

    name: str
    words: tuple[str, ...]
    is_name: bool = False


def extract_words(question: str) -> tuple[str, ...]:
    """Its words in small letters, less the numbers."""
    return tuple(found.casefold() for found in _WORD_PATTERN.findall(question) if not found.isdecimal())


def extract_topics(question: str) -> tuple[Topic, ...]:
    """Its own words, the most telling first: names are written with capitals or digits inside."""
    found = _WORD_PATTERN.findall(_URL_PATTERN.sub(" ", question))
    capitals = {word for word in found[1:] if word[0].isupper()}
    ordered = sorted(filter(_is_topic, found), key=lambda word: (not _is_name(word), -len(word)))
    named = {get_stem(word): word for word in reversed(ordered)}
    stems = list(dict.fromkeys(map(get_stem, ordered)))[:_MAX_TOPICS]
    return tuple(
        Topic(
            named[stem], (stem, *lexicon.SYNONYMS.get(stem, ())), _is_name(named[stem]) or named[stem] in capitals
        )
        for stem in stems
    )


def _is_topic(word: str) -> bool:
    small = word.casefold()
    is_word = small not in lexicon.FILLERS and not small.startswith(lexicon.NO_TOPICS)
    return len(word) > 1 and is_word and not small.isdecimal()


def _is_name(word: str) -> bool:
    return any(char.isupper() or char.isdecimal() or char in "_./" for char in word[1:])


def get_stem(word: str) -> str:
    """Put a word in small letters and without the s of many; a path as it is."""
    small = word.casefold()
    if "/" in word:
        return word
    return small[:-1] if len(small) > 4 and small.endswith("s") and not small.endswith("ss") else small
