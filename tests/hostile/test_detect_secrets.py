"""What the library detect-secrets finds is taken out too: it is the measure, and is not needed to run the bot."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from bot.domain.text.redaction import redact_patch, redact_text
from tests.helpers.tables import check_rows
from tests.hostile.tables.credentials import CREDENTIALS

# public addresses of machines are no credentials; entropy and key words are no patterns, and guess
# (docs/decisions/0039)
LEFT_OUT = {"IPPublicDetector"}


@cache
def find_patterns() -> tuple[re.Pattern[str], ...]:
    """Import the library's plugins, which takes half a second, and list their patterns."""
    plugins = importlib.import_module("detect_secrets.plugins")
    for module in pkgutil.iter_modules(plugins.__path__):
        importlib.import_module(f"{plugins.__name__}.{module.name}")
    base = importlib.import_module("detect_secrets.plugins.base").RegexBasedDetector
    return tuple(
        pattern for kind in _subclasses(base) if kind.__name__ not in LEFT_OUT for pattern in kind.denylist
    )


def _subclasses(kind: Any) -> Iterator[Any]:
    for each in kind.__subclasses__():
        yield each
        yield from _subclasses(each)


def test_the_table_has_a_credential_for_each_of_its_patterns() -> None:
    """A pattern of a later version has to be decided upon."""
    texts = [text for text, _ in CREDENTIALS.values()]
    missing = [pattern.pattern for pattern in find_patterns() if not any(map(pattern.search, texts))]
    assert (missing, len(find_patterns()) > 40) == ([], True)


@check_rows(CREDENTIALS)
def test_it_finds_nothing_in_what_is_left(text: str, hidden: str) -> None:
    added = "\n".join(f"+{line}" for line in text.split("\n"))
    for left in (redact_text(f"See {text} there"), redact_patch(f"@@ -1 +1,9 @@\n{added}")):
        assert hidden not in left
        assert [pattern.pattern for pattern in find_patterns() if pattern.search(left)] == []
