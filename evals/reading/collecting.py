"""The prompts of matched pairs, and the key that says which merges were repaired."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bot.adapters.git import CloneChanges, CloneReader
from bot.domain.errors import UsageError
from bot.domain.evaluation.labels import EvaluationWindow
from bot.domain.evaluation.pairs import MatchedPair, PairChoice, PairRule, shuffle_merges
from bot.services.review.conversation import REVIEW_VERSION
from bot.services.risk.evaluation import MergeHistory
from bot.services.risk.paired_reading import assess_pair, choose_pairs
from bot.settings import Settings
from evals.json_files import write_json
from evals.reading.conversations import record_prompt
from evals.reading.folder import (
    KeyedMerge,
    KeyedPair,
    PairKey,
    ReadingFolder,
    ReadingPlan,
    describe_prompt,
)


@dataclass(frozen=True, slots=True)
class PairSource:
    """Where pairs come from: a clone, its history, and the dates whose merges may be in one."""

    clone: Path
    history: MergeHistory
    window: EvaluationWindow


def collect_prompts(
    folder: ReadingFolder,
    source: PairSource,
    rule: PairRule,
    settings: Settings,
    progress: Callable[[int, int], None],
) -> PairChoice:
    """Write the prompt of each merge of the pairs, in an order that says nothing, and the key beside the folder.

    Raises:
        UsageError: there is no pair, the folder is in use, or a merge can't be read.
    """
    if folder.manifest.exists():
        raise UsageError(f"{folder.path} has prompts already: name a new folder.")
    choice = choose_pairs(source.history, source.window, rule)
    if not choice.pairs:
        raise UsageError("There is no pair: choose other dates or another clone.")
    load = CloneChanges(CloneReader(source.clone)).load_files
    merges = shuffle_merges(choice.pairs, rule.seed)
    for number, pull in enumerate(merges, 1):
        loaded = load(pull)
        folder.write_pull(number, loaded)
        chat = record_prompt(loaded, source.clone, settings)
        write_json(folder.get_prompt(number), describe_prompt(number, chat))
        progress(number, len(merges))
    places = {pull.number: place for place, pull in enumerate(merges, 1)}
    pairs = tuple(_describe_pair(pair, source.history, places) for pair in choice.pairs)
    write_json(folder.key, PairKey(eligible=choice.eligible, pairs=pairs))
    folder.answers.mkdir(exist_ok=True)
    folder.copy_instructions()
    write_json(folder.manifest, _describe_plan(source, rule, len(merges)))
    return choice


def _describe_pair(pair: MatchedPair, history: MergeHistory, places: dict[int, int]) -> KeyedPair:
    merges = (
        KeyedMerge(prompt=places[pull.number], number=pull.number, points=risk.points)
        for pull, risk in zip((pair.repaired, pair.other), assess_pair(pair, history), strict=True)
    )
    repaired, other = merges
    return KeyedPair(repaired=repaired, other=other)


def _describe_plan(source: PairSource, rule: PairRule, prompts: int) -> ReadingPlan:
    origin, window = source.history.source, source.window
    return ReadingPlan(
        repository=origin.repository,
        branch=origin.branch,
        clone=str(source.clone.resolve()),
        since=str(window.since),
        until=str(window.until),
        timezone=str(window.zone),
        instructions=REVIEW_VERSION,
        seed=rule.seed,
        prompts=prompts,
    )
