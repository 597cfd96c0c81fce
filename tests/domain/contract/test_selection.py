"""Which files of a merge are read: what defines a contract first, and the packages above it."""

from __future__ import annotations

import pytest

from bot.domain.contract.selection import list_package_files, select_files
from tests.helpers.builders import changed_file


def select(*paths: str) -> list[str]:
    return [file.path for file in select_files(map(changed_file, paths))]


def test_what_defines_more_comes_first() -> None:
    paths = ["tests/test_a.py", "chart/values.yaml", "csrc/ops.cu", "setup.py", "pyproject.toml", "vllm/b.py"]
    ordered = ["setup.py", "vllm/b.py", "pyproject.toml", "csrc/ops.cu", "chart/values.yaml", "tests/test_a.py"]
    assert select(*paths) == ordered


@pytest.mark.parametrize("path", ["logo.png", "docs/usage.md", "configs/E=8.json", "LICENSE", "a.py.orig", ""])
def test_what_says_nothing_to_others_is_not_read(path: str) -> None:
    assert select(path) == []


@pytest.mark.parametrize("path", ["docker/Dockerfile.rocm", "requirements/cuda.txt", "vllm.proto", "a.PY", "r.md"])
def test_files_for_deployers_are_read(path: str) -> None:
    assert select(path) == [path]


def test_packages_above_a_file_are_listed_nearest_first() -> None:
    files = [changed_file("a/b/c.py", previous_path="a/old/c.py"), changed_file("a/b/d.py"), changed_file("x.md")]
    assert list_package_files(files) == ["a/b/__init__.py", "a/old/__init__.py", "a/__init__.py"]


def test_packages_that_changed_are_read_anyway() -> None:
    assert list_package_files([changed_file("a/__init__.py"), changed_file("a/b.py")]) == []
    assert list_package_files([changed_file("tests/a/b.py"), changed_file("top.py")]) == []
