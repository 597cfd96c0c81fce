"""Answering that breaks off anywhere, and is run again: everybody sees one answer, the asker at least one."""

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any, cast

import pytest
from localslack.loopback import HangUp
from localslack.methods.response_urls import RESPONSE
from localslack.state.workspace import START
from redis import Redis

from bot.errors import PrdigestError, SlackCallRefused, SlackUnavailable, StoreUnavailable
from bot.platform.slack.answers import Answer
from bot.platform.slack.client import make_slack_client
from bot.platform.slack.messenger import SlackEphemeralMessenger, SlackMessenger
from bot.platform.slack.replies import ReplySender
from bot.platform.slack.requests import Audience, SlackRequest
from tests.emulators.slack.server import SCOPES, SlackEmulator
from tests.features.digest.posting import HOME, Crash, Fragile, Fuse, MemoryMessenger, post
from tests.helpers.doubles import MemoryWhispers, slack_request
from tests.helpers.records import answer_store, memory_answers

NOW = datetime.fromtimestamp(START, UTC)
PUBLIC = [Audience.CHANNEL, Audience.SHARED]
EITHER = (False, True)

# the calls of a whole run to the ports: where the bot is a member, where it is not, and for the asker alone
POSTED = ["load", "claim", "post_message", "save"]
REFUSED = ["load", "claim", "post_message", "send", "save"]
WHISPERED = ["load", "send", "save"]


class Make:
    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> Answer:
        self.count += 1
        return Answer(post(f"For everybody {self.count}"), post(f"For you {self.count}"))


@dataclass
class Office:
    """Replies with a fuse in front of each of their ports, over a Slack on the loopback and a real store."""

    slack: SlackEmulator
    store: Redis

    def replies(self, fuse: Fuse | None = None, now: datetime = NOW) -> ReplySender:
        client = make_slack_client(self.slack.token, self.slack.url)
        records = answer_store(self.store)
        ports: list[Any] = [SlackMessenger(client), SlackEphemeralMessenger(client), records]
        messenger, whispers, kept = [cast("Any", Fragile(port, fuse)) if fuse else port for port in ports]
        return ReplySender(messenger, whispers, kept, lambda: now)

    def make_request(self, channel: str = HOME) -> SlackRequest:
        return slack_request(channel=channel, response_url=self.slack.make_response_url(channel, "U0ASKER"))

    def list_posts(self) -> list[str]:
        return [message["text"] for message in self.slack.list_messages(HOME)]

    def list_whispers(self) -> list[str]:
        return [told["text"] for told in self.slack.ephemerals]


@pytest.fixture
def office(slack: SlackEmulator, store: Redis) -> Office:
    slack.add_channel("C0OUT", "out", member=False)
    return Office(slack, store)


WHOLE = [(HOME, Audience.CHANNEL, POSTED), ("C0OUT", Audience.CHANNEL, REFUSED), (HOME, Audience.ASKER, WHISPERED)]


@pytest.mark.parametrize(("channel", "audience", "steps"), WHOLE)
def test_the_lists_are_those_of_a_whole_run(
    office: Office, channel: str, audience: Audience, steps: list[str]
) -> None:
    fuse = Fuse()
    office.replies(fuse).give_answer(office.make_request(channel), "summary", audience, Make())
    assert fuse.calls == steps


@pytest.mark.parametrize("audience", PUBLIC)
@pytest.mark.parametrize(("step", "with_effect"), list(product(range(1, len(POSTED) + 1), EITHER)))
def test_a_process_that_dies_at_any_step_of_posting_leaves_one_answer_to_the_next(
    office: Office, step: int, with_effect: bool, audience: Audience
) -> None:
    asked, make, fuse = office.make_request(), Make(), Fuse(step, with_effect)
    with pytest.raises(Crash):
        office.replies(fuse).give_answer(asked, "summary", audience, make)
    assert fuse.burnt
    for minutes in (1, 90):
        office.replies(now=NOW + timedelta(minutes=minutes)).give_answer(asked, "summary", audience, make)
    assert (len(office.list_posts()), office.list_whispers()) == (1, [])
    # made again only where the channel has nothing of it and the work was begun
    unposted = POSTED.index("claim") + 1 == step or (step, with_effect) == (
        POSTED.index("post_message") + 1,
        False,
    )
    assert make.count == (2 if unposted else 1)


