"""``python -m evals trial``: collect prompts, pair the texts, score the verdicts."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from bot.dates import parse_zone
from bot.errors import UsageError
from bot.settings import load_settings
from evals.trial.days import TrialDays, find_dates
from evals.trial.folder import TrialFolder
from evals.trial.pairing import pair_trial
from evals.trial.prompts import ask_model, collect_trial, write_prompts
from evals.trial.verdicts import TrialScore, format_score, keep_verdicts, load_judged
from impact.repository import Repository

_SHARED = Path(__file__).parents[3] / "shared"
_FOLDER = click.Path(file_okay=False, path_type=Path)
_folder_argument = click.argument("folder", type=_FOLDER)
_records_option = click.option(
    "--records", type=_FOLDER, default=_SHARED / "replay", help="Folder of recorded days."
)
_tree_option = click.option(
    "--tree", type=_FOLDER, help="Folder with the files of a release, for functions around changes."
)


@click.group("trial")
def trial() -> None:
    """Compare the summaries with the public reports of the same days, by judges who don't know whose is whose.

    Use collect, pair and score in turn; evals/trial/README.md has the method.
    """


@trial.command("collect")
@_folder_argument
@click.option("--days", metavar="DATES", default="", help="With commas; by default all that are recorded.")
@click.option("--sample", type=click.IntRange(1), default=27, show_default=True, help="How many pull requests.")
@click.option("--seed", default=1, show_default=True, help="Which ones.")
@click.option("--repo", default="vllm-project/vllm", show_default=True)
@click.option("--timezone", default="America/Los_Angeles", show_default=True, help="Whose days.")
@_records_option
@_tree_option
@click.option("--github", is_flag=True, help="Read the days from GitHub instead: with descriptions and files.")
@click.option("--live", is_flag=True, help="Let the configured model answer the prompts.")
def collect(
    folder: Path,
    days: str,
    sample: int,
    seed: int,
    repo: str,
    timezone: str,
    records: Path,
    tree: Path | None,
    *,
    github: bool,
    live: bool,
) -> None:
    recorded = None if github else records
    dates = find_dates(recorded, [date.strip() for date in days.split(",") if date.strip()])
    if not dates:
        raise UsageError("Name the days: --days 2026-02-22,2026-02-24.")
    trial_days = TrialDays(Repository.parse(repo), parse_zone(timezone), dates, recorded, tree)
    files, settings = TrialFolder(folder), load_settings()
    collected, prompts = collect_trial(trial_days, settings, sample, seed)
    write_prompts(files, collected, prompts)
    for date, merges in collected.merges.items():
        chosen = sum(pull.date == date for pull in collected.pulls)
        click.echo(f"{date}: {chosen} of {merges} merged pull requests")
    for line in ask_model(files, trial_days, settings, prompts) if live else ():
        click.echo(line)
    missing = sum(not files.get_file("answers", pull.number).exists() for pull in collected.pulls)
    click.echo(f"{len(prompts)} prompts, {missing} without an answer: see {folder / 'README.md'}")
    sys.exit(1 if live and missing else 0)


@trial.command("pair")
@_folder_argument
@_records_option
@_tree_option
@click.option("--golden", type=_FOLDER, default=_SHARED / "golden", help="Folder of the public reports.")
def pair(folder: Path, records: Path, tree: Path | None, golden: Path) -> None:
    files = TrialFolder(folder)
    collected = files.read_trial()
    recorded = records if collected.source == "records" else None
    repository, zone = Repository.parse(collected.repository), parse_zone(collected.timezone)
    days = TrialDays(repository, zone, tuple(collected.merges), recorded, tree)
    quotes = pair_trial(files, collected, days, load_settings(), golden)
    click.echo(f"{quotes.verified} of {quotes.total} quotes are in changed lines")
    click.echo(f"{len(collected.pulls)} pairs: judges get {folder / 'pairs'} and nothing else of {folder}")


@trial.command("score")
@_folder_argument
@click.option(
    "--keep", type=click.Path(dir_okay=False, path_type=Path), help="Write what may be kept of verdicts."
)
def score(folder: Path, keep: Path | None) -> None:
    """Check the verdicts in FOLDER, and print the result.

    Exits with 1 if ours are preferred in less than 80 %, or have more than 6 false or unsupported statements in 27
    pull requests.
    """
    files = TrialFolder(folder)
    result = TrialScore(load_judged(files))
    for line in format_score(result):
        click.echo(line)
    if keep:
        keep_verdicts(files, result, keep)
    sys.exit(0 if result.is_passed else 1)
