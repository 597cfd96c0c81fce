"""Tools that read the source as it is after a pull request: for questions, for reviews, and for agents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from bot.platform.models.tools import ToolArguments, ToolName
from bot.platform.source.excerpts import MAX_EXCERPT_LINES
from bot.platform.source.packages import read_package, search_package
from bot.platform.source.reading import MAX_CHANGES, MAX_USES, CodeSources, PullSource

MAX_LINE_NUMBER, MAX_PATH_LENGTH = 1_000_000_000, 1_000
_IN_TREE = "It says 'not in the tree' or 'could not be read', which are two things."


class ReadFileArguments(ToolArguments):
    description: ClassVar[str] = (
        f"Up to {MAX_EXCERPT_LINES} lines of any file of the repository as it is after the pull request, changed "
        f"by it or not: from a line on, or around a name. {_IN_TREE}"
    )

    path: Annotated[str, Field(min_length=1, max_length=MAX_PATH_LENGTH)]
    first: Annotated[int, Field(ge=1, lt=MAX_LINE_NUMBER)] = 1
    last: int = Field(0, ge=0, lt=MAX_LINE_NUMBER, description=f"default: {MAX_EXCERPT_LINES} lines")
    around: str = Field(
        "",
        max_length=200,
        description="a name, in place of lines: where it is defined first, then its other uses from the top",
    )


class FindUsesArguments(ToolArguments):
    description: ClassVar[str] = (
        f"Up to {MAX_USES} lines that have a name as a whole word after the pull request. They are of the whole "
        f"tree, or only of the files that it changed; the result says which. {_IN_TREE}"
    )

    name: Annotated[str, Field(min_length=1, max_length=200)]
    part: bool = Field(default=False, description="find it inside of longer words, too")


class ListChangesArguments(ToolArguments):
    description: ClassVar[str] = (
        f"The last {MAX_CHANGES} commits up to the merge that changed a file or folder, with their titles."
    )

    path: Annotated[str, Field(min_length=1, max_length=MAX_PATH_LENGTH)]


class FindRequirementsArguments(ToolArguments):
    description: ClassVar[str] = (
        f"Up to {MAX_USES} lines of the tree's lists of requirements, lock files and Dockerfiles that name a "
        "package: which versions are required or pinned, and by which file."
    )

    package: str = Field(min_length=1, max_length=100, description="a package's name, or a part of it")


_PINNED = (
    "a package in the exact version that the tree pins, from the package index. It says 'not pinned', 'no wheel' "
    "or 'could not be read', which are three things."
)


class _PackageArguments(ToolArguments):
    package: str = Field(min_length=1, max_length=100)
    version: str = Field("", max_length=60, description="only where the tree pins several")


class SearchPackageArguments(_PackageArguments):
    description: ClassVar[str] = f"Up to {MAX_USES} lines that have a name as a whole word, of {_PINNED}"

    name: Annotated[str, Field(min_length=1, max_length=200)]
    part: bool = Field(default=False, description="find it inside of longer words, too")


class ReadPackageArguments(_PackageArguments):
    description: ClassVar[str] = (
        f"Up to {MAX_EXCERPT_LINES} lines of a file of {_PINNED} The lines are from one on, or around a name."
    )

    path: str = Field(min_length=1, max_length=MAX_PATH_LENGTH, description="as in the wheel: flash_attn/ops.py")
    first: Annotated[int, Field(ge=1, lt=MAX_LINE_NUMBER)] = 1
    last: Annotated[int, Field(ge=0, lt=MAX_LINE_NUMBER)] = 0
    around: Annotated[str, Field(max_length=200)] = ""


def _read_file(source: PullSource, arguments: ReadFileArguments) -> str:
    return source.read_part(arguments.path.strip(), arguments.first, arguments.last, arguments.around)


def _find_uses(source: PullSource, arguments: FindUsesArguments) -> str:
    return source.find_uses(arguments.name.strip(), is_part=arguments.part)


def _list_changes(source: PullSource, arguments: ListChangesArguments) -> str:
    return source.list_changes(arguments.path.strip())


def _find_requirements(source: PullSource, arguments: FindRequirementsArguments) -> str:
    return source.find_requirements(arguments.package.strip())


def _search_package(source: PullSource, asked: SearchPackageArguments) -> str:
    return search_package(source, asked.package, asked.version, asked.name.strip(), is_part=asked.part)


def _read_package(source: PullSource, asked: ReadPackageArguments) -> str:
    path = asked.path.strip()
    return read_package(source, asked.package, asked.version, path, asked.first, asked.last, asked.around)


# by name: the arguments of each, and the function that gets the source and them
SOURCE_TOOLS: Mapping[str, tuple[type[ToolArguments], Callable[[PullSource, Any], str]]] = {
    ToolName.READ_FILE: (ReadFileArguments, _read_file),
    ToolName.FIND_USES: (FindUsesArguments, _find_uses),
    ToolName.LIST_CHANGES: (ListChangesArguments, _list_changes),
    ToolName.FIND_REQUIREMENTS: (FindRequirementsArguments, _find_requirements),
    ToolName.SEARCH_PACKAGE: (SearchPackageArguments, _search_package),
    ToolName.READ_PACKAGE: (ReadPackageArguments, _read_package),
}
_OF_PACKAGES = frozenset({ToolName.SEARCH_PACKAGE, ToolName.READ_PACKAGE})
# these need a mirror with the commit; the last two a package index, too, as the versions are those of the tree
TREE_TOOLS = frozenset({ToolName.LIST_CHANGES, ToolName.FIND_REQUIREMENTS, *_OF_PACKAGES})


def list_missing_tools(code: CodeSources) -> frozenset[str]:
    """Return the tools that a bot can't offer, as it has no mirror or no package index."""
    if code.search is None:
        return TREE_TOOLS
    return _OF_PACKAGES if code.packages is None else frozenset()
