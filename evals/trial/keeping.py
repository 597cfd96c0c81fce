"""What is kept of the verdicts in the project: numbers, counts, and the judge's own words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from evals.trial.folder import Pair, Trial, TrialFolder, read_part, write_json
from evals.trial.score import TrialScore
from evals.trial.verdicts import Judged, Statement

# characters; a longer run of a text or of a diff is no word of the judge
_MAX_BORROWED = 40
LEFT_OUT = "(left out: it repeats a text or the change)"


def keep_verdicts(folder: TrialFolder, score: TrialScore, to: Path) -> None:
    """Write what is kept of a trial."""
    trial = folder.read_trial()
    rows = [_describe_judged(each, read_part(folder.get_pair(each.number), Pair)) for each in score.judged]
    write_json(to, {"trial": _describe_trial(trial), "verdicts": rows})


def _describe_trial(trial: Trial) -> dict[str, Any]:
    """Return how the trial was made, without the content of its prompts."""
    return trial.model_dump(mode="json", exclude={"pulls"})


def _describe_judged(judged: Judged, pair: Pair) -> dict[str, Any]:
    sources = list(_list_sources(pair))
    return {
        "number": judged.number,
        "preferred": judged.preferred or "tie",
        "reason": keep_words(judged.reason, sources),
        "ours": _count_kinds(judged.ours),
        "theirs": _count_kinds(judged.theirs),
        "about_ours": [
            {"kind": each.kind, "why": keep_words(each.why, sources), "where": keep_words(each.where, sources)}
            for each in judged.ours
        ],
    }


def _count_kinds(statements: Iterable[Statement]) -> dict[str, int]:
    kinds = [statement.kind for statement in statements]
    return {kind: kinds.count(kind) for kind in ("false", "unsupported", "unchecked")}


def _list_sources(pair: Pair) -> Iterator[str]:
    """Yield what others wrote, each on one line."""
    patches = (file.get("patch") or "" for file in pair.files)
    for text in (pair.A, pair.B, pair.description, *patches):
        yield " ".join(text.split())


def keep_words(words: str, sources: Iterable[str]) -> str:
    """Return the judge's words; without them if they repeat more than 40 characters of what others wrote."""
    line = " ".join(words.split())
    runs = {line[at : at + _MAX_BORROWED + 1] for at in range(len(line) - _MAX_BORROWED)}
    return LEFT_OUT if any(run in source for source in sources for run in runs) else line
