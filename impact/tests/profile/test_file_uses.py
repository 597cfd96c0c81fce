from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impact.profile.file_uses import is_test, scan_file
from impact.profile.models import Profile, UseKind
from impact.profile.scan import build_profile, list_pinned_revisions
from impact.testing.checks import check_rows
from impact.testing.touches import NOON
from tests.profile.downstream import link_tree, scan_tree

_GUARDED = "try:\n    from up.a import b\nexcept ImportError:\n    from up.c import b\n"
_VERSIONS = (
    "if up_version_is('0.1'):\n    from up.old import b\nelse:\n    from up.new import b\n"
    "if not up_version_is('0.1'):\n    import up.later\nelse:\n    import up.earlier\n"
)


@check_rows(
    [
        ("a/b.py", "def f():\n    from up.core import blocks as x\n", UseKind.IMPORT, "up.core.blocks"),
        ("a/b.py", "import importlib\nimportlib.import_module('up.core')\n", UseKind.IMPORT, "up.core"),
        ("a/b.py", "import up\nup.core.blocks.f = g\n", UseKind.PATCH, "up.core.blocks.f"),
        ("a/b.py", "from up.core import blocks\nsetattr(blocks, 'f', 1)\n", UseKind.PATCH, "up.core.blocks.f"),
        ("a/b.py", "@patch('up.core.blocks.f')\ndef g(): ...\n", UseKind.PATCH, "up.core.blocks.f"),
        ("a/b.py", "from up import S\npatch.object(S, 'm')\n", UseKind.PATCH, "up.S.m"),
        ("a/b.py", "x = 'up.core.blocks:Manager'\n", UseKind.NAMED, "up.core.blocks.Manager"),
        ("a/b.py", "x = ('up.core.blocks', 'Manager')\n", UseKind.NAMED, "up.core.blocks.Manager"),
        ("a/b.py", "from up.m import T\ndef f(x: 'T | None'):\n    x.y\n", UseKind.READ, "up.m.T.y"),
        ("a/b.py", "from up.m import T\ndef f(x):\n    assert x\n    T(x).y = 2\n", UseKind.SET, "up.m.T.y"),
        ("a/b.py", "from up.m import E\ngetattr(E, 'x', None)\n", UseKind.READ, "up.m.E.x"),
        ("a/b.py", "from up.m import deco\n@deco\nclass A: ...\n", UseKind.CALL, "up.m.deco"),
        ("a/b.py", "torch.ops.up.move(x)\n", UseKind.OP, "torch.ops.up.move"),
        ("a/b.py", "x = ['up::move']\n", UseKind.OP, "torch.ops.up.move"),
        ("a/b.py", "import os\nos.environ['UP_LEVEL'] = '1'\n", UseKind.ENVIRONMENT, "UP_LEVEL"),
        ("a/b.py", "import up.envs as e\ne.UP_LEVEL\n", UseKind.ENVIRONMENT, "UP_LEVEL"),
        ("a/b.py", "run(['up', 'serve', '--max-len=3'])\n", UseKind.FLAG, "--max-len"),
        ("a/b.py", "from up import LLM\nLLM(max_len=3)\n", UseKind.CONFIGURATION, "EngineArgs.max_len"),
        ("a/b.py", "q = 'rate(up:tokens_total[5m])'\n", UseKind.METRIC, "up:tokens"),
        ("a/b.py", "post(url, json={'model': 1, 'top_k': 2})\n", UseKind.API_FIELD, "top_k"),
        ("a/b.py", "post(host + '/v1/score')\n", UseKind.ENDPOINT, "POST /v1/score"),
        (
            "setup.py",
            "setup(entry_points={'up.general_plugins': ['a=b:c']})\n",
            UseKind.ENTRY_POINT,
            "up.general_plugins",
        ),
        ("run.sh", "UP_LEVEL=1 up serve m \\\n  --max_len 3\n", UseKind.FLAG, "--max-len"),
        ("run.sh", "export UP_LEVEL=1\n", UseKind.ENVIRONMENT, "UP_LEVEL"),
        (
            "run.sh",
            "up serve m --compilation-config '{\"mode\": 3}'\n",
            UseKind.CONFIGURATION,
            "CompilationConfig.mode",
        ),
        ("Dockerfile", "ARG UP_TAG=v0.11.2\n", UseKind.PIN, "up"),
        ("requirements.txt", "Torch_NPU==2.7\n", UseKind.PIN, "torch-npu"),
        ("chart/values.yaml", "- name: UP_LEVEL\n  value: x\n", UseKind.ENVIRONMENT, "UP_LEVEL"),
        ("board.json", '{"expr": "up_tokens_bucket"}\n', UseKind.METRIC, "up:tokens"),
        ("req.sh", "curl host/v1/completions -d '{\"prompt\": 1}'\n", UseKind.API_FIELD, "prompt"),
        (
            "pyproject.toml",
            '[project.entry-points."up.platform_plugins"]\n',
            UseKind.ENTRY_POINT,
            "up.platform_plugins",
        ),
    ]
)
def test_uses_of_each_kind_are_found(path: str, text: str, kind: UseKind, name: str) -> None:
    assert (kind, name) in {(use.kind, use.name) for use in scan_tree({path: text}).uses}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a/b.py", '"""Docs name up.core.blocks.f and UP_LEVEL."""\n'),
        ("a/b.py", "import upward\nupward.f()\n"),
        ("a/b.py", "from up.m import T\n"[:0] + "def f(x):\n    x.y()\n"),
        ("a/b.py", "parser.add_argument('--max-len')  # up serve\n"),
        ("run.sh", "# up serve --max-len 3\npip install --upgrade x\n"),
    ],
)
def test_what_only_looks_like_a_use_is_none(path: str, text: str) -> None:
    assert scan_tree({path: text}).uses == ()


def test_guards_hold_for_what_is_for_other_versions_only() -> None:
    profile = scan_tree({"a/b.py": _GUARDED + _VERSIONS})
    guarded = {use.name for use in profile.uses if use.is_guarded}
    assert guarded == {"up.a.b", "up.old.b", "up.earlier"}
    assert {"up.c.b", "up.new.b", "up.later"} <= {use.name for use in profile.uses if not use.is_guarded}


def test_none_beside_an_import_for_type_checkers_keeps_its_type() -> None:
    text = (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from up.config import UpConfig\n"
        "else:\n    UpConfig = None\ndef f(c: UpConfig):\n    return c.cache_config\n"
    )
    reads = [use.name for use in scan_tree({"a/b.py": text}).uses if use.kind is UseKind.READ]
    assert reads == ["up.config.UpConfig.cache_config"]


def test_what_a_parameter_is_called_says_nothing_of_its_type() -> None:
    text = "from up.config import UpConfig\ndef f(up_config):\n    return up_config.cache_config\n"
    assert not [use for use in scan_tree({"a/b.py": text}).uses if use.kind is UseKind.READ]


def test_a_replacement_has_its_own_signature() -> None:
    profile = link_tree({"a/b.py": "import up\ndef mine(x, y): ...\nup.helpers.move_away = mine\n"})
    (patch,) = [use for use in profile.uses if use.kind is UseKind.PATCH]
    assert patch.signature is not None
    assert [each.name for each in patch.signature.parameters] == ["x", "y"]
    assert patch.definitions == ("up.helpers.move_away",)


def test_a_name_of_two_parts_that_upstream_lacks_is_an_op() -> None:
    profile = link_tree({"a/b.py": "ops = ['up.move', 'up.config']\n"})
    assert {(use.kind, use.name) for use in profile.uses} == {
        (UseKind.OP, "torch.ops.up.move"),
        (UseKind.NAMED, "up.config"),
    }


def test_files_that_cannot_be_parsed_are_listed() -> None:
    profile = scan_tree({"a/b.py": "def (:\n", "a/deep.py": f"x = {'a.' * 3000}b\n"})
    assert profile.unread[0].path == "a/b.py"


@pytest.mark.parametrize(
    ("path", "expected"),
    [("tests/a.py", True), ("x/test_a.py", True), ("conftest.py", True), ("x/latest.py", False), ("", False)],
)
def test_tests_are_known_by_their_path(path: str, expected: bool) -> None:
    assert is_test(path) is expected


_PIECES = st.sampled_from(
    [
        *(
            "import up\n",
            "from up.m import *\n",
            "class A(A):\n ",
            "  def f(self):\n    ",
            "super().f()\n",
            "if x:\n",
        ),
        *("self.x = up.y\n", "x: up.T = 1\n", "try:\n", "lambda up: up.z\n", "(", ")", "'up.a:b'", "@up\n", "{"),
        *("up.f(*a, **k)\n", "for a, b in x.items():\n", "UP_X=", "--a-b "),
    ]
)


@given(st.lists(_PIECES, max_size=12).map("".join), st.sampled_from(["a.py", "b/c.yaml", "Dockerfile", "x.toml"]))
def test_no_text_is_too_odd(text: str, path: str) -> None:
    scan = scan_file(path, text, ("up",))
    assert scan.path == path
    link_tree({path: text})


@pytest.mark.parametrize(
    "text",
    [
        "class A(B): ...\nclass B(A):\n    def f(self):\n        self.g.h\n",
        "from a.b import x as x\nx.y.z()\n",
        "x = x.y\nx.z\n",
    ],
)
def test_circles_end(text: str) -> None:
    assert link_tree({"a/b.py": text}).uses == ()


COMMAND = (
    "echo\nup serve m \\\n  --max_len 3 \\\n  --seed 1 \\\n  --max-len 4 \\\n  --x-config \\\n  '{\"mode\": 1}'\n"
)


def test_a_flag_stands_on_its_own_line_of_a_command() -> None:
    uses = [(use.name, use.line) for use in scan_file("run.sh", COMMAND, ["up"]).uses]
    assert uses == [
        ("--max-len", 3),
        ("--seed", 4),
        ("--max-len", 5),
        ("--x-config", 6),
        # what only the whole command says stands where it begins
        ("XConfig.mode", 2),
    ]


# --- pins

FULL, SHORT = "97f2f160fd12c0ffee97f2f160fd12c0ffee1234", "97f2f160fd12"
GIT = "https://github.com/octo/engine"
PACKAGE = '[[package]]\nname = "engine"\n'


@check_rows(
    {
        "a reference of git by name": ("requirements.txt", f"engine[audio] @ git+{GIT}.git@{SHORT}", 1, SHORT),
        "a whole commit": ("requirements.txt", f"engine @ git+{GIT}@{FULL}", 1, FULL),
        "one of git with an egg": (
            "requirements.txt",
            f"-e git+{GIT}.git@v0.11.0#egg=engine[audio]",
            1,
            "v0.11.0",
        ),
        "one over SSH": ("requirements.txt", "git+ssh://git@github.com/octo/engine.git@v0.11.0", 1, "v0.11.0"),
        "an archive": ("requirements.txt", f"engine @ {GIT}/archive/refs/tags/v0.11.0.tar.gz", 1, "v0.11.0"),
        "a wheel": ("requirements.txt", "https://x.org/engine-0.11.0-cp38-abi3-linux_x86_64.whl", 1, "v0.11.0"),
        "a version with hashes": ("requirements.txt", f"engine==0.11.0 --hash=sha256:{'a' * 64}", 1, "v0.11.0"),
        "an exact version": ("requirements.txt", "engine===0.11.0", 1, "v0.11.0"),
        "a compatible version": ("constraints.txt", "engine ~= 0.11.0rc1", 1, "v0.11.0rc1"),
        "a bound": ("requirements.txt", "engine>=0.11.0", 1, ""),
        "a table in a line, by commit": (
            "pyproject.toml",
            f'engine = {{ git = "{GIT}", rev = "{SHORT}" }}',
            1,
            SHORT,
        ),
        "a table in a line, by tag": (
            "pyproject.toml",
            f'engine = {{ git = "{GIT}", tag = "v0.11.0" }}',
            1,
            "v0.11.0",
        ),
        "a branch": ("pyproject.toml", f'[tool.uv.sources.engine]\ngit = "{GIT}"\nbranch = "main"', 3, ""),
        "a table": (
            "pyproject.toml",
            f'[tool.poetry.dependencies.engine]\ngit = "{GIT}"\ntag = "v0.11.0"',
            3,
            "v0.11.0",
        ),
        "a version of Poetry": ("pyproject.toml", 'engine = "0.11.0"', 1, "v0.11.0"),
        "an image": ("Dockerfile", "FROM engine/engine-openai:v0.11.0-cu12 AS base", 1, "v0.11.0"),
        "an image of a registry": ("Dockerfile", "FROM ghcr.io/octo/engine:v0.11.0", 1, "v0.11.0"),
        "a digest": ("Dockerfile", f"FROM engine/engine-openai@sha256:{'a' * 64}", 1, ""),
        "an argument of a build": ("Dockerfile", "ARG ENGINE_VERSION=0.11.0", 1, "v0.11.0"),
        "one that is passed": ("build.sh", f"docker build --build-arg ENGINE_GIT_REF={SHORT} .", 1, SHORT),
        "an image that is run": ("run.sh", "docker run engine/engine-openai:v0.11.0 --model m", 1, "v0.11.0"),
        "a variable of make": ("Makefile", "ENGINE_TAG ?= v0.11.0", 1, "v0.11.0"),
        "Compose": ("compose.yaml", "services:\n  a:\n    image: engine/engine-openai:v0.11.0", 3, "v0.11.0"),
        "values of Helm": (
            "values.yaml",
            'image:\n  repository: "engine/engine-openai"\n  pullPolicy: Always\n  tag: "v0.11.0"\n',
            4,
            "v0.11.0",
        ),
        "Kustomize": (
            "kustomization.yaml",
            "images:\n- name: engine/engine-openai\n  newTag: v0.11.0",
            3,
            "v0.11.0",
        ),
        "the lock of uv": ("uv.lock", f'{PACKAGE}version = "0.11.0"\nsource = {{ registry = "x" }}', 3, "v0.11.0"),
        "a commit in it": ("uv.lock", f'{PACKAGE}source = {{ git = "{GIT}?rev=main#{FULL}" }}', 3, FULL),
        "the lock of PDM": (
            "pdm.lock",
            f'{PACKAGE}version = "0.11.0"\n[[package]]\nname = "x"\nversion = "1.0"',
            3,
            "v0.11.0",
        ),
        "the lock of Poetry": (
            "poetry.lock",
            f'{PACKAGE}\n[package.source]\ntype = "git"\nresolved_reference = "{FULL}"\n',
            6,
            FULL,
        ),
        "the lock of Pipenv": (
            "Pipfile.lock",
            '{"default": {\n  "engine": {\n    "hashes": ["x"],\n    "version": "==0.11.0"\n}}}',
            4,
            "v0.11.0",
        ),
        "conda": ("environment.yml", "dependencies:\n  - conda-forge::engine=0.11.0=py311_0", 2, "v0.11.0"),
        "a recipe of conda": ("meta.yaml", "run:\n  - engine 0.11.0 py311_0", 2, "v0.11.0"),
        "setup": ("setup.py", "setup(\n  install_requires=['engine[a]==0.11.0'],\n)", 2, "v0.11.0"),
        "extras of setup": (
            "setup.py",
            f"setup(extras_require={{'a': ['engine @ git+{GIT}@{SHORT}']}})",
            1,
            SHORT,
        ),
        "a list in setup": ("setup.py", "REQUIRED = [\n  'engine==0.11.0',\n] + OTHERS", 2, "v0.11.0"),
        "a text in setup": ("setup.py", 'setup(install_requires="""\nengine==0.11.0\n""")', 2, "v0.11.0"),
        "a session of nox": ("noxfile.py", "def t(s):\n  s.install('engine==0.11.0')", 2, "v0.11.0"),
        "in parentheses": ("requirements.txt", "engine (==0.11.0)", 1, "v0.11.0"),
        "a version within bounds": (
            "requirements.txt",
            "engine>=0.10,==0.11.0; python_version>'3.9'",
            1,
            "v0.11.0",
        ),
        "bounds": ("requirements.txt", "engine>=0.10,<0.12", 1, ""),
        "the bound of one of two": ("run.sh", "pip install engine>=0.10 numpy==1.2", 1, ""),
        "any patch": ("requirements.txt", "engine==0.11.*", 1, ""),
        "a commit in the lock of packaging": (
            "pylock.toml",
            f'[[packages]]\nname = "engine"\n[packages.vcs]\ncommit-id = "{FULL}"',
            4,
            FULL,
        ),
        "a clone of a tag": ("Dockerfile", f"RUN git clone --depth 1 -b v0.11.0 {GIT}.git", 1, "v0.11.0"),
        "a clone of a commit": ("Dockerfile", f"RUN git clone {GIT} && cd x && git checkout {SHORT}", 1, SHORT),
        "a source of Docker": ("Dockerfile", f"ADD {GIT}.git#v0.11.0 /src", 1, "v0.11.0"),
        "a variable of Docker": ("Dockerfile", "ENV ENGINE_VERSION 0.11.0", 1, "v0.11.0"),
        "a default": ("compose.yaml", "image: x/${ENGINE_TAG:-v0.11.0}", 1, "v0.11.0"),
        "an input of Nix": ("flake.nix", 'inputs.e.url = "github:octo/engine/v0.11.0";', 1, "v0.11.0"),
        "a source of Nix": ("default.nix", '  repo = "engine";\n  rev = "v0.11.0";', 2, "v0.11.0"),
        "Bazel": ("MODULE.bazel", f'  module_name = "engine",\n  commit = "{FULL}",', 2, FULL),
        "a file of a commit": (".github/engine-main-verified.commit", f"# of the night\n{FULL}\n", 2, FULL),
        "a file in a folder of pins": (".ci/pins/engine.txt", SHORT, 1, SHORT),
        "a commit in a folder of it": ("ci/engine/COMMIT", f"{SHORT}\n", 1, SHORT),
        "a file of a version": ("ENGINE_VERSION", "v0.11.0\n", 1, "v0.11.0"),
        "the last good one": (".buildkite/engine_lkg.version", f"{FULL}\n", 1, FULL),
        "one that names no package": ("ci/upstream.sha", FULL, 1, FULL),
        "CMake": ("CMakeLists.txt", f"  GIT_REPOSITORY {GIT}.git\n  GIT_TAG v0.11.0", 2, "v0.11.0"),
    }
)
def test_a_pin_is_one_use_and_names_a_revision(path: str, text: str, line: int, revision: str) -> None:
    [use] = [use for use in scan_file(path, text, ["engine"]).uses if use.kind is UseKind.PIN]
    assert (use.name, use.line) == ("engine", line)
    profile = build_profile("ours", "", "", NOON, ["engine"], [scan_file(path, text, ["engine"])])
    assert next(iter(list_pinned_revisions(profile, "engine")), "") == revision


@check_rows(
    [
        ("a.yaml", "query: engine:num_requests_running"),
        ("a.yaml", "name: engine\nreplicas: 3"),
        ("run.sh", "engine serve m --port 8000:80"),
        ("uv.lock", '[[package]]\nname = "engine"\n[[package]]\nname = "x"\nversion = "1.0"'),
        ("VERSION", "1.2.0"),
        ("engine_plugin/VERSION", "0.4.0"),
        ("ci/other.commit", FULL),
        ("ci/engine.commit", f"{SHORT}\n{FULL}"),
        ("ci/engine.txt", "12345678"),
    ]
)
def test_what_is_no_pin_is_none(path: str, text: str) -> None:
    assert not [use for use in scan_file(path, text, ["engine"]).uses if use.kind is UseKind.PIN]


def test_the_pin_that_most_lines_name_comes_first() -> None:
    text = "".join(f"ENGINE_REF={ref}\n" for ref in ("b" * 40, FULL, "c" * 40, FULL))
    profile = build_profile("ours", "", "", NOON, ["engine"], [scan_file("ci.sh", text, ["engine"])])
    assert list_pinned_revisions(profile, "engine") == (FULL, "b" * 40, "c" * 40)


def test_all_packages_of_a_list_in_one_line_are_pins() -> None:
    for path, text in (
        ("pyproject.toml", 'a = ["torch==2.7", "engine==0.1"]'),
        ("setup.py", "a('torch>=2', 'engine==0.1')"),
    ):
        assert {use.name for use in scan_file(path, text, ["engine"]).uses} == {"torch", "engine"}


@check_rows(
    {
        "pyproject.toml": "[project\n",
        "uv.lock": '[[package]]\nname = "engine\n',
        "Pipfile": "[packages]\nengine = ==0.11.0\n",
        "Pipfile.lock": '{"default": {',
        "setup.cfg": "install_requires =\n  engine==0.11.0\n",
        "tox.ini": "[testenv]\ndeps\n",
        "environment.yml": "dependencies: [engine\n",
        "setup.py": "setup(\n",
        "poetry.lock": "[" * 3_000,
        "requirements.txt": f"engine==0.11.0 {'#' * 5_000}",
    }.items()
)
def test_a_list_that_is_not_of_its_form_is_unread(path: str, text: str) -> None:
    assert scan_file(path, text, ["engine"]).problem in ("it can't be parsed", "a line of it is too long")
    for good in ("", "\n", "# nothing\n") if path != "Pipfile.lock" else ("{}",):
        assert not scan_file(path, good, ["engine"]).problem


@check_rows(
    {"pyproject.toml": "a." * 240_000, "setup.cfg": "[a]\na\n b\n" * 40_000, "uv.lock": "a={a=" * 90_000}.items()
)
def test_a_list_that_is_made_to_hurt_is_unread_at_once(path: str, text: str) -> None:
    before = time.thread_time()
    assert scan_file(path, text, ["engine"]).problem
    assert time.thread_time() - before < 3


# --- trees that are made to hurt


def measure_profile(*texts: str) -> tuple[float, Profile]:
    """Return the seconds of the processor in which a profile is made of files, and it."""
    before = time.thread_time()
    scans = [scan_file(f"f{at}.py", text, ["up"]) for at, text in enumerate(texts)]
    profile = build_profile("ours", "", "", NOON, ["up"], scans)
    return time.thread_time() - before, profile


CHAIN = "import up\nclass C0(up.B): ...\n"
CHAIN += "".join(f"class C{n}(C{n - 1}):\n  x{n} = 1\n" for n in range(1, 8_000))
MANY = "import up\n" + "".join(f"class B{n}(up.X{n}): ...\n" for n in range(2_000))
WIDE = "".join(f"class C{n}({', '.join(f'B{each}' for each in range(2_000))}): ...\n" for n in range(20))


@check_rows({"a chain of classes": CHAIN, "many bases": MANY + WIDE})
def test_classes_without_number_are_followed_so_far_and_told(text: str) -> None:
    seconds, profile = measure_profile(text)
    assert seconds < 8
    assert [file.path for file in profile.unread] == ["f0.py"]
    assert max(len(each.ancestors) for each in profile.classes.values()) <= 60


FIELDS, THREE = "{up.a}" * 80_000, "'" * 3


@check_rows(
    {
        "fields of one line": f"x = f'{FIELDS}'",
        "fields of many lines": "x = f" + THREE + FIELDS.replace("}", "}\n") + THREE,
        "fields in fields": f'x = f{THREE}{{f"{FIELDS}"}}{THREE}',
    }
)
def test_a_text_of_fields_without_number_is_unread(text: str) -> None:
    seconds, profile = measure_profile(f"import up\n{text}\n", "import up\nup.f()\n")
    assert seconds < 2
    assert [file.path for file in profile.unread] == ["f0.py"]
    assert [use.path for use in profile.uses] == ["f1.py", "f1.py"]


def test_json_in_python_is_read() -> None:
    data = "{" * 3_000
    assert not scan_file("a.py", f"x = '{data}'\n" * 3, ["up"]).problem
