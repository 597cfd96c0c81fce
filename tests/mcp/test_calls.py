import json
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NoReturn

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.app import App
from bot.dates import LocalDay
from bot.errors import StoreUnavailable, UsageError
from bot.features.profiles.service import ProfileEntry, Profiles
from bot.features.questions.reading import ReadingSession
from bot.features.touches.team_history import SPENT, KeptSpent, name_spent
from bot.mcp.calls import (
    AgentTools,
    CallResult,
    ItemPage,
    KeptResults,
    build_page_schema,
    cut_items,
    cut_text,
    parse_arguments,
    read_report,
)
from bot.mcp.declaration import Item, ItemList, TextPage, Tool
from bot.mcp.tools import TOOLS
from bot.platform import deadlines
from bot.platform.costs import RateLimiter
from bot.platform.deadlines import ShutdownSignal
from bot.platform.models.tools import build_tool_schema
from bot.platform.pulls.sources import DayMerges, PullRequests
from bot.platform.store.connection import connect_server
from impact.coverage import CoveredList
from impact.profile.models import Profile
from impact.repository import Repository
from impact.touches.spent import SpentUse
from tests.emulators.github.store import sha
from tests.helpers.agents import AgentWorld, make_tools, open_base
from tests.helpers.checks import is_one_sentence
from tests.mcp.test_transports import CALLS

pytestmark = pytest.mark.slow


class NumberItem(Item):
    number: int


PAGES = jsonschema.Draft202012Validator(ItemPage[NumberItem].model_json_schema())


def call(tools: AgentTools, tool: str, /, **arguments: Any) -> CallResult:
    return tools.call_tool(tool, arguments, ShutdownSignal())


class Never(RateLimiter):
    """A limiter that lets nobody through."""

    def __init__(self) -> None:
        """It has no store."""

    def try_acquire(self, name: str) -> bool:
        assert name == "mcp:test"
        return False


class Away(RateLimiter):
    def __init__(self) -> None:
        """It has no store."""

    def try_acquire(self, name: str) -> bool:
        raise StoreUnavailable("The store on 10.0.0.5 does not answer.")


