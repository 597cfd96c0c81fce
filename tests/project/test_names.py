"""Names say what a value is: a participle in place of a noun says only that something happened to it."""

import ast
from collections.abc import Iterable

import pytest

from tests.helpers.processes.command import ROOT
from tests.project.tools.module_nodes import list_nodes
from tests.project.tools.secret_scan import list_files

# what stood for almost everything once, so that no reader could follow a value
FORBIDDEN = frozenset({"found", "said", "given", "wanted", "taken"})


def list_forbidden(source: str) -> Iterable[str]:
    """Yield the forbidden names that a module gives to values and functions. An imported name is not its own."""
    for node in list_nodes(source):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.FunctionDef(name=name):
                if name in FORBIDDEN:
                    yield name


@pytest.mark.slow
def test_no_value_is_named_by_a_participle() -> None:
    paths = [path for path in list_files() if path.endswith(".py")]
    assert len(paths) > 1_000
    assert [f"{path}: {name}" for path in paths for name in list_forbidden((ROOT / path).read_text())] == []


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("found = 1", ["found"]),
        ("def read(said): ...", ["said"]),
        ("for wanted in (): ...", ["wanted"]),
        ("def taken(): ...", ["taken"]),
        ("from hypothesis import given\n@given(1)\ndef test(): ...", []),
        ("if is_found: print(found)", []),
    ],
)
def test_a_name_is_seen_where_it_is_given(source: str, names: list[str]) -> None:
    assert list(list_forbidden(source)) == names