@pytest.mark.parametrize(("channel", "audience", "steps"), WHOLE[1:])
@pytest.mark.parametrize("with_effect", EITHER)
def test_a_process_that_dies_at_any_step_of_whispering_tells_the_asker_once_or_twice_and_nobody_else(
    office: Office, channel: str, audience: Audience, steps: list[str], with_effect: bool
) -> None:
    for step, name in enumerate(steps, 1):
        told, make = len(office.list_whispers()), Make()
        asked = replace(office.make_request(channel), key=f"visit {step}")
        # a post that is refused has no effect after which to die
        with suppress(Crash):
            office.replies(Fuse(step, with_effect)).give_answer(asked, "summary", audience, make)
        for _ in range(2):
            office.replies().give_answer(asked, "summary", audience, make)
        twice = (name == "send" and with_effect) or (step == len(steps) and not with_effect)
        assert (step, len(office.list_whispers()) - told) == (step, 2 if twice else 1)
    assert office.list_posts() == []


@pytest.mark.parametrize("steps", [(first, second) for first in range(1, 5) for second in range(1, 6)])
@pytest.mark.parametrize("with_effect", EITHER)
def test_two_processes_that_die_one_after_the_other_leave_one_answer(
    office: Office, steps: tuple[int, int], with_effect: bool
) -> None:
    asked, make = office.make_request(), Make()
    for step in steps:
        with suppress(Crash):
            office.replies(Fuse(step, with_effect)).give_answer(asked, "summary", Audience.CHANNEL, make)
    office.replies().give_answer(asked, "summary", Audience.CHANNEL, make)
    assert (len(office.list_posts()), office.list_whispers()) == (1, [])


@pytest.mark.parametrize("error", [StoreUnavailable, SlackUnavailable])
@pytest.mark.parametrize(("step", "with_effect"), list(product(range(1, len(POSTED) + 1), EITHER)))
def test_a_world_that_goes_away_at_any_step_is_passed_on_and_leaves_one_answer_to_the_next(
    office: Office, step: int, with_effect: bool, error: type[PrdigestError]
) -> None:
    asked, make = office.make_request(), Make()
    fuse = Fuse(step, with_effect, error, for_good=True)
    with pytest.raises(error):
        office.replies(fuse).give_answer(asked, "summary", Audience.CHANNEL, make)
    office.replies().give_answer(asked, "summary", Audience.CHANNEL, make)
    assert (len(office.list_posts()), office.list_whispers()) == (1, [])


FAILURES: list[dict[str, Any]] = [{"status": 503}, {"status": 500}, {"hang_up": True}, {"error": "internal_error"}]


@pytest.mark.parametrize("after_effect", EITHER)
@pytest.mark.parametrize("failure", FAILURES, ids=str)
def test_a_post_whose_answer_was_lost_is_found_and_not_posted_again(
    office: Office, failure: dict[str, Any], after_effect: bool
) -> None:
    asked, make = office.make_request(), Make()
    office.slack.fail_next("chat.postMessage", after_effect=after_effect, **failure)
    with pytest.raises(SlackUnavailable):
        office.replies().give_answer(asked, "summary", Audience.CHANNEL, make)
    office.replies().give_answer(asked, "summary", Audience.CHANNEL, make)
    office.replies().give_answer(asked, "summary", Audience.CHANNEL, make)
    posts = len(office.slack.list_calls_to("chat.postMessage"))
    assert (office.list_posts(), posts, make.count) == (
        (["For everybody 1"], 1, 1) if after_effect else (["For everybody 2"], 2, 2)
    )


