from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from tests.faults.judgement import judge_keys, judge_memory, judge_processes, judge_work, measure_memory
from tests.faults.settling import settle
from tests.faults.stage import PROCESSES, Stage, open_stage, short_folder
from tests.faults.trial import Outcome
from tests.faults.work import Work

# Most of the work is the worker's. It is killed after so many requests to outside services, of which a piece of
# work makes about forty. What the others do is over within these seconds, from when people ask or a clock starts.
_WEIGHTS = {"web": 1, "worker": 3, "clock": 1}
_MOST_REQUESTS = 45
_MOST_SECONDS = {"web": 0.15, "clock": 1.5}
# seconds: until a kill at the latest, between the kill and the next start at most, and for the rest of a round
_LATEST_KILL, _LONGEST_GAP, _ROUND_SECONDS = 5.0, 1.0, 100.0


@dataclass(frozen=True)
class Kill:
    """Which process is killed, after how many requests or seconds, and how long it is away."""

    victim: str
    after: float
    gap: float

    @classmethod
    def draw(cls, choice: random.Random) -> Kill:
        [victim] = choice.choices(list(_WEIGHTS), list(_WEIGHTS.values()))
        most = _MOST_SECONDS.get(victim)
        after = choice.randrange(_MOST_REQUESTS) if most is None else choice.uniform(0, most)
        return cls(victim, after, choice.uniform(0, _LONGEST_GAP))

    def is_time(self, requests: int, seconds: float) -> bool:
        count = requests if self.victim == "worker" else seconds
        return count >= self.after or seconds > _LATEST_KILL

    def __str__(self) -> str:
        unit = "requests" if self.victim == "worker" else "s"
        return f"{self.victim} killed after {self.after:.2g} {unit}, away for {self.gap:.1f} s"


@dataclass
class _Tally:
    outcomes: dict[str, Outcome] = field(
        default_factory=lambda: {
            name: Outcome(f"{name} killed at random", name, "killed with SIGKILL", "", "") for name in PROCESSES
        }
    )
    rounds: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PROCESSES, 0))
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, kill: Kill, work: Work, quiet: float, problems: Sequence[str]) -> None:
        """Add a round; of one in which something did not hold, the log too."""
        with self.lock:
            outcome = self.outcomes[kill.victim]
            self.rounds[kill.victim] += 1
            outcome.quiet = max(outcome.quiet, quiet)
            outcome.accepted += sum(each.is_taken for each in work.requests)
            outcome.lost += sum(each.delivery.ack.status == 0 for each in work.requests)
            outcome.refused = 4 * self.rounds[kill.victim] - outcome.accepted - outcome.lost
            outcome.problems += [f"{kill}: {problem}" for problem in problems]
            outcome.log += work.stage.log if problems else ""


def run_kills(rounds: int, seed: int, lanes: int, report: Callable[[str], None]) -> list[Outcome]:
    """Run rounds on several bots at once; an outcome for each process. ``report`` is called after each round."""
    tally = _Tally()
    shares = [rounds // lanes + (lane < rounds % lanes) for lane in range(lanes)]
    with ThreadPoolExecutor(lanes) as pool:
        lines = [
            pool.submit(_run_lane, share, random.Random(f"{seed} {lane}"), tally, report)  # noqa: S311 (no secret)
            for lane, share in enumerate(shares)
            if share
        ]
        for line in lines:
            line.result()
    for name, outcome in tally.outcomes.items():
        outcome.when, outcome.lasts = f"{tally.rounds[name]} rounds", f"{_LONGEST_GAP:g} s at most"
    return [outcome for name, outcome in tally.outcomes.items() if tally.rounds[name]]


def _run_lane(rounds: int, choice: random.Random, tally: _Tally, report: Callable[[str], None]) -> None:
    with short_folder() as folder, open_stage(folder, works=rounds + 1) as stage:
        before = Work(stage, 0)
        before.prepare()
        before.begin()
        assert settle(stage, [before], _ROUND_SECONDS), "the bot does not work without a fault"
        level, thread = measure_memory(stage), before.first_answer
        for number in range(1, rounds + 1):
            kill, work = Kill.draw(choice), Work(stage, number)
            quiet = _run_round(stage, kill, work, thread)
            problems = [*judge_work(work), *judge_keys(stage.store), *judge_processes(stage)]
            if number == rounds:
                problems += judge_memory(level, measure_memory(stage))
            tally.add(kill, work, quiet, problems)
            report(f"{kill}: {'; '.join(problems) or 'held'}")


def _run_round(stage: Stage, kill: Kill, work: Work, thread: str) -> float:
    """Let the bot work, kill a process and start it again; return the seconds until all was done."""
    work.prepare()
    killer = threading.Thread(target=_kill, args=(stage, kill, stage.requests))
    if kill.victim == "web":
        stage.restart("clock")
        killer.start()
        work.ask(thread)
    else:
        killer.start()
        work.begin(thread)
    killer.join()
    began = time.monotonic()
    stage.await_web()
    work.redeliver()
    settle(stage, [work], _ROUND_SECONDS)
    return time.monotonic() - began


def _kill(stage: Stage, kill: Kill, requests: int) -> None:
    began = time.monotonic()
    while not kill.is_time(stage.requests - requests, time.monotonic() - began):
        time.sleep(0.003)
    with stage.lock:
        stage.kill(kill.victim)
        time.sleep(kill.gap)
        stage.start(kill.victim)
