"""A question with all that was found for it."""

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
    """What is asked, and all that was found for it."""

    question: ParsedQuestion
    record: str
    tool_uses: tuple[ToolUse, ...]

    @property
    def list_texts(self) -> list[str]:
        """What was listed."""
        return [each.text for each in self.tool_uses if each.name == LIST_TOOL and not each.is_error]

    @property
    def pull_requests(self) -> Mapping[int, PullRequestFacts]:
        """Those that were read one by one."""
        texts = (each.text for each in self.tool_uses if each.name == PULL_REQUEST_TOOL and not each.is_error)
        return {number: told for text in texts for number, told in parse_pull_requests(text).items()}

    @property
    def listed_pull_requests(self) -> list[PullRequestFacts]:
        """Those of the first list, or of them those that are asked about."""
        listed = parse_pull_requests(self.list_texts[0]) if self.list_texts else {}
        return [
            told for told in listed.values() if not self.question.numbers or told.number in self.question.numbers
        ]

    @property
    def total_phrase(self) -> str:
        """How many pull requests there are to speak of."""
        merged = parse_merged_days([*(each.text for each in self.tool_uses), self.record])
        if self.question.numbers:
            return format_count(len(self.question.numbers), "pull request")
        return f"{format_count(merged.count, 'pull request')} of {format_days(merged.days)}"

    @property
    def failures(self) -> list[str]:
        """Why some could not be read, or none of the days that the question names."""
        errors = [
            each
            for each in self.tool_uses
            if each.is_error and (each.name == PULL_REQUEST_TOOL or self.question.days)
        ]
        return list(dict.fromkeys(" ".join(split_lines(each.text)) for each in errors))

    @property
    def days_caveat(self) -> str:
        """What is not known of the days that the question names, as a sentence; empty where they are known."""
        if not self.question.days:
            return ""
        doubts = [found[1] for each in self.tool_uses if (found := _CAVEAT_PATTERN.search(each.text))]
        said = next(iter([*doubts, *self.failures]), "").rstrip(".")
        # what is refused for how it was asked says what to write, after a colon
        today = f"; today is {self.question.today:%-d %B %Y}" if self.question.today and ":" not in said else ""
        return f"{said}{today}." if said else ""

    @property
    def revert_text(self) -> str:
        """What was told of reverts."""
        return next((each.text for each in self.tool_uses if each.name == REVERTS_TOOL and not each.is_error), "")
