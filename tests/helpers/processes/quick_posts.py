"""``prdigest run`` that waits less: ``python -m tests.helpers.processes.quick_posts``; or ``web`` or ``worker``.

Its posts to a channel come fifty times as quickly, and a second look at a link comes after one second, not five.

A conversation has several posts to one channel, and the product lets a second pass between two of them. That has
its own tests (``platform/slack/test_post_throttle.py``); a scenario looks at what is posted and seen.

Where ``MOVED_CLOCK`` names a file, the bot's time is the real one and so many seconds as stand in it.
"""

import os
import sys
import time
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from bot.app import open_app
from bot.cli.base import configure_logging, get_current_time
from bot.jobs.queues import JobTimeLimits
from bot.platform import costs, deadlines
from bot.platform.slack.answers import ResponseTimes
from bot.platform.slack.client import PostThrottle
from bot.processes import run_all, run_web, run_worker
from bot.settings import list_secret_values, load_settings

_TIMES = 50.0
# a look before the card is there would see nothing
_JOB_TIMES = JobTimeLimits(delay_factor=0.2)
# on a busy machine any answer may take seconds; that somebody is told so has its own tests
_RESPONSE_TIMES = ResponseTimes(started_notice=30.0)


def get_time() -> datetime:
    moved = os.environ.get("MOVED_CLOCK")
    return get_current_time() + timedelta(seconds=float(Path(moved).read_text()) if moved else 0.0)


def main() -> None:
    settings = load_settings()
    configure_logging(settings.prdigest_log_level or "INFO", secrets=list_secret_values(settings))
    throttle = PostThrottle(lambda: time.monotonic() * _TIMES, lambda seconds: deadlines.sleep(seconds / _TIMES))
    with (
        open_app(settings, get_time, deadlines.sleep, throttle=throttle, response_times=_RESPONSE_TIMES) as base,
        costs.bill_to(costs.OPERATOR),
    ):
        {"web": run_web, "worker": run_worker}.get(sys.argv[1], partial(run_all, times=_JOB_TIMES))(base)


if __name__ == "__main__":
    main()
