"""Source files from what GitHub or git sends: the same bytes become the same text, wherever they come from."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable

from impact.source.models import LFS_POINTER_START, MAX_SOURCE_BYTES, SourceFile, SourceProblem

# git's modes hold the type of an entry beside its permissions
_FILE_TYPE_BITS = 0o170000
_FILE_TYPES = {0o040000: SourceProblem.FOLDER, 0o120000: SourceProblem.SYMLINK, 0o160000: SourceProblem.SUBMODULE}
# known formats that may lack a NUL byte; GitHub takes them for binary
_BINARY_STARTS = (b"%PDF-", b"GIF87a", b"GIF89a", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")
# text of these encodings is full of NUL bytes; GitHub takes it for text
_BYTE_ORDER_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)

_SURROGATES = re.compile("[\ud800-\udfff]")
# a form feed is part of some source code
_CONTROLS = re.compile("[\0-\x08\x0e-\x1b\x7f]")
_REPLACEMENT = "\ufffd"


def replace_controls(text: str) -> str:
    """Return a source file without control characters. Credentials stay: for what is analyzed and never shown."""
    return _CONTROLS.sub(_REPLACEMENT, _SURROGATES.sub(_REPLACEMENT, text))


def find_type_problem(mode: int) -> SourceProblem | None:
    """Return why an entry of a tree is no file, by git's mode of it; None for a file."""
    return _FILE_TYPES.get(mode & _FILE_TYPE_BITS)


def build_source_file(path: str, data: bytes, clean: Callable[[str], str] = replace_controls) -> SourceFile:
    """Return a file with its text, as ``clean`` leaves it and without a byte order mark, or with a reason."""
    problem = _find_problem(data)
    if problem:
        return SourceFile(path, problem=problem)
    try:
        text = data.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError:
        return SourceFile(path, problem=SourceProblem.NOT_UTF8)
    return SourceFile(path, clean(text))


def _find_problem(data: bytes) -> SourceProblem | None:
    if len(data) > MAX_SOURCE_BYTES:
        return SourceProblem.TOO_LARGE
    if data.startswith(_BYTE_ORDER_MARKS):
        return SourceProblem.NOT_UTF8
    if b"\0" in data or data.startswith(_BINARY_STARTS):
        return SourceProblem.BINARY
    return SourceProblem.LFS_POINTER if data.startswith(LFS_POINTER_START.encode()) else None
