"""All texts that people read, as sentences: documents, messages, help, settings and the manifest.

``python -m tests.project.tools.reader_texts`` prints the longest ones.
"""

import ast
import json
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import click
from localslack.cli import main as localslack_cli

from bot.cli import cli
from bot.demo.stand_in import load_answers
from bot.settings import Settings
from impact.cli import main as impact_cli
from tests.helpers.processes.command import ROOT
from tests.project.tools.full_sentences import list_texts
from tests.project.tools.module_nodes import list_nodes

# history is not rewritten
_HISTORY = ("CHANGELOG.md",)
_DOCUMENT_PLACES = (".", "docs", "impact", "localslack", "tests", ".github")
_PACKAGES = ("bot", "handlers", "impact/impact", "localslack/localslack")
# models read them, and they have a language of their own
FOR_MODELS = (
    "bot/features/questions/reading.py",
    "bot/features/questions/texts.py",
    "bot/features/questions/tools.py",
)
_END = re.compile(r"(?<=[.!?…])[\"')\]*_`”]*\s+(?=`|[\"'(\[*_“]*[A-Z0-9{#✗✓→/])|\n{2,}")
_CODE_BLOCK = re.compile(r"^( *)(```|~~~).*?^\1\2[ ]*$", re.MULTILINE | re.DOTALL)
_HTML = re.compile(r"<!--.*?-->|<[a-zA-Z/][^>]*>", re.DOTALL)
_ALTERNATIVE_TEXT = re.compile(r'<img[^>]*?alt="([^"]*)"[^>]*>', re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_CODE = re.compile(r"`[^`\n]+`")
# programs in other languages (GraphQL, Lua), and patterns of file names
_NO_PROSE = re.compile(r"\n {2,}\S|(?:^| )\*\.\w")
# what begins a paragraph of its own
_BEGINNING = re.compile(r"^\s*(?:[-*] |\d+\. |#+ |\||>)")


class Sentence(NamedTuple):
    """A sentence and where it stands."""

    place: str
    text: str

    @property
    def words(self) -> int:
        """How many words it has; a piece of code or a value is one word."""
        plain = _CODE.sub("code", re.sub(r"\{[^{}]*\}", "value", self.text))
        return sum(any(sign.isalnum() for sign in word) for word in plain.split())


def split_sentences(place: str, text: str) -> Iterator[Sentence]:
    for part in _END.split(text):
        if line := " ".join(part.split()):
            yield Sentence(place, line)


def list_sentences() -> list[Sentence]:
    return [
        sentence
        for place, text in (
            *list_document_texts(),
            *list_module_texts(),
            *list_setting_texts(),
            *list_help_texts("prdigest", cli),
            *list_help_texts("impact", impact_cli),
            *list_help_texts("localslack", localslack_cli),
            *list_json_texts("manifest.json"),
            *list_json_texts("bot/demo/sample/day.json"),
            *list_answer_texts(),
        )
        for sentence in split_sentences(place, text)
    ]


def list_document_texts() -> Iterator[tuple[str, str]]:
    """Yield the paragraphs, list items and table cells of every document, without code blocks."""
    for place in _DOCUMENT_PLACES:
        for path in sorted((ROOT / place).glob("*.md")):
            if path.name not in _HISTORY:
                for text in split_markdown(path.read_text(encoding="utf-8")):
                    yield str(path.relative_to(ROOT)), text


def split_markdown(text: str) -> Iterator[str]:
    """Yield the paragraphs, list items, headings, table cells and alternative texts of a Markdown document."""
    text = _CODE_BLOCK.sub("\n\n", text)
    yield from (" ".join(each.split()) for each in _ALTERNATIVE_TEXT.findall(text))
    lines = _LINK.sub(r"\1", _HTML.sub("\n\n", text)).splitlines()
    for paragraph in _join_lines(lines):
        if paragraph.lstrip().startswith("|"):
            yield from (cell.strip() for cell in re.split(r"(?<!\\)\|", paragraph.strip().strip("|")))
        else:
            yield re.sub(r"^[\s>#*-]+|^\s*\d+\. ", "", paragraph)


def _join_lines(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of Markdown joined to paragraphs."""
    paragraph: list[str] = []
    for line in (*lines, ""):
        if not line.strip() or _BEGINNING.match(line):
            yield " ".join(paragraph)
            paragraph = []
        paragraph.append(line)


def list_module_texts() -> Iterator[tuple[str, str]]:
    """Yield the literals of the product's modules that are prose: two words or more, and no docstring."""
    for package in _PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = str(path.relative_to(ROOT))
            if not name.startswith(FOR_MODELS):
                yield from ((name, text) for text in find_prose(path.read_text(encoding="utf-8")))


def find_prose(source: str) -> Iterator[str]:
    """Yield the texts of a module that have two words or more; ``{}`` stands for a value."""
    nodes = list_nodes(source)
    skipped = {id(each) for node in nodes if _is_for_machines(node) for each in ast.walk(node)}
    for _, text in list_texts(nodes, skipped):
        if len(re.findall(r"\b[A-Za-z']{2,}\b", text)) > 1 and not _NO_PROSE.search(text):
            yield text


def _is_for_machines(node: ast.AST) -> bool:
    """Return whether a node is a pattern, or a list of words in one text."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    attribute = node.func.attr
    return attribute == "split" or (attribute == "compile" and ast.unparse(node.func) == "re.compile")


def list_setting_texts() -> Iterator[tuple[str, str]]:
    for name, field in Settings.model_fields.items():
        yield name.upper(), field.description or ""


def list_help_texts(name: str, command: click.Command) -> Iterator[tuple[str, str]]:
    yield f"{name} --help", command.help or ""
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            yield f"{name} {parameter.opts[0]}", parameter.help or ""
    if isinstance(command, click.Group):
        for each, child in command.commands.items():
            yield from list_help_texts(f"{name} {each}", child)


def list_json_texts(name: str) -> Iterator[tuple[str, str]]:
    pending = [json.loads((ROOT / name).read_text(encoding="utf-8"))]
    while pending:
        value = pending.pop()
        if isinstance(value, str) and " " in value:
            yield name, value
        elif isinstance(value, dict):
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)


def list_answer_texts() -> Iterator[tuple[str, str]]:
    for answer in load_answers().answers:
        if answer.language == "en":
            for text in split_markdown(re.sub(r"\{[^{}]*\}", "", answer.text)):
                yield "bot/demo/sample/answers.toml", text


def main() -> None:
    """Print the longest sentences with their numbers of words, the longest first."""
    for sentence in sorted(list_sentences(), key=lambda each: -each.words)[:200]:
        click.echo(f"{sentence.words} | {sentence.place} | {sentence.text}")


if __name__ == "__main__":
    main()
