"""The merges of some weeks as stories: a series is one, superseded bumps are one, what was reverted is none."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.history.pull_outcomes import MergeOutcome, RevertIndex
from bot.domain.pull_requests.models import PullRequest
from impact.history.merge_index import build_title_key
from impact.history.outcomes import OutcomeKind, find_outcomes
from impact.text.description import extract_prose

# characters of a title that are read
_MAX_TITLE = 300
_TAG = re.compile(r"\[(?P<tag>[^\[\]]{1,60})\]|\((?P<round>[^()]{1,60})\)")
_STEP = re.compile(
    r"(?P<at>\d{1,3})\s?/\s?(?P<of>\d{1,3}|[a-z])|(?:part|pt\.?|phase|step|stage)\s(?P<part>\d{1,3}|i{1,3}|iv|v)",
    re.I,
)
_BARE_STEP = re.compile(r"[-:,\u2013\u2014]?\s\b(?:part|pt\.?|phase|step)\s(?P<part>\d{1,3}|i{1,3}|iv|v)\b", re.I)
_FOLLOW_UP = re.compile(
    r"\bfollow(?:s|ing)?[\s-]?up\b(?:[^.#\n]|\.(?!\s)){0,60}?(?:#|/pull/)(?P<number>[1-9]\d{0,8})(?!\d)", re.I
)
_BUMP = re.compile(
    r"(?:bump|upgrade|update|pin)\s(?P<name>[\w./@-]{2,60})(?:\sversion)?(?:\sfrom\s\S{1,40})?\sto\sv?\d", re.I
)
_WORD = re.compile(r"[a-z][a-z0-9_]{2,}")
_COMMON_WORDS = frozenset(
    "add fix the and for from with into use support remove refactor update feature core".split()
)


class StoryKind(StrEnum):
    """Why merges are one story."""

    SINGLE = "single"
    SERIES = "series"
    BUMPS = "bumps"


@dataclass(frozen=True, slots=True)
class Story:
    """Merges that belong together, oldest first, at least one."""

    kind: StoryKind
    pulls: tuple[PullRequest, ...]

    @property
    def latest(self) -> PullRequest:
        """The newest merge, which stands for the story."""
        return self.pulls[-1]

    @property
    def numbers(self) -> frozenset[int]:
        """The numbers of its pull requests."""
        return frozenset(pull.number for pull in self.pulls)


@dataclass(frozen=True, slots=True)
class StoryList:
    """The stories of some merges, newest first, and the pairs of which one reverted the other, left out."""

    stories: tuple[Story, ...]
    taken_back: tuple[MergeOutcome, ...] = ()


def build_stories(index: RevertIndex) -> StoryList:
    """Sort the merges of an index into stories.

    Reverts of earlier merges stay; both merges of a pair within these do not.
    """
    pulls, outcomes = index.merges.by_number.values(), find_outcomes(index)
    taken_back = tuple(each for each in outcomes if each.stands and each.kind is OutcomeKind.REVERTED)
    gone = {number for each in taken_back for number in (each.pull.number, each.by.number)}
    ordered = sorted(
        (pull for pull in pulls if pull.number not in gone), key=lambda pull: (pull.merge_time, pull.number)
    )
    stories = sorted(_group_pulls(ordered), key=lambda story: (story.latest.merge_time, story.latest.number))
    return StoryList(tuple(reversed(stories)), taken_back)


def _group_pulls(pulls: Sequence[PullRequest]) -> Iterator[Story]:
    bumps: dict[str, list[PullRequest]] = defaultdict(list)
    others: list[PullRequest] = []
    for pull in pulls:
        name = _find_bumped(pull.title)
        (bumps[name] if name else others).append(pull)
    for same in bumps.values():
        yield Story(StoryKind.BUMPS if len(same) > 1 else StoryKind.SINGLE, tuple(same))
    for members in _group_series(others):
        yield Story(StoryKind.SERIES if len(members) > 1 else StoryKind.SINGLE, members)


def _group_series(pulls: Sequence[PullRequest]) -> Iterator[tuple[PullRequest, ...]]:
    groups = _Groups(pull.number for pull in pulls)
    series: dict[tuple[str, str], list[PullRequest]] = defaultdict(list)
    for pull in pulls:
        if (total := _find_total(pull.title)) is not None:
            series[_list_tags(pull.title), total].append(pull)
        for number in _list_followed(pull):
            groups.join(pull.number, number)
    for steps in series.values():
        _join_steps(groups, steps)
    by_number = {pull.number: pull for pull in pulls}
    for numbers in groups.list_groups():
        yield tuple(by_number[number] for number in numbers)


class _Groups:
    """Numbers in groups that can be joined, in the order of the first number of each."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self._parents = {number: number for number in numbers}

    def join(self, number: int, other: int) -> None:
        """Join the groups of two numbers; nothing for a number that is not here."""
        if number in self._parents and other in self._parents:
            first, second = self._find_root(number), self._find_root(other)
            self._parents[first] = second

    def list_groups(self) -> Iterable[list[int]]:
        """Return the numbers of each group."""
        groups: dict[int, list[int]] = defaultdict(list)
        for number in self._parents:
            groups[self._find_root(number)].append(number)
        return groups.values()

    def _find_root(self, number: int) -> int:
        while self._parents[number] != number:
            # each look shortens the way of the next one
            self._parents[number] = self._parents[self._parents[number]]
            number = self._parents[number]
        return number


def _join_steps(groups: _Groups, steps: Sequence[PullRequest]) -> None:
    """Join steps with the same marks that have a word of their subject in common."""
    latest: dict[str, int] = {}
    for pull in steps:
        words = _list_subject_words(pull.title)
        near = [latest[word] for word in words if word in latest]
        for number in near or ([latest[""]] if "" in latest and not words else []):
            groups.join(pull.number, number)
        latest.update(dict.fromkeys(words or ("",), pull.number))


def _find_total(title: str) -> str | None:
    """Return of how many a title says that it is a step: a number, a letter, or nothing; None for no step."""
    for match in _TAG.finditer(title[:_MAX_TITLE]):
        if step := _STEP.fullmatch((match["tag"] or match["round"]).strip()):
            return (step["of"] or "").casefold()
    return "" if _BARE_STEP.search(title[:_MAX_TITLE]) else None


def _list_tags(title: str) -> str:
    """Return the tags in brackets of a title, without those that count steps."""
    tags = (match["tag"] for match in _TAG.finditer(title[:_MAX_TITLE]) if match["tag"])
    return " ".join(sorted({tag.casefold().strip() for tag in tags if not _STEP.fullmatch(tag.strip())}))


def _list_subject_words(title: str) -> frozenset[str]:
    subject = _BARE_STEP.sub(" ", _TAG.sub(" ", title[:_MAX_TITLE]))
    return frozenset(_WORD.findall(build_title_key(subject))) - _COMMON_WORDS


def _find_bumped(title: str) -> str:
    """Return what a title says is set to another version, empty if it says no such thing."""
    subject = _TAG.sub(" ", title[:_MAX_TITLE])
    match = _BUMP.search(subject)
    return match["name"].casefold() if match else ""


def _list_followed(pull: PullRequest) -> list[int]:
    """Return the numbers that a pull request says that it follows up on."""
    texts = (pull.title[:_MAX_TITLE], extract_prose(pull.body) if "ollow" in pull.body else "")
    return [int(match["number"]) for text in texts for match in _FOLLOW_UP.finditer(text)]
