"""``python -m evals trial``: collect prompts, pair the texts, score the verdicts."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from bot.domain.errors import UsageError
from bot.domain.pull_requests.models import Repository
from bot.domain.time.day import parse_zone
from bot.settings import load_settings
from evals.trial.collecting import collect_trial, write_prompts
from evals.trial.days import TrialDays, find_dates
from evals.trial.folder import TrialFolder
from evals.trial.keeping import keep_verdicts
from evals.trial.live import ask_model
from evals.trial.pairing import pair_trial
from evals.trial.score import TrialScore, format_score
from evals.trial.verdicts import load_judged

_SHARED = Path(__file__).parents[3] / "shared"
_FOLDER = click.Path(file_okay=False, path_type=Path)


@dataclass(frozen=True, slots=True)
class _Options:
    """The options of the command, by their names."""

    collect: Path | None
    pair: Path | None
    score: Path | None
    days: str
    sample: int
    seed: int
    repo: str
    timezone: str
    records: Path
    tree: Path | None
    golden: Path
    keep: Path | None
    github: bool
    live: bool


@click.command()
@click.option("--collect", type=_FOLDER, metavar="DIR", help="Write the prompts of a new trial.")
@click.option("--pair", type=_FOLDER, metavar="DIR", help="Check the answers, and write the pairs for judges.")
@click.option("--score", type=_FOLDER, metavar="DIR", help="Check the verdicts, and print the result.")
@click.option("--days", metavar="DATES", default="", help="With commas; by default all that are recorded.")
@click.option("--sample", type=click.IntRange(1), default=27, show_default=True, help="How many pull requests.")
@click.option("--seed", default=1, show_default=True, help="Which ones.")
@click.option("--repo", default="vllm-project/vllm", show_default=True)
@click.option("--timezone", default="America/Los_Angeles", show_default=True, help="Whose days.")
@click.option("--records", type=_FOLDER, default=_SHARED / "replay", help="Folder of recorded days.")
@click.option("--tree", type=_FOLDER, help="Folder with the files of a release, for functions around changes.")
@click.option("--golden", type=_FOLDER, default=_SHARED / "golden", help="Folder of the public reports.")
@click.option("--github", is_flag=True, help="Read the days from GitHub instead: with descriptions and files.")
@click.option("--live", is_flag=True, help="Let the configured model answer the prompts.")
@click.option(
    "--keep", type=click.Path(dir_okay=False, path_type=Path), help="Write what may be kept of verdicts."
)
def trial(**options: Any) -> None:
    """Compare the summaries with the public reports of the same days, by judges who don't know whose is whose.

    Use --collect, --pair and --score in turn; evals/trial/README.md has the method. --score exits with 1 if ours
    are preferred in less than 80 %, or have more than 6 false or unsupported statements in 27 pull requests.
    """
    _run_step(_Options(**options))


def _run_step(options: _Options) -> None:
    steps = ((options.collect, _collect), (options.pair, _pair), (options.score, _score))
    named = [(folder, step) for folder, step in steps if folder is not None]
    if len(named) != 1:
        raise UsageError("Give one of --collect DIR, --pair DIR and --score DIR.")
    folder, step = named[0]
    step(TrialFolder(folder), options)


def _collect(folder: TrialFolder, options: _Options) -> None:
    records = None if options.github else options.records
    dates = find_dates(records, [date.strip() for date in options.days.split(",") if date.strip()])
    if not dates:
        raise UsageError("Name the days: --days 2026-02-22,2026-02-24.")
    days = TrialDays(Repository.parse(options.repo), parse_zone(options.timezone), dates, records, options.tree)
    settings = load_settings()
    trial, prompts = collect_trial(days, settings, options.sample, options.seed)
    write_prompts(folder, trial, prompts)
    for date, merges in trial.merges.items():
        chosen = sum(pull.date == date for pull in trial.pulls)
        click.echo(f"{date}: {chosen} of {merges} merged pull requests")
    for line in ask_model(folder, days, settings, prompts) if options.live else ():
        click.echo(line)
    missing = sum(not folder.get_answer(pull.number).exists() for pull in trial.pulls)
    click.echo(f"{len(prompts)} prompts, {missing} without an answer: see {folder.path / 'README.md'}")
    sys.exit(1 if options.live and missing else 0)


def _pair(folder: TrialFolder, options: _Options) -> None:
    trial = folder.read_trial()
    records = options.records if trial.source == "records" else None
    days = TrialDays(
        Repository.parse(trial.repository), parse_zone(trial.timezone), tuple(trial.merges), records, options.tree
    )
    quotes = pair_trial(folder, trial, days, load_settings(), options.golden)
    click.echo(f"{quotes.verified} of {quotes.total} quotes are in changed lines")
    click.echo(f"{len(trial.pulls)} pairs: judges get {folder.pairs} and nothing else of {folder.path}")


def _score(folder: TrialFolder, options: _Options) -> None:
    score = TrialScore(load_judged(folder))
    for line in format_score(score):
        click.echo(line)
    if options.keep:
        keep_verdicts(folder, score, options.keep)
    sys.exit(0 if score.is_passed else 1)
