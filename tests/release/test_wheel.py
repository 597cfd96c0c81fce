import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from sysconfig import get_config_var
from typing import Any, NamedTuple
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

from tests.helpers.processes.command import ROOT, environment

# the wheels are installed with the pip of this Python, which some systems keep in a package apart
_LACKS = next((name for name in ("hatchling", "ensurepip") if importlib.util.find_spec(name) is None), "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(_LACKS), reason=f"there is no {_LACKS} to make and install a wheel with"),
]
SECONDS = 120
# the first Python 3.11 does without, later ones warn
_SAFELY: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}


class Installed(NamedTuple):
    command: Path
    names: frozenset[str]
    local_slack: frozenset[str]
    impact: frozenset[str]


def run(*arguments: str | Path, folder: Path, **settings: str) -> bytes:
    """What a process prints. It knows nothing of the checkout."""
    variables = {name: value for name, value in environment(**settings).items() if name != "PYTHONPATH"}
    done = subprocess.run(
        arguments, cwd=folder, env=variables, input=b"", capture_output=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def build_wheel(project: Path, folder: Path) -> Path:
    """As a publisher does: the source distribution first, the wheel from what is in that."""
    build = (sys.executable, "-m", "hatchling", "build", "-d", folder)
    run(*build, "-t", "sdist", folder=project)
    (packed,) = folder.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        archive.extractall(folder / "source", **_SAFELY)  # noqa: S202 (it was made a moment ago)
    run(*build, "-t", "wheel", folder=next((folder / "source").iterdir()))
    return next(folder.glob("*.whl"))


def find_pip() -> Path:
    import ensurepip  # noqa: PLC0415 (some systems keep it in a package apart)

    folders = [Path(ensurepip.__file__).parent / "_bundled", Path(get_config_var("WHEEL_PKG_DIR") or "/nowhere")]
    return next(path for folder in folders for path in folder.glob("pip-*.whl"))


@pytest.fixture(scope="module")
def installed_wheel(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("wheel")
    wheel, local_slack = build_wheel(ROOT, folder / "own"), build_wheel(ROOT / "localslack", folder / "slack")
    impact = build_wheel(ROOT / "impact", folder / "impact")
    place = folder / "installed"
    run(sys.executable, "-m", "venv", "--without-pip", place, folder=folder)
    python = place / "bin" / "python"
    # from its own wheel: to install it takes longer than all else
    options = ("--no-index", "--no-deps", "--no-compile", "--disable-pip-version-check")
    pip = (python, find_pip() / "pip", "install", *options)
    # pip warns of its own parts
    run(*pip, wheel, local_slack, impact, folder=folder, PYTHONWARNINGS="default")
    own = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", folder=folder)
    # what it depends on is here already; the link to the checkout that is here too is not followed from there
    Path(own.decode().strip(), "dependencies.pth").write_text(os.path.dirname(pytest.__path__[0]))  # noqa: PTH120
    return Installed(place / "bin" / "prdigest", names_in(wheel), names_in(local_slack), names_in(impact))


def names_in(wheel: Path) -> frozenset[str]:
    with zipfile.ZipFile(wheel) as archive:
        return frozenset(archive.namelist())


def files_of(*packages: str, top: Path) -> set[str]:
    kept = [path for name in packages for path in (top / name).rglob("*") if path.is_file()]
    return {str(path.relative_to(top)) for path in kept if "__pycache__" not in path.parts}


def test_it_has_every_file_of_both_packages(installed_wheel: Installed) -> None:
    expected = files_of("bot", "handlers", top=ROOT)
    assert {
        "bot/py.typed",
        "handlers/py.typed",
        "bot/demo/sample/day.json",
        "bot/demo/sample/contracts.json",
        "bot/demo/sample/answers.toml",
    } <= expected
    assert {Path(name).suffix for name in expected} >= {".md", ".svg", ".sample"}
    assert expected - installed_wheel.names == set()


def test_the_local_slack_has_every_file_of_its_package_and_no_other(installed_wheel: Installed) -> None:
    expected = files_of("localslack", top=ROOT / "localslack")
    assert {Path(name).suffix for name in expected} >= {".typed", ".html", ".css", ".js", ".svg"}
    assert expected - installed_wheel.local_slack == set()
    assert {name for name in installed_wheel.local_slack - expected if ".dist-info/" not in name} == set()


def test_impact_has_every_file_of_its_package_and_no_other(installed_wheel: Installed) -> None:
    expected = files_of("impact", top=ROOT / "impact")
    assert "impact/py.typed" in expected
    assert expected - installed_wheel.impact == set()
    assert {name for name in installed_wheel.impact - expected if ".dist-info/" not in name} == set()


def test_impact_is_a_command_by_itself(installed_wheel: Installed, tmp_path: Path) -> None:
    assert b"upgrade" in run(installed_wheel.command.with_name("impact"), "--help", folder=tmp_path)


def test_the_local_slack_is_a_command_by_itself(installed_wheel: Installed, tmp_path: Path) -> None:
    assert b"--bot-url" in run(installed_wheel.command.with_name("localslack"), "--help", folder=tmp_path)


def test_it_has_no_other_package(installed_wheel: Installed) -> None:
    tops = {name.partition("/")[0] for name in installed_wheel.names}
    assert tops == {"bot", "handlers", next(top for top in tops if top.endswith(".dist-info"))}


def test_what_setting_up_needs_is_printed_as_it_is(installed_wheel: Installed, tmp_path: Path) -> None:
    assert run(installed_wheel.command, "manifest", folder=tmp_path) == (ROOT / "manifest.json").read_bytes()


# all but the command itself, in one interpreter: most of the time of each is that it imports
LOOK = """
import json
from importlib.metadata import distribution
import bot, handlers, impact, localslack
from bot.cli import run_cli
from bot.features.glossary import explain_term
from bot.features.questions.service import ANSWER_VERSION
from bot.platform.models.prompts import (read_instructions)
from contextlib import redirect_stdout
from io import BytesIO, TextIOWrapper
def say(*line):
    with redirect_stdout(TextIOWrapper(BytesIO(), "utf-8", write_through=True)) as said:
        run_cli([*line])
        return said.buffer.getvalue().decode()
def describe(name):
    package = distribution(name)
    texts = [each.read_text().split(maxsplit=2)[:2] for each in package.files if each.match("licenses/LICENSE")]
    fields = [package.metadata[each] for each in ("License-Expression", "Requires-Python")]
    return [*fields, texts, package.metadata["Summary"], len(package.metadata.get_payload()), package.requires]
print(json.dumps({
    "metadata": {name: describe(name) for name in ("prdigest", "prdigest-impact", "localslack")},
    "files": [bot.__file__, handlers.__file__, impact.__file__, localslack.__file__],
    "prompt": read_instructions(ANSWER_VERSION),
    "term": explain_term("hit"),
    "env": say("env"),
    "demo": say("demo", "--text"),
    "help": say("--help"),
}))
"""


@pytest.fixture(scope="module")
def wheel_facts(installed_wheel: Installed, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    python = installed_wheel.command.with_name("python")
    report: dict[str, Any] = json.loads(run(python, "-c", LOOK, folder=tmp_path_factory.mktemp("look")))
    return report


def test_the_example_of_settings_is_printed_as_it_is(wheel_facts: dict[str, Any]) -> None:
    assert wheel_facts["env"] == (ROOT / ".env.example").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["prdigest", "prdigest-impact", "localslack"])
def test_an_index_shows_the_license_and_the_page_of_each(wheel_facts: dict[str, Any], name: str) -> None:
    expression, python, texts, summary, length, _ = wheel_facts["metadata"][name]
    assert (expression, python, texts) == ("Apache-2.0", ">=3.11", [["Apache", "License"]])
    assert 20 < len(summary) < 200
    assert length > 1_000


def test_the_bot_needs_the_two_others_and_no_path_of_the_checkout(wheel_facts: dict[str, Any]) -> None:
    needed = wheel_facts["metadata"]["prdigest"][-1]
    assert {"localslack>=0.1.0", "prdigest-impact[checker]>=0.1.0"} <= set(needed)
    assert [each for each in needed if "@" in each] == []


def test_its_code_is_its_own(wheel_facts: dict[str, Any]) -> None:
    assert [file for file in wheel_facts["files"] if file.startswith(str(ROOT))] == []


def test_the_sample_day_the_prompts_and_the_glossary_are_there(wheel_facts: dict[str, Any]) -> None:
    assert "#35617" in wheel_facts["demo"]
    assert wheel_facts["term"].startswith("*warning*: ")
    assert "pull request" in wheel_facts["prompt"]


def test_its_help_tells_of_both_commands(wheel_facts: dict[str, Any]) -> None:
    told = " ".join(wheel_facts["help"].split())
    assert "manifest Print the manifest that a Slack app is created from." in told
    assert "env Print .env.example, which explains every setting" in told


def test_its_demo_answers_in_a_browser_with_the_page_of_its_own(
    installed_wheel: Installed, tmp_path: Path
) -> None:
    variables = {name: value for name, value in environment(HOME=str(tmp_path)).items() if name != "PYTHONPATH"}
    command: list[str | Path] = [installed_wheel.command, "demo"]
    with subprocess.Popen(command, cwd=tmp_path, env=variables, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            address = re.search(r"http://127\.0\.0\.1:\d+/\S+", process.stdout.readline())
            assert address
            # the token of the address becomes a cookie
            with build_opener(HTTPCookieProcessor()).open(address[0], timeout=SECONDS) as answer:
                assert (answer.status, "<title>" in answer.read().decode()) == (200, True)
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS) in (0, 130)
