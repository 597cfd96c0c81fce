"""The ``prdigest`` command and ``python -m bot``: print each error as one sentence and return an exit code."""

from __future__ import annotations

import os
import sys

_FAILURE, _USAGE, _INTERRUPTED = 1, 2, 130


def main() -> int:
    """Run the command line and return its exit code.

    The codes are 0 for success, 1 for a failure, 2 for wrong usage or settings and 130 for an interruption.
    """
    try:
        return _run()
    except KeyboardInterrupt:
        return _interrupted()


def _run() -> int:
    """Run the command and return its exit code; print the sentence of an error that is meant for people."""
    # imported here, so that Ctrl-C during this half second ends in one sentence too
    import click  # noqa: PLC0415

    from bot.domain.errors import PrdigestError, UsageError  # noqa: PLC0415

    try:
        from bot.cli import run  # noqa: PLC0415

        run()
    except (UsageError, click.UsageError) as error:
        return _say(error.format_message() if isinstance(error, click.ClickException) else str(error), _USAGE)
    except PrdigestError as error:
        return _say(str(error), _FAILURE)
    except click.ClickException as error:
        return _say(error.format_message(), _FAILURE)
    except click.Abort:
        return _interrupted()
    except BrokenPipeError:
        # the reader of our output has closed the pipe; the interpreter would report that once more at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _FAILURE
    return 0


def _interrupted() -> int:
    """Print that the command was interrupted and return the exit code of that."""
    return _say("Interrupted; what was posted stays, and running it again goes on from there.", _INTERRUPTED)


def _say(sentence: str, code: int) -> int:
    """Print a sentence to stderr and return ``code``."""
    print(sentence, file=sys.stderr)  # noqa: T201 (the one place where errors are printed)
    return code


if __name__ == "__main__":
    sys.exit(main())
