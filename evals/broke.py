"""``python -m evals broke``: the place that the cause of a known error has among the suspects."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from bot.features.profiles.view import align_columns
from bot.platform.git.reading import open_clone_trees
from impact.clones.clone_contracts import read_contracts
from impact.git.clone_trees import CloneTrees
from impact.source.models import LineCommit
from impact.text.strings import truncate_text
from impact.touches.breakage.explanations import Kinship
from impact.touches.breakage.suspects import LEAST_SCORE, RelevanceFilter, SuspectRange, rank_suspects
from impact.touches.breakage.traceback_names import parse_trace

# how long before its adaptation a cause is looked for where no pins are known
_LOOK_BACK = timedelta(days=30)
# links name the answer
_LINK = re.compile(r"\[[^\]\n]{0,300}\]\([^)\n]{0,300}\)|https?://\S{1,300}|#\d{1,9}")
_HEAD = ("error", "cause", "merges", "read", "place", "points", "best other")


@dataclass(frozen=True, slots=True)
class KnownError:
    """An error that somebody quoted, with the merge that caused it. ``base`` and ``head`` are pins, if known."""

    text: str
    number: int
    adapted_at: datetime
    merged_at: datetime
    base: str = ""
    head: str = ""


@dataclass(frozen=True, slots=True)
class RankedError:
    """The place of a cause among the suspects, None if it is none; the points of it and of the best other.

    ``read`` merges of ``merges`` were read. ``others`` counts the suspects once the cause is taken out.
    """

    error: KnownError
    merges: int
    read: int
    place: int | None
    points: float
    others: int
    best_other: float


@click.command("broke")
@click.option(
    "--upstream", required=True, type=click.Path(path_type=Path), help="Clone of the upstream repository."
)
@click.option(
    "--errors", "files", required=True, multiple=True, type=click.Path(path_type=Path), help="Table (CSV)."
)
@click.option(
    "--until", default="9999-01-01", help="Merges from this date (UTC) on count only if they are a cause."
)
@click.option("--least", type=float, default=LEAST_SCORE, show_default=True, help="Points of a suspect.")
@click.option("--only", type=int, multiple=True, help="Only errors with this cause.")
def broke(upstream: Path, files: tuple[Path, ...], until: str, least: float, only: tuple[int, ...]) -> None:
    """Rank the merges before each known error, with its cause and without it."""
    errors = [each for each in remove_repeats(read_errors(files)) if not only or each.number in only]
    end = datetime.fromisoformat(until).replace(tzinfo=UTC)
    ranked = []
    with open_clone_trees(upstream) as trees:
        history = CloneHistory(trees, min(*map(get_start, errors), end - _LOOK_BACK), end)
        for error in errors:
            ranked.append(history.rank_error(error, least))
            click.echo("  ".join(format_row(ranked[-1])), err=True)
    click.echo("\n".join([*align_columns([_HEAD, *map(format_row, ranked)]), "", *format_total(ranked)]))


def read_errors(files: Sequence[Path]) -> Iterator[KnownError]:
    """Yield the errors of tables: each row of one with a column of quotes, of others those that quote one."""
    for path in files:
        with path.open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                text = _LINK.sub("", row.get("quote") or row["what"])
                if "quote" in row or parse_trace(text).errors:
                    yield KnownError(
                        text,
                        int(row["upstream_pr"]),
                        read_day(row["date"]),
                        read_day(row["upstream_merged"]),
                        row.get("window_base", ""),
                        row.get("window_head", ""),
                    )


def read_day(text: str) -> datetime:
    """Return the first instant of a day in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def remove_repeats(errors: Iterator[KnownError]) -> list[KnownError]:
    """Return the errors, of those with the same cause and day the one with pins, then the one with more text."""
    best: dict[tuple[int, datetime], KnownError] = {}
    for error in errors:
        known = best.setdefault((error.number, error.adapted_at), error)
        text = max(known.text, error.text, key=len)
        best[error.number, error.adapted_at] = replace(error if error.base else known, text=text)
    return list(best.values())


def get_start(error: KnownError) -> datetime:
    """Return the instant from which causes are looked for where no pins are known."""
    return min(error.adapted_at - _LOOK_BACK, error.merged_at - timedelta(days=1))


class CloneHistory:
    """The merges of a clone from ``start`` on; those from ``end`` on count only where they are a cause."""

    def __init__(self, trees: CloneTrees, start: datetime, end: datetime) -> None:
        self._trees = trees
        self._end = end
        self._line = [commit for commit in trees.list_line() if commit.committed_at >= start - timedelta(days=90)]
        self._places = {commit.sha: place for place, commit in enumerate(self._line)}

    def rank_error(self, error: KnownError, least: float) -> RankedError:
        """Rank the merges before an error, with its cause and without it."""
        trace = parse_trace(error.text)
        merges = read_contracts(
            self._trees,
            self._select_line(error),
            RelevanceFilter(trace, Kinship()),
            lambda done, total: None,
            lambda pull: pull.merge_time < self._end or pull.number == error.number,
        )
        contracts, reverts = merges.contracts, merges.reverts
        suspects = rank_suspects(trace, merges, Kinship(), least)
        numbers = [each.number for each in suspects]
        without = [each for each in contracts if each.number != error.number]
        others = rank_suspects(trace, SuspectRange(without, reverts), Kinship(), 0)
        return RankedError(
            error,
            len(contracts),
            sum(bool(each.changes) for each in contracts),
            numbers.index(error.number) + 1 if error.number in numbers else None,
            next((each.score for each in suspects if each.number == error.number), 0.0),
            sum(each.score >= least for each in others),
            max((each.score for each in others), default=0.0),
        )

    def _get_start(self, error: KnownError) -> datetime:
        """Return where a range begins: where it would only have merges that don't count, those before stand in."""
        return min(get_start(error), self._end - _LOOK_BACK)

    def _select_line(self, error: KnownError) -> list[LineCommit]:
        """Return the commits between the pins if the cause is among them by its date, else those of the days."""
        base, head = (
            self._places.get(self._trees.find_commit(pin)) if pin else None for pin in (error.base, error.head)
        )
        if base is not None and head is not None:
            window = self._line[base + 1 : head + 1]
            if any(abs(commit.committed_at - error.merged_at) < timedelta(days=2) for commit in window):
                return window
        start = self._get_start(error)
        return [
            commit
            for commit in self._line
            if start <= commit.committed_at < error.adapted_at
            and (commit.committed_at < self._end or self._is_near(commit, error))
        ]

    def _is_near(self, commit: LineCommit, error: KnownError) -> bool:
        """Return whether a commit may be the cause by its day: others from the end on are not even listed."""
        return abs(commit.committed_at - error.merged_at) < timedelta(days=2)


def format_row(ranked: RankedError) -> tuple[str, ...]:
    return (
        truncate_text(" ".join(ranked.error.text.split()), 70),
        f"#{ranked.error.number}",
        str(ranked.merges),
        str(ranked.read),
        "-" if ranked.place is None else str(ranked.place),
        f"{ranked.points:.0f}",
        f"{ranked.best_other:.0f}",
    )


def format_total(ranked: Sequence[RankedError]) -> Iterator[str]:
    """Yield the shares of causes in the first places, and of ranges without the cause that have no suspect."""
    for most in (1, 3):
        count = sum(each.place is not None and each.place <= most for each in ranked)
        yield f"among the first {most}: {count} of {len(ranked)} ({count / max(1, len(ranked)):.0%})"
    silent = sum(not each.others for each in ranked)
    yield f"no suspect without the cause: {silent} of {len(ranked)} ({silent / max(1, len(ranked)):.0%})"
