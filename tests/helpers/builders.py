"""Builders of values for tests: every field has a sensible default, a test names only what it is about."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.dates import LocalDay, parse_zone
from bot.features.digest.rules import Digest, Overview
from bot.features.merges.outcomes import MergeOutcome, RevertIndex
from bot.features.merges.requests import OF_PROFILES, DigestView, ViewLevel
from bot.features.merges.review import BugFinding, Certainty, FindingAdvice, FindingStatus
from bot.features.merges.risk import assess_pull_request
from bot.features.merges.summary import ChangeType, Evidence, Fallback, FallbackReason, Summary
from bot.features.merges.view import Entry
from bot.platform.pulls.models import Account, ChangedFile, PullRequest
from bot.platform.pulls.paths import NO_FILTERS, Filters, determine_area
from bot.platform.pulls.sources import CountCheck
from impact.history.outcomes import find_outcomes
from impact.repository import Repository
from impact.source.models import DiffSide
from impact.text.strings import parse_date

REPOSITORY = Repository("octo", "engine")
DAY = LocalDay(parse_date("2026-02-28"), parse_zone("America/Los_Angeles"))
NOON = datetime(2026, 2, 28, 20, 0, tzinfo=UTC)  # noon of DAY
SHARED = Path(__file__).parents[3] / "shared"

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the data pack ../shared is not here")


def changed_file(path: str = "engine/core.py", added: int = 1, deleted: int = 0, **fields: Any) -> ChangedFile:
    """A file whose patch holds as many changed lines as it says."""
    lines = [f"-old line {n}" for n in range(deleted)] + [f"+new line {n} of {path}" for n in range(added)]
    patch = "\n".join([f"@@ -1,{deleted} +1,{added} @@", *lines])
    return replace(ChangedFile(path, "modified", added, deleted, patch), **fields)


def pull(number: int = 1, *, files: Iterable[ChangedFile] | None = (), **fields: Any) -> PullRequest:
    """A merged pull request; ``files`` empty means one small file, None means not loaded."""
    loaded_files = None if files is None else tuple(files) or (changed_file(),)
    counted = loaded_files or ()
    made = PullRequest(
        repository=REPOSITORY,
        number=number,
        title=f"Change number {number}",
        body="",
        author=Account("ada-dev"),
        merged_by=Account("merge-bot"),
        merged_at=NOON - timedelta(minutes=number % 600),
        merge_commit=f"{number:040x}",
        head_commit=f"{number + 1:040x}",
        additions=sum(file.additions for file in counted),
        deletions=sum(file.deletions for file in counted),
        changed_files=len(counted),
        base="main",
        default_branch="main",
        files=loaded_files,
    )
    return replace(made, **fields)


def failed(clause: str = "the model is busy") -> Fallback:
    """The reason for facts where the model failed."""
    return Fallback(FallbackReason.MODEL_FAILED, clause)


def summary(**fields: Any) -> Summary:
    made = Summary(
        type=ChangeType.SUBSTANTIAL,
        headline="Requests are counted once",
        what_changed_and_why="The counter moved.",
        technical_impact="One place counts.",
        potential_risks="None stand out.",
        key_insights="Read the counter.",
    )
    return replace(made, **fields)


FOUND_QUOTE = Evidence("engine/core.py", "return counts[0]", DiffSide.NEW, 7)


def finding(consequence: str = "The engine stops with an IndexError", **fields: Any) -> BugFinding:
    status = fields.get("status", FindingStatus.CONFIRMED)
    made = BugFinding(
        consequence=consequence,
        trigger="a request has no tokens",
        affected="servers that allow empty prompts",
        status=status,
        certainty=Certainty.HIGH,
        advice=FindingAdvice.ADAPT,
        evidence=FOUND_QUOTE if status is FindingStatus.CONFIRMED else None,
    )
    return replace(made, **fields)


def entry(number: int = 1, *, entry_summary: Summary | None = None, **fields: Any) -> Entry:
    made = pull(number, **fields)
    return Entry(made, entry_summary or summary(), assess_pull_request(made), determine_area(made))


def digest(*entries: Entry, overview: Overview | None = None, **fields: Any) -> Digest:
    made = Digest(
        repository=REPOSITORY,
        name="Engine",
        day=DAY,
        entries=entries,
        overview=overview or Overview("A calm day."),
        count=CountCheck(len(entries), "the commits of main"),
        outcomes=find_outcomes(RevertIndex(digest_entry.pull for digest_entry in entries)),
    )
    return replace(made, **fields)


def make_view(filters: Filters = NO_FILTERS, only: ViewLevel = ViewLevel.ALL, profile: str = "") -> DigestView:
    """A view; one of what touches a profile has one."""
    return DigestView(filters, only, profile or ("ascend" if only in OF_PROFILES else ""))


def pairs(outcomes: Iterable[MergeOutcome]) -> list[tuple[int, int]]:
    return [(outcome.pull.number, outcome.by.number) for outcome in outcomes]
