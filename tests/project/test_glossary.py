"""``docs/glossary.md`` has each term once, none that nothing uses, and each word that messages emphasize."""

import ast
import re
from collections import Counter
from pathlib import Path

from bot.features.glossary import find_term, load_terms
from bot.features.merges.requests import ViewLevel
from bot.features.merges.review import ReviewVerdict
from bot.features.merges.risk import RiskBand
from bot.features.touches.lines import TouchVerdict, name_level, name_verdict
from impact.touches.models import TouchLevel
from tests.project.tools.module_nodes import list_nodes

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
NAMES = re.findall(r"^\| (?!term |---)\*?([^|*]+?)\*? \| [^|]+ \|", GLOSSARY.read_text(), re.MULTILINE)
# labels in plain words
PLAIN = """
    Status | Subscribed | paused | Resumed | Files | Found in the diff | What became of them | Looked for
    Below the bar | What the calls of the month were for | Bumped more than once | Not summarized yet
    Since your code moved
"""
PLAIN_LABELS = {each.strip() for each in PLAIN.replace("\n", "|").split("|")}


def list_texts() -> list[str]:
    modules = [*ROOT.glob("bot/**/*.py"), *ROOT.glob("handlers/*.py")]
    nodes = (node for path in modules for node in list_nodes(path.read_text()))
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def list_labels() -> list[str]:
    """Return what posts show in bold, and their headers, where it is constant."""
    labels = []
    for path in [*ROOT.glob("bot/features/**/*.py"), *ROOT.glob("handlers/*.py")]:
        for node in list_nodes(path.read_text()):
            match node:
                case ast.Call(
                    func=ast.Name(id=name), args=[ast.Constant(value=str(label)), *_], keywords=keywords
                ):
                    is_bold = any(keyword.arg == "bold" for keyword in keywords)
                    if is_bold or name in ("make_header", "_render_list"):
                        labels.append(label.strip(" :·"))
    return labels


def has_entry(label: str) -> bool:
    words = (word for word, term in load_terms().items() if term.is_in_messages)
    return any(re.search(rf"\b{re.escape(word)}s?\b", label.lower()) for word in words)


def test_each_term_has_one_meaning_and_is_used() -> None:
    documents = [path for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")] if path != GLOSSARY]
    text = " ".join([*(path.read_text() for path in documents), *list_texts()]).lower()
    assert len(NAMES) > 70
    assert [term for term, count in Counter(map(str.lower, NAMES)).items() if count > 1] == []
    assert [term for term in NAMES if not re.search(rf"\b{re.escape(term.lower())}s?\b", text)] == []
    # a word that two entries had would lead to the last one alone
    rows = re.findall(r"^\| (?!term |---)([^|]+) \| [^|]+ \| ([^|]*)\|$", GLOSSARY.read_text(), re.MULTILINE)
    words = [word.strip(" *").lower() for row in rows for cell in row for word in cell.split(",") if word.strip()]
    assert [word for word, count in Counter(words).items() if count > 1] == []


def test_each_label_of_messages_is_plain_or_has_an_entry() -> None:
    labels = list_labels()
    assert len(labels) > 20
    assert [label for label in labels if label not in PLAIN_LABELS and not has_entry(label)] == []


def test_levels_bands_and_buttons_have_entries() -> None:
    names = [
        *(f"{band.label} risk" for band in RiskBand),
        *(name_level(level) for level in TouchLevel if level is not TouchLevel.NO),
        *map(name_verdict, TouchVerdict),
        *(level.value for level in ViewLevel if level is not ViewLevel.ALL),
        *(each.value for each in ReviewVerdict if each is not ReviewVerdict.NOTHING),
    ]
    assert [name for name in names if find_term(name) is None] == []
