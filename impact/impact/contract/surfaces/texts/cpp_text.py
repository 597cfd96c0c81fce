"""C++ and protobuf text without its comments, every character at its place."""

from __future__ import annotations

import re

_TOKEN = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*"', re.S)
_NOT_BREAK = re.compile(r"[^\n]")


def strip_comments(text: str) -> str:
    """Replace comments by blanks, so that offsets and line numbers stay; what is in strings stays."""
    return _TOKEN.sub(lambda match: match[0] if match[0][0] == '"' else _NOT_BREAK.sub(" ", match[0]), text)
