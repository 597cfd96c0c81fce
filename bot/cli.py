"""The commands of ``prdigest``: parse, call a service, print. Thin on purpose."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from tqdm import tqdm

from bot.config import Settings, load_settings
from bot.domain.days import LocalDay, date_of, yesterday, zone_of
from bot.domain.digest import Digest
from bot.domain.errors import UsageError
from bot.domain.pulls import Repository
from bot.domain.references import parse_reference
from bot.render import terminal
from bot.render.digest import render
from bot.render.report import report
from bot.render.summary_json import summary_json
from bot.sandbox.demo import demo

if TYPE_CHECKING:
    from bot.wiring import Wiring

_WITHOUT_MODEL = "ANTHROPIC_API_KEY is not set: summaries are made of facts alone."

_repo = click.option("--repo", metavar="OWNER/NAME", help="Repository; PRDIGEST_REPO if not given.")
_date = click.option("--date", metavar="YYYY-MM-DD", help="Local day; yesterday if not given.")
_timezone = click.option("--timezone", metavar="ZONE", help="IANA name; PRDIGEST_TIMEZONE if not given.")
_name = click.option(
    "--name", help="What the repository is called in headings; else PRDIGEST_NAME or its own name."
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="prdigest", prog_name="prdigest")
def cli() -> None:
    """What merged yesterday in a fast repository, and what may hurt: a digest for Slack."""


@cli.command("demo")
def demo_command() -> None:
    """Show the digest of a bundled sample day; needs no key, account or server."""
    for piece in demo(_ask):
        click.echo(piece)


@cli.command("report")
@_repo
@_date
@_timezone
@_name
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="File to write; stdout if not given.")
def report_command(
    repo: str | None, date: str | None, timezone: str | None, name: str | None, out: Path | None
) -> None:
    """Write the Markdown report of a local day."""
    with _wired() as (settings, wiring):
        text = report(_digest(wiring, _wanted(settings, repo, date, timezone, name)))
    if out is None:
        sys.stdout.write(text)
        return
    try:
        out.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"{out} can't be written ({error.strerror}): choose another file.") from error


@cli.command("digest")
@_repo
@_date
@_timezone
@_name
@click.option("--channel", metavar="C…", help="Id of a Slack channel; PRDIGEST_CHANNEL if not given.")
@click.option("--dry-run", is_flag=True, help="Print the messages as JSON and call no Slack.")
def digest_command(
    repo: str | None,
    date: str | None,
    timezone: str | None,
    name: str | None,
    channel: str | None,
    *,
    dry_run: bool,
) -> None:
    """Build the digest of a local day and post it to Slack, once."""
    with _wired() as (settings, wiring):
        wanted = _wanted(settings, repo, date, timezone, name)
        if dry_run:
            click.echo(json.dumps(render(_digest(wiring, wanted)).payload(), indent=2, ensure_ascii=False))
            return
        target = channel or settings.prdigest_channel
        if target is None:
            raise UsageError("To which channel? Give --channel C… or set PRDIGEST_CHANNEL.")
        published = wiring.publisher.publish(
            target, wanted.repository, wanted.day, lambda: render(_digest(wiring, wanted))
        )
    for note in published.notes:
        click.echo(note, err=True)
    click.echo(f"{'Was already posted' if published.already else 'Posted'}: {published.address}")


@cli.command("summary")
@click.argument("pull_request", metavar="NUMBER")
@_repo
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def summary_command(pull_request: str, repo: str | None, *, as_json: bool) -> None:
    """Summarise one pull request: 35617, owner/repo#35617 or its address."""
    with _wired() as (settings, wiring):
        default = Repository.parse(repo) if repo else settings.prdigest_repo
        reference = parse_reference(pull_request, default)
        entry = wiring.entries.read(wiring.pulls.pull(reference.repository, reference.number))
    text = json.dumps(summary_json(entry), indent=2, ensure_ascii=False) if as_json else terminal.summary(entry)
    click.echo(text)


