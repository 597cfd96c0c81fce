"""Made-up commits of a clone."""

import hashlib
from datetime import timedelta
from zoneinfo import ZoneInfo

from impact.source.models import BlobChange, BlobVersion, TreeCommit
from impact.testing.clones import BEGIN

ZONE = ZoneInfo("America/Los_Angeles")
FIRST = BEGIN.date()
Files = dict[str, tuple[int, int]]
SMALL: Files = {"engine/core.py": (1, 0)}
LARGE: Files = {"csrc/attn.cu": (300, 300), "engine/core.py": (200, 100)}


def commit(message: str, hours: float, files: Files | None = None) -> TreeCommit:
    changed = [change(path, *counts) for path, counts in (files or SMALL).items()]
    sha = hashlib.sha1(f"{hours} {message}".encode(), usedforsecurity=False).hexdigest()
    return TreeCommit(sha, BEGIN + timedelta(hours=hours), message, tuple(changed), "Ada")


def change(path: str, added: int, deleted: int) -> BlobChange:
    return BlobChange(BlobVersion(path, "a" * 40), BlobVersion(path, "b" * 40), added, deleted)
