"""Answers of the configured model to the prompts of a trial."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from bot.app import open_app
from bot.domain.errors import ConfigurationError, ModelError
from bot.ports import Prompt
from bot.services.summaries.schemas import SummaryAnswer
from bot.services.summaries.structured_completion import StructuredCompletion
from bot.settings import Settings
from evals.trial.days import TrialDays, make_trial_settings
from evals.trial.folder import TrialFolder


def ask_model(
    folder: TrialFolder, days: TrialDays, settings: Settings, prompts: Mapping[int, Prompt]
) -> Iterator[str]:
    """Ask the model, with the bot's retries, what has no answer yet. Yield a line about each pull request.

    One that gets no answer is named, and does not end the others.

    Raises:
        ConfigurationError: there is no key.
    """
    waiting = {number: prompt for number, prompt in prompts.items() if not folder.get_answer(number).exists()}
    with tempfile.TemporaryDirectory(prefix="trial", ignore_cleanup_errors=True) as state:
        own = make_trial_settings(settings, days, Path(state))
        with open_app(own, lambda: datetime.now(UTC), time.sleep) as base:
            if base.sources.model is None:
                raise ConfigurationError(f"Set {base.provider.key_variable}: --live asks the model.")
            completion = StructuredCompletion(base.sources.model, base.cache, base.sleep, base.provider.prices)
            for number, prompt in waiting.items():
                yield _ask_once(completion, number, prompt, folder.get_answer(number))


def _ask_once(completion: StructuredCompletion, number: int, prompt: Prompt, path: Path) -> str:
    try:
        answer = completion.request_answer(prompt, SummaryAnswer)
    except ModelError as error:
        return f"#{number}: no answer: {error}"
    path.write_text(answer.value.model_dump_json(indent=1) + "\n", encoding="utf-8")
    cost = completion.compute_cost(prompt.model, answer.usage)
    return f"#{number}: answered" if cost is None else f"#{number}: answered, ${cost:.4f}"
