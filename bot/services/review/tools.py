"""The tools of a review: they read the source at the merge commit of one pull request."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bot.domain.conversations.tool_names import ToolName
from bot.domain.errors import SourceUnavailable, UsageError
from bot.domain.pull_requests.diff import DiffSide, split_hunks
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.platform.models.tools import ToolArguments, Tools
from bot.platform.source import CodeSources, PullSource
from bot.ports import SourceFiles
from bot.services.review.schemas import FindUsesArguments, ListChangesArguments, ReadFileArguments
from impact.source.models import SourceFile

log = logging.getLogger(__name__)

# requests to GitHub for files of one review, besides those of its summary
MAX_FILE_REQUESTS = 3


def build_review_tools(source: PullSource, *, has_history: bool) -> Tools:
    """Build the tools over the files of one pull request. ``has_history``: there is a mirror."""

    def read_file(arguments: ReadFileArguments) -> str:
        return source.read_part(arguments.path.strip(), arguments.first, arguments.last, arguments.around)

    def find_uses(arguments: FindUsesArguments) -> str:
        return source.find_uses(arguments.name.strip())

    def list_changes(arguments: ListChangesArguments) -> str:
        return source.list_changes(arguments.path.strip())

    tools: dict[str, tuple[type[ToolArguments], Callable[[Any], str]]] = {
        ToolName.READ_FILE: (ReadFileArguments, read_file),
        ToolName.FIND_USES: (FindUsesArguments, find_uses),
    }
    if has_history:
        tools[ToolName.LIST_CHANGES] = (ListChangesArguments, list_changes)
    return tools


def has_commit(code: CodeSources, pull: PullRequest) -> bool:
    """Return whether there is a mirror that has the commit of a pull request."""
    if code.search is None or not pull.files:
        return False
    try:
        code.search.list_changes(pull.repository, pull.commit, pull.files[0].path, 1)
    except (SourceUnavailable, UsageError) as error:
        log.info("%s#%d is reviewed without a mirror: %s", pull.repository, pull.number, error)
        return False
    return True


def limit_requests(code: CodeSources) -> CodeSources:
    """Return sources without a mirror that read files at most ``MAX_FILE_REQUESTS`` times."""
    return CodeSources(LimitedSourceFiles(code.files, MAX_FILE_REQUESTS) if code.files else None)


def list_added_files(pull: PullRequest) -> Mapping[str, SourceFile]:
    """Return the files that a pull request added, whose patches are the whole files."""
    added = {
        file.path: [line.text for _, lines in split_hunks(file.patch) for line in lines]
        for file in pull.files or ()
        if file.status == "added" and file.patch and not file.unread
    }
    return {path: SourceFile(path, "".join(f"{line}\n" for line in lines)) for path, lines in added.items()}


class LimitedSourceFiles:
    """``SourceFiles`` that is asked at most ``most`` times."""

    def __init__(self, files: SourceFiles, most: int) -> None:
        self._files = files
        self._left = most
        self._lock = threading.Lock()

    def read_files(
        self, repository: Repository, commit: str, paths: Sequence[str], side: DiffSide = DiffSide.NEW
    ) -> Mapping[str, SourceFile]:
        """Return each file of ``paths``. Raises SourceUnavailable after the last request."""
        with self._lock:
            self._left -= 1
            if self._left < 0:
                raise SourceUnavailable("This review has read as many files as it may.")
        return self._files.read_files(repository, commit, paths, side)
