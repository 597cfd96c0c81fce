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

# the command line as it is, which tells at its end which of some modules it imported
ASK = """
import atexit, json, sys
atexit.register(lambda: print(json.dumps([name for name in %r if name in sys.modules]), file=sys.stderr))
from bot.__main__ import main
sys.exit(main())
"""
SDK = ("anthropic",)
SUMMARY = ("summary", "101", "--repo", "octo/engine")


@pytest.fixture
def there(store: Redis, store_url: str) -> Iterator[World]:
    store.ping()
    with world(store_url) as made:
        add_small_day(made.github)
        yield made


def imported(folder: Path, settings: Mapping[str, str], *line: str, names: tuple[str, ...] = SDK) -> list[str]:
    """Those of some modules that a command, in a process of its own, imported."""
    given, command = environment(**settings), [sys.executable, "-c", ASK % (names,), *line]
    done = subprocess.run(command, env=given, cwd=folder, capture_output=True, timeout=60, check=False)
    assert done.stdout, done.stderr.decode()
    found: list[str] = json.loads(done.stderr.decode().splitlines()[-1])
    return found


@pytest.mark.parametrize(
    "line", [("--help",), ("report", "--help"), ("manifest",), ("env",), ("demo", "--text")], ids=" ".join
)
def test_what_asks_nobody_imports_no_client(tmp_path: Path, line: tuple[str, ...]) -> None:
    clients = (*SDK, "github", "slack_sdk", "redis", "dramatiq", "apscheduler", "cryptography", "flask", "jinja2")
    assert imported(tmp_path, {}, *line, names=clients) == []


@pytest.mark.parametrize("line", [("report", *SMALL_DAY), SUMMARY], ids=["report", "summary"])
def test_without_a_key_the_sdk_is_not_imported(tmp_path: Path, there: World, line: tuple[str, ...]) -> None:
    assert imported(tmp_path, {**there.settings, "ANTHROPIC_API_KEY": ""}, *line) == []


@pytest.mark.parametrize("line", [("report", *SMALL_DAY), SUMMARY], ids=["report", "summary"])
def test_what_is_known_already_needs_no_sdk(tmp_path: Path, there: World, line: tuple[str, ...]) -> None:
    assert imported(tmp_path, there.settings, *line) == ["anthropic"]
    asked = len(there.claude.requests)
    assert asked
    assert imported(tmp_path, there.settings, *line) == []
    assert len(there.claude.requests) == asked


def test_doctor_does_without_the_sdk(tmp_path: Path, there: World) -> None:
    assert imported(tmp_path, there.settings, "doctor") == []


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
