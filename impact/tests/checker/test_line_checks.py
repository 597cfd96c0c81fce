"""The real checker over commits of a made-up upstream: what it finds, and what hostile trees can't make it do."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from impact.checker.diagnostics import CheckedMerges, CheckerError, Finding, parse_output
from impact.checker.program import CheckerFailed, run_program
from impact.clones.kept_readings import KeptReadings
from impact.clones.line_checks import CheckedStates, check_line, replace_getattr
from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract
from impact.git.clone_trees import open_clone_trees
from impact.profile.models import UseKind
from impact.source.models import SourceFile
from impact.testing.checks import check_rows
from impact.testing.clones import building, needs_checker, needs_git

pytestmark = needs_git

NOW = datetime(2026, 1, 1, tzinfo=UTC)

BASE = "from abc import ABC, abstractmethod\n\n\nclass Base(ABC):\n"
LAZY = "_NAMES = {'run': 'a', 'halt': 'b'}\n\n\ndef __getattr__(name):\n    if name in _NAMES:\n        return 1\n"
# upstream before and after, the team's code, and the lines of it that fail only after
ROWS: dict[str, tuple[str, str, str, set[int]]] = {
    "gone": ("def f(): ...\n", "", "from engine.gone import f\n", {1}),
    "ignored": ("def f(): ...\n", "", "from engine.ignored import f  # type: ignore # pyrefly: ignore\n", {1}),
    "switched_off": ("def f(): ...\n", "", "# pyrefly: ignore-errors\nfrom engine.switched_off import f\n", {2}),
    "attribute": ("x = 1\n", "", "from engine import attribute\n\nprint(\n    attribute.x,\n)\n", {4}),
    "argument": (
        "def f(a): ...\n",
        "def f(a, b): ...\n",
        "from engine.argument import f\n\n\nf(\n    1,\n)\n",
        {4},
    ),
    "keyword": ("def f(a): ...\n", "def f(b): ...\n", "from engine.keyword import f\n\n\nf(a=1)\n", {4}),
    "optional": ("def f(a): ...\n", "def f(a, b=1): ...\n", "from engine.optional import f\n\n\nf(1)\n", set()),
    "other_types": (
        "def f(a: int): ...\n",
        "def f(a: str): ...\n",
        "from engine.other_types import f\nf(1)\n",
        set(),
    ),
    "tuple": (
        "def f(): return 1, 2\n",
        "def f(): return 1, 2, 3\n",
        "from engine.tuple import f\na, b = f()\n",
        {2},
    ),
    "coroutine": ("def f(): ...\n", "async def f(): ...\n", "from engine.coroutine import f\nf()\n", {2}),
    "awaited": (
        "def f(): return 1\n",
        "async def f(): return 1\n",
        "from engine.awaited import f\nf() + 1\n",
        {2},
    ),
    "failed_before": (
        "def f(): ...\n",
        "def f(*, a): ...\n",
        "from engine.failed_before import f\nf(1)\n",
        set(),
    ),
    "context": (
        "class C:\n    def __enter__(self): ...\n    def __exit__(self, *_): ...\n",
        "class C: ...\n",
        "from engine.context import C\nwith C(): ...\n",
        {2},
    ),
    "setter": (
        "class C:\n    x = 1\n",
        "class C:\n    @property\n    def x(self): return 1\n",
        "from engine.setter import C\nC().x = 2\n",
        {2},
    ),
    "override": (
        f"{BASE}    def run(self, a): ...\n",
        f"{BASE}    def run(self, a, b): ...\n",
        "from engine.override import Base\nclass Ours(Base):\n    def run(self, a): ...\n",
        {3},
    ),
    "override_types": (
        f"{BASE}    def run(self, a: int) -> int: ...\n",
        f"{BASE}    def run(self, a: str) -> str: ...\n",
        "from engine.override_types import Base\nclass Ours(Base):\n    def run(self, a: int) -> int: ...\n",
        set(),
    ),
    # it did not fit before, and does not fit in another way
    "override_again": (
        f"{BASE}    def run(self, a, b): ...\n",
        f"{BASE}    def run(self, a, b, c): ...\n",
        "from engine.override_again import Base\nclass Ours(Base):\n    def run(self, a): ...\n",
        {3},
    ),
    "overrides_nothing": (
        f"{BASE}    def run(self): ...\n    def stop(self): ...\n",
        f"{BASE}    def stop(self): ...\n",
        "from engine.overrides_nothing import *\nclass Ours(Base):\n    def run(self): ...\n    def stop(self): 0",
        {3},
    ),
    "abstract": (
        f"{BASE}    def run(self): ...\n",
        f"{BASE}    def run(self): ...\n    @abstractmethod\n    def must(self): ...\n",
        "from engine.abstract import Base\nclass Ours(Base):\n    def run(self): ...\n",
        {2},
    ),
    "replaced": (
        "def f(a): ...\n",
        "def f(a, b): ...\n",
        "import engine.replaced as m\ndef ours(a): ...\nm.f = ours\n",
        {3},
    ),
    "mocked": ("def f(): ...\n", "", "from unittest import mock\nmock.patch('engine.mocked.f')\n", {2}),
    "lazy": (LAZY, LAZY.replace(", 'halt': 'b'", ""), "from engine.lazy import run, halt\n", {1}),
    "unparsed": ("def f(): ...\n", "", "from engine.unparsed import f\nprint 1\n", {1}),
    "before": ("", "x = 1\n", "from engine.before import gone_before\n", set()),
}


def build(folder: Path, *states: dict[str, bytes]) -> list[str]:
    """Write a clone with a commit for each state, and return their hashes."""
    with building(folder) as builder:
        marks = [builder.commit(f"State (#{at})", files) for at, files in enumerate(states, 1)]
        return [builder.sha(mark) for mark in marks]


@needs_checker
@pytest.mark.slow
def test_only_what_fails_from_a_merge_on_is_found(tmp_path: Path) -> None:
    start = {"engine/__init__.py": b""}
    old = {f"engine/{name}.py": row[0].encode() for name, row in ROWS.items()}
    new = {f"engine/{name}.py": row[1].encode() for name, row in ROWS.items()}
    before, after = build(tmp_path / "engine", start | old, new)
    team = [SourceFile(f"src/team/{name}.py", row[2]) for name, row in ROWS.items()]
    with open_clone_trees(tmp_path / "engine") as upstream:
        findings = check_line(upstream, team, ("engine",), [before, after], (), {}).findings[after]
        assert check_line(upstream, team, ("engine",), [after, after], (), {}).findings == {}
        assert check_line(upstream, [], ("engine",), [before, after], (), {}).findings == {}
    lines = {name: {each.use.line for each in _of(findings, name)} for name in ROWS}
    assert lines == {name: row[3] for name, row in ROWS.items()}
    argument = _of(findings, "argument")[0]
    assert (argument.use.kind, argument.use.name, argument.use.text) == (UseKind.CALL, "engine.argument.f", "f(")
    assert _of(findings, "overrides_nothing")[0].message == "`Ours.run` overrides nothing any more"
    assert _of(findings, "gone")[0].use.name == "engine.gone.f"


def _of(findings: tuple[Finding, ...], name: str) -> list[Finding]:
    return [each for each in findings if each.use.path == f"src/team/{name}.py"]


@needs_checker
@pytest.mark.slow
def test_of_a_way_only_what_is_left_at_its_end_is_found_with_the_merge_that_began_it(tmp_path: Path) -> None:
    commits = build_line(tmp_path)
    with open_clone_trees(tmp_path / "engine") as upstream:
        checked = check_line(upstream, TEAM, ("engine",), commits, (), {})
        # the second is not so at the end, the third is not so, and the last but one is known
        doubts = {commits[at]: {("ours.py", 1)} for at in (1, 2, 4)} | {commits[5]: {("elsewhere.py", 1)}}
        doubted = check_line(upstream, TEAM, ("engine",), commits, (), doubts)
        # it went in the second and the last but one; nothing says that it came back
        suspected = check_line(upstream, TEAM, ("engine",), commits, remove_g(commits, 1, 4), {})
        known = check_line(upstream, TEAM, ("engine",), commits, remove_g(commits, 4), {})
    assert list(checked.findings) == [commits[4]]
    assert checked.paths == {"ours.py", "other.py", "quiet.py"}
    assert not checked.looked
    assert checked.sentence == "A type checker judged beside the rules, in 3 of your files."
    # both ends, and the one file of the finding at three commits in between
    assert checked.checks <= 5
    assert (suspected.findings, suspected.checks) == (checked.findings, 3)
    assert (known.findings, known.checks) == (checked.findings, 2)
    assert doubted.looked == {commits[1]: {"ours.py"}, commits[2]: {"ours.py"}}
    assert {commit: [each.use.path for each in some] for commit, some in doubted.findings.items()} == {
        commits[1]: ["ours.py"],
        commits[4]: ["ours.py"],
    }
    assert doubted.findings[commits[4]] == checked.findings[commits[4]]


@needs_checker
@pytest.mark.slow
def test_each_name_of_a_line_that_imports_several_went_with_its_own_merge(tmp_path: Path) -> None:
    texts = [HERE, HERE + b"x = 1\n", AWAY, AWAY + b"y = 1\n", b"y = 1\n"]
    commits = build(tmp_path / "engine", *({"engine/__init__.py": b"", "engine/a.py": text} for text in texts))
    with open_clone_trees(tmp_path / "engine") as upstream:
        findings = check_line(upstream, TEAM[:1], ("engine",), commits, (), {}).findings
    names = {commit: [each.use.name for each in some] for commit, some in findings.items()}
    assert names == {commits[2]: ["engine.a.g"], commits[4]: ["engine.a.f"]}


def remove_g(commits: Sequence[str], *places: int) -> list[MergeContract]:
    """Return the contracts of merges that remove a function, and of two that change another, or its body alone."""
    others = {0: ("other.g", ChangeKind.REMOVED), 3: ("engine.a.g", ChangeKind.BEHAVIOUR)}
    kinds = others | dict.fromkeys(places, ("engine.a.g", ChangeKind.REMOVED))
    changes = (
        (at, ContractChange(ContractClass.FUNCTION, kind, name, "", "", "engine/a.py", 1))
        for at, (name, kind) in kinds.items()
    )
    return [MergeContract(at, commits[at], NOW, changes=(change,)) for at, change in changes]


HERE, AWAY = b"def f(): ...\ndef g(): ...\n", b"def f(): ...\n"
TEAM = [
    SourceFile("ours.py", "from engine.a import f, g\n"),
    SourceFile("other.py", "from engine.a import f\n"),
    SourceFile("quiet.py", ""),
]


def build_line(folder: Path) -> list[str]:
    """Write a clone where a function goes, comes back and goes for good."""
    texts = [HERE, AWAY, HERE, HERE + b"x = 1\n", AWAY, AWAY + b"y = 1\n"]
    return build(folder / "engine", *({"engine/__init__.py": b"", "engine/a.py": text} for text in texts))


@needs_checker
@pytest.mark.slow
def test_a_line_is_checked_once_and_again_when_anything_is_different(tmp_path: Path) -> None:
    commits, kept = build_line(tmp_path), KeptReadings(tmp_path / "kept")
    moved = [replace(TEAM[0], path="theirs.py"), *TEAM[1:]]

    def check(
        team: Sequence[SourceFile] = TEAM, packages: tuple[str, ...] = ("engine",), line: Sequence[str] = commits
    ) -> CheckedMerges:
        with open_clone_trees(tmp_path / "engine") as upstream:
            return check_line(upstream, team, packages, line, (), {}, kept)

    first, again = check(), check()
    assert (first.checks > 0, again.checks, again) == (True, 0, first)
    # the end is known, and of the one before it the file with the finding
    assert check(line=commits[4:]).checks == 1

    @check_rows(
        {
            "a text of the team": ({"team": [replace(TEAM[0], text="from engine.a import g\n"), *TEAM[1:]]}, 4),
            "a path of the team": ({"team": moved}, 4),
            "a file less": ({"team": TEAM[:2]}, 4),
            "the packages": ({"packages": ("engine", "other")}, 4),
            "upstream at the end": ({"line": commits[:3]}, None),
        }
    )
    def check_again(options: dict[str, Any], broken_at: int | None) -> None:
        other, same = check(**options), check(**options)
        assert (other.checks > 0 or options.keys() == {"line"}, same.checks, same) == (True, 0, other)
        assert list(other.findings) == ([] if broken_at is None else [commits[broken_at]])

    check_again()


@needs_checker
@pytest.mark.slow
def test_nothing_of_a_hostile_tree_is_run_or_obeyed_or_written_elsewhere(tmp_path: Path) -> None:
    harm = f"open({str(tmp_path / 'harm')!r}, 'w')\n"
    upstream_files = {
        "engine/__init__.py": harm.encode(),
        "engine/link.py": b"/etc/hostname",
        "engine/pyrefly.toml": b"project-excludes = ['**']\n",
        "pyproject.toml": b"[tool.pyrefly]\nproject-excludes = ['**']\n",
        "engine/sitecustomize.py": harm.encode(),
        "engine/deep/" + "a" * 300 + ".py": b"",
        "engine/a.py": b"def f(): ...\n",
    }
    with building(tmp_path / "engine") as builder:
        first = builder.sha(builder.commit("Begin", upstream_files, modes={"engine/link.py": "120000"}))
        last = builder.sha(builder.commit("Drop (#1)", {"engine/a.py": b""}))
    nested = "(" * 5_000 + ")" * 5_000
    team = [
        SourceFile("pyrefly.toml", "project-excludes = ['**']\n"),
        SourceFile("conftest.py", harm),
        SourceFile("../../outside.py", harm),
        SourceFile("/absolute.py", harm),
        SourceFile("-rf.py", harm),
        SourceFile("engine/a.py", "def f(): ...\n"),
        SourceFile("a" * 5_000 + ".py", harm),
        SourceFile("team/nested.py", f"x = {nested}\n"),
        SourceFile("team/odd.py", "x = '\ud800'\n"),
        SourceFile("team/ours.py", "from engine.a import f\n"),
        SourceFile("scripts/run-it.py", "from engine.a import f\n"),
    ]
    with open_clone_trees(tmp_path / "engine") as upstream, CheckedStates(upstream, team, ("engine",)) as states:
        findings = states.check_line([first, last], (), {}).findings[last]
        folder = states._trees[0].folder
        written = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    assert {each.use.path for each in findings} == {"team/ours.py", "scripts/run-it.py"}
    assert not any("link" in path for path in written)
    assert all(path.endswith(".py") or path == "settings.toml" for path in written)
    assert not folder.exists()
    assert not (tmp_path / "harm").exists()


ROW = {"name": "a-new-kind", "path": "a.py", "line": 1, "description": "", "concise_description": ""}


@check_rows(
    {
        "another kind": (json.dumps({"errors": [ROW]}).encode(), "unknown kind 'a-new-kind'"),
        "no JSON": (b"Segmentation fault", "no list of diagnostics"),
        "another form": (b'{"errors": [{"name": "bad-override"}]}', "no list of diagnostics"),
        "a list": (b"[]", "no list of diagnostics"),
        "too deep": (b"[" * 100_000, "no list of diagnostics"),
    }
)
def test_what_is_not_of_the_pinned_version_is_refused(output: bytes, words: str) -> None:
    with pytest.raises(CheckerError, match=words):
        parse_output(output)


def test_a_checker_that_takes_too_much_is_ended(tmp_path: Path) -> None:
    (tmp_path / "team").mkdir()

    @check_rows(
        {
            "time": ("import time; time.sleep(60)", "took too long"),
            "memory": ("try: b'x' * (8 << 30)\nexcept MemoryError: raise SystemExit(9)", "ended with status 9"),
            "output": ("import os\nwhile True: os.write(1, b'x' * (1 << 20))", "gave too much"),
            "a crash": ("import os; os.abort()", "ended with status"),
        }
    )
    def check(code: str, words: str) -> None:
        program = tmp_path / "program"
        program.write_text(f"#!{sys.executable}\n{code}\n")
        program.chmod(0o700)
        with pytest.raises(CheckerFailed, match=words):
            run_program(program, tmp_path, seconds=5)

    check()


def test_without_the_checker_the_rules_judge_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commits = build(tmp_path / "engine", {"engine/__init__.py": b""}, {"engine/__init__.py": b"x = 1\n"})

    @check_rows(
        {
            "none": ("", "the type checker is not installed"),
            "another version": ("pyrefly-0.1.dist-info", "pyrefly 0.1 is installed in place of 1.4.1"),
        }
    )
    def check(package: str, reason: str) -> None:
        place = tmp_path / (package or "nothing")
        (place / package).mkdir(parents=True)
        if package:
            (place / package / "METADATA").write_text("Metadata-Version: 2.1\nName: pyrefly\nVersion: 0.1\n")
        with monkeypatch.context() as patch, open_clone_trees(tmp_path / "engine") as upstream:
            patch.setattr(sys, "path", [str(place)])
            checked = check_line(upstream, [], ("engine",), commits, (), {})
        assert checked == CheckedMerges(alone=reason)
        assert checked.sentence == f"The rules judged alone: {reason}."
        assert checked.get_witness(commits[1]) is None

    check()


def test_a_module_that_gives_names_when_asked_has_those_that_it_names() -> None:
    text = replace_getattr(SourceFile("engine/lazy.py", LAZY))
    assert "__getattr__" not in text
    assert text.endswith("halt: _typing.Any\nrun: _typing.Any\n")
    any_name = "def __getattr__(name):\n    return name\n"
    assert replace_getattr(SourceFile("engine/lazy.py", any_name)) == any_name
