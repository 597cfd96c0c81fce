"""The arguments of the tools that answers in Slack do not have, and those that turn the pages of a result."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, ClassVar, cast

from pydantic import Field, create_model

from bot.features.questions.tools import ProfileArguments, WordList
from bot.platform.models.tools import ToolArguments

_MAX_NUMBER = 1_000_000_000
# characters of a page: some 1,500 tokens
DEFAULT_LENGTH, _MAX_LENGTH = 6_000, 24_000
DEFAULT_LIMIT, _MAX_LIMIT = 20, 100
_MAX_TRACEBACK = 100_000
_OFFSET = "where the page begins: next_offset of the page before"
# answers take these from their thread; an agent has none
_DEFAULTS: dict[str, Any] = {
    "days": (
        str,
        Field("", max_length=60, description="2026-02-28, 2026-02-22..2026-02-28 or 7d; default: yesterday"),
    ),
    "repository": (str, Field("", max_length=200, description="owner/name; default: the first that is watched")),
}

Number = Annotated[int, Field(ge=1, lt=_MAX_NUMBER)]
ProfileName = Annotated[str, Field(max_length=40, description="name of a profile; default: the only one")]


class PageArguments(ToolArguments):
    """Which page of a result is shown."""

    offset: int = Field(0, ge=0, lt=_MAX_NUMBER, description=_OFFSET)

    @property
    def size(self) -> int:
        """The most characters of the page of a text, or items of that of a list."""
        raise NotImplementedError


class TextPageArguments(PageArguments):
    """The page of a text."""

    length: int = Field(DEFAULT_LENGTH, ge=500, le=_MAX_LENGTH, description="most characters of the page")

    @property
    def size(self) -> int:
        """The most characters."""
        return self.length


class ListPageArguments(PageArguments):
    """The page of a list."""

    limit: int = Field(DEFAULT_LIMIT, ge=1, le=_MAX_LIMIT, description="most items of the page")

    @property
    def size(self) -> int:
        """The most items."""
        return self.limit


# what does not change a result, only what is shown of it
PAGE_FIELDS = {*TextPageArguments.model_fields, *ListPageArguments.model_fields}


@cache
def add_pages(shape: type[ToolArguments], page: type[PageArguments]) -> type[PageArguments]:
    """Return the arguments of a tool with those of its pages, and with defaults that need no thread."""
    defaults = {name: field for name, field in _DEFAULTS.items() if name in shape.model_fields}
    # with both as its bases
    return cast("type[PageArguments]", create_model(f"Paged{shape.__name__}", __base__=(shape, page), **defaults))


class ReportArguments(ToolArguments):
    """Arguments of the reports of days."""

    description: ClassVar[str] = (
        "The report of each of some days: every merged pull request with its summary, risk and files, as posted "
        "with the digest. A day has one once its digest was made."
    )

    days: str = ""
    repository: str = ""


class MergeArguments(ToolArguments):
    """The merges that a tool is about: one, or those of some days."""

    number: int = Field(0, ge=0, lt=_MAX_NUMBER, description="a pull request, in place of days")
    days: str = ""
    repository: str = ""


class OutcomeArguments(MergeArguments):
    """Arguments of the outcomes of merges."""

    description: ClassVar[str] = (
        "What became of merges: which were reverted or repaired, by which later one, and whether that still "
        "stands. Of one pull request, or of all that were merged in some days."
    )


class FileAtCommitArguments(ToolArguments):
    """Arguments of the tool that reads a file at a commit."""

    description: ClassVar[str] = (
        "Up to 200 lines of a file as it is at a commit: from a line on, or around a name."
    )

    commit: Annotated[str, Field(pattern=r"^[0-9a-fA-F]{7,40}$", description="hash, 7 to 40 digits")]
    repository: str = ""
    path: Annotated[str, Field(min_length=1, max_length=1_000)]
    first: Number = 1
    last: int = Field(0, ge=0, lt=_MAX_NUMBER, description="default: 200 lines")
    around: str = Field("", max_length=200, description="a name, in place of lines")


class ContractArguments(MergeArguments):
    """Arguments of the list of contract changes."""

    description: ClassVar[str] = (
        "What merges change for those who build on the repository: functions, classes, flags, environment "
        "variables, endpoints and the like that were removed, moved, renamed or got another signature or default. "
        "Each has the line before and after, and how upstream changed its own callers. Of one pull request or of "
        "days."
    )

    paths: WordList = Field((), description="globs of changed files, as in .gitignore")
    name: str = Field("", max_length=200, description="a part of the changed name")


class SuspectArguments(ToolArguments):
    """Arguments of the search for the cause of an error."""

    description: ClassVar[str] = (
        "Which merges explain an error, the likeliest first, each with the changed line that it rests on. Code "
        "compares the names in the error with what merges changed."
    )

    traceback: Annotated[
        str, Field(min_length=1, max_length=_MAX_TRACEBACK, description="the whole traceback, or its last line")
    ]
    since: Annotated[
        str,
        Field(
            pattern=r"^(?:[0-9a-f]{7,40}|\d{4}-\d\d-\d\d|\d{1,3}[dw])$",
            description="last commit or day that worked",
        ),
    ]
    repository: str = ""


class TouchArguments(ToolArguments):
    """Arguments of the touches of a profile."""

    description: ClassVar[str] = (
        "What the merges of some days do to a team's own code: each merge that breaks, may break or touches it. "
        "Each has the changed name, the reason, what to do, and the team's files and lines that use it."
    )

    days: str = ""
    profile: ProfileName = ""


class UpgradeArguments(ToolArguments):
    """Arguments of the upgrade plan."""

    description: ClassVar[str] = (
        "What a team has to do to move from a commit to the newest one, by its own files. A long way takes "
        "several calls: what was read is kept."
    )

    start: str = Field("", max_length=100, description="commit or tag; default: what the team's tree pins")
    profile: ProfileName = ""


class ProfileUseArguments(ProfileArguments):
    """Arguments of the search in a team's own tree."""

    description: ClassVar[str] = (
        "Where a team's own code uses something of the repository: the lines that use a name, or those of a file "
        "of theirs, with their place."
    )

    profile: ProfileName = ""
