import json
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from localslack.state.workspace import START
from redis import Redis

from bot.app import App
from bot.errors import (
    GitHubAccessDenied,
    GitHubUnavailable,
    PrdigestError,
    PullRequestNotFound,
    SlackUnavailable,
    StoreUnavailable,
)
from bot.features.summaries.service import get_cached_entry, get_entry, show_details
from bot.platform.commands import AllowedRepositories
from bot.platform.models import Completion, Model, Prompt
from bot.platform.pulls.models import Reference
from bot.platform.slack.client import make_slack_client
from bot.platform.slack.messenger import SlackEphemeralMessenger, SlackMessenger, SlackViews
from bot.platform.slack.replies import ReplySender
from bot.platform.slack.requests import SlackRequest
from tests.emulators.slack.server import SlackEmulator
from tests.features.digest.posting import HOME, Crash, Fragile, Fuse
from tests.helpers.apps import make_reading_app
from tests.helpers.builders import REPOSITORY, changed_file, pull, summary
from tests.helpers.checks import is_one_sentence
from tests.helpers.doubles import KnownPulls, Summaries, slack_request
from tests.helpers.records import answer_store

SEVEN = Reference(REPOSITORY, 7)
MERGED = pull(7, title="Count retries once", files=(changed_file("engine/core.py", 40, 20),))


@dataclass
class Desk:
    slack: SlackEmulator
    store: Redis
    pulls: KnownPulls = field(default_factory=lambda: KnownPulls((MERGED,)))
    summariser: Summaries = field(default_factory=Summaries)

    def make_app(self, fuse: Fuse | None = None, model: Model | None = None) -> App:
        client = make_slack_client(self.slack.token, self.slack.url)
        views: Any = SlackViews(client)
        records = answer_store(self.store)
        now = datetime.fromtimestamp(START, UTC)
        replies = ReplySender(SlackMessenger(client), SlackEphemeralMessenger(client), records, lambda: now)
        return make_reading_app(
            self.pulls,
            model or self.summariser,
            self.store,
            replies=replies,
            repositories=AllowedRepositories(REPOSITORY),
            views=Fragile(views, fuse) if fuse else views,
        )

    def open(
        self,
        asked: SlackRequest,
        trigger: str,
        fuse: Fuse | None = None,
        model: Model | None = None,
        of: Reference = SEVEN,
    ) -> None:
        show_details.run(self.make_app(fuse, model), replace(asked, trigger=trigger), of)

    def read(self) -> None:
        get_entry(self.make_app(), SEVEN)

    def has_entry(self) -> bool:
        return get_cached_entry(self.make_app(), SEVEN) is not None

    def make_click(self, **fields: Any) -> tuple[SlackRequest, str]:
        trigger = self.slack.make_trigger_id()
        url = self.slack.make_response_url(HOME, "U0ASKER")
        return slack_request(key=f"action:{trigger}", response_url=url, **fields), trigger

    def list_views(self) -> list[str]:
        return [json.dumps(view["blocks"], ensure_ascii=False) for view in self.slack.views]

    def list_whispers(self) -> list[str]:
        return [told["text"] for told in self.slack.ephemerals]

    def view_calls(self) -> list[str]:
        return [method for method, _ in self.slack.calls if method.startswith("views.")]

    def close_window(self) -> None:
        self.slack.workspace.views.clear()


@pytest.fixture
def desk(slack: SlackEmulator, store: Redis) -> Desk:
    return Desk(slack, store)


def test_a_known_pull_request_is_shown_at_once(desk: Desk) -> None:
    desk.read()
    calls = list(desk.pulls.calls)
    asked, trigger = desk.make_click()
    desk.open(asked, trigger)
    (shown,) = desk.list_views()
    assert ("Count retries once" in shown, summary().technical_impact in shown) == (True, True)
    assert (desk.view_calls(), desk.pulls.calls, desk.list_whispers()) == (["views.open"], calls, [])


def test_another_pull_request_opens_with_a_word_and_is_filled_when_it_is_read(desk: Desk) -> None:
    asked, trigger = desk.make_click()
    opened: list[list[str]] = []

    class Watching(Summaries):
        def complete(self, prompt: Prompt) -> Completion:
            opened.append(desk.list_views())
            return super().complete(prompt)

    desk.open(asked, trigger, model=Watching(numbers=desk.summariser.numbers))
    ((loading,),) = opened
    (shown,) = desk.list_views()
    assert ("Reading octo/engine#7" in loading, "Reading" in shown, "Count retries once" in shown) == (
        True,
        False,
        True,
    )
    assert (desk.view_calls(), desk.summariser.numbers) == (["views.open", "views.update"], [7])
    assert desk.has_entry()