class TestRefusals:
    @pytest.mark.parametrize(
        ("name", "arguments"),
        [
            ("no such tool", {}),
            ("x" * 10_000, {}),
            ("pull_request", {}),
            ("pull_request", {"number": "one"}),
            ("pull_request", {"number": 0}),
            ("pull_request", {"number": 1, "unknown": True}),
            ("pull_request", {"number": 99}),
            ("list_pull_requests", {"days": "someday"}),
            ("list_pull_requests", {"days": "400d"}),
            ("list_pull_requests", {"repository": "not a name"}),
            ("list_pull_requests", {"offset": 10_000_000}),
            ("contract_changes", {"days": "7d", "offset": 1_000}),
            ("contract_changes", {"days": "32d"}),
            ("contract_changes", {"number": 99}),
            ("outcomes", {"number": 99}),
            ("suspects", {"since": "7d", "traceback": " "}),
            ("suspects", {"since": "2020-01-01", "traceback": "TypeError: x"}),
            ("suspects", {"since": "abcdef1", "traceback": "TypeError: x"}),
            ("file_at_commit", {"commit": "HEAD", "path": "README.md"}),
            ("touches", {"profile": "nobody"}),
            ("touches", {"profile": "../x"}),
            ("upgrade_plan", {"start": "--upload-pack=x"}),
            ("day_report", {"days": "60d"}),
            ("judge_commits", {}),
            ("judge_commits", {"range": "v1..HEAD", "commits": ["c0ffee1"]}),
            ("judge_commits", {"range": "HEAD..HEAD"}),
            ("judge_commits", {"range": "HEAD..2025-01-05"}),
            ("judge_commits", {"range": "--upload-pack=x..HEAD"}),
            ("judge_commits", {"range": "2025-01-05..HEAD", "at": "c0ffee1"}),
            ("judge_commits", {"commits": ["c0ffee1"]}),
            ("judge_commits", {"commits": ["HEAD"]}),
            ("judge_commits", {"commits": [f"{number:040x}" for number in range(501)]}),
            ("judge_commits", {"range": "2025-01-05..HEAD", "downstream": "../engine"}),
            ("judge_commits", {"range": "2025-01-05..HEAD", "upstream": "/etc"}),
            ("commit_guide", {"commit": "c0ffee1"}),
            ("uses_by_kind", {"kinds": ["no such kind"]}),
        ],
    )
    def test_a_mistake_is_one_sentence(self, tools: AgentTools, name: str, arguments: dict[str, Any]) -> None:
        result = call(tools, name, **arguments)
        assert result.is_error
        assert is_one_sentence(result.text), result.text
        assert len(result.text) <= 600

    @pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
    def test_null_counts_as_omitted(self, tool: Tool) -> None:
        """As strict clients send it for each argument that a model leaves out."""
        arguments, _ = CALLS[tool.name]
        plain = {name: "7d" if value == "DAY" else value for name, value in arguments.items()}
        omitted = {name: None for name in tool.arguments.model_fields if name not in plain}
        assert omitted
        assert parse_arguments(tool, {**omitted, **plain}) == parse_arguments(tool, plain)

    @pytest.mark.parametrize(
        ("name", "arguments", "sentence"),
        [
            ("pull_request", {"number": None}, "'number' – field required"),  # noqa: RUF001 (a dash)
            ("search", {"any_of": ["x", None]}, "'any_of.1' – null is no value here: leave it out"),  # noqa: RUF001
            ("pull_request", {"number": 1, "unknown": None}, "'unknown' – "),  # noqa: RUF001
        ],
    )
    def test_null_where_a_value_has_to_be_is_named(
        self, tools: AgentTools, name: str, arguments: dict[str, Any], sentence: str
    ) -> None:
        result = call(tools, name, **arguments)
        assert (result.is_error, is_one_sentence(result.text)) == (True, True)
        assert sentence in result.text.replace("\u2018", "'").replace("\u2019", "'")

    def test_who_calls_too_often_waits(self, app: App) -> None:
        tools = make_tools(app, Never())
        assert call(tools, "list_pull_requests") == CallResult(
            "Too many requests: wait a minute, then ask again.", is_error=True
        )
        report = read_report(tools, "prdigest://reports/a/b/2026-01-01", ShutdownSignal())
        assert report.is_error

    def test_calls_are_counted_in_the_store(self, there: AgentWorld) -> None:
        with open_base({**there.settings, "PRDIGEST_MCP_CALLS": "2"}) as app:
            tools = AgentTools(app, "two-a-minute", lambda: 0.0, lambda: "id")
            results = [call(tools, "outcomes", number=2).is_error for _ in range(4)]
        assert results == [False, False, True, True]

    def test_an_absent_store_is_a_sentence_with_a_code(self, app: App) -> None:
        result = call(make_tools(app, Away()), "outcomes", number=2)
        assert result == CallResult(
            "I can't accept requests right now: try again in a minute. [0badc0de]", is_error=True
        )

    def test_a_defect_is_a_sentence_with_a_code(self, app: App, caplog: pytest.LogCaptureFixture) -> None:
        def fail(session: ReadingSession, arguments: TextPage) -> str:
            raise ZeroDivisionError("secret detail")

        broken = Tool("broken", "Broken", "Fail.", TextPage, fail)
        result = call(AgentTools(app, "test", lambda: 0.0, lambda: "c0de", (broken,)), "broken")
        assert result.is_error
        assert "[c0de]" in result.text
        assert "secret detail" not in result.text
        assert "a defect in the tool broken" in caplog.text

    def test_a_call_ends_with_its_process(self, tools: AgentTools) -> None:
        ending = ShutdownSignal()
        ending.trigger()
        result = tools.call_tool("list_pull_requests", {"days": "7d"}, ending)
        assert (result.is_error, is_one_sentence(result.text)) == (True, True)

    def test_many_arguments_are_refused_before_they_are_read(self, tools: AgentTools) -> None:
        huge = "x" * 50_000
        assert "too many" in call(tools, "search", any_of=[huge]).text
        assert "too many" in call(tools, "suspects", since="7d", traceback=huge * 3).text
        assert not call(tools, "suspects", since="7d", traceback=f"TypeError: make() {huge}").is_error


