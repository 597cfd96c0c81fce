"""``prdigest risks evaluate --reading``: the second reading, measured on matched pairs of a clone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import click

from bot.cli.base import open_command_app, show_progress_bar
from bot.domain.errors import PrdigestError, UsageError
from bot.domain.evaluation.labels import EvaluationWindow
from bot.domain.evaluation.pairs import PairRule
from bot.domain.evaluation.readings import evaluate_readings
from bot.domain.text.strings import format_count
from bot.render.risk import paired_reading as render
from bot.services.history.backfill import CostLimit
from bot.services.risk.evaluation import MergeHistory

DEFAULT_PAIRS, DEFAULT_SEED, DEFAULT_MAX_COST = 30, 1, 5.0


class ReadingOptions(NamedTuple):
    """The options of the command that belong to a reading; None where they are not given."""

    pairs: int | None
    seed: int | None
    max_cost: float | None

    def require_reading(self, *, is_reading: bool) -> None:
        """Raise UsageError if an option is given without ``--reading``."""
        names = ("--pairs", "--seed", "--max-cost")
        option_names = [name for name, value in zip(names, self, strict=True) if value is not None]
        if option_names and not is_reading:
            raise UsageError(f"{option_names[0]} belongs to --reading: give both, or neither.")

    @property
    def rule(self) -> PairRule:
        """How the pairs are chosen."""
        seed = DEFAULT_SEED if self.seed is None else self.seed
        return PairRule(DEFAULT_PAIRS if self.pairs is None else self.pairs, seed)

    @property
    def limit(self) -> CostLimit:
        """What the readings may cost."""
        return CostLimit(DEFAULT_MAX_COST if self.max_cost is None else self.max_cost)


def measure_reading(
    read_history: Callable[[], MergeHistory],
    window: EvaluationWindow,
    clone: Path,
    options: ReadingOptions,
    *,
    for_scripts: bool,
) -> None:
    """Read matched pairs of a clone with the model, and print the figures.

    Raises:
        ConfigurationError: there is no model.
        UsageError: there is no pair.
        PrdigestError: merges were not read; the figures of the others are printed then.
    """
    # they import the SDKs, which takes most of a second; help must not wait for them
    from bot.container.digests.clone_reviews import build_pair_reader  # noqa: PLC0415
    from bot.services.risk.paired_reading import choose_pairs  # noqa: PLC0415

    rule, limit = options.rule, options.limit
    with open_command_app() as app:
        # before the history is read, which takes minutes: there may be no key
        reader = build_pair_reader(app, clone)
        history = read_history()
        choice = choose_pairs(history, window, rule)
        if not choice.pairs:
            raise UsageError(
                f"There is no pair from {window.since} to {window.until}: choose dates with a merge that was "
                f"reverted or repaired within {rule.span.days} days, and another one like it."
            )
        if note := render.explain_few_pairs(choice, rule):
            click.echo(note, err=True)
        with show_progress_bar("merge", "Readings") as show:
            read = reader.read_pairs(choice.pairs, history, limit, show)
    result = evaluate_readings(read)
    click.echo(
        render.format_reading_json(result, rule, read, choice.eligible)
        if for_scripts
        else render.format_reading(result, rule, choice.eligible)
    )
    if result.problems:
        unread = format_count(len(result.problems), "merge")
        raise PrdigestError(f"{unread} could not be read: run the same again to go on; what is read is kept.")
