"""The prompts of a trial, and the answers to them: of readers, or of the configured model."""

from __future__ import annotations

import hashlib
import re
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bot.app import App, open_app
from bot.errors import ConfigurationError, ModelError, ModelRequestRejected, UsageError
from bot.features.digest.rules import Digest
from bot.features.merges.summary import describe_fallback
from bot.features.summaries.reading import SUMMARY_VERSION, SummaryAnswer
from bot.platform.models import Completion, Model, Prompt
from bot.platform.models.completion import request_answer
from bot.settings import Settings
from bot.usage import NO_USAGE
from evals.json_files import write_json
from evals.trial.days import TrialDays, make_trial_settings
from evals.trial.folder import Trial, TrialFolder, TrialPull, copy_text

# how the text about a pull request begins
_SUBJECT = re.compile(r'<pull_request id="[0-9a-f]+">\n\S+ #(\d+): ')


def get_number(prompt: Prompt) -> int:
    """Return the number of the pull request that a summary prompt is about; 0 for another prompt."""
    match = _SUBJECT.match(prompt.user)
    return int(match[1]) if match else 0


@dataclass(frozen=True)
class PromptRecorder:
    """``Model`` that records the first prompt about each pull request, by number, and answers none.

    Threads may share it.
    """

    prompts: dict[int, Prompt] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def complete(self, prompt: Prompt) -> Completion:
        """Record a prompt. Raise ModelRequestRejected, after which nobody tries again."""
        with self._lock:
            self.prompts.setdefault(get_number(prompt), prompt)
        raise ModelRequestRejected("the trial only records prompts")


@dataclass(frozen=True)
class ReaderAnswers:
    """``Model`` that returns the answers of readers, by number.

    ``keys`` are those of the prompts that were answered. What is asked by another prompt is in ``changed`` then.
    """

    answers: Mapping[int, str]
    keys: Mapping[int, str]
    changed: set[int] = field(default_factory=set)
    _asked: set[int] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def complete(self, prompt: Prompt) -> Completion:
        """Return the answer about a pull request. Raise ModelRequestRejected if there is none."""
        number = get_number(prompt)
        with self._lock:
            # a further prompt about the same pull request says what was wrong with the answer
            if number in self.keys and number not in self._asked and prompt.fingerprint != self.keys[number]:
                self.changed.add(number)
            self._asked.add(number)
        if number not in self.answers:
            raise ModelRequestRejected("nobody was asked about it")
        return Completion(self.answers[number], NO_USAGE)


def collect_trial(days: TrialDays, settings: Settings, sample: int, seed: int) -> tuple[Trial, dict[int, Prompt]]:
    """Build the digests of the days; return the trial, and the prompts of the chosen pull requests by number.

    Raises:
        PrdigestError: a day is unavailable, or there are fewer prompts than asked for.
    """
    recorder = PromptRecorder()
    digests = days.build_digests(settings, recorder)
    asked = {
        str(each.day.date): sorted(entry.number for entry in each.entries if entry.number in recorder.prompts)
        for each in digests
    }
    chosen = choose_numbers(asked, sample, seed)
    trial = Trial(
        repository=str(days.repository),
        timezone=str(days.zone),
        source="records" if days.records else "github",
        instructions=SUMMARY_VERSION,
        sample=sample,
        seed=seed,
        merges={str(each.day.date): len(each.entries) for each in digests},
        pulls=tuple(
            TrialPull(number=number, date=date, key=recorder.prompts[number].fingerprint)
            for date, numbers in chosen.items()
            for number in numbers
        ),
    )
    return trial, {pull.number: recorder.prompts[pull.number] for pull in trial.pulls}