class TestClones:
    def test_what_a_call_has_no_time_for_is_told_with_what_was_read(self, tools: AgentTools) -> None:
        with deadlines.bound_work(1.0):
            result = call(tools, "judge_commits", range="2025-01-05..HEAD")
        assert result.is_error
        assert re.match(r"I have read 0 of 11 files or commits, and keep them: ask again", result.text)

    def test_one_call_reads_the_clones_at_a_time(self, tools: AgentTools) -> None:
        with ThreadPoolExecutor(2) as pool:
            results = [*pool.map(lambda _: call(tools, "judge_commits", range="2025-01-05..HEAD"), range(2))]
        assert [len(result.structured["items"]) for result in results if result.structured] == [11, 11]


class TestProfiles:
    def test_without_the_setting_there_is_no_tool_about_profiles(self, there: AgentWorld) -> None:
        optional = ("PRDIGEST_MCP_PROFILES", "PRDIGEST_MCP_CLONES")
        settings = {name: value for name, value in there.settings.items() if name not in optional}
        with open_base(settings) as app:
            tools = make_tools(app)
            assert {each.name for each in TOOLS} - tools.by_name.keys() == {
                "touches",
                "pending",
                "release",
                "find_profile_uses",
                "lessons",
                "upgrade_plan",
                "judge_commits",
                "commit_guide",
                "uses_by_kind",
            }
            assert call(tools, "touches", days="7d").text.startswith("There is no tool 'touches'")
            assert not app.profiles.list_entries()

    def test_what_may_go_is_read_where_it_is_kept_and_else_told(
        self, there: AgentWorld, tools: AgentTools
    ) -> None:
        schema = build_page_schema(tools.by_name["pending"])
        unread = call(tools, "pending").structured
        assert unread
        assert unread["may_go"]["not_read"].startswith("I couldn't read what may go (this bot keeps no mirror")
        assert (unread["may_go"]["total"], unread["may_go"]["items"]) == (None, [])
        jsonschema.validate(unread, schema)
        app = tools.app
        (entry,) = app.profiles.list_entries()
        assert entry.pin
        profile = app.profiles.require_scanned(entry)
        with open_base(there.settings) as base:
            uses = tuple(SpentUse(profile.uses[0], f"reason {number}") for number in range(3))
            kept = name_spent(profile, entry.pin.commit, entry.pin.commit, ())
            base.tables.put(SPENT, KeptSpent(uses), *kept)
            told = call(tools, "pending", limit=2).structured
            base.tables.remove(SPENT, *kept)
        assert told
        jsonschema.validate(told, schema)
        assert (told["may_go"]["not_read"], told["may_go"]["total"]) == (None, 3)
        first, second = told["may_go"]["items"]
        assert (first["path"], first["why"], second["why"]) == ("plugin/main.py", "reason 0", "reason 1")

    def test_others_are_not_even_counted(self, there: AgentWorld) -> None:
        with other_profile(there, explains=True), open_base(there.settings) as app:
            tools = make_tools(app)
            assert [entry.name for entry in app.profiles.list_entries()] == ["plugin"]
            assert app.profiles.get_entry("other") is None
            assert app.profiles.get_profile("other") is None
            # the only one that there is
            assert not call(tools, "touches", days="7d").is_error
            assert call(tools, "touches", profile="other").text == "There is no profile 'other': use plugin."

    def test_one_that_keeps_from_models_is_hidden_all_the_same(self, there: AgentWorld) -> None:
        named = {**there.settings, "PRDIGEST_MCP_PROFILES": "plugin, other"}
        with other_profile(there, explains=False), open_base(named) as app:
            tools = make_tools(app)
            assert [entry.name for entry in app.profiles.list_entries()] == ["plugin"]
            assert call(tools, "find_profile_uses", name="make", profile="other").is_error
        with other_profile(there, explains=True), open_base(named) as app:
            tools = make_tools(app)
            assert [entry.name for entry in app.profiles.list_entries()] == ["other", "plugin"]

    @pytest.mark.parametrize(
        ("problem", "sentence"),
        [
            ("GitHub is away.", "The profile other could not be scanned: GitHub is away."),
            ("", "The profile other was not scanned yet: try again in a few minutes."),
        ],
    )
    def test_one_without_a_scan_says_why(self, there: AgentWorld, problem: str, sentence: str) -> None:
        named = {**there.settings, "PRDIGEST_MCP_PROFILES": "plugin, other"}
        with other_profile(there, explains=True), open_base(named) as app:
            tools = make_tools(app)
            with open_base(there.settings) as base:
                profiles = base.profiles
                entry = app.profiles.get_entry("other")
                assert entry
                profiles.remove("other")
                profiles.put(replace(entry, problem=problem))
            asked = call(tools, "find_profile_uses", name="make", profile="Other")
            assert (asked.is_error, asked.text) == (True, sentence)

    def test_no_agent_changes_a_profile(self, tools: AgentTools) -> None:
        app = tools.app
        (entry,) = app.profiles.list_entries()
        with pytest.raises(UsageError):
            app.profiles.put(entry)
        with pytest.raises(UsageError):
            app.profiles.remove(entry.name)

    def test_what_an_agent_sees_does_not_count_as_shown(self, there: AgentWorld, tools: AgentTools) -> None:
        assert not call(tools, "touches", days="7d").is_error
        with connect_server(there.settings["REDIS_URL"]) as store:
            assert list(store.scan_iter("hits*")) == []


