"""What has to hold after each fault: sentences on what does not."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from redis import Redis

from bot.features import import_features
from bot.platform.store.keys import JOBS_NAMESPACE, find_family
from tests.faults.stage import PROCESSES, Stage
from tests.faults.work import PULLS, Request, Work

# they declare the families of their keys
import_features()

_MEGABYTE = 1_000_000
# A Python process keeps what it has once needed: caches fill, pools open, threads get stacks. In sixty trials the
# worker grew by five megabytes at most, and the web process by one
MORE_RESIDENT = 12.0
# of the store, beside what its keys take, for buffers of clients and tables of keys; it grew by 0.3 at most
MORE_OF_STORE = 2.0


@dataclass(frozen=True)
class MemoryLevel:
    """Megabytes: resident of each process, and of the store beside its keys."""

    resident: dict[str, float]
    store: float


def measure_memory(stage: Stage) -> MemoryLevel:
    resident = {name: _read_resident(stage.staff[name].pid) for name in PROCESSES}
    return MemoryLevel(resident, _measure_store(stage.store))


def _read_resident(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1_000


def _measure_store(store: Redis) -> float:
    used = cast("dict[str, int]", store.info("memory"))["used_memory"]
    keys = cast("list[bytes]", store.keys("*"))
    sizes: list[int | None] = [store.memory_usage(key, samples=0) for key in keys]
    kept = sum(size or 0 for size in sizes)
    return (used - kept) / _MEGABYTE


def judge_memory(before: MemoryLevel, after: MemoryLevel, renewed: Sequence[str] = ()) -> Iterator[str]:
    """Yield what needs more memory than before; processes that were started since have no level of before."""
    for name, level in before.resident.items():
        if name not in renewed and after.resident[name] > level + MORE_RESIDENT:
            yield f"the {name} process grew from {level:.0f} to {after.resident[name]:.0f} MB"
    if after.store > before.store + MORE_OF_STORE:
        yield f"the store grew from {before.store:.1f} to {after.store:.1f} MB beside its keys"


def judge_work(work: Work) -> Iterator[str]:
    yield from (f"digest {work.number}: {problem}" for problem in _judge_digest(work))
    for request in work.requests:
        yield from (f"{request.name} {work.number}: {problem}" for problem in _judge_request(work, request))


def _judge_digest(work: Work) -> Iterator[str]:
    slack = work.stage.site.world.slack
    leads = slack.list_messages(work.channel)
    if len(leads) != 1:
        yield f"{len(leads)} lead messages: {[lead['text'][:80] for lead in leads]}"
        return
    [lead] = leads
    if f"{len(PULLS)} merged" not in lead["text"]:
        yield f"it says {lead['text'][:80]!r}"
    replies = slack.list_replies(work.channel, lead["ts"])
    parts = str([reply["blocks"] for reply in replies if not reply.get("files")])
    for number in PULLS:
        times = parts.count(f"'text': '#{number}'")
        if times != 1:
            yield f"#{number} stands in it {times} times"
    # the report of a digest that was repaired comes again, under another name: Slack edits no file
    reports = [file for file in slack.files if work.channel in file["channels"]]
    files = [file["thread_ts"] for file in reports if "-corrected" not in file["name"]]
    if files != [lead["ts"]]:
        yield f"{len(files)} reports"
    if not work.is_posted:
        yield f"its record says that it is not complete: {work.record.error or work.record.gaps}"


def _judge_request(work: Work, request: Request) -> Iterator[str]:
    answers, ack = work.find_answers(request), request.delivery.ack
    if request.is_taken and not answers:
        yield "it was acknowledged and has no answer"
    if ack.status == 200 and ack.text and "try again" not in ack.text:
        yield f"it was refused with {ack.text!r}, which does not say what to do"
    if len(answers) > request.most:
        yield f"{len(answers)} answers: {[answer[:80] for answer in answers]}"


def judge_keys(store: Redis) -> Iterator[str]:
    """Yield the keys that no family knows, and those of another type or lifetime than their family's."""
    for name in sorted(key.decode() for key in cast("list[bytes]", store.keys("*"))):
        family = find_family(name)
        if family is None:
            if not name.startswith(f"{JOBS_NAMESPACE}:"):
                yield f"the key {name} is of no family"
            continue
        kind, left = cast("bytes", store.type(name)).decode(), store.pttl(name)
        if left == -2:
            continue
        if kind != family.type:
            yield f"the key {name} is a {kind}, not a {family.type}"
        if (left == -1) != (family.lifetime is None):
            yield f"the key {name} lives for {left} ms"


def judge_processes(stage: Stage) -> Iterator[str]:
    for name in PROCESSES:
        if (code := stage.staff[name].poll()) is not None:
            yield f"the {name} process has ended with {code}"
    for mark in ("Traceback", "You've found a bug", "unexpected error", "a defect"):
        if times := stage.log.count(mark):
            yield f"the log has {mark!r} {times} times"
