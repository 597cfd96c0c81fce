"""The prompts of a trial: which pull requests are chosen, and what a reader gets."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from bot.domain.digest.models import Digest
from bot.domain.errors import UsageError
from bot.ports import Prompt
from bot.services.summaries.prompts import SUMMARY_VERSION
from bot.settings import Settings
from evals.trial.days import TrialDays
from evals.trial.folder import Trial, TrialFolder, TrialPull, copy_text, write_json
from evals.trial.models import PromptRecorder


def collect_trial(days: TrialDays, settings: Settings, sample: int, seed: int) -> tuple[Trial, dict[int, Prompt]]:
    """Build the digests of the days; return the trial, and the prompts of the chosen pull requests by number.

    Raises:
        PrdigestError: a day is unavailable, or there are fewer prompts than asked for.
    """
    recorder = PromptRecorder()
    digests = days.build_digests(settings, recorder)
    asked = {str(each.day.date): sorted(_list_numbers(each) & set(recorder.prompts)) for each in digests}
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
            TrialPull(number=number, date=date, key=recorder.prompts[number].key)
            for date, numbers in chosen.items()
            for number in numbers
        ),
    )
    return trial, {pull.number: recorder.prompts[pull.number] for pull in trial.pulls}


def _list_numbers(digest: Digest) -> set[int]:
    return {entry.number for entry in digest.entries}


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
        write_json(folder.get_prompt(number), _describe_prompt(number, dates[number], prompt))
    folder.answers.mkdir(exist_ok=True)
    copy_text("reader.md", folder.path / "README.md")
    write_json(folder.manifest, trial)


def _describe_prompt(number: int, date: str, prompt: Prompt) -> dict[str, object]:
    return {
        "number": number,
        "date": date,
        "model": prompt.model,
        "max_tokens": prompt.max_tokens,
        "system": prompt.system,
        "user": prompt.user,
        "schema": prompt.schema,
    }
