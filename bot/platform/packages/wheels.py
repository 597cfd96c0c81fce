"""The text files of a wheel, read as the archive that it is: nothing is unpacked to a disk, and nothing is run."""

from __future__ import annotations

import io
import stat
import struct
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from bot.errors import PackageUnavailable
from bot.platform.cleaning import clean_code
from impact.source.models import MAX_SOURCE_BYTES, SourceFile, SourceProblem
from impact.source.reading import build_source_file

# bytes of one read of the archive: its list of files is one read, and 20,000 entries take some 3 MB
_MAX_READ = 4_000_000
# files, bytes of all texts, characters of a path; and how much smaller than its text an entry may be. Python's own
# sources become a tenth at most, but zeros a thousandth
MAX_FILES, MAX_TEXT, _MAX_PATH, _MAX_RATIO = 20_000, 120_000_000, 400, 150
_ENCRYPTED = 0x1
_SUFFIXES = (".py", ".pyi")
_METADATA = ("METADATA", "entry_points.txt", "top_level.txt")
# what the library raises for an archive that is none, or damaged
_DAMAGE = (BadZipFile, EOFError, NotImplementedError, OSError, RuntimeError, ValueError, struct.error, zlib.error)


@dataclass(frozen=True, slots=True)
class WheelTexts:
    """The entries by path that are read, and of the others how many there are by why, as a clause."""

    archive: ZipFile
    entries: Mapping[str, ZipInfo]
    left_out: Mapping[str, int]

    def read_bytes(self, path: str) -> bytes | None:
        """Return what an entry holds; None if it is damaged or is not what the archive says of it."""
        try:
            with self.archive.open(self.entries[path]) as file:
                return file.read(MAX_SOURCE_BYTES + 1)
        except _DAMAGE:
            return None

    def read_file(self, path: str) -> SourceFile:
        if path not in self.entries:
            return SourceFile(path, problem=SourceProblem.MISSING)
        data = self.read_bytes(path)
        if data is None:
            return SourceFile(path, problem=SourceProblem.UNAVAILABLE)
        return build_source_file(path, data, clean_code)


class _ShortReads(io.FileIO):
    """A file of which no read is long, whatever the archive in it says of the length of its parts."""

    def read(self, size: int | None = -1) -> bytes:
        most = _MAX_READ + 1 if size is None or size < 0 else size
        if most > _MAX_READ + 1 or len(data := super().read(most) or b"") > _MAX_READ:
            raise BadZipFile("a part of it is too long")
        return data


@contextmanager
def open_wheel(path: Path) -> Iterator[WheelTexts]:
    """Open a wheel. Raises PackageUnavailable if it is not an archive that can be read within the limits."""
    try:
        file = _ShortReads(path)
    except OSError as error:
        # another process needed the room
        raise PackageUnavailable("The wheel could not be read: it was removed meanwhile.") from error
    with file:
        try:
            archive = ZipFile(file)
        except _DAMAGE as error:
            message = "The wheel could not be read: it is damaged, or lists too many files."
            raise PackageUnavailable(message) from error
        with archive:
            yield _list_texts(archive)


def _list_texts(archive: ZipFile) -> WheelTexts:
    entries, left_out, size = dict[str, ZipInfo](), Counter[str](), 0
    for entry in archive.infolist():
        if entry.is_dir():
            continue
        problem = _find_problem(entry)
        if not problem and entry.filename in entries:
            problem = "a path that is there twice"
        if not problem and (len(entries) >= MAX_FILES or size + entry.file_size > MAX_TEXT):
            problem = "more text than is read"
        if problem:
            left_out[problem] += 1
        else:
            entries[entry.filename] = entry
            size += entry.file_size
    return WheelTexts(archive, entries, left_out)


def _find_problem(entry: ZipInfo) -> str:
    """Return why an entry is not read, as a phrase; empty if it is."""
    path, name = entry.filename, entry.filename.rpartition("/")[2]
    folder = path.rpartition("/")[0]
    if not path.endswith(_SUFFIXES) and not (folder.endswith(".dist-info") and name in _METADATA):
        return "compiled or data"
    parts = path.split("/")
    if len(path) > _MAX_PATH or {"", ".", ".."} & {*parts} or "\\" in path or not path.isprintable():
        return "a path that no package has"
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind and kind != stat.S_IFREG:
        return "a link or a device"
    if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED) or entry.flag_bits & _ENCRYPTED:
        return "packed in another way"
    if entry.file_size > MAX_SOURCE_BYTES:
        return "too large"
    return (
        "a text that is far larger than its entry"
        if entry.file_size > _MAX_RATIO * (entry.compress_size + 64)
        else ""
    )
