"""What all prompts for a model have in common: instructions from files, fences around data, and small schemas."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from itertools import count
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from bot.domain.text.redaction import redact_text


@cache
def read_instructions(version: str) -> str:
    """Return the text of a version of the instructions."""
    return files("bot.prompts").joinpath(f"{version}.md").read_text(encoding="utf-8").strip()


def fence_text(name: str, text: str) -> str:
    """Return the text without credentials, between marks that it can't forge: it does not contain their id."""
    text = redact_text(text)
    mark = choose_mark(text, _propose_marks(text))
    return f'<{name} id="{mark}">\n{text}\n</{name} id="{mark}">'


def choose_mark(text: str, marks: Iterable[str]) -> str:
    """Return the first mark that is not in the text."""
    return next(mark for mark in marks if mark not in text)


def _propose_marks(text: str) -> Iterator[str]:
    """Yield marks that depend on the text alone, so that the same text is the same prompt.

    A text that contains its own first mark takes some four billion attempts to find, which a machine does in an
    hour.
    """
    for number in count():
        yield hashlib.sha256(f"{text}{number or ''}".encode()).hexdigest()[:8]


class CompactSchema(GenerateJsonSchema):
    """Generator of schemas without titles: they repeat the names and cost tokens in every prompt."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False
