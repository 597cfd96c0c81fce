"""Words and sentences of texts that readers see: limits in words, and what was said before."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_MARKS = re.compile(r"[^\w#]+")
# fewer words in a row may stand in another text by chance
_MIN_COMMON_WORDS = 4


def truncate_words(text: str, limit: int) -> str:
    """Truncate the text to ``limit`` words, at least one, with an ellipsis; words are what blanks separate."""
    words = text.split()
    if len(words) <= limit:
        return text
    return " ".join(words[: max(1, limit)]).rstrip(",;:") + "…"


def truncate_to_sentences(text: str, limit: int) -> str:
    """Return the first sentences of at most ``limit`` words together, with a mark for those that are left out.

    A first sentence that is longer is truncated.
    """
    if len(text.split()) <= limit:
        return text
    kept, count = [], 0
    for sentence in _SENTENCE_END.split(text):
        count += len(sentence.split())
        # one word is kept for the mark
        if count >= limit:
            break
        kept.append(sentence)
    return f"{' '.join(kept)} …" if kept else truncate_words(text, limit)


def normalize_sentence(text: str) -> str:
    """Return the words of a text alone, in lower case, so that two texts of the same words are equal."""
    return " ".join(_MARKS.sub(" ", text.casefold()).split())


@dataclass(frozen=True, slots=True)
class SentenceIndex:
    """The sentences of a text, so that others can be looked up in it."""

    sentences: frozenset[str]
    words: str

    @classmethod
    def build(cls, text: str) -> SentenceIndex:
        """Index a text."""
        return cls(
            frozenset(map(normalize_sentence, _SENTENCE_END.split(text))) - {""}, f" {normalize_sentence(text)} "
        )

    def has_words(self, words: str) -> bool:
        """Return whether the text has a normalized sentence: as one of its sentences, or as words in a row."""
        if words in self.sentences:
            return True
        return len(words.split()) >= _MIN_COMMON_WORDS and f" {words} " in self.words


EMPTY_INDEX = SentenceIndex(frozenset(), "")