class Trap(str):
    """A text in which each reader meets a defect."""

    __slots__ = ()

    def _fail(self, *_: object) -> NoReturn:
        raise RuntimeError("planted")

    split = strip = rstrip = lower = casefold = replace = translate = partition = _fail  # type: ignore[assignment]


class SpoiledDays:
    """Lists of days in which the title of #3 is a trap."""

    def __init__(self, behind: PullRequests) -> None:
        self.fetch_pull_request, self.load_files = behind.fetch_pull_request, behind.load_files
        self._behind = behind

    def list_merged(self, repository: Repository, day: LocalDay) -> DayMerges:
        merged = self._behind.list_merged(repository, day)
        pulls = (replace(each, title=Trap(each.title)) if each.number == 3 else each for each in merged.pulls)
        return replace(merged, pulls=tuple(pulls))


class SpoiledProfiles(Profiles):
    """The profile of the team with one use more, whose line is a trap, and one whose name is."""

    def require_scanned(self, entry: ProfileEntry) -> Profile:
        scanned = super().require_scanned(entry)
        use = scanned.uses[0]
        traps = (
            replace(use, path="plugin/a.py", text=Trap("x")),
            replace(use, path="plugin/b.py", name=Trap("x")),
        )
        return replace(scanned, files=3, uses=(*scanned.uses, *traps))


DEFECTS: dict[str, tuple[dict[str, Any], str, str]] = {
    "list_pull_requests": ({"days": "7d"}, "#1 Ask for a device", "1 of 4 pull requests (reading it failed)"),
    "search": ({"days": "7d", "any_of": ["device"]}, "config, device):", "1 of 4 pull requests"),
    "taken_back": ({"days": "7d"}, "#2 (Explain the engine) was reverted by #4", ""),
    "outcomes": ({"days": "7d"}, '"outcome": "reverted", "by": 4', ""),
    "contract_changes": ({"days": "7d"}, '"name": "engine.core.make"', "1 of 4 merges (reading it failed)"),
    "suspects": (CALLS["suspects"][0], "1. #1 Ask for a device", ""),
    "touches": (
        {"days": "7d"},
        '"path": "plugin/main.py", "line": 5',
        "2 of 3 files of your code (reading it failed)",
    ),
    "upgrade_plan": ({"start": f"{sha('merge 90'):.12}"}, "## `plugin/main.py`", "3 files of your code"),
    "find_profile_uses": (
        {"name": "make"},
        "plugin/main.py:5 calls",
        "2 of 3 files of your code (reading it failed)",
    ),
}


