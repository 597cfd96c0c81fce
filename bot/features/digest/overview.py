"""What the model is asked about a day as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

from pydantic import AfterValidator, Field

from bot.dates import LocalDay
from bot.features.digest.rules import Digest
from bot.features.merges.review import FindingStatus
from bot.features.merges.view import Entry, format_outcome_fact
from bot.features.touches.lines import name_level
from bot.platform.models import Prompt
from bot.platform.models.completion import AnswerShape, NonEmpty, SafeLine, build_schema, limit_length
from bot.platform.models.prompts import fence_text, read_instructions
from bot.text import select_sentences
from bot.usage import CallPurpose
from impact.repository import Repository
from impact.text.strings import collapse_lines, truncate_text

OVERVIEW_VERSION = "overview.v2"
_MAX_OVERVIEW_TOKENS = 8_000
MAX_OVERVIEW_LENGTH = 600
# of each kind: a paragraph says no more
_MAX_FACTS, _MAX_FACT_LENGTH, _MAX_BREAKAGES = 8, 600, 3
_NAME = re.compile(r"`([^`]*)`")


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


def list_known_facts(digest: Digest) -> tuple[str, ...]:
    """List what is known of a day beyond its summaries: what became of merges, what breaks, touches and fails."""
    outcomes = (
        f"#{each.pull.number} {collapse_lines(each.pull.title)}: {format_outcome_fact(each)}"
        for each in digest.standing_outcomes
    )
    breaking = (
        f"#{merge.number} breaks callers: "
        + "; ".join(f"`{each.change.name}` {each.effect}" for each in merge.breakages[:_MAX_BREAKAGES])
        for merge in digest.breaking
    )
    kinds = (outcomes, breaking, _list_touches(digest), _list_bugs(digest))
    lines = (line for kind in kinds for line in [*kind][:_MAX_FACTS])
    return tuple(truncate_text(collapse_lines(line), _MAX_FACT_LENGTH) for line in lines)


def _list_touches(digest: Digest) -> Iterator[str]:
    for hit in digest.touches.touching.ignore_coverage() if digest.touches else ():
        reason = f" ({hit.touches[0].reason})" if hit.touches else ""
        yield f"#{hit.number}, for the readers' own code: {name_level(hit.level)}{reason}"


def _list_bugs(digest: Digest) -> Iterator[str]:
    for entry, finding, _ in digest.findings:
        status = "confirmed" if finding.status is FindingStatus.CONFIRMED else "very likely, unconfirmed"
        who = f" Affected: {finding.affected}." if finding.affected else ""
        yield f"#{entry.number} has a bug, {status}: {finding.consequence}. Fails when: {finding.trigger}.{who}"


def remove_unknown_names(text: str, source: str) -> str:
    """Return the sentences of a text whose names in backticks occur in the source, as a whole or word by word."""
    known = source.casefold()

    def is_known(sentence: str) -> bool:
        words = (word.strip("()") for name in _NAME.findall(sentence) for word in name.casefold().split())
        return all(word in known for word in words)

    return select_sentences(text, is_known)


def build_overview_prompt(
    model: str, repository: Repository, day: LocalDay, entries: Iterable[Entry], known: Sequence[str] = ()
) -> Prompt:
    lines = [f"{repository}, {day.date:%A} {day.date}"]
    for entry in entries:
        summary = entry.summary
        line = f"#{entry.number} [{summary.type}] {collapse_lines(entry.pull.title)}: {summary.headline}"
        lines.append(f"{line} Action: {summary.action}" if summary.action else line)
    lines += ["", "Known of the day:", *known] if known else []
    return Prompt(
        model,
        OVERVIEW_VERSION,
        read_instructions(OVERVIEW_VERSION),
        fence_text("day", "\n".join(lines)),
        build_schema(OverviewAnswer),
        _MAX_OVERVIEW_TOKENS,
        CallPurpose.OVERVIEW,
    )
