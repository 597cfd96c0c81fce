"""``python -m evals``: ask, judge, print a table; exit 1 if the marks are too low.

``python -m evals reverts`` measures how many of a year's known reverts are found, ``python -m evals risk`` the
risk list, on that year or on a clone, ``python -m evals context`` the functions around changes, ``python -m evals
contract`` the contract changes, ``python -m evals broke`` the suspects for known errors; none of them asks a
model. ``python -m evals trial`` compares summaries with public reports, and ``python -m evals reading`` measures
the second reading, both with or without a key.
"""

from __future__ import annotations

import json
import re
import sys
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from bot.app import open_app
from bot.connections.providers import choose_provider, get_model_access
from bot.domain.errors import ConfigurationError, PrdigestError
from bot.settings import Settings, load_settings
from evals.asking import ask_suite
from evals.broke import broke
from evals.cases import Suite, load_suite
from evals.context import context
from evals.contract.command import contract
from evals.reading.command import reading
from evals.reverts import reverts
from evals.risk import risk
from evals.scoring import Mark, Total, sum_marks
from evals.trial.command import trial

_QUESTIONS = Path(__file__).parent / "questions"
# evaluations must not use up the budget of the bot's users
_NO_BUDGET = 1_000_000.0


class _WithDefault(click.Group):
    """A group of commands whose first command is the default."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_named = args[:1] == ["--help"] or (args and args[0] in self.commands)
        return super().parse_args(ctx, args if is_named else ["questions", *args])

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what a person can do something about is one sentence."""
        try:
            return super().invoke(ctx)
        except PrdigestError as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=_WithDefault)
def main() -> None:
    """Measure the bot: its answers (questions, the default), summaries, risk list, and finds of reverts."""


@main.command("questions")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("--only", metavar="PATTERN", default="", help="Ask only questions in which this is found.")
@click.option("--least", type=click.FloatRange(0, 1), default=0.8, show_default=True, help="Share of right facts.")
@click.option("--json", "as_json", is_flag=True, help="Print every mark with its answer as a line of JSON.")
def questions(files: tuple[Path, ...], only: str, least: float, *, as_json: bool) -> None:
    """Ask the questions of FILES (TOML; by default those of the project) and judge the answers."""
    suites = [_select_threads(load_suite(path), only) for path in files or sorted(_QUESTIONS.glob("*.toml"))]
    settings = load_settings()
    provider = choose_provider(settings)
    if get_model_access(settings, provider) is None:
        raise ConfigurationError(f"Set {provider.key_variable}: there is nothing to judge without a model.")
    marks = [mark for suite in suites for mark in _ask_suite(suite, settings, as_json=as_json)]
    result = sum_marks(marks)
    if not as_json:
        click.echo(_format_total(result))
    sys.exit(0 if marks and result.facts >= least and result.citations == 1.0 else 1)


def _select_threads(suite: Suite, only: str) -> Suite:
    """Return the suite with only the threads in which a question matches.

    The threads stay whole: later questions need earlier ones.
    """
    threads = (
        thread for thread in suite.thread if any(re.search(only, case.ask, re.I) for case in thread.question)
    )
    return suite.model_copy(update={"thread": tuple(threads)})


def _ask_suite(suite: Suite, settings: Settings, *, as_json: bool) -> list[Mark]:
    if not suite.thread:
        return []
    marks = []
    with open_app(_make_settings(suite, settings), lambda: datetime.now(UTC), time.sleep) as base:
        # people ask about pull requests that have summaries
        base.fresh_digest_builder.build(suite.place, suite.day, suite.place.name)
        writer = base.answer_writer
        for mark in ask_suite(suite, writer, base.provider.prices):
            click.echo(
                json.dumps(asdict(mark) | {"case": mark.case.model_dump()}) if as_json else _format_mark(mark)
            )
            marks.append(mark)
    return marks


def _make_settings(suite: Suite, settings: Settings) -> Settings:
    return settings.model_copy(
        update={
            "prdigest_repo": suite.place,
            "prdigest_repos": (),
            "prdigest_timezone": suite.zone,
            "prdigest_daily_budget": _NO_BUDGET,
            "prdigest_user_budget": _NO_BUDGET,
            # summaries are cached between runs, apart from the bot's own cache
            "redis_url": None,
            "prdigest_state_dir": settings.prdigest_state_dir / "evals",
        }
    )


def _format_mark(mark: Mark) -> str:
    verdict = "ok  " if not mark.missing else "FAIL"
    cited = f"{mark.held}/{mark.held + mark.failed}"
    facts = f"{verdict} facts {mark.facts:4.0%}  citations {cited:>5}  ${mark.cost:.4f}  {mark.seconds:5.1f} s"
    missing = "".join(f"\n       {each}" for each in mark.missing)
    return f"{facts}  {mark.case.ask}{missing}"


def _format_total(result: Total) -> str:
    facts, citations = f"facts {result.facts:.0%}", f"citations that hold {result.citations:.0%}"
    return f"{result.count} questions: {facts}, {citations}, ${result.cost:.4f}, {result.seconds:.1f} s each"


main.add_command(broke)
main.add_command(context)
main.add_command(contract)
main.add_command(reading)
main.add_command(reverts)
main.add_command(risk)
main.add_command(trial)

if __name__ == "__main__":
    main()
