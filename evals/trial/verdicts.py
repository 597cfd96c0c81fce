"""What judges say of two texts, what follows from all of it, and what is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from bot.errors import UsageError
from bot.features.risks.rules import compute_wilson_interval
from evals.json_files import Part, read_part, write_json
from evals.trial.folder import Key, Pair, Side, Trial, TrialFolder
from impact.text.strings import collapse_lines, truncate_text

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
StatementKind = Literal["false", "unsupported", "unchecked"]
_MAX_QUOTE_SHOWN = 60
# what the trial has to show
PER_PULLS = 27
MAX_UNSUPPORTED = 6.0
MIN_PREFERRED = 0.8
_MAX_QUOTE = 200
_SIDES: tuple[Side, Side] = ("ours", "theirs")
# characters; a longer run of a text or of a diff is no word of the judge
_MAX_BORROWED = 40
LEFT_OUT = "(left out: it repeats a text or the change)"


class Statement(Part):
    """A statement of a text that does not hold, or can't be checked.

    ``where`` is what shows it: a path with a line, or a file of the repository.
    """

    quote: Words
    kind: StatementKind
    why: Words
    where: str = ""


class Verdict(Part):
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
        raise UsageError(f"{folder.path} has no pairs: go on with pair.")
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
    path = folder.get_file("verdicts", number)
    if not path.is_file():
        raise UsageError(f"verdicts/{number}.json is missing.")
    verdict, pair = read_part(path, Verdict), read_part(folder.get_file("pairs", number), Pair)
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
    known = {f"{pull.number}.json" for pull in trial.pulls}
    return [
        f"verdicts/{path.name} belongs to no pair."
        for path in sorted((folder.path / "verdicts").glob("*"))
        if path.name not in known
    ]


def reveal_sides(verdict: Verdict, first: Side) -> Judged:
    """Return a verdict with the names of the sides; ``first`` is the side of A."""
    second: Side = "theirs" if first == "ours" else "ours"
    texts = {first: verdict.A, second: verdict.B}
    preferred = {"A": first, "B": second}.get(verdict.preferred)
    return Judged(verdict.number, preferred, texts["ours"], texts["theirs"], verdict.reason)


@dataclass(frozen=True, slots=True)
class TrialScore:
    judged: tuple[Judged, ...]

    def count_preferred(self, side: Side | None) -> int:
        """Count the pull requests of which a side was preferred; None counts ties."""
        return sum(each.preferred == side for each in self.judged)

    def list_statements(self, side: Side) -> tuple[tuple[int, Statement], ...]:
        return tuple(
            (each.number, statement)
            for each in self.judged
            for statement in (each.ours if side == "ours" else each.theirs)
            if statement.kind != "unchecked"
        )

    def count_kind(self, side: Side, kind: str) -> int:
        listed = (each.ours if side == "ours" else each.theirs for each in self.judged)
        return sum(statement.kind == kind for statements in listed for statement in statements)

    def compute_rate(self, side: Side) -> float:
        """Return the false and unsupported statements of a side for each 27 pull requests."""
        return len(self.list_statements(side)) * PER_PULLS / len(self.judged)

    @property
    def is_preferred(self) -> bool:
        """Whether ours were preferred in at least 80 % of all; a tie counts against us."""
        # in integers: 0.8 has no exact binary value
        return 100 * self.count_preferred("ours") >= round(100 * MIN_PREFERRED) * len(self.judged)

    @property
    def is_supported(self) -> bool:
        """Whether ours have at most 6 false or unsupported statements for each 27 pull requests."""
        return len(self.list_statements("ours")) * PER_PULLS <= MAX_UNSUPPORTED * len(self.judged)

    @property
    def is_passed(self) -> bool:
        return self.is_preferred and self.is_supported


def format_score(score: TrialScore) -> Iterator[str]:
    total, ours, theirs = len(score.judged), score.count_preferred("ours"), score.count_preferred("theirs")
    yield f"{total} pull requests: ours preferred {ours}, theirs {theirs}, ties {score.count_preferred(None)}"
    bound = f"at least {MIN_PREFERRED:.0%}: {_format_verdict(score.is_preferred)}"
    yield f"ours preferred of all, ties against us: {_format_share(ours, total)}; {bound}"
    yield f"ours preferred, without ties: {_format_share(ours, ours + theirs)}"
    for side in _SIDES:
        yield _format_counts(score, side)
    yield f"ours, at most {MAX_UNSUPPORTED:g} per {PER_PULLS}: {_format_verdict(score.is_supported)}"
    for side in _SIDES:
        yield f"\nFalse or unsupported, {side}:"
        yield from _format_statements(score.list_statements(side))


def _format_share(part: int, whole: int) -> str:
    low, high = compute_wilson_interval(part, whole)
    share = f"{part / whole:.1%}" if whole else "-"
    return f"{part} of {whole}, {share} (95 % interval {low:.1%} to {high:.1%})"


def _format_counts(score: TrialScore, side: Side) -> str:
    false, unsupported, unchecked = (
        score.count_kind(side, kind) for kind in ("false", "unsupported", "unchecked")
    )
    return (
        f"{side}: {false} false, {unsupported} unsupported = {score.compute_rate(side):.1f} per {PER_PULLS}; "
        f"{unchecked} could not be checked and do not count"
    )


def _format_statements(statements: Iterable[tuple[int, Statement]]) -> Iterator[str]:
    is_empty = True
    for number, statement in statements:
        is_empty = False
        quote = truncate_text(collapse_lines(statement.quote), _MAX_QUOTE)
        where = f" ({collapse_lines(statement.where)})" if statement.where.strip() else ""
        yield f'  #{number} {statement.kind}: "{quote}": {collapse_lines(statement.why)}{where}'
    if is_empty:
        yield "  none"


def _format_verdict(is_kept: bool) -> str:  # noqa: FBT001 - one flag, and nothing else
    return "ok" if is_kept else "FAILED"


def keep_verdicts(folder: TrialFolder, score: TrialScore, to: Path) -> None:
    """Write what is kept of a trial: how it was made, without the content of its prompts, and the verdicts."""
    trial = folder.read_trial().model_dump(mode="json", exclude={"pulls"})
    pairs = [read_part(folder.get_file("pairs", each.number), Pair) for each in score.judged]
    rows = [_describe_judged(each, pair) for each, pair in zip(score.judged, pairs, strict=True)]
    write_json(to, {"trial": trial, "verdicts": rows})


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
    patches = (file.get("patch") or "" for file in pair.files)
    for text in (pair.A, pair.B, pair.description, *patches):
        yield " ".join(text.split())


def keep_words(words: str, sources: Iterable[str]) -> str:
    """Return the judge's words; without them if they repeat more than 40 characters of what others wrote."""
    line = " ".join(words.split())
    runs = {line[at : at + _MAX_BORROWED + 1] for at in range(len(line) - _MAX_BORROWED)}
    return LEFT_OUT if any(run in source for source in sources for run in runs) else line
