"""The tools that answer the model's questions about pull requests: read-only, for allowed repositories only.

Every result is limited, says where it was truncated, and is fenced data that cannot forge its fence.
"""

from __future__ import annotations

from typing import Any

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.conversations.thread_subject import ThreadSubject
from bot.domain.conversations.tool_names import ToolName
from bot.domain.digest.models import Entry
from bot.domain.errors import PrdigestError
from bot.domain.pull_requests.discussion import Discussion, Remark
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.pull_requests.path_classes import PathClasses
from bot.domain.summaries.citations import Citation, verify_citation
from bot.domain.summaries.models import Evidence
from bot.domain.time.date_range import Span
from bot.domain.time.day import LocalDay
from bot.platform.models.tools import Tools
from bot.services.questions.archive import DayEntries, PullRequestArchive
from bot.services.questions.background import BackgroundSources
from bot.services.questions.tools.discussion_tools import DiscussionTools
from bot.services.questions.tools.profile_tools import ProfileTools, format_report
from bot.services.questions.tools.provenance import Provenance
from bot.services.questions.tools.pull_request_tools import PullRequestTools
from bot.services.questions.tools.reading_session import ReadingSession
from bot.services.questions.tools.schemas import (
    DiffArguments,
    DiscussionArguments,
    FileArguments,
    ListArguments,
    ProfileArguments,
    PullArguments,
    SearchArguments,
    TakenBackArguments,
    UsesArguments,
)
from bot.services.questions.tools.source_tools import SourceTools
from impact.profile.models import Profile


class Toolbox:
    """The tools for one answer. They remember what was read, and record it in ``provenance``.

    ``tools`` are the same for every question, so that they stay in the service's cache; one more
    in threads about a profile.
    """

    def __init__(
        self,
        archive: PullRequestArchive,
        repositories: AllowedRepositories,
        today: LocalDay,
        subject: ThreadSubject,
    ) -> None:
        self._session = ReadingSession(archive, repositories, today, subject)
        self._pull_requests = PullRequestTools(self._session)
        self._sources = SourceTools(self._session, archive.code)
        self._discussions = DiscussionTools(self._session, archive.background)
        self._subject = subject
        self._background = archive.background
        self._profile = _find_profile(archive.background, subject)
        self.tools: Tools = {
            ToolName.LIST_PULL_REQUESTS: (ListArguments, self._pull_requests.list_pull_requests),
            ToolName.SEARCH: (SearchArguments, self._pull_requests.search_lines),
            ToolName.PULL_REQUEST: (PullArguments, self._pull_requests.describe_pull_request),
            ToolName.READ_DIFF: (DiffArguments, self._pull_requests.read_diff),
            ToolName.TAKEN_BACK: (TakenBackArguments, self._pull_requests.list_reverts),
            ToolName.READ_FILE: (FileArguments, self._sources.read_file),
            ToolName.FIND_USES: (UsesArguments, self._sources.find_uses),
            ToolName.READ_DISCUSSION: (DiscussionArguments, self._discussions.read_discussion),
            **self._list_profile_tools(),
        }

    def _list_profile_tools(self) -> dict[str, Any]:
        """Return the tool over the profile of the thread; none without one."""
        if self._profile is None:
            return {}
        tools = ProfileTools(self._session, self._profile)
        return {ToolName.FIND_PROFILE_USES: (ProfileArguments, tools.find_uses)}

    # access to what was read, for other code

    @property
    def provenance(self) -> Provenance:
        """The record of what was read."""
        return self._session.provenance

    @property
    def span(self) -> Span:
        """The days that apply if none are named."""
        return self._session.span

    def read_subject_days(self) -> DayEntries:
        """Return the days that the thread is about."""
        return self._session.read_subject_days()

    def describe_touches(self) -> str:
        """Return what touches the profile in the days of the thread; empty without a profile."""
        if self._profile is None:
            return ""
        pulls = [entry.pull for entry in self.read_subject_days().entries]
        touched = self._background.read_touches(self._subject.profile, pulls)
        if touched.problem:
            self.provenance.add_gap(touched.problem)
        return format_report(self._session, touched.report) if touched.report else ""

    def get_entry(self, repository: Repository, number: int) -> Entry:
        """Return one pull request. Raises PrdigestError if it is not available."""
        return self._session.get_entry(repository, number)

    def get_path_classes(self, repository: Repository) -> PathClasses:
        """Return the path classes of a repository."""
        return self._session.get_path_classes(repository)

    def find_address(self, number: int) -> str | None:
        """Return the address of a pull request of the thread's repository, None if it is not known to exist."""
        return self._session.find_address(number)

    def find_remark(self, citation: Citation) -> tuple[Discussion, Remark] | None:
        """Return the remark of a valid citation of what somebody wrote, None for all others.

        The quote is in a remark that ``read_discussion`` has shown for this answer.
        """
        return self._discussions.find_remark(citation)

    def find_evidence(self, citation: Citation) -> tuple[PullRequest, Evidence] | None:
        """Return the place of a valid citation, None for an invalid one.

        The quote is in the diff, or in lines of a file that a tool has shown for this answer.
        """
        try:
            reference = self._session.parse_pull_request(citation.pull)
            pull = self._session.get_entry(reference.repository, reference.number).pull
        except PrdigestError:
            return None
        evidence = verify_citation(citation, pull, self._sources.get_excerpts(reference))
        return (pull, evidence) if evidence else None


def _find_profile(background: BackgroundSources, subject: ThreadSubject) -> Profile | None:
    """Return the profile of a thread, if there is one that a model may be shown."""
    if not subject.profile:
        return None
    try:
        profile = background.get_profile(subject.profile)
    except PrdigestError:
        return None
    return profile if profile and profile.explains else None
