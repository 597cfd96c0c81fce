"""Every service sorts paths as the repository of the pull request wants it."""

import json
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from bot.app import App
from bot.dates import Span
from bot.errors import StoreUnavailable
from bot.features.digest.service import build_digest
from bot.features.merges.requests import RisksRequest
from bot.features.merges.risk import Risk, assess_pull_request
from bot.features.merges.timeline import MergeTimeline
from bot.features.merges.view import Entry
from bot.features.questions.reading import ReadingSession
from bot.features.questions.rules import ThreadSubject
from bot.features.questions.service import build_initial_context
from bot.features.risks.service import build_list
from bot.features.summaries.reading import read_pull_request
from bot.features.summaries.service import build_entry, get_cached_entry, get_entry, refresh_summary
from bot.platform.models import Model
from bot.platform.pulls.models import PullRequest, Reference
from bot.platform.pulls.paths import PathClass, PathClasses, PathSettings
from bot.platform.store.merge_records import HistoryStore
from impact.repository import Repository
from tests.emulators.claude.server import summary_answer
from tests.features.questions.archives import ABOUT_DAY, REPOSITORIES, call_tool, open_session
from tests.helpers.apps import NO_NEARBY, make_digest_app, make_reading_app
from tests.helpers.builders import DAY, NOON, REPOSITORY, changed_file, pull
from tests.helpers.doubles import KnownPulls, MemoryStore, ScriptedModel, Summaries

# this repository ships what lies in examples/, and its engine/ is a sample
SHIPPED = PathClasses(((PathClass.DOCS, ("engine/",)), (PathClass.PRODUCT, ("examples/",))), ("examples/auth/",))
SETTINGS = PathSettings({str(REPOSITORY): SHIPPED})
ELSEWHERE = Repository("octo", "elsewhere")
SPAN = Span(DAY.date, DAY.date, DAY.zone)
FILES = (changed_file("engine/core.py", 900, 900), changed_file("examples/auth/serve.py", 30, 30))
OWN = pull(7, files=FILES)
ELSE = replace(OWN, repository=ELSEWHERE)


def make_subject(pulls: KnownPulls, model: Model | None = None, **parts: Any) -> App:
    def rate(of: PullRequest) -> Risk:
        return assess_pull_request(of, SETTINGS.get_path_classes(of.repository))

    timeline = SimpleNamespace(
        assess_risk=rate, read_merges_or_none=lambda *_: (), load_nearby=lambda _: NO_NEARBY
    )
    own = {"paths": SETTINGS, "timeline": timeline, "get_today": lambda: DAY, **parts}
    return make_reading_app(pulls, model or Summaries(), **own)


def open_archive(pulls: KnownPulls, subject: ThreadSubject = ABOUT_DAY) -> ReadingSession:
    repositories = replace(REPOSITORIES, others=(ELSEWHERE,))
    return open_session(make_subject(pulls), subject, repositories=repositories)


def read_entry(of: PullRequest) -> Entry:
    app = make_subject(KnownPulls((of,)))
    return build_entry(app, refresh_summary(app, of))


