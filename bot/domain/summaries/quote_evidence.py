"""The rules for quotes that can serve as evidence: one that occurs in every second diff proves nothing."""

from __future__ import annotations

import keyword
import re

_WORD = re.compile(r"\w+")
# these words alone do not distinguish lines: keywords of common languages, and the most common imports
_COMMON_WORDS = frozenset(
    f"""
    {" ".join((*keyword.kwlist, *keyword.softkwlist)).casefold()}
    self cls os sys re int str float bool list dict set tuple len print null nil undefined
    const let var func function fn end then fi esac done echo exit void char long short double unsigned
    public private protected static final abstract virtual override inline template typename struct enum
    this super new delete switch default catch throw throws extends implements interface package use using
    namespace export require include define ifdef ifndef endif pragma once mut impl pub mod crate todo
    """.split()
)
_MIN_LETTERS = 3
_MIN_SPECIFIC_WORDS, _MIN_WORDS = 2, 3
# a single name is distinctive by its length, or by its length and being a compound
_MIN_COMPOUND_LENGTH, _MIN_NAME_LENGTH = 8, 12
_COMPOUND = re.compile(r"[^\W\d]_+[^\W_]|[a-z][A-Z]|[^\W\d_]\d|\d[^\W\d_]")


def is_evidence(quote: str) -> bool:
    """Return whether a quote is evidence: it has several words, one of them specific, or one distinctive name."""
    words = _WORD.findall(quote)
    own = {word for word in words if _is_specific_word(word)}
    if any(map(_is_distinctive_name, own)):
        return True
    numbers = {word for word in words if word.isdecimal()}
    return bool(own) and (len(own | numbers) >= _MIN_SPECIFIC_WORDS or len(words) >= _MIN_WORDS)


def _is_specific_word(word: str) -> bool:
    if word.isdecimal():
        return False
    return word.casefold() not in _COMMON_WORDS and (len(word) >= _MIN_LETTERS or not word.isascii())


def _is_distinctive_name(word: str) -> bool:
    return len(word) >= _MIN_NAME_LENGTH or (len(word) >= _MIN_COMPOUND_LENGTH and bool(_COMPOUND.search(word)))