@pytest.mark.parametrize("after_effect", EITHER)
def test_a_reply_whose_answer_was_lost_is_found_in_its_thread(office: Office, after_effect: bool) -> None:
    thread = office.slack.add_message(HOME, "look at 7")
    asked, make = slack_request(thread=thread), Make()
    office.slack.fail_next("chat.postMessage", status=503, after_effect=after_effect)
    with pytest.raises(SlackUnavailable):
        office.replies().give_answer(asked, "summary", Audience.CHANNEL, make)
    office.replies().give_answer(asked, "summary", Audience.CHANNEL, make)
    assert len(office.slack.list_replies(HOME, thread)) == 1
    assert office.list_posts() == ["look at 7"]


@pytest.mark.parametrize("minutes", [-9, 0, 9])
def test_clocks_that_are_apart_do_not_hide_what_was_posted(office: Office, minutes: int) -> None:
    asked, make, now = office.make_request(), Make(), NOW + timedelta(minutes=minutes)
    office.slack.fail_next("chat.postMessage", status=503, after_effect=True)
    with pytest.raises(SlackUnavailable):
        office.replies(now=now).give_answer(asked, "summary", Audience.CHANNEL, make)
    office.replies(now=now + timedelta(hours=3)).give_answer(asked, "summary", Audience.CHANNEL, make)
    assert office.list_posts() == ["For everybody 1"]


def test_what_was_posted_is_found_behind_what_others_wrote_since(office: Office) -> None:
    asked, make = office.make_request(), Make()
    with pytest.raises(Crash):
        office.replies(Fuse(POSTED.index("post_message") + 1, with_effect=True)).give_answer(
            asked, "summary", Audience.CHANNEL, make
        )
    for n in range(450):
        office.slack.add_message(HOME, f"chat {n}")
    office.replies().give_answer(asked, "summary", Audience.CHANNEL, make)
    assert [text for text in office.list_posts() if not text.startswith("chat")] == ["For everybody 1"]


def test_a_search_that_fails_is_passed_on_and_nothing_is_posted_blindly(office: Office) -> None:
    asked, make = office.make_request(), Make()
    office.slack.fail_next("chat.postMessage", status=503, after_effect=True)
    office.slack.fail_next("conversations.history", status=503)
    for _ in range(2):
        with pytest.raises(SlackUnavailable):
            office.replies().give_answer(asked, "summary", Audience.CHANNEL, make)
    office.replies().give_answer(asked, "summary", Audience.CHANNEL, make)
    assert (office.list_posts(), make.count) == (["For everybody 1"], 1)


def test_another_visits_post_is_not_taken_for_this_ones(office: Office) -> None:
    office.replies().give_answer(slack_request("one"), "summary", Audience.CHANNEL, Make())
    office.slack.fail_next("chat.postMessage", status=503)
    with pytest.raises(SlackUnavailable):
        office.replies().give_answer(slack_request("two"), "summary", Audience.CHANNEL, Make())
    office.replies().give_answer(slack_request("two"), "summary", Audience.CHANNEL, Make())
    assert len(office.list_posts()) == 2


def test_a_bot_that_was_invited_between_two_tries_posts(office: Office) -> None:
    office.slack.workspace.channels[HOME].member = False
    asked, make = office.make_request(), Make()
    with pytest.raises(Crash):
        office.replies(Fuse(REFUSED.index("send") + 1)).give_answer(asked, "summary", Audience.CHANNEL, make)
    office.slack.workspace.channels[HOME].member = True
    office.replies().give_answer(asked, "summary", Audience.CHANNEL, make)
    assert (len(office.list_posts()), office.list_whispers()) == (1, [])


