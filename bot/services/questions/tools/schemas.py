"""What the model may ask of the tools: the shapes of their arguments, with a word for the model on each."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.domain.conversations.search import Where
from bot.services.summaries.schemas import Plain

_MOST = 10
Words = Annotated[tuple[str, ...], Field(max_length=_MOST)]
RiskWord = Literal["", "low", "middle", "high", "highest"]


class Arguments(BaseModel):
    """Base of the shapes. A field that a tool does not have is a mistake that the model should hear of."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Selection(Arguments):
    """Which pull requests; what is left out admits all."""

    days: str = Field("", description="2026-02-28, 2026-02-22..2026-02-28, 7d, yesterday; default: this thread's")
    repository: str = Field("", description="owner/name; default: this thread's")
    paths: Words = Field((), description="globs as in .gitignore: vllm/v1, *.cu, !tests/; any of them")
    areas: Words = Field((), description="areas as they stand in the lists, or parts of their names")
    authors: Words = Field((), description="logins")
    merged_by: Words = Field((), description="logins")
    labels: Words = ()
    types: Annotated[tuple[Literal["TRIVIAL", "SUBSTANTIAL"], ...], Field(max_length=2)] = ()
    least_risk: RiskWord = Field("", description="this band of risk or above")


class ListArguments(Selection):
    """List the pull requests merged in some days that fit all given filters, newest first."""

    words: Words = Field((), description="any of them in title, description or summary")


class SearchArguments(Selection):
    """Search diffs or texts of the pull requests of some days for any of the words, whatever their case; says
    which pull requests match and shows the lines with file and line number."""

    any_of: Annotated[tuple[str, ...], Field(min_length=1, max_length=_MOST)]
    where: Where = Field(Where.CHANGED, description="changed_lines (+ and -), diff (also context), or text")


class PullArguments(Arguments):
    """One pull request: facts, summary, risk with reasons, files, the start of its description."""

    number: Annotated[int, Field(ge=1, lt=1_000_000_000)]
    repository: str = ""


class DiffArguments(Arguments):
    """The diff of one pull request, of all files or some, or only the places that contain a text."""

    number: Annotated[int, Field(ge=1, lt=1_000_000_000)]
    repository: str = ""
    paths: Words = Field((), description="globs of files")
    contains: str = Field("", max_length=200)


class TakenBackArguments(Arguments):
    """What was reverted or repaired in some days, by which pull request, with what it says of why; and which
    pull requests the risk rules rate highest, with their reasons."""

    days: str = ""
    repository: str = ""


def schema_of(shape: type[Arguments]) -> dict[str, Any]:
    """JSON schema of the arguments, as the service takes it; the tool's own description is not part of it."""
    found = shape.model_json_schema(schema_generator=Plain)
    found.pop("description", None)
    return found
