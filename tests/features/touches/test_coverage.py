from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.dates import Span
from bot.features.digest.lead import render_catch_up, render_lead
from bot.features.digest.rules import Digest, MultiDayDigest, UnknownDay
from bot.features.digest.since import SincePage, build_stories, render_since
from bot.features.digest.thread import render_thread
from bot.features.home import LatestDigest, render_home
from bot.features.merges.outcomes import RevertIndex
from bot.features.merges.requests import DigestView, ViewLevel
from bot.features.merges.review import ReviewCoverage
from bot.features.merges.risk import Risk
from bot.features.merges.summary import Fallback, FallbackReason
from bot.features.merges.view import Entry
from bot.features.previews import PullCard, RangeCard
from bot.features.profiles.service import PinnedMerge, ProfileEntry
from bot.features.releases import ReleaseReport, render_release
from bot.features.risks.view import RiskList, render_risk_list
from bot.features.touches.contracts import ContractList
from bot.features.touches.lines import HitContext, PendingHits, render_spent
from bot.features.touches.open_pulls import OpenReport, render_open_pulls
from bot.features.touches.terminal import (
    format_contract_table,
    format_deprecations,
    format_suspects,
)
from bot.features.touches.upgrade_view import render_upgrade, render_upgrade_file, render_upgrade_post
from bot.features.touches.view import (
    render_contract_file,
    render_contract_list,
    render_deprecations,
    render_suspects,
    render_touch_list,
)
from bot.features.watches.whereabouts import Whereabouts, render_whereabouts
from bot.mcp.calls import cut_items
from bot.mcp.declaration import Item, ItemList
from bot.platform.git.tag_history import Tag
from bot.platform.github.open_pulls import OpenPulls
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.sources import CountCheck
from bot.platform.slack import terminal
from bot.platform.slack.blocks import MAX_LEAD_WORDS, Post, count_words
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
from impact.documents import (
    describe_commits,
    describe_guides,
    describe_plan,
    describe_rows,
    describe_suspects,
    describe_uses,
)
from impact.profile.models import Profile, Use, UseKind
from impact.source.models import SourceProblem
from impact.touches.breakage.suspects import Suspect, SuspectReport
from impact.touches.breakage.traceback_names import parse_trace
from impact.touches.models import JudgedCommit, MergeTouches, Touch, TouchLevel, TouchReport
from impact.touches.profile_index import UsedDeprecation
from impact.touches.spent import SpentUse
from impact.touches.upgrade import FileWork, UpgradeItem, UpgradePlan
from tests.features.touches.touched_days import contract
from tests.helpers.builders import DAY, NOON, REPOSITORY, digest, entry, failed, pull
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
PROFILE = Profile("ascend", ("up",), "octo/ascend", "d" * 40, NOON, (USE,))
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


def make_open_report(coverage: Coverage, *, is_empty: bool) -> OpenReport:
    return OpenReport("ascend", OpenPulls((pull(7),), 18), pick(HIT, coverage, is_empty=is_empty))


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


def make_pull_card(coverage: Coverage, *, is_empty: bool) -> PullCard:
    risk = None if is_empty else entry(7).risk
    return PullCard(pull(7, title="Count once"), DAY.date, "", risk, coverage=coverage)


def make_range_card(coverage: Coverage, *, is_empty: bool) -> RangeCard:
    page = make_page(COMPLETE, is_empty=is_empty)
    return RangeCard("v1", "v2", URL, replace(page, touches=make_report(coverage, is_empty=is_empty)))


def show_card(made: PullCard | RangeCard) -> str:
    return terminal.format_message(Post("", made.render()))


def make_rows(coverage: Coverage, *, is_empty: bool) -> CoveredList[Any]:
    return pick(ContractTableRow(7, CHANGE), coverage, is_empty=is_empty)


def make_commits(coverage: Coverage, *, is_empty: bool) -> CoveredList[Any]:
    return pick(JudgedCommit(HIT, MergeContract(7, "c" * 40, NOON)), coverage, is_empty=is_empty)


