"""The statements in the description of a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.domain.text.strings import without_comments

_FENCE = re.compile(r"\s{0,3}(?P<mark>`{3,}|~{3,})")
_BULLET = re.compile(r"(?:[-*+•]|\d{1,3}[.)]) ")
_HEADING = re.compile(r"#{1,6} |\*\*[^*]{1,80}\*\*:?$|[^:]{1,80}:$")
# a rollback plan names what would be reverted if the change fails; it reverts nothing
_FALLBACK = re.compile(
    r"\broll-?\s?backs?\b|\bback-?out\b|\brevert(?:ing)? (?:plan|strategy|steps)|\bto revert\b", re.I
)
_LINK = re.compile(r"\[(?P<text>[^\[\]]{0,200})\]\((?P<address>[^\s()]{1,300})\)")
_PULL_OR_COMMIT = re.compile(r"https?://[^/\s]{1,100}/[^/\s]{1,100}/[^/\s]{1,100}/(?:pull|commit)/")


def prose(markdown: str) -> str:
    """Return the statements of a description, with single spaces; each list item begins with ``- ``.

    Comments, code blocks, quotations and rollback plans are left out. Links to pull requests and commits are
    replaced by their addresses.
    """
    return "\n".join(_lines(without_comments(markdown)))


def _lines(text: str) -> Iterator[str]:
    fence, is_plan = "", False
    for raw in text.splitlines():
        mark = _FENCE.match(raw)
        if fence or mark:
            # a fence ends at one that is at least as long
            fence = _fence_after(fence, mark["mark"] if mark else "")
            continue
        line = " ".join(raw.split())
        if _HEADING.match(line):
            is_plan = bool(_FALLBACK.search(line)) and "#" not in line.lstrip("# ")
        if not is_plan and not line.startswith(">"):
            yield _plain(line)


def _fence_after(fence: str, mark: str) -> str:
    if not fence:
        return mark
    return "" if mark.startswith(fence) else fence


def _plain(line: str) -> str:
    bullet = _BULLET.match(line)
    rest = _LINK.sub(_target, line[bullet.end() :] if bullet else line)
    return ("- " if bullet else "") + rest.replace("*", "").replace("`", "")


def _target(link: re.Match[str]) -> str:
    return link["address"] if _PULL_OR_COMMIT.match(link["address"]) else link["text"]
