"""Made-up commits of a clone."""

import hashlib
from datetime import timedelta
from zoneinfo import ZoneInfo

from impact.git.diff_tree import Commit, CommitFile
from impact.testing.clones import BEGIN

ZONE = ZoneInfo("America/Los_Angeles")
FIRST = BEGIN.date()
Files = dict[str, tuple[int, int]]
SMALL: Files = {"engine/core.py": (1, 0)}
LARGE: Files = {"csrc/attn.cu": (300, 300), "engine/core.py": (200, 100)}


def commit(message: str, hours: float, files: Files | None = None) -> Commit:
    changed = [CommitFile(path, "modified", *counts) for path, counts in (files or SMALL).items()]
    sha = hashlib.sha1(f"{hours} {message}".encode(), usedforsecurity=False).hexdigest()
    return Commit(sha, BEGIN + timedelta(hours=hours), "Ada", message, tuple(changed))
