"""What the commands have in common: options, help in groups, the app of a command, a progress bar.

The SDKs take most of a second to import. Help and a mistyped option must not wait for them, so commands import
what needs them when they run.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from zoneinfo import ZoneInfo

import click
from tqdm import tqdm

from bot.cli.logs import configure_logging
from bot.dates import parse_zone
from bot.errors import ConfigurationError, UsageError
from bot.platform.pulls.models import NO_REPOSITORY
from bot.settings import Settings, list_secret_values, load_settings
from impact.repository import Repository

if TYPE_CHECKING:
    from bot.app import App

F = TypeVar("F", bound=Callable[..., Any])

# between two lines about how far the work is, where there is no terminal
_LINE_SECONDS = 30.0
FILE = click.Path(dir_okay=False, path_type=Path)
CLONE = click.Path(path_type=Path)

repo_option = click.option("--repo", metavar="OWNER/NAME", help="Repository. Default: PRDIGEST_REPO.")
out_option = click.option("--out", type=FILE, help="File to write. Default: stdout.")
date_option = click.option(
    "--date",
    metavar="DAY",
    default="yesterday",
    help="Day, local time, such as 2026-02-28 or today. Default: yesterday.",
)
timezone_option = click.option(
    "--timezone", metavar="ZONE", help="Time zone, such as Europe/Berlin. Default: PRDIGEST_TIMEZONE."
)
name_option = click.option(
    "--name",
    help="Name of the repository in headings. Default: PRDIGEST_NAME for PRDIGEST_REPO, else its own name.",
)

json_option = click.option("--json", "for_scripts", is_flag=True, help="Print JSON.")
branch_option = click.option("--branch", help="Branch. Default: the default branch of the clone.")


@dataclass(frozen=True, slots=True)
class CommandSection:
    title: str
    example: str
    commands: Sequence[click.Command]


def format_example(command: str) -> str:
    """Return the last line of a command's help: a way to call it, not wrapped, so that it can be copied."""
    return f"\b\nExample: {command}"


class GroupedHelp(click.Group):
    """A group of commands in sections, as its help lists them."""

    def __init__(self, sections: Sequence[CommandSection], **options: Any) -> None:
        super().__init__(commands=[each for section in sections for each in section.commands], **options)
        self._sections = sections

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for section in self._sections:
            with formatter.section(f"{section.title} (example: {section.example})"):
                formatter.write_dl([(str(each.name), each.get_short_help_str(100)) for each in section.commands])


def make_clone_option(name: str, what: str, metavar: str = "CLONE") -> Callable[[F], F]:
    """Return the required option with the folder of a local clone; ``what`` says of which repository."""
    return click.option(
        name, metavar=metavar, required=True, type=CLONE, help=f"A local git clone{what}. It is only read."
    )


def make_branch_option(name: str, what: str) -> Callable[[F], F]:
    return click.option(name, help=f"Branch{what}. Default: its default branch.")


def dates_options(command: F) -> F:
    until = click.option("--until", metavar="YYYY-MM-DD", required=True, help="Last date (UTC) of merges.")
    since = click.option("--since", metavar="YYYY-MM-DD", required=True, help="First date (UTC) of merges.")
    return since(until(command))


def find_repository(settings: Settings, repo: str | None) -> Repository | None:
    """Return the repository of the option, else that of the settings, else None. Raises UsageError."""
    return Repository.parse(repo, settings.github_web_url) if repo else settings.prdigest_repo


def require_repository(settings: Settings, repo: str | None) -> Repository:
    """Return the repository of the option or the settings. Raises UsageError if neither names one."""
    repository = find_repository(settings, repo)
    if repository is None:
        raise UsageError(NO_REPOSITORY)
    return repository


def find_kept_repository(app: App, repo: str | None) -> Repository:
    """Return the repository of the option or the settings, by the name by which the store keeps it.

    Raises UsageError, StoreUnavailable, and what GitHub raises.
    """
    from bot.features.renames import follow_renames  # noqa: PLC0415

    repository = require_repository(app.settings, repo)
    follow_renames(app)
    return app.find_first_name(repository)


def choose_zone(settings: Settings, timezone: str | None) -> ZoneInfo:
    """Return the time zone of the option, else that of the settings. Raises UsageError."""
    return parse_zone(timezone) if timezone else settings.prdigest_timezone


@contextmanager
def open_command_app(level: str = "WARNING") -> Iterator[App]:
    """Yield what one command builds its services on, and close it at its end. Raises ConfigurationError."""
    from bot.app import open_app  # noqa: PLC0415
    from bot.platform import costs, deadlines  # noqa: PLC0415

    try:
        settings = load_settings()
        secrets = list_secret_values(settings)
        configure_logging(settings.prdigest_log_level or level, settings.prdigest_log_format, secrets)
        with open_app(settings, get_current_time, deadlines.sleep) as app, costs.bill_to(costs.OPERATOR):
            yield app
    except ConfigurationError as error:
        raise ConfigurationError(f"{error} Run `prdigest doctor` for the full list.") from error


def check_writable(path: Path | None) -> None:
    """Check before minutes of work that a file can be written. Raises UsageError if not."""
    if path is None:
        return
    if not os.access(path if os.access(path, os.F_OK) else path.resolve().parent, os.W_OK):
        raise UsageError(f"{path} can't be written: choose another file.")


def write_text(path: Path, text: str) -> None:
    """Write a text file with Unix line ends. Raises UsageError if it can't be written."""
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"{path} can't be written ({error.strerror}): choose another file.") from error


class ProgressCallback(Protocol):
    def __call__(self, done: int, total: int, note: str = "") -> None:
        """Show ``done`` of ``total``, 0 if nobody knows it, and ``note`` beside them."""


@contextmanager
def show_progress_bar(
    unit: str = "PR", title: str = "Pull requests", clock: Callable[[], float] = monotonic
) -> Iterator[ProgressCallback]:
    """Show a bar on stderr and yield what advances it; if stderr is no terminal, a line every 30 seconds."""
    is_terminal, shown_at = sys.stderr.isatty(), clock()
    with tqdm(unit=unit, desc=title, leave=False, disable=not is_terminal, file=sys.stderr) as bar:

        def show(done: int, total: int, note: str = "") -> None:
            nonlocal shown_at
            if not is_terminal and clock() - shown_at >= _LINE_SECONDS:
                shown_at = clock()
                click.echo(f"{title}: {done:,}{f' of {total:,}' if total else ''}", err=True)
            bar.total = total or None
            bar.n = done
            bar.set_postfix_str(note, refresh=False)
            bar.refresh()

        yield show


def get_current_time() -> datetime:
    """Return the current time, in UTC. The commands read the clock nowhere else."""
    return datetime.now(UTC)
