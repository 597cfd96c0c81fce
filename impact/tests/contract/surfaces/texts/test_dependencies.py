import pytest

from tests.contract.surfaces.changes import change, compare, list_kinds, list_rows

PROJECT = """
[build-system]
requires = ["torch == 2.9.1"]
[project]
requires-python = ">=3.10"
dependencies = ["numpy>=1"]
[project.optional-dependencies]
audio = ["librosa"]
[project.scripts]
vllm = "vllm.main:main"
[project.entry-points."vllm.general_plugins"]
resolver = "vllm.a:b"
"""


@pytest.mark.parametrize(
    ("old", "new", "rows"),
    [
        ("torch==2.9.0", "torch == 2.9.1", [("default", "torch", "torch==2.9.1")]),
        ("torch == 2.9.0", "torch==2.9.0  # pinned", []),
        ("", "Flash_Attn.Lib[cu12]>=1,<2; python_version > '3.9'", [("added", "flash-attn-lib", None)]),
        ("", "kernels @ git+https://a.b/c.git@v3", [("added", "kernels", "kernels @ git+https://a.b/c.git@v3")]),
        ("", "git+https://a.b/tools.git@v3", [("added", "tools", "tools @ git+https://a.b/tools.git@v3")]),
        ("ray>=2", "", [("removed", "ray", "")]),
        ("", "-r common.txt\n--extra-index-url https://a.b\n# torch==1", []),
        ("a==1 --hash=sha256:x", "a==1 --hash=sha256:y", []),
    ],
)
def test_requirements(old: str, new: str, rows: list[tuple[str, str, str | None]]) -> None:
    changes = compare("requirements/cuda.txt", old, new)
    assert [(row.kind.value, row.name) for row in changes] == [(kind, name) for kind, name, _ in rows]
    assert all(after in {None, row.after} for row, (_, _, after) in zip(changes, rows, strict=True))


def test_a_pin_is_one_of_its_file() -> None:
    moved = list_rows(
        change("requirements/cuda.txt", "ray>=2", ""), change("requirements/common.txt", "", "ray>=2")
    )
    assert moved == []
    # what only tests install from now on is gone from the installation
    to_tests = list_rows(
        change("requirements/cuda.txt", "ray>=2", ""), change("requirements/test.in", "", "ray>=2")
    )
    assert to_tests == [("dependency", "removed", "ray"), ("dependency", "added", "ray")]


@pytest.mark.parametrize(
    ("old", "new", "rows"),
    [
        ("2.9.1", "2.10.0", [("default", "torch")]),
        (">=3.10", ">=3.11", [("default", "python")]),
        ('"numpy>=1"', "", [("removed", "numpy")]),
        ('"librosa"', '"librosa", "av"', [("added", "av")]),
        ("vllm.main:main", "vllm.cli:main", [("default", "console_scripts:vllm")]),
        ("resolver =", "hub_resolver =", [("renamed", "vllm.general_plugins:resolver")]),
    ],
)
def test_a_project_file(old: str, new: str, rows: list[tuple[str, str]]) -> None:
    assert list_kinds("pyproject.toml", PROJECT, PROJECT.replace(old, new)) == rows


def test_setup_files() -> None:
    call = 'setup(install_requires=["numpy>={}"], python_requires=">=3.9", entry_points={{"a.b": ["c = d:{}"]}})\n'
    assert list_kinds("setup.py", call.format(1, "e"), call.format(2, "f")) == [
        ("default", "a.b:c"),
        ("default", "numpy"),
    ]
    config = "[options.entry_points]\nconsole_scripts =\n    vllm = vllm.main:main\n"
    assert list_kinds("setup.cfg", "", config) == [("added", "console_scripts:vllm")]


def test_the_groups_of_plugins() -> None:
    old = 'for plugin in load_plugins_by_group("vllm.stat_plugins"): ...\n'
    assert list_kinds("vllm/a.py", "", old) == [("added", "vllm.stat_plugins")]
    # a constant of another module may be meant now
    assert list_kinds("vllm/a.py", old, old.replace('"vllm.stat_plugins"', "STAT_PLUGINS_GROUP")) == []
    assert list_kinds("vllm/plugins.py", 'STAT_PLUGINS_GROUP = "vllm.stat_plugins"\n', "") == [
        ("removed", "vllm.stat_plugins")
    ]
