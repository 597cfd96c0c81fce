from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from pydantic import Field

from bot.domain.errors import StoreUnavailable
from bot.ports.codecs.versioned_json import UnknownVersion, VersionedJson
from tests.helpers.checks import is_one_sentence


@dataclass(frozen=True, slots=True)
class Note:
    text: str
    author: Annotated[str, Field(alias="by")] = ""
    count: int = 0


def convert_count(unmarked: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**unmarked, "count": unmarked["number"]}


SAME = VersionedJson(Note, 1, dict)
CONVERTED = VersionedJson(Note, 2, convert_count)
MARKED = VersionedJson(Note, 1)
ADA = Note("Größe", "ada", 2)


@pytest.mark.parametrize(
    ("codec", "text", "value"),
    [
        pytest.param(SAME, '{"by": "ada", "count": 2, "text": "Größe", "version": 1}', ADA, id="marked"),
        pytest.param(SAME, '{"text": "Gr\\u00f6\\u00dfe", "by": "ada", "count": 2}', ADA, id="unmarked"),
        pytest.param(CONVERTED, '{"text": "Größe", "by": "ada", "number": 2}', ADA, id="converted"),
        pytest.param(CONVERTED, '{"text": "Größe", "by": "ada", "count": 2, "version": 2}', ADA, id="as-it-is"),
        pytest.param(SAME, '{"text": "x", "later": 1}', Note("x"), id="unknown-field"),
        pytest.param(SAME, '{"text": 1}', None, id="wrong-type"),
        pytest.param(SAME, "[]", None, id="no-object"),
        pytest.param(SAME, "{", None, id="no-json"),
        pytest.param(SAME, None, None, id="absent"),
    ],
)
def test_what_is_stored_is_read(codec: VersionedJson[Note], text: str | None, value: Note | None) -> None:
    assert codec.load_or_none(text) == value


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        pytest.param(SAME, '{"version": 2, "text": "x"}', id="later"),
        pytest.param(CONVERTED, '{"version": 3, "text": "x"}', id="later-than-two"),
        pytest.param(SAME, '{"version": "one"}', id="no-number"),
        pytest.param(MARKED, '{"text": "x"}', id="unmarked-where-all-are-marked"),
    ],
)
def test_another_version_is_not_taken_for_absent(codec: VersionedJson[Note], text: str) -> None:
    with pytest.raises(StoreUnavailable) as caught:
        codec.load_or_none(text)
    assert is_one_sentence(str(caught.value))


def test_a_text_has_its_version_and_no_defaults() -> None:
    assert SAME.dump_text(Note("Größe")) == '{"version":1,"text":"Größe"}'
    assert SAME.load_text(SAME.dump_text(ADA)) == ADA


def test_another_version_of_an_object_is_an_error_of_its_own() -> None:
    with pytest.raises(UnknownVersion):
        SAME.load({"version": 2, "text": "x"})
