"""The sample files: facts of a public day and its contract changes, with summaries and reviews written for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from bot.features.merges.review import BugReview
from bot.features.merges.summary import Summary
from bot.platform.pulls.models import ChangedFile
from bot.platform.store.codecs import VersionedJson
from impact.contract.models import MergeContract

CONTRACTS_FILE = "contracts.json"


class _FrozenModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SamplePull(_FrozenModel):
    number: int
    title: str
    author: str
    merged_by: str
    merged_at: datetime
    merge_commit_sha: str
    additions: int
    deletions: int
    files: tuple[ChangedFile, ...]
    summary: Summary
    # without quotes, since the sample has no diffs
    review: BugReview | None = None


class SampleTheme(_FrozenModel):
    title: str
    pull_requests: tuple[int, ...]


class SampleDay(_FrozenModel):
    note: str
    repository: str
    name: str
    date: str
    timezone: str
    overview: str
    themes: tuple[SampleTheme, ...]
    # newest first
    pulls: tuple[SamplePull, ...]


@cache
def load_sample_day() -> SampleDay:
    return SampleDay.model_validate_json(_read_text("day.json"))


@cache
def load_contracts() -> Mapping[int, MergeContract]:
    """Load what each merge of the sample day changes for others, by number."""
    contracts = map(VersionedJson(MergeContract, 1).load, json.loads(_read_text(CONTRACTS_FILE)))
    return {contract.number: contract for contract in contracts}


def _read_text(name: str) -> str:
    return files("bot.demo.sample").joinpath(name).read_text(encoding="utf-8")
