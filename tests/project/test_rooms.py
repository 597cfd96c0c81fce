"""A folder of our own code has as many modules as a newcomer can look over."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePosixPath

from tests.helpers.processes.command import ROOT
from tests.project.tools.secret_scan import list_files

# about fifteen, without what makes a folder a package
MOST_MODULES = 16


def test_no_folder_has_more_modules_than_anybody_looks_over() -> None:
    files = [PurePosixPath(name) for name in list_files() if name.endswith(".py")]
    sizes = Counter(str(file.parent) for file in files if file.name != "__init__.py")
    assert len(sizes) > 100
    assert {folder: size for folder, size in sizes.items() if size > MOST_MODULES} == {}


def test_packages_are_where_modules_are() -> None:
    lacking = {
        str(file.parent)
        for file in map(PurePosixPath, list_files())
        if file.suffix == ".py" and len(file.parts) > 1 and not (ROOT / file.parent / "__init__.py").exists()
    }
    assert lacking == set()
