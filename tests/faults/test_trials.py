"""A short cut of the trials: the whole bot under a few faults. ``python -m tests.faults`` has all of them."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import pytest

from tests.faults.cases import AMID, CASES, FaultCase
from tests.faults.clocks import can_shift
from tests.faults.stage import Stage
from tests.faults.trial import run_case

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not can_shift(), reason="to shift the clocks of processes takes Linux and a compiler"),
]

# seconds that a fault lasts here, and how many bots run at once
SHORT, LANES = 2.0, 2
CHOSEN = (
    f"Slack cut in the middle, after {AMID} requests",
    "GitHub answering garbage, before the work",
    f"worker killed, after {AMID} requests",
    f"store killed, after {AMID} requests",
)


@contextmanager
def spoil(stage: Stage, _choice: random.Random) -> Iterator[None]:
    """Do what no bot may do: post a second digest, write a key that nobody knows, and end a process."""
    yield
    stage.site.world.slack.add_message("C0WORK1", "part-1 · another digest")
    stage.store.set("stray", "1")
    stage.kill("clock")


SPOILT = FaultCase("the judge", "has something to find", spoil, seconds=0.0)


def test_the_bot_outlives_faults_and_the_judge_sees_what_is_wrong() -> None:
    cases = [replace(case, seconds=min(case.seconds, SHORT)) for case in CASES if case.name in CHOSEN]
    assert len(cases) == len(CHOSEN)
    with ThreadPoolExecutor(LANES) as pool:
        *outcomes, spoilt = pool.map(lambda case: run_case(case, seed=1), [*cases, SPOILT])
    assert {outcome.name: outcome.problems for outcome in outcomes if outcome.problems} == {}
    assert all(outcome.accepted for outcome in outcomes)
    assert [
        mark for mark in ("2 lead messages", "stray is of no family") if mark not in str(spoilt.problems)
    ] == []
