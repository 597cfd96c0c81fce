from dataclasses import dataclass

import pytest

from bot.errors import StoreUnavailable
from bot.platform.store.codecs import LaterVersion, VersionedJson
from tests.helpers.checks import is_one_sentence


@dataclass(frozen=True, slots=True)
class Note:
    text: str
    author: str = ""
    count: int = 0


CODEC = VersionedJson(Note, 2)
ADA = Note("Größe", "ada", 2)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param('{"author": "ada", "count": 2, "text": "Größe", "version": 2}', ADA, id="any-order"),
        pytest.param('{"version": 2, "text": "x", "later": 1}', Note("x"), id="unknown-field"),
        pytest.param('{"text": "x"}', None, id="no-version"),
        pytest.param('{"version": 1, "text": "x"}', None, id="earlier"),
        pytest.param('{"version": "two", "text": "x"}', None, id="no-number"),
        pytest.param('{"version": 2, "text": 1}', None, id="wrong-type"),
        pytest.param("[]", None, id="no-object"),
        pytest.param("{", None, id="no-json"),
        pytest.param(None, None, id="absent"),
    ],
)
def test_what_is_stored_is_read(text: str | None, value: Note | None) -> None:
    assert CODEC.load_or_none(text) == value


def test_a_later_version_is_not_taken_for_absent() -> None:
    with pytest.raises(StoreUnavailable) as caught:
        CODEC.load_or_none('{"version": 3, "text": "x"}')
    assert is_one_sentence(str(caught.value))


def test_a_text_has_its_version_and_no_defaults() -> None:
    assert CODEC.dump_text(Note("Größe")) == '{"version":2,"text":"Größe"}'
    assert CODEC.load_text(CODEC.dump_text(ADA)) == ADA


def test_a_later_version_of_an_object_is_an_error_of_its_own() -> None:
    with pytest.raises(LaterVersion):
        CODEC.load({"version": 3, "text": "x"})
