"""Our text and the public one about the same pull request, as A and B."""

from __future__ import annotations

import random
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.domain.digest.models import Digest
from bot.domain.errors import UsageError
from bot.domain.pull_requests.models import ChangedFile, PullRequest
from bot.domain.summaries.fallback import describe_fallback
from bot.render.digest.report import render_report
from bot.services.summaries.schemas import MAX_QUOTES, SummaryAnswer
from bot.settings import Settings
from evals.json_files import write_json
from evals.trial.days import TrialDays
from evals.trial.folder import Key, Pair, Side, Trial, TrialFolder, copy_text
from evals.trial.models import ReaderAnswers
from evals.trial.report_texts import parse_report

_SECRET_BYTES = 16


@dataclass(frozen=True, slots=True)
class QuoteCount:
    """How many quotes the answers gave as evidence, and how many of them are in changed lines."""

    total: int
    verified: int


def pair_trial(folder: TrialFolder, trial: Trial, days: TrialDays, settings: Settings, golden: Path) -> QuoteCount:
    """Write the pairs of a trial whose prompts are answered, and the key apart from them; count the quotes.

    Raises:
        UsageError: answers are missing, or the bot would refuse them; a public text is missing; or prompts have
            changed since they were collected.
    """
    digests = build_answered_digests(folder, trial, days, settings)
    ours = _parse_digests(digests)
    theirs = _read_golden(golden, days.dates)
    numbers = [pull.number for pull in trial.pulls]
    _raise_about("There is no public text about", [number for number in numbers if number not in theirs])
    old = folder.read_key()
    key = make_key(numbers, old.secret if old else secrets.token_hex(_SECRET_BYTES))
    pulls = {entry.number: entry.pull for digest in digests for entry in digest.entries}
    for number in numbers:
        pair = make_pair(pulls[number], ours[number], theirs[number], key.first[number])
        write_json(folder.get_pair(number), pair)
    folder.verdicts.mkdir(exist_ok=True)
    copy_text("judge.md", folder.pairs / "README.md")
    write_json(folder.key, key)
    return _count_quotes(folder, numbers, digests)


def _count_quotes(folder: TrialFolder, numbers: Sequence[int], digests: Sequence[Digest]) -> QuoteCount:
    answers = (SummaryAnswer.model_validate_json(_read_answer(folder.get_answer(number))) for number in numbers)
    entries = (entry for digest in digests for entry in digest.entries)
    return QuoteCount(
        total=sum(len(answer.evidence[:MAX_QUOTES]) for answer in answers),
        verified=sum(len(entry.summary.evidence) for entry in entries if entry.number in numbers),
    )


def build_answered_digests(
    folder: TrialFolder, trial: Trial, days: TrialDays, settings: Settings
) -> tuple[Digest, ...]:
    """Build the digests of the days with the answers of readers, validated as the bot validates a model's.

    Raises:
        UsageError: answers are missing or would be refused, or prompts have changed.
    """
    answers = {pull.number: _read_answer(folder.get_answer(pull.number)) for pull in trial.pulls}
    _raise_about("There is no answer about", [number for number, text in answers.items() if not text])
    model = ReaderAnswers(answers, {pull.number: pull.key for pull in trial.pulls})
    digests = days.build_digests(settings, model)
    _raise_about("The prompt has changed since --collect about", sorted(model.changed))
    refused = [
        f"answers/{entry.number}.json: {describe_fallback(entry.summary.fallback)}"
        for digest in digests
        for entry in digest.entries
        if entry.number in answers and entry.summary.is_fallback
    ]
    if refused:
        raise UsageError("The bot would refuse these answers:\n" + "\n".join(refused))
    return digests


def _read_answer(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace").strip() if path.is_file() else ""


def _raise_about(problem: str, numbers: Sequence[int]) -> None:
    """Raise UsageError if there are numbers."""
    if numbers:
        raise UsageError(f"{problem} {', '.join(f'#{number}' for number in numbers)}.")


def _parse_digests(digests: Iterable[Digest]) -> dict[int, str]:
    """Return our texts as somebody reads them in a report."""
    texts: dict[int, str] = {}
    for digest in digests:
        texts |= parse_report(render_report(digest), "our report")
    return texts


def _read_golden(folder: Path, dates: Iterable[str]) -> dict[int, str]:
    texts: dict[int, str] = {}
    for date in dates:
        path = folder / f"{date}.md"
        if not path.is_file():
            raise UsageError(f"{folder} has no report {path.name}.")
        texts |= parse_report(path.read_text(encoding="utf-8"), path.name)
    return texts


def make_key(numbers: Sequence[int], secret: str) -> Key:
    """Choose whose text is A: ours in half of the pairs, by the secret alone."""
    sides: tuple[Side, Side] = ("ours", "theirs")
    ordered = sorted(numbers)
    first = [sides[place % 2] for place in range(len(ordered))]
    # no secret of cryptography, but nobody can guess the seed
    random.Random(secret).shuffle(first)  # noqa: S311
    return Key(secret=secret, first=dict(zip(ordered, first, strict=True)))


def make_pair(pull: PullRequest, ours: str, theirs: str, first: Side) -> Pair:
    """Make the pair about a pull request."""
    texts: Mapping[Side, str] = {"ours": ours, "theirs": theirs}
    second: Side = "theirs" if first == "ours" else "ours"
    return Pair(
        number=pull.number,
        title=pull.title,
        url=pull.url,
        merge_commit=pull.merge_commit or "",
        description=pull.body,
        A=texts[first],
        B=texts[second],
        files=tuple(map(_describe_file, pull.files or ())),
    )


def _describe_file(file: ChangedFile) -> dict[str, object]:
    return {
        "path": file.path,
        "previous_path": file.previous_path,
        "status": file.status,
        "additions": file.additions,
        "deletions": file.deletions,
        "patch": file.patch,
    }
