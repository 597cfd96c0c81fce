"""A question with everything that the tools found for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from bot.demo.rules.findings import PullRequestFacts, parse_merged_days, parse_pull_requests, split_lines
from bot.demo.rules.question_intent import ParsedQuestion
from bot.demo.rules.tool_choice import LIST_TOOL, PULL_REQUEST_TOOL, REVERTS_TOOL, ToolUse
from bot.demo.rules.wording import format_days
from bot.domain.text.strings import format_count

_CAVEAT_PATTERN = re.compile(r"merged, newest first \[([^\]]+)\]")


@dataclass(frozen=True, slots=True)
class AnswerContext:
    """A question, the record of its thread, and the tool uses for it."""

    question: ParsedQuestion
    record: str
    tool_uses: tuple[ToolUse, ...]

    @property
    def list_texts(self) -> list[str]:
        """The texts of all lists."""
        return [each.text for each in self.tool_uses if each.name == LIST_TOOL and not each.is_error]

    @property
    def pull_requests(self) -> Mapping[int, PullRequestFacts]:
        """The pull requests that were read one by one, by number."""
        texts = (each.text for each in self.tool_uses if each.name == PULL_REQUEST_TOOL and not each.is_error)
        return {number: pull for text in texts for number, pull in parse_pull_requests(text).items()}

    @property
    def listed_pull_requests(self) -> list[PullRequestFacts]:
        """The pull requests of the first list, or those of them that the question is about."""
        listed = parse_pull_requests(self.list_texts[0]) if self.list_texts else {}
        return [
            pull for pull in listed.values() if not self.question.numbers or pull.number in self.question.numbers
        ]

    @property
    def total_phrase(self) -> str:
        """The number of pull requests in question, and their days."""
        merged = parse_merged_days([*(each.text for each in self.tool_uses), self.record])
        if self.question.numbers:
            return format_count(len(self.question.numbers), "pull request")
        # of several days the sample may hold only one
        known = " that the sample has" if self.days_caveat else ""
        return f"{format_count(merged.count, 'pull request')}{known} of {format_days(merged.days)}"

    @property
    def failures(self) -> list[str]:
        """Why some pull requests, or all days that the question names, could not be read."""
        errors = [
            each
            for each in self.tool_uses
            if each.is_error and (each.name == PULL_REQUEST_TOOL or self.question.days)
        ]
        # further lines are for a model
        return list(dict.fromkeys(line for each in errors for line in split_lines(each.text)[:1]))

    @property
    def days_caveat(self) -> str:
        """What is unknown about the days that the question names, as a sentence; empty if nothing is."""
        if not self.question.days:
            return ""
        caveats = [match[1] for each in self.tool_uses if (match := _CAVEAT_PATTERN.search(each.text))]
        caveat = next(iter([*caveats, *self.failures]), "").rstrip(".")
        # an error about the format of the days says what to write after a colon
        today = f"; today is {self.question.today:%-d %B %Y}" if self.question.today and ":" not in caveat else ""
        return f"{caveat}{today}." if caveat else ""

    @property
    def revert_text(self) -> str:
        """The result of the tool for reverts, empty if it was not used."""
        return next((each.text for each in self.tool_uses if each.name == REVERTS_TOOL and not each.is_error), "")
