"""A question with all that was found for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from bot.demo.rules.asked import Asked
from bot.demo.rules.findings import Told, lines_of, merged_in, told_in
from bot.demo.rules.looking import BACK, LIST, PULL, Used
from bot.demo.rules.wording import dated
from bot.domain.text.strings import format_count

_DOUBT = re.compile(r"merged, newest first \[([^\]]+)\]")


@dataclass(frozen=True, slots=True)
class Known:
    """What is asked, and all that was found for it."""

    asked: Asked
    record: str
    used: tuple[Used, ...]

    @property
    def lists(self) -> list[str]:
        """What was listed."""
        return [each.text for each in self.used if each.name == LIST and not each.is_error]

    @property
    def pulls(self) -> Mapping[int, Told]:
        """Those that were read one by one."""
        texts = (each.text for each in self.used if each.name == PULL and not each.is_error)
        return {number: told for text in texts for number, told in told_in(text).items()}

    @property
    def all(self) -> list[Told]:
        """Those of the first list, or of them those that are asked about."""
        listed = told_in(self.lists[0]) if self.lists else {}
        return [told for told in listed.values() if not self.asked.numbers or told.number in self.asked.numbers]

    @property
    def total(self) -> str:
        """How many pull requests there are to speak of."""
        merged = merged_in([*(each.text for each in self.used), self.record])
        if self.asked.numbers:
            return format_count(len(self.asked.numbers), "pull request")
        return f"{format_count(merged.count, 'pull request')} of {dated(merged.days)}"

    @property
    def refusals(self) -> list[str]:
        """Why some could not be read, or none of the days that the question names."""
        errors = [each for each in self.used if each.is_error and (each.name == PULL or self.asked.days)]
        return list(dict.fromkeys(" ".join(lines_of(each.text)) for each in errors))

    @property
    def unknown_days(self) -> str:
        """What is not known of the days that the question names, as a sentence; empty where they are known."""
        if not self.asked.days:
            return ""
        doubts = [found[1] for each in self.used if (found := _DOUBT.search(each.text))]
        said = next(iter([*doubts, *self.refusals]), "").rstrip(".")
        # what is refused for how it was asked says what to write, after a colon
        today = f"; today is {self.asked.today:%-d %B %Y}" if self.asked.today and ":" not in said else ""
        return f"{said}{today}." if said else ""

    @property
    def back(self) -> str:
        """What was told of reverts."""
        return next((each.text for each in self.used if each.name == BACK and not each.is_error), "")
