"""The figures of both tools as Markdown tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.peers.measurements import Run, Series
from tests.emulators.github.store import PullRecord


@dataclass(frozen=True)
class Figure:
    """One row: what is measured, of one run, whether it is summed up, and how it is printed."""

    name: str
    value: Callable[[Run], float]
    is_total: bool = True
    form: str = "{:,.0f}"

    def of(self, series: Series) -> float:
        return series.total(self.value) if self.is_total else series.median(self.value)


FIGURES = (
    Figure("model calls", lambda run: run.model),
    Figure("tokens in", lambda run: run.usage.prompt_tokens),
    Figure("of them read from the prompt cache", lambda run: run.usage.cache_read),
    Figure("tokens out", lambda run: run.usage.output),
    Figure("dollars without prompt caching", lambda run: run.plain_dollars, form="{:.4f}"),
    Figure("dollars as it caches", lambda run: run.dollars, form="{:.4f}"),
    Figure("GitHub calls", lambda run: run.github),
    Figure("seconds, median", lambda run: run.seconds, is_total=False, form="{:.2f}"),
    Figure(
        "of them after the first request, median",
        lambda run: run.seconds - run.start,
        is_total=False,
        form="{:.2f}",
    ),
    Figure("seconds of the processor, median", lambda run: run.processor, is_total=False, form="{:.2f}"),
    Figure("megabytes of memory at the peak, median", lambda run: run.megabytes, is_total=False),
)
# of runs of different extent only sums can be compared
SUMS = (
    *(figure for figure in FIGURES if figure.is_total),
    Figure("seconds", lambda run: run.seconds, form="{:.2f}"),
)


def format_comparison(ours: Series, peers: Sequence[Series], figures: Sequence[Figure] = FIGURES) -> Iterator[str]:
    """Yield a table with a column for each series, and how many times ours the first of the peers is."""
    names = [ours.name, *(each.name for each in peers), f"{peers[0].name} / {ours.name}"]
    yield from _format_head(["", *names])
    for figure in figures:
        values = [figure.of(each) for each in (ours, *peers)]
        cells = [figure.form.format(value) for value in values]
        yield _format_row([figure.name, *cells, format_ratio(values[1], values[0])])


def format_ratio(peer: float, ours: float) -> str:
    """Return how many times ours the peer's figure is; a dash if ours is nought."""
    return f"{peer / ours:.2f}" if ours else "-"


def format_pulls(pulls: Iterable[PullRecord], ours: Series, peer: Series) -> Iterator[str]:
    """Yield a table with a row for each pull request: its size, and both tools' tokens, calls and seconds."""
    heads = ["pull request", "files", "lines"]
    heads += [f"{what}, {each.name}" for what in ("tokens in", "GitHub calls", "seconds") for each in (ours, peer)]
    yield from _format_head(heads)
    for pull, *runs in zip(pulls, ours.runs, peer.runs, strict=True):
        size = [f"#{pull.number}", str(pull.changed_files), str(pull.additions + pull.deletions)]
        tokens = [f"{run.usage.prompt_tokens:,}" for run in runs]
        calls = [str(run.github) for run in runs]
        yield _format_row([*size, *tokens, *calls, *(f"{run.seconds:.1f}" for run in runs)])


def _format_head(cells: list[str]) -> Iterator[str]:
    yield _format_row(cells)
    yield _format_row(["---", *["---:"] * (len(cells) - 1)])


def _format_row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
