"""Path patterns in the syntax of .gitignore, matched in time proportional to pattern length times path length.

Libraries translate such a pattern to a regular expression that tries every way to divide a path among its stars:
with nine ``**`` it needs minutes for sixty folders. Here each part of a pattern matches at its first possible
position, without backtracking: an earlier position leaves more of the path to the rest of the pattern, so that
no match is missed (docs/decisions/0011-text-from-outside.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

_TOKEN = re.compile(r"\\(?P<escaped>.)|\[(?P<negated>[!^]?)(?P<signs>[\w-]+)\]|(?P<sign>.)", re.S)
_FOLDERS = "**"
_SOME_FOLDERS, _FEWEST_FOLDERS = "(?:[^/]*/)*", "(?:[^/]*/)*?"
# the path continues below the match, so that the match is a folder
_PATH_CONTINUES = "(?P<below>/)"
_MATCHES_NOTHING = "(?!)"


class PathGlobs:
    """A list of path patterns. The last match decides; a pattern that begins with ``!`` excludes.

    As in git, a pattern that matches the path itself takes precedence over those that match a parent folder. A
    bracket is a set only if it holds word characters and ranges of them. Raises .
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        lines = [pattern.rstrip() for pattern in patterns]
        rules = [
            (not line.startswith("!"), re.compile(_translate_pattern(line.removeprefix("!")))) for line in lines
        ]
        self._last_first = tuple(reversed(rules))

    def has_match(self, path: str) -> bool:
        path, parent_decision = path.removeprefix("/"), None
        for is_included, compiled in self._last_first:
            match = compiled.match(path)
            if match and not match.lastgroup:
                return is_included
            if match and parent_decision is None:
                parent_decision = is_included
        return bool(parent_decision)


def _translate_pattern(pattern: str) -> str:
    if not pattern.strip("/") or pattern.startswith("#"):
        return _MATCHES_NOTHING
    names = pattern.split("/")
    is_folder = not names[-1]
    names = [*names[:-1], _FOLDERS] if is_folder else names
    if not names[0]:
        names = names[1:]
    elif len(names) == 1 + is_folder:
        names = [_FOLDERS, *names]
    end = _PATH_CONTINUES if is_folder else "/" if names[-1] == _FOLDERS else rf"(?:\Z|{_PATH_CONTINUES})"
    parts = [
        "/".join(map(_translate_name, part)) for is_gap, part in groupby(names, _FOLDERS.__eq__) if not is_gap
    ]
    if not parts:
        return f"[^/]*{_PATH_CONTINUES}" if end == _PATH_CONTINUES else ""
    gaps = [_FEWEST_FOLDERS] * len(parts)
    gaps[-1] = _SOME_FOLDERS
    gaps[0] = gaps[0] if names[0] == _FOLDERS else ""
    first = "".join(f"(?>{gap}{part}/)" for gap, part in zip(gaps[:-1], parts[:-1], strict=True))
    return f"{first}{gaps[-1]}{parts[-1]}{end}"


def _translate_name(name: str) -> str:
    """Translate a name. Pieces between stars match as early as possible, the last one at the end."""
    if name == "*":
        return "[^/]+"
    pieces = [""]
    for token in _TOKEN.finditer(name):
        if token["sign"] == "*":
            pieces.append("")
        else:
            pieces[-1] += _translate_token(token)
    first, *others = pieces
    if not others:
        return first
    *middle, last = others
    ended = f"(?>[^/]*?{last}(?=/|\\Z))" if last else "[^/]*+"
    return first + "".join(f"(?>[^/]*?{piece})" for piece in middle) + ended


def _translate_token(token: re.Match[str]) -> str:
    if token["signs"]:
        return f"[^/{token['signs']}]" if token["negated"] else f"[{token['signs']}]"
    if token["sign"] == "?":
        return "[^/]"
    return re.escape(token["escaped"] or token["sign"])
