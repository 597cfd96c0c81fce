"""The sample file: facts of a public day, with summaries and reviews written for the sample."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from bot.features.merges.review import BugReview
from bot.features.merges.summary import Summary
from bot.platform.pulls.models import ChangedFile


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
    text = files("bot.demo.sample").joinpath("day.json").read_text(encoding="utf-8")
    return SampleDay.model_validate_json(text)
