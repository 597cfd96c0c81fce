"""The bot's own review of a merge, with a reader in place of the model."""

from __future__ import annotations

import json
from pathlib import Path

from bot.connections.providers import choose_provider
from bot.container.digests.clone_reviews import build_clone_reviewer
from bot.domain.errors import UsageError
from bot.domain.evaluation.readings import Reading
from bot.domain.pull_requests.models import PullRequest
from bot.platform import deadlines
from bot.ports import Chat
from bot.services.risk.paired_reading import review_merge
from bot.settings import Settings
from evals.reading.folder import ReadingFolder, describe_prompt, hash_prompt
from evals.reading.scripted import Round, ScriptedReader, list_results


def review_with_reader(reader: ScriptedReader, pull: PullRequest, clone: Path, settings: Settings) -> Reading:
    """Review a merge as the bot does. The reader says what a model would say."""
    prices = choose_provider(settings).prices
    reviewer = build_clone_reviewer(clone, reader, prices, settings, deadlines.sleep)
    reading, _ = review_merge(pull, _keep_pull, reviewer.review_pull_request, reviewer.model.start_cost)
    return reading


def record_prompt(pull: PullRequest, clone: Path, settings: Settings) -> Chat:
    """Return what a model would be sent first about a merge. Raises UsageError if nothing would be sent."""
    reader = ScriptedReader()
    reading = review_with_reader(reader, pull, clone, settings)
    if not reader.chats:
        raise UsageError(f"#{pull.number} can't be read: {reading.problem}.")
    return reader.chats[0]


def use_tools(folder: ReadingFolder, number: int, calls: Round, settings: Settings) -> list[str]:
    """Run a round of tools of a reading, as the bot would, and keep it. Return what a model would be sent.

    Raises:
        UsageError: there is no such prompt, or the bot would allow no more tools.
    """
    plan = folder.read_plan()
    rounds = (*folder.read_rounds(number), calls)
    reader = ScriptedReader(rounds)
    review_with_reader(reader, folder.read_pull(number), Path(plan.clone), settings)
    # after the last round of tools, the bot refuses more of them and asks for the report once more
    if len(reader.chats) <= len(rounds) or not reader.chats[-1].may_use_tools:
        raise UsageError("No more tools: write the report now.")
    folder.write_rounds(number, rounds)
    return list_results(reader.chats[-1])


def read_answered(folder: ReadingFolder, number: int, settings: Settings) -> Reading:
    """Return the reading of a merge by what its reader did and wrote, checked as the bot checks a model.

    Raises:
        UsageError: the prompt is no longer the one that was answered.
    """
    plan, pull = folder.read_plan(), folder.read_pull(number)
    answer = folder.read_answer(number)
    if answer is None:
        return Reading(problem="there is no answer")
    reader = ScriptedReader(folder.read_rounds(number), answer)
    reading = review_with_reader(reader, pull, Path(plan.clone), settings)
    _require_same_prompt(folder, number, reader)
    return reading


def _require_same_prompt(folder: ReadingFolder, number: int, reader: ScriptedReader) -> None:
    """Raise UsageError if a prompt is not the one that was collected."""
    path = folder.get_prompt(number)
    sent = hash_prompt(describe_prompt(number, reader.chats[0])) if reader.chats else ""
    try:
        is_same = sent == hash_prompt(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise UsageError(f"prompts/{path.name} can't be read: {error}.") from error
    if not is_same:
        raise UsageError(
            f"prompts/{path.name} is not what the bot would send now: settings, instructions or the clone have"
            " changed. Collect again."
        )


def _keep_pull(pull: PullRequest) -> PullRequest:
    """Return a merge whose patches are loaded already."""
    return pull