def test_the_window_names_the_pull_request_and_can_be_found_again(desk: Desk) -> None:
    asked, trigger = desk.make_click()
    desk.open(asked, trigger)
    (view,) = desk.slack.views
    assert (view["external_id"], view["title"]["text"], view["type"]) == (asked.key, "#7", "modal")


@pytest.mark.slow
def test_what_is_whole_and_large_is_taken_by_slack(desk: Desk) -> None:
    files = tuple(changed_file(f"engine/{n}/{'x' * 200}.py", 3, 1) for n in range(300))
    long = summary(**dict.fromkeys(("what_changed_and_why", "technical_impact", "key_insights"), "Wide. " * 1_300))
    desk.pulls.pulls = (replace(MERGED, title="T" * 400, files=files, changed_files=300),)
    desk.summariser.stub_summary = long
    asked, trigger = desk.make_click()
    desk.open(asked, trigger)
    (shown,) = desk.list_views()
    assert "280 more files" in shown


# --- clicks that come too late, or twice


def test_who_clicks_a_button_that_took_too_long_is_told_so(desk: Desk) -> None:
    asked, trigger = desk.make_click()
    desk.slack.triggers.seconds = -1.0
    desk.open(asked, trigger)
    (told,) = desk.list_whispers()
    assert ("again" in told, is_one_sentence(told), desk.list_views()) == (True, True, [])


def test_who_clicks_too_late_is_told_once(desk: Desk) -> None:
    asked, trigger = desk.make_click()
    desk.slack.triggers.seconds = -1.0
    for _ in range(2):
        desk.open(asked, trigger)
    assert len(desk.list_whispers()) == 1


@pytest.mark.parametrize("known", [True, False])
def test_the_same_click_again_fills_the_same_window(desk: Desk, known: bool) -> None:
    if known:
        desk.read()
    asked, trigger = desk.make_click()
    for _ in range(3):
        desk.open(asked, trigger)
    (shown,) = desk.list_views()
    assert ("Count retries once" in shown, desk.list_whispers(), desk.summariser.numbers) == (True, [], [7])


def test_another_click_opens_another_window(desk: Desk) -> None:
    for _ in range(2):
        desk.open(*desk.make_click())
    assert len(desk.list_views()) == 2


@pytest.mark.parametrize("with_effect", [False, True])
@pytest.mark.parametrize("step", [1, 2])
def test_a_process_that_dies_at_any_step_is_finished_by_the_next(desk: Desk, step: int, with_effect: bool) -> None:
    asked, trigger = desk.make_click()
    with pytest.raises(Crash):
        desk.open(asked, trigger, Fuse(step, with_effect))
    desk.open(asked, trigger)
    (shown,) = desk.list_views()
    assert ("Count retries once" in shown, desk.list_whispers()) == (True, [])


@pytest.mark.parametrize("failure", [{"status": 503}, {"hang_up": True}, {"error": "fatal_error"}], ids=str)
@pytest.mark.parametrize("after_effect", [False, True])
@pytest.mark.parametrize("method", ["views.open", "views.update"])
def test_a_call_that_fails_is_passed_on_and_mended_by_the_next_try(
    desk: Desk, method: str, after_effect: bool, failure: dict[str, Any]
) -> None:
    asked, trigger = desk.make_click()
    desk.slack.fail_next(method, after_effect=after_effect, **failure)
    with pytest.raises(SlackUnavailable):
        desk.open(asked, trigger)
    desk.open(asked, trigger)
    (shown,) = desk.list_views()
    assert "Count retries once" in shown


def test_a_second_try_that_comes_after_the_trigger_expired_fills_the_window_of_the_first(desk: Desk) -> None:
    asked, trigger = desk.make_click()
    with pytest.raises(Crash):
        desk.open(asked, trigger, Fuse(1, with_effect=True))
    # Slack does not say whether a trigger that was used and is too old is "exchanged" or "expired"
    desk.slack.fail_next("views.open", error="expired_trigger_id")
    desk.open(asked, trigger)
    (shown,) = desk.list_views()
    assert ("Count retries once" in shown, desk.list_whispers()) == (True, [])


