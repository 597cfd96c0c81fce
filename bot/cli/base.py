"""What the commands have in common: options, help in groups, the app of a command, a progress bar.

The SDKs take most of a second to import. Help and a mistyped option must not wait for them, so commands import
what needs them when they run.
"""

from __future__ import annotations

import json
import logging
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

from bot.dates import parse_zone
from bot.errors import ConfigurationError, UsageError
from bot.platform.correlation import get_request_id
from bot.platform.pulls.models import NO_REPOSITORY
from bot.redaction import REDACTED, redact_text
from bot.settings import LogFormat, Settings, list_secret_values, load_settings
from impact.repository import Repository
from impact.text.strings import escape_invisible

if TYPE_CHECKING:
    from bot.app import App


# --- logs

_OWN_PACKAGES = ("bot", "handlers")
# characters: a traceback of ours has some 3,000
_MAX_RECORD_LENGTH = 20_000


class TextFormatter(logging.Formatter):
    """A formatter for people: time, level, logger, the id of the request if there is one, and message.

    It removes credentials and limits the length, as an error may quote the data that it is about. ``secrets`` are
    removed whatever they look like: a service may repeat its own token in an error.
    """

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        super().__init__()
        self._secrets = tuple(secrets)

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802 (the base's)
        """Return the time of a record in UTC, in ISO 8601, with milliseconds."""
        instant = datetime.fromtimestamp(record.created, UTC)
        return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def limit_text(self, text: str) -> str:
        """Return a text without credentials, cut after 20,000 characters."""
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        text = redact_text(text)
        return text if len(text) <= _MAX_RECORD_LENGTH else f"{text[:_MAX_RECORD_LENGTH]}… [cut]"

    def format(self, record: logging.LogRecord) -> str:
        return self.limit_text(super().format(record))

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (the base's)
        request_id = get_request_id()
        source = f"{record.name} [{request_id}]" if request_id else record.name
        return f"{self.formatTime(record)} {record.levelname} {source}: {record.message}"


class JsonFormatter(TextFormatter):
    """A formatter for programs: a line of JSON with time, level, logger, message, request, and any exception."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "time": self.formatTime(record),
            "level": record.levelname,
            "logger": record.name,
            "message": self.limit_text(record.getMessage()),
            "request": get_request_id(),
        }
        if record.exc_info:
            fields["exception"] = self.limit_text(self.formatException(record.exc_info))
        return escape_invisible(json.dumps(fields, ensure_ascii=False))


def _is_own_or_important(record: logging.LogRecord) -> bool:
    """Return whether to log a record. The details of libraries hold whole prompts, messages and headers."""
    return record.levelno >= logging.INFO or record.name.partition(".")[0] in _OWN_PACKAGES


def configure_logging(level: str, log_format: LogFormat = "text", secrets: Sequence[str] = ()) -> None:
    """Send the log of this process to stderr, from ``level`` on and without these texts."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter(secrets) if log_format == "json" else TextFormatter(secrets))
    handler.addFilter(_is_own_or_important)
    logging.basicConfig(level=level, handlers=[handler])
    # they report each failed attempt; the result appears in our error or in the coverage line
    for name in ("urllib3", "slack_sdk"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    # they report each call, each tick and each request that waits a moment
    for name in ("httpx2", "httpx", "apscheduler", "waitress.queue"):
        logging.getLogger(name).setLevel(logging.ERROR)


# --- the command line

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
