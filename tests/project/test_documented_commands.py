"""Every command in the documents: our own command line parses it, or it is named here with a reason.

A command that is neither fails: its author says here how it is tested. Those of two pages are run, too, by
``tests/release/test_typed_pages.py``.
"""

import os
import re
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from zoneinfo import ZoneInfo

import click
import pytest
from localslack.cli import main as localslack_cli

from bot.cli import cli
from bot.dates import LocalDay
from bot.platform.commands import AllowedRepositories, ParseContext
from handlers import COMMANDS as SLACK_COMMANDS
from tests.helpers.builders import REPOSITORY
from tests.helpers.documented_commands import (
    OPTIONS,
    PAGES,
    RUN_ELSEWHERE,
    RUN_PAGES,
    find_module,
    find_own,
    find_program,
    list_commands,
)
from tests.helpers.processes.command import ROOT
from tests.helpers.tables import check_rows

# programs of others: they need a machine, a service or a network that tests don't have
EXTERNAL = {
    "cd": "a word of the shell",
    "umask": "a word of the shell",
    "cat": "reads a log of the embedded store; tests/platform sends it in the same way",
    "cp": "copies a file of deploy/ into the system, or a folder that tests/platform copies",
    "install": "writes into the system; tests/deploy names the files",
    "docker": "tests/deploy checks the Dockerfile and the services, and builds the image where it can",
    "git": "needs an address, or a release to go back to",
    "helm": "tests/deploy renders the chart with it",
    "journalctl": "needs a running systemd",
    "kubectl": "needs a cluster; tests/deploy checks what it is asked to apply",
    "pip": "tests/release/test_wheel.py installs the wheels with it",
    "jq": "reads contract.json; a program of the reader",
    "redis-cli": "needs a server; a program of the reader",
    "python3": "makes an environment; .ci/run does the same",
    "pip-licenses": ".ci/run runs it",
    "pytest": "runs the tests; its paths exist",
    "systemctl": "needs a running systemd",
    "systemd-analyze": "tests/deploy runs it on the units",
    "systemd-run": "needs a running systemd",
    "useradd": "changes the system",
    "uv": "downloads; .ci/run uses it in the same way",
    "uvx": "downloads; tests/release/test_wheel.py starts what it starts",
    "sphinx-build": "tests/release/test_site.py runs it",
}
COMMANDS = list_commands()
OWN = sorted({own_words for each in COMMANDS if (own_words := find_own(each.words))})


def test_there_are_commands() -> None:
    assert len(OWN) > 30
    assert {each.page for each in COMMANDS} >= {"README.md", "CONTRIBUTING.md", "docs/deploy.md", *RUN_PAGES}


def test_each_command_is_ours_or_of_a_program_that_is_named_with_a_reason() -> None:
    others = [each for each in COMMANDS if find_own(each.words) is None and find_module(each.words) is None]
    unknown = [
        each for each in others if find_program(each.words) not in EXTERNAL and not is_script(each.words[0])
    ]
    assert unknown == []


def is_script(word: str) -> bool:
    return word.startswith(".ci/") and os.access(ROOT / word, os.X_OK)


@pytest.mark.parametrize("words", OWN, ids=" ".join)
def test_our_command_line_takes_it(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its options, arguments and values are parsed; the files and folders that it names are there."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    monkeypatch.chdir(folder)
    command: click.Command = cli
    name = "prdigest"
    # a volume
    rest = [word.removeprefix("/data/") for word in words]
    while isinstance(command, click.Group) and rest and rest[0] in command.commands:
        name = rest.pop(0)
        command = command.commands[name]
    for word in rest:
        path = (folder / word).resolve()
        if re.fullmatch(r"(?:\.\./)?[\w.-]+", word) and not word.startswith("-") and not path.exists():
            path.mkdir() if takes_folder(command, rest, word) else path.touch()
    if rest and rest[0] in OPTIONS:
        return
    try:
        with command.make_context(name, rest):
            pass
    except click.MissingParameter:
        # a page may name an option without the others: "`--facts` loads …"
        assert is_mentioned_only(command, rest)


def takes_folder(command: click.Command, rest: list[str], word: str) -> bool:
    """Return whether the option before a word takes a folder."""
    before = rest[rest.index(word) - 1] if rest.index(word) else ""
    options = [
        each
        for each in command.params
        if before in each.opts or (not before.startswith("-") and "path" in each.opts)
    ]
    return any(isinstance(each.type, click.Path) and not each.type.file_okay for each in options)


def is_mentioned_only(command: click.Command, rest: list[str]) -> bool:
    """Return whether what is given of a command exists; some of what it requires is left out."""
    known = {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
    return {word for word in rest if word.startswith("-")} <= known


def test_modules_that_are_run_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    modules = {module_words for each in COMMANDS if (module_words := find_module(each.words))}
    assert {words[0] for words in modules} >= {"docs.settings", "localslack"}
    for words in sorted(modules):
        assert find_spec(words[0]), words
        if words[0] == "localslack":
            localslack_cli.make_context("localslack", [*words[1:]])


def test_tests_that_are_run_exist() -> None:
    runs = [each.words for each in COMMANDS if find_program(each.words) == "pytest"]
    paths = {word for words in runs for word in words if word.startswith("tests/") and "<" not in word}
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_what_runs_elsewhere_is_on_these_pages() -> None:
    """A reason for a command that is no longer written would excuse the next one."""
    written = {own[:1] for each in COMMANDS if each.page in RUN_PAGES and (own := find_own(each.words))}
    assert RUN_ELSEWHERE.keys() <= written
    programs = {find_program(each.words) for each in COMMANDS if find_own(each.words) is None}
    wrappers = {Path(each.words[0]).name for each in COMMANDS}
    assert [name for name in EXTERNAL if name not in programs | wrappers] == []


SLASH = sorted(
    {" ".join(code.split()) for path in PAGES for code in re.findall(r"`(/pr[^`]+)`", path.read_text("utf-8"))}
)
CONTEXT = ParseContext(
    AllowedRepositories(REPOSITORY), lambda zone=None: LocalDay(date(2026, 11, 23), ZoneInfo("UTC"))
)


@check_rows(SLASH)
def test_slack_commands_are_understood(typed: str) -> None:
    """Each has its command and is parsed; a word without its arguments names what it begins."""
    name, _, text = typed.partition(" ")
    (command,) = [each for each in SLACK_COMMANDS if each.name == name]
    word, _, rest = text.partition(" ")
    if not text or word in command.verbs or command.answer_help(text, SLACK_COMMANDS):
        return
    if rest or word not in {*command.keywords, *(each.word for each in command.requests)}:
        command.parse(text, CONTEXT)
