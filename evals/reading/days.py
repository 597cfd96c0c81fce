"""Whole days: each merge of product code is read as on its day, and judged by what came within sixty days."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from bot.errors import UsageError
from bot.features.digest.rules import admit_finding
from bot.features.merges.review import BugReview, rank_reviewed, should_review
from bot.features.merges.risk import Risk, assess_pull_request
from bot.features.risks.rules import compute_wilson_interval
from bot.platform.pulls.models import PullRequest
from bot.settings import Settings
from bot.text import format_count
from evals.json_files import Part, read_part, write_json
from evals.merges import LABEL_MATURITY, NO_LABELS, MergeHistory
from evals.reading.clone import CloneReader, load_files
from evals.reading.figures import Reading
from evals.reading.folder import ReadingFolder
from impact.evaluation.window import EvaluationWindow

_INSTRUCTIONS = Path(__file__).parent / "judge.md"
# merges of the lead, characters of the patches of a later merge, and later merges that touch the same files
_LEAD, _MAX_PATCH, _MAX_TOUCHING = 3, 20_000, 40
# shares to reach: repairs that a finding names, findings that are true; and the most that are negligible
LEAST_NAMED, LEAST_TRUE, MOST_NEGLIGIBLE = 0.7, 0.7, 0.15


class LaterMerge(Part):
    """A merge that reverts another one or says that it repairs it."""

    number: int
    at: datetime


class KeyedMerge(Part):
    """A merge of a day: its points by the rules, and what came of it. ``prompt`` is 0 if it is not read."""

    prompt: int
    number: int
    points: float
    later: tuple[LaterMerge, ...]


class DayKey(Part):
    """What no reader may see: what came of the merges of each day."""

    days: dict[str, tuple[KeyedMerge, ...]]

    @property
    def merges(self) -> tuple[KeyedMerge, ...]:
        return tuple(merge for merges in self.days.values() for merge in merges)


class Verdict(Part):
    """What a judge says of the findings of a merge, and which of them, from 1, names each later merge's defect."""

    findings: tuple[Literal["true", "negligible", "false", "undecided"], ...]
    named: Mapping[int, int] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReadMerge:
    """A merge of a day with its reading and its verdict, None if there is none."""

    key: KeyedMerge
    reading: Reading | None
    verdict: Verdict | None

    @property
    def number(self) -> int:
        return self.key.number

    @property
    def risk(self) -> Risk:
        return Risk(self.key.points, ())

    @property
    def review(self) -> BugReview | None:
        return self.reading.review if self.reading else None


def choose_days(
    history: MergeHistory, window: EvaluationWindow, zone: ZoneInfo, count: int, least: int, seed: int
) -> dict[str, tuple[PullRequest, ...]]:
    """Choose days by a hash, among those with at least ``least`` merges that are followed by sixty days."""
    days: dict[str, list[PullRequest]] = {}
    for pull in history.pulls:
        if pull.merge_time in window and history.last - pull.merge_time >= LABEL_MATURITY:
            days.setdefault(str(pull.merge_time.astimezone(zone).date()), []).append(pull)
    eligible = [day for day, pulls in days.items() if len(pulls) >= least]
    drawn = sorted(eligible, key=lambda day: hashlib.sha256(f"day:{seed}:{day}".encode()).hexdigest())[:count]
    return {day: tuple(days[day]) for day in sorted(drawn)}


