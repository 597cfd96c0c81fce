from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.dates import Span
from bot.features.digest.since import SincePage, build_stories, render_since
from bot.features.digest.thread import render_thread
from bot.features.merges.outcomes import RevertIndex
from bot.features.merges.requests import DigestView, ViewLevel
from bot.features.risks.view import RiskList, render_risk_list
from bot.features.touches.contracts import ContractList
from bot.features.touches.lines import HitContext, render_touches
from bot.features.touches.terminal import (
    format_contract_json,
    format_contract_table,
    format_deprecations,
    format_suspects,
    format_suspects_json,
)
from bot.features.touches.upgrade_view import render_upgrade, render_upgrade_file, render_upgrade_post
from bot.features.touches.view import (
    render_contract_file,
    render_contract_list,
    render_deprecations,
    render_suspects,
    render_touch_list,
)
from bot.mcp.calls import cut_items
from bot.mcp.declaration import Item, ItemList
from bot.platform.slack import terminal
from bot.platform.slack.messages import Post
from impact.contract.deprecations import Deprecation, DeprecationState
from impact.contract.models import (
    ChangeKind,
    ContractChange,
    ContractClass,
    MergeContract,
    cover_contracts,
    name_merge,
)
from impact.contract.net_changes import MergeReference, NetChange
from impact.contract.table import ContractTableRow
from impact.coverage import COMPLETE, Coverage, CoveredList, CoveredPart, UnreadFile
from impact.documents import describe_plan, describe_rows, describe_suspects, describe_touches
from impact.profile.models import Profile, Use, UseKind
from impact.source.models import SourceProblem
from impact.touches.breakage.suspects import Suspect, SuspectReport
from impact.touches.breakage.traceback_names import parse_trace
from impact.touches.deprecations import UsedDeprecation
from impact.touches.models import MergeTouches, Touch, TouchLevel, TouchReport
from impact.touches.upgrade import FileWork, UpgradeItem, UpgradePlan
from tests.helpers.builders import DAY, NOON, REPOSITORY, digest, entry, pull
from tests.helpers.world import as_read

ROOT = Path(__file__).parents[3]
SPAN = Span(DAY.date, DAY.date, DAY.zone)
CHANGE = ContractChange(ContractClass.FUNCTION, ChangeKind.REMOVED, "up.run", "def run()", "", "up/a.py", 3)
USE = Use(UseKind.CALL, "up.run", "ours/a.py", 7, "run()")
TOUCH = Touch(TouchLevel.BREAKS, CHANGE, (USE,), "`core.stop` is gone", 0.9)
HIT = MergeTouches(7, "Change", "c" * 40, TouchLevel.BREAKS, 0.9, (TOUCH,))
SUSPECT = Suspect(7, "Change", "c" * 40, NOON, 92.4, "removes it", CHANGE)
ENTRY = UsedDeprecation(Deprecation(ContractClass.FLAG, "--old", 5, "c" * 40, NOON), (USE,))
NET = NetChange(CHANGE, (MergeReference(0, 7, "c" * 40, NOON, "Change"),), ("up.run",))
URL = "https://github.com/octo/engine"
# each reason for which something may be out of reach, as the parts that say it
CAUSES = {
    "quota": CoveredPart("changed files", 68, 68, "GitHub's rate limit for this token is used up"),
    "no source": CoveredPart("changed files", 68, 68, "the demo has no source files"),
    "no mirror": CoveredPart("changed files", 3, 68, "GitHub has no commit 'c0ffee'"),
    "no list of a day": CoveredPart("days", 1, 7, "the list of that day is away"),
    "a list that is cut": CoveredPart("merges in GitHub's list", 2, 18),
    "no model": CoveredPart("merges", 5, 18, "they have no summary yet"),
    "a profile that is old": CoveredPart("the code of ascend since 2026-02-20", 1, 0, "the scan failed"),
}


class Number(Item):
    number: int


def show(post: Any) -> str:
    return as_read(post.build_payload())


def pick(thing: Any, coverage: Coverage, *, is_empty: bool) -> CoveredList[Any]:
    return CoveredList(() if is_empty else (thing,), coverage)


def make_report(coverage: Coverage, *, is_empty: bool) -> TouchReport:
    return TouchReport("ascend", 18, 412, pick(HIT, coverage, is_empty=is_empty))


def make_suspects(coverage: Coverage, *, is_empty: bool) -> SuspectReport:
    listed = pick(SUSPECT, coverage, is_empty=is_empty)
    return SuspectReport(parse_trace("KeyError: 'x'"), "yesterday", "today", 18, listed)


def make_plan(coverage: Coverage, *, is_empty: bool) -> UpgradePlan:
    work = FileWork("ours/a.py", (UpgradeItem(NET, TOUCH, (USE,)),))
    return UpgradePlan("ascend", "a" * 40, "b" * 40, 18, 412, pick(work, coverage, is_empty=is_empty))


def make_contracts(coverage: Coverage, *, is_empty: bool) -> ContractList:
    contract = MergeContract(7, "c" * 40, NOON, changes=() if is_empty else (CHANGE,))
    return ContractList("Engine", SPAN, 18, (pull(7),), CoveredList((contract,), coverage))


