import pytest

from impact.evaluation.imported_files import count_imported, detect_packages, list_imported_names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import engine.a.b as c, os", {"engine.a.b"}),
        ("def f():\n    from engine.a import (b,\n        c)", {"engine.a", "engine.a.b", "engine.a.c"}),
        ("from engine import *", {"engine", "engine.*"}),
        ("from .engine import b\nimport engines\nx = 'engine'", set()),
        ("from engine import (", set()),
    ],
)
def test_imports_are_found(text: str, names: set[str]) -> None:
    assert list_imported_names(text, ["engine"]) == names


def test_each_changed_module_counts_once() -> None:
    names = {"engine.a", "engine.b", "engine"}
    paths = ["engine/a.py", "src/engine/a.py", "engine/b/__init__.py", "engine/c.py", "engine/a.cu", "x y.py"]
    assert count_imported(paths, names) == 2


@pytest.mark.parametrize(
    ("paths", "packages"),
    [
        (["engine/__init__.py", "engine/a/__init__.py", "tests/__init__.py", "setup.py"], ("engine",)),
        (["src/one/__init__.py", "two/__init__.py", "docs/x.py"], ("one", "two")),
        ([], ()),
    ],
)
def test_packages_are_what_others_import(paths: list[str], packages: tuple[str, ...]) -> None:
    assert detect_packages(paths) == packages
