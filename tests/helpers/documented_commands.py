"""The commands in the documents of the checkout, as their readers would type them."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bot.cli import cli
from tests.helpers.processes.command import ROOT

PAGES = sorted(
    path
    for pattern in ("*.md", "docs/*.md", "localslack/*.md", "tests/*.md", "evals/*/*.md")
    for path in ROOT.glob(pattern)
    if path.name != "CHANGELOG.md"
)
_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
SHELL = ("", "sh", "bash", "console")
OPTIONS = {"--help", "--version"}
_OPERATORS = {"&&", "||", "|", ";", "(", ")"}
# what a reader puts in a command's place
_PLACEHOLDERS = {"<address of this repository>": "ADDRESS", "…": "X"}
# pages whose commands run one after the other in one folder, as their reader runs them
RUN_PAGES = ("docs/install.md", "docs/operations.md")
# commands of ours that don't run there, and where they do
RUN_ELSEWHERE: dict[tuple[str, ...], str] = {
    ("init",): "tests/cli/test_init.py: it asks a person",
    ("run",): "tests/processes: it runs until it is stopped",
    ("backfill",): "tests/cli/test_backfill.py: it reads 300 days",
}


class Documented(NamedTuple):
    """A command of a document: its page, the line of its block, and its words."""

    page: str
    line: str
    words: tuple[str, ...]


def list_blocks() -> Iterator[tuple[str, str, str]]:
    for page in PAGES:
        for _, language, text in _BLOCK.findall(page.read_text(encoding="utf-8")):
            yield str(page.relative_to(ROOT)), language, text.replace("\\\n", " ")


def list_commands() -> list[Documented]:
    """Return the commands of all blocks for a shell, and of the inline code that begins like one of them."""
    commands = []
    for page, language, text in list_blocks():
        if language in SHELL:
            commands += [each for line in text.splitlines() if line.strip() for each in split_line(page, line)]
    for path in PAGES:
        text = _BLOCK.sub("", path.read_text(encoding="utf-8"))
        for code in re.findall(
            r"`((?:uv run |\.uv/bin/uv run |docker |systemd-run )[^`]+|prdigest [a-z-][^`]*)`", text
        ):
            commands += split_line(str(path.relative_to(ROOT)), " ".join(code.split()))
    return commands


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
        if Path(words[at]).name == "prdigest" and after and (after[0] in cli.commands or after[0] in OPTIONS):
            return after
    return ("",) if words and Path(words[0]).name == "prdigest" else None


def find_module(words: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the module that ``python -m`` runs with what follows it, None if no module runs."""
    places = [at for at, word in enumerate(words[:-2]) if Path(word).name == "python" and words[at + 1] == "-m"]
    return words[places[0] + 2 :] if places else None


def find_program(words: tuple[str, ...]) -> str:
    name = Path(words[0]).name
    if name == "uv" and words[1:2] == ("run",):
        rest = re.sub(r"^(?:--group \w+ |--?[\w-]+ )*", "", " ".join(words[2:]) + " ").split()
        return Path(rest[0]).name if rest else name
    return name
