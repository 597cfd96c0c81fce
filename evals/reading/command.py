"""``python -m evals reading``: collect the prompts of matched pairs, use tools in a reading, score the answers."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from bot.adapters.git import GitClone
from bot.cli.base import choose_zone, show_progress_bar
from bot.connections.from_settings import load_path_settings
from bot.domain.errors import PrdigestError, UsageError
from bot.domain.evaluation.labels import EvaluationWindow
from bot.domain.evaluation.pairs import PairRule
from bot.domain.evaluation.readings import evaluate_readings
from bot.domain.pull_requests.models import Repository
from bot.domain.time.day import parse_date
from bot.render.risk import paired_reading as render
from bot.services.history.clone_history import read_clone_history
from bot.services.review.schemas import FindUsesArguments, ListChangesArguments, ReadFileArguments
from bot.settings import Settings, load_settings
from evals.reading.collecting import PairSource, collect_prompts
from evals.reading.conversations import use_tools
from evals.reading.folder import ReadingFolder
from evals.reading.score import read_answers
from evals.reading.scripted import Call, Round

_FOLDER = click.Path(file_okay=False, path_type=Path)
_HISTORY_DAYS = 365
# the share of pairs that a reading has to order right
_LEAST = 0.75
# the argument that a tool is named with, where only one is given
_FIRST_ARGUMENTS = {
    "read_file": next(iter(ReadFileArguments.model_fields)),
    "find_uses": next(iter(FindUsesArguments.model_fields)),
    "list_changes": next(iter(ListChangesArguments.model_fields)),
}


@dataclass(frozen=True, slots=True)
class _Options:
    """The options of the command, by their names."""

    arguments: tuple[str, ...]
    collect: Path | None
    tool: Path | None
    score: Path | None
    clone: Path | None
    repo: str | None
    branch: str | None
    since: str
    until: str
    timezone: str | None
    pairs: int
    seed: int
    for_scripts: bool


@click.command()
@click.argument("arguments", nargs=-1)
@click.option("--collect", type=_FOLDER, metavar="DIR", help="Write the prompts of new pairs, and DIR-key.json.")
@click.option("--tool", type=_FOLDER, metavar="DIR", help="Use tools in the reading of a prompt.")
@click.option("--score", type=_FOLDER, metavar="DIR", help="Check the answers, and print the figures.")
@click.option("--clone", type=click.Path(path_type=Path), metavar="PATH", help="A local git clone, for --collect.")
@click.option("--repo", metavar="OWNER/NAME", help="Repository; if not given, that of the clone's origin.")
@click.option("--branch", help="Branch; the default branch of the clone if not given.")
@click.option("--since", default="2025-01-01", show_default=True, help="First date (UTC) whose merges are read.")
@click.option("--until", default="2025-12-31", show_default=True, help="Last date (UTC).")
@click.option("--timezone", metavar="ZONE", help="Whose days have a digest; PRDIGEST_TIMEZONE if not given.")
@click.option("--pairs", type=click.IntRange(1), default=30, show_default=True, help="How many pairs.")
@click.option("--seed", default=1, show_default=True, help="Which ones.")
@click.option("--json", "for_scripts", is_flag=True, help="Print JSON, for --score.")
def reading(**options: Any) -> None:
    """Measure the second reading with readers in place of the model, on matched pairs of a clone.

    Use --collect DIR --clone PATH first. While reading a prompt, --tool DIR NUMBER TOOL ARGUMENTS looks into the
    repository: one round of up to four calls, each a tool and its arguments as JSON, or the first argument alone.
    --score DIR exits with 1 if less than 75 % of the pairs are right, or a reading is missing.
    """
    try:
        _run_step(_Options(**options))
    except PrdigestError as error:
        raise click.ClickException(str(error)) from error


def _run_step(options: _Options) -> None:
    steps = ((options.collect, _collect), (options.tool, _use_tools), (options.score, _score))
    named = [(folder, step) for folder, step in steps if folder is not None]
    if len(named) != 1:
        raise UsageError("Give one of --collect DIR, --tool DIR and --score DIR.")
    folder, step = named[0]
    step(ReadingFolder(folder), options, load_settings())


def _collect(folder: ReadingFolder, options: _Options, settings: Settings) -> None:
    if options.clone is None:
        raise UsageError("Name the clone: --clone PATH.")
    window = EvaluationWindow(
        parse_date(options.since), parse_date(options.until), choose_zone(settings, options.timezone)
    )
    begin = window.since.fromordinal(window.since.toordinal() - _HISTORY_DAYS)
    repository = Repository.parse(options.repo) if options.repo else None
    classes_of = load_path_settings(settings).get_path_classes
    with show_progress_bar("commit", "Commits") as show:
        clone = GitClone(options.clone, options.branch)
        history = read_clone_history(clone, repository, window, begin, show, classes_of)
    rule = PairRule(options.pairs, options.seed)
    with show_progress_bar("prompt", "Prompts") as show:
        choice = collect_prompts(folder, PairSource(options.clone, history, window), rule, settings, show)
    if note := render.explain_few_pairs(choice, rule):
        click.echo(note)
    click.echo(
        f"{len(choice.pairs)} pairs, {2 * len(choice.pairs)} prompts: readers get {folder.path}, and never"
        f" {folder.key.name}"
    )


def _use_tools(folder: ReadingFolder, options: _Options, settings: Settings) -> None:
    number, *words = options.arguments or ("",)
    if not number.isdecimal() or len(words) % 2 or not words:
        raise UsageError("Give the number of a prompt, and for each call a tool and its arguments.")
    for text in use_tools(folder, int(number), parse_calls(words), settings):
        click.echo(text)


def parse_calls(words: Sequence[str]) -> Round:
    """Return the calls that words of the command line ask for. Raises UsageError."""
    return tuple(_parse_call(name, text) for name, text in zip(words[0::2], words[1::2], strict=True))


def _parse_call(name: str, text: str) -> Call:
    if not text.startswith("{"):
        return Call(name, {_FIRST_ARGUMENTS.get(name, "path"): text})
    try:
        return Call(name, dict(json.loads(text)))
    except ValueError as error:
        raise UsageError(f"The arguments of {name} are no JSON: {error}.") from error


def _score(folder: ReadingFolder, options: _Options, settings: Settings) -> None:
    plan = folder.read_plan()
    key, pairs = read_answers(folder, settings)
    rule = PairRule(len(pairs), plan.seed)
    result = evaluate_readings(pairs)
    click.echo(
        render.format_reading_json(result, rule, pairs, key.eligible)
        if options.for_scripts
        else render.format_reading(result, rule, key.eligible)
    )
    if not options.for_scripts:
        click.echo("No model was asked: the cost is that of a model, with tokens estimated by their length.")
    is_passed = not result.problems and result.reading.share >= _LEAST and result.quoted == result.confirmed
    sys.exit(0 if is_passed else 1)
