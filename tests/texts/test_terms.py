"""One word for each thing: nothing that people read has the terms that were given up, or British spelling."""

import ast
import re

import pytest
from click.testing import CliRunner

from bot.cli import cli
from bot.platform.slack.notices import Greeting, render_greeting
from handlers import COMMANDS
from handlers.declaration import list_examples
from tests.handlers.intakes import ENGINE
from tests.helpers.processes.command import ROOT
from tests.helpers.tables import check_rows
from tests.project.tools.reader_texts import FOR_MODELS, list_sentences

_PACKAGES = ("bot", "handlers", "impact/impact", "localslack/localslack")
_STEMS = (
    "author categor custom final general initial local maxim minim normal optim organ prior real recogn sanit "
    "serial special standard summar synchron util visual"
).replace(" ", "|")
_SPELLING = (
    rf"\b(?:{_STEMS})is(?:e[ds]?|ing|ations?)\b|\b(?:behavi|col|fav|hon|neighb)our|\b(?:label|model)l(?:ed|ing)\b"
)
OLD = re.compile(
    # code and the names of settings, keys and options keep theirs
    r"\bsecond[ -]reading|\bsecond looks?\b|\bto do for some|(?<![`:\w])hits?\b(?![`:\w]| or miss)"
    r"|\b(?:taken?|took) back\b|\bstopping points?|\bas inherited|\bbelow the bar|(?<!only:)\bsubstantial"
    rf"|{_SPELLING}|\bcancell(?:ed|ing)\b",
    re.IGNORECASE,
)


# code keeps "hit" and its names; what is in quotes of code is one
OLD_IN_CODE = re.compile(
    rf"\bsecond[ -]reading|\b(?:taken?|took) back\b|\bstopping points?|\bbelow the bar|{_SPELLING}"
)
_WITH_DOCSTRING = ast.Module | ast.ClassDef | ast.FunctionDef


def find_old_terms(text: str) -> list[str]:
    return [text[max(0, match.start() - 40) : match.end() + 40] for match in OLD.finditer(text)]


def list_aliases() -> set[str]:
    """The other words of the glossary, by which people find the term that took their place."""
    rows = (line.split("|") for line in (ROOT / "docs" / "glossary.md").read_text("utf-8").splitlines())
    return {cells[3].strip() for cells in rows if len(cells) > 4}


@pytest.mark.slow
def test_no_sentence_in_messages_help_or_documents_has_them() -> None:
    aliases = list_aliases()
    assert "second reading, second readings, bug review" in aliases
    told = [each for each in list_sentences() if each.place != "docs/glossary.md" or each.text not in aliases]
    assert [f"{each.place}: {words}" for each in told for words in find_old_terms(each.text)] == []


@pytest.mark.slow
def test_a_whole_day_and_the_help_have_none_once_they_are_rendered() -> None:
    """Words that meet in a message alone are in no literal."""
    shown = CliRunner().invoke(cli, ["demo", "--text"])
    assert (shown.exit_code, "28 February 2026" in shown.output) == (0, True)
    helps = [command.format_help(word) for command in COMMANDS for word in ("", *command.words)]
    greetings = [render_greeting(why, ENGINE, list_examples(COMMANDS)).text for why in Greeting]
    assert [words for text in (shown.output, *helps, *greetings) for words in find_old_terms(text)] == []


def test_no_docstring_and_no_text_for_a_model_has_them() -> None:
    """Prompts are left out: a kept answer is of their very words."""
    old = []
    for path in (path for package in _PACKAGES for path in sorted((ROOT / package).rglob("*.py"))):
        nodes = [*ast.walk(ast.parse(path.read_text("utf-8")))]
        texts = [ast.get_docstring(each) for each in nodes if isinstance(each, _WITH_DOCSTRING)]
        if str(path.relative_to(ROOT)) in FOR_MODELS:
            texts += [str(each.value) for each in nodes if isinstance(each, ast.Constant)]
        shown = (re.sub("``.*?``", "", text or "") for text in texts)
        old += [f"{path}: {match[0]}" for text in shown for match in OLD_IN_CODE.finditer(text)]
    assert old == []


@check_rows(
    {
        "second readings": ("Second readings of 3", True),
        "a hit": ("press the button below one of its hits", True),
        "a key": ("the key cache:hits and `hits`", False),
        "a cache": ("lookups: hit or miss", False),
        "white": ("Whitespace and hitherto", False),
        "an option": ("write only:substantial", False),
        "spelling": ("Summarised and behaviour", True),
        "American spelling": ("Summarized, precise, promised, advised, revised and behavior", False),
    }
)
def test_a_term_is_found_and_what_only_looks_like_it_is_not(text: str, is_found: bool) -> None:
    assert bool(find_old_terms(text)) is is_found
