"""What one file, use or merge of strangers makes fail costs that one, is told as unread, and stands in the log.

No text is known that makes a reader fail, so one is planted where each loop meets it.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, NoReturn

import pytest

from impact.contract.deprecations import DeprecationLedger, update_ledger
from impact.contract.extraction import extract_contract
from impact.contract.models import ChangeKind, ContractChange, FileVersions, MergeContract
from impact.coverage import UnreadFile
from impact.errors import READING_FAILED, ImpactError, UsageError, attempt, attempt_all
from impact.history.merges import sort_merges
from impact.history.outcomes import find_outcomes
from impact.history.reverts import RevertIndex
from impact.profile.file_uses import scan_file
from impact.profile.linking import UpstreamIndex, link_profile
from impact.profile.models import DerivedClass, UseKind
from impact.profile.scan import build_profile
from impact.python.outline import build_outline
from impact.source.models import SourceFile, TreeCommit
from impact.testing.checks import check_rows
from impact.testing.touches import NOON, make_change, make_merge, make_profile, make_use
from impact.touches.breakage.explanations import Kinship
from impact.touches.breakage.suspects import SuspectRange, build_report
from impact.touches.breakage.traceback_names import parse_trace
from impact.touches.judgement import build_move, judge_both, judge_merges
from impact.touches.profile_index import ProfileIndex, find_uses
from impact.touches.upgrade import UpgradeRange, build_upgrade_plan
from tests.merges import REPOSITORY, pull

Log = pytest.LogCaptureFixture


class Trap(str):
    __slots__ = ()

    def _fail(self, *_: object) -> NoReturn:
        raise RuntimeError("planted")

    partition = rpartition = split = strip = rstrip = lower = replace = _fail  # type: ignore[assignment]


class HashTrap(Trap):
    """Fails already where it is looked up."""

    __slots__ = ()

    __hash__ = Trap._fail


class Message(str):
    """A message of a commit, whose first line fails whoever reads it."""

    __slots__ = ()

    def partition(self, _: str) -> tuple[str, str, str]:
        return Trap(self), "", ""


BAD_TEXT = HashTrap("def stop(): ...\n")
GONE, BAD = (make_change(ChangeKind.REMOVED, name) for name in ("up.a.f", HashTrap("up.a.g")))
USE, BAD_USE = (make_use(UseKind.CALL, name, call="f()") for name in ("up.a.f", Trap("up.a.g")))


def number(contract: MergeContract, at: int) -> MergeContract:
    return replace(contract, number=at, commit=f"{at:040x}", merged_at=NOON + timedelta(hours=at))


MERGES = [number(make_merge(GONE), 1), number(make_merge(BAD), 2), number(make_merge(GONE), 3)]
UNREAD = (UnreadFile("#2", READING_FAILED),)


def assert_logged(caplog: Log) -> None:
    assert any(record.exc_info and "planted" in str(record.exc_info[1]) for record in caplog.records)


def versions(*texts: str) -> list[FileVersions]:
    """Files of which all but the first line goes."""
    files = [SourceFile(f"up/f{at}.py", text) for at, text in enumerate(texts)]
    return [FileVersions(file, SourceFile(file.path, "import os\n")) for file in files]


MERGE = MergeContract(7, "a" * 40, NOON)


def test_of_a_merge_one_file_is_unread(caplog: Log) -> None:
    contract = extract_contract(MERGE, versions("def run(): ...\n", BAD_TEXT, "X = 1\n"), lambda _: None)
    assert {change.name for change in contract.changes} == {"up.f0.run", "up.f2.X"}
    assert [file.path for file in contract.unread] == ["up/f1.py"]
    assert contract.files == ("up/f0.py", "up/f1.py", "up/f2.py")
    assert_logged(caplog)


def test_a_reader_that_fails_with_one_file_leaves_the_others(caplog: Log) -> None:
    def read(path: str, text: str) -> Any:
        if path == "up/f1.py":
            raise RuntimeError("planted")
        return build_outline(path, text)

    contract = extract_contract(MERGE, versions("def run(): ...\n", "Y = 1\n", "X = 1\n"), lambda _: None, read)
    assert {change.name for change in contract.changes} == {"up.f0.run", "up.f2.X"}
    assert contract.unread == (UnreadFile("up/f1.py", READING_FAILED),)
    assert_logged(caplog)


def test_what_only_all_files_together_make_fail_leaves_all_unread(caplog: Log) -> None:
    def fail_together(items: Sequence[int]) -> list[int]:
        if len(items) > 1:
            raise RuntimeError("planted")
        return [*items]

    assert attempt_all(fail_together, [1, 2], str) == ([], [1, 2])
    assert_logged(caplog)


def test_a_file_that_fails_has_no_outline_and_no_uses(caplog: Log) -> None:
    assert build_outline("up/a.py", BAD_TEXT) is None
    assert scan_file("a.py", BAD_TEXT, ["up"]).problem == READING_FAILED
    assert scan_file("a.sh", BAD_TEXT, ["up"]).problem == READING_FAILED
    assert_logged(caplog)


def test_a_profile_is_built_without_the_file_that_fails(caplog: Log) -> None:
    good, bad = (scan_file(f"{name}.py", f"import up\nup.{name}()\n", ["up"]) for name in "fg")
    bad = replace(bad, uses=(replace(bad.uses[0], name=Trap("up.g")),))
    profile = build_profile("ours", "", "", NOON, ["up"], [good, bad])
    assert {use.path for use in profile.uses} == {"f.py"}
    assert (profile.files, profile.unread) == (2, (UnreadFile("g.py", READING_FAILED),))
    assert_logged(caplog)


def test_a_profile_is_linked_without_what_fails(caplog: Log) -> None:
    outline = build_outline("up/a.py", "def f(): ...\ndef g(): ...\n")
    derived = DerivedClass("C", "ours/c.py", 1, (Trap("up.a.C"),))
    upstream = UpstreamIndex({"up.a": outline}.get)
    linked = link_profile(make_profile([USE, BAD_USE], [derived]), upstream)
    assert [use.definitions for use in linked.uses] == [("up.a.f",), ()]
    assert {file.path for file in linked.unread} == {"ours/a.py", "ours/c.py"}
    assert_logged(caplog)


def test_a_merge_that_fails_is_unread_for_a_profile(caplog: Log) -> None:
    report = judge_merges("ours", make_profile([USE]), MERGES)
    assert [merge.number for merge in report.touching.ignore_coverage()] == [3, 1]
    assert report.touching.coverage.files == UNREAD
    assert_logged(caplog)


def test_a_merge_that_fails_is_no_suspect_and_unread(caplog: Log) -> None:
    trace = parse_trace("ImportError: cannot import name 'f' from 'up.a'")
    report = build_report(trace, SuspectRange(MERGES, {}), "", "", 5, Kinship(()))
    assert {each.number for each in report.suspects.ignore_coverage()} == {1, 3}
    assert (report.merges, len(report.suspects.coverage.files)) == (3, 1)
    assert_logged(caplog)


def test_a_plan_goes_around_the_merge_that_fails(caplog: Log) -> None:
    plan = build_upgrade_plan(UpgradeRange("a", "b", MERGES), ProfileIndex(make_profile([USE])))
    assert [work.path for work in plan.files.ignore_coverage()] == ["ours/a.py"]
    assert (plan.merges, plan.files.coverage.files) == (3, UNREAD)
    assert_logged(caplog)


def test_the_move_of_a_profile_is_told_without_the_merge_that_fails(caplog: Log) -> None:
    move = build_move(judge_both(make_profile([]), make_profile([USE]), MERGES), NOON)
    assert {hit.number for hit in move.began} == {1, 3}
    assert_logged(caplog)


def test_deprecations_are_noted_without_the_merge_that_fails(caplog: Log) -> None:
    changes = [replace(change, kind=ChangeKind.DEPRECATED) for change in (GONE, BAD)]
    merges = [number(make_merge(change), at) for at, change in enumerate(changes)]
    ledger = update_ledger(DeprecationLedger(), merges)
    assert [entry.name for entry in ledger.entries] == ["up.a.f"]
    entries = [ledger.entries[0], replace(ledger.entries[0], name=Trap("up.a.g"))]
    assert [len(each.uses) for each in find_uses(entries, ProfileIndex(make_profile([USE])))] == [1, 0]
    assert_logged(caplog)


def test_of_the_past_only_the_merge_that_fails_is_not_understood(caplog: Log) -> None:
    title = "Count the requests of each engine once"
    merges = [
        pull(1, title=title),
        pull(3, title="Fix the bug", commit_message=Trap("Fix the bug\n\nA bug.")),
        pull(2, title=f'Revert "{title}"', merged_at=NOON + timedelta(days=99)),
    ]
    assert [(each.pull.number, each.by.number) for each in find_outcomes(RevertIndex(merges))] == [(1, 2)]
    assert_logged(caplog)


def test_a_message_that_fails_is_that_of_a_direct_commit(caplog: Log) -> None:
    commits = [TreeCommit(f"{at:040x}", NOON, text) for at, text in enumerate(("One (#1)", Message("Two (#2)")))]
    merges = sort_merges(commits, REPOSITORY)
    assert ([each.number for each in merges.merges], len(merges.direct)) == ([1], 1)
    assert_logged(caplog)


@check_rows([UsageError, ImpactError])
def test_what_a_person_can_mend_is_raised(kind: type[ImpactError]) -> None:
    def refuse(*_: object) -> NoReturn:
        raise kind("The clone can't be read.")

    for run in (lambda: attempt("a", refuse), lambda: attempt_all(refuse, [1], str)):
        with pytest.raises(kind):
            run()


# --- integers without decimal text: Python refuses it from 4,300 digits on

LONG = {"hexadecimal": "0x" + "f" * 3_572, "octal": "0o" + "7" * 5_000, "binary": "0b" + "1" * 15_000}
PLACES = {
    "value": "P = {}\n",
    "annotated": "P: int = {}\n",
    "default": "def f(a, b={}): ...\n",
    "body": "def f(a):\n    return a & {}\n",
    "list": "P = [1, {}]\n",
    "list of several lines": "P = [\n    1,\n    {},\n]\n",
    "dict": "P = {{{}: 1, 'a': {}}}\n",
    "enum": "class E(enum.IntEnum):\n    A = {}\n",
    "annotation": "def f(a: Literal[{}]) -> Literal[{}]: ...\n",
    "f-string": "P = f'{{{}:x}}'\n",
    "attribute": "class A:\n    def __init__(self):\n        self.y = {}\n",
    "field": "class AConfig:\n    x: int = Field(default={}, le={})\n",
    "data class": "@dataclass\nclass A:\n    x: int = field(default={})\n",
    "flag": "p.add_argument('--x', default={}, choices=[{}])\n",
    "variable": "environment_variables = {{'UP_X': lambda: int(os.getenv('UP_X', {})), {}: 1}}\n",
    "metric": "c = Counter('up:x', 'A text.', labelnames=[{}])\n",
    "pattern": "match x:\n    case {}:\n        y = 1\n",
    "decorator": "@d({})\ndef f(): ...\n",
    "base": "class A(b({}), x={}): ...\n",
    "call": "import up\nup.f({}, a={})\n",
    "subscript": "import up\nx = up.f[{}:{}]\n",
    "lambda": "P = lambda a={}: -{}\n",
    "warning": "def f():\n    warnings.warn({}, DeprecationWarning)\n    warnings.warn(f'deprecated {{{}}}')\n",
    "op": "direct_register_custom_op('x', f, [{}])\n",
    "requirement": "setup(install_requires=['a', {}], entry_points={{'a': [{}]}})\n",
    "exports": "__all__ = ['a', {}]\n",
    "lazy name": "def __getattr__(name):\n    if name == {}:\n        return 1\n    raise AttributeError\n",
}


@check_rows(PLACES, LONG.values(), ["up/a.py", "up/envs.py", "setup.py"])
def test_a_long_integer_is_read_wherever_it_stands(text: str, literal: str, path: str) -> None:
    short, long = (text.format(*[each] * 2) for each in ("1", literal))
    assert scan_file(path, f"import up\n{long}", ["up"]).problem == ""
    for old, new in ((short, long), (long, short), (long, f"{long}\nx = 1\n"), (long, f"{long[:-1]} # so\n")):
        contract = extract_contract(
            MERGE, [FileVersions(*(SourceFile(path, each) for each in (old, new)))], no_module
        )
        assert contract.unread == ()


def no_module(_: str) -> None:
    """Know no module."""


def change_body(old: str, new: str) -> list[ContractChange]:
    texts = [SourceFile("up/a.py", f"def f(a):\n    return a & {each}\n") for each in (old, new)]
    return [*extract_contract(MERGE, [FileVersions(*texts)], no_module).changes]


@check_rows(LONG)
def test_a_long_integer_is_told_from_another(literal: str) -> None:
    assert change_body(literal, f"{literal[:-1]}0")
    assert not change_body(literal, literal.upper().replace("0X", "0x").replace("0O", "0o").replace("0B", "0b"))
