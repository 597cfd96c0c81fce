"""Writer of the overview of a day: one more model call on its summaries, or plain counts instead."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable

from bot.domain.digest.models import Entry
from bot.domain.errors import ModelError
from bot.domain.pull_requests.models import Repository
from bot.domain.summaries.fallback import Fallback, FallbackReason, explain_fallback
from bot.domain.text.issue_numbers import remove_unknown_numbers
from bot.domain.time.day import LocalDay
from bot.features.digest.rules import Overview, Theme, keep_known_themes
from bot.features.digest.view import NOTHING_MERGED, format_areas
from bot.services.summaries.prompts import build_overview_prompt
from bot.services.summaries.schemas import OverviewAnswer
from bot.services.summaries.structured_completion import StructuredAnswer, StructuredCompletion

_MAX_AREAS = 4
log = logging.getLogger(__name__)


def skip_overview(_repository: Repository, _day: LocalDay, _entries: tuple[Entry, ...]) -> Overview:
    """Return an empty overview, for a digest that shows none: no model is asked."""
    return Overview("")


class OverviewWriter:
    """Writer of overviews. ``completion`` is None if no model is set up."""

    def __init__(self, completion: StructuredCompletion | None, model: str) -> None:
        self._completion = completion
        self._model = model

    def write_overview(self, repository: Repository, day: LocalDay, entries: tuple[Entry, ...]) -> Overview:
        """Write the overview of the entries of a day. A day without merges costs no call."""
        if not entries:
            return Overview(NOTHING_MERGED)
        completion = self._completion
        if completion is None:
            return _build_from_facts(entries, Fallback(FallbackReason.NO_MODEL))
        prompt = build_overview_prompt(self._model, repository, day, entries)
        try:
            answer = completion.request_answer(prompt, OverviewAnswer)
        except ModelError as error:
            log.info("no model overview of %s on %s: %s", repository, day.date, error)
            return _build_from_facts(
                entries, explain_fallback(error), completion.compute_cost(self._model, error.usage)
            )
        spent = completion.compute_cost(self._model, answer.usage)
        return _build_checked(answer, frozenset(entry.number for entry in entries), spent)


def _build_checked(
    answer: StructuredAnswer[OverviewAnswer], numbers: frozenset[int], spent: float | None
) -> Overview:
    themes = (Theme(theme.title, tuple(theme.pull_requests)) for theme in answer.value.themes)
    return Overview(
        text=remove_unknown_numbers(answer.value.overview, numbers),
        themes=keep_known_themes(themes, numbers),
        from_cache=answer.from_cache,
        cost=spent,
    )


def _build_from_facts(entries: Iterable[Entry], fallback: Fallback, spent: float | None = 0.0) -> Overview:
    areas = Counter(entry.area for entry in entries if not entry.summary.is_trivial)
    trivial = sum(entry.summary.is_trivial for entry in entries)
    text = format_areas(areas.most_common(_MAX_AREAS), trivial)
    return Overview(text, cost=spent, fallback=fallback)
