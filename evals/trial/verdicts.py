"""What judges say of two texts, and the check that it can be used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from bot.domain.errors import UsageError
from bot.domain.text.strings import truncate_text
from evals.trial.folder import Key, Pair, Part, Side, Trial, TrialFolder, read_part

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
StatementKind = Literal["false", "unsupported", "unchecked"]
_MAX_QUOTE_SHOWN = 60


class Statement(Part):
    """A statement of a text that does not hold, or can't be checked.

    ``where`` is what shows it: a path with a line, or a file of the repository.
    """

    quote: Words
    kind: StatementKind
    why: Words
    where: str = ""


class Verdict(Part):
    """What a judge says of a pair."""

    number: int
    A: tuple[Statement, ...]
    B: tuple[Statement, ...]
    preferred: Literal["A", "B", "tie"]
    reason: Words = Field(description="why somebody downstream would prefer it")


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict with the names of the sides. ``preferred`` is None for a tie."""

    number: int
    preferred: Side | None
    ours: tuple[Statement, ...]
    theirs: tuple[Statement, ...]
    reason: str


def load_judged(folder: TrialFolder) -> tuple[Judged, ...]:
    """Read all verdicts of a trial.

    Raises:
        UsageError: there are no pairs, or verdicts are missing or malformed; each is named.
    """
    trial, key = folder.read_trial(), folder.read_key()
    if key is None:
        raise UsageError(f"{folder.path} has no pairs: go on with --pair.")
    judged, problems = [], []
    for pull in trial.pulls:
        try:
            judged.append(_load_one(folder, pull.number, key))
        except UsageError as error:
            problems.append(str(error))
    problems += _list_strangers(folder, trial)
    if problems:
        raise UsageError("These verdicts can't be used:\n" + "\n".join(problems))
    return tuple(judged)


def _load_one(folder: TrialFolder, number: int, key: Key) -> Judged:
    path = folder.get_verdict(number)
    if not path.is_file():
        raise UsageError(f"verdicts/{number}.json is missing.")
    verdict, pair = read_part(path, Verdict), read_part(folder.get_pair(number), Pair)
    if verdict.number != number:
        raise UsageError(f"verdicts/{number}.json is about #{verdict.number}.")
    _check_quotes(number, "A", verdict.A, pair.A)
    _check_quotes(number, "B", verdict.B, pair.B)
    return reveal_sides(verdict, key.first[number])


def _check_quotes(number: int, side: str, statements: Sequence[Statement], text: str) -> None:
    """Raise UsageError if a quote is not in its text, or is there twice: each would count."""
    plain, seen = " ".join(text.split()), set()
    for statement in statements:
        quote = " ".join(statement.quote.split())
        shown = truncate_text(quote, _MAX_QUOTE_SHOWN)
        if quote not in plain:
            raise UsageError(f"verdicts/{number}.json quotes what is not in {side}: {shown}")
        if quote in seen:
            raise UsageError(f"verdicts/{number}.json has a quote of {side} twice: {shown}")
        seen.add(quote)


def _list_strangers(folder: TrialFolder, trial: Trial) -> list[str]:
    """Return a sentence about each verdict that belongs to no pair."""
    known = {f"{pull.number}.json" for pull in trial.pulls}
    return [
        f"verdicts/{path.name} belongs to no pair."
        for path in sorted(folder.verdicts.glob("*"))
        if path.name not in known
    ]


def reveal_sides(verdict: Verdict, first: Side) -> Judged:
    """Return a verdict with the names of the sides; ``first`` is the side of A."""
    second: Side = "theirs" if first == "ours" else "ours"
    texts = {first: verdict.A, second: verdict.B}
    preferred = {"A": first, "B": second}.get(verdict.preferred)
    return Judged(verdict.number, preferred, texts["ours"], texts["theirs"], verdict.reason)
