"""``python -m evals questions``: questions with known answers about real days, and marks for the answers.

A file (TOML) names a day of a repository and threads of questions; in a thread each question sees those before it.
The same services as in Slack answer, with a display that shows nothing. Marks are for facts, for citations that
hold, and for cost and time.
"""

from __future__ import annotations

import json
import re
import sys
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import click
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from bot.app import App, open_app
from bot.dates import LocalDay, parse_zone
from bot.errors import ConfigurationError, UsageError
from bot.features.digest.service import DigestUse, build_digest
from bot.features.merges.requests import SubjectKind
from bot.features.questions.rules import Question, ThreadMemory
from bot.features.questions.service import write_answer
from bot.features.questions.view import AnswerInputs
from bot.platform.models.registry import choose_provider, get_model_access
from bot.platform.slack.blocks import TaskCard
from bot.platform.slack.requests import SlackRequest
from bot.settings import Settings, load_settings
from bot.text import NUMBER_PATTERN
from impact.repository import Repository
from impact.text.strings import parse_date

_QUESTIONS = Path(__file__).parent / "questions"
# evaluations must not use up the budget of the bot's users
_NO_BUDGET = 1_000_000.0
_LINK = re.compile(r"\[([^\]]*)\]\([^)\s]*\)")


@click.command("questions")
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
    """Return the suite with only the threads in which a question matches."""
    # the threads stay whole: later questions need earlier ones
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
        build_digest(base, suite.place, suite.day, suite.place.name, use=DigestUse.TERMINAL)
        for mark in ask_suite(suite, base):
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


def _check_pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"it is no pattern ({error})") from error
    return text


Pattern = Annotated[str, AfterValidator(_check_pattern)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Case(_Part):
    """A question and the facts of its answer.

    ``names`` are all pull requests that the answer must name, and with ``exactly`` the only ones. ``facts`` are
    patterns that must be in it, ``never`` those that must not, regardless of case. ``cites`` are pull requests
    that it must link with a verified quote.
    """

    ask: Annotated[str, Field(min_length=1)]
    names: tuple[int, ...] = ()
    exactly: bool = True
    facts: tuple[Pattern, ...] = ()
    never: tuple[Pattern, ...] = ()
    cites: tuple[int, ...] = ()


class Thread(_Part):
    """Questions in a row."""

    question: Annotated[tuple[Case, ...], Field(min_length=1)]


class Suite(_Part):
    """The threads of one day."""

    repository: str
    date: str
    timezone: str
    thread: Annotated[tuple[Thread, ...], Field(min_length=1)]

    @property
    def place(self) -> Repository:
        return Repository.parse(self.repository)

    @property
    def zone(self) -> ZoneInfo:
        return parse_zone(self.timezone)

    @property
    def day(self) -> LocalDay:
        return LocalDay(parse_date(self.date), self.zone)

    def __str__(self) -> str:
        return f"{self.repository} {self.date}"


def load_suite(path: Path) -> Suite:
    """Read the questions of a file.

    Raises:
        UsageError: it is no such file; the sentence says where it is wrong.
    """
    try:
        suite = Suite.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path.name} can't be read as TOML: {error}.") from error
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(map(str, problem["loc"]))
        raise UsageError(f"{path.name}: {place} can't be used: {problem['msg']}.") from error
    _ = (suite.place, suite.day)
    return suite


class SilentDisplay:
    """An ``AnswerDisplay`` that shows nothing."""

    def show_status(self, doing: str) -> None:
        """Ignore the status."""

    def show_tasks(self, *tasks: TaskCard) -> None:
        """Ignore the cards."""

    def append_text(self, text: str) -> None:
        """Ignore the text."""

    def replace_text(self, text: str) -> None:
        """Ignore the text."""

    def finish(self, text: str, below: Sequence[Mapping[str, Any]]) -> str:
        """Return an empty ts: no message was posted."""
        return ""


def ask_suite(suite: Suite, app: App) -> Iterator[Mark]:
    """Ask all of a suite's questions; yield each mark as soon as it is there."""
    for place, thread in enumerate(suite.thread):
        yield from _ask_thread(suite, thread, f"evals:{place}", app)


def _ask_thread(suite: Suite, thread: Thread, name: str, app: App) -> Iterator[Mark]:
    memory = ThreadMemory(SubjectKind.DIGEST.format_subject(f"{suite.date} repo:{suite.repository}"))
    for number, case in enumerate(thread.question):
        slack_request = SlackRequest(
            key=f"{name}:{number}", team="evals", channel="evals", user="evals", thread=name
        )
        question = Question(slack_request, case.ask, "0")
        started = time.monotonic()
        draft = write_answer(app, question, memory, SilentDisplay())
        memory = memory.add_answer(question, draft.raw_text)
        cost = app.provider.prices.cautious_cost(draft.inputs.model, draft.inputs.usage)
        yield mark_answer(case, draft.text, draft.inputs, cost, time.monotonic() - started)


@dataclass(frozen=True, slots=True)
class Mark:
    """The mark of one answer.

    ``facts`` is the share of the checks that it passes, ``held`` and ``failed`` count its citations, ``missing``
    lists its faults in words. ``cost`` is in US dollars, ``seconds`` until it was whole.
    """

    case: Case
    answer: str
    facts: float
    missing: tuple[str, ...]
    held: int
    failed: int
    cost: float
    seconds: float
    rounds: int = 0


@dataclass(frozen=True, slots=True)
class Total:
    facts: float
    citations: float
    cost: float
    seconds: float
    count: int


def mark_answer(case: Case, answer: str, inputs: AnswerInputs, cost: float, seconds: float) -> Mark:
    text = _LINK.sub(r"\1", answer)
    checks = [*_check_facts(case, text), *_check_citations(case, inputs)]
    missing = tuple(fault for fault, is_right in checks if not is_right)
    return Mark(
        case=case,
        answer=answer,
        facts=1 - len(missing) / len(checks) if checks else 1.0,
        missing=missing,
        held=len(inputs.citations),
        failed=len(inputs.failed_citations),
        cost=cost,
        seconds=seconds,
        rounds=inputs.rounds,
    )


def sum_marks(marks: Iterable[Mark]) -> Total:
    all_marks = tuple(marks)
    cited = sum(each.held + each.failed for each in all_marks)
    return Total(
        facts=_compute_mean(all_marks, lambda each: each.facts),
        citations=sum(each.held for each in all_marks) / cited if cited else 1.0,
        cost=sum(each.cost for each in all_marks),
        seconds=_compute_mean(all_marks, lambda each: each.seconds),
        count=len(all_marks),
    )


def _check_facts(case: Case, text: str) -> list[tuple[str, bool]]:
    numbers = {int(match["number"]) for match in re.finditer(NUMBER_PATTERN, text)}
    others = ", ".join(f"#{number}" for number in sorted(numbers - set(case.names)))
    return [
        *((f"does not name #{number}", number in numbers) for number in case.names),
        *([(f"names {others} too", not others)] if case.names and case.exactly else []),
        *((f"does not say {fact!r}", bool(re.search(fact, text, re.I))) for fact in case.facts),
        *((f"says {wrong!r}", not re.search(wrong, text, re.I)) for wrong in case.never),
    ]


def _check_citations(case: Case, inputs: AnswerInputs) -> list[tuple[str, bool]]:
    cited = {each.number for each in inputs.citations}
    return [(f"cites nothing of #{number}", number in cited) for number in case.cites]


def _compute_mean(marks: tuple[Mark, ...], value: Callable[[Mark], float]) -> float:
    return sum(map(value, marks)) / len(marks) if marks else 0.0
