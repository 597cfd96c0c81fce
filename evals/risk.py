"""``python -m evals risk``: the risk list, measured on a record with labels by hand."""

from __future__ import annotations

from pathlib import Path

import click

from bot.domain.errors import PrdigestError
from bot.domain.evaluation.labels import EvaluationWindow
from bot.domain.time.day import parse_date, parse_zone
from bot.render.risk import evaluation as render
from bot.services.risk.evaluation import evaluate_history
from evals.pack import read_history

PACK = Path(__file__).parents[2] / "shared" / "risk"


@click.command()
@click.option("--pack", type=click.Path(path_type=Path), default=PACK, help="Folder of the record.")
@click.option("--since", default="2025-10-01", show_default=True, help="First date (UTC) that is measured.")
@click.option("--until", default="2025-12-31", show_default=True, help="Last date (UTC) to measure.")
@click.option("--timezone", default="America/Los_Angeles", show_default=True, help="Whose days have a top three.")
@click.option(
    "--reverts",
    type=click.Choice(["labels", "titles"]),
    default="labels",
    show_default=True,
    help="What the rules look back at: all known reverts, or those that titles name.",
)
@click.option(
    "--scores",
    type=click.Path(dir_okay=False, path_type=Path),
    help=("Write the scores to this CSV file (pr,score)."),
)
@click.option("--json", "for_scripts", is_flag=True, help="Print JSON.")
def risk(
    pack: Path, since: str, until: str, timezone: str, reverts: str, scores: Path | None, *, for_scripts: bool
) -> None:
    """Measure the risk list on the record in PACK, by labels R, H and Y."""
    try:
        window = EvaluationWindow(parse_date(since), parse_date(until), parse_zone(timezone))
        result = evaluate_history(read_history(pack, by_titles=reverts == "titles"), window)
    except PrdigestError as error:
        raise click.ClickException(str(error)) from error
    if scores:
        scores.write_text(render.format_scores(result), encoding="utf-8")
    click.echo(render.format_evaluation_json(result) if for_scripts else render.format_table(result))
