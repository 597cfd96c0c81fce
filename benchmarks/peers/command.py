"""``python -m benchmarks peers``: one summary of each pull request by this project and by PR-Agent's describe.

Both run as processes against the same emulators of GitHub and Claude, on the same model with the same latencies.
The tables are Markdown. The peer is installed in a virtual environment of its own, in the user's cache.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.day import WITHOUT_REVIEWS
from benchmarks.peers.measurements import Run, Series, run_all
from benchmarks.peers.stage import Stage, load_material, open_stage
from benchmarks.peers.tables import SUMS, format_comparison, format_pulls
from benchmarks.peers.tools import (
    MODEL,
    PEER_PYTHON,
    PEER_VERSION,
    Tool,
    default_venv,
    install_peer,
    make_ours,
    make_peer,
)
from tests.helpers.builders import SHARED

ZONE = "America/Los_Angeles"
QUIET = {"CONFIG__PUBLISH_OUTPUT": "false"}
# what the peer can do besides: cache the system prompt, and write to the pull request
CACHED_AND_PUBLISHED = {
    "CONFIG__PUBLISH_OUTPUT": "true",
    "LITELLM__CACHE_CONTROL_INJECTION_POINTS": '[{"location": "message", "role": "system"}]',
}


def compare_peers(arguments: Sequence[str]) -> int:
    """Measure both tools and print the tables; return the exit code."""
    options = _parse(arguments)
    day = options.day if options.day.is_dir() else None
    if day is None:
        print(f"{options.day} is not here: made-up pull requests take its place", file=sys.stderr)
    install_peer(options.venv, options.python)
    material = load_material(day, options.pulls, options.clone if day else None)
    with open_stage(replace(material, pulls=material.pulls[:1])) as stage:
        # fills the caches of the disk, and fails at once if a tool can't run here
        _run_both(stage, options.venv)
        _run_published(stage, options.venv)
    with open_stage(material) as stage:
        first, again = _run_both(stage, options.venv), _run_both(stage, options.venv)
        published = _run_published(stage, options.venv)
    with open_stage(material) as stage:
        digest = Series("prdigest digest", [_measure_digest(stage)])
    print(f"PR-Agent {PEER_VERSION}, {MODEL}, {len(material.pulls)} pull requests: {material.name}")
    _print_table("First run", format_comparison(first[0], [first[1], published]))
    _print_table("Second run", format_comparison(again[0], [again[1]]))
    _print_table("The same pull requests as one digest", format_comparison(digest, [first[1]], SUMS))
    _print_table("Each pull request, first run", format_pulls(material.pulls, *first))
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks peers", description=__doc__)
    default = SHARED / "replay" / "2026-02-24"
    parser.add_argument("--day", type=Path, default=default, help="folder of a recorded day")
    parser.add_argument("--clone", type=Path, help="clone of the repository: the lines around the changes")
    parser.add_argument("--pulls", type=int, default=20, help="number of pull requests (default: 20)")
    parser.add_argument("--venv", type=Path, default=default_venv(), help="the peer's environment")
    parser.add_argument("--python", default=PEER_PYTHON, help=f"Python for the peer (default: {PEER_PYTHON})")
    return parser.parse_args(arguments)


def _run_both(stage: Stage, venv: Path) -> tuple[Series, Series]:
    summary = _make_ours(stage, "summary", "{number}")
    return _run_series(stage, summary), _run_series(stage, _make_peer(stage, venv, QUIET))


def _run_published(stage: Stage, venv: Path) -> Series:
    """Run the peer as it may be set up besides. Its time says nothing: the emulators answer at once."""
    stage.meter.github.latency = stage.meter.claude.latency = 0.0
    series = _run_series(stage, _make_peer(stage, venv, CACHED_AND_PUBLISHED))
    return replace(series, name="PR-Agent, published")


def _run_series(stage: Stage, tool: Tool) -> Series:
    return Series(tool.name, run_all(stage.meter, tool, [pull.number for pull in stage.material.pulls]))


def _make_peer(stage: Stage, venv: Path, settings: dict[str, str]) -> Tool:
    meter = stage.meter
    return make_peer(meter.github, meter.claude, venv.absolute(), stage.material.repository, settings)


def _make_ours(stage: Stage, *arguments: str) -> Tool:
    ours = make_ours(stage.meter.github, stage.meter.claude, stage.store)
    return replace(ours, arguments=(*ours.arguments, *arguments, f"--repo={stage.material.repository}"))


def _measure_digest(stage: Stage) -> Run:
    """Measure one digest of all the pull requests, without the AI bug review for bugs."""
    day = (f"--date={stage.material.date}", f"--timezone={ZONE}", "--dry-run")
    ours = _make_ours(stage, "digest", *day)
    return stage.meter.measure(replace(ours, environment={**ours.environment, **WITHOUT_REVIEWS}))


def _print_table(title: str, lines: Iterator[str]) -> None:
    print(f"\n{title}\n")
    for line in lines:
        print(line)
