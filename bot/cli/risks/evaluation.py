"""The commands that measure the quality of the risk list."""

from __future__ import annotations

import datetime as dt
from datetime import timedelta
from pathlib import Path

import click

from bot.adapters.git import GitClone
from bot.cli.base import (
    check_writable,
    choose_zone,
    get_current_time,
    open_command_app,
    repo_option,
    require_repository,
    show_progress_bar,
    timezone_option,
    write_text,
)
from bot.cli.clone_options import branch_option, json_option, make_clone_option, make_dates_options, parse_dates
from bot.cli.grouped_help import format_example
from bot.cli.risks.reading import ReadingOptions, measure_reading
from bot.domain.conversations.commands import DEFAULT_SCORE_SPAN, AllowedRepositories, ScoreRequest
from bot.domain.errors import UsageError
from bot.domain.evaluation.labels import EvaluationWindow
from bot.domain.pull_requests.models import Repository
from bot.domain.time.day import get_today, parse_date
from bot.render.risk import evaluation as render
from bot.render.risk.score import format_score
from bot.services.history.clone_history import read_clone_history
from bot.services.risk.evaluation import MergeHistory, evaluate_history
from bot.settings import load_settings

# the rules look back at most 180 days, and repeated titles are rarely further apart
_HISTORY_LENGTH = timedelta(days=365)


@click.group("risks", help="Measure how good the risk list is.", epilog=format_example("prdigest risks score 90d"))
def risks_group() -> None:
    """Group the commands about the risk list."""


@risks_group.command(
    "evaluate",
    short_help="Measure the risk list on past merges of a clone.",
    epilog=format_example("prdigest risks evaluate --clone ../vllm --since 2025-10-01 --until 2025-12-31"),
)
@make_clone_option("--clone", "", "PATH")
@make_dates_options("to measure")
@click.option(
    "--scores",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help=("Write the scores to this CSV file (pr,score)."),
)
@timezone_option
@click.option("--repo", metavar="OWNER/NAME", help="Repository. Default: the origin of the clone.")
@branch_option
@click.option(
    "--history-from",
    metavar="YYYY-MM-DD",
    help=("First date (UTC) of the history. Default: a year before --since."),
)
@json_option
@click.option("--reading", is_flag=True, help="Measure the second reading instead: ask the model about pairs.")
@click.option("--pairs", type=click.IntRange(1), help="How many pairs are read; 30 if not given.")
@click.option("--seed", type=int, help="Which pairs; 1 if not given.")
@click.option(
    "--max-cost", metavar="USD", type=click.FloatRange(min=0), help="What readings may cost; 5 if not given."
)
def evaluate_command(
    clone: Path,
    since: str,
    until: str,
    scores: Path | None,
    timezone: str | None,
    repo: str | None,
    branch: str | None,
    history_from: str | None,
    *,
    for_scripts: bool,
    reading: bool,
    pairs: int | None,
    seed: int | None,
    max_cost: float | None,
) -> None:
    """Measure the risk list on past merges of a repository, from a local clone of it.

    Reverts are read from commits. Each merge is scored by what was known before it. Days are those of the time
    zone. The verdict at the end says whether you can rely on the list in this repository.

    With --reading, the model reviews pairs for bugs, as it does for a digest. One merge of a pair was repaired
    within two weeks, the other is like it and was not. Prints how often the first one is found to be worse. The
    next run continues where this one stopped.
    """
    # it imports the SDKs, which takes most of a second; help must not wait for them
    from bot.connections.from_settings import load_path_settings  # noqa: PLC0415

    options = ReadingOptions(pairs, seed, max_cost)
    options.require_reading(is_reading=reading)
    settings = load_settings()
    repository = Repository.parse(repo, settings.github_web_url) if repo else None
    window = parse_dates(since, until, choose_zone(settings, timezone))
    begin = _choose_history_start(window, history_from)
    if scores and reading:
        raise UsageError("--scores belongs to the risk list: leave it out, or leave out --reading.")
    check_writable(scores)

    def read_history() -> MergeHistory:
        classes_of = load_path_settings(settings).get_path_classes
        with show_progress_bar("commit", "Commits") as show:
            return read_clone_history(GitClone(clone, branch), repository, window, begin, show, classes_of)

    if reading:
        measure_reading(read_history, window, clone, options, for_scripts=for_scripts)
        return
    evaluation = evaluate_history(read_history(), window)
    if scores:
        write_text(scores, render.format_scores(evaluation))
    click.echo(render.format_evaluation_json(evaluation) if for_scripts else render.format_table(evaluation))


@risks_group.command(
    "score",
    short_help="Print how good the lists of the posted digests were.",
    epilog=format_example("prdigest risks score 90d"),
)
@click.argument("days", default=DEFAULT_SCORE_SPAN, metavar="[DAYS]")
@repo_option
@timezone_option
def score_command(days: str, repo: str | None, timezone: str | None) -> None:
    """Print how good the lists of the posted digests were, for DAYS such as 90d or 2026-01-01..2026-03-31."""
    with open_command_app() as app:
        # it imports the SDKs, which takes most of a second; help must not wait for them
        repository, zone = require_repository(app.settings, repo), choose_zone(app.settings, timezone)
        request = ScoreRequest.parse(days, AllowedRepositories(repository), get_today(get_current_time(), zone))
        score = app.track_record.score_lists(request.repository, request.span)
        click.echo(f"{repository}, {request.span.title}\n\n{format_score(score)}")


def _choose_history_start(window: EvaluationWindow, history_from: str | None) -> dt.date:
    """Return the first date (UTC) of the history to read. Raises UsageError."""
    if history_from is None:
        return window.since - _HISTORY_LENGTH
    begin = parse_date(history_from)
    if begin > window.since:
        raise UsageError(f"--history-from {begin} is after --since {window.since}: choose an earlier date.")
    return begin
