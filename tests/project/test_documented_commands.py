"""Every command in the documents: run for real, parsed by our own command line, or named here with a reason.

A command that is none of these fails: whoever writes it says here how it is tested.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import click
import pytest
from localslack.cli import main as localslack_cli
from redis import Redis

from bot.cli import cli
from bot.domain.conversations.commands import AllowedRepositories, ParseContext
from bot.domain.time.day import LocalDay
from handlers.commands.registry import COMMANDS as SLACK_COMMANDS
from tests.helpers.builders import REPOSITORY
from tests.helpers.command import ROOT, environment, prdigest
from tests.helpers.tables import check_rows
from tests.helpers.world import world
from tests.upgrade.left_behind import restore_store

DOCS = ROOT / "docs"
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/*.md", "localslack/*.md", "tests/*.md", "evals/*/*.md")
    for path in ROOT.glob(pattern)
    if path.name != "CHANGELOG.md"
)
_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
_SHELL = ("", "sh", "bash", "console")
_OPTIONS = {"--help", "--version"}
_OPERATORS = {"&&", "||", "|", ";", "(", ")"}
# what a reader puts in a command's place
_PLACEHOLDERS = {"<address of this repository>": "ADDRESS", "…": "X"}

# programs of others: they need a machine, a service or a network that tests don't have
EXTERNAL = {
    "cd": "a word of the shell",
    "umask": "a word of the shell",
    "cp": "copies a file of deploy/ into the system; tests/deploy names the files",
    "install": "writes into the system; tests/deploy names the files",
    "docker": "tests/deploy checks the Dockerfile and the services, and builds the image where it can",
    "git": "needs an address, or a release to go back to",
    "helm": "tests/deploy renders the chart with it",
    "journalctl": "needs a running systemd",
    "kubectl": "needs a cluster; tests/deploy checks what it is asked to apply",
    "pip": "tests/release/test_wheel.py installs the wheels with it",
    "curl": "reads a feed of a bot that runs; tests/attacks/test_feeds.py reads it in the same way",
    "jq": "reads a feed; a program of the reader",
    "openssl": "makes a token; a program of the reader",
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
# pages whose commands run one after the other in one folder, as their reader runs them
RUN_PAGES = ("docs/install.md", "docs/operations.md")
# commands of ours that don't run there, and where they do
RUN_ELSEWHERE: dict[tuple[str, ...], str] = {
    ("run",): "tests/processes: it runs until it is stopped",
    ("backfill",): "tests/cli/test_backfill.py: it reads 300 days",
    ("site",): "tests/cli/test_site.py: it needs days that were read",
}
# a check fails in a place without subscriptions or tokens of the right scopes, and the command says so
EXPECTED_CODES: dict[tuple[str, ...], set[int]] = {("doctor",): {0, 1}}


class Documented(NamedTuple):
    """A command of a document: its page, the line of its block, and its words."""

    page: str
    line: str
    words: tuple[str, ...]


def list_blocks() -> Iterator[tuple[str, str, str]]:
    """Yield the page, the language and the lines of each block, those that go on joined."""
    for page in PAGES:
        for _, language, text in _BLOCK.findall(page.read_text(encoding="utf-8")):
            yield str(page.relative_to(ROOT)), language, text.replace("\\\n", " ")


def list_commands() -> list[Documented]:
    """Return the commands of all blocks for a shell, and of the inline code that begins like one of them."""
    found = []
    for page, language, text in list_blocks():
        if language in _SHELL:
            found += [each for line in text.splitlines() if line.strip() for each in split_line(page, line)]
    for path in PAGES:
        text = _BLOCK.sub("", path.read_text(encoding="utf-8"))
        for code in re.findall(
            r"`((?:uv run |\.uv/bin/uv run |docker |systemd-run )[^`]+|prdigest [a-z-][^`]*)`", text
        ):
            found += split_line(str(path.relative_to(ROOT)), " ".join(code.split()))
    return found


def split_line(page: str, line: str) -> Iterator[Documented]:
    """Yield the commands of a line, without assignments before them and redirections behind them."""
    for placeholder, word in _PLACEHOLDERS.items():
        line = line.replace(placeholder, word)
    lexer = shlex.shlex(line.removeprefix("$ "), posix=True, punctuation_chars="&|;()<>")
    lexer.whitespace_split = True
    words: list[str] = []
    for token in [*lexer, ";"]:
        if token not in _OPERATORS:
            words.append(token)
        elif command := clean_words(words):
            yield Documented(page, line, command)
        if token in _OPERATORS:
            words = []


def clean_words(words: list[str]) -> tuple[str, ...]:
    """Return the words without assignments before and redirections behind."""
    end = next((at for at, word in enumerate(words) if word in {">", "<", ">>"}), len(words))
    start = next((at for at, word in enumerate(words) if not re.match(r"[A-Z_]+=", word)), end)
    return tuple(words[start:end])


def find_own(words: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return what follows ``prdigest`` as a program, None if another program runs."""
    for at in reversed(range(len(words))):
        after = words[at + 1 :]
        if Path(words[at]).name == "prdigest" and after and (after[0] in cli.commands or after[0] in _OPTIONS):
            return after
    return ("",) if words and Path(words[0]).name == "prdigest" else None


