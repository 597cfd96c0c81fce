"""``python -m tests.faults [--only NAME] [--rounds 200] [--seed N] [--out FILE]``: the whole bot under all faults.

Prints a table; the exit code is 1 if anything that has to hold did not. ``--rounds`` kills that many times.
"""

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.faults.cases import CASES
from tests.faults.kills import run_kills
from tests.faults.table import format_table
from tests.faults.trial import Outcome, run_case


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--only", default="", help="cases whose name has this text, or kills")
    parser.add_argument("--rounds", type=int, default=200, help="how often a process is killed (default: 200)")
    parser.add_argument("--seed", type=int, default=1, help="the seed of all that is random (default: 1)")
    parser.add_argument("--lanes", type=int, default=4, help="how many bots are tried at once (default: 4)")
    parser.add_argument(
        "--logs", type=Path, help="a folder for the logs of trials in which something did not hold"
    )
    parser.add_argument("--out", type=Path, help="write the table there, too")
    return parser.parse_args()


def _report(outcome: Outcome, logs: Path | None) -> Outcome:
    verdict = outcome.skipped or "; ".join(outcome.problems) or "held"
    _say(f"{outcome.name}: {verdict}")
    _keep_log(outcome, logs)
    return outcome


def _keep_log(outcome: Outcome, logs: Path | None) -> None:
    if logs and outcome.log:
        (logs / f"{outcome.name}.log").write_text(outcome.log)


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def main() -> int:
    """Run the chosen cases; return the exit code."""
    arguments, began = _parse_arguments(), time.monotonic()
    chosen = [case for case in CASES if arguments.only in case.name]
    if arguments.only == "kills":
        chosen = []
    with ThreadPoolExecutor(arguments.lanes) as pool:
        outcomes = list(pool.map(lambda case: _report(run_case(case, arguments.seed), arguments.logs), chosen))
    if arguments.rounds and arguments.only in ("", "kills"):
        kills = run_kills(arguments.rounds, arguments.seed, arguments.lanes, _say)
        for outcome in kills:
            _keep_log(outcome, arguments.logs)
        outcomes += kills
    table = format_table(outcomes, arguments.seed, time.monotonic() - began)
    sys.stdout.write(table)
    if arguments.out:
        arguments.out.write_text(table)
    return int(any(outcome.problems for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