def describe_days(
    history: MergeHistory, days: Mapping[str, Sequence[PullRequest]], seed: int
) -> tuple[DayKey, list[PullRequest]]:
    """Return the key of some days, and the merges that are read in the order of their prompts."""
    rated = {
        pull.number: assess_pull_request(pull, history.classes, history.past)
        for pulls in days.values()
        for pull in pulls
    }
    read = [
        pull
        for pulls in days.values()
        for pull in pulls
        if should_review(pull, rated[pull.number], history.classes)
    ]
    read.sort(key=lambda pull: hashlib.sha256(f"order:{seed}:{pull.number}".encode()).hexdigest())
    places = {pull.number: place for place, pull in enumerate(read, 1)}

    def describe(pull: PullRequest) -> KeyedMerge:
        events = history.outcomes.get(pull.number, NO_LABELS).events
        later = {by: at for at, by in events if at - pull.merge_time <= LABEL_MATURITY}
        return KeyedMerge(
            prompt=places.get(pull.number, 0),
            number=pull.number,
            # no list has a revert
            points=rated[pull.number].points if rated[pull.number].may_be_listed else 0.0,
            later=tuple(LaterMerge(number=by, at=at) for by, at in later.items()),
        )

    return DayKey(days={day: tuple(map(describe, pulls)) for day, pulls in days.items()}), read


def write_judging(folder: ReadingFolder, history: MergeHistory, settings: Settings) -> int:
    """Write what a judge gets about each merge with a finding or a later repair, and return how many there are."""
    key, plan = read_part(folder.key, DayKey), folder.read_plan()
    reader, by_number, count = CloneReader(Path(plan.clone)), {pull.number: pull for pull in history.pulls}, 0
    for merge in key.merges:
        reading = folder.read_answer(merge.prompt, settings) if merge.prompt else None
        findings = reading.review.findings if reading and reading.review else ()
        if not merge.prompt or not (findings or merge.later):
            continue
        pull = by_number[merge.number]
        later = [by_number[each.number] for each in merge.later if each.number in by_number]
        document = {
            "merge": merge.number,
            "commit": pull.commit,
            "title": pull.title,
            "findings": [asdict(finding) for finding in findings],
            "later": [_describe_later(load_files(reader, each)) for each in later],
            "touching": list(_list_touching(pull, history)),
        }
        write_json(folder.get_file("judge", merge.prompt), document)
        count += 1
    (folder.path / "verdicts").mkdir(exist_ok=True)
    text = _INSTRUCTIONS.read_text(encoding="utf-8").replace("CLONE", plan.clone)
    (folder.path / "JUDGE.md").write_text(text.replace("SPAN", str(LABEL_MATURITY.days)), encoding="utf-8")
    return count


def _describe_later(pull: PullRequest) -> dict[str, object]:
    patches = "\n".join(f"=== {file.path}\n{file.patch or ''}" for file in pull.files or ())
    words = {"number": pull.number, "title": pull.title, "message": pull.body, "commit": pull.commit}
    return {**words, "merged_at": str(pull.merge_time), "patches": patches[:_MAX_PATCH]}


def _list_touching(pull: PullRequest, history: MergeHistory) -> Iterator[str]:
    paths, count = {file.path for file in pull.files or ()}, 0
    for later in history.pulls:
        is_soon = pull.merge_time < later.merge_time <= pull.merge_time + LABEL_MATURITY
        if is_soon and count < _MAX_TOUCHING and any(file.path in paths for file in later.files or ()):
            count += 1
            yield f"{later.merge_time:%Y-%m-%d} {later.commit[:12]} {later.title} (#{later.number})"


def read_days(folder: ReadingFolder, settings: Settings) -> dict[str, tuple[ReadMerge, ...]]:
    """Read what became of each merge. Raises UsageError if a verdict does not fit its findings."""
    key = read_part(folder.key, DayKey)
    return {
        day: tuple(_read_merge(folder, merge, settings) for merge in merges) for day, merges in key.days.items()
    }


def _read_merge(folder: ReadingFolder, merge: KeyedMerge, settings: Settings) -> ReadMerge:
    if not merge.prompt:
        return ReadMerge(merge, None, None)
    reading, path = folder.read_answer(merge.prompt, settings), folder.get_file("verdicts", merge.prompt)
    verdict = read_part(path, Verdict) if path.exists() else None
    count = len(reading.review.findings) if reading.review else 0
    if verdict and (
        len(verdict.findings) != count or any(not 0 <= place <= count for place in verdict.named.values())
    ):
        raise UsageError(
            f"verdicts/{path.name} does not fit its {format_count(count, 'finding')}: judge it again."
        )
    return ReadMerge(merge, reading, verdict)


