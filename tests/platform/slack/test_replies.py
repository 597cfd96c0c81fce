from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from localslack.methods.response_urls import RESPONSE, USES
from localslack.state.workspace import START
from redis import Redis

from bot.errors import (
    GitHubAccessDenied,
    GitHubUnavailable,
    ModelRequestRejected,
    PostingInProgress,
    PrdigestError,
    PullRequestNotFound,
    RateLimited,
    RepositoryNotFound,
    SlackCallRefused,
    SlackUnavailable,
    StoreUnavailable,
    UsageError,
)
from bot.platform import deadlines
from bot.platform.slack.answers import Answer, ResponseTimes
from bot.platform.slack.client import make_slack_client
from bot.platform.slack.messenger import SlackEphemeralMessenger, SlackMessenger
from bot.platform.slack.notices import STILL_WORKING, describe_error
from bot.platform.slack.replies import ReplySender
from bot.platform.slack.requests import Audience, SlackRequest
from bot.platform.worker_threads import note_progress
from tests.emulators.slack.server import SCOPES, SlackEmulator
from tests.features.digest.posting import HOME, MemoryMessenger, post
from tests.helpers.checks import eventually, is_one_sentence
from tests.helpers.doubles import MemoryWhispers, slack_request
from tests.helpers.records import answer_store, memory_answers

NOW = datetime.fromtimestamp(START, UTC)
ANSWER = Answer(post("For everybody"), post("For you"))


class Make:
    def __init__(self, made: Answer | BaseException | None = ANSWER) -> None:
        self._made = made
        self.count = 0

    def __call__(self) -> Answer | None:
        self.count += 1
        if isinstance(self._made, BaseException):
            raise self._made
        return self._made


@dataclass
class Office:
    slack: SlackEmulator
    store: Redis

    def replies(self, now: datetime = NOW) -> ReplySender:
        client = make_slack_client(self.slack.token, self.slack.url)
        records = answer_store(self.store)
        return ReplySender(SlackMessenger(client), SlackEphemeralMessenger(client), records, lambda: now)

    def make_request(self, channel: str = HOME, **fields: Any) -> SlackRequest:
        return slack_request(
            channel=channel, response_url=self.slack.make_response_url(channel, "U0ASKER"), **fields
        )

    def list_posts(self, channel: str = HOME) -> list[str]:
        return [message["text"] for message in self.slack.list_messages(channel)]

    def list_whispers(self) -> list[str]:
        assert {told["user"] for told in self.slack.ephemerals} <= {"U0ASKER"}
        return [told["text"] for told in self.slack.ephemerals]


@pytest.fixture
def office(slack: SlackEmulator, store: Redis) -> Office:
    slack.add_channel("C0OUT", "out", member=False)
    slack.add_channel("C0OLD", "old", archived=True)
    slack.add_channel("G0OUT", "private", member=False)
    slack.add_channel("D0OTHERS", "others", member=False)
    return Office(slack, store)


def only_text(whispers: MemoryWhispers) -> str:
    ((_, told),) = whispers.sent_posts
    (block,) = told.build_payload()["blocks"]
    return "".join(part["text"] for section in block["elements"] for part in section["elements"])


# --- who sees an answer


def test_a_member_answers_in_the_channel(office: Office) -> None:
    office.replies().give_answer(office.make_request(), "summary", Audience.CHANNEL, Make())
    assert (office.list_posts(), office.list_whispers()) == (["For everybody"], [])


PLACES = ["C0OUT", "C0OLD", "G0OUT", "D0OTHERS", "C0UNKNOWN"]


@pytest.mark.parametrize("channel", PLACES)
def test_where_the_bot_can_not_post_only_the_asker_gets_the_answer(office: Office, channel: str) -> None:
    asked = office.make_request()
    office.replies().give_answer(replace(asked, channel=channel), "summary", Audience.CHANNEL, Make())
    assert office.list_whispers() == ["For you"]
    assert [call["response_type"] for call in office.slack.list_calls_to(RESPONSE)] == ["ephemeral"]
    assert all(office.list_posts(place) == [] for place in office.slack.workspace.channels)


