"""The bot's processes with a clock that is ahead: ``python -m benchmarks.load.shifted web|worker|clock``.

``PRDIGEST_SHIFT`` names a file with the seconds by which they are ahead; whoever writes it lets time pass. The
clock ticks whenever that changes. Everything else is what ``prdigest web``, ``worker`` and ``clock`` do.
"""

from __future__ import annotations

import os
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.app import App, open_app
from bot.cli.base import configure_logging
from bot.clock import Clock
from bot.jobs.queues import DramatiqJobQueue
from bot.platform import costs, deadlines
from bot.processes import listen_for_stop_signals, run_web, run_worker
from bot.settings import load_settings

SHIFT = "PRDIGEST_SHIFT"
_LOOK_INTERVAL = 0.2  # seconds


def read_shifted_time(path: Path) -> datetime:
    """Return the shifted time, in UTC."""
    return datetime.now(UTC) + timedelta(seconds=float(path.read_text()))


def write_shift(path: Path, shift: timedelta) -> None:
    """Set the shift. A reader sees the old one or the new one, nothing in between."""
    new = path.with_suffix(".new")
    new.write_text(str(shift.total_seconds()))
    new.replace(path)


def run_shifted_clock(base: App, path: Path) -> None:
    stop_event, last = listen_for_stop_signals(), ""
    with closing(DramatiqJobQueue(base.store, base.keyspace)) as jobs:
        clock = Clock(base, jobs)
        while not stop_event.wait(_LOOK_INTERVAL):
            if (shift := path.read_text()) != last:
                last = shift
                clock.tick()


def main() -> None:
    settings, path = load_settings(), Path(os.environ[SHIFT])
    configure_logging("WARNING", settings.prdigest_log_format)
    with (
        open_app(settings, lambda: read_shifted_time(path), deadlines.sleep) as base,
        costs.bill_to(costs.OPERATOR),
    ):
        if sys.argv[1] == "clock":
            run_shifted_clock(base, path)
        else:
            {"web": run_web, "worker": run_worker}[sys.argv[1]](base)


if __name__ == "__main__":
    main()
