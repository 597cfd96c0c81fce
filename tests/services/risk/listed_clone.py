"""A clone that is a list of commits."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bot.domain.history.commits import Commit
from bot.ports.source.clone import CloneFacts
from tests.helpers.builders import REPOSITORY, changed_file
from tests.helpers.clones import BEGIN

ZONE = ZoneInfo("America/Los_Angeles")
FIRST = BEGIN.date()
Files = dict[str, tuple[int, int]]
SMALL: Files = {"engine/core.py": (1, 0)}
LARGE: Files = {"csrc/attn.cu": (300, 300), "engine/core.py": (200, 100)}


class Listed:
    """A clone of these commits."""

    def __init__(self, commits: list[Commit], facts: CloneFacts | None = None) -> None:
        self._commits = commits
        self._facts = facts or CloneFacts("main", REPOSITORY, is_shallow=False)

    def read_facts(self) -> CloneFacts:
        return self._facts

    def iterate_commits(self, since: datetime, progress: Callable[[int, int], None]) -> Iterator[Commit]:
        for done, commit in enumerate(self._commits, 1):
            progress(done, len(self._commits))
            if commit.committed_at >= since:
                yield commit


def commit(message: str, hours: float, files: Files | None = None) -> Commit:
    changed = [changed_file(path, *counts, patch=None) for path, counts in (files or SMALL).items()]
    sha = hashlib.sha1(f"{hours} {message}".encode(), usedforsecurity=False).hexdigest()
    return Commit(sha, BEGIN + timedelta(hours=hours), "Ada", message, tuple(changed))
