"""Patterns of paths, as .gitignore reads them, compared in time that grows no faster than pattern times path.

Libraries make of such a pattern a regular expression that tries every way to share a path among its stars: with
nine ``**`` it needs minutes for sixty folders. Here each part of a pattern takes the first place that fits and
never gives it back: an earlier place leaves more of the path to what follows, so nothing is missed
(docs/decisions/0031-patterns-without-a-way-back.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

_TOKEN = re.compile(r"\\(?P<escaped>.)|\[(?P<negated>[!^]?)(?P<signs>[\w-]+)\]|(?P<sign>.)", re.S)
_FOLDERS = "**"
_SOME_FOLDERS, _FEWEST_FOLDERS = "(?:[^/]*/)*", "(?:[^/]*/)*?"
# the path goes on below what is named, so that this is a folder
_BELOW = "(?P<below>/)"
_NOTHING = "(?!)"


class Globs:
    """Patterns of paths, of which the last that fits decides; one that begins with ``!`` takes away.

    As in git, a pattern that names the path itself goes before those that name a folder above it.
    A bracket is taken as a set only where it holds word characters and ranges of them.

    Raises:
        re.error: a range such as ``[z-a]`` is none.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        lines = [pattern.rstrip() for pattern in patterns]
        wanted = [(not line.startswith("!"), re.compile(_translate(line.removeprefix("!")))) for line in lines]
        self._last_first = tuple(reversed(wanted))

    def match(self, path: str) -> bool:
        """Whether the path is among what the patterns name."""
        path, decided = path.removeprefix("/"), None
        for is_wanted, compiled in self._last_first:
            found = compiled.match(path)
            if found and not found.lastgroup:
                return is_wanted
            if found and decided is None:
                decided = is_wanted
        return bool(decided)


def _translate(pattern: str) -> str:
    if not pattern.strip("/") or pattern.startswith("#"):
        return _NOTHING
    names = pattern.split("/")
    is_folder = not names[-1]
    names = [*names[:-1], _FOLDERS] if is_folder else names
    if not names[0]:
        names = names[1:]
    elif len(names) == 1 + is_folder:
        names = [_FOLDERS, *names]
    return _joined(names, _BELOW if is_folder else "/" if names[-1] == _FOLDERS else rf"(?:\Z|{_BELOW})")


def _joined(names: list[str], end: str) -> str:
    """The parts between ``**``, of which all but the last take the first place that fits."""
    parts = ["/".join(map(_name, part)) for is_gap, part in groupby(names, _FOLDERS.__eq__) if not is_gap]
    if not parts:
        return f"[^/]*{_BELOW}" if end == _BELOW else ""
    gaps = [_FEWEST_FOLDERS] * len(parts)
    gaps[-1] = _SOME_FOLDERS
    gaps[0] = gaps[0] if names[0] == _FOLDERS else ""
    first = "".join(f"(?>{gap}{part}/)" for gap, part in zip(gaps[:-1], parts[:-1], strict=True))
    return f"{first}{gaps[-1]}{parts[-1]}{end}"


def _name(name: str) -> str:
    """The name of a folder or file: each piece between stars takes the first place that fits, the last the end."""
    if name == "*":
        return "[^/]+"
    first, *others = _pieces(name)
    if not others:
        return first
    *middle, last = others
    ended = f"(?>[^/]*?{last}(?=/|\\Z))" if last else "[^/]*+"
    return first + "".join(f"(?>[^/]*?{piece})" for piece in middle) + ended


def _pieces(name: str) -> list[str]:
    """What stands between the stars; each piece fits texts of one length alone."""
    pieces = [""]
    for token in _TOKEN.finditer(name):
        if token["sign"] == "*":
            pieces.append("")
        else:
            pieces[-1] += _sign(token)
    return pieces


def _sign(token: re.Match[str]) -> str:
    if token["signs"]:
        return f"[^/{token['signs']}]" if token["negated"] else f"[{token['signs']}]"
    if token["sign"] == "?":
        return "[^/]"
    return re.escape(token["escaped"] or token["sign"])
