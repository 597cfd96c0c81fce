"""The result of a trial: who was preferred, and how much was false or unsupported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bot.domain.text.strings import collapse_lines, truncate_text
from bot.domain.track_record.statistics import compute_wilson_interval
from evals.trial.folder import Side
from evals.trial.verdicts import Judged, Statement

# what the trial has to show
PER_PULLS = 27
MAX_UNSUPPORTED = 6.0
MIN_PREFERRED = 0.8
_MAX_QUOTE = 200
_SIDES: tuple[Side, Side] = ("ours", "theirs")


@dataclass(frozen=True, slots=True)
class TrialScore:
    """The counts of a trial with at least one verdict."""

    judged: tuple[Judged, ...]

    def count_preferred(self, side: Side | None) -> int:
        """Count the pull requests of which a side was preferred; None counts ties."""
        return sum(each.preferred == side for each in self.judged)

    def list_statements(self, side: Side) -> tuple[tuple[int, Statement], ...]:
        """Return the false and unsupported statements of a side, with the numbers of their pull requests."""
        return tuple(
            (each.number, statement)
            for each in self.judged
            for statement in (each.ours if side == "ours" else each.theirs)
            if statement.kind != "unchecked"
        )

    def count_kind(self, side: Side, kind: str) -> int:
        """Count the statements of a side that are of a kind."""
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
        """Whether both bounds are kept."""
        return self.is_preferred and self.is_supported


def format_score(score: TrialScore) -> Iterator[str]:
    """Yield the lines of the result."""
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
