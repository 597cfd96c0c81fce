"""The ``prdigest`` command and ``python -m bot``: print each error as one sentence and return an exit code."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click

_FAILURE_CODE, _USAGE_CODE, _INTERRUPTED_CODE = 1, 2, 130


def main() -> int:
    """Run the command line and return its exit code.

    The codes are 0 for success, 1 for a failure, 2 for wrong usage or settings and 130 for an interruption.
    """
    try:
        return _run_command()
    except KeyboardInterrupt:
        return _report_interruption()


def _run_command() -> int:
    """Run the command and return its exit code; print the sentence of an error that is meant for people."""
    # imported here, so that Ctrl-C during this half second ends in one sentence too
    import click  # noqa: PLC0415

    from bot.errors import PrdigestError, UsageError  # noqa: PLC0415

    try:
        from bot.cli import run_cli  # noqa: PLC0415

        run_cli()
    except (UsageError, click.UsageError) as error:
        text = _describe_usage(error) if isinstance(error, click.UsageError) else str(error)
        return _print_error(text, _USAGE_CODE)
    except PrdigestError as error:
        return _print_error(str(error), _FAILURE_CODE)
    except click.ClickException as error:
        return _print_error(error.format_message(), _FAILURE_CODE)
    except click.Abort:
        return _report_interruption()
    except BrokenPipeError:
        # the reader of our output has closed the pipe; the interpreter would report that once more at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _FAILURE_CODE
    return 0


def _describe_usage(error: click.UsageError) -> str:
    """Return what is wrong with a command line, how the command is written, and where its help is."""
    message = f"Error: {error.format_message()}"
    if error.ctx is None:
        return message
    return f"{message}\n{error.ctx.get_usage()}\nTry `{error.ctx.command_path} --help`."


def _report_interruption() -> int:
    return _print_error(
        "Interrupted: posted messages stay, and the same command continues from there.", _INTERRUPTED_CODE
    )


def _print_error(sentence: str, code: int) -> int:
    print(sentence, file=sys.stderr)  # noqa: T201 (the one place where errors are printed)
    return code


if __name__ == "__main__":
    sys.exit(main())
