"""How long ``prdigest demo`` takes to start, as its command line: to the page's address, and to the digest."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from statistics import median
from urllib.request import urlopen

from benchmarks.table import Table
from tests.helpers.processes.command import command, environment

STARTS = 5
MAX_SECONDS = 3.0
_PLACE = "C0DIGEST"
_DIGEST = b"18 merged"
_ADDRESS = re.compile(r"http://\S+")


@dataclass(frozen=True)
class _Start:
    address: float
    digest: float


def time_the_demo(table: Table) -> None:
    """Measure medians of several starts, after one that fills the disk cache."""
    starts = [_time_start() for _ in range(STARTS + 1)][1:]
    address, digest = median(start.address for start in starts), median(start.digest for start in starts)
    table.print_row(f"demo: address of its page, median of {STARTS}", address, MAX_SECONDS, "s")
    table.print_row(f"demo: digest in the channel, median of {STARTS}", digest, MAX_SECONDS, "s")


def _time_start() -> _Start:
    with tempfile.TemporaryDirectory(prefix="bench") as folder:
        began = time.perf_counter()
        process = subprocess.Popen(
            command("demo"), env=environment(TMPDIR=folder), stdout=subprocess.PIPE, text=True
        )
        try:
            assert process.stdout
            match = _ADDRESS.search(process.stdout.readline())
            assert match, "the demo did not start"
            address = time.perf_counter() - began
            _wait_for_the_digest(match[0])
            return _Start(address, time.perf_counter() - began)
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate()
            assert process.returncode == os.EX_OK


def _wait_for_the_digest(address: str) -> None:
    """Read the page's own stream, as a browser does, until the digest is in it."""
    live = address.replace("/?", f"/live?place={_PLACE}&")
    with urlopen(live, timeout=30) as stream:  # noqa: S310 (an address of this machine)
        assert any(_DIGEST in line for line in stream)
