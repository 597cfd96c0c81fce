"""What a thread of the bot's is about: days of a repository, or a few of its pull requests."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.conversations.commands import AllowedRepositories, DigestRequest, RisksRequest, SummaryRequest
from bot.domain.errors import UsageError
from bot.domain.keyspace.keys import parse_digest_key
from bot.domain.pull_requests.models import Repository
from bot.domain.time.date_range import Span, parse_span
from bot.domain.time.day import LocalDay, TodayProvider

# a date, or the first and last of several
_DAYS_PATTERN = re.compile(r"[\d.-]+")


class SubjectKind(StrEnum):
    """What a message answers; with the request as it would be typed, it says what its thread is about."""

    DIGEST = "digest"
    RISKS = "risks"
    SUMMARY = "summary"

    def format_subject(self, request: object) -> str:
        """As it is kept with a message."""
        return f"{self} {request}"


@dataclass(frozen=True, slots=True)
class ThreadSubject:
    """Days of a repository, narrowed to ``numbers`` where a thread is about single pull requests."""

    repository: Repository
    span: Span
    numbers: tuple[int, ...] = ()


def get_default_subject(repositories: AllowedRepositories, today: LocalDay) -> ThreadSubject:
    """What people mean who don't say it: yesterday, in the first repository."""
    return ThreadSubject(repositories.default, parse_span("yesterday", today, 1))


def parse_subject(
    about: str, repositories: AllowedRepositories, today: LocalDay, today_in: TodayProvider | None = None
) -> ThreadSubject:
    """What a thread is about, from what is kept with its first message, or from the key of a digest.

    What can't be read, or is about a repository that the bot no longer speaks of, is the usual subject.
    """
    # of one that was posted before messages said what they are about
    if (digest := parse_digest_key(about)) and _DAYS_PATTERN.fullmatch(digest.days):
        about = SubjectKind.DIGEST.format_subject(f"{digest.days} repo:{digest.repository}")
    kind, _, request = about.partition(" ")
    try:
        return _parse_request(kind, request, repositories, today, today_in)
    except (UsageError, ValueError):
        return get_default_subject(repositories, today)


def _parse_request(
    kind: str, request: str, repositories: AllowedRepositories, today: LocalDay, today_in: TodayProvider | None
) -> ThreadSubject:
    match SubjectKind(kind):
        case SubjectKind.SUMMARY:
            references = SummaryRequest.parse(request, repositories).references
            repository = references[0].repository
            numbers = tuple(one.number for one in references if one.repository == repository)
            return ThreadSubject(repository, get_default_subject(repositories, today).span, numbers)
        case SubjectKind.RISKS:
            risks = RisksRequest.parse(request, repositories, today)
            return ThreadSubject(risks.repository, risks.span)
        case SubjectKind.DIGEST:
            digest = DigestRequest.parse(request, repositories, today, today_in)
            return ThreadSubject(digest.repository, digest.span)