def make_uses(coverage: Coverage, *, is_empty: bool) -> CoveredList[Any]:
    return pick(USE, coverage, is_empty=is_empty)


def make_entries(coverage: Coverage, *, is_empty: bool) -> CoveredList[Any]:
    return pick((DeprecationState.ANNOUNCED, ENTRY), coverage, is_empty=is_empty)


def make_items(coverage: Coverage, *, is_empty: bool) -> ItemList:
    return ItemList("what touches ascend", pick(Number(number=7), coverage, is_empty=is_empty))


def make_places(coverage: Coverage, *, is_empty: bool) -> Whereabouts:
    return Whereabouts(pull(7), pick(Tag("v1.1.0", NOON), coverage, is_empty=is_empty))


def make_release(coverage: Coverage, *, is_empty: bool) -> ReleaseReport:
    pin = PinnedMerge("v1.0.0", "a" * 40, NOON)
    pulls = () if is_empty else (pull(7),)
    pending = PendingHits("v1.0.0", 1, pulls, len(pulls), 0)
    report = make_report(coverage, is_empty=is_empty)
    entry, tag = ProfileEntry("ascend", REPOSITORY, (), pin=pin), Tag("v1.1.0", NOON, "b" * 40)
    return ReleaseReport(tag, entry, pin, True, pending, report, CoveredList())


def make_spent(coverage: Coverage, *, is_empty: bool) -> CoveredList[SpentUse]:
    return pick(SpentUse(USE, "upstream's function does the same"), coverage, is_empty=is_empty)


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
        lambda made: show(render_touch_list("What touches plugin", made, HitContext.build((pull(7),), ()), {})),
    ),
    "render_release": (make_release, lambda made: show(render_release(made, "Engine", "https://github.com"))),
    "render_whereabouts": (make_places, lambda made: show(render_whereabouts(made))),
    "render_open_pulls": (make_open_report, lambda made: "\n".join(map(show, render_open_pulls(made)))),
    "render_spent": (make_spent, lambda made: show(Post("", tuple(render_spent(made, 3))))),
    "render_suspects": (make_suspects, lambda made: show(render_suspects("Engine", REPOSITORY, made))),
    "render_upgrade_post": (make_plan, lambda made: show(render_upgrade_post(made, URL))),
    "render_upgrade": (make_plan, lambda made: render_upgrade(made, URL)),
    "render_upgrade_file": (make_plan, lambda made: render_upgrade_file(made, URL).text),
    "render_risk_list": (make_risks, lambda made: show(render_risk_list(made))),
    "render_since": (make_page, lambda made: show(render_since(made))),
    "PullCard": (make_pull_card, show_card),
    "RangeCard": (make_range_card, show_card),
    "format_contract_table": (make_rows, lambda made: format_contract_table(made, 18)),
    "format_deprecations": (make_entries, format_deprecations),
    "format_suspects": (make_suspects, format_suspects),
    "describe_rows": (make_rows, lambda made: json.dumps(describe_rows(made))),
    "describe_commits": (make_commits, lambda made: json.dumps(describe_commits(made, PROFILE, "b" * 40))),
    "describe_guides": (make_commits, lambda made: json.dumps(describe_guides(made, PROFILE, {}, {}))),
    "describe_uses": (make_uses, lambda made: json.dumps(describe_uses(made, PROFILE, {}))),
    "describe_suspects": (make_suspects, lambda made: json.dumps(describe_suspects(made))),
    "describe_plan": (make_plan, lambda made: json.dumps(describe_plan(made))),
    "cut_items": (make_items, lambda made: json.dumps(cut_items(made, 0, 20))),
}

