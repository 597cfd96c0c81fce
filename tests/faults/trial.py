"""One trial: a bot that works, a fault in the midst of its work, and a judgement when all is quiet again."""

import os
import random
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.cases import FaultCase
from tests.faults.clocks import start_shifted
from tests.faults.judgement import (
    MemoryLevel,
    judge_keys,
    judge_memory,
    judge_processes,
    judge_work,
    measure_memory,
)
from tests.faults.settling import settle
from tests.faults.stage import Stage, open_stage, short_folder
from tests.faults.work import Work
from tests.helpers.processes.command import Caught

# seconds: until a fault begins at the latest, and until all is done after it
_MOMENT_SECONDS = 6.0
_QUIET_SECONDS = 150.0
_DISK = "12m"
# how often and by how much time is put forward while a fault lasts for hours
_HOUR_STEPS, _STEP_SECONDS = 45, 1.0


class NotHere(Exception):
    """A fault that can't be injected on this machine, with the reason."""


@dataclass
class Outcome:
    """What came of a trial. ``quiet`` is the seconds from the end of the fault until all was done."""

    name: str
    part: str
    fault: str
    when: str
    lasts: str
    problems: list[str] = field(default_factory=list)
    excused: list[str] = field(default_factory=list)
    quiet: float = 0.0
    accepted: int = 0
    refused: int = 0
    lost: int = 0
    growth: str = ""
    doctor_output: str = ""
    skipped: str = ""
    log: str = ""


def run_case(case: FaultCase, seed: int) -> Outcome:
    """Run the trial of a case on a bot of its own."""
    outcome = Outcome(case.name, case.part, case.fault, case.when, case.lasts)
    try:
        with short_folder() as folder, _open_case_stage(case, folder) as stage:
            _run_trial(case, stage, random.Random(f"{seed} {case.name}"), outcome)  # noqa: S311 (no secret)
    except NotHere as reason:
        outcome.skipped = str(reason)
    except Exception as error:
        outcome.problems.append(f"the trial ended with {type(error).__name__}: {error}")
        outcome.log = "".join(getattr(error, "__notes__", ()))
    return outcome


@contextmanager
def _open_case_stage(case: FaultCase, folder: Path) -> Iterator[Stage]:
    with ExitStack() as stack:
        if case.is_on_disk:
            disk = stack.enter_context(small_disk(folder))
            yield stack.enter_context(open_stage(folder, state=disk / "state"))
        else:
            yield stack.enter_context(open_stage(folder))


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """Mount a disk of a few megabytes. Raises NotHere where that is not allowed."""
    place = folder / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={_DISK},mode=700", "tmpfs", str(place)]
    if os.getuid() or subprocess.run(mount, capture_output=True, check=False, timeout=20).returncode:
        raise NotHere("no disk can be mounted: that takes root and the right to mount")
    try:
        yield place
    finally:
        unmount = ["umount", "-l", str(place)]
        subprocess.run(unmount, capture_output=True, check=False, timeout=20)


def _run_trial(case: FaultCase, stage: Stage, choice: random.Random, outcome: Outcome) -> None:
    before = Work(stage, 0)
    before.prepare()
    before.begin()
    assert settle(stage, [before], _QUIET_SECONDS), "the bot does not work without a fault"
    level = measure_memory(stage)
    thread = before.first_answer

    work = Work(stage, 1)
    work.prepare()
    seen = stage.requests
    if not case.after:
        with case.act(stage, choice):
            _begin(work, thread)
            _let_last(case, stage, outcome)
    else:
        work.begin(thread)
        _await_moment(stage, seen + case.after)
        with case.act(stage, choice):
            _let_last(case, stage, outcome)

    healed = time.monotonic()
    stage.await_web()
    work.redeliver()
    settle(stage, [work], _QUIET_SECONDS)
    outcome.quiet = time.monotonic() - healed
    later = Work(stage, 2)
    later.prepare()
    later.begin(thread)
    settle(stage, [later], _QUIET_SECONDS)
    _judge(case, stage, [before, work, later], level, outcome)


def _begin(work: Work, thread: str) -> None:
    """Start the work where something is broken already: a clock that can't start does so later."""
    work.stage.restart("clock")
    work.ask(thread)


def _await_moment(stage: Stage, requests: int) -> None:
    until = time.monotonic() + _MOMENT_SECONDS
    while stage.requests < requests and time.monotonic() < until:
        time.sleep(0.005)


def _let_last(case: FaultCase, stage: Stage, outcome: Outcome) -> None:
    until = time.monotonic() + case.seconds
    if case.doctor_advice:
        outcome.doctor_output = ask_doctor(stage)
        if case.doctor_advice not in outcome.doctor_output:
            outcome.problems.append(f"the doctor does not say {case.doctor_advice!r}: {outcome.doctor_output}")
    if case.hours:
        for _ in range(_HOUR_STEPS):
            time.sleep(_STEP_SECONDS)
            stage.pass_time(case.hours * 3_600 / _HOUR_STEPS)
    time.sleep(max(0.0, until - time.monotonic()))


def ask_doctor(stage: Stage) -> str:
    """Run ``prdigest doctor``; return the lines of what it finds wrong."""
    settings = {**stage.site.world.settings, **stage.clocks.setting("doctor")}
    done = Caught("doctor", settings=settings, folder=stage.site.folder, start=start_shifted).await_end()
    lines = [line.strip() for line in done.stdout.splitlines()]
    return " / ".join(line for line in lines if line.startswith(("✗", "→", "✘", "FAIL", "x "))) or done.stdout


def _judge(case: FaultCase, stage: Stage, works: list[Work], level: MemoryLevel, outcome: Outcome) -> None:
    after = measure_memory(stage)
    problems = [problem for work in works for problem in judge_work(work)]
    problems += [*judge_keys(stage.store), *judge_processes(stage), *judge_memory(level, after)]
    for problem in problems:
        is_excused = any(re.search(excuse, problem) for excuse in case.excuses)
        (outcome.excused if is_excused else outcome.problems).append(problem)
    requests = works[1].requests
    outcome.accepted = sum(each.is_taken for each in requests)
    outcome.lost = sum(each.delivery.ack.status == 0 for each in requests)
    outcome.refused = len(requests) - outcome.accepted - outcome.lost
    outcome.log = stage.log if outcome.problems else ""
    grown = [after.resident[name] - level.resident[name] for name in ("web", "worker")]
    outcome.growth = "/".join(f"{each:+.1f}" for each in (*grown, after.store - level.store))
