"""The cost of a day in time, memory, calls and tokens. The commands run as processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from pathlib import Path

from benchmarks.table import Table
from bot.platform.store.connection import connect_server
from bot.platform.store.embedded.server import start_embedded_url
from tests.emulators.github.server import GitHubEmulator
from tests.emulators.github.store import changed_file, pull
from tests.emulators.github.trees import Entry, FixedTree, TreeCommit
from tests.helpers.builders import NOON, SHARED
from tests.helpers.processes.command import command, environment
from tests.helpers.world import SMALL_DAY, World, replay, world

PULLS = 43
GITHUB_LATENCY, MODEL_LATENCY = 0.15, 2.0  # seconds a call
AT_A_TIME = 8
MAX_CRITICAL_PATH = 1.25
MAX_MEMORY = 250.0  # megabytes
MAX_TOKENS = 300_000
# PR-Agent's "describe" over the same three days: tokens, and GitHub calls for each pull request
PR_AGENT_TOKENS, PR_AGENT_CALLS = 313_000, 16
# benchmarks/reading/reviews.py measures them
WITHOUT_REVIEWS = {"PRDIGEST_REVIEW_BUDGET": "0"}
REPLAY = {"2026-02-22": 10, "2026-02-24": 43, "2026-02-28": 18}


@dataclass(frozen=True)
class Run:
    """One run of a command: seconds of wall clock, megabytes at its peak, calls it made."""

    seconds: float
    megabytes: float
    github: int
    model: int


@contextmanager
def open_empty_world() -> Iterator[World]:
    """Yield emulators of GitHub, Claude and Slack, and settings for a bot with an empty store."""
    with tempfile.TemporaryDirectory(prefix="bench") as folder:
        url = start_embedded_url(Path(folder))
        with connect_server(url) as keeper, world(url) as there:
            keeper.ping()
            yield there


def measure_command(there: World, *arguments: str) -> Run:
    """Run a command to its end; exit with an error if it fails."""
    calls, requests = len(there.github.calls), len(there.claude.requests)
    began = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command(*arguments), env=environment(**there.settings), stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{arguments[0]} failed with {process.returncode}")
    return Run(
        time.perf_counter() - began,
        usage.ru_maxrss / 1024,
        len(there.github.calls) - calls,
        len(there.claude.requests) - requests,
    )


def add_large_day(github: GitHubEmulator) -> None:
    """Add 43 pull requests with about 9,000 characters of patch each, as on the busiest of the replay days.

    The files are those after the merge.
    """
    for number in range(1, PULLS + 1):
        lines = "\n".join(f"+    total = total + weights[{line}] * {number}" for line in range(75))
        files = [changed_file(f"src/part_{part}.py", f"@@ -1,1 +1,76 @@\n start\n{lines}") for part in range(3)]
        record = pull(number, merged_at=NOON + timedelta(minutes=number), files=files)
        github.add("octo/engine", record)
        text = "start\n" + lines.replace("+    ", "    ") + "\n"
        tree = FixedTree({file["filename"]: Entry(text.encode()) for file in files})
        github.add_commit("octo/engine", TreeCommit(str(record.merge_commit_sha), tree))


def time_a_day(table: Table) -> None:
    """Measure a day of 43 pull requests, first with an empty cache, then with a full one."""
    with open_empty_world() as there:
        add_large_day(there.github)
        there.settings.update(WITHOUT_REVIEWS)
        there.github.latency, there.claude.latency = GITHUB_LATENCY, MODEL_LATENCY
        cold = measure_command(there, "digest", *SMALL_DAY, "--dry-run")
        warm = measure_command(there, "digest", *SMALL_DAY, "--dry-run")
    # what nothing can hide: the list, the patches and the files of the first pull requests, the summaries eight at
    # a time, the overview. The other files are loaded while the model works, so they are not on the path. Our own
    # computing is not either: the start of the interpreter, imports, texts for the model, the end of the process
    path = 3 * GITHUB_LATENCY + ceil(PULLS / AT_A_TIME) * MODEL_LATENCY + MODEL_LATENCY
    table.print_row(
        f"cold day of {PULLS}: times its critical path", cold.seconds / path, MAX_CRITICAL_PATH, "times"
    )
    table.print_row("cold day: wall clock", cold.seconds, MAX_CRITICAL_PATH * path, "s")
    # of each: its list of files, the files for its summary, and those before it for what it changes for callers
    table.print_row("cold day: GitHub calls (3 N + 4)", cold.github, 3 * PULLS + 4, "calls")
    table.print_row("cold day: model calls (N + 1)", cold.model, PULLS + 1, "calls")
    table.print_row("cold day: peak memory of the process", cold.megabytes, MAX_MEMORY, "MB")
    table.print_row("warm day: model calls", warm.model, 0, "calls")
    table.print_row("warm day: wall clock against a cold day's path", warm.seconds, path, "s")


def count_replay(table: Table) -> None:
    """Count the tokens and calls of three real days; skip it if the data pack is missing."""
    if not SHARED.is_dir():
        print("replay days: skipped, the data pack ../shared is not here")
        return
    tokens, calls, unsent = 0.0, 0, 0
    for date, pulls in REPLAY.items():
        with open_empty_world() as there:
            replay(there.github, SHARED, date)
            there.settings.update(WITHOUT_REVIEWS)
            day = ("--repo=vllm-project/vllm", f"--date={date}", "--timezone=America/Los_Angeles")
            run = measure_command(there, "digest", *day, "--dry-run")
            spent = there.claude.input_characters() / 4
            sent = [request["messages"][0]["content"] for request in there.claude.requests]
        print(f"{date}: {pulls} merged, {run.github} GitHub calls, {run.model} model calls, {spent:,.0f} tokens")
        tokens, calls = tokens + spent, calls + run.github
        unsent += count_missing_lines(SHARED / "replay" / date / "files", sent)
    total = sum(REPLAY.values())
    table.print_row(f"replay days, {total} merged: tokens in, all told", tokens, MAX_TOKENS, "tokens")
    table.print_row("replay days: tokens in against PR-Agent's describe", tokens, PR_AGENT_TOKENS, "tokens")
    table.print_row("replay days: changed lines that no prompt holds", unsent, 0, "lines")
    table.print_row("replay days: GitHub calls against PR-Agent's", calls, PR_AGENT_CALLS * total, "calls")


def count_missing_lines(records: Path, sent: list[str]) -> int:
    """Count the changed lines of a day's patches that are in no prompt about their pull request."""
    missing = 0
    for record in records.glob("*.json"):
        prompt = next(text for text in sent if f" #{record.stem}: " in text)
        lines = set(prompt.split("\n"))
        patches = [file.get("patch", "") for file in json.loads(record.read_text())]
        changed = [line for patch in patches for line in patch.split("\n") if line[:1] in ("+", "-")]
        missing += sum(line not in lines for line in changed)
    return missing