@pytest.mark.parametrize("channel", [HOME, *PLACES])
def test_what_is_for_the_asker_is_never_posted(office: Office, channel: str) -> None:
    asked = office.make_request()
    office.replies().give_answer(replace(asked, channel=channel), "summary", Audience.ASKER, Make())
    assert office.list_whispers() == ["For you"]
    assert office.slack.list_calls_to("chat.postMessage") == []


def test_what_is_shared_is_posted(office: Office) -> None:
    office.replies().give_answer(office.make_request(), "summary", Audience.SHARED, Make())
    assert (office.list_posts(), office.list_whispers()) == (["For everybody"], [])


@pytest.mark.parametrize("channel", ["C0OUT", "G0OUT"])
def test_who_shares_where_the_bot_is_not_is_told_how_to_invite_it(office: Office, channel: str) -> None:
    asked = office.make_request()
    office.replies().give_answer(replace(asked, channel=channel), "summary", Audience.SHARED, Make())
    (told,) = office.list_whispers()
    assert ("/invite" in told, is_one_sentence(told)) == (True, True)


@pytest.mark.parametrize("code", ["is_archived", "restricted_action", "missing_scope", "msg_blocks_too_long"])
def test_who_shares_where_it_is_refused_for_another_reason_is_not_told_to_invite(
    office: Office, code: str
) -> None:
    office.slack.fail_next("chat.postMessage", error=code)
    office.replies().give_answer(office.make_request(), "summary", Audience.SHARED, Make())
    (told,) = office.list_whispers()
    assert "/invite" not in told


@pytest.mark.parametrize("audience", [Audience.CHANNEL, Audience.SHARED])
def test_who_asks_in_a_thread_is_answered_there(office: Office, audience: Audience) -> None:
    thread = office.slack.add_message(HOME, "look at 7")
    office.replies().give_answer(slack_request(thread=thread), "summary", audience, Make())
    assert [reply["text"] for reply in office.slack.list_replies(HOME, thread)] == ["For everybody"]
    assert office.list_posts() == ["look at 7"]


def test_a_whisper_to_someone_in_a_thread_goes_there(office: Office) -> None:
    thread = office.slack.add_message(HOME, "lead")
    message = office.slack.add_message(HOME, "look at 7", thread_ts=thread)
    office.replies().give_answer(slack_request(thread=thread, message=message), "summary", Audience.ASKER, Make())
    (told,) = office.slack.ephemerals
    assert (told["text"], told["thread_ts"], told["channel"]) == ("For you", thread, HOME)


def test_a_thread_that_is_gone_is_answered_to_the_asker(office: Office) -> None:
    asked = replace(office.make_request(), thread="1.1")
    office.replies().give_answer(asked, "summary", Audience.CHANNEL, Make())
    assert (office.list_posts(), office.list_whispers()) == ([], ["For you"])


def test_no_answer_needs_no_words_and_is_not_asked_for_again(office: Office) -> None:
    make = Make(None)
    for _ in range(2):
        office.replies().give_answer(office.make_request(), "digest", Audience.CHANNEL, make)
    assert (office.list_posts(), office.list_whispers(), make.count) == ([], [], 1)


def test_telling_is_for_the_asker_alone_and_literal(office: Office) -> None:
    office.replies().tell_asker(office.make_request(), "No <!channel> here & there.")
    assert (office.list_posts(), office.list_whispers()) == ([], ["No &lt;!channel&gt; here &amp; there."])


# --- once


@pytest.mark.parametrize("audience", list(Audience))
@pytest.mark.parametrize("channel", [HOME, "C0OUT"])
def test_a_second_run_does_nothing(office: Office, audience: Audience, channel: str) -> None:
    asked, make = replace(office.make_request(), channel=channel), Make()
    office.replies().give_answer(asked, "summary", audience, make)
    calls = len(office.slack.calls)
    for hours in (0, 1, 20):
        office.replies(NOW + timedelta(hours=hours)).give_answer(asked, "summary", audience, make)
    assert (len(office.slack.calls), make.count) == (calls, 1)


def test_other_parts_and_other_visits_are_answers_of_their_own(office: Office) -> None:
    first, second = office.make_request(key="one"), office.make_request(key="two")
    for asked, part in ((first, "a"), (first, "b"), (second, "a"), (first, "a")):
        office.replies().give_answer(asked, part, Audience.CHANNEL, Make())
    assert len(office.list_posts()) == 3