def make_long_contracts(coverage: Coverage, *, is_empty: bool) -> ContractList:
    changes = () if is_empty else tuple(replace(CHANGE, name=f"up.run{number}") for number in range(300))
    contract = MergeContract(7, "c" * 40, NOON, changes=changes)
    return ContractList("Engine", SPAN, 18, (pull(7),), CoveredList((contract,), coverage))


def show_contract_file(made: ContractList) -> str:
    file = render_contract_file(made)
    return file.text if file else show(render_contract_list(made))


def make_page(coverage: Coverage, *, is_empty: bool) -> SincePage:
    pulls = () if is_empty else (pull(7),)
    stories, entries = build_stories(RevertIndex(pulls)), {each.number: entry(each.number) for each in pulls}
    return SincePage("Engine", SPAN, len(pulls), stories, entries, coverage=coverage)


def make_day(coverage: Coverage, *, is_empty: bool) -> Any:
    view = DigestView(only=ViewLevel.TOUCHING, profile="ascend")
    return replace(digest(view=view), touches=make_report(coverage, is_empty=is_empty))


def join(posts: Iterable[Any]) -> str:
    return "\n".join(map(show, posts))


def make_rows(coverage: Coverage, *, is_empty: bool) -> CoveredList[Any]:
    return pick(ContractTableRow(7, CHANGE), coverage, is_empty=is_empty)


def make_entries(coverage: Coverage, *, is_empty: bool) -> CoveredList[Any]:
    return pick((DeprecationState.ANNOUNCED, ENTRY), coverage, is_empty=is_empty)


def make_items(coverage: Coverage, *, is_empty: bool) -> ItemList:
    return ItemList("what touches ascend", pick(Number(number=7), coverage, is_empty=is_empty))


def make_risks(coverage: Coverage, *, is_empty: bool) -> RiskList:
    return RiskList("Engine", SPAN, "", 18, 18, (), (), pick(entry(7), coverage, is_empty=is_empty))


# what makes the result, and what shows it, by the name of the function in the code
Renderer = tuple[Callable[..., Any], Callable[[Any], str]]
RENDERERS: dict[str, Renderer] = {
    "render_contract_list": (make_contracts, lambda made: show(render_contract_list(made))),
    "render_contract_file": (make_long_contracts, show_contract_file),
    "render_deprecations": (make_entries, lambda made: show(render_deprecations("Engine", made, URL))),
    "render_touch_list": (
        make_report,
        lambda made: show(render_touch_list("Engine", SPAN, made, (pull(7),), {})),
    ),
    "render_touches": (
        make_report,
        lambda made: terminal.format_message(Post("", tuple(render_touches(made, HitContext.build((), ()))))),
    ),
    "render_suspects": (make_suspects, lambda made: show(render_suspects("Engine", REPOSITORY, made))),
    "render_upgrade_post": (make_plan, lambda made: show(render_upgrade_post(made, URL))),
    "render_upgrade": (make_plan, lambda made: render_upgrade(made, URL)),
    "render_upgrade_file": (make_plan, lambda made: render_upgrade_file(made, URL).text),
    "render_risk_list": (make_risks, lambda made: show(render_risk_list(made))),
    "render_since": (make_page, lambda made: show(render_since(made))),
    "render_thread": (make_day, lambda made: join(render_thread(made))),
    "format_contract_table": (make_rows, lambda made: format_contract_table(made, 18)),
    "format_contract_json": (make_rows, format_contract_json),
    "format_deprecations": (make_entries, format_deprecations),
    "format_suspects": (make_suspects, format_suspects),
    "format_suspects_json": (make_suspects, format_suspects_json),
    "describe_rows": (make_rows, lambda made: json.dumps(describe_rows(made))),
    "describe_touches": (make_report, lambda made: json.dumps(describe_touches(made))),
    "describe_suspects": (make_suspects, lambda made: json.dumps(describe_suspects(made))),
    "describe_plan": (make_plan, lambda made: json.dumps(describe_plan(made))),
    "cut_items": (make_items, lambda made: json.dumps(cut_items(made, 0, 20))),
}

# parts that the above put behind what was not read, or that say nothing of a result
PARTS = frozenset(
    {
        "describe_nothing",
        "describe_no_suspect",
        "make_title",
        "count_suspects",
        "give_advice",
        "describe_error_line",
        "sort_hits",
        "sort_deprecations",
        "list_contract_rows",
        "select_rows",
    }
)
COUNT = re.compile(
    r"\b(?:\d[\d,]*|no|none) (?:of|merge|contract|change|suspect|deprecation|step|place|file|use)"
    r"|\bnothing\b|\"(?!offset)\w+\": \d",
    re.I,
)
ZERO = re.compile(r"(?<![\w.,:#/-])0 [a-z]|\"(?!offset)\w+\": 0(?![.\d])")


