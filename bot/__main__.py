"""``prdigest`` and ``python -m bot``: the edge where errors become one sentence and an exit code."""

from __future__ import annotations

import os
import sys

_FAILURE, _USAGE, _INTERRUPTED = 1, 2, 130


def main() -> int:
    """Exit code: 0 done, 1 failed, 2 wrong usage or settings, 130 interrupted."""
    try:
        return _run()
    except KeyboardInterrupt:
        return _interrupted()


def _run() -> int:
    # half a second of imports, in which Ctrl-C is no more than that too
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
        # the reader of our output has left; the interpreter would complain about it once more at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _FAILURE
    return 0


def _interrupted() -> int:
    return _say("Interrupted; what was posted stays, and running it again goes on from there.", _INTERRUPTED)


def _say(sentence: str, code: int) -> int:
    print(sentence, file=sys.stderr)  # noqa: T201 (the one place where errors are printed)
    return code


if __name__ == "__main__":
    sys.exit(main())