def test_a_sentence_and_an_answer_of_one_visit_are_both_given(office: Office) -> None:
    asked = office.make_request()
    office.replies().tell_asker(asked, "I look.")
    office.replies().give_answer(asked, "summary", Audience.CHANNEL, Make())
    assert (office.list_posts(), office.list_whispers()) == (["For everybody"], ["I look."])


@pytest.mark.parametrize("audience", list(Audience))
def test_threads_that_run_the_same_visit_at_once_give_one_answer(office: Office, audience: Audience) -> None:
    office.slack.latency = 0.05
    asked, start = office.make_request(), threading.Barrier(3)
    makes = [Make() for _ in range(3)]

    def run(make: Make) -> None:
        start.wait()
        office.replies().give_answer(asked, "summary", audience, make)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(run, makes))
    assert len(office.list_posts() + office.list_whispers()) == 1
    assert sum(make.count for make in makes) == 1


def test_threads_that_run_different_visits_do_not_wait_for_each_other(office: Office) -> None:
    start = threading.Barrier(3, timeout=5)

    def make() -> Answer:
        start.wait()
        return ANSWER

    with ThreadPoolExecutor(3) as pool:
        for key in ("one", "two", "three"):
            pool.submit(office.replies().give_answer, slack_request(key), "summary", Audience.CHANNEL, make)
    assert len(office.list_posts()) == 3


def test_a_visit_that_another_process_answers_is_left_to_it() -> None:
    messenger, make = MemoryMessenger(), Make()
    busy = ReplySender(messenger, MemoryWhispers(), memory_answers(busy=True), lambda: NOW)
    with pytest.raises(PostingInProgress):
        busy.give_answer(slack_request(), "summary", Audience.CHANNEL, make)
    assert (messenger.messages, make.count) == ([], 0)


def test_what_is_remembered_of_an_answer_runs_out(office: Office, store: Redis) -> None:
    office.replies().give_answer(office.make_request(), "summary", Audience.CHANNEL, Make())
    (key,) = store.scan_iter("answer:*")
    assert 86_000 < int(str(store.ttl(key))) <= 86_400


# --- errors in making it


INTERNAL = ("GITHUB_", "REDIS_", "SLACK_", "ANTHROPIC_", "scope", "model", "x-request", "Traceback", "Error")
ERRORS: list[tuple[Exception, str]] = [
    (UsageError("#7 was closed without being merged."), "closed without"),
    (PullRequestNotFound("octo/engine has no pull request #7."), "#7"),
    (RepositoryNotFound("GitHub knows no octo/motor."), "octo/motor"),
    (RateLimited("GitHub limits the rate of 40 minutes.", 2_400.0), "40 minutes"),
    (GitHubAccessDenied("GitHub refused GITHUB_TOKEN: x-request 12."), "GitHub"),
    (GitHubUnavailable("No answer from GITHUB_API_URL https://10.0.0.1."), "GitHub"),
    (SlackCallRefused("The bot lacks the scope chat:write: add it to the app.", "missing_scope"), "permissions"),
    (ModelRequestRejected("The model refused ANTHROPIC_API_KEY."), "my side"),
    (PrdigestError("REDIS_URL something Error."), "my side"),
    (KeyError("GITHUB_SECRET"), "my side"),
    (RuntimeError("Traceback of a model"), "my side"),
    (ValueError("scope"), "my side"),
]


@pytest.mark.slow
@pytest.mark.parametrize("audience", list(Audience))
@pytest.mark.parametrize(("error", "hint"), ERRORS, ids=lambda value: type(value).__name__)
def test_an_error_is_told_to_the_asker_with_the_reference_that_the_log_has(
    office: Office, caplog: pytest.LogCaptureFixture, error: Exception, hint: str, audience: Audience
) -> None:
    caplog.set_level(logging.INFO, "bot")
    asked = office.make_request()
    office.replies().give_answer(asked, "summary", audience, Make(error))
    (told,) = office.list_whispers()
    # what the asker can correct is no matter for an operator
    is_mistake = isinstance(error, UsageError | PullRequestNotFound)
    assert told.endswith(f" [{asked.reference}]") is not is_mistake
    assert (hint in told, office.list_posts()) == (True, [])
    assert not [word for word in INTERNAL if word in told]
    assert is_one_sentence(told.removesuffix(f" [{asked.reference}]"))
    (record,) = [log_record for log_record in caplog.records if log_record.name == "bot.platform.slack.replies"]
    assert f"[{asked.reference}]" in record.getMessage()
    assert (record.levelno == logging.INFO) is is_mistake


