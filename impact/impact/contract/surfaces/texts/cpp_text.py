"""C++ and protobuf text without its comments, every character at its place."""

from __future__ import annotations

import re

# what begins with a quote and has no end goes to the end of its line
_TOKEN = re.compile(r"""//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\[^\n]{1,8})'""", re.S)
_NOT_BREAK = re.compile(r"[^\n]")


def strip_comments(text: str) -> str:
    """Replace comments by blanks, so that offsets and line numbers stay; what is in strings stays."""
    return _TOKEN.sub(lambda match: _NOT_BREAK.sub(" ", match[0]) if match[0][0] == "/" else match[0], text)
