"""What a person mutes, what lines of leads have in common, when "Less like …" weighs, and what is counted.

A mute folds merges where its person reads alone. Clicks count by what lines have in common. Nothing that is shown
names a person.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import logging
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.dates import LocalDay, parse_coming_day
from bot.errors import UsageError
from bot.features.merges.summary import RiskKind, Summary
from bot.features.merges.view import LeadRule
from bot.platform.commands import AllowedRepositories, QueryOptions
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.paths import Filters
from bot.platform.slack.blocks import (
    UNKNOWN_BUTTON,
    VERSION_MARK,
    Element,
    make_button,
    make_plain_text,
    remove_mark,
)
from impact.repository import Repository
from impact.text.strings import collapse_lines, quote_input

log = logging.getLogger(__name__)

_DAY = timedelta(days=1)

# --- what a person mutes

_MUTE_DAYS = 90  # without a day: what somebody forgot must not hide anything for good
_MAX_VALUE = 80  # characters of a name
_MAX_FOLDED = 200  # of one button, whose value has 2,000 characters
_SECURITY = re.compile(
    r"\bsecurity\b|\bvulnerab|\bexploit|\bCVE-\d{4}-\d|\bGHSA-\w|\bcode execution\b|\bpath traversal\b|"
    r"\b(?:RCE|XSS|SSRF|DoS)\b|\bdenial of service\b",
    re.I,
)
MUTED = "muted"


class MuteKind(StrEnum):
    REPOSITORY = "repo"
    AREA = "area"
    AUTHOR = "author"


@dataclass(frozen=True, slots=True)
class Mute:
    """Something that a person mutes, before the day ``until``."""

    kind: MuteKind
    value: str
    until: dt.date

    def __str__(self) -> str:
        return f'{self.kind}:"{self.value}"' if " " in self.value else f"{self.kind}:{self.value}"

    @property
    def key(self) -> tuple[MuteKind, str]:
        return self.kind, self.value.casefold()

    def is_match(self, pull: PullRequest, area: str) -> bool:
        if self.kind is MuteKind.AUTHOR:
            return Filters(authors=(self.value,)).may_match(pull)
        return (str(pull.repository) if self.kind is MuteKind.REPOSITORY else area).casefold() == self.key[1]


def is_security(pull: PullRequest, summary: Summary | None = None) -> bool:
    """Return whether a merge may be about security, by its title, its labels, or the risks of its summary."""
    is_risk = summary is not None and any(risk.kind is RiskKind.SECURITY for risk in summary.risks)
    return is_risk or any(_SECURITY.search(text) for text in (pull.title, *pull.labels))


def is_muted(mutes: Iterable[Mute], pull: PullRequest, area: str, summary: Summary | None = None) -> bool:
    return any(each.is_match(pull, area) for each in mutes) and not is_security(pull, summary)


def parse_mutes(text: str, repositories: AllowedRepositories, today: LocalDay) -> tuple[Mute, ...]:
    """Parse what follows ``mute`` or ``unmute``, such as ``area:LoRA until monday``. Raises UsageError."""
    options = QueryOptions.parse(text, tuple(MuteKind))
    words, until = options.arguments, today.date + _MUTE_DAYS * _DAY
    at = next((place for place, word in enumerate(words) if word.lower() == "until"), len(words))
    if at < len(words):
        until = parse_coming_day(" ".join(words[at + 1 :]), today)
    named = [*options.values.get(MuteKind.REPOSITORY, ()), *words[:at]]
    mutes = [Mute(MuteKind.REPOSITORY, str(repositories.parse_repository(name)), until) for name in named]
    for kind in (MuteKind.AREA, MuteKind.AUTHOR):
        mutes += [Mute(kind, collapse_lines(value), until) for value in options.values.get(kind, ())]
    if not mutes:
        raise UsageError("What? Add a repository, area:… or author:…, such as area:LoRA until monday.")
    for value in (each.value for each in mutes):
        if not 0 < len(value) <= _MAX_VALUE or "*" in value:
            raise UsageError(f"{quote_input(value)} is no name: use up to {_MAX_VALUE} characters, without *.")
    return tuple(mutes)


def make_muted_button(pulls: Sequence[PullRequest]) -> Element | None:
    """Return the button that shows what was folded, of one repository; None if nothing was."""
    if not pulls:
        return None
    dates = [pull.merge_time.date() for pull in pulls]
    numbers = ",".join(str(pull.number) for pull in pulls[:_MAX_FOLDED])
    value = f"{VERSION_MARK}{pulls[0].repository}|{min(dates)}|{max(dates)}|{numbers}"
    return make_button(f"{len(pulls)} muted: show", MUTED, value)


@dataclass(frozen=True, slots=True)
class FoldedMerges:
    """The merges of some UTC dates of a repository that were folded, by number."""

    repository: Repository
    first: dt.date
    last: dt.date
    numbers: tuple[int, ...]

    @classmethod
    def parse(cls, value: str, repositories: AllowedRepositories) -> FoldedMerges:
        """Parse the value of a button, which somebody may have forged. Raises UsageError."""
        try:
            name, first, last, listed = remove_mark(value).split("|")
            dates = dt.date.fromisoformat(first), dt.date.fromisoformat(last)
            numbers = tuple(int(each) for each in listed.split(",")[:_MAX_FOLDED] if len(each) < 10)
        except ValueError as error:
            raise UsageError(UNKNOWN_BUTTON) from error
        # what a page since a day has at most
        if not timedelta() <= dates[1] - dates[0] <= 64 * _DAY:
            raise UsageError(UNKNOWN_BUTTON)
        return cls(repositories.parse_repository(name), *dates, numbers)


# --- "Less like …"

LESS = "less_like"
# "less_wanted": lines with the same area, rule and cause lose their place once so many people of a channel said so
# within the time; each counts less as time goes by. A channel that one person reads needs that one
MIN_PEOPLE, LESS_DAYS, _HALF_LIFE, _MIN_WEIGHT = 3, 60, 30, 0.5
# of a lead, and never the first of a section: a lead says what is riskiest, whatever people like
MAX_LESS_WANTED = 2
# what code or a review proved, and what stops working otherwise, stays
_REFUSABLE = (LeadRule.LIKELY_FINDING, LeadRule.RISKY, LeadRule.SHOULD_ACT, LeadRule.MAY_ACT)
_MAX_OPTIONS, _MAX_LABEL, _MAX_PART = 8, 60, 40


@dataclass(frozen=True, slots=True)
class LineFeature:
    """What lines of leads have in common.

    ``repository`` is a short hash; ``cause`` the strongest rule of a risk, or the rank of an action.
    """

    repository: str
    rule: LeadRule
    cause: str
    area: str

    @classmethod
    def build(cls, repository: Repository, rule: LeadRule, cause: str, area: str) -> LineFeature:
        name = hashlib.sha256(str(repository).lower().encode()).hexdigest()[:6]
        # without a blank at the end, which a value of a button loses
        cause, area = (collapse_lines(part).replace("|", "/")[:_MAX_PART].rstrip() for part in (cause, area))
        return cls(name, rule, cause, area)

    @classmethod
    def parse(cls, text: str) -> LineFeature:
        """Parse the text of a feature, which somebody may have forged. Raises UsageError."""
        try:
            repository, rule, cause, area = collapse_lines(text).split("|")
            if LeadRule(rule) in _REFUSABLE and max(map(len, (repository, cause, area))) <= _MAX_PART:
                return cls(repository, LeadRule(rule), cause, area)
        except ValueError:
            pass
        raise UsageError(UNKNOWN_BUTTON)

    def __str__(self) -> str:
        return "|".join((self.repository, self.rule, self.cause, self.area))

    @property
    def label(self) -> str:
        cause = f", {self.cause.replace('_', ' ').lower()}" if self.cause else ""
        return f"{self.area} ({self.rule.replace('_', ' ')}{cause})"


@dataclass(frozen=True, slots=True)
class LessClick:
    """That a person wants less of a feature, and when (aware) they last said so."""

    user: str
    feature: str
    at: datetime

    def is_over(self, now: datetime) -> bool:
        return now - self.at >= LESS_DAYS * _DAY


def may_be_refused(rule: LeadRule, pull: PullRequest, summary: Summary) -> bool:
    """Return whether a line may be less wanted: no break, no proven bug, no revert, nothing about security."""
    return rule in _REFUSABLE and not is_security(pull, summary)


def select_less_wanted(clicks: Iterable[LessClick], now: datetime, needed: int) -> frozenset[LineFeature]:
    """Return the features that as many people as ``needed`` want less of, of which each has one click for each."""
    weights: dict[str, list[float]] = defaultdict(list)
    for click in clicks:
        if not click.is_over(now):
            weights[click.feature].append(0.5 ** (max(now - click.at, timedelta()) / _DAY / _HALF_LIFE))
    weighing = (
        name for name, each in weights.items() if len(each) >= needed and sum(each) >= needed * _MIN_WEIGHT
    )
    features: set[LineFeature] = set()
    for name in weighing:
        try:
            features.add(LineFeature.parse(name))
        except UsageError:
            # of a rule that has another name by now
            log.warning("clicks on %s are passed over: no line is like it", name)
    return frozenset(features)


def make_less_menu(lines: Iterable[tuple[PullRequest, LineFeature]]) -> Element | None:
    """Return the menu in which people say of which line they want less; None if there is none to choose."""
    named: dict[str, PullRequest] = {}
    for pull, feature in lines:
        named.setdefault(str(feature), pull)
    options = [
        {
            "text": make_plain_text(f"#{pull.number} {pull.title}", _MAX_LABEL),
            "value": f"{VERSION_MARK}{feature}",
        }
        for feature, pull in [*named.items()][:_MAX_OPTIONS]
    ]
    placeholder = make_plain_text("Less like …", _MAX_LABEL)
    menu: Element = {"type": "static_select", "action_id": LESS, "placeholder": placeholder, "options": options}
    return menu if options else None


# --- what people made use of

USE_STEP = 10


class UseKind(StrEnum):
    OPENED = "opened"
    ASKED = "asked about"
    MARKED = "marked"
    LESS = "less like this"
    MUTED = "muted"


@dataclass(frozen=True, slots=True)
class Use:
    user: str
    kind: UseKind
    area: str = ""


# by area and kind, the most first
Usefulness = Mapping[str, Mapping[UseKind, int]]


def count_uses(uses: Iterable[Use]) -> Usefulness:
    """Return how often something was done, rounded down to tens: one more time tells of nobody by the next day.

    What fewer than three people did is left out.
    """
    people: dict[tuple[str, UseKind], list[str]] = defaultdict(list)
    for use in uses:
        people[use.area, use.kind].append(use.user)
    rows: dict[str, dict[UseKind, int]] = defaultdict(dict)
    for (area, kind), users in people.items():
        if len(set(users)) >= MIN_PEOPLE:
            rows[area][kind] = len(users) // USE_STEP * USE_STEP
    return dict(sorted(rows.items(), key=lambda row: (-sum(row[1].values()), row[0])))