WAYS: dict[str, Callable[[PullRequest], Entry]] = {
    "a single one": read_entry,
    "the archive": lambda of: open_archive(KnownPulls((of,))).build_entry(of),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_areas_and_risk_go_by_the_classes_of_the_repository(way: Callable[[PullRequest], Entry]) -> None:
    own, other = way(OWN), way(ELSE)
    assert (own.area, other.area) == ("Auth", "Engine and scheduling")
    assert (own.risk, other.risk) == (assess_pull_request(OWN, SHIPPED), assess_pull_request(ELSE))
    assert own.risk.reasons != other.risk.reasons


def test_a_list_of_risks_goes_by_the_classes_of_the_repository() -> None:
    app = make_subject(KnownPulls((OWN, ELSE)))
    lists = [
        build_list(app, RisksRequest(each, SPAN)).riskiest.ignore_coverage() for each in (REPOSITORY, ELSEWHERE)
    ]
    assert [len(each) for each in lists] == [0, 1]


def test_a_digest_goes_by_the_classes_of_the_repository() -> None:
    pulls = KnownPulls((OWN, ELSE))
    app = make_digest_app(pulls, model=Summaries(), paths=SETTINGS)
    lists = [build_digest(app, each, DAY, "Engine").riskiest_entries for each in (REPOSITORY, ELSEWHERE)]
    assert [len(each) for each in lists] == [0, 1]


def test_a_rating_with_the_past_goes_by_the_classes_of_the_repository() -> None:
    def away() -> HistoryStore:
        raise StoreUnavailable("The store is away.")

    chronicle = MergeTimeline(away, KnownPulls().list_merged, lambda: NOON, SETTINGS.get_path_classes)
    own, other = chronicle.assess_risk(OWN), chronicle.assess_risk(ELSE)
    assert own.points < other.points
    assert own.reasons != other.reasons


def test_a_fallback_counts_files_by_the_classes_of_the_repository() -> None:
    subject = make_subject(KnownPulls(), model=None)
    subject.__dict__["model"] = None
    only = (changed_file("engine/core.py", 900),)
    kinds = [read_pull_request(subject, replace(of, files=only)).summary.technical_impact for of in (OWN, ELSE)]
    assert [kind.rpartition(": ")[2] for kind in kinds] == ["1 docs.", "1 product."]
    impact = open_archive(KnownPulls()).build_entry(replace(OWN, files=only)).summary.technical_impact
    assert impact.endswith("1 docs.")


def test_a_model_sees_first_what_the_repository_calls_product() -> None:
    answers = ScriptedModel.of(*[json.dumps(summary_answer())] * 2)
    subject = make_subject(KnownPulls(), answers)
    for of in (OWN, ELSE):
        read_pull_request(subject, of)
    assert [first_file(prompt.user) for prompt in answers.prompts] == ["examples/auth/serve.py", "engine/core.py"]


def first_file(text: str) -> str:
    return text.partition("=== ")[2].partition(" ")[0]


def toolbox(of: PullRequest, *numbers: int) -> ReadingSession:
    return open_archive(KnownPulls((of,)), ThreadSubject(of.repository, SPAN, numbers))


SEEN: dict[str, Callable[[PullRequest], str]] = {
    "the diff": lambda of: (
        call_tool(toolbox(of), "read_diff", {"repository": str(of.repository), "number": 7}).text
    ),
    "of one": lambda of: build_initial_context(toolbox(of, 7))[0],
    "of days": lambda of: build_initial_context(toolbox(of))[0],
}


@pytest.mark.parametrize("seen", SEEN.values(), ids=SEEN)
def test_a_question_is_answered_from_what_the_repository_calls_product_first(
    seen: Callable[[PullRequest], str],
) -> None:
    small = (changed_file("engine/core.py", 9), changed_file("examples/auth/serve.py", 3))
    shown = [first_file(seen(replace(of, files=small, changed_files=2))) for of in (OWN, ELSE)]
    assert shown == ["examples/auth/serve.py", "engine/core.py"]


# --- what is kept


def test_an_entry_that_was_made_with_other_classes_is_not_answered() -> None:
    pulls, cached = KnownPulls((OWN, ELSE)), MemoryStore()
    before, after = make_reading_app(pulls, Summaries(), cached=cached), make_subject(pulls, cached=cached)
    for each in (OWN, ELSE):
        refresh_summary(before, each)
    seven, other = Reference(REPOSITORY, 7), Reference(ELSEWHERE, 7)
    assert (get_cached_entry(after, seven), get_cached_entry(after, other) is not None) == (None, True)
    assert get_entry(after, seven).area == "Auth"
    kept = get_cached_entry(after, seven)
    assert kept
    assert (kept.area, get_cached_entry(before, seven) is not None) == ("Auth", True)
