"""The subject of a thread with the bot: days of a repository, or a few of its pull requests."""

from __future__ import annotations

from dataclasses import dataclass

from bot.dates import LocalDay, Span, TodayProvider, parse_span
from bot.errors import UsageError
from bot.features.merges.requests import DigestRequest, RisksRequest, SubjectKind, SummaryRequest
from bot.platform.commands import AllowedRepositories
from impact.repository import Repository


@dataclass(frozen=True, slots=True)
class ThreadSubject:
    """The days of a repository, limited to ``numbers`` if a thread is about single pull requests.

    ``profile`` is the name of the one that they were checked against, empty for none.
    """

    repository: Repository
    span: Span
    numbers: tuple[int, ...] = ()
    profile: str = ""


def get_default_subject(repositories: AllowedRepositories, today: LocalDay) -> ThreadSubject:
    """Return the subject of a question without one: yesterday, in the first repository."""
    return ThreadSubject(repositories.default, parse_span("yesterday", today, 1))


def parse_subject(
    about: str, repositories: AllowedRepositories, today: LocalDay, today_in: TodayProvider | None = None
) -> ThreadSubject:
    """Parse the subject stored with a thread's first message.

    An unreadable subject, or one about a repository that the bot may no longer answer about, becomes the default
    one.
    """
    kind, _, request = about.partition(" ")
    default = get_default_subject(repositories, today)
    try:
        match kind:
            case SubjectKind.SUMMARY:
                references = SummaryRequest.parse(request, repositories).references
                repository = references[0].repository
                numbers = tuple(each.number for each in references if each.repository == repository)
                return ThreadSubject(repository, default.span, numbers)
            case SubjectKind.RISKS:
                risks = RisksRequest.parse(request, repositories, today)
                return ThreadSubject(risks.repository, risks.span, profile=risks.profile)
            case SubjectKind.DIGEST:
                digest = DigestRequest.parse(request, repositories, today, today_in)
                return ThreadSubject(digest.repository, digest.span, profile=digest.view.profile)
    except UsageError:
        pass
    return default
