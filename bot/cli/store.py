"""The commands that transfer the permanent records from one store to another."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import IO, TYPE_CHECKING

import click

from bot.cli.base import get_current_time, open_command_app, show_progress_bar
from bot.cli.grouped_help import format_example
from bot.domain.errors import UsageError

if TYPE_CHECKING:
    from bot.adapters.redis import StoreTransfer


@click.command(
    "export",
    short_help="Write all permanent records as lines of JSON.",
    epilog=format_example("prdigest export --out backup.jsonl"),
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write, readable by you only. Default: stdout.",
)
def export_command(out: Path | None) -> None:
    """Write all permanent data as lines of JSON.

    It includes subscriptions, posted digests, threads, votes and the history of repositories. It does not include
    caches, queued jobs and today's spending. The file contains people's questions: keep it private.

    You can export while the bot runs, but changes during the export may be missing. To lose nothing, stop the bot
    first.
    """
    # a bar would stand between the lines on a terminal
    bar = (
        nullcontext(_ignore_progress)
        if out is None and sys.stdout.isatty()
        else show_progress_bar("record", "Export")
    )
    with _open_transfer() as transfer, bar as progress:
        lines = (f"{line}\n".encode() for line in transfer.export_lines(get_current_time(), progress))
        try:
            if out is None:
                _print_lines(lines)
            else:
                _replace_file(out, lines)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise UsageError(f"{out or 'stdout'} can't be written ({error.strerror}): choose a file.") from error


@click.command(
    "import",
    short_help="Read what prdigest export wrote.",
    epilog=format_example("prdigest import backup.jsonl"),
)
@click.argument("file", type=click.File("rb"))
@click.option(
    "--overwrite",
    is_flag=True,
    help="Import into a store that is not empty: replace the records that are in FILE, and keep the others.",
)
def import_command(file: IO[bytes], *, overwrite: bool) -> None:
    """Import FILE into the store (- for stdin).

    FILE is the output of prdigest export. Stop the old installation before the export, and start the new one after
    the import. Otherwise both post. FILE is checked before anything is written. If the import is interrupted, run
    the same import again: until it is complete, the bot doesn't use the store.
    """
    with (
        _open_transfer() as transfer,
        show_progress_bar("record", "Import") as progress,
        _open_seekable(file) as seekable,
    ):
        counts = transfer.import_file(seekable, progress, overwrite=overwrite)
    for name, count in sorted(counts.items()):
        click.echo(f"{name}: {count:,}")
    if not counts:
        click.echo("The export is empty.")


@contextmanager
def _open_transfer() -> Iterator[StoreTransfer]:
    """Yield the transfer of this command's store. Raises ConfigurationError and StoreUnavailable."""
    with open_command_app() as app:
        # it imports the SDKs, which takes most of a second; help must not wait for them
        from bot.adapters.redis import StoreTransfer, require_durable  # noqa: PLC0415

        require_durable(app.expiring_store)
        yield StoreTransfer(app.expiring_store, app.keyspace)


def _ignore_progress(done: int, total: int) -> None:
    """Show no bar."""


def _print_lines(lines: Iterable[bytes]) -> None:
    """Write lines to stdout."""
    # Python's own stdout would report what it could not flush once more at exit
    with os.fdopen(sys.stdout.fileno(), "wb", closefd=False) as stdout:
        stdout.writelines(lines)


def _replace_file(out: Path, lines: Iterable[bytes]) -> None:
    """Write a file completely or not at all, readable by its owner alone. Raises UsageError and OSError."""
    target = out.resolve()
    if target.exists() and not target.is_file():
        raise UsageError(f"{out} is not a file: choose another name.")
    with NamedTemporaryFile(dir=target.parent, prefix=".prdigest-", delete=False) as temporary:
        try:
            temporary.writelines(lines)
            temporary.flush()
            os.fsync(temporary.fileno())
            Path(temporary.name).replace(target)
        except BaseException:
            Path(temporary.name).unlink()
            raise


@contextmanager
def _open_seekable(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """Yield a file that can be read twice; input from a pipe is copied to a file that nobody else can open."""
    if file.seekable():
        yield file
        return
    with TemporaryFile() as copy:
        shutil.copyfileobj(file, copy)
        yield copy
