"""The words of a question, and the topics among them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.demo.rules import lexicon

_MAX_TOPICS = 3
_URL_PATTERN = re.compile(r"[a-z]{1,9}://\S*", re.I)
_WORD_PATTERN = re.compile(r"[^\W_](?:[\w.+/-]{0,38}[^\W_])?")


@dataclass(frozen=True, slots=True)
class Topic:
    """A word of a question as it was typed, and the words to search for: its own stem first.

    ``is_name`` tells whether it is written like a name: with a capital, a digit or a dot.
    """

    name: str
    words: tuple[str, ...]
    is_name: bool = False


def extract_words(question: str) -> tuple[str, ...]:
    """Return the words of a question in lower case, without numbers."""
    return tuple(word.casefold() for word in _WORD_PATTERN.findall(question) if not word.isdecimal())


def extract_topics(question: str) -> tuple[Topic, ...]:
    """Return the topics of a question, names first: they have capitals or digits inside."""
    words = _WORD_PATTERN.findall(_URL_PATTERN.sub(" ", question))
    capitals = {word for word in words[1:] if word[0].isupper()}
    ordered = sorted(filter(_is_topic, words), key=lambda word: (not _is_name(word), -len(word)))
    typed = {get_stem(word): word for word in reversed(ordered)}
    stems = list(dict.fromkeys(map(get_stem, ordered)))[:_MAX_TOPICS]
    return tuple(
        Topic(
            typed[stem], (stem, *lexicon.SYNONYMS.get(stem, ())), _is_name(typed[stem]) or typed[stem] in capitals
        )
        for stem in stems
    )


def _is_topic(word: str) -> bool:
    """Return whether a word can be a topic."""
    small = word.casefold()
    is_word = small not in lexicon.FILLERS and not small.startswith(lexicon.NO_TOPICS)
    return len(word) > 1 and is_word and not small.isdecimal()


def _is_name(word: str) -> bool:
    """Return whether a word has a capital, a digit or a separator after its first letter."""
    return any(char.isupper() or char.isdecimal() or char in "_./" for char in word[1:])


def get_stem(word: str) -> str:
    """Return a word in lower case without a plural s; a path unchanged."""
    small = word.casefold()
    if "/" in word:
        return word
    return small[:-1] if len(small) > 4 and small.endswith("s") and not small.endswith("ss") else small