class TestDefects:
    """What one merge or use makes fail costs that one, and is told."""

    @pytest.mark.parametrize(("name", "row"), DEFECTS.items(), ids=DEFECTS)
    def test_one_that_meets_a_defect_leaves_the_others(
        self, there: AgentWorld, name: str, row: tuple[dict[str, Any], str, str], caplog: pytest.LogCaptureFixture
    ) -> None:
        arguments, kept, told = row
        with open_base(there.settings) as base:
            tools = make_tools(base)
            base.__dict__["day_lists"] = SpoiledDays(base.day_lists)
            base.profiles = SpoiledProfiles(base)
            result = call(tools, name, **arguments)
        assert not result.is_error, result.text
        assert kept in result.text
        assert told in result.text
        assert any(record.exc_info and "planted" in str(record.exc_info[1]) for record in caplog.records)


@contextmanager
def other_profile(there: AgentWorld, *, explains: bool) -> Iterator[None]:
    """A second profile, which is a copy of the first."""
    with open_base(there.settings) as base:
        profiles = base.profiles
        entry, profile = profiles.get_entry("plugin"), profiles.get_profile("plugin")
        assert entry
        assert profile
        profiles.put(replace(entry, name="other"), replace(profile, name="other", explains=explains))
        try:
            yield
        finally:
            profiles.remove("other")


class TestPages:
    @given(text=st.text(st.sampled_from("ab \n"), max_size=4_000), length=st.integers(1, 900))
    def test_pages_hold_the_whole_text(self, text: str, length: int) -> None:
        offset: int | None = 0
        shown = ""
        while offset is not None:
            page, more = cut_text(text, offset, length)
            assert len(page) <= length
            following = len(text) if more is None else more
            # blank lines at the end of a page are of no use to a reader
            assert text[offset:following].rstrip("\n") == page.rstrip("\n")
            shown += text[offset:following]
            assert more is None or more > offset
            offset = more
        assert shown == text

    @given(size=st.integers(0, 12), limit=st.integers(1, 10), width=st.integers(1, 4_000))
    def test_pages_hold_every_item(self, size: int, limit: int, width: int) -> None:
        items = [NumberItem(number=each) for each in range(size)]
        offset: int | None = 0
        shown: list[Any] = []
        while offset is not None:
            page = cut_items(ItemList("x" * width, CoveredList(tuple(items))), offset, limit)
            assert PAGES.is_valid(page)
            shown += page["items"]
            offset = page["next_offset"]
        assert [each["number"] for each in shown] == list(range(size))

    def test_the_pages_of_a_result_fit_together_while_it_changes(self, app: App) -> None:
        texts = iter(["first " * 200, "second " * 200])
        now = [0.0]
        changing = Tool("changing", "Changing", "Change.", TextPage, lambda session, arguments: next(texts))
        tools = AgentTools(app, "test", lambda: now[0], lambda: "id", (changing,))
        call(tools, "changing", length=500)
        assert "first" in call(tools, "changing", length=500, offset=500).text
        now[0] = 301.0
        assert "second" in call(tools, "changing", length=500, offset=500).text

    def test_few_results_are_kept(self) -> None:
        kept = KeptResults(lambda: 0.0)
        for number in range(20):
            kept.put(str(number), "text")
        kept.put("long", "x" * 500_001)
        assert [number for number in range(20) if kept.get(str(number))] == list(range(4, 20))
        assert kept.get("long") is None

    def test_threads_may_call_at_once(self, tools: AgentTools) -> None:
        results: list[CallResult] = []
        threads = [
            threading.Thread(target=lambda: results.append(call(tools, "outcomes", number=2))) for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert len({result.text for result in results}) == 1
        assert not results[0].is_error


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_schema_stands_for_itself(tool: Tool) -> None:
    """An agent has no thread."""
    schema = json.dumps(build_tool_schema(tool.arguments))
    assert "thread" not in schema
    assert "offset" in schema
    assert tool.description.endswith(".")