@dataclass(frozen=True, slots=True)
class DayFigures:
    """The figures of days: counts, and of how many. ``problems`` are merges without a reading or a verdict."""

    merges: int
    read: int
    named: tuple[int, int]
    true: tuple[int, int]
    negligible: tuple[int, int]
    lead: tuple[int, int]
    rules: tuple[int, int]
    recognised: int
    problems: tuple[str, ...]

    @property
    def is_passed(self) -> bool:
        return (
            not self.problems
            and _share(self.named) >= LEAST_NAMED
            and _share(self.true) >= LEAST_TRUE
            and not _share(self.negligible) > MOST_NEGLIGIBLE
        )


def _share(count: tuple[int, int]) -> float:
    return count[0] / count[1] if count[1] else math.nan


def evaluate_days(days: Mapping[str, Sequence[ReadMerge]]) -> DayFigures:
    merges = [merge for each in days.values() for merge in each]
    verdicts = [each for merge in merges if merge.verdict for each in merge.verdict.findings]
    judged = len(verdicts)
    named = sum(
        bool(merge.verdict and merge.verdict.named.get(later.number))
        for merge in merges
        for later in merge.key.later
    )
    # the lead shows findings alone, and only those that its rules admit, so that a quiet day has fewer than three
    leads = [[merge for merge in rank_reviewed(each) if _has_line(merge)][:_LEAD] for each in days.values()]
    rules = [sorted(each, key=lambda merge: -merge.key.points)[:_LEAD] for each in days.values()]
    return DayFigures(
        merges=len(merges),
        read=sum(merge.review is not None for merge in merges),
        named=(named, sum(len(merge.key.later) for merge in merges)),
        true=(verdicts.count("true"), judged),
        negligible=(verdicts.count("negligible"), judged),
        lead=_count_hits(leads),
        rules=_count_hits(rules),
        recognised=sum(bool(merge.reading and merge.reading.is_recognised) for merge in merges),
        problems=tuple(_list_problems(merges)),
    )


def _has_line(merge: ReadMerge) -> bool:
    finding = merge.review.strongest_finding if merge.review else None
    return finding is not None and admit_finding(finding) is not None


def _count_hits(shown: Sequence[Sequence[ReadMerge]]) -> tuple[int, int]:
    merges = [merge for each in shown for merge in each]
    return sum(bool(merge.key.later) for merge in merges), len(merges)


def _list_problems(merges: Sequence[ReadMerge]) -> Iterator[str]:
    for merge in merges:
        if merge.reading and merge.review is None:
            yield f"#{merge.number} is not read: {merge.reading.problem}"
        elif merge.verdict is None and merge.review and (merge.review.findings or merge.key.later):
            yield f"#{merge.number} is not judged"


def format_days(figures: DayFigures, days: Sequence[str]) -> str:
    rows = {
        "Repairs and reverts that a finding names": figures.named,
        "True findings": figures.true,
        "Negligible findings": figures.negligible,
        f"Of the lead's {_LEAD} findings, repaired or reverted": figures.lead,
        f"Of {_LEAD} by the rules alone": figures.rules,
    }
    return "\n".join(
        [
            f"{', '.join(days)}: {figures.read} of {figures.merges} merges read, {figures.recognised} recognised",
            *(f"Problem: {problem}" for problem in figures.problems),
            *(f"{name}: {_format_share(count)}" for name, count in rows.items()),
        ]
    )


def _format_share(count: tuple[int, int]) -> str:
    if not count[1]:
        return "0 of 0"
    low, high = compute_wilson_interval(*count)
    return f"{count[0]} of {count[1]}, {100 * _share(count):.0f} % [{100 * low:.0f} %, {100 * high:.0f} %]"
