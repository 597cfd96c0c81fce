"""``python -m evals``: ask, judge, print a table; exit 1 where the marks are too low.

``python -m evals reverts`` measures what is found of a year's known reverts, ``python -m evals risk`` the risk
list; neither asks a model.
"""

from __future__ import annotations

import json
import re
import sys
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from bot.container import open_foundation
from bot.container.access import build_allowed_repositories
from bot.container.digests import build_digest_builder, build_digest_services
from bot.container.providers import choose_provider, get_model_access
from bot.container.questions import build_answer_writer
from bot.domain.errors import ConfigurationError, PrdigestError
from bot.settings import Settings, load_settings
from evals.asking import marks_of
from evals.cases import Suite, load
from evals.reverts import load as load_pack
from evals.risk import risk
from evals.scoring import Mark, Total, total

_QUESTIONS = Path(__file__).parent / "questions"
# the people who use the bot shall not pay for the questions of its maintainers
_NO_BUDGET = 1_000_000.0


class _WithDefault(click.Group):
    """What begins with no command is a call of the first one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_named = args[:1] == ["--help"] or (args and args[0] in self.commands)
        return super().parse_args(ctx, args if is_named else ["questions", *args])


@click.group(cls=_WithDefault)
def main() -> None:
    """Measure the bot: its answers (questions, the default), its risk list, and what it finds of known reverts."""


@main.command("reverts")
@click.argument("folder", default="../shared/risk", type=click.Path(path_type=Path))
def reverts(folder: Path) -> None:
    """Look for the known reverts and fixes of the data pack in FOLDER; exit 1 where one was found that is none."""
    try:
        pack = load_pack(folder)
    except PrdigestError as error:
        raise click.ClickException(str(error)) from error
    for line in pack.table():
        click.echo(line)
    sys.exit(1 if pack.reverts.false else 0)


@main.command("questions")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("--only", metavar="PATTERN", default="", help="Ask only questions in which this is found.")
@click.option("--least", type=click.FloatRange(0, 1), default=0.8, show_default=True, help="Share of right facts.")
@click.option("--json", "as_json", is_flag=True, help="Print every mark with its answer as a line of JSON.")
def questions(files: tuple[Path, ...], only: str, least: float, *, as_json: bool) -> None:
    """Ask the questions of FILES (TOML; by default those of the project) and judge the answers."""
    try:
        suites = [_narrowed(load(path), only) for path in files or sorted(_QUESTIONS.glob("*.toml"))]
        settings = load_settings()
        provider = choose_provider(settings)
        if get_model_access(settings, provider) is None:
            raise ConfigurationError(f"Set {provider.key_variable}: there is nothing to judge without a model.")
        marks = [mark for suite in suites for mark in _asked(suite, settings, as_json=as_json)]
    except PrdigestError as error:
        raise click.ClickException(str(error)) from error
    found = total(marks)
    if not as_json:
        click.echo(_summed(found))
    sys.exit(0 if marks and found.facts >= least and found.citations == 1.0 else 1)


def _narrowed(suite: Suite, only: str) -> Suite:
    """The threads in which a question has the pattern, whole: later questions rest on earlier ones."""
    threads = (
        thread for thread in suite.thread if any(re.search(only, case.ask, re.I) for case in thread.question)
    )
    return suite.model_copy(update={"thread": tuple(threads)})


def _asked(suite: Suite, settings: Settings, *, as_json: bool) -> list[Mark]:
    if not suite.thread:
        return []
    marks = []
    with open_foundation(_settings_for(suite, settings), lambda: datetime.now(UTC), time.sleep) as base:
        digests = build_digest_services(base)
        # what people ask about has been summarised before
        build_digest_builder(base, digests, digests.pulls).build(suite.place, suite.day, suite.place.name)
        writer = build_answer_writer(base, build_allowed_repositories(base.settings), digests)
        for mark in marks_of(suite, writer, base.provider.prices):
            click.echo(json.dumps(asdict(mark) | {"case": mark.case.model_dump()}) if as_json else _line(mark))
            marks.append(mark)
    return marks


def _settings_for(suite: Suite, settings: Settings) -> Settings:
    return settings.model_copy(
        update={
            "prdigest_repo": suite.place,
            "prdigest_repos": (),
            "prdigest_timezone": suite.zone,
            "prdigest_daily_budget": _NO_BUDGET,
            "prdigest_user_budget": _NO_BUDGET,
            # summaries are kept from run to run, apart from what the bot itself keeps
            "redis_url": None,
            "prdigest_state_dir": settings.prdigest_state_dir / "evals",
        }
    )


def _line(mark: Mark) -> str:
    verdict = "ok  " if not mark.missing else "FAIL"
    cited = f"{mark.held}/{mark.held + mark.failed}"
    facts = f"{verdict} facts {mark.facts:4.0%}  citations {cited:>5}  ${mark.cost:.4f}  {mark.seconds:5.1f} s"
    missing = "".join(f"\n       {each}" for each in mark.missing)
    return f"{facts}  {mark.case.ask}{missing}"


def _summed(found: Total) -> str:
    facts, citations = f"facts {found.facts:.0%}", f"citations that hold {found.citations:.0%}"
    return f"{found.count} questions: {facts}, {citations}, ${found.cost:.4f}, {found.seconds:.1f} s each"


main.add_command(risk)

if __name__ == "__main__":
    main()
