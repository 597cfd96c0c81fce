"""What a merge changes besides plain Python names, from both versions of its files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impact.contract.models import ChangeKind, ContractClass, FileVersions
from impact.contract.surfaces.comparison import list_surface_changes
from impact.python.models import ModuleOutline
from impact.python.outline import build_outline
from impact.source.models import SourceFile, SourceProblem
from tests.contract.surfaces.changes import change, compare, list_rows

ENVS = """
environment_variables = {
    # how long to wait
    "VLLM_WAIT": lambda: int(os.getenv("VLLM_WAIT", "%s")),
%s}
"""
CONFIG = """
@config
class SchedulerConfig:
    async_scheduling: bool = %s
"""
PATHS = (
    "vllm/envs.py",
    "vllm/config/model.py",
    "vllm/entrypoints/openai/protocol.py",
    "setup.py",
    "csrc/torch_bindings.cpp",
    "vllm/grpc/engine.proto",
    "pyproject.toml",
    "setup.cfg",
    "requirements/cuda.txt",
    "docker/Dockerfile",
    "CMakeLists.txt",
)
# words that make the parsers look, with what surrounds them in real files
PIECES = st.sampled_from(
    (
        "class A(BaseModel):",
        "class AConfig(",
        "@dataclass",
        "    x: int = Field(default=1, deprecated=True)",
        "os.environ.get(",
        'parser.add_argument(f"--{x}", **',
        '"--flag"',
        "TORCH_LIBRARY_EXPAND(_C, m) {",
        'm.def("op(Tensor a)',
        "message M {",
        "string s = 1;",
        "ARG A=",
        "RUN pip install a==1 \\",
        "torch==2.0; python_version",
        "set(A_VERSION ",
        "FetchContent_Declare(",
        "[project]",
        "dependencies = [",
        '"""',
        ")",
        "}",
        "\n",
        " ",
    )
)


def test_a_new_default_of_a_variable() -> None:
    (row,) = compare("vllm/envs.py", ENVS % ("60", ""), ENVS % ("90", ""))
    assert (row.subject, row.kind, row.name) == (ContractClass.ENVIRONMENT, ChangeKind.DEFAULT, "VLLM_WAIT")
    assert (row.before, row.after, row.line) == ("VLLM_WAIT default 60", "VLLM_WAIT default 90", 4)


def test_what_moves_to_another_file_is_no_change() -> None:
    text = ENVS % ("60", "")
    assert list_rows(change("vllm/envs.py", text, ""), change("vllm/variables.py", None, text)) == []


def test_what_moves_and_changes_is_a_change() -> None:
    moved = list_rows(
        change("vllm/envs.py", ENVS % ("60", ""), ""), change("vllm/variables.py", None, ENVS % ("90", ""))
    )
    assert moved == [("environment variable", "default", "VLLM_WAIT")]


def test_a_file_that_cannot_be_read_changes_nothing() -> None:
    broken = FileVersions(
        SourceFile("vllm/envs.py", ENVS % ("60", "")), SourceFile("vllm/envs.py", problem=SourceProblem.TOO_LARGE)
    )
    assert list_rows(broken, change("vllm/envs.py", ENVS % ("60", ""), "def os.environ(:")) == []


@pytest.mark.parametrize("path", ["tests/envs.py", "docs/envs.py", "vllm/tests/envs.py", "examples/envs.py"])
def test_tests_and_samples_define_nothing(path: str) -> None:
    assert list_rows(change(path, ENVS % ("60", ""), "")) == []


def test_a_flag_takes_the_default_of_a_field_that_changes_elsewhere() -> None:
    arguments = "class EngineArgs:\n    async_scheduling: bool = SchedulerConfig.async_scheduling\n"

    def load(module: str) -> ModuleOutline | None:
        return build_outline("vllm/engine/arg_utils.py", arguments) if module == "vllm.engine.arg_utils" else None

    rows = list_surface_changes([change("vllm/config/scheduler.py", CONFIG % "False", CONFIG % "None")], load)
    assert [(row.subject.value, row.name, row.before, row.after) for row in rows] == [
        ("flag", "--async-scheduling", "--async-scheduling default off", "--async-scheduling unset by default"),
        (
            "configuration field",
            "SchedulerConfig.async_scheduling",
            "async_scheduling: bool = False",
            "async_scheduling: bool = None",
        ),
    ]


def test_long_values_show_where_they_differ() -> None:
    old = "torch==1; " + " or ".join(f"platform_machine == 'machine{number}'" for number in range(9))
    (row,) = compare("requirements/cuda.txt", old, f"{old} or python_version < '3.9'")
    assert len(row.after) <= 160
    assert row.after.endswith("or python_version < '3.9'")


@given(st.sampled_from(PATHS), st.text(max_size=300), st.text(max_size=300))
def test_no_text_raises_and_equal_texts_change_nothing(path: str, old: str, new: str) -> None:
    list_surface_changes([change(path, old, new)])
    assert list_surface_changes([change(path, new, new), change(f"a/{path}", new, new)]) == ()


@given(st.sampled_from(PATHS), st.lists(PIECES, max_size=30), st.lists(PIECES, max_size=30))
def test_no_pieces_of_real_files_raise(path: str, old: list[str], new: list[str]) -> None:
    rows = list_surface_changes([change(path, "".join(old), "".join(new))])
    assert all(row.line > 0 and "\n" not in row.before + row.after for row in rows)
