from dataclasses import dataclass, replace
from itertools import product

from tests.faults.acts import (
    FILL,
    FOLLOW,
    Act,
    add_skewed_worker,
    end_store,
    evict,
    fail_service,
    fill_disk,
    kill_process,
    skew,
    stall_store,
    terminate_under_load,
)
from tests.faults.proxy import ServiceFault, ServiceName

# requests to outside services after which a fault begins: before the work, and in the midst of it; a piece of work
# makes about forty
BEFORE, AMID = 0, 15
# seconds: longer than what is tried again at once; of a store that is away, longer than its clients try again
LASTING, AWAY = 20.0, 8.0
# what the issue of a slow service asks for, and how long it stays so
SLOW, SLOW_LASTING = 60.0, 75.0
STALLED = 30.0
# a clock that is wrong by less than the five minutes within which Slack's signatures count
SKEW = 240.0
HOURS = 3.0


@dataclass(frozen=True)
class FaultCase:
    """A fault of a ``part`` that begins ``after`` so many requests and lasts ``seconds``, or some ``hours``.

    The hours are put forward.

    ``doctor_advice`` is what ``prdigest doctor`` has to say meanwhile; ``excuses`` are patterns of findings that
    the fault makes unavoidable. ``is_on_disk``: the store is the embedded one, on a small disk.
    """

    part: str
    fault: str
    act: Act
    after: int = AMID
    seconds: float = AWAY
    hours: float = 0.0
    doctor_advice: str = ""
    excuses: tuple[str, ...] = ()
    is_on_disk: bool = False

    @property
    def when(self) -> str:
        return f"after {self.after} requests" if self.after else "before the work"

    @property
    def lasts(self) -> str:
        return f"{self.hours:g} h, put forward" if self.hours else f"{self.seconds:g} s"

    @property
    def name(self) -> str:
        return f"{self.part} {self.fault}, {self.when}" + (f", {self.hours:g} h" if self.hours else "")


# Slack does what it is asked, and its answer is lost. What only one person saw can't be looked for afterwards, so
# the bot sends it again: better several times than never
_REPEATED = (r"private command \d+: \d+ answers",)
_SLACK_EXCUSES = {
    ServiceFault.SLOW: _REPEATED,
    ServiceFault.CUT: _REPEATED,
    ServiceFault.GARBAGE: _REPEATED,
    # to a bot that was removed from the workspace nothing is left but the addresses that commands came with
    ServiceFault.REFUSING: (r"question \d+: it was acknowledged and has no answer",),
}


def _list_service_cases() -> list[FaultCase]:
    cases = []
    for service, fault, after in product(ServiceName, ServiceFault, (BEFORE, AMID)):
        is_slow = fault is ServiceFault.SLOW
        act = fail_service(service, fault, SLOW)
        seconds = SLOW_LASTING if is_slow else LASTING
        excuses = _SLACK_EXCUSES.get(fault, ()) if service is ServiceName.SLACK else ()
        cases.append(FaultCase(service, fault, act, after, seconds, excuses=excuses))
    for service in ServiceName:
        act = fail_service(service, ServiceFault.DOWN)
        cases.append(FaultCase(service, ServiceFault.DOWN, act, AMID, hours=HOURS))
    return cases


_FULL = "The store is full"
_EVICTS = "The store may evict records"
# a store that drops what is kept for good loses subscriptions, records and jobs; it leads to no second digest
_EVICTED = ("0 lead messages", "is not complete", "has no answer", "unexpected error", "Traceback")
STORE_CASES = (
    FaultCase("store", "killed", end_store("terminate")),
    FaultCase("store", "restarted", end_store("stop"), seconds=1.0),
    FaultCase("store", "full", FILL, doctor_advice=_FULL),
    FaultCase("store", "evicting what expires", evict("volatile-lru")),
    FaultCase("store", "evicting anything", evict("allkeys-lru"), doctor_advice=_EVICTS, excuses=_EVICTED),
    FaultCase("store", "read-only", FOLLOW, doctor_advice="The store is a read-only replica"),
    FaultCase("store", "stalled", stall_store, seconds=STALLED),
    FaultCase("disk", "full", fill_disk, doctor_advice="The store accepts no writes", is_on_disk=True),
)
PROCESS_CASES = (
    *(FaultCase(name, "killed", kill_process(name), seconds=0.0) for name in ("web", "worker", "clock")),
    FaultCase("processes", "SIGTERM under load", terminate_under_load, seconds=0.0),
)
SKEW_CASES = (
    *(
        FaultCase(f"{name}'s clock", f"{seconds / 60:+g} min", skew(name, seconds), after, LASTING)
        for name, seconds, after in product(("web", "worker", "clock", "all"), (SKEW, -SKEW), (BEFORE, AMID))
    ),
    *(
        FaultCase("second worker's clock", f"{seconds / 60:+g} min", add_skewed_worker(seconds), BEFORE, LASTING)
        for seconds in (SKEW, -SKEW)
    ),
)
CASES = (
    *_list_service_cases(),
    *(replace(case, after=after) for case, after in product(STORE_CASES, (BEFORE, AMID))),
    *PROCESS_CASES,
    *SKEW_CASES,
)