def find_module(words: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the module that ``python -m`` runs with what follows it, None if no module runs."""
    places = [at for at, word in enumerate(words[:-2]) if Path(word).name == "python" and words[at + 1] == "-m"]
    return words[places[0] + 2 :] if places else None


def find_program(words: tuple[str, ...]) -> str:
    """Return the program that runs, behind ``uv run`` and its options."""
    name = Path(words[0]).name
    if name == "uv" and words[1:2] == ("run",):
        rest = re.sub(r"^(?:--group \w+ |--?[\w-]+ )*", "", " ".join(words[2:]) + " ").split()
        return Path(rest[0]).name if rest else name
    return name


COMMANDS = list_commands()
OWN = sorted({found for each in COMMANDS if (found := find_own(each.words))})


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
    """Return whether it is an executable file of the checkout."""
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
    if rest and rest[0] in _OPTIONS:
        return
    try:
        with command.make_context(name, rest):
            pass
    except click.MissingParameter:
        # a page may name an option without the others: "`--batch` asks for …"
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
    modules = {found for each in COMMANDS if (found := find_module(each.words))}
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


def list_run_lines(page: str) -> list[str]:
    """Return the lines of a page's blocks that are run, in their order."""
    lines = [
        line.strip()
        for name, language, text in list_blocks()
        if name == page and language in _SHELL
        for line in text.splitlines()
    ]
    return [line for line in lines if (own := find_line_command(page, line)) and own[:1] not in RUN_ELSEWHERE]


def find_line_command(page: str, line: str) -> tuple[str, ...] | None:
    return next((own for each in split_line(page, line) if (own := find_own(each.words))), None)


def run_line(
    line: str, own: tuple[str, ...], settings: dict[str, str], folder: Path, tools: Path
) -> subprocess.CompletedProcess[str]:
    """Run a line: by a shell if it has more than one command, else as a fork, which takes a tenth of the time."""
    if re.fullmatch(r"[\w=./: -]+", line):
        assigned = dict(re.findall(r"([A-Z_]+)=(\S*)", line))
        return prdigest(*own, settings=settings | assigned, folder=folder, typed="n\n")
    bash, env = shutil.which("bash"), environment(**settings)
    assert bash
    return subprocess.run(
        [bash, "-euc", line],
        cwd=folder,
        env=env | {"PATH": f"{tools}:{env['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN_PAGES)
def test_a_reader_who_types_them_one_after_the_other_gets_through(
    page: str, store: Redis, store_url: str, tmp_path: Path
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    # `uv run --no-dev prdigest …` without an installation
    scripts = {
        "prdigest": f'#!/bin/sh\nexec "{sys.executable}" -m bot "$@"\n',
        "uv": '#!/bin/sh\nwhile [ "$1" = run ] || [ "$1" = --no-dev ]; do shift; done\nexec "$@"\n',
    }
    for name, text in scripts.items():
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    folder = tmp_path / "checkout"
    folder.mkdir()
    lines = list_run_lines(page)
    assert len(lines) > 3
    with world(store_url) as there:
        there.github.add("octo/engine")
        restore_store(store, there.slack.url)
        for line in lines:
            own = find_line_command(page, line) or ()
            if own[:1] == ("import",) and "REDIS_URL=" not in line:
                # the step before it: an empty store
                store.flushdb()
            done = run_line(line, own, there.settings | {"PRDIGEST_REPO": "octo/engine"}, folder, tools)
            assert done.returncode in EXPECTED_CODES.get(own[:1], {0}), (line, done.stdout, done.stderr)
            assert "Traceback" not in done.stderr
    written = {each.name for each in folder.iterdir()}
    assert written == (
        {".env"} if page == "docs/install.md" else {"backup.jsonl", "before.jsonl", "moved.jsonl", "restored"}
    )


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
    (command,) = [each for each in SLACK_COMMANDS.commands if each.name == name]
    word, _, rest = text.partition(" ")
    if not text or word in command.verbs:
        return
    if rest or word not in command.keywords:
        command.parse(text, CONTEXT)
