"""What people wrote about a pull request: issues that it closes, comments, reviews and threads on lines.

All of it is strangers' text: what people say, not what is so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.platform.pulls.models import Account
from impact.repository import GITHUB_WEB, Repository
from impact.text.strings import remove_comments

# a remark with nothing but a command to a bot, such as "/retest" or "@mergify rebase"
_COMMAND = re.compile(r"\s*(?:/[a-z][\w-]*|@[\w-]{1,39})(?:[ \t]+[\w/.:-]{1,60}){0,4}\s*", re.I)
_MAX_COMMAND_LENGTH = 120
# characters of the line above a text
_HEAD_LENGTH = 120


class Role(StrEnum):
    AUTHOR = "author"
    MEMBER = "member"
    BOT = "bot"
    OTHER = "not a member"


class RemarkKind(StrEnum):
    ISSUE = "issue"
    COMMENT = "comment"
    APPROVAL = "approving review"
    REFUSAL = "review that requests changes"
    REVIEW = "review"
    RESOLVED = "resolved thread"
    OPEN = "unresolved thread"


@dataclass(frozen=True, slots=True)
class Remark:
    """A text that somebody wrote about a pull request.

    ``anchor`` names it within the pull request: the end of its address (``issuecomment-12``), or ``issue-12``.
    ``path`` is the file of a thread. ``title`` and ``state`` are those of an issue. ``written_at`` is None if it
    is unknown.
    """

    anchor: str
    kind: RemarkKind
    author: Account
    role: Role
    written_at: datetime | None
    text: str
    path: str = ""
    title: str = ""
    state: str = ""

    @property
    def is_noise(self) -> bool:
        """Whether it is a bot's, a command to one, or says nothing. A verdict without words says something."""
        if self.kind is RemarkKind.ISSUE:
            return False
        if self.role is Role.BOT:
            return True
        text = remove_comments(self.text).strip()
        if not text:
            return self.kind not in (RemarkKind.APPROVAL, RemarkKind.REFUSAL)
        return len(text) <= _MAX_COMMAND_LENGTH and bool(_COMMAND.fullmatch(text))


@dataclass(frozen=True, slots=True)
class Discussion:
    """The remarks about a pull request, oldest first within each kind.

    ``unlisted`` is the number of comments, reviews and threads that were not requested, because they are too many.
    ``is_partial``: GitHub did not send all that was requested. ``web`` is the address of the GitHub's pages.
    """

    repository: Repository
    number: int
    title: str
    remarks: tuple[Remark, ...] = ()
    unlisted: int = 0
    is_partial: bool = False
    web: str = GITHUB_WEB

    @property
    def url(self) -> str:
        return f"{self.web}/{self.repository}/pull/{self.number}"

    def build_remark_url(self, remark: Remark) -> str:
        if remark.kind is RemarkKind.ISSUE:
            return f"{self.web}/{self.repository}/issues/{remark.anchor.removeprefix('issue-')}"
        return f"{self.url}#{remark.anchor}"

    @property
    def told(self) -> tuple[Remark, ...]:
        return tuple(remark for remark in self.remarks if not remark.is_noise)


def shorten_remarks(remarks: Iterable[Remark], most: int) -> tuple[Remark, ...]:
    """Return the newest remarks of ``most`` characters together; issues, members and the author go first."""
    listed = tuple(remarks)
    order = sorted(range(len(listed)), key=lambda place: (_rank(listed[place]), -place))
    chosen: set[int] = set()
    for place in order:
        most -= len(listed[place].text) + _HEAD_LENGTH
        if most < 0:
            break
        chosen.add(place)
    return tuple(remark for place, remark in enumerate(listed) if place in chosen)


def _rank(remark: Remark) -> int:
    if remark.kind is RemarkKind.ISSUE:
        return 0
    return 1 if remark.role in (Role.AUTHOR, Role.MEMBER) else 2
