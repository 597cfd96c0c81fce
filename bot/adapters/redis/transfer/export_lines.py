"""The lines of an export, as JSON: what it is, one durable key in each, and how many those were.

Values stay the texts that they are, JSON too, so that they come back to the letter.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from io import BufferedReader
from typing import IO, Annotated, Any, Literal, TypeVar, cast

from pydantic import AwareDatetime, Field, FiniteFloat, Strict, TypeAdapter, ValidationError

from bot.adapters.redis.transfer.schema import SCHEMA, family_of
from bot.domain.errors import UsageError
from bot.domain.text.strings import format_count, quote_input

# bytes; ours hold up to a hundred fields of some kilobytes
LONGEST = 64 * 2**20

T = TypeVar("T")
_Text = Annotated[str, Strict()]


@dataclass(frozen=True, slots=True)
class Record:
    """A durable key with its value. A hash of many fields is several records, one after the other."""

    key: str
    type: str
    value: Any


@dataclass(frozen=True, slots=True)
class Head:
    """The first line: an export of a schema, made at a time."""

    prdigest: Literal["export"]
    schema: Annotated[int, Strict(), Field(ge=1)]
    at: AwareDatetime


@dataclass(frozen=True, slots=True)
class Foot:
    """The last line: how many records stand before it."""

    prdigest: Literal["end"]
    records: Annotated[int, Strict()]


@dataclass(frozen=True, slots=True)
class Contents:
    """What a file holds: of which schema, how many records, how much of each family.

    ``mark`` is the same for the same bytes.
    """

    schema: int
    records: int
    counts: Counter[str]
    mark: str


_HEAD, _FOOT, _RECORD = TypeAdapter(Head), TypeAdapter(Foot), TypeAdapter(Record)
_OBJECT = TypeAdapter(dict[str, Any])
_SHAPES: dict[str, tuple[str, TypeAdapter[Any]]] = {
    "string": ("a text", TypeAdapter(_Text)),
    "list": ("a list of texts", TypeAdapter(Annotated[list[_Text], Field(min_length=1)])),
    "hash": ("an object of texts", TypeAdapter(Annotated[dict[str, _Text], Field(min_length=1)])),
    "zset": (
        "an object of numbers",
        TypeAdapter(Annotated[dict[str, Annotated[FiniteFloat, Strict()]], Field(min_length=1)]),
    ),
}


def head_line(at: datetime) -> str:
    """The first line of an export that is made at an instant."""
    return _line({"prdigest": "export", "schema": SCHEMA, "at": at.isoformat()})


def record_line(record: Record) -> str:
    """A line of an export."""
    return _line(asdict(record))


def foot_line(records: int) -> str:
    """The last line of an export."""
    return _line({"prdigest": "end", "records": records})


def contents(file: IO[bytes]) -> Contents:
    """What a file holds, read from its beginning to its end.

    Raises:
        UsageError: it is no whole export, or one that this version does not understand.
    """
    schema, known, counts, before = _head(file).schema, set[str](), Counter[str](), ""
    total = 0
    for total, record in enumerate(records(file), 1):
        is_more = record.key == before and record.type == "hash"
        if record.key in known and not is_more:
            raise UsageError(f"Line {total + 1} repeats {quote_input(record.key)}: remove one of them.")
        known.add(record.key)
        before = record.key
        name = record.key.partition(":")[0]
        counts[name] += len(record.value) if name == record.key else not is_more
    file.seek(0)
    mark = hashlib.file_digest(cast("BufferedReader", file), "sha256").hexdigest()
    return Contents(schema, total, counts, mark)


def records(file: IO[bytes]) -> Iterator[Record]:
    """The records of a file, from its beginning.

    Raises:
        UsageError: a line is no record that this version knows, or the last one is missing.
    """
    lines = _lines(file)
    next(lines, None)
    for number, found in lines:
        if "prdigest" in found:
            _end(number, found)
            for after, _ in lines:
                raise UsageError(f"Line {after} stands after the end of the export: remove what follows it.")
            return
        yield _record(number, found)
    raise UsageError("The export is cut off, its last line is missing: export again.")


def _head(file: IO[bytes]) -> Head:
    head = _read(_HEAD, next(_lines(file), (1, {}))[1])
    if head is None:
        raise UsageError("Line 1 is not that of an export: give a file that prdigest export wrote.")
    if head.schema > SCHEMA:
        raise UsageError(
            f"Line 1: a newer prdigest wrote this export (schema {head.schema}, this one knows {SCHEMA}): upgrade."
        )
    return head


def _end(number: int, found: dict[str, Any]) -> None:
    foot, count = _read(_FOOT, found), number - 2
    if foot is None:
        raise UsageError(f"Line {number} is neither a record nor the end of an export: remove it.")
    if foot.records != count:
        told = format_count(foot.records, "record")
        raise UsageError(f"Line {number} tells of {told}, and {count:,} stand before it: export again.")


def _record(number: int, found: dict[str, Any]) -> Record:
    record = _read(_RECORD, found)
    if record is None:
        raise UsageError(f"Line {number} is no record: it needs a key, a type and a value.")
    family = family_of(record.key)
    if family is None:
        raise UsageError(f"Line {number}: {quote_input(record.key)} is no key that prdigest keeps for good.")
    if record.type != family.type:
        raise UsageError(
            f"Line {number}: the type of {quote_input(record.key)} is {family.type}, not "
            f"{quote_input(record.type)}."
        )
    shape, kind = _SHAPES[family.type]
    value = _read(kind, record.value)
    if value is None:
        raise UsageError(f"Line {number}: the value of {quote_input(record.key)} has to be {shape}.")
    return Record(record.key, record.type, value)


def _lines(file: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    file.seek(0)
    number = 0
    while line := file.readline(LONGEST + 1):
        number += 1
        if len(line) > LONGEST:
            raise UsageError(f"Line {number} is longer than {LONGEST >> 20} MB: prdigest wrote no such line.")
        try:
            found = _OBJECT.validate_json(line)
        except ValidationError as error:
            raise UsageError(f"Line {number} is no JSON object: the file is damaged or no export.") from error
        yield number, found


def _read(kind: TypeAdapter[T], found: Any) -> T | None:
    try:
        return kind.validate_python(found)
    except ValidationError:
        return None


def _line(found: dict[str, Any]) -> str:
    return json.dumps(found, ensure_ascii=False, allow_nan=False)
