"""Names of profiles, which people type in commands and which are part of keys; names that tell what they mean."""

from __future__ import annotations

import re

from impact.errors import UsageError
from impact.text.strings import quote_input

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
# of two words or more: one word stands in many strings
_CLASS = re.compile(r"(?:[A-Z]+[a-z0-9]+){2,8}[A-Z]{0,8}", re.A)
_MIN_CLASS_LENGTH, _MAX_CLASS_LENGTH = 12, 100
# a shorter method, or one of a single word, is one of many classes
_MIN_METHOD_LENGTH = 14


def parse_profile_name(text: str) -> str:
    """Return the name of a profile in lower case. Raises UsageError for what is none."""
    name = text.strip().lower()
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{quote_input(text)} is not a name of a profile: use up to 40 letters, digits, dots and dashes."
        )
    return name


def is_telling_method(name: str) -> bool:
    """Return whether a method's name is so specific that it hardly means another one: ``get_attn_backend_cls``."""
    return len(name) >= _MIN_METHOD_LENGTH and "_" in name.strip("_")


def is_telling_class(text: str) -> bool:
    """Return whether a string is so specific a name of a class that it hardly says something else."""
    return _MIN_CLASS_LENGTH <= len(text) <= _MAX_CLASS_LENGTH and _CLASS.fullmatch(text) is not None
