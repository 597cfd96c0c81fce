"""Runs of a tool over pull requests, measured at the process and at both emulators."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from localslack.loopback import Request, Response

from benchmarks.peers.tools import MODEL, Tool
from benchmarks.questions import parse_usage
from bot.platform.models.claude import CLAUDE
from bot.usage import NO_USAGE, Usage
from tests.emulators.claude.request import CHARACTERS_PER_TOKEN, schema_of
from tests.emulators.claude.server import ClaudeEmulator
from tests.emulators.github.server import GitHubEmulator

# seconds; a run takes some ten
PATIENCE = 180.0


@dataclass(frozen=True)
class Run:
    """One summary of one pull request by a tool.

    ``seconds`` is wall clock from the start of the process to its end, ``start`` the part of it before the first
    request to GitHub, ``processor`` the seconds of user and system time. ``usage`` has the tokens of all calls
    of the model, with the schema of the answer where the tool sends one.
    """

    number: int
    seconds: float
    start: float
    processor: float
    megabytes: float
    github: int
    model: int
    usage: Usage

    @property
    def plain_dollars(self) -> float:
        """The price if nothing were cached."""
        return CLAUDE.prices.cautious_cost(MODEL, Usage(self.usage.prompt_tokens, self.usage.output))

    @property
    def dollars(self) -> float:
        return CLAUDE.prices.cautious_cost(MODEL, self.usage)


class TimedGitHub(GitHubEmulator):
    """A GitHub that notes when it was asked; ``moments`` are seconds of a clock that only goes forward."""

    def __init__(self) -> None:
        super().__init__()
        self.moments: list[float] = []

    def handle(self, request: Request) -> Response:
        self.moments.append(time.perf_counter())
        return super().handle(request)


@dataclass(frozen=True)
class Meter:
    """A reader of both emulators before and after a run."""

    github: TimedGitHub
    claude: ClaudeEmulator

    def measure(self, tool: Tool, number: int = 0) -> Run:
        """Run a tool for one pull request; exit with what it said if it fails or reads nothing."""
        calls, requests = len(self.github.calls), len(self.claude.requests)
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as output:
            began = time.perf_counter()
            process = subprocess.Popen(
                tool.list_arguments(number), env=dict(tool.environment), cwd=folder, stdout=output, stderr=output
            )
            late = threading.Timer(PATIENCE, process.kill)
            late.start()
            _, status, used = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - began
            late.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            moments = self.github.moments[calls:]
            if process.returncode or not moments:
                output.seek(0)
                sys.exit(f"{tool.name} failed on {number}:\n{output.read().decode(errors='replace')[-4000:]}")
        answered = zip(self.claude.requests[requests:], self.claude.usages[requests:], strict=True)
        return Run(
            number,
            seconds,
            moments[0] - began,
            used.ru_utime + used.ru_stime,
            used.ru_maxrss / 1024,
            len(moments),
            len(self.claude.requests) - requests,
            sum((count_tokens(body, usage) for body, usage in answered), NO_USAGE),
        )


def count_tokens(body: dict[str, Any], usage: dict[str, Any]) -> Usage:
    """Return the tokens of one call: those of the emulator, and of the schema, which it does not count."""
    schema = schema_of(body)
    characters = len(json.dumps(schema)) if schema else 0
    return parse_usage(usage) + Usage(input=characters // CHARACTERS_PER_TOKEN)


def run_all(meter: Meter, tool: Tool, numbers: Iterable[int]) -> list[Run]:
    """Run a tool for each pull request, one after the other; a line for each tells how far it is."""
    runs = []
    for number in numbers:
        run = meter.measure(tool, number)
        counts = f"{run.github} calls of GitHub, {run.model} of the model, {run.usage.prompt_tokens} tokens"
        print(f"{tool.name} #{number}: {run.seconds:.1f} s, {counts}", file=sys.stderr)
        runs.append(run)
    return runs


@dataclass(frozen=True)
class Series:
    name: str
    runs: Sequence[Run]

    def total(self, value: Callable[[Run], float]) -> float:
        return sum(map(value, self.runs))

    def median(self, value: Callable[[Run], float]) -> float:
        return statistics.median(map(value, self.runs))