# parts that the above put behind what was not read, or that say nothing of a result
PARTS = frozenset(
    {
        "describe_nothing",
        "render_pending",
        "describe_places",
        "list_events",
        "render_touches",
        "describe_no_suspect",
        "make_title",
        "count_hits",
        "count_suspects",
        "give_advice",
        "describe_error_line",
        "sort_hits",
        "sort_deprecations",
        "list_contract_rows",
        "list_commit_rows",
        "list_guide_rows",
        "list_use_rows",
        "list_spent_rows",
        "list_judges",
        "select_rows",
    }
)
COUNT = re.compile(
    r"\b(?:\d[\d,]*|no|none) (?:of|merge|contract|change|suspect|deprecation|step|place|file|use)"
    r"|\bnothing\b|\"(?!offset)\w+\": \d",
    re.I,
)
ZERO = re.compile(r"(?<![\w.,:#/-])0 [a-z]|\"(?!offset)\w+\": 0(?![.\d])")


def assert_told_first(text: str, things: str, *, is_empty: bool) -> None:
    text = " ".join(text.replace("\\", "").split())
    start = text.index("I couldn't read ")
    assert things in text
    assert ("so I can't tell." if is_empty else "so there may be more.") in text
    assert text.count("I couldn't read ") == 1 or "Part 1" in text, "it is said once"
    assert COUNT.search(text[:start]) is None, text
    assert ZERO.search(text) is None, text
    assert not re.search(r"\bnone of|nothing|no merge", text, re.I) or not is_empty, text


@pytest.mark.parametrize("cause", CAUSES)
@pytest.mark.parametrize("name", RENDERERS)
def test_what_was_not_read_comes_before_any_count_and_no_zero_is_shown(name: str, cause: str) -> None:
    make, write = RENDERERS[name]
    part = CAUSES[cause]
    for is_empty in (True, False):
        assert_told_first(write(make(Coverage.of(part), is_empty=is_empty)), part.things, is_empty=is_empty)


# what a digest may lack, and how its sentence names that; all of its messages rest on ``Digest.coverage``
UNREAD_CHANGE = replace(contract(1), unread=(UnreadFile("up/a.py", "it is too large"),))
REVIEWS = ReviewCoverage(4, 0, "today's limit is used up")
GAPS: dict[str, tuple[str, Callable[[Digest], dict[str, Any]]]] = {
    "files": ("merges' files", lambda made: {"entries": change_each(made, lambda each: {"pull": unlist(each)})}),
    "no model": ("diffs (no model is set up)", lambda made: {"entries": change_each(made, without_model)}),
    "a model that fails": (
        "1 of 2 diffs (the model is busy)",
        lambda made: {"entries": (*change_each(made, fail_model)[:1], *made.entries[1:])},
    ),
    "reviews": ("4 of 4 merges for bugs (today's limit is used up)", lambda _: {"review_coverage": REVIEWS}),
    "a list that is cut": ("merges in GitHub's list", lambda _: {"count": CountCheck(9, "the commits of main")}),
    "a malformed record": ("merges in GitHub's list", lambda made: {"count": replace(made.count, unread=2)}),
    "no count": ("count of the merges (main gave none)", lambda _: {"count": CountCheck(None, "main")}),
    "no labels": ("labels, author or commit", lambda made: {"count": replace(made.count, incomplete=(1,))}),
    "changed files": ("changed files (a.py: it is too large)", lambda _: {"contracts": (UNREAD_CHANGE,)}),
    "what breaks": ("what breaks callers (away)", lambda _: {"missing": miss("what breaks callers")}),
    "reverts": ("what was reverted since (away)", lambda _: {"missing": miss("what was reverted since")}),
    "a profile": ("what touches ascend (away)", lambda _: {"missing": miss("what touches ascend")}),
    "an old profile": (
        "the code of ascend (away)",
        lambda made: {"touches": make_report(miss("the code of ascend"), is_empty=True)},
    ),
}


def miss(things: str) -> Coverage:
    return Coverage.of(CoveredPart(things, 1, 0, "away"))


def change_each(made: Digest, change: Callable[[Entry], dict[str, Any]]) -> tuple[Entry, ...]:
    return tuple(replace(each, **change(each)) for each in made.entries)


def unlist(each: Entry) -> PullRequest:
    return replace(each.pull, files=None)


