"""The project grows no larger than it is: bounds that only go down, each with what it protects.

``tests/benchmarks/test_trace.py`` holds those of the ways of requests.
"""

import ast

import pytest

from tests.project.size import (
    Bound,
    count_implementations,
    count_lines,
    list_logic,
    load_bounds,
    lower_bounds,
    measure_sizes,
)
from tests.project.tools.module_nodes import list_nodes


@pytest.mark.slow
def test_no_figure_is_above_its_bound_or_far_below() -> None:
    bounds = load_bounds()
    figures = measure_sizes()
    assert {name for name in bounds if ": " not in name} <= figures.keys()
    misses = [bounds[name].explain_miss(name, figure) for name, figure in figures.items() if name in bounds]
    assert [miss for miss in misses if miss] == []


@pytest.mark.parametrize(
    ("figure", "beginning"),
    [
        (100, ""),
        (101, "files: 101 is above its bound of 100. It protects who looks for a place. Make it smaller"),
        (95, ""),
        (94, "files: 94 is far below its bound of 100, well done. Hold it: run `uv run python -m"),
    ],
)
def test_a_miss_says_what_to_do(figure: int, beginning: str) -> None:
    message = Bound("who looks for a place", 50, 100).explain_miss("files", figure)
    assert message.startswith(beginning)
    assert bool(message) == bool(beginning)


def test_a_bound_only_goes_down() -> None:
    text = '["lines"]\nbound = 86_100\nprotects = "a"\n\n["a tick: files"]\nbound = 90\nprotects = "b"\n'
    assert lower_bounds(text, {"lines": 90_000, "a tick: files": 91}) == text
    assert lower_bounds(text, {"lines": 80_001}) == text.replace("86_100", "80_100")
    assert lower_bounds(text, {"a tick: files": 60}) == text.replace("90", "60")


def test_logic_is_what_bodies_do() -> None:
    source = '''import os

LIMIT = 3


@cache
def read(
    path: str,
) -> str:
    """Read it."""
    # no comment counts
    import re

    if path:
        return os.path.join(
            path,
        )

    return ""
'''
    nodes, lines = list_nodes(source), source.splitlines()
    assert [lines[at - 1].strip() for at in list_logic(nodes, lines)] == [
        "if path:",
        "return os.path.join(",
        "path,",
        'return ""',
    ]
    [function] = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    assert count_lines(function) == 12


@pytest.mark.parametrize(
    ("others", "count"),
    [
        ("class A:\n    def get(self, key: str, more: int = 0): ...", 1),
        ("class A:\n    def get(self, other: str): ...", 0),
        ("class A(Store): ...", 1),
        ("class A(Store): ...\nclass B(A): ...", 2),
        ("class A(Protocol):\n    def get(self, key: str): ...", 0),
        ("class A:\n    def __init__(self, get):\n        self.get = get", 1),
    ],
)
def test_an_implementation_has_the_methods_with_their_parameters(others: str, count: int) -> None:
    source = f"class Store(Protocol[T]):\n    def get(self, key: str) -> str: ...\n{others}"
    classes = [node for node in list_nodes(source) if isinstance(node, ast.ClassDef)]
    assert count_implementations(classes)["Store"] == count
