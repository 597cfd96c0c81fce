"""What a merge changes besides plain Python names, from both versions of its files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.contract.models import ChangeKind, ContractClass, FileVersions
from bot.domain.contract.surfaces import list_surface_changes
from bot.domain.source.models import SourceFile, SourceProblem

ENVS = """
environment_variables = {
    # how long to wait
    "VLLM_WAIT": lambda: int(os.getenv("VLLM_WAIT", "%s")),
%s}
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


def change(path: str, old: str | None, new: str | None) -> FileVersions:
    return FileVersions(
        None if old is None else SourceFile(path, old), None if new is None else SourceFile(path, new)
    )


def list_rows(*versions: FileVersions) -> list[tuple[str, str, str]]:
    return [(row.subject.value, row.kind.value, row.name) for row in list_surface_changes(versions)]


def test_a_new_default_of_a_variable() -> None:
    (row,) = list_surface_changes([change("vllm/envs.py", ENVS % ("60", ""), ENVS % ("90", ""))])
    assert (row.subject, row.kind, row.name) == (ContractClass.ENVIRONMENT, ChangeKind.DEFAULT, "VLLM_WAIT")
    assert (row.before, row.after) == ("VLLM_WAIT default 60", "VLLM_WAIT default 90")


def test_what_moves_to_another_file_is_no_change() -> None:
    text = ENVS % ("60", "")
    assert list_rows(change("vllm/envs.py", text, ""), change("vllm/variables.py", None, text)) == []


def test_a_file_that_cannot_be_read_changes_nothing() -> None:
    broken = FileVersions(
        SourceFile("vllm/envs.py", ENVS % ("60", "")), SourceFile("vllm/envs.py", problem=SourceProblem.TOO_LARGE)
    )
    assert list_rows(broken, change("vllm/envs.py", ENVS % ("60", ""), "def os.environ(:")) == []


@pytest.mark.parametrize("path", ["tests/envs.py", "docs/envs.py", "vllm/tests/envs.py", "examples/envs.py"])
def test_tests_and_samples_define_nothing(path: str) -> None:
    assert list_rows(change(path, ENVS % ("60", ""), "")) == []


@given(st.sampled_from(PATHS), st.text(max_size=300), st.text(max_size=300))
def test_no_text_raises_and_equal_texts_change_nothing(path: str, old: str, new: str) -> None:
    list_surface_changes([change(path, old, new)])
    assert list_surface_changes([change(path, new, new)]) == ()
