"""The figures of answered prompts."""

from __future__ import annotations

from bot.domain.errors import UsageError
from bot.domain.evaluation.pairs import MatchedPair
from bot.domain.evaluation.readings import ReadPair
from bot.domain.risk.assessment import Risk
from bot.settings import Settings
from evals.reading.conversations import read_answered
from evals.reading.folder import KeyedPair, PairKey, ReadingFolder


def read_answers(folder: ReadingFolder, settings: Settings) -> tuple[PairKey, tuple[ReadPair, ...]]:
    """Return the key, and each pair with its readings, checked as the bot checks a model.

    Raises:
        UsageError: the folder and its key do not belong together, or a prompt has changed.
    """
    key = folder.read_key()
    return key, tuple(_read_pair(folder, pair, settings) for pair in key.pairs)


def _read_pair(folder: ReadingFolder, pair: KeyedPair, settings: Settings) -> ReadPair:
    merges = (pair.repaired, pair.other)
    repaired, other = (folder.read_pull(merge.prompt) for merge in merges)
    if (repaired.number, other.number) != (pair.repaired.number, pair.other.number):
        raise UsageError(f"{folder.key.name} is not the key of {folder.path.name}.")
    return ReadPair(
        MatchedPair(repaired, other),
        read_answered(folder, pair.repaired.prompt, settings),
        read_answered(folder, pair.other.prompt, settings),
        Risk(pair.repaired.points, ()),
        Risk(pair.other.points, ()),
    )
