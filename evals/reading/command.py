"""``python -m evals reading``: the AI bug review, measured on matched pairs of a clone.

``ask`` has the bot's model read them. Without a key, ``collect`` writes the prompts for readers, ``tool`` looks
into the repository for one of them, and ``score`` checks their answers.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import click

from bot.cli.base import choose_zone, open_command_app, show_progress_bar
from bot.connections.sources import load_path_settings
from bot.errors import PrdigestError, UsageError
from bot.features.merges.risk import Risk, assess_pull_request
from bot.platform.pulls.models import PullRequest
from bot.platform.source.tools import SOURCE_TOOLS
from bot.settings import Settings, load_settings
from bot.text import format_count
from evals.merges import MergeHistory, read_clone
from evals.reading.days import choose_days, describe_days, evaluate_days, format_days, read_days, write_judging
from evals.reading.figures import (
    ReadPair,
    evaluate_readings,
    explain_few_pairs,
    format_reading,
    format_reading_json,
)
from evals.reading.folder import ReadingFolder, ReadingPlan, describe_pairs
from evals.reading.pairs import SPAN, PairChoice, match_pairs, shuffle_merges
from evals.reading.review import Call, Round, build_model_reader
from impact.evaluation.window import EvaluationWindow
from impact.repository import Repository

# the share of pairs that a reading has to order right
_LEAST = 0.75
# the argument that a tool is named with, where only one is given
_FIRST_ARGUMENTS = {name: next(iter(shape.model_fields)) for name, (shape, _) in SOURCE_TOOLS.items()}
_folder_argument = click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
_json_option = click.option("--json", "for_scripts", is_flag=True, help="Print JSON.")
_HISTORY_OPTIONS = (
    click.option("--clone", type=click.Path(path_type=Path), required=True, help="A local git clone."),
    click.option("--repo", metavar="OWNER/NAME", help="Repository. Default: the origin of the clone."),
    click.option("--branch", help="Branch. Default: the default branch of the clone."),
    click.option("--since", default="2025-01-01", show_default=True, help="First date (UTC) of merges to read."),
    click.option("--until", default="2025-12-31", show_default=True, help="Last date (UTC)."),
    click.option("--timezone", help="Whose days have a digest. Default: PRDIGEST_TIMEZONE."),
    click.option("--seed", default=1, show_default=True, help="Which ones."),
)


def _add_history_options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_HISTORY_OPTIONS):
        command = option(command)
    return command


def _add_pair_options(command: Callable[..., None]) -> Callable[..., None]:
    pairs = click.option("--pairs", type=click.IntRange(1), default=30, show_default=True, help="How many pairs.")
    return _add_history_options(pairs(command))


@dataclass(frozen=True, kw_only=True)
class _HistoryOptions:
    clone: Path
    repo: str | None
    branch: str | None
    since: str
    until: str
    timezone: str | None
    seed: int

    def read_history(self, settings: Settings) -> tuple[MergeHistory, EvaluationWindow, ZoneInfo]:
        """Read the clone. Raises UsageError if it can't be read."""
        window, zone = EvaluationWindow.parse(self.since, self.until), choose_zone(settings, self.timezone)
        repository = Repository.parse(self.repo, settings.github_web_url) if self.repo else None
        classes_of = load_path_settings(settings).get_path_classes
        with show_progress_bar("commit", "Commits") as show:
            return read_clone(self.clone, self.branch, repository, window, show, classes_of), window, zone

    def make_plan(self, history: MergeHistory, zone: ZoneInfo, prompts: int) -> ReadingPlan:
        return ReadingPlan(
            repository=history.source.repository,
            branch=history.source.branch,
            clone=str(self.clone.resolve()),
            since=self.since,
            until=self.until,
            timezone=str(zone),
            seed=self.seed,
            prompts=prompts,
        )


@dataclass(frozen=True, kw_only=True)
class _PairOptions(_HistoryOptions):
    pairs: int

    def choose_pairs(self, settings: Settings) -> tuple[MergeHistory, PairChoice]:
        """Read the clone, and choose pairs. Raises UsageError if there is none."""
        history, window, zone = self.read_history(settings)
        choice = match_pairs(history, window, zone, self.pairs, self.seed)
        if not choice.pairs:
            raise UsageError(
                f"There is no pair from {window.since} to {window.until}: choose dates with a merge that was "
                f"reverted or repaired within {SPAN.days} days, and another one like it."
            )
        if note := explain_few_pairs(choice, self.pairs):
            click.echo(note, err=True)
        return history, choice


@click.group("reading")
def reading() -> None:
    """Measure how often the AI bug review finds that merge of a pair to be worse that was repaired later."""


@reading.command("ask")
@_add_pair_options
@click.option(
    "--max-cost", type=click.FloatRange(min=0), default=5.0, show_default=True, help="US dollars at most."
)
@_json_option
def ask(max_cost: float, *, for_scripts: bool, **values: Any) -> None:
    """Ask the bot's model about each merge of the pairs, as for a digest. The next run continues this one."""
    options = _PairOptions(**values)
    with open_command_app() as app:
        # before the history is read, which takes minutes: there may be no key
        reader = build_model_reader(app, options.clone, max_cost)
        history, choice = options.choose_pairs(app.settings)
        merges = [pull for pair in choice.pairs for pull in pair.merges]
        with show_progress_bar("merge", "Readings") as show:
            readings = reader.read_merges(merges, app.settings.prdigest_concurrency, show)

    def assess(pull: PullRequest) -> Risk:
        return assess_pull_request(pull, history.classes, history.past)

    pairs = [
        ReadPair(pair, repaired, other, assess(pair.repaired), assess(pair.other))
        for pair, repaired, other in zip(choice.pairs, readings[0::2], readings[1::2], strict=True)
    ]
    result = evaluate_readings(pairs)
    click.echo(
        format_reading_json(result, options.seed, pairs, choice.eligible)
        if for_scripts
        else format_reading(result, options.seed, choice.eligible)
    )
    if result.problems:
        unread = format_count(len(result.problems), "merge")
        raise PrdigestError(f"{unread} could not be read: run the same again to go on; what is read is kept.")


