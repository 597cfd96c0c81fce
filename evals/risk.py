"""``python -m evals risk``: the risk list, measured on a record or on a clone, as a table or as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from bot.cli.base import check_writable, choose_zone, show_progress_bar, write_text
from bot.connections.sources import load_path_settings
from bot.dates import parse_zone
from bot.features.profiles.view import align_columns, replace_non_ascii
from bot.settings import load_settings
from bot.text import format_count
from evals.evaluation import Evaluation, evaluate_history
from evals.json_files import replace_undefined
from evals.merges import HARMED, PACK, REPAIRED, REVERTED, read_clone, read_pack
from impact.evaluation.ranking_metrics import Estimate
from impact.evaluation.window import EvaluationWindow
from impact.repository import Repository
from impact.text.strings import collapse_lines, parse_date

_PACK_ZONE = "America/Los_Angeles"
_LABEL_MEANINGS = {
    REVERTED: "reverted",
    HARMED: "reverted, or named as the cause by a repair",
    REPAIRED: "reverted, or repaired within two weeks",
}


@click.command("risk")
@click.option("--pack", type=click.Path(path_type=Path), default=PACK, help="Folder of a record with labels.")
@click.option("--clone", type=click.Path(path_type=Path), help="A local git clone, in place of the record.")
@click.option("--since", default="2025-10-01", show_default=True, help="First date (UTC) that is measured.")
@click.option("--until", default="2025-12-31", show_default=True, help="Last date (UTC) to measure.")
@click.option(
    "--timezone", help=f"Whose days have a top three. Default: {_PACK_ZONE}; for a clone, PRDIGEST_TIMEZONE."
)
@click.option(
    "--reverts",
    type=click.Choice(["labels", "titles"]),
    default="labels",
    show_default=True,
    help="What the rules look back at in a record: all known reverts, or those that titles name.",
)
@click.option("--repo", metavar="OWNER/NAME", help="Repository of a clone. Default: its origin.")
@click.option("--branch", help="Branch of a clone. Default: its default branch.")
@click.option("--history-from", help="First date (UTC) read of a clone. Default: a year before --since.")
@click.option(
    "--scores", type=click.Path(dir_okay=False, path_type=Path), help="Write the scores to this file (pr,score)."
)
@click.option("--json", "for_scripts", is_flag=True, help="Print JSON.")
def risk(
    pack: Path,
    clone: Path | None,
    since: str,
    until: str,
    timezone: str | None,
    reverts: str,
    repo: str | None,
    branch: str | None,
    history_from: str | None,
    scores: Path | None,
    *,
    for_scripts: bool,
) -> None:
    """Measure the risk list on a record, by labels R, H and Y, or on the past of a clone, by R and H.

    Reverts are read from commits, or are those of the record. Each merge is scored by what was known before it.
    The verdict at the end says whether the list can be relied on in this repository.
    """
    window = EvaluationWindow.parse(since, until)
    check_writable(scores)
    if clone:
        settings = load_settings()
        zone = choose_zone(settings, timezone)
        begin = parse_date(history_from) if history_from else None
        repository = Repository.parse(repo, settings.github_web_url) if repo else None
        classes_of = load_path_settings(settings).get_path_classes
        with show_progress_bar("commit", "Commits") as show:
            history = read_clone(clone, branch, repository, window, show, classes_of, begin)
    else:
        zone = parse_zone(timezone or _PACK_ZONE)
        history = read_pack(pack, by_titles=reverts == "titles")
    evaluation = evaluate_history(history, window, zone)
    if scores:
        write_text(scores, format_scores(evaluation))
    click.echo(format_json(evaluation) if for_scripts else format_table(evaluation))


def format_scores(evaluation: Evaluation) -> str:
    """Format ``pr,score`` of every pull request in the order of the merges; a higher score is riskier."""
    return "\n".join(["pr,score", *(f"{number},{points:.6f}" for number, points in evaluation.scores), ""])


def format_json(evaluation: Evaluation) -> str:
    """Format the evaluation for scripts; undefined values are null."""
    values = asdict(evaluation) | {"scores": len(evaluation.scores)}
    return json.dumps(replace_undefined(values), indent=2, default=str, allow_nan=False)


def format_table(evaluation: Evaluation) -> str:
    labels = [each.label for each in evaluation.positives]
    base_rates = [_format_percent(each.all / evaluation.pulls) for each in evaluation.positives]
    tables = (
        _format_head(evaluation),
        _format_rankings(evaluation),
        _format_listed(evaluation),
        _format_bands(evaluation, labels, base_rates),
        _format_rules(evaluation, labels, base_rates),
        [
            *(f"Note: {collapse_lines(note)}" for note in evaluation.notes),
            f"Verdict: {evaluation.verdict.signal}. {evaluation.verdict.sentence}",
        ],
    )
    return "\n\n".join("\n".join(map(replace_non_ascii, lines)) for lines in tables)


def _format_head(evaluation: Evaluation) -> Iterator[str]:
    source, window = evaluation.source, evaluation.window
    yield (
        f"{collapse_lines(source.repository)}, branch {collapse_lines(source.branch)}, merged {window['since']} to"
        f" {window['until']} (UTC), {evaluation.rules}"
    )
    yield (
        f"{format_count(evaluation.pulls, 'pull request')}, history from {source.history_from};"
        f" without product and build files: {_format_percent(evaluation.without_product.share)}"
    )
    for each in evaluation.positives:
        meaning = _LABEL_MEANINGS[each.label]
        yield f"{each.label}  {meaning}: {each.all:,}, {each.open:,} of them still open at 09:00 on the next day"
    yield (
        f"Measured on the {evaluation.open:,} that were open then, {format_count(evaluation.days, 'day')}"
        f" in {window['timezone']}; 'AUC all' on all; [95% intervals over days]"
    )


def _format_rankings(evaluation: Evaluation) -> list[str]:
    head = ("", "ranking", "AUC all", "AUC", "average precision", "precision, top 3 a day", "recall, top 3 a day")
    rows = [
        (
            row.label,
            row.ranking,
            "-" if math.isnan(row.auc_all) else f"{row.auc_all:.3f}",
            *map(_format_estimate, (row.auc, row.average_precision, row.precision, row.recall)),
        )
        for row in evaluation.rows
    ]
    gains = "; ".join(f"{label} {_format_signed(each)}" for label, each in evaluation.gains.items())
    return [*align_columns([head, *rows]), f"AUC of the rules less that of lines added: {gains}"]


def _format_listed(evaluation: Evaluation) -> list[str]:
    first = evaluation.listed[0]
    rows = [
        (each.label, _format_estimate(each.precision), _format_estimate(each.recall)) for each in evaluation.listed
    ]
    title = f"Top 3 of a day, only from {first.least:g} points on: {format_count(first.slots, 'place')}"
    return [title, *align_columns([("", "precision", "recall"), *rows])]


def _format_bands(evaluation: Evaluation, labels: Sequence[str], base_rates: Sequence[str]) -> list[str]:
    rows = [
        (each.band, _format_percent(each.share), *(_format_percent(each.rates[label]) for label in labels))
        for each in reversed(evaluation.bands)
    ]
    return align_columns([("band", "share", *labels), *rows, ("all", _format_percent(1.0), *base_rates)])


def _format_rules(evaluation: Evaluation, labels: Sequence[str], base_rates: Sequence[str]) -> list[str]:
    head = ("rule", "fired on", *labels, *(f"AUC {label} it adds" for label in labels))
    rows = [
        (
            each.rule,
            f"{each.fired:,}",
            *(_format_percent(each.rates[label]) for label in labels),
            *(_format_signed(each.effect[label]) for label in labels),
        )
        for each in evaluation.effects
    ]
    return align_columns([head, *rows, ("all", f"{evaluation.pulls:,}", *base_rates, *("" for _ in labels))])


def _format_signed(each: Estimate) -> str:
    if math.isnan(each.value):
        return "-"
    return f"{each.value:+.3f}{f' [{each.low:+.3f}, {each.high:+.3f}]' if each.is_defined else ''}"


def _format_estimate(each: Estimate) -> str:
    if math.isnan(each.value):
        return "-"
    is_wide = each.is_defined and each.low < each.high
    return f"{each.value:.3f}{f' [{each.low:.3f}, {each.high:.3f}]' if is_wide else ''}"


def _format_percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.1f}%"