@pytest.mark.parametrize(("call", "with_effect"), list(product((1, 2), EITHER)))
def test_a_lost_connection_to_the_response_url_tells_the_asker_at_least_once(
    office: Office, call: int, with_effect: bool
) -> None:
    fuse, asked, make = Fuse(call, with_effect, HangUp), office.make_request("C0OUT"), Make()
    office.slack.before, office.slack.after = fuse.before, fuse.after
    with suppress(SlackUnavailable):
        office.replies().give_answer(asked, "summary", Audience.CHANNEL, make)
    office.slack.before = office.slack.after = None
    office.replies().give_answer(asked, "summary", Audience.CHANNEL, make)
    assert 1 <= len(office.list_whispers()) <= 2
    assert len(office.slack.list_calls_to(RESPONSE)) <= 3


# --- a channel that can be written to and not read


class Unread(MemoryMessenger):
    code = "missing_scope"

    def post_message(self, *arguments: Any, **more: Any) -> str:
        super().post_message(*arguments, **more)
        raise SlackUnavailable("Slack answered with a server error: try again in a few minutes.")

    def find_posts(self, *_arguments: Any, **_more: Any) -> dict[str, str]:
        raise SlackCallRefused("Slack does not let the bot read.", self.code)


@pytest.mark.parametrize("code", ["missing_scope", "ratelimited", "restricted_action", "invalid_cursor"])
def test_a_channel_that_can_not_be_read_for_another_reason_is_not_posted_to_blindly(code: str) -> None:
    messenger = Unread()
    messenger.code = code
    replies = ReplySender(messenger, MemoryWhispers(), memory_answers(), lambda: NOW)
    for _ in range(3):
        with suppress(PrdigestError):
            replies.give_answer(slack_request(), "summary", Audience.CHANNEL, Make())
    assert len(messenger.messages) == 1


def test_without_leave_to_read_a_try_that_broke_off_is_not_repeated_blindly(store: Redis) -> None:
    unread = SCOPES - {"channels:history", "groups:history", "im:history"}
    with SlackEmulator(scopes=unread) as slack:
        office = Office(slack, store)
        asked, make = office.make_request(), Make()
        slack.fail_next("chat.postMessage", status=503, after_effect=True)
        for _ in range(3):
            with suppress(PrdigestError):
                office.replies().give_answer(asked, "summary", Audience.CHANNEL, make)
        assert len(office.list_posts()) == 1


# --- in direct messages


def make_direct_request(office: Office, *, is_in_thread: bool) -> SlackRequest:
    lead = office.slack.add_message("D0ASKER", "lead", "U0ASKER")
    message = office.slack.add_message("D0ASKER", "look", "U0ASKER", lead) if is_in_thread else lead
    return slack_request(channel="D0ASKER", thread=lead, message=message)


@pytest.mark.parametrize("is_in_thread", EITHER)
@pytest.mark.parametrize("audience", [Audience.ASKER, Audience.HERE])
@pytest.mark.parametrize(("step", "with_effect"), list(product(range(1, len(POSTED) + 1), EITHER)))
def test_in_direct_messages_what_is_for_the_asker_alone_is_there_once(
    office: Office, step: int, with_effect: bool, audience: Audience, is_in_thread: bool
) -> None:
    asked, fuse = make_direct_request(office, is_in_thread=is_in_thread), Fuse(step, with_effect)
    with pytest.raises(Crash):
        office.replies(fuse).give_answer(asked, "tell", audience, Make())
    assert fuse.burnt
    for minutes in (1, 90):
        office.replies(now=NOW + timedelta(minutes=minutes)).give_answer(asked, "tell", audience, Make())
    messages = (
        office.slack.list_replies("D0ASKER", asked.thread)
        if is_in_thread
        else office.slack.list_messages("D0ASKER")
    )
    assert [message["text"][:7] for message in messages if "bot_id" in message] == ["For you"]
    assert (office.slack.ephemerals, office.slack.unshown) == ([], [])
