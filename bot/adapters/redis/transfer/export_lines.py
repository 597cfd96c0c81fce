"""Lines of an export, as JSON: a header, one durable key in each line, and a footer with their number.

Values remain the texts that they are, also JSON, so that an import restores them exactly.
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

from bot.domain.errors import UsageError
from bot.domain.text.strings import format_count, quote_input
from bot.platform.store.schema import CURRENT_SCHEMA, find_exported_family

# bytes; an exported line holds up to a hundred fields of some kilobytes
MAX_LINE_BYTES = 64 * 2**20

T = TypeVar("T")
_StrictText = Annotated[str, Strict()]


@dataclass(frozen=True, slots=True)
class ExportRecord:
    """A durable key with its value. A hash of many fields is several records, one after the other."""

    key: str
    type: str
    value: Any


@dataclass(frozen=True, slots=True)
class ExportHeader:
    """The first line: the version of the schema, and the time of the export."""

    prdigest: Literal["export"]
    schema: Annotated[int, Strict(), Field(ge=1)]
    at: AwareDatetime


@dataclass(frozen=True, slots=True)
class ExportFooter:
    """The last line: the number of records before it."""

    prdigest: Literal["end"]
    records: Annotated[int, Strict()]


@dataclass(frozen=True, slots=True)
class ExportSummary:
    """The content of a file: its schema, the number of records, and their number by family.

    ``checksum`` is the same for the same bytes.
    """

    schema: int
    records: int
    counts: Counter[str]
    checksum: str


_HEADER_ADAPTER, _FOOTER_ADAPTER, _RECORD_ADAPTER = (
    TypeAdapter(ExportHeader),
    TypeAdapter(ExportFooter),
    TypeAdapter(ExportRecord),
)
_OBJECT_ADAPTER = TypeAdapter(dict[str, Any])
_VALUE_SHAPES: dict[str, tuple[str, TypeAdapter[Any]]] = {
    "string": ("a text", TypeAdapter(_StrictText)),
    "list": ("a list of texts", TypeAdapter(Annotated[list[_StrictText], Field(min_length=1)])),
    "hash": ("an object of texts", TypeAdapter(Annotated[dict[str, _StrictText], Field(min_length=1)])),
    "zset": (
        "an object of numbers",
        TypeAdapter(Annotated[dict[str, Annotated[FiniteFloat, Strict()]], Field(min_length=1)]),
    ),
}


def format_header(at: datetime) -> str:
    """Format the first line of an export."""
    return _format_line({"prdigest": "export", "schema": CURRENT_SCHEMA, "at": at.isoformat()})


def format_record(record: ExportRecord) -> str:
    """Format a line of an export."""
    return _format_line(asdict(record))


def format_footer(records: int) -> str:
    """Format the last line of an export."""
    return _format_line({"prdigest": "end", "records": records})


def inspect_export(file: IO[bytes]) -> ExportSummary:
    """Read a whole file and return its summary.

    Raises:
        UsageError: it is not a complete export, or one that this version can't read.
    """
    schema, seen, counts, previous = _read_header(file).schema, set[str](), Counter[str](), ""
    total = 0
    for total, record in enumerate(iterate_export(file), 1):
        is_more = record.key == previous and record.type == "hash"
        if record.key in seen and not is_more:
            raise UsageError(f"Line {total + 1} repeats {quote_input(record.key)}: remove one of them.")
        seen.add(record.key)
        previous = record.key
        name = record.key.partition(":")[0]
        counts[name] += len(record.value) if name == record.key else not is_more
    file.seek(0)
    checksum = hashlib.file_digest(cast("BufferedReader", file), "sha256").hexdigest()
    return ExportSummary(schema, total, counts, checksum)


def iterate_export(file: IO[bytes]) -> Iterator[ExportRecord]:
    """Yield the records of a file from its beginning.

    Raises:
        UsageError: a line is not a record that this version knows, or the last line is missing.
    """
    lines = _iterate_lines(file)
    next(lines, None)
    for number, fields in lines:
        if "prdigest" in fields:
            _check_footer(number, fields)
            for after, _ in lines:
                raise UsageError(
                    f"Line {after} comes after the end of the export: remove it and the lines after it."
                )
            return
        yield _parse_record(number, fields)
    raise UsageError("The export is incomplete, its last line is missing: export again.")


def _read_header(file: IO[bytes]) -> ExportHeader:
    """Return the first line. Raises UsageError if it is not a header that this version can read."""
    head = _validate_or_none(_HEADER_ADAPTER, next(_iterate_lines(file), (1, {}))[1])
    if head is None:
        raise UsageError("Line 1 is not the start of an export: use a file that prdigest export wrote.")
    if head.schema > CURRENT_SCHEMA:
        raise UsageError(
            f"Line 1: a newer prdigest wrote this export (schema {head.schema}, this version supports "
            f"{CURRENT_SCHEMA}): upgrade."
        )
    return head


def _check_footer(number: int, fields: dict[str, Any]) -> None:
    """Raise UsageError if a line is not the footer of the records before it."""
    foot, count = _validate_or_none(_FOOTER_ADAPTER, fields), number - 2
    if foot is None:
        raise UsageError(f"Line {number} is neither a record nor the end of an export: remove it.")
    if foot.records != count:
        stated = format_count(foot.records, "record")
        raise UsageError(f"Line {number} announces {stated}, but {count:,} come before it: export again.")


def _parse_record(number: int, fields: dict[str, Any]) -> ExportRecord:
    """Return the record of a line. Raises UsageError if it is not one."""
    record = _validate_or_none(_RECORD_ADAPTER, fields)
    if record is None:
        raise UsageError(f"Line {number} is not a record: it needs a key, a type and a value.")
    family = find_exported_family(record.key)
    if family is None:
        raise UsageError(f"Line {number}: {quote_input(record.key)} is not a permanent key of prdigest.")
    if record.type != family.type:
        raise UsageError(
            f"Line {number}: the type of {quote_input(record.key)} is {family.type}, not "
            f"{quote_input(record.type)}."
        )
    shape, kind = _VALUE_SHAPES[family.type]
    value = _validate_or_none(kind, record.value)
    if value is None:
        raise UsageError(f"Line {number}: the value of {quote_input(record.key)} must be {shape}.")
    return ExportRecord(record.key, record.type, value)


def _iterate_lines(file: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the lines of a file as objects, with their numbers from 1. Raises UsageError."""
    file.seek(0)
    number = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(line) > MAX_LINE_BYTES:
            raise UsageError(f"Line {number} is longer than {MAX_LINE_BYTES >> 20} MB: prdigest did not write it.")
        try:
            fields = _OBJECT_ADAPTER.validate_json(line)
        except ValidationError as error:
            raise UsageError(
                f"Line {number} is not a JSON object: the file is damaged, or is not an export."
            ) from error
        yield number, fields


def _validate_or_none(kind: TypeAdapter[T], value: Any) -> T | None:
    """Return the value in its type, None if it does not fit."""
    try:
        return kind.validate_python(value)
    except ValidationError:
        return None


def _format_line(fields: dict[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False, allow_nan=False)
