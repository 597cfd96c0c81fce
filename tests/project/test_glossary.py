"""``docs/glossary.md`` has each term once, and no term that no other document uses."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
TERMS = re.findall(r"^\| (?!term\b)(\w[^|(]*?)(?: \([^|]*\))? \| [^|]+ \|$", GLOSSARY.read_text(), re.MULTILINE)


def test_each_term_has_one_meaning_and_is_used() -> None:
    documents = [path for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")] if path != GLOSSARY]
    text = " ".join(path.read_text() for path in documents).lower()
    assert len(TERMS) > 40
    assert [term for term, count in Counter(map(str.lower, TERMS)).items() if count > 1] == []
    assert [term for term in TERMS if not re.search(rf"\b{re.escape(term.lower())}s?\b", text)] == []