@pytest.mark.parametrize("error", [KeyError("x"), ZeroDivisionError(), AttributeError("y")], ids=repr)
def test_the_traceback_of_a_defect_is_in_the_log_only(
    office: Office, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    asked = office.make_request()
    office.replies().give_answer(asked, "summary", Audience.CHANNEL, Make(error))
    record = next(log_record for log_record in caplog.records if log_record.name == "bot.platform.slack.replies")
    assert record.exc_info
    assert (record.exc_info[1] is error, record.levelname) == (True, "ERROR")
    (told,) = office.list_whispers()
    assert told == describe_error(error, asked.reference)
    assert type(error).__name__ not in told


def test_an_error_is_told_once_and_not_made_again(office: Office) -> None:
    asked, make = office.make_request(), Make(GitHubUnavailable("Away."))
    for _ in range(3):
        office.replies().give_answer(asked, "summary", Audience.CHANNEL, make)
    assert (len(office.list_whispers()), make.count) == (1, 1)


PASSED_ON = [
    StoreUnavailable("The store is away."),
    PostingInProgress("Another process is posting this."),
    KeyboardInterrupt(),
]


@pytest.mark.parametrize("error", PASSED_ON, ids=lambda error: type(error).__name__)
def test_what_may_be_better_later_is_passed_on_and_tried_again(office: Office, error: BaseException) -> None:
    asked = office.make_request()
    with pytest.raises(type(error)) as caught:
        office.replies().give_answer(asked, "summary", Audience.CHANNEL, Make(error))
    assert (caught.value is error, office.list_whispers(), office.list_posts()) == (True, [], [])
    office.replies().give_answer(asked, "summary", Audience.CHANNEL, Make())
    assert office.list_posts() == ["For everybody"]


def test_slack_being_away_is_told_once_by_the_response_url_and_tried_again(office: Office) -> None:
    asked = office.make_request()
    told = []
    for seconds in (0, 5, 20, 40):
        replies = office.replies(NOW + timedelta(seconds=seconds))
        with pytest.raises(SlackUnavailable):
            replies.give_answer(asked, "digest", Audience.ASKER, Make(SlackUnavailable("Slack is away.")))
        told.append(["does not accept my answer" in whisper for whisper in office.list_whispers()])
    assert told == [[], [], [True], [True]], "what passes within a moment needs no words"
    office.replies().give_answer(asked, "digest", Audience.ASKER, Make())
    assert office.list_whispers()[1:] == ["For you"]


def test_an_answer_that_slack_may_have_lost_is_excused_and_posted_by_a_later_try(office: Office) -> None:
    asked, later = office.make_request(), office.replies(NOW + timedelta(seconds=20))
    office.slack.fail_next("chat.postMessage", status=503, times=2)
    for replies in (office.replies(), later):
        with pytest.raises(SlackUnavailable):
            replies.give_answer(asked, "summary", Audience.CHANNEL, Make())
    assert ["does not accept my answer" in whisper for whisper in office.list_whispers()] == [True]
    later.give_answer(asked, "summary", Audience.CHANNEL, Make())
    assert (office.list_posts(), len(office.list_whispers())) == (["For everybody"], 1)


def test_a_channel_that_is_limited_for_long_leaves_the_answer_to_the_asker_at_once(office: Office) -> None:
    office.slack.fail_next("chat.postMessage", retry_after=3_600)
    office.replies().give_answer(office.make_request(), "summary", Audience.CHANNEL, Make())
    assert (office.list_posts(), office.list_whispers()) == ([], ["For you"])


@pytest.mark.parametrize("error", [RateLimited("Wait.", 720.0), SlackUnavailable("Wait.", 720.0)], ids=repr)
def test_an_answer_that_has_to_wait_comes_later_and_its_asker_is_told_once_when(
    office: Office, error: PrdigestError
) -> None:
    asked = office.make_request()
    for seconds in (0, 720):
        with pytest.raises(type(error)) as caught:
            office.replies(NOW + timedelta(seconds=seconds)).give_answer(
                asked, "summary", Audience.CHANNEL, Make(error)
            )
        assert caught.value is error
    (told,) = office.list_whispers()
    assert "limits my rate. I'll continue at" in told
    office.replies(NOW + timedelta(seconds=1_440)).give_answer(asked, "summary", Audience.CHANNEL, Make())
    assert (office.list_posts(), len(office.list_whispers())) == (["For everybody"], 1)


def test_an_answer_that_would_come_too_late_is_refused_with_the_time_to_ask_again(office: Office) -> None:
    asked, error = office.make_request(), SlackUnavailable("Wait.", 720.0)
    for seconds in (0, 720):
        with pytest.raises(SlackUnavailable):
            office.replies(NOW + timedelta(seconds=seconds)).give_answer(
                asked, "summary", Audience.CHANNEL, Make(error)
            )
    office.replies(NOW + timedelta(seconds=1_440)).give_answer(asked, "summary", Audience.CHANNEL, Make(error))
    assert "Slack limits my rate: try again in 12 minutes." in office.list_whispers()[1]


def test_what_is_to_be_shared_waits_for_a_channel_that_is_limited(office: Office) -> None:
    office.slack.fail_next("chat.postMessage", retry_after=720)
    with pytest.raises(SlackUnavailable):
        office.replies().give_answer(office.make_request(), "share", Audience.SHARED, Make())
    assert ["Slack limits my rate" in whisper for whisper in office.list_whispers()] == [True]
    office.replies().give_answer(office.make_request(), "share", Audience.SHARED, Make())
    assert office.list_posts() == ["For everybody"]


def test_who_asked_in_a_thread_hears_that_slack_asks_for_a_pause(office: Office) -> None:
    thread = office.slack.add_message(HOME, "hello")
    asked = slack_request("mention:1", channel=HOME, thread=thread, message=thread)
    office.slack.fail_next("chat.postMessage", retry_after=720)
    with pytest.raises(SlackUnavailable):
        office.replies().give_answer(asked, "summary", Audience.CHANNEL, Make())
    assert ["Slack limits my rate" in whisper for whisper in office.list_whispers()] == [True]


# --- an asker who is hard to reach


def test_a_response_url_that_is_used_up_is_replaced_by_an_ephemeral_message(office: Office) -> None:
    asked = office.make_request()
    for n in range(USES + 2):
        office.replies().give_answer(asked, f"part {n}", Audience.ASKER, Make())
    assert office.list_whispers() == ["For you"] * (USES + 2)
    assert len(office.slack.list_calls_to("chat.postEphemeral")) == 2


@pytest.mark.parametrize("asked", [{}, {"response_url": "used up"}], ids=["none", "used up"])
@pytest.mark.parametrize("channel", ["C0OUT", "G0OUT", "C0OLD", "D0OTHERS", "C0UNKNOWN"])
def test_an_asker_who_can_not_be_reached_at_all_is_no_error(
    office: Office, caplog: pytest.LogCaptureFixture, asked: dict[str, str], channel: str
) -> None:
    caplog.set_level(logging.WARNING, "bot")
    if asked:
        asked = {"response_url": f"{office.slack.url}/response/never-given"}
    visitor, make = slack_request(channel=channel, **asked), Make()
    for _ in range(2):
        office.replies().give_answer(visitor, "summary", Audience.CHANNEL, make)
    assert (office.list_whispers(), make.count) == ([], 1)
    assert any(visitor.reference in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize("audience", [Audience.ASKER, Audience.CHANNEL])
@pytest.mark.parametrize("failure", [{"status": 503}, {"status": 500}, {"retry_after": 1}], ids=str)
def test_a_response_url_that_fails_for_a_moment_is_tried_again(
    office: Office, audience: Audience, failure: dict[str, Any]
) -> None:
    asked = replace(office.make_request(), channel="C0OUT")
    office.slack.fail_next(RESPONSE, **failure)
    with pytest.raises(SlackUnavailable):
        office.replies().give_answer(asked, "summary", audience, Make())
    office.replies().give_answer(asked, "summary", audience, Make())
    assert office.list_whispers() == ["For you"]


def test_an_error_that_could_not_be_told_is_told_by_the_next_try(office: Office) -> None:
    asked = office.make_request()
    office.slack.fail_next(RESPONSE, status=503)
    with pytest.raises(SlackUnavailable):
        office.replies().give_answer(asked, "summary", Audience.CHANNEL, Make(KeyError("x")))
    office.replies().give_answer(asked, "summary", Audience.CHANNEL, Make(KeyError("x")))
    assert office.list_whispers() == [describe_error(KeyError("x"), asked.reference)]


def test_without_the_scope_to_write_the_asker_gets_the_answer_by_the_response_url(store: Redis) -> None:
    with SlackEmulator(scopes=SCOPES - {"chat:write"}) as slack:
        office = Office(slack, store)
        office.replies().give_answer(office.make_request(), "summary", Audience.CHANNEL, Make())
        assert (office.list_posts(), office.list_whispers()) == ([], ["For you"])


def test_a_notice_is_what_is_typed_and_nothing_more() -> None:
    whispers = MemoryWhispers()
    replies = ReplySender(MemoryMessenger(), whispers, memory_answers(), lambda: NOW)
    replies.tell_asker(slack_request(), "Which *pull* request? Write <@U1> & its number, such as 35617.")
    assert only_text(whispers) == "Which *pull* request? Write <@U1> & its number, such as 35617."


# --- a Slack that is too busy


class BusyMessenger(MemoryMessenger):
    """Slack's rate limit, which the client has waited out in vain."""

    def post_message(self, *_arguments: Any, **_more: Any) -> str:
        raise SlackUnavailable("Slack limited the rate several times: try again in a few minutes.")


@pytest.mark.parametrize("audience", [Audience.CHANNEL, Audience.SHARED])
def test_a_rate_limit_is_tried_again_and_not_taken_for_a_channel_without_the_bot(audience: Audience) -> None:
    whispers = MemoryWhispers()
    replies = ReplySender(BusyMessenger(), whispers, memory_answers(), lambda: NOW)
    with pytest.raises(SlackUnavailable):
        replies.give_answer(slack_request(), "summary", audience, Make())
    assert whispers.sent_posts == []


# --- while an answer takes


QUICK = ResponseTimes(started_notice=0.02)


def quick_notices(office: Office, times: ResponseTimes = QUICK) -> ReplySender:
    client = make_slack_client(office.slack.token, office.slack.url)
    return ReplySender(
        SlackMessenger(client),
        SlackEphemeralMessenger(client),
        answer_store(office.store),
        lambda: NOW,
        response_times=times,
    )


def test_who_waits_is_told_once_what_is_done_and_who_does_not_is_told_nothing(office: Office) -> None:
    replies, asked = quick_notices(office), office.make_request()

    def wait_and_fail() -> Answer:
        eventually(office.list_whispers)
        raise SlackUnavailable("Slack is away.")

    with pytest.raises(SlackUnavailable):
        replies.give_answer(asked, "summary", Audience.CHANNEL, wait_and_fail, "Looking at <#7>…")
    assert office.list_whispers() == ["Looking at &lt;#7&gt;…"]
    waited = threading.Event()

    def make() -> Answer:
        # longer than a notice of this attempt would take
        waited.wait(0.1)
        return ANSWER

    replies.give_answer(asked, "summary", Audience.CHANNEL, make, "Looking at <#7>…")
    office.replies().give_answer(
        office.make_request(key="command:2"), "summary", Audience.CHANNEL, Make(), "Looking…"
    )
    assert (office.list_posts(), len(office.list_whispers())) == (["For everybody"] * 2, 1)


MINUTE = 0.1
HALF_DONE = "Reading merge 301 of 1,200, about 1 minute left."


@pytest.mark.parametrize("has_url", [True, False])
@pytest.mark.parametrize(
    ("channel", "in_thread", "audience"),
    [
        (HOME, False, Audience.CHANNEL),
        (HOME, True, Audience.CHANNEL),
        (HOME, True, Audience.SHARED),
        ("D0ASKER", False, Audience.CHANNEL),
        ("D0ASKER", True, Audience.CHANNEL),
    ],
)
def test_where_the_answer_will_be_a_message_shows_each_minute_how_far_it_is(
    office: Office, channel: str, in_thread: bool, audience: Audience, has_url: bool
) -> None:
    office.slack.add_channel("D0ASKER", "ada")
    thread = office.slack.add_message(channel, "upgrade v1") if in_thread else ""
    asked = replace(office.make_request(channel), thread=thread, message=thread)
    replies = quick_notices(office, ResponseTimes(first_response=1.0, progress_notice=MINUTE))
    shown: list[str] = []

    def work() -> Answer:
        note_progress(0, 1_200)
        for done in (300, 900):
            note_progress(done, 1_200)
            shown.append(eventually(partial(find_text, f"Reading merge {done + 1:,} of")))
        return ANSWER

    def find_text(words: str) -> str:
        return next((each for each in list_texts() if words in each), "")

    def list_texts() -> list[str]:
        messages = office.slack.list_replies(channel, thread) if thread else office.slack.list_messages(channel)
        return [each["text"] for each in messages if each["ts"] != thread]

    with deadlines.bound_work(600.0):
        replies.give_answer(asked if has_url else replace(asked, response_url=""), "upgrade", audience, work)
    assert shown == [HALF_DONE, HALF_DONE.replace("301", "901")]
    # one message, which the answer follows
    assert len(office.slack.list_calls_to("chat.postMessage")) == 2
    assert (list_texts(), office.list_whispers()) == (["For everybody"], [])


@pytest.mark.parametrize("is_dead", [False, True])
@pytest.mark.parametrize(
    ("channel", "audience"), [(HOME, Audience.ASKER), ("C0OUT", Audience.CHANNEL), ("D0OTHERS", Audience.CHANNEL)]
)
def test_an_asker_alone_is_told_three_times_so_that_the_answer_still_gets_through(
    office: Office, channel: str, audience: Audience, is_dead: bool
) -> None:
    replies = quick_notices(office, ResponseTimes(first_response=1.0, progress_notice=MINUTE))
    asked = office.make_request(channel)
    if is_dead:
        office.slack.fail_next(RESPONSE, status=404, times=9)

    def work() -> Answer:
        note_progress(300, 1_200)
        threading.Event().wait(7 * MINUTE)
        return ANSWER

    with deadlines.bound_work(600.0):
        replies.give_answer(asked, "upgrade", audience, work)
    # without a ``response_url``, Slack tells nobody anything where the bot is not
    is_reached = channel == HOME or not is_dead
    sentences = [*["Reading merge 301 of 1,200."] * 3, "For you"]
    assert office.list_whispers() == (sentences if is_reached else [])
    assert office.list_posts() == []


def test_what_an_attempt_showed_that_was_killed_is_edited_and_removed_by_the_next(office: Office) -> None:
    asked, messages = office.make_request(), []

    class Killed(BaseException):
        pass

    class Unreachable(SlackMessenger):
        def delete_message(self, channel: str, message: str) -> None:
            raise SlackUnavailable("Slack is away.")

    client = make_slack_client(office.slack.token, office.slack.url)
    times = ResponseTimes(first_response=1.0, progress_notice=MINUTE)

    def work() -> Answer:
        messages.append(eventually(office.list_posts))
        if len(messages) == 1:
            raise Killed
        return ANSWER

    for kind in (Unreachable, SlackMessenger):
        replies = ReplySender(
            kind(client), SlackEphemeralMessenger(client), answer_store(office.store), lambda: NOW, None, times
        )
        with deadlines.bound_work(600.0), suppress(Killed):
            replies.give_answer(asked, "upgrade", Audience.CHANNEL, work)
    assert messages == [[STILL_WORKING]] * 2
    assert office.list_posts() == ["For everybody"]


def test_who_has_no_response_url_waits_for_the_answer_itself(office: Office) -> None:
    waited = threading.Event()

    def make() -> Answer:
        waited.wait(0.1)
        return ANSWER

    quick_notices(office).give_answer(slack_request(), "summary", Audience.CHANNEL, make, "Looking…")
    assert (office.list_posts(), office.list_whispers()) == (["For everybody"], [])
