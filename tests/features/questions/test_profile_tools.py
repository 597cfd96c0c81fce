"""The tool that finds where a team uses a name: in threads about a profile, and only what a model may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace

import pytest

from bot.errors import StoreUnavailable
from bot.features.digest.service import TouchedDay
from bot.features.merges.requests import DigestView
from bot.features.questions.reading import ReadingSession
from bot.features.questions.rules import ThreadSubject, parse_subject
from bot.features.questions.service import build_initial_context
from bot.features.questions.tools import build_tools
from bot.platform.models.tools import define_tools
from bot.platform.pulls.models import PullRequest
from impact.coverage import COMPLETE, Coverage, CoveredPart
from impact.profile.models import Profile, Use, UseKind
from tests.features.questions.archives import ABOUT_DAY, REPOSITORIES, run_tool, shelf
from tests.features.touches.touched_days import NAME, make_hit, report
from tests.helpers.builders import DAY, NOON, pull

TOOL = "find_profile_uses"
SCANNED = "as scanned on 2026-02-28; its lines can't be cited, name file and line"
SECRET = f"ghp_{'a1B2' * 9}"
USES = (
    Use(UseKind.OVERRIDE, NAME, "ours/core/scheduler.py", 120, "def schedule(self):"),
    Use(UseKind.CALL, "engine.core.run", "ours/run.py", 7, f'run(token="{SECRET}")'),
)
OURS = Profile("ascend", ("engine",), "octo/ours", "c0ffee", NOON, USES)
ABOUT = replace(ABOUT_DAY, profile="ascend")


def over(
    profile: Profile | None = OURS, about: ThreadSubject = ABOUT, unread: Coverage = COMPLETE
) -> ReadingSession:
    def read_touches(_name: str, pulls: Sequence[PullRequest]) -> TouchedDay:
        if unread.gaps:
            return TouchedDay(coverage=unread)
        return TouchedDay(report(*(make_hit(each.number) for each in pulls)))

    there = shelf(pull(7))
    there.parts = {"profiles": SimpleNamespace(get_profile=lambda _: profile), "read_touches": read_touches}
    return there.toolbox(about)


def names(session: ReadingSession) -> set[str]:
    return {str(each["name"]) for each in define_tools(build_tools(session))}


def test_where_do_we_use_it_is_answered_with_file_and_line() -> None:
    session = over()
    assert run_tool(session, TOOL, name="Scheduler.schedule").split("\n") == [
        f"1 use of 2 in the profile ascend, {SCANNED}:",
        f"ours/core/scheduler.py:120 overrides {NAME}: def schedule(self):",
    ]
    assert "the profile ascend for Scheduler.schedule" in session.provenance.sources
    assert run_tool(session, TOOL, name="Worker").startswith("0 uses of 2 in the profile ascend")


def test_credentials_in_a_used_line_stay_out() -> None:
    assert SECRET not in run_tool(over(), TOOL, name="run")


def test_the_record_of_a_day_says_what_touches() -> None:
    text = build_initial_context(over())[0]
    assert "What touches the profile ascend, judged by code:\n1 of 31 merges, against 412 uses\n" in text
    assert "412 uses\n#7 breaks us\n" in text
    assert f"- {NAME} removed: `Scheduler.schedule` is gone. Used at ours/core/scheduler.py:120 overrides" in text


@pytest.mark.parametrize(
    "session",
    [
        pytest.param(lambda: over(about=ABOUT_DAY), id="a thread without a profile"),
        pytest.param(lambda: over(None), id="a profile that is gone"),
        pytest.param(lambda: over(replace(OURS, explains=False)), id="one that nothing may be shown of"),
    ],
)
def test_where_nothing_may_be_shown_there_is_no_tool_and_no_text(session: object) -> None:
    made = session()  # type: ignore[operator]
    assert TOOL not in names(made)
    assert "ours/" not in build_initial_context(made)[0]


def test_a_report_that_is_missing_is_a_gap() -> None:
    session = over(unread=Coverage.of(CoveredPart("what touches ascend", 1, 0, "GitHub is away")))
    told = "\n".join(map(str, build_initial_context(session)))
    assert "I couldn't read what touches ascend (GitHub is away), so I can't tell." in told
    assert "what touches ascend (GitHub is away) could not be read" in session.provenance.gaps


def test_a_store_that_is_away_takes_the_tool_only() -> None:
    def fail(_: str) -> Profile | None:
        raise StoreUnavailable("It does not answer.")

    there = shelf(pull(7))
    there.parts = {"profiles": SimpleNamespace(get_profile=fail)}
    assert TOOL not in names(there.toolbox(ABOUT))


def test_a_thread_remembers_the_profile_of_its_digest() -> None:
    about = f"digest {DAY.date} repo:octo/engine profile:ascend"
    assert parse_subject(about, REPOSITORIES, DAY).profile == "ascend"
    risks = f"risks {DAY.date} repo:octo/engine profile:ascend"
    assert parse_subject(risks, REPOSITORIES, DAY).profile == "ascend"
    assert str(DigestView(profile="ascend")) == "profile:ascend"
