import pytest

from impact.contract.surfaces.comparison import list_surface_changes
from impact.python.models import ModuleOutline
from impact.python.outline import build_outline
from tests.contract.surfaces.changes import change, compare, list_kinds

TABLE = 'environment_variables = {{\n    "VLLM_BASE": lambda: os.getenv("VLLM_BASE"),\n    "VLLM_X": {},\n}}\n'


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ('lambda: os.getenv("VLLM_X", None)', "VLLM_X unset by default"),
        ('lambda: bool(int(os.environ.get("VLLM_X", "0")))', "VLLM_X default 0"),
        ('lambda: os.getenv("VLLM_X", "").lower() or "12.9"', "VLLM_X default 12.9"),
        ('env_with_choices("VLLM_X", "auto", ["auto", "none"])', "VLLM_X default auto"),
        ('lambda: os.path.join(os.getenv("VLLM_X", get_root()), "x")', "VLLM_X default get_root()"),
        ('make_default("VLLM_X", lambda: uuid())', "VLLM_X default uuid()"),
    ],
)
def test_the_default_of_a_declared_variable(entry: str, text: str) -> None:
    old = 'environment_variables = {"VLLM_BASE": lambda: os.getenv("VLLM_BASE")}\n'
    (row,) = compare("vllm/envs.py", old, TABLE.format(entry))
    assert (row.kind.value, row.name, row.after, row.line) == ("added", "VLLM_X", text, 3)


def test_the_default_in_a_function_that_the_table_names() -> None:
    function = 'def get_port():\n    return os.getenv("VLLM_X", "{}")\n\n'
    old, new = (function.format(port) + TABLE.format("get_port") for port in (80, 81))
    assert list_kinds("vllm/envs.py", old, new) == [("default", "VLLM_X")]


def test_a_comment_announces_the_end_of_a_variable() -> None:
    entry = 'lambda: os.getenv("VLLM_X")'
    new = TABLE.format(entry).replace(
        '    "VLLM_X"', '    # Deprecated, will be removed in v0.15.0. Use `--backend`.\n    "VLLM_X"'
    )
    (row,) = compare("vllm/envs.py", TABLE.format(entry), new)
    assert row.kind == "deprecated"
    assert row.deadline is not None
    assert (row.deadline.when, row.deadline.replacement) == ("v0.15.0", "--backend")


def test_a_read_elsewhere_is_new_only_where_the_table_lacks_it() -> None:
    def load(module: str) -> ModuleOutline | None:
        return build_outline("vllm/envs.py", "VLLM_OLD: int = 1\n") if module == "vllm.envs" else None

    reads = ('a = os.environ["VLLM_OLD"]', 'b = os.getenv("VLLM_NEW")', 'c = os.getenv("HOME")')
    new = "\n".join((*reads, 'os.environ["VLLM_SET"] = "1"\n'))
    rows = list_surface_changes([change("vllm/a.py", "", new)], load)
    assert [(row.kind.value, row.name) for row in rows] == [("added", "VLLM_NEW")]
    assert list_kinds("vllm/a.py", "", new) == []
    assert list_kinds("vllm/a.py", new, "") == []
