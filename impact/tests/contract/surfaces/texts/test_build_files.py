import pytest

from tests.contract.surfaces.changes import change as make_change
from tests.contract.surfaces.changes import compare, list_rows

DOCKERFILE = """
ARG CUDA_VERSION=12.9.1
ARG BUILD_IMAGE=nvidia/cuda:${CUDA_VERSION}-devel
FROM ${BUILD_IMAGE} AS base
FROM ubuntu:22.04 AS small
ARG CUDA_VERSION
ARG TOKEN
ENV MAX_JOBS=2 \\
    # a comment in between
    UV_TIMEOUT="500"
ENV MAX_JOBS=${MAX_JOBS}
RUN uv pip install --system \\
    flashinfer-cubin==0.5.2 && echo a==b
"""
CMAKE = """
set(TORCH_SUPPORTED_VERSION_CUDA "2.9.1")
set(CUTLASS_REVISION "v4.2.1" CACHE STRING "revision")
set(SOURCES "a.cu")
# set(OLD_VERSION "1")
FetchContent_Declare(
  flashmla
  GIT_REPOSITORY https://a.b/c.git
  GIT_TAG 46d64a8ebef03fa50b4ae74937276a5c940e3f95
)
"""


@pytest.mark.parametrize(
    ("old", "new", "row"),
    [
        ("12.9.1", "13.0.0", ("dependency", "default", "CUDA_VERSION")),
        ("ubuntu:22.04", "ubuntu:24.04", ("dependency", "default", "ubuntu")),
        ("MAX_JOBS=2", "MAX_JOBS=4", ("environment variable", "default", "MAX_JOBS")),
        ('"500"', '"600"', ("environment variable", "default", "UV_TIMEOUT")),
        ("ARG TOKEN\n", "", ("environment variable", "removed", "TOKEN")),
        ("cubin==0.5.2", "cubin==0.5.3", ("dependency", "default", "flashinfer-cubin")),
    ],
)
def test_what_changes_a_dockerfile(old: str, new: str, row: tuple[str, str, str]) -> None:
    assert list_rows(make_change("docker/Dockerfile", DOCKERFILE, DOCKERFILE.replace(old, new))) == [row]


def test_what_says_nothing_new() -> None:
    again = DOCKERFILE.replace("ARG TOKEN\n", "ARG TOKEN\nARG TOKEN\nENV UV_TIMEOUT=${UV_TIMEOUT}\n")
    assert list_rows(make_change("docker/Dockerfile", DOCKERFILE, again)) == []


@pytest.mark.parametrize(
    ("old", "new", "name", "after"),
    [
        ("2.9.1", "2.10.0", "TORCH_SUPPORTED_VERSION_CUDA", "TORCH_SUPPORTED_VERSION_CUDA 2.10.0"),
        ("v4.2.1", "v4.3.0", "CUTLASS_REVISION", "CUTLASS_REVISION v4.3.0"),
        ("46d64a8ebef03fa50b4ae74937276a5c940e3f95", "abc1234", "flashmla", "flashmla@abc1234"),
    ],
)
def test_what_changes_a_cmake_file(old: str, new: str, name: str, after: str) -> None:
    (row,) = compare("cmake/external.cmake", CMAKE, CMAKE.replace(old, new))
    assert (row.kind.value, row.name, row.after) == ("default", name, after)
    assert CMAKE.split("\n")[row.line - 1].count(old) == 1


def test_other_settings_of_cmake_are_no_dependencies() -> None:
    assert list_rows(make_change("CMakeLists.txt", CMAKE, CMAKE.replace("a.cu", "b.cu"))) == []
