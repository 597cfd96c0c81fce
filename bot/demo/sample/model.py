"""The sample's summaries and overview as a ``Model``, selected by the text of a prompt."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from bot.demo.sample.day import SampleDay
from bot.errors import ModelRequestRejected
from bot.platform.models import Completion, Prompt
from bot.platform.models.answers import AnswerShape
from bot.usage import NO_USAGE

# the beginnings of prompts (bot/platform/models/changes.py and bot/features/digest/overview.py); the rest
# of a prompt is text of strangers
_PULL_PATTERN = re.compile(r'<pull_request id="\w+">\n\S+ #(\d{1,9}): ')
_DAY_ENTRY_PATTERN = re.compile(r"^#(\d{1,9}) \[", re.M)
_NUMBER_PATTERN = re.compile(r"#(\d{1,9})\b")
_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+")
_NO_OVERVIEW_SENTENCE = "The sample's overview speaks of other pull requests than these."


class SampleModel:
    """``Model`` that knows only the sample day."""

    def __init__(self, day: SampleDay) -> None:
        self._day = day
        self._summaries = {pull.number: pull.summary for pull in day.pulls}

    def complete(self, prompt: Prompt) -> Completion:
        """Return the sample's text at no cost. Raises ModelRequestRejected if the sample has none."""
        # what shows the sample as text asks nobody, and needs no store
        from bot.features.digest.overview import OVERVIEW_VERSION  # noqa: PLC0415
        from bot.features.summaries.reading import SUMMARY_VERSION  # noqa: PLC0415

        readers = {SUMMARY_VERSION: self._answer_summary, OVERVIEW_VERSION: self._answer_overview}
        if prompt.version not in readers:
            raise ModelRequestRejected("the sample has summaries and an overview alone")
        return Completion(readers[prompt.version](prompt.user).model_dump_json(), NO_USAGE)

    def _answer_summary(self, prompt: str) -> AnswerShape:
        """Return the summary of the prompt's pull request. Raises ModelRequestRejected."""
        from bot.features.summaries.reading import RiskAnswer, SummaryAnswer  # noqa: PLC0415

        match = _PULL_PATTERN.match(prompt)
        summary = self._summaries.get(int(match[1])) if match else None
        if summary is None:
            raise ModelRequestRejected("the sample has no summary of it")
        names = SummaryAnswer.model_fields.keys() - {"evidence", "risks"}
        fields: dict[str, Any] = {name: getattr(summary, name) for name in names}
        # evidence would be quotes of diffs, of which the sample has only those that answers quote
        risks = [RiskAnswer(claim=risk.claim, where=risk.where, kind=risk.kind) for risk in summary.risks]
        return SummaryAnswer(**fields, risks=risks)

    def _answer_overview(self, prompt: str) -> AnswerShape:
        """Return the overview, with the sentences about the prompt's pull requests."""
        from bot.features.digest.overview import OverviewAnswer, ThemeAnswer  # noqa: PLC0415

        numbers = frozenset(int(number) for number in _DAY_ENTRY_PATTERN.findall(prompt))
        themes = [
            ThemeAnswer(title=theme.title, pull_requests=list(theme.pull_requests)) for theme in self._day.themes
        ]
        return OverviewAnswer(overview=_select_sentences(self._day.overview, numbers), themes=themes)


def _select_sentences(text: str, allowed: Iterable[int]) -> str:
    """Return the sentences that name these pull requests and no others."""
    sentences = (
        (sentence, {int(number) for number in _NUMBER_PATTERN.findall(sentence)})
        for sentence in _SENTENCE_ENDS.split(text)
    )
    return (
        " ".join(sentence for sentence, numbers in sentences if numbers and numbers.issubset(allowed))
        or _NO_OVERVIEW_SENTENCE
    )
