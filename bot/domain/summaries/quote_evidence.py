"""The rules for quotes that can serve as evidence: one that occurs in every second diff proves nothing."""

from __future__ import annotations

import keyword
import re

_WORD = re.compile(r"\w+")
# these words alone do not distinguish lines: keywords of common languages, and the most common imports
_COMMON = frozenset(
    f"""
    {" ".join((*keyword.kwlist, *keyword.softkwlist)).casefold()}
    self cls os sys re int str float bool list dict set tuple len print null nil undefined
    const let var func function fn end then fi esac done echo exit void char long short double unsigned
    public private protected static final abstract virtual override inline template typename struct enum
    this super new delete switch default catch throw throws extends implements interface package use using
    namespace export require include define ifdef ifndef endif pragma once mut impl pub mod crate todo
    """.split()
)
_FEWEST_LETTERS = 3
_FEWEST_WORDS, _FEWEST_IN_ALL = 2, 3
# a single name is distinctive by its length, or by its length and being a compound
_DISTINCTIVE, _DISTINCTIVE_ALONE = 8, 12
_PUT_TOGETHER = re.compile(r"[^\W\d]_+[^\W_]|[a-z][A-Z]|[^\W\d_]\d|\d[^\W\d_]")


def is_telling(quote: str) -> bool:
    """Return whether a quote is evidence: it has several words, one of them specific, or one distinctive name."""
    words = _WORD.findall(quote)
    own = {word for word in words if _is_own(word)}
    if any(map(_is_distinctive, own)):
        return True
    numbers = {word for word in words if word.isdecimal()}
    return bool(own) and (len(own | numbers) >= _FEWEST_WORDS or len(words) >= _FEWEST_IN_ALL)


def _is_own(word: str) -> bool:
    if word.isdecimal():
        return False
    return word.casefold() not in _COMMON and (len(word) >= _FEWEST_LETTERS or not word.isascii())


def _is_distinctive(word: str) -> bool:
    return len(word) >= _DISTINCTIVE_ALONE or (len(word) >= _DISTINCTIVE and bool(_PUT_TOGETHER.search(word)))
