"""The sample's summaries and overview as a ``Model``, found by what a prompt asks about."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel

from bot.demo.sample.day import SampleDay
from bot.domain.errors import ModelRequestRejected
from bot.domain.operations.usage import NO_USAGE
from bot.ports import Completion, Prompt
from bot.services.summaries.prompts import OVERVIEW_VERSION, SUMMARY_VERSION
from bot.services.summaries.schemas import OverviewAnswer, SummaryAnswer, ThemeAnswer

# how prompts begin (bot/services/summaries/prompts.py): what stands further on are the words of strangers
_PULL_PATTERN = re.compile(r'<pull_request id="\w+">\n\S+ #(\d{1,9}): ')
_DAY_ENTRY_PATTERN = re.compile(r"^#(\d{1,9}) \[", re.M)
_NUMBER_PATTERN = re.compile(r"#(\d{1,9})\b")
_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+")
_NO_OVERVIEW_SENTENCE = "The sample's overview speaks of other pull requests than these."


class SampleModel:
    """``Model`` that knows the sample day and nothing else."""

    def __init__(self, day: SampleDay) -> None:
        self._day = day
        self._summaries = {pull.number: pull.summary for pull in day.pulls}

    def complete(self, prompt: Prompt) -> Completion:
        """What the sample says of it, at no cost. Raises ModelRequestRejected where it says nothing."""
        readers = {SUMMARY_VERSION: self._answer_summary, OVERVIEW_VERSION: self._answer_overview}
        if prompt.version not in readers:
            raise ModelRequestRejected("the sample has summaries and an overview alone")
        return Completion(readers[prompt.version](prompt.user).model_dump_json(), NO_USAGE)

    def _answer_summary(self, asked: str) -> BaseModel:
        found = _PULL_PATTERN.match(asked)
        said = self._summaries.get(int(found[1])) if found else None
        if said is None:
            raise ModelRequestRejected("the sample has no summary of it")
        fields: dict[str, Any] = {name: getattr(said, name) for name in SummaryAnswer.model_fields}
        # they are quotes of diffs, which the sample does not have
        return SummaryAnswer(**fields | {"evidence": []})

    def _answer_overview(self, asked: str) -> BaseModel:
        known = frozenset(int(number) for number in _DAY_ENTRY_PATTERN.findall(asked))
        themes = [
            ThemeAnswer(title=theme.title, pull_requests=list(theme.pull_requests)) for theme in self._day.themes
        ]
        return OverviewAnswer(overview=_select_sentences(self._day.overview, known), themes=themes)


def _select_sentences(text: str, known: Iterable[int]) -> str:
    """The sentences that speak of these pull requests alone."""
    named = (
        (each, {int(number) for number in _NUMBER_PATTERN.findall(each)}) for each in _SENTENCE_ENDS.split(text)
    )
    return (
        " ".join(each for each, numbers in named if numbers and numbers.issubset(known)) or _NO_OVERVIEW_SENTENCE
    )