def test_two_who_run_the_same_click_at_once_open_one_window(desk: Desk) -> None:
    desk.slack.latency = 0.02
    asked, trigger = desk.make_click()
    start = threading.Barrier(2)

    def run(_: int) -> None:
        start.wait()
        desk.open(asked, trigger)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(run, range(2)))
    (shown,) = desk.list_views()
    assert ("Count retries once" in shown, desk.list_whispers()) == (True, [])


def test_a_window_that_was_closed_meanwhile_is_no_error(desk: Desk) -> None:
    asked, trigger = desk.make_click()

    class Closing(Summaries):
        def complete(self, prompt: Prompt) -> Completion:
            desk.close_window()
            return super().complete(prompt)

    desk.open(asked, trigger, model=Closing())
    assert (desk.list_views(), desk.list_whispers(), desk.view_calls()) == ([], [], ["views.open", "views.update"])
    assert desk.has_entry()


@pytest.mark.parametrize("code", ["invalid_trigger_id", "view_too_large", "invalid_arguments", "missing_scope"])
def test_who_gets_no_window_for_another_reason_is_told_something(desk: Desk, code: str) -> None:
    asked, trigger = desk.make_click()
    desk.slack.fail_next("views.open", error=code)
    desk.open(asked, trigger)
    assert len(desk.list_whispers()) == 1


# --- what can't be read


ERRORS: list[tuple[PrdigestError, str]] = [
    (PullRequestNotFound("octo/engine has no pull request #7."), "no pull request #7"),
    (GitHubUnavailable("No answer from GITHUB_API_URL."), "GitHub is not responding"),
    (GitHubAccessDenied("GitHub refused GITHUB_TOKEN."), "GitHub does not let me"),
]


@pytest.mark.parametrize(("error", "hint"), ERRORS, ids=lambda value: type(value).__name__)
def test_what_can_not_be_read_is_told_in_the_window_with_the_reference_that_the_log_has(
    desk: Desk, caplog: pytest.LogCaptureFixture, error: PrdigestError, hint: str
) -> None:
    caplog.set_level(logging.INFO, "bot")
    desk.pulls.failing = {"pull 7": error}
    asked, trigger = desk.make_click()
    desk.open(asked, trigger)
    (shown,) = desk.list_views()
    is_failure = not isinstance(error, PullRequestNotFound)
    assert (hint in shown, f"[{asked.reference}]" in shown, "GITHUB_" in shown) == (True, is_failure, False)
    (record,) = [log_record for log_record in caplog.records if "no answer" in log_record.getMessage()]
    assert (record.levelno == logging.WARNING) is is_failure
    assert f"[{asked.reference}]" in record.getMessage()


def test_a_number_that_nobody_knows_is_told_in_the_window(desk: Desk) -> None:
    asked, trigger = desk.make_click()
    desk.open(asked, trigger, of=Reference(REPOSITORY, 8))
    (view,) = desk.slack.views
    (shown,) = desk.list_views()
    assert (view["title"]["text"], "no pull request #8" in shown, f"[{asked.reference}]" in shown) == (
        "#8",
        True,
        False,
    )


def test_one_that_was_closed_without_being_merged_is_told_in_the_window(desk: Desk) -> None:
    desk.pulls.pulls = (replace(MERGED, merged_at=None, merge_commit=None, state="CLOSED"),)
    desk.open(*desk.make_click())
    assert "closed without being merged" in desk.list_views()[0]


def test_a_store_that_is_away_is_passed_on_and_mended_by_the_next_try(desk: Desk) -> None:
    desk.pulls.failing = {"files 7": StoreUnavailable("The store is away.")}
    asked, trigger = desk.make_click()
    with pytest.raises(StoreUnavailable):
        desk.open(asked, trigger)
    desk.pulls.failing = {}
    desk.open(asked, trigger)
    assert "Count retries once" in desk.list_views()[0]


def test_a_defect_is_told_in_the_window_in_kind_words(desk: Desk) -> None:
    desk.pulls.failing = {"pull 7": KeyError("GITHUB_SECRET")}
    asked, trigger = desk.make_click()
    desk.open(asked, trigger)
    (shown,) = desk.list_views()
    assert ("on my side" in shown, f"[{asked.reference}]" in shown, "SECRET" in shown) == (True, True, False)
