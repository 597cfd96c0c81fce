"""Batches of prompts that are answered later: what is remembered of one until its results are there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class PendingBatch:
    """A batch that was submitted, or was about to be.

    ``name`` is the provider's id. It is empty between the moment ``begun_at`` (aware) and the provider's answer: a
    process that died then may have paid for a batch whose id it never learned. ``count`` and ``content`` tell that
    batch from others: how many requests it has, and a hash of their fingerprints.
    """

    begun_at: datetime
    model: str
    count: int
    content: str
    name: str = ""


def hash_fingerprints(fingerprints: Iterable[str]) -> str:
    """Return a hash that is equal for the same fingerprints in any order."""
    return hashlib.sha256("\n".join(sorted(fingerprints)).encode()).hexdigest()
