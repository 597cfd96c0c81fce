"""The schemas of the tools' arguments, with descriptions of the tools and their fields for the model."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from bot.domain.conversations.search import Where
from bot.platform.models.tools import ToolArguments

_MAX_VALUES = 10
WordList = Annotated[tuple[str, ...], Field(max_length=_MAX_VALUES)]
RiskBandName = Literal["", "low", "middle", "high", "highest"]


class SelectionArguments(ToolArguments):
    """A selection of pull requests; an omitted field selects all."""

    days: str = Field("", description="2026-02-28, 2026-02-22..2026-02-28, 7d; default: this thread's")
    repository: str = Field("", description="owner/name; default: this thread's")
    paths: WordList = Field((), description="globs as in .gitignore: vllm/v1, *.cu, !tests/; any of them")
    areas: WordList = Field((), description="areas as they stand in the lists, or parts of their names")
    authors: WordList = Field((), description="logins")
    merged_by: WordList = Field((), description="logins")
    labels: WordList = ()
    types: Annotated[tuple[Literal["TRIVIAL", "SUBSTANTIAL"], ...], Field(max_length=2)] = ()
    least_risk: RiskBandName = Field("", description="this band of risk or above")


class ListArguments(SelectionArguments):
    """Arguments of the list of pull requests."""

    description: ClassVar[str] = (
        "List the pull requests merged in some days that fit all given filters, newest first."
    )

    words: WordList = Field((), description="any of them in title, description or summary")


class SearchArguments(SelectionArguments):
    """Arguments of the search in diffs or texts."""

    description: ClassVar[str] = (
        "Search diffs or texts of the pull requests of some days for any of the words, whatever their "
        "case; says which pull requests match and shows the lines with file and line number."
    )

    any_of: Annotated[tuple[str, ...], Field(min_length=1, max_length=_MAX_VALUES)]
    where: Where = Field(Where.CHANGED, description="changed_lines (+ and -), diff (also context), or text")


class PullArguments(ToolArguments):
    """Arguments of the tool for one pull request."""

    description: ClassVar[str] = (
        "One pull request: facts, summary by a model, risk with reasons, files; of its author: labels, linked "
        "issues, the start of the description."
    )

    number: Annotated[int, Field(ge=1, lt=1_000_000_000)]
    repository: str = ""


class DiffArguments(ToolArguments):
    """Arguments of the tool that reads a diff."""

    description: ClassVar[str] = (
        "The diff of one pull request, of all files or some, or only the places that contain a text, with the "
        "side and number of each such line."
    )

    number: Annotated[int, Field(ge=1, lt=1_000_000_000)]
    repository: str = ""
    paths: WordList = Field((), description="globs of files")
    contains: str = Field("", max_length=200)


class TakenBackArguments(ToolArguments):
    """Arguments of the list of reverts and repairs."""

    description: ClassVar[str] = (
        "What was reverted or repaired in some days, by which pull request, with what it says of why; and "
        "which pull requests the risk rules rate highest, with their reasons."
    )

    days: str = ""
    repository: str = ""


class FileArguments(ToolArguments):
    """Arguments of the tool that reads a part of a file."""

    description: ClassVar[str] = (
        "Up to 200 lines of any file of the repository as it is after a pull request, changed by it or not: from "
        "a line on, or around a name (where it is defined first)."
    )

    number: Annotated[int, Field(ge=1, lt=1_000_000_000)]
    repository: str = ""
    path: Annotated[str, Field(min_length=1, max_length=1_000)]
    first: Annotated[int, Field(ge=1, lt=1_000_000_000)] = 1
    last: int = Field(0, ge=0, lt=1_000_000_000, description="default: 200 lines")
    around: str = Field("", max_length=200, description="a name, in place of lines")


class UsesArguments(ToolArguments):
    """Arguments of the search for a name."""

    description: ClassVar[str] = (
        "The lines that have a name as a whole word, as they are after a pull request: of all files, or only of "
        "those that it changed; the result says which."
    )

    number: Annotated[int, Field(ge=1, lt=1_000_000_000)]
    repository: str = ""
    name: Annotated[str, Field(min_length=1, max_length=200)]


class ProfileArguments(ToolArguments):
    """Arguments of the search in a team's own tree."""

    description: ClassVar[str] = (
        "Where the readers' own code uses something of this repository: the lines that use a name, or those of a "
        "file of theirs, with their place."
    )

    name: Annotated[str, Field(min_length=1, max_length=200)] = Field(
        description="a name or its last parts (Scheduler.schedule, VLLM_USE_V1, --max-model-len), or a path"
    )


class DiscussionArguments(ToolArguments):
    """Arguments of the tool that reads a discussion."""

    description: ClassVar[str] = (
        "What people wrote about one pull request: the issues that it closes, comments, reviews and threads on "
        "lines, each with its place, author and role. It is what they say, not fact."
    )

    number: Annotated[int, Field(ge=1, lt=1_000_000_000)]
    repository: str = ""