@reading.command("collect")
@_folder_argument
@_add_pair_options
def collect(folder: Path, **values: Any) -> None:
    """Write the prompts of new pairs into FOLDER, and beside it the key, which no reader may see."""
    options, settings, files = _PairOptions(**values), load_settings(), ReadingFolder(folder)
    files.require_unused()
    history, choice = options.choose_pairs(settings)
    plan = options.make_plan(history, choose_zone(settings, options.timezone), 2 * len(choice.pairs))
    merges = shuffle_merges(choice.pairs, plan.seed)
    with show_progress_bar("prompt", "Prompts") as show:
        files.collect_prompts(plan, merges, describe_pairs(history, choice, merges), settings, show)
    click.echo(
        f"{len(choice.pairs)} pairs, {plan.prompts} prompts: readers get {folder}, and never {files.key.name}"
    )


@reading.group("days")
def whole_days() -> None:
    """Measure whole days: each merge of product code is read, and judged by what came within sixty days."""


@whole_days.command("collect")
@_folder_argument
@_add_history_options
@click.option("--days", "count", type=click.IntRange(1), default=3, show_default=True, help="How many days.")
@click.option("--least", type=click.IntRange(1), default=20, show_default=True, help="Merges of a day at least.")
def collect_days(folder: Path, count: int, least: int, **values: Any) -> None:
    """Write the prompts of days, which a hash chooses, into FOLDER, and the key beside it for no reader."""
    options, settings, files = _HistoryOptions(**values), load_settings(), ReadingFolder(folder)
    files.require_unused()
    history, window, zone = options.read_history(settings)
    days = choose_days(history, window, zone, count, least, options.seed)
    if not days:
        raise UsageError(
            f"No day from {window.since} to {window.until} has {least} merges, and 60 days after them."
        )
    key, merges = describe_days(history, days, options.seed)
    with show_progress_bar("prompt", "Prompts") as show:
        files.collect_prompts(options.make_plan(history, zone, len(merges)), merges, key, settings, show)
    click.echo(f"{', '.join(days)}: {len(key.merges)} merges, {len(merges)} prompts in {folder}")


@whole_days.command("judge")
@_folder_argument
def judge_days(folder: Path) -> None:
    """Write into FOLDER what a judge gets, once there are answers: findings, and what came later."""
    files, settings = ReadingFolder(folder), load_settings()
    plan = files.read_plan()
    values = {name: getattr(plan, name) for name in ("branch", "since", "until", "timezone", "seed")}
    history, _, _ = _HistoryOptions(clone=Path(plan.clone), repo=plan.repository, **values).read_history(settings)
    click.echo(f"{format_count(write_judging(files, history, settings), 'merge')} to judge: read JUDGE.md")


@whole_days.command("score")
@_folder_argument
def score_days(folder: Path) -> None:
    """Check answers and verdicts in FOLDER, and print the figures. Exits with 1 if one is too low or missing."""
    days = read_days(ReadingFolder(folder), load_settings())
    figures = evaluate_days(days)
    click.echo(format_days(figures, [*days]))
    sys.exit(0 if figures.is_passed else 1)


@reading.command("tool")
@_folder_argument
@click.argument("number", type=int)
@click.argument("words", nargs=-1, required=True, metavar="TOOL ARGUMENTS...")
def tool(folder: Path, number: int, words: tuple[str, ...]) -> None:
    """Look into the repository while reading a prompt of FOLDER, by its NUMBER: one round of up to four calls.

    Each call is a tool and its arguments as JSON, or the first argument alone.
    """
    for text in ReadingFolder(folder).use_tools(number, parse_calls(words), load_settings()):
        click.echo(text)


def parse_calls(words: Sequence[str]) -> Round:
    """Return the calls that words of the command line ask for. Raises UsageError."""
    if len(words) % 2:
        raise UsageError("Give for each call a tool and its arguments.")
    return tuple(_parse_call(name, text) for name, text in zip(words[0::2], words[1::2], strict=True))


def _parse_call(name: str, text: str) -> Call:
    if not text.startswith("{"):
        return Call(name, {_FIRST_ARGUMENTS.get(name, "path"): text})
    try:
        return Call(name, dict(json.loads(text)))
    except ValueError as error:
        raise UsageError(f"The arguments of {name} are no JSON: {error}.") from error


@reading.command("score")
@_folder_argument
@_json_option
def score(folder: Path, *, for_scripts: bool) -> None:
    """Check the answers in FOLDER as the bot checks a model, and print the figures.

    Exits with 1 if less than 75 % of the pairs are right, or a reading is missing.
    """
    files = ReadingFolder(folder)
    seed = files.read_plan().seed
    eligible, pairs = files.read_pairs(load_settings())
    result = evaluate_readings(pairs)
    if for_scripts:
        click.echo(format_reading_json(result, seed, pairs, eligible))
    else:
        click.echo(format_reading(result, seed, eligible))
        click.echo("No model was asked: the cost is that of a model, with tokens estimated by their length.")
    is_passed = not result.problems and result.reading.share >= _LEAST and result.quoted == result.confirmed
    sys.exit(0 if is_passed else 1)