@cli.command("votes")
def votes_command() -> None:
    """Print the thumbs up and down, each with its question and answer, as lines of JSON."""
    with _wired() as (_, wiring):
        for vote in wiring.votes.all():
            click.echo(json.dumps(vote, ensure_ascii=False))


@cli.command("run")
def run_command() -> None:
    """Run everything in one process: Slack, the work and the schedule."""
    from bot.processes import run_all  # noqa: PLC0415

    with _wired("INFO") as (settings, wiring):
        run_all(settings, wiring, _now)


@cli.command("web")
def web_command() -> None:
    """Take Slack's requests (a process of the Procfile)."""
    from bot.processes import run_web  # noqa: PLC0415

    with _wired("INFO") as (settings, wiring):
        run_web(settings, wiring)


@cli.command("worker")
def worker_command() -> None:
    """Run jobs (a process of the Procfile)."""
    from bot.processes import run_worker  # noqa: PLC0415

    with _wired("INFO") as (settings, wiring):
        run_worker(settings, wiring)


@cli.command("clock")
def clock_command() -> None:
    """Post the daily digest at its time (a process of the Procfile)."""
    from bot.processes import run_clock  # noqa: PLC0415

    with _wired("INFO") as (settings, wiring):
        run_clock(settings, wiring, _now)


@contextmanager
def _wired(level: str = "WARNING") -> Iterator[tuple[Settings, Wiring]]:
    # the SDKs take most of a second to import; help, the demo and a mistyped option shall not wait for them
    from bot.wiring import Wiring  # noqa: PLC0415

    settings = load_settings()
    logging.basicConfig(
        level=settings.prdigest_log_level or level, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    # they report each failed try; what comes of it is told by our error or the coverage line
    for name in ("urllib3", "slack_sdk"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    # they report each call, each tick and each request that waits a moment
    for name in ("httpx2", "httpx", "apscheduler", "waitress.queue"):
        logging.getLogger(name).setLevel(logging.ERROR)
    with closing(Wiring(settings, _now, time.sleep)) as wiring:
        yield settings, wiring


class _Wanted(NamedTuple):
    """Which digest a person asks for."""

    repository: Repository
    day: LocalDay
    name: str


def _wanted(
    settings: Settings, repo: str | None, date: str | None, timezone: str | None, name: str | None
) -> _Wanted:
    """Options first, then settings; without a date the last day that is over."""
    repository = Repository.parse(repo) if repo else settings.prdigest_repo
    if repository is None:
        raise UsageError("Which repository? Give --repo owner/name or set PRDIGEST_REPO.")
    zone = zone_of(timezone) if timezone else settings.prdigest_timezone
    day = LocalDay(date_of(date), zone) if date else yesterday(_now(), zone)
    return _Wanted(repository, day, name or settings.prdigest_name or repository.name)


def _digest(wiring: Wiring, wanted: _Wanted) -> Digest:
    if not wiring.has_model:
        click.echo(_WITHOUT_MODEL, err=True)
    with _progress() as progress:
        return wiring.daily.build(wanted.repository, wanted.day, wanted.name, progress)


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr; nothing where that is no terminal."""
    with tqdm(unit="PR", desc="Pull requests", leave=False, disable=None, file=sys.stderr) as bar:

        def show(done: int, total: int) -> None:
            bar.total = total
            bar.n = done
            bar.refresh()

        yield show


def _ask(question: str) -> str | None:
    """A line from the reader; None at the end of input."""
    try:
        return input(question).strip() or None
    except EOFError:
        return None


def _now() -> datetime:
    return datetime.now(UTC)


def run(arguments: list[str] | None = None) -> Any:
    """Run a command. Raises what click and the domain raise; :mod:`bot.__main__` turns that into exit codes."""
    return cli.main(arguments, prog_name="prdigest", standalone_mode=False)
