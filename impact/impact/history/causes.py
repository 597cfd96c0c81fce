"""Which merges of an upstream the commits of a downstream name: as what they adapt to, or as what they revert."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

# words of a commit that follows upstream; others that name a merge bring something over or just refer to it
_ADAPTING = re.compile(
    r"\b(?:adapt|upgrad|bump|sync|rebas|main2main|align|compat|fix|break|broke|caus|due to|introduc|since|after|"
    r"follow|updat|hourly|nightly|renam|remov|mov|chang)\w{0,12}",
    re.I,
)
_PORTING = re.compile(r"\b(?:cherry.?pick|back.?port|port(?:ed|ing)? (?:of|from)|revert)\w{0,5}", re.I)
_MAX_LINE = 2_000
# digits of a number of a pull request
_NUMBER = r"(?P<number>[1-9]\d{0,8})(?!\d)"


class Response(StrEnum):
    """What a commit did about a merge. Stored: never changed."""

    ADAPTED = "adapted"
    FIXED = "fixed"
    REVERTED = "reverted"


@dataclass(frozen=True, slots=True)
class FollowingCommit:
    """A commit of a downstream that names the merge of a ``number``, or takes back one that does.

    The time is in UTC. The ``excerpt`` are lines of ``path`` from which a name went that the merge broke, if
    there are such.
    """

    number: int
    commit: str
    at: datetime
    title: str
    response: Response
    path: str = ""
    excerpt: tuple[str, ...] = ()


def list_causes(message: str, reference: re.Pattern[str]) -> Iterator[int]:
    """Yield the numbers of the upstream merges that a commit of a downstream names as what it adapts to."""
    subject = message.partition("\n")[0][:_MAX_LINE]
    if _PORTING.search(subject):
        return
    is_adapting = bool(_ADAPTING.search(subject))
    before = ""
    for line in (each[:_MAX_LINE] for each in message.split("\n")):
        # a long sentence is broken before the address
        if is_adapting or _ADAPTING.search(line) or _ADAPTING.search(before):
            yield from list_references(line, reference)
        before = line


def is_following(subject: str) -> bool:
    """Return whether the subject of a commit has a word of adapting, and none of porting."""
    line = subject[:_MAX_LINE]
    return bool(_ADAPTING.search(line) and not _PORTING.search(line))


def list_references(text: str, reference: re.Pattern[str]) -> Iterator[int]:
    yield from (int(match["number"] or match["linked"]) for match in reference.finditer(text))


def build_reference(names: Iterable[str]) -> re.Pattern[str]:
    """Return the pattern of a reference to a pull request: an address, ``owner/name#7``, ``Name PR #7``.

    ``names`` are those of the upstream repository without its owner, as forks have other ones.
    """
    text = f"(?:{'|'.join(map(re.escape, names))})"
    return re.compile(
        rf"(?<![\w.-])[\w.-]{{1,100}}/{text}/(?:pull|issues)/(?P<linked>[1-9]\d{{0,8}})(?!\d)"
        rf"|(?<![\w-]){text}(?: (?:PR|pull request|pull))? ?#{_NUMBER}",
        re.I | re.A,
    )