@pytest.mark.parametrize("cause", CAUSES)
@pytest.mark.parametrize("name", RENDERERS)
def test_what_was_not_read_comes_before_any_count_and_no_zero_is_shown(name: str, cause: str) -> None:
    make, write = RENDERERS[name]
    part = CAUSES[cause]
    for is_empty, follows in ((True, "so I can't tell."), (False, "so there may be more.")):
        text = write(make(Coverage.of(part), is_empty=is_empty)).replace("\\", "")
        start = text.index("I couldn't read ")
        assert part.things in text
        assert follows in text
        assert COUNT.search(text[:start]) is None, text
        assert ZERO.search(text) is None, text
        assert not re.search(r"\bnone of|nothing|no merge", text, re.I) or not is_empty, text


@pytest.mark.parametrize("name", RENDERERS)
def test_where_all_was_read_nothing_of_that_is_said(name: str) -> None:
    make, write = RENDERERS[name]
    for is_empty in (True, False):
        assert "couldn't read" not in write(make(COMPLETE, is_empty=is_empty))


def read_modules() -> Iterator[ast.Module]:
    for base in ("bot", "handlers", "impact/impact"):
        for path in sorted((ROOT / base).rglob("*.py")):
            yield ast.parse(path.read_text())


def list_names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def list_carriers(modules: Sequence[ast.Module]) -> set[str]:
    return {"CoveredList"} | {
        node.name
        for module in modules
        for node in ast.walk(module)
        if isinstance(node, ast.ClassDef)
        for field in node.body
        if isinstance(field, ast.AnnAssign) and "CoveredList" in list_names(field.annotation)
    }


def test_each_function_that_shows_such_a_result_is_among_these() -> None:
    modules = [*read_modules()]
    carriers = list_carriers(modules)
    assert carriers >= {"TouchReport", "SuspectReport", "UpgradePlan", "ContractList", "ItemList"}
    takers = {
        node.name
        for module in modules
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
        if any(each.annotation and carriers & list_names(each.annotation) for each in node.args.args)
    }
    assert takers - PARTS == RENDERERS.keys() - {"render_since", "render_thread"}


def test_who_ignores_the_coverage_shows_nothing() -> None:
    places = {
        str(path.relative_to(ROOT))
        for base in ("bot", "handlers", "impact/impact")
        for path in (ROOT / base).rglob("*.py")
        if ".ignore_coverage()" in path.read_text()
    }
    assert places == {
        "bot/features/digest/rules.py",
        "bot/features/digest/service.py",
        "bot/features/risks/service.py",
        "bot/features/risks/view.py",
        "bot/features/touches/service.py",
        "bot/features/touches/tasks.py",
        "impact/impact/touches/upgrade.py",
    }


def test_a_list_with_its_coverage_has_no_truth_of_its_own() -> None:
    with pytest.raises(TypeError, match="is_empty"):
        bool(CoveredList((1,)))


counts = st.builds(
    CoveredPart,
    st.sampled_from(("days", "merges", "changed files")),
    st.integers(0, 9),
    st.integers(9, 99),
    st.sampled_from(("", "it is away", "x" * 900, "a\nb")),
)


@given(st.lists(counts, max_size=6), st.lists(counts, max_size=6))
def test_coverages_add_up(first: list[CoveredPart], second: list[CoveredPart]) -> None:
    one, two = (sum(map(Coverage.of, parts), COMPLETE) for parts in (first, second))
    whole = one + two
    assert sum(part.unread for part in whole.parts) == sum(part.unread for part in (*first, *second))
    assert whole.is_complete == (one.is_complete and two.is_complete)
    sentence = whole.explain_gaps(is_empty=True)
    assert bool(sentence) is not whole.is_complete
    assert len(sentence) < 1_000
    assert "\n" not in sentence
    assert [part.things for part in whole.parts] == [*dict.fromkeys(part.things for part in whole.parts)]


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        (
            [(path, "the demo has no source files") for path in ("a.py", "b.py")],
            "2 of 3 changed files (the demo has no source files)",
        ),
        ([("up/a.py", "it is too large")], "1 of 2 changed files (a.py: it is too large)"),
        ([("a.py", "it is too large"), ("b.py", "it is a folder")], "(a.py: it is too large, among others)"),
        ([("#7", "their changed files could not be listed")], "1 of 1 merges (their changed files could not"),
        ([("a.py", "this version of Python can't parse it")], "1 of 2 changed files (this version of Python"),
    ],
)
def test_why_files_were_not_read_is_said(files: list[tuple[str, str]], sentence: str) -> None:
    unread = tuple(UnreadFile(*file) for file in files)
    coverage = cover_contracts([MergeContract(7, "c" * 40, NOON, files=("read.py",), unread=unread)])
    assert sentence in coverage.explain_gaps(is_empty=True)


def test_files_without_text_are_not_missed() -> None:
    unread = (UnreadFile("a.png", str(SourceProblem.BINARY)), UnreadFile("link", str(SourceProblem.SYMLINK)))
    assert cover_contracts([MergeContract(7, "c" * 40, NOON, unread=unread)]).is_complete
    unlisted = (UnreadFile(name_merge(7), "x"),)
    assert not cover_contracts([MergeContract(7, "c" * 40, NOON, unread=unlisted)]).is_complete
    assert Profile("ours", ("up",), "", "", NOON, unread=unread).coverage.is_complete
