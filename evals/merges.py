"""Merges with what became of them: from a record whose labels were read by hand, or from a local clone."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from bot.errors import UsageError
from bot.features.merges.outcomes import ClaimMemory, MergeOutcome, RevertIndex
from bot.features.merges.risk import FileHistory
from bot.features.merges.timeline import build_past
from bot.platform.pulls.models import GHOST, Account, ChangedFile, PullRequest, remove_duplicates
from bot.platform.pulls.paths import DEFAULT_PATH_CLASSES, PathClasses, PathClassesLookup, get_default_classes
from bot.text import format_count
from evals.commits import sort_commits
from impact.evaluation.window import EvaluationWindow
from impact.git.clone_trees import CloneFacts, CloneTrees
from impact.history.merges import detect_repository
from impact.history.outcomes import Repair, find_outcomes, find_repairs
from impact.history.reverts import Revert
from impact.repository import Repository
from impact.source.models import TreeCommit

# R: reverted, fully or in part. H: R, or a later repair names it as the cause. Y: H, or a fix deletes lines of it
# within two weeks
REVERTED, HARMED, REPAIRED = "R", "H", "Y"
PACK = Path(__file__).parents[2] / "shared" / "risk"
REPOSITORY = Repository("vllm-project", "vllm")
# label columns of a record, with their labels and the column of their time; szz_fix_by has no time
_COLUMNS = {
    "reverted_by": ({REVERTED, HARMED, REPAIRED}, "reverted_at"),
    "fixed_by": ({HARMED, REPAIRED}, "fixed_at"),
    "szz_fix_by": ({REPAIRED}, ""),
}
# local time of the next day at which a digest is read, as in the data on which the rules were measured
_READING_TIME = time(9)
# 98 % of reverts are merged within 60 days
LABEL_MATURITY = timedelta(days=60)
# stands for the repository of a clone that does not come from GitHub
_UNKNOWN_REPOSITORY = Repository("local", "clone")
# share of commits: if fewer name a pull request, most merges are not recognized
_MIN_NAMED_SHARE = 0.5
# the rules look back at most 180 days, and repeated titles are rarely further apart
_HISTORY_LENGTH = timedelta(days=365)
# characters; the sentences about a revert or a repair are at the beginning
_MAX_MESSAGE = 2_000


@dataclass(frozen=True, slots=True)
class LabelledOutcome:
    """The labels of a pull request, and since when (UTC) the first of them was known.

    ``events`` are the reverts and repairs, each by its time and the number of its merge, where that is known.
    """

    labels: frozenset[str]
    known_since: datetime | None = None
    events: tuple[tuple[datetime, int], ...] = ()


NO_LABELS = LabelledOutcome(frozenset())


@dataclass(frozen=True, slots=True)
class Case:
    """A pull request of a measurement: its local day and its labels.

    A known one was reverted or repaired before the digest of its day was read: it need not be predicted.
    """

    day: dt.date
    labels: frozenset[str]
    is_known: bool = False


@dataclass(frozen=True, slots=True)
class MergeSource:
    repository: str
    branch: str
    history_from: dt.date


@dataclass(frozen=True, slots=True)
class MergeHistory:
    """Merges, oldest first, what was known before each, and what happened to them.

    ``last`` is the last instant about which anything is known; ``caveats`` are sentences about the source.
    """

    source: MergeSource
    pulls: tuple[PullRequest, ...]
    past: FileHistory
    outcomes: Mapping[int, LabelledOutcome]
    labels: tuple[str, ...]
    last: datetime
    classes: PathClasses = DEFAULT_PATH_CLASSES
    caveats: tuple[str, ...] = ()


def build_cases(
    pulls: Iterable[PullRequest], outcomes: Mapping[int, LabelledOutcome], zone: ZoneInfo
) -> tuple[Case, ...]:
    """Return the cases of merged pull requests, in their order."""
    return tuple(_build_case(pull, outcomes.get(pull.number, NO_LABELS), zone) for pull in pulls)


def _build_case(pull: PullRequest, outcome: LabelledOutcome, zone: ZoneInfo) -> Case:
    day = pull.merge_time.astimezone(zone).date()
    published = datetime.combine(day + timedelta(days=1), _READING_TIME, zone).astimezone(UTC)
    is_known = outcome.known_since is not None and outcome.known_since < published
    return Case(day, outcome.labels, is_known)


def read_pack(folder: Path, *, by_titles: bool = False) -> MergeHistory:
    """Read the record in a folder. The rules know its labelled reverts, or with ``by_titles`` those in titles.

    Raises:
        UsageError: the record is not there.
    """
    pulls, rows = read_pulls(folder), read_labels(folder)
    reverts = find_outcomes(RevertIndex(pulls)) if by_titles else tuple(_list_first_reverts(pulls, rows))
    return MergeHistory(
        MergeSource(str(REPOSITORY), "main", pulls[0].merge_time.date()),
        pulls,
        FileHistory(pulls, reverts, DEFAULT_PATH_CLASSES),
        read_outcomes(rows),
        (REVERTED, HARMED, REPAIRED),
        # all labels were mature when they were made
        datetime.max.replace(tzinfo=UTC),
    )


def read_pulls(folder: Path) -> tuple[PullRequest, ...]:
    """Read the merges of a record, oldest first. Raises UsageError."""
    with _open_record(folder / "history-2025.jsonl.gz", gzip.open) as lines:
        return tuple(_make_pull(json.loads(line)) for line in lines)


def read_labels(folder: Path) -> list[dict[str, str]]:
    """Read the labels of a record, a row for each merge. Raises UsageError."""
    with _open_record(folder / "labels-2025.csv", open) as lines:
        return list(csv.DictReader(lines))


def _open_record(path: Path, open_file: Callable[..., Any]) -> Any:
    try:
        return open_file(path, "rt", encoding="utf-8", newline="")
    except FileNotFoundError as error:
        raise UsageError(f"{path} is not there: give the folder of the record.") from error


def read_outcomes(rows: Iterable[Mapping[str, str]]) -> dict[int, LabelledOutcome]:
    """Return the outcomes by number; pull requests without one are absent."""
    outcomes = {}
    for row in rows:
        entries = [entry for column, entry in _COLUMNS.items() if row[column]]
        times = [datetime.fromisoformat(row[at]) for _, at in entries if at]
        if labels := frozenset(label for labels, _ in entries for label in labels):
            outcomes[int(row["pr"])] = LabelledOutcome(labels, min(times, default=None))
    return outcomes


def _list_first_reverts(pulls: Iterable[PullRequest], rows: Iterable[Mapping[str, str]]) -> Iterator[MergeOutcome]:
    """Yield the first revert of each; all that is known of it is when it was merged."""
    by_number = {pull.number: pull for pull in pulls}
    for row in rows:
        if row["reverted_at"]:
            pull = by_number[int(row["pr"])]
            yield MergeOutcome(pull, replace(pull, number=0, merged_at=datetime.fromisoformat(row["reverted_at"])))


def _make_pull(row: Mapping[str, Any]) -> PullRequest:
    files = tuple(
        ChangedFile(
            file["path"], file["status"], file["additions"], file["deletions"], None, file.get("previous_path")
        )
        for file in row["files"]
    )
    return PullRequest(
        repository=REPOSITORY,
        number=row["number"],
        title=row["title"],
        body="",
        author=Account(row["author"]),
        merged_by=GHOST,
        merged_at=datetime.fromisoformat(row["merged_at"]),
        merge_commit=row["sha"],
        head_commit=row["sha"],
        additions=sum(file.additions for file in files),
        deletions=sum(file.deletions for file in files),
        changed_files=len(files),
        base="main",
        files=files,
    )


def read_clone(
    path: Path,
    branch: str | None,
    repository: Repository | None,
    window: EvaluationWindow,
    progress: Callable[[int, int], None],
    classes_of: PathClassesLookup,
    history_from: dt.date | None = None,
) -> MergeHistory:
    """Read the history of a clone from a date (UTC) on, by default from a year before the window.

    Raises:
        UsageError: the clone can't be read, or the date is after the window's first one.
    """
    begin = history_from or window.since - _HISTORY_LENGTH
    if begin > window.since:
        raise UsageError(f"--history-from {begin} is after --since {window.since}: choose an earlier date.")
    clone = CloneTrees(path, branch)
    facts, start = clone.read_facts(), datetime.combine(begin, time(), UTC)
    line = [commit for commit in clone.list_line() if commit.committed_at >= start]
    commits = []
    for commit in clone.read_commits(line):
        commits.append(replace(commit, message=commit.message[:_MAX_MESSAGE].strip()))
        progress(len(commits), len(line))
    return build_history(facts, commits, repository, window, begin, classes_of)


def build_history(
    facts: CloneFacts,
    commits: Sequence[TreeCommit],
    repository: Repository | None,
    window: EvaluationWindow,
    history_from: dt.date,
    classes_of: PathClassesLookup = get_default_classes,
) -> MergeHistory:
    """Return the history that commits of a branch have, oldest first.

    Without ``repository``, it is that of the clone's origin on GitHub, or else the one that the reverts name.
    """
    named = detect_repository(commit.message for commit in commits)
    origin = repository or facts.repository or named or _UNKNOWN_REPOSITORY
    merges, classes = sort_commits(commits, origin, facts.branch), classes_of(origin)
    everything = (*merges.pulls, *merges.direct)
    memory = ClaimMemory()
    index = memory.index_pulls(everything)
    # the past that a bot would have recorded, and the reverts that were made without a pull request
    direct = (commit for commit in merges.direct if index.is_revert(commit.number))
    past = build_past(memory.index_pulls(remove_duplicates([*merges.pulls, *direct])), classes)
    first = datetime.combine(history_from, time(), UTC)
    return MergeHistory(
        MergeSource(str(origin), facts.branch, history_from),
        merges.pulls,
        past,
        label_outcomes(everything, index.reverts, find_repairs(index)),
        (REVERTED, HARMED),
        max((commit.committed_at for commit in commits), default=first),
        classes,
        tuple(_list_caveats(facts, commits, merges.pulls, len(index.reverts), window)),
    )


def label_outcomes(
    pulls: Iterable[PullRequest], reverts: Iterable[Revert], repairs: Iterable[Repair]
) -> dict[int, LabelledOutcome]:
    merged = {pull.number: pull.merge_time for pull in pulls}
    events: dict[int, list[tuple[datetime, str, int]]] = defaultdict(list)
    for revert in reverts:
        events[revert.number].append((merged[revert.by], REVERTED, revert.by))
    for repair in repairs:
        events[repair.number].append((merged[repair.by], HARMED, repair.by))
    return {
        number: LabelledOutcome(
            frozenset({HARMED} | {label for _, label, _ in each}),
            min(at for at, *_ in each),
            tuple(sorted((at, by) for at, _, by in each)),
        )
        for number, each in events.items()
    }


def _list_caveats(
    facts: CloneFacts,
    commits: Sequence[TreeCommit],
    pulls: Iterable[PullRequest],
    reverts: int,
    window: EvaluationWindow,
) -> Iterator[str]:
    """Yield what may be missing in a clone: the depth, numbers of merges, reverts."""
    if facts.is_shallow:
        yield "The clone is shallow, so older merges are missing: load them with git fetch --unshallow."
    numbered = sum(pull.merge_time in window for pull in pulls)
    in_window = sum(commit.committed_at in window for commit in commits)
    if numbered < _MIN_NAMED_SHARE * in_window:
        yield (
            f"Only {numbered:,} of {format_count(in_window, 'commit')} in the window name a pull request: "
            'merges must have titles such as "Title (#7)" or "Merge pull request #7".'
        )
    # if nothing was merged, a lack of reverts explains nothing
    if numbered and not reverts:
        yield (
            "No revert was found: reverts here have other titles, or name no pull request. So the rules on "
            "reverted files and titles have no effect, and R is empty."
        )
