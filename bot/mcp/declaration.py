"""Declaration of a tool: its name, title and arguments, and the function that runs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from bot.features.questions.reading import ReadingSession
from bot.platform.models.tools import ToolArguments
from bot.services.agents.sources import AgentSources

# characters of all arguments of a call
MAX_INPUT = 8_000


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a call reads with; the session is its own."""

    sources: AgentSources
    session: ReadingSession


@dataclass(frozen=True, slots=True)
class ItemList:
    """A result that is a list. ``about`` says of what, and what may be missing."""

    about: str
    items: Sequence[BaseModel]


# a text is shown by pages of characters, a list by pages of items
ToolResult = str | ItemList


@dataclass(frozen=True, slots=True)
class ToolDeclaration:
    """A tool. ``run`` takes the context and the arguments, and raises PrdigestError.

    ``item`` is the form of an item if the result is a list. ``needs_profiles`` leaves the tool out where the
    operator shows no profile. ``most_input`` is in characters.
    """

    name: str
    title: str
    arguments: type[ToolArguments]
    run: Callable[[ToolContext, Any], ToolResult]
    item: type[BaseModel] | None = None
    needs_profiles: bool = False
    most_input: int = MAX_INPUT