def without_model(each: Entry) -> dict[str, Any]:
    return {"summary": replace(each.summary, fallback=Fallback(FallbackReason.NO_MODEL))}


def fail_model(each: Entry) -> dict[str, Any]:
    return {"summary": replace(each.summary, fallback=failed())}


def make_days(made: Digest, *unknown: UnknownDay) -> MultiDayDigest:
    return MultiDayDigest(SPAN, (made,), unknown)


def show_home(text: str) -> str:
    latest = LatestDigest(text, "", NOON, URL)
    return terminal.format_message(Post("", render_home([latest], [], [])))


DIGEST_RENDERERS: dict[str, Callable[[Digest], str]] = {
    "lead": lambda made: show(render_lead(made)),
    "notification": lambda made: render_lead(made).text,
    "days": lambda made: show(render_catch_up(make_days(made))),
    "notification of days": lambda made: render_catch_up(make_days(made)).text,
    "App Home": lambda made: show_home(render_lead(made).text),
    "thread": lambda made: "\n".join(f"{post.text}\n{show(post)}" for post in render_thread(made)),
}
VIEWS = [DigestView(only=only) for only in (ViewLevel.ALL, ViewLevel.RISKY, ViewLevel.BREAKING)]


@pytest.mark.parametrize("cause", GAPS)
@pytest.mark.parametrize("name", DIGEST_RENDERERS)
def test_each_message_of_a_digest_says_first_what_was_not_read(name: str, cause: str) -> None:
    things, change = GAPS[cause]
    write = DIGEST_RENDERERS[name]
    calm, risky = entry(1), replace(entry(2), risk=Risk(20, ("adds 400 lines",)))
    for view, listed in product(VIEWS, ((calm, replace(calm, pull=pull(3))), (risky, calm), ())):
        made = digest(*listed, view=view, hidden=3)
        made = replace(made, count=replace(made.count, counted=made.merged_count))
        lacking = replace(made, **change(made))
        if lacking.coverage.is_complete or (name == "thread" and not listed):
            continue
        is_empty = risky not in listed if name != "thread" else False
        is_empty = is_empty and not any(each.number == 2 for each in lacking.riskiest_entries)
        assert_told_first(write(lacking), things, is_empty=is_empty)
        if name == "lead":
            assert count_words(render_lead(lacking).blocks) <= MAX_LEAD_WORDS
        if listed or name != "thread":
            assert "couldn't read" not in write(made)


def test_days_without_a_list_come_first_too() -> None:
    whole = make_days(digest(), UnknownDay(DAY.date, "not in the sample"))
    post = render_catch_up(replace(whole, span=Span(DAY.date, DAY.date + timedelta(days=1), DAY.zone)))
    for text in (post.text, show(post)):
        assert "I couldn't read 1 of 2 days (not in the sample), so I can't tell." in " ".join(text.split())
    assert "merged" not in post.text


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
    assert takers - PARTS == RENDERERS.keys() - {"render_since", "PullCard", "RangeCard"}


def test_who_ignores_the_coverage_shows_nothing() -> None:
    places = {
        str(path.relative_to(ROOT))
        for base in ("bot", "handlers", "impact/impact")
        for path in (ROOT / base).rglob("*.py")
        if ".ignore_coverage()" in path.read_text()
    }
    assert places == {
        "bot/features/digest/lead.py",
        "bot/features/digest/overview.py",
        "bot/features/digest/rules.py",
        "bot/features/digest/service.py",
        "bot/features/releases.py",
        "bot/features/digest/since.py",
        "bot/features/risks/service.py",
        "bot/features/risks/view.py",
        "bot/features/watches/whereabouts.py",
        "bot/features/touches/open_pulls.py",
        "bot/features/touches/others.py",
        "bot/features/touches/service.py",
        "bot/features/touches/tasks.py",
        "bot/mcp/tools.py",
        "impact/impact/cli.py",
        "impact/impact/clones/upstream_reader.py",
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
