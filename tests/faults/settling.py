"""Waits until a bot has done all its work; where it wants to try again later, time is put forward."""

import time
from collections.abc import Sequence
from itertools import chain, repeat
from typing import cast

from redis.exceptions import RedisError

from tests.faults.clocks import can_shift
from tests.faults.stage import Stage
from tests.faults.work import Work

# seconds in which nothing may move before time is put forward: a job of a process that was killed is taken up
# after ten, a failed one tried again after some fifteen
_STILL = 4.0
_LONGEST_STILL = 18.0
# what a digest that failed is tried again after, and one with gaps repaired
_STEPS = (90.0, 150.0, 330.0, 630.0)
_SOME_MINUTES = 930.0


def settle(stage: Stage, works: Sequence[Work], seconds: float) -> bool:
    """Wait until all is done, for at most ``seconds``; return whether it is."""
    steps = chain(_STEPS, repeat(_SOME_MINUTES))
    until, moved, last = time.monotonic() + seconds, time.monotonic(), ""
    while time.monotonic() < until:
        try:
            open_jobs = _list_jobs(stage)
            if not open_jobs and all(work.is_posted and work.has_answers() for work in works):
                return True
            # the rest of a job that was just done may be under way
            state = f"{open_jobs} {stage.requests}"
        except RedisError as error:
            state = str(error)
        if state != last:
            last, moved = state, time.monotonic()
        still = time.monotonic() - moved
        if can_shift() and still > (_LONGEST_STILL if "dramatiq" in state else _STILL):
            stage.advance(next(steps))
            moved = time.monotonic()
        time.sleep(0.2)
    return False


def _list_jobs(stage: Stage) -> list[bytes]:
    """The queues that hold jobs, with how many; what was given up stays there for a week, to be looked at."""
    keys = cast("list[bytes]", stage.store.keys(stage.site.keys.add_prefix("dramatiq:*.msgs")))
    kept = [key for key in sorted(keys) if not key.endswith(b".XQ.msgs")]
    return [key + b"%d" % stage.store.hlen(key) for key in kept]
