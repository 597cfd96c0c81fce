"""Tasks for coding agents, from what is known of a merge and of a team's code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.errors import UsageError
from bot.domain.pull_requests.models import Repository
from bot.domain.pull_requests.path_classes import PathClass, PathClasses
from bot.domain.pull_requests.reference import Reference
from bot.domain.touches.agent_task import AgentTask, build_agent_task
from bot.ports import PullRequests
from bot.render.touches import sentences
from bot.services.touches.reports import TouchReports

if TYPE_CHECKING:
    from bot.features.profiles.service import Profiles


class AgentTasks:
    """Builder of tasks. No model is asked. GitHub is, for the pull request, and for what is not in the cache."""

    def __init__(
        self,
        pulls: PullRequests,
        reports: TouchReports,
        profiles: Profiles,
        path_classes: Callable[[Repository], PathClasses],
    ) -> None:
        self._pulls = pulls
        self._reports = reports
        self._profiles = profiles
        self._path_classes = path_classes

    def build_task(self, profile_name: str, reference: Reference, repositories: AllowedRepositories) -> AgentTask:
        """Build the task for a merge and a profile.

        Raises:
            UsageError: there is no such profile, its lines may not be shown to models, or nothing touches it.
            PrdigestError: the pull request can't be read.
        """
        entry = self._profiles.find_entry(profile_name)
        upstream = repositories.require_known(entry.upstream)
        if upstream != repositories.require_known(reference.repository):
            raise UsageError(sentences.format_other_upstream(entry.name, upstream))
        profile = self._profiles.require_scanned(entry)
        if not profile.explains:
            raise UsageError(sentences.format_hidden_profile(entry.name))
        pull = self._pulls.load_files(self._pulls.fetch_pull_request(upstream, reference.number))
        judged = self._reports.judge_merges(entry.name, [pull])
        merge = next(iter(judged.report.touching), None)
        if merge is None:
            is_unread = bool(judged.report.unread)
            raise UsageError(sentences.format_no_touch(entry.name, reference, is_unread=is_unread))
        classes = self._path_classes(upstream)
        return build_agent_task(
            pull,
            merge,
            judged.contracts[0],
            profile,
            lambda path: classes.classify_path(path) is PathClass.TESTS,
        )
