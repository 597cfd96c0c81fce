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

from bot.cli.base import get_current_time, open_command_foundation, show_progress_bar
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
    help="File to write, for your eyes only; stdout if not given.",
)
def export_command(out: Path | None) -> None:
    """Write all that is kept for good, as lines of JSON.

    That is subscriptions and when they are due, the journal, posted digests, what threads remember, votes, and the
    history of repositories; not the cache, the job queue and what was spent today. It holds what people asked.

    The bot may run meanwhile: each record is as it was at one moment, and what is written meanwhile may be
    missing. To lose nothing, stop the bot first.
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
    help="Into a store that holds records: replace those that FILE holds too, leave the others.",
)
def import_command(file: IO[bytes], *, overwrite: bool) -> None:
    """Take into the store what prdigest export wrote to FILE (- for stdin).

    Stop the old installation before you export, and start the new one after the import: two that run post twice.
    FILE is looked through before anything is written. If the import breaks off, the bot refuses the store until
    the same import ran to its end.
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
        click.echo("The export holds nothing.")


@contextmanager
def _open_transfer() -> Iterator[StoreTransfer]:
    """Yield the transfer of this command's store. Raises ConfigurationError and StoreUnavailable."""
    with open_command_foundation() as base:
        # it imports the SDKs, which takes most of a second; help must not wait for them
        from bot.container.foundation import build_transfer  # noqa: PLC0415

        yield build_transfer(base)


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
        raise UsageError(f"{out} is no file: choose another name.")
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
