"""What one file uses of an upstream repository, by its text alone."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from impact.errors import READING_FAILED, attempt
from impact.profile.scanned import FileText, FileUses, ScannedClass
from impact.profile.scanners.python_scan import scan_python
from impact.profile.scanners.text_scan import is_scanned_text, scan_text
from impact.python.module_names import is_python

__all__ = ["SCAN_VERSION", "FileUses", "ScannedClass", "is_scanned", "is_test", "scan_file"]

# what a cache of scans is keyed by: change it with what a scan finds
SCAN_VERSION = 7
_TEST_FOLDERS = frozenset("test tests testing e2e ut unittest unittests integration_tests".split())


def scan_file(path: str, text: str, packages: Sequence[str]) -> FileUses:
    """Return what a file uses of the upstream packages. Never raises, whatever the text."""
    scan = attempt(path, _scan_file, path, text, packages) or FileUses(path, problem=READING_FAILED)
    digest = hashlib.blake2b(text.encode(errors="replace"), digest_size=6).hexdigest()
    return replace(scan, content=digest) if scan.uses else scan


def _scan_file(path: str, text: str, packages: Sequence[str]) -> FileUses:
    file = FileText(path, text, tuple(packages), is_test(path))
    if is_python(path):
        return scan_python(file)
    return scan_text(file) if is_scanned_text(path) else FileUses(path)


def is_scanned(path: str) -> bool:
    """Return whether a file is of a kind that is scanned, by its path."""
    return is_python(path) or is_scanned_text(path)


def is_test(path: str) -> bool:
    """Return whether a file is a test, by its path."""
    parts = PurePosixPath(path).parts
    name = parts[-1] if parts else ""
    if name == "conftest.py" or name.startswith("test_") or name.endswith(("_test.py", "_tests.py")):
        return True
    return not _TEST_FOLDERS.isdisjoint(parts[:-1])
