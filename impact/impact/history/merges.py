"""Merged pull requests as far as their texts are read: what they revert, repair or land again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from impact.repository import GITHUB_WEB, Repository


class WrittenMerge(Protocol):
    """A merged pull request: one of GitHub, or what a commit of a clone says of it.

    ``merge_time`` is in UTC. ``commit_message`` is the full message of the merge commit, empty if it is unknown.
    ``web`` is the address of the GitHub's pages.
    """

    @property
    def repository(self) -> Repository: ...
    @property
    def number(self) -> int: ...
    @property
    def title(self) -> str: ...
    @property
    def body(self) -> str: ...
    @property
    def commit_message(self) -> str: ...
    @property
    def merge_commit(self) -> str | None: ...
    @property
    def merge_time(self) -> datetime: ...
    @property
    def web(self) -> str: ...


@dataclass(frozen=True, slots=True)
class ClonedMerge:
    """A merge as its commit says, with a negative number if it names none. A squash has its branch's messages."""

    repository: Repository
    number: int
    title: str
    commit_message: str
    merge_commit: str
    merge_time: datetime
    body: str = ""
    web: str = GITHUB_WEB
