"""Names of the tools that a model, or an agent, may call about pull requests."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class ToolName(StrEnum):
    """A tool, by the name that models call it by."""

    LIST_PULL_REQUESTS = "list_pull_requests"
    SEARCH = "search"
    PULL_REQUEST = "pull_request"
    READ_DIFF = "read_diff"
    TAKEN_BACK = "taken_back"
    READ_FILE = "read_file"
    FIND_USES = "find_uses"
    READ_DISCUSSION = "read_discussion"
    FIND_PROFILE_USES = "find_profile_uses"
    LIST_CHANGES = "list_changes"


# the argument of a search that says whether diffs or texts are searched, as :class:`.search.Where`
WHERE_ARGUMENT: Final = "where"
