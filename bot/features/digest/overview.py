"""What the model is asked about a day as a whole."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator, Field

from bot.dates import LocalDay
from bot.features.merges.entry import Entry
from bot.platform.models import Prompt
from bot.platform.models.answers import AnswerShape, NonEmpty, SafeLine, build_schema, limit_length
from bot.platform.models.prompts import fence_text, read_instructions
from bot.usage import CallPurpose
from impact.repository import Repository
from impact.text.strings import collapse_lines

OVERVIEW_VERSION = "overview.v1"
_MAX_OVERVIEW_TOKENS = 8_000
MAX_OVERVIEW_LENGTH = 600


class ThemeAnswer(AnswerShape):
    """A theme of a day: its title and the numbers of its pull requests."""

    title: Annotated[str, SafeLine, limit_length(80)]
    pull_requests: list[int]


class OverviewAnswer(AnswerShape):
    """The overview of a day and its themes."""

    overview: Annotated[str, SafeLine, NonEmpty, limit_length(MAX_OVERVIEW_LENGTH)]
    themes: Annotated[
        list[ThemeAnswer], AfterValidator(lambda themes: [each for each in themes if each.title])
    ] = Field(default_factory=list)


def build_overview_prompt(model: str, repository: Repository, day: LocalDay, entries: Iterable[Entry]) -> Prompt:
    lines = [f"{repository}, {day.date:%A} {day.date}"]
    for entry in entries:
        summary = entry.summary
        line = f"#{entry.number} [{summary.type}] {collapse_lines(entry.pull.title)}: {summary.headline}"
        lines.append(f"{line} Action: {summary.action}" if summary.action else line)
    return Prompt(
        model,
        OVERVIEW_VERSION,
        read_instructions(OVERVIEW_VERSION),
        fence_text("day", "\n".join(lines)),
        build_schema(OverviewAnswer),
        _MAX_OVERVIEW_TOKENS,
        CallPurpose.OVERVIEW,
    )