def choose_numbers(by_day: Mapping[str, Sequence[int]], sample: int, seed: int) -> dict[str, tuple[int, ...]]:
    """Choose a sample in proportion to the days, and within a day those with the smallest hash of seed and number.

    Shares are rounded by the largest remainder; of equal ones, the earlier day gains.

    Raises:
        UsageError: there are fewer than ``sample``.
    """
    total = sum(map(len, by_day.values()))
    if total < sample:
        raise UsageError(f"There are {total} pull requests with a prompt, fewer than the sample of {sample}.")
    counts = {day: len(numbers) * sample // total for day, numbers in by_day.items()}
    by_remainder = sorted(by_day, key=lambda day: (-(len(by_day[day]) * sample % total), day))
    for day in by_remainder[: sample - sum(counts.values())]:
        counts[day] += 1

    def rank(number: int) -> str:
        return hashlib.sha256(f"{seed}:{number}".encode()).hexdigest()

    return {day: tuple(sorted(sorted(by_day[day], key=rank)[: counts[day]])) for day in sorted(by_day)}


def write_prompts(folder: TrialFolder, trial: Trial, prompts: Mapping[int, Prompt]) -> None:
    """Write a trial's prompts and how to answer them.

    Raises:
        UsageError: the folder has a trial with other prompts.
    """
    if folder.manifest.exists() and folder.read_trial() != trial:
        raise UsageError(f"{folder.path} has a trial with other prompts: name a new folder.")
    dates = {pull.number: pull.date for pull in trial.pulls}
    for number, prompt in prompts.items():
        described = {
            "number": number,
            "date": dates[number],
            "model": prompt.model,
            "max_tokens": prompt.max_tokens,
            "system": prompt.system,
            "user": prompt.user,
            "schema": prompt.schema,
        }
        write_json(folder.get_file("prompts", number), described)
    (folder.path / "answers").mkdir(exist_ok=True)
    copy_text("reader.md", folder.path / "README.md")
    write_json(folder.manifest, trial)


def ask_model(
    folder: TrialFolder, days: TrialDays, settings: Settings, prompts: Mapping[int, Prompt]
) -> Iterator[str]:
    """Ask the model, with the bot's retries, what has no answer yet. Yield a line about each pull request.

    One that gets no answer is named, and does not end the others.

    Raises:
        ConfigurationError: there is no key.
    """
    paths = {number: folder.get_file("answers", number) for number in prompts}
    with tempfile.TemporaryDirectory(prefix="trial", ignore_cleanup_errors=True) as state:
        own = make_trial_settings(settings, days, Path(state))
        with open_app(own, lambda: datetime.now(UTC), time.sleep) as base:
            if base.sources.model is None:
                raise ConfigurationError(f"Set {base.provider.key_variable}: --live asks the model.")
            for number, path in paths.items():
                if not path.exists():
                    yield _ask_once(base, base.sources.model, number, prompts[number], path)


def _ask_once(app: App, model: Model, number: int, prompt: Prompt, path: Path) -> str:
    try:
        answer = request_answer(app, model, prompt, SummaryAnswer)
    except ModelError as error:
        return f"#{number}: no answer: {error}"
    path.write_text(answer.value.model_dump_json(indent=1) + "\n", encoding="utf-8")
    cost = app.provider.prices.cost(prompt.model, answer.usage)
    return f"#{number}: answered" if cost is None else f"#{number}: answered, ${cost:.4f}"


def build_answered_digests(
    folder: TrialFolder, trial: Trial, days: TrialDays, settings: Settings
) -> tuple[Digest, ...]:
    """Build the digests of the days with the answers of readers, validated as the bot validates a model's.

    Raises:
        UsageError: answers are missing or would be refused, or prompts have changed.
    """
    answers = {pull.number: read_answer(folder.get_file("answers", pull.number)) for pull in trial.pulls}
    raise_about("There is no answer about", [number for number, text in answers.items() if not text])
    model = ReaderAnswers(answers, {pull.number: pull.key for pull in trial.pulls})
    digests = days.build_digests(settings, model)
    raise_about("The prompt has changed since it was collected about", sorted(model.changed))
    refused = [
        f"answers/{entry.number}.json: {describe_fallback(entry.summary.fallback)}"
        for digest in digests
        for entry in digest.entries
        if entry.number in answers and entry.summary.is_fallback
    ]
    if refused:
        raise UsageError("The bot would refuse these answers:\n" + "\n".join(refused))
    return digests


def read_answer(path: Path) -> str:
    """Return an answer; empty if there is none."""
    return path.read_text(encoding="utf-8", errors="replace").strip() if path.is_file() else ""


def raise_about(problem: str, numbers: Sequence[int]) -> None:
    """Raise UsageError if there are numbers."""
    if numbers:
        raise UsageError(f"{problem} {', '.join(f'#{number}' for number in numbers)}.")
