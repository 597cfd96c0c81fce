"""Which commands import the model's SDK: those that really ask a model, for it takes seconds to import."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from redis import Redis

from tests.helpers.command import environment
from tests.helpers.world import SMALL_DAY, World, add_small_day, world

pytestmark = pytest.mark.slow

# the command line as it is, for one line after the other; after each it tells which of some modules are imported
ASK = """
import json, sys
from bot.__main__ import main
for line in json.loads(sys.argv[1]):
    sys.argv[1:] = line
    try:
        main()
    except SystemExit:
        pass
    print(json.dumps([name for name in %r if name in sys.modules]), file=sys.stderr)
"""
SDK = ("anthropic",)
SUMMARY = ("summary", "101", "--repo", "octo/engine")
REPORT = ("report", *SMALL_DAY)


@pytest.fixture
def there(store: Redis, store_url: str) -> Iterator[World]:
    store.ping()
    with world(store_url) as made:
        add_small_day(made.github)
        yield made


def imported(
    folder: Path, settings: Mapping[str, str], *lines: tuple[str, ...], names: tuple[str, ...] = SDK
) -> list[list[str]]:
    """Those of some modules that are imported after each of the commands, which a process of its own runs."""
    command = [sys.executable, "-c", ASK % (names,), json.dumps(lines)]
    done = subprocess.run(
        command, env=environment(**settings), cwd=folder, capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, bool(done.stdout)) == (0, True), done.stderr.decode()
    return [json.loads(line) for line in done.stderr.decode().splitlines() if line.startswith("[")]


def test_what_asks_nobody_imports_no_client(tmp_path: Path) -> None:
    clients = (*SDK, "github", "slack_sdk", "redis", "dramatiq", "apscheduler", "cryptography", "flask", "jinja2")
    lines = [("--help",), ("report", "--help"), ("manifest",), ("env",), ("demo", "--text")]
    assert imported(tmp_path, {}, *lines, names=clients) == [[]] * len(lines)


def test_without_a_key_the_sdk_is_not_imported(tmp_path: Path, there: World) -> None:
    assert imported(tmp_path, {**there.settings, "ANTHROPIC_API_KEY": ""}, REPORT, SUMMARY) == [[], []]


def test_what_asks_the_model_imports_the_sdk_and_what_is_known_already_needs_none(
    tmp_path: Path, there: World
) -> None:
    assert imported(tmp_path, there.settings, REPORT, SUMMARY) == [["anthropic"]] * 2
    asked = len(there.claude.requests)
    assert asked
    assert imported(tmp_path, there.settings, REPORT, SUMMARY, ("doctor",)) == [[], [], []]
    assert len(there.claude.requests) == asked


def test_no_module_outside_the_adapters_needs_the_sdk() -> None:
    modules = ["bot.container", "bot.doctor.probe_openers", "bot.jobs", "bot.processes", "bot.demo.run"]
    # one after the other, to name the first that does
    code = f"""
import importlib, sys
for module in {modules}:
    importlib.import_module(module)
    if "anthropic" in sys.modules:
        sys.exit(f"{{module}} needs the SDK")
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
