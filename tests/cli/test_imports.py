"""Which commands import the model's SDK: those that really ask a model, for it takes seconds to import.

One interpreter runs them all, one after the other: each begins with what those before it left, and the one that
asks the model comes last.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from redis import Redis

from tests.emulators.github.store import changed_file, pull
from tests.helpers.builders import NOON
from tests.helpers.processes.command import environment, prdigest
from tests.helpers.world import SMALL_DAY, add_small_day, world

pytestmark = pytest.mark.slow

# the command line as it is, for one line after the other; after each it prints which of some modules are imported
RUN = """
import importlib, json, os, sys
from bot.__main__ import main
for name, settings, line in json.loads(sys.argv[1]):
    os.environ.update(settings)
    code = 0
    if line[0] == "import":
        importlib.import_module(line[1])
    else:
        sys.argv[1:] = line
        try:
            code = main()
        except SystemExit as end:
            code = end.code
    assert not code or name == "doctor", line
    print(json.dumps([name, [each for each in %r if each in sys.modules]]), file=sys.stderr)
"""
SDK = "anthropic"
CLIENTS = (SDK, "github", "slack_sdk", "redis", "dramatiq", "apscheduler", "cryptography", "flask", "jinja2")
SUMMARY = ("summary", "101", "--repo", "octo/engine")
UNKNOWN = ("summary", "octo/engine#104")
REPORT = ("report", *SMALL_DAY)
KEYLESS = (("report", *SMALL_DAY, "--date", "2026-02-27"), UNKNOWN)
ASKING_NOBODY = (("--help",), ("report", "--help"), ("manifest",), ("manifest", "--previews"), ("env",))
MODULES = ("bot.app", "bot.doctor.checkup", "bot.jobs", "bot.processes", "bot.demo.run")

# a name, settings that hold from here on, and a line
Step = tuple[str, Mapping[str, str], tuple[str, ...]]


def run(folder: Path, settings: Mapping[str, str], *steps: Step) -> dict[str, list[str]]:
    """Run the steps in one interpreter, and return by name which modules are imported after the last of them."""
    command = [sys.executable, "-c", RUN % (CLIENTS,), json.dumps(steps)]
    done = subprocess.run(
        command, env=environment(**settings), cwd=folder, capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, bool(done.stdout)) == (0, True), done.stderr.decode()
    return dict(json.loads(line) for line in done.stderr.decode().splitlines() if line.startswith("["))


@pytest.fixture(scope="module")
def asking(store_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[str]]]:
    with Redis.from_url(store_url) as store:
        store.flushall()
    folder = tmp_path_factory.mktemp("imports")
    with world(store_url) as there:
        add_small_day(there.github)
        before = pull(104, merged_at=NOON - timedelta(days=1), files=[changed_file("engine/retry.py")])
        there.github.add("octo/engine", before)
        assert prdigest(*REPORT, settings=there.settings, folder=folder).returncode == 0
        assert len(there.claude.requests) == 3
        yield run(
            folder,
            {},
            *(("nobody", {}, line) for line in ASKING_NOBODY),
            ("sample", {}, ("demo", "--text")),
            *(("known", there.settings, line) for line in (REPORT, SUMMARY)),
            # it finds no bot that runs
            ("doctor", {}, ("doctor",)),
            *(("keyless", {"ANTHROPIC_API_KEY": ""}, line) for line in KEYLESS),
            *((module, {}, ("import", module)) for module in MODULES),
            ("unknown", there.settings, UNKNOWN),
        )
        assert len(there.claude.requests) == 4


def test_what_asks_nobody_imports_no_client(asking: dict[str, list[str]]) -> None:
    assert asking["nobody"] == []


def test_the_sample_needs_no_service(asking: dict[str, list[str]]) -> None:
    # it is built as any digest is, so the client of the store is there, and has nothing to open
    assert set(asking["sample"]).isdisjoint({SDK, "github", "slack_sdk", "dramatiq", "flask"})


def test_what_asks_the_model_imports_the_sdk(asking: dict[str, list[str]]) -> None:
    assert SDK in asking["unknown"]


def test_what_is_known_already_needs_no_sdk(asking: dict[str, list[str]]) -> None:
    assert SDK not in asking["known"]
    assert SDK not in asking["doctor"]


def test_without_a_key_the_sdk_is_not_imported(asking: dict[str, list[str]]) -> None:
    assert SDK not in asking["keyless"]


def test_no_module_outside_the_adapters_needs_the_sdk(asking: dict[str, list[str]]) -> None:
    assert [module for module in MODULES if SDK in asking[module]] == []
