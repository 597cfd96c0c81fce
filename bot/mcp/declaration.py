"""A tool of agents: a function with its sentence, and arguments that also turn the pages of its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, signature
from typing import Annotated, Any, Literal, TypeAlias, get_type_hints

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, create_model

from bot.errors import UsageError
from bot.features.questions.reading import ReadingSession
from bot.platform.models.tools import ToolArguments
from impact.coverage import CoveredList
from impact.text.strings import collapse_lines, quote_input, truncate_text

# characters of all arguments of a call
_MAX_INPUT = 8_000
_MAX_NUMBER = 1_000_000_000
_OFFSET = "where the page begins: next_offset of the page before"

# answers in Slack take these from their thread; an agent has none
Days: TypeAlias = Annotated[
    str, Field(max_length=60, description="2026-02-28, 2026-02-22..2026-02-28 or 7d; default: yesterday")
]
RepositoryName: TypeAlias = Annotated[
    str, Field(max_length=200, description="owner/name; default: the first that is watched")
]
ProfileName: TypeAlias = Annotated[
    str, Field(max_length=40, description="name of a profile; default: the only one")
]
Line: TypeAlias = Annotated[int, Field(ge=1, lt=_MAX_NUMBER)]
LastLine: TypeAlias = Annotated[int, Field(ge=0, lt=_MAX_NUMBER, description="default: 200 lines")]
NumberInPlaceOfDays: TypeAlias = Annotated[
    int, Field(ge=0, lt=_MAX_NUMBER, description="a pull request, in place of days")
]


def _check_path(path: str) -> str:
    """Raise UsageError for a path that leads out of a repository, or that no file has."""
    parts = path.strip().split("/")
    if not path.strip().isprintable() or "\\" in path or any(part in ("", ".", "..") for part in parts):
        raise UsageError(f"{quote_input(path)} is no path in a repository: write it as in src/engine/core.py.")
    return path


FilePath: TypeAlias = Annotated[str, Field(min_length=1, max_length=1_000), AfterValidator(_check_path)]


class TextPage(ToolArguments):
    offset: int = Field(0, ge=0, lt=_MAX_NUMBER, description=_OFFSET)
    # the first one has some 1,500 tokens
    length: int = Field(6_000, ge=500, le=24_000, description="most characters of the page")


class ListPage(ToolArguments):
    offset: int = Field(0, ge=0, lt=_MAX_NUMBER, description=_OFFSET)
    limit: int = Field(20, ge=1, le=100, description="most items of the page")


Title: TypeAlias = Annotated[str, BeforeValidator(lambda text: truncate_text(collapse_lines(text), 200))]


class Item(BaseModel):
    """An item of a list, which may be made of a value with the same fields."""

    model_config = ConfigDict(from_attributes=True)


# what does not change a result, only what is shown of it
PAGE_FIELDS = {*TextPage.model_fields, *ListPage.model_fields}


@dataclass(frozen=True, slots=True)
class ItemList:
    """A list, and by name the ``parts`` that stand beside it on its first page."""

    about: str
    items: CoveredList[Any]
    parts: Mapping[str, CoveredList[Any]] = field(default_factory=dict)


Need: TypeAlias = Literal["", "profiles", "clones"]
# a text is shown by pages of characters, a list by pages of items
ToolResult: TypeAlias = str | ItemList


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. ``run`` takes the session of a call and the arguments, and raises PrdigestError.

    ``item`` is the form of an item if the result is a list, ``parts`` have those of its parts. ``needs`` leaves
    the tool out where the operator names no profiles or clones. ``most_input`` is in characters.
    """

    name: str
    title: str
    description: str
    arguments: type[ToolArguments]
    run: Callable[[ReadingSession, Any], ToolResult]
    item: type[BaseModel] | None = None
    needs: Need = ""
    most_input: int = _MAX_INPUT
    parts: Mapping[str, type[BaseModel]] = field(default_factory=dict)


def share_tool(
    name: str, title: str, shape: type[ToolArguments], run: Callable[[ReadingSession, Any], str]
) -> Tool:
    defaults: dict[str, Any] = {"days": (Days, ""), "repository": (RepositoryName, ""), "path": (FilePath, ...)}
    known = {each: default for each, default in defaults.items() if each in shape.model_fields}
    arguments: type[ToolArguments] = create_model(f"Paged{shape.__name__}", __base__=(shape, TextPage), **known)
    return Tool(name, title, shape.description, arguments, run)


def agent_tool(
    name: str,
    title: str,
    description: str,
    *,
    item: type[BaseModel] | None = None,
    needs: Need = "",
    most_input: int = _MAX_INPUT,
    **parts: type[BaseModel],
) -> Callable[[Callable[..., ToolResult]], Tool]:
    """Return what makes a tool of a function: its parameters after the session are the arguments."""

    def declare(function: Callable[..., ToolResult]) -> Tool:
        hints, parameters = get_type_hints(function, include_extras=True), signature(function).parameters
        fields: dict[str, Any] = {
            each: (hints[each], ... if known.default is Parameter.empty else known.default)
            for each, known in [*parameters.items()][1:]
        }
        arguments: type[ToolArguments] = create_model(
            f"{name.title().replace('_', '')}Arguments", __base__=ListPage if item else TextPage, **fields
        )

        def run(session: ReadingSession, values: ToolArguments) -> ToolResult:
            return function(session, **{each: getattr(values, each) for each in fields})

        return Tool(name, title, description, arguments, run, item, needs, most_input, parts)

    return declare
