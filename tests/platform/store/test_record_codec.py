from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest

from bot.errors import StoreUnavailable
from bot.platform.store.codecs import RecordCodec
from tests.helpers.checks import is_one_sentence


@dataclass(frozen=True, slots=True)
class Note:
    text: str = ""
    count: int = 0
    is_open: bool = False
    names: tuple[str, ...] = ()
    at: datetime | None = None
    size: int | None = None


CODEC = RecordCodec(Note, version=1)
NOTE = Note("Größe", 2, is_open=True, names=("ada", "ben"), at=datetime(2026, 2, 28, 20, tzinfo=UTC), size=0)


def test_what_is_written_is_read() -> None:
    written = CODEC.mark | CODEC.dump_changes(CODEC.empty, NOTE)
    assert written == {
        "version": "1",
        "text": "Größe",
        "count": "2",
        "is_open": "1",
        "names": '["ada", "ben"]',
        "at": "2026-02-28T20:00:00+00:00",
        "size": "0",
    }
    assert CODEC.load(written) == NOTE
    assert CODEC.load(written | CODEC.dump_changes(NOTE, CODEC.empty)) == CODEC.empty


def test_only_what_differs_is_written() -> None:
    assert CODEC.dump_changes(NOTE, replace(NOTE, count=3)) == {"count": "3"}
    assert CODEC.dump_changes(NOTE, NOTE) == {}


def test_nothing_is_the_empty_record() -> None:
    assert CODEC.load({}) is CODEC.empty


def test_unknown_fields_are_left_alone() -> None:
    assert CODEC.load({"version": "1", "mood": "cheerful", "text": "a"}) == Note("a")


def test_a_field_that_can_not_be_read_counts_as_never_written(caplog: pytest.LogCaptureFixture) -> None:
    damaged = {"version": "1", "count": "many", "names": "{", "at": "soon", "text": "a"}
    assert CODEC.load(damaged) == Note("a")
    assert "the field at of a record can't be read" in caplog.text


@pytest.mark.parametrize(
    "version", [{}, {"version": "one"}, {"version": "0"}], ids=["none", "no-number", "earlier"]
)
def test_a_record_without_this_version_counts_as_none(
    version: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    assert CODEC.load({**version, "text": "a"}) == CODEC.empty
    assert "a record without its version can't be read" in caplog.text


def test_a_record_of_a_later_version_is_refused() -> None:
    with pytest.raises(StoreUnavailable) as caught:
        CODEC.load({"version": "2", "text": "a"})
    assert is_one_sentence(str(caught.value))
