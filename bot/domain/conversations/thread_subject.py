"""What a thread of the bot's is about: days of a repository, or a few of its pull requests."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.conversations.commands import DigestRequest, Repositories, RisksRequest, SummaryRequest
from bot.domain.errors import UsageError
from bot.domain.keyspace.keys import parse_digest
from bot.domain.pull_requests.models import Repository
from bot.domain.time.date_range import Span, parse_span
from bot.domain.time.day import LocalDay, TodayProvider

# a date, or the first and last of several
_DAYS = re.compile(r"[\d.-]+")


class About(StrEnum):
    """What a message answers; with the request as it would be typed, it says what its thread is about."""

    DIGEST = "digest"
    RISKS = "risks"
    SUMMARY = "summary"

    def of(self, request: object) -> str:
        """As it is kept with a message."""
        return f"{self} {request}"


@dataclass(frozen=True, slots=True)
class Subject:
    """Days of a repository, narrowed to ``numbers`` where a thread is about single pull requests."""

    repository: Repository
    span: Span
    numbers: tuple[int, ...] = ()


def usual_subject(repositories: Repositories, today: LocalDay) -> Subject:
    """What people mean who don't say it: yesterday, in the first repository."""
    return Subject(repositories.default, parse_span("yesterday", today, 1))


def subject_of(
    about: str, repositories: Repositories, today: LocalDay, today_in: TodayProvider | None = None
) -> Subject:
    """What a thread is about, from what is kept with its first message, or from the key of a digest.

    What can't be read, or is about a repository that the bot no longer speaks of, is the usual subject.
    """
    # of one that was posted before messages said what they are about
    if (digest := parse_digest(about)) and _DAYS.fullmatch(digest.days):
        about = About.DIGEST.of(f"{digest.days} repo:{digest.repository}")
    kind, _, request = about.partition(" ")
    try:
        return _parsed(kind, request, repositories, today, today_in)
    except (UsageError, ValueError):
        return usual_subject(repositories, today)


def _parsed(
    kind: str, request: str, repositories: Repositories, today: LocalDay, today_in: TodayProvider | None
) -> Subject:
    match About(kind):
        case About.SUMMARY:
            named = SummaryRequest.parse(request, repositories).references
            repository = named[0].repository
            numbers = tuple(one.number for one in named if one.repository == repository)
            return Subject(repository, usual_subject(repositories, today).span, numbers)
        case About.RISKS:
            risks = RisksRequest.parse(request, repositories, today)
            return Subject(risks.repository, risks.span)
        case About.DIGEST:
            digest = DigestRequest.parse(request, repositories, today, today_in)
            return Subject(digest.repository, digest.span)
