from dataclasses import replace
from typing import Any

import pytest
from localslack.methods.response_urls import RESPONSE, SECONDS, USES
from localslack.state.workspace import START

from bot.errors import SlackCallRefused, SlackUnavailable
from bot.platform.slack.client import make_slack_client
from bot.platform.slack.messenger import SlackEphemeralMessenger, SlackViews
from bot.platform.slack.requests import SlackRequest
from tests.emulators.slack.server import SlackEmulator
from tests.features.digest.posting import HOME, post
from tests.helpers.checks import closed_port, is_one_sentence
from tests.helpers.doubles import slack_request
from tests.helpers.worlds import Moved, WebPage
from tests.hostile.tables.addresses import FOREIGN, OURS, SLACK

HELLO = post("Hello")


def whispers(slack: SlackEmulator) -> SlackEphemeralMessenger:
    return SlackEphemeralMessenger(make_slack_client(slack.token, slack.url))


def views(slack: SlackEmulator) -> SlackViews:
    return SlackViews(make_slack_client(slack.token, slack.url))


def make_request(slack: SlackEmulator, channel: str = HOME) -> SlackRequest:
    return slack_request(channel=channel, response_url=slack.make_response_url(channel, "U0ASKER"))


def window(text: str = "Reading") -> dict[str, Any]:
    block = {"type": "section", "text": {"type": "plain_text", "text": text}}
    return {"type": "modal", "title": {"type": "plain_text", "text": "#7"}, "blocks": [block]}


def list_views(slack: SlackEmulator) -> list[str]:
    return [view["blocks"][0]["text"]["text"] for view in slack.views]


# --- whispers


def test_a_whisper_goes_to_the_response_url_as_it_was_made(slack: SlackEmulator) -> None:
    whispers(slack).send(make_request(slack), HELLO)
    (told,) = slack.ephemerals
    assert (told["text"], told["blocks"], told["user"]) == ("Hello", HELLO.build_payload()["blocks"], "U0ASKER")
    (call,) = slack.list_calls_to(RESPONSE)
    assert (call["response_type"], call["replace_original"]) == ("ephemeral", False)
    assert slack.list_calls_to("chat.postEphemeral") == []


def test_the_message_with_the_button_stays_as_it_is(slack: SlackEmulator) -> None:
    origin = slack.add_message(HOME, "with a button")
    url = slack.make_response_url(HOME, "U0ASKER", origin=origin)
    whispers(slack).send(slack_request(response_url=url), HELLO)
    assert [message["text"] for message in slack.list_messages(HOME)] == ["with a button"]
    assert len(slack.ephemerals) == 1


def test_without_a_response_url_it_is_an_ephemeral_message(slack: SlackEmulator) -> None:
    whispers(slack).send(slack_request(), HELLO)
    (told,) = slack.ephemerals
    assert (told["text"], told["channel"], told["user"], told["thread_ts"]) == ("Hello", HOME, "U0ASKER", None)
    assert told["blocks"] == HELLO.build_payload()["blocks"]


def test_without_a_response_url_it_goes_to_the_thread_where_they_asked(slack: SlackEmulator) -> None:
    thread = slack.add_message(HOME, "lead")
    asked_for = slack.add_message(HOME, "look at 7", thread_ts=thread)
    whispers(slack).send(slack_request(thread=thread, message=asked_for), HELLO)
    assert [told["thread_ts"] for told in slack.ephemerals] == [thread]


def test_the_thread_that_a_message_may_begin_shows_nothing_so_it_goes_to_the_channel(slack: SlackEmulator) -> None:
    message = slack.add_message(HOME, "look at 7")
    whispers(slack).send(slack_request(thread=message, message=message), HELLO)
    assert [told["thread_ts"] for told in slack.ephemerals] == [None]
    assert slack.unshown == []


@pytest.mark.parametrize("is_in_thread", [True, False], ids=["in a thread", "at top level"])
def test_in_direct_messages_it_is_an_ordinary_message_beside_what_was_asked(
    slack: SlackEmulator, is_in_thread: bool
) -> None:
    lead = slack.add_message("D0ASKER", "lead")
    asked_for = slack.add_message("D0ASKER", "look at 7", thread_ts=lead) if is_in_thread else lead
    whispers(slack).send(slack_request(channel="D0ASKER", thread=lead, message=asked_for), HELLO)
    assert (slack.ephemerals, slack.unshown) == ([], [])
    messages = slack.list_replies("D0ASKER", lead) if is_in_thread else slack.list_messages("D0ASKER")
    assert [message["text"] for message in messages] == ["look at 7" if is_in_thread else "lead", "Hello"]


def test_who_clicks_in_a_thread_is_told_there(slack: SlackEmulator) -> None:
    lead = slack.add_message(HOME, "lead")
    reply = slack.add_message(HOME, "an answer with a button", thread_ts=lead)
    visitor = replace(make_request(slack), thread=lead, message=reply)
    whispers(slack).send(visitor, HELLO)
    assert [told["thread_ts"] for told in slack.ephemerals] == [lead]
    slack.fail_next("chat.postEphemeral", error="not_in_channel")
    whispers(slack).send(visitor, HELLO)
    assert [told["thread_ts"] for told in slack.ephemerals] == [lead, None]


def test_who_clicks_below_the_first_message_of_a_thread_is_told_in_the_channel(slack: SlackEmulator) -> None:
    lead = slack.add_message(HOME, "lead with a button")
    slack.add_message(HOME, "reply", thread_ts=lead)
    whispers(slack).send(replace(make_request(slack), thread=lead, message=lead), HELLO)
    assert [told["thread_ts"] for told in slack.ephemerals] == [None]


def test_a_response_url_that_is_used_up_is_replaced(slack: SlackEmulator) -> None:
    visitor = make_request(slack)
    for _ in range(USES + 1):
        whispers(slack).send(visitor, HELLO)
    assert (len(slack.ephemerals), len(slack.list_calls_to("chat.postEphemeral"))) == (USES + 1, 1)


def test_a_response_url_that_is_too_old_is_replaced() -> None:
    moment = [float(START)]
    with SlackEmulator(now=lambda: moment[0]) as slack:
        visitor = make_request(slack)
        moment[0] += SECONDS + 1
        whispers(slack).send(visitor, HELLO)
        assert len(slack.list_calls_to("chat.postEphemeral")) == len(slack.ephemerals) == 1


def test_a_response_url_that_does_not_take_the_message_is_replaced(slack: SlackEmulator) -> None:
    slack.fail_next(RESPONSE, error="invalid_blocks", status=400)
    whispers(slack).send(make_request(slack), HELLO)
    assert len(slack.list_calls_to("chat.postEphemeral")) == 1


@pytest.mark.parametrize("failure", [{"status": 500}, {"status": 503}, {"retry_after": 1}], ids=str)
def test_a_response_url_that_fails_is_unavailable_and_not_replaced(
    slack: SlackEmulator, failure: dict[str, Any]
) -> None:
    slack.fail_next(RESPONSE, **failure)
    with pytest.raises(SlackUnavailable) as caught:
        whispers(slack).send(make_request(slack), HELLO)
    assert is_one_sentence(str(caught.value))
    assert slack.list_calls_to("chat.postEphemeral") == []


@pytest.mark.slow
def test_a_network_that_is_away_is_unavailable(slack: SlackEmulator) -> None:
    visitor = slack_request(response_url=f"http://127.0.0.1:{closed_port()}/response/R1")
    with pytest.raises(SlackUnavailable):
        whispers(slack).send(visitor, HELLO)
    with pytest.raises(SlackUnavailable):
        SlackEphemeralMessenger(make_slack_client("xoxb-test", f"http://127.0.0.1:{closed_port()}")).send(
            slack_request(), HELLO
        )


def test_a_page_of_whoever_stands_between_is_unavailable(slack: SlackEmulator) -> None:
    with WebPage(502) as world, pytest.raises(SlackUnavailable):
        whispers(slack).send(slack_request(response_url=f"{world.url}/response/R1"), HELLO)


UNREACHABLE = ["not_in_channel", "channel_not_found", "is_archived", "user_not_in_channel", "missing_scope"]


@pytest.mark.parametrize("code", UNREACHABLE)
@pytest.mark.parametrize("url", ["", "used"])
def test_someone_who_can_not_be_reached_is_only_logged(
    slack: SlackEmulator, caplog: pytest.LogCaptureFixture, code: str, url: str
) -> None:
    visitor = slack_request(response_url=f"{slack.url}/response/{url}" if url else "")
    slack.fail_next("chat.postEphemeral", error=code)
    whispers(slack).send(visitor, HELLO)
    assert slack.ephemerals == []
    assert any(visitor.reference in record.getMessage() for record in caplog.records)


def test_a_rate_limit_is_no_reason_to_give_somebody_up(slack: SlackEmulator) -> None:
    client = make_slack_client(slack.token, slack.url)
    client.retry_handlers.clear()
    slack.fail_next("chat.postEphemeral", retry_after=1)
    with pytest.raises(SlackUnavailable):
        SlackEphemeralMessenger(client).send(slack_request(), HELLO)


@pytest.mark.parametrize("address", FOREIGN, ids=ascii)
def test_an_address_that_is_not_slacks_is_not_asked(address: str) -> None:
    assert not SlackEphemeralMessenger(make_slack_client("xoxb-test", SLACK)).is_slack_url(address)


@pytest.mark.parametrize("address", OURS)
def test_the_addresses_that_slack_gives_are_slacks(address: str) -> None:
    assert SlackEphemeralMessenger(make_slack_client("xoxb-test", SLACK)).is_slack_url(address)


def test_who_came_with_a_foreign_address_is_told_all_the_same(slack: SlackEmulator) -> None:
    whispers(slack).send(slack_request(response_url="http://localhost:1/response/R1"), HELLO)
    assert [call["text"] for call in slack.list_calls_to("chat.postEphemeral")] == ["Hello"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_answer_and_no_token_is_sent_on_to_another_address(slack: SlackEmulator, status: int) -> None:
    with WebPage() as elsewhere, Moved(status, elsewhere.url) as world:
        with pytest.raises((SlackCallRefused, SlackUnavailable)):
            SlackEphemeralMessenger(make_slack_client("xoxb-test", world.url)).send(slack_request(), HELLO)
        whispers(slack).send(slack_request(response_url=f"{world.url}/response/R1"), HELLO)
        assert elsewhere.asked == []
    assert [told["text"] for told in slack.ephemerals] == ["Hello"]


def test_the_response_url_is_not_in_the_log(slack: SlackEmulator, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "bot")
    url = f"{slack.url}/response/secret-part"
    whispers(slack).send(slack_request(response_url=url, channel="C0UNKNOWN"), HELLO)
    assert caplog.records
    assert not [record for record in caplog.records if "secret-part" in record.getMessage()]


# --- windows


def test_a_window_is_opened_and_found_again_by_its_key(slack: SlackEmulator) -> None:
    views(slack).open_view(slack.make_trigger_id(), "action:1", window())
    assert views(slack).update_view("action:1", window("Read"))
    (view,) = slack.views
    assert (list_views(slack), view["external_id"]) == (["Read"], "action:1")


def test_windows_of_other_keys_are_left_alone(slack: SlackEmulator) -> None:
    for key in ("action:1", "action:2"):
        views(slack).open_view(slack.make_trigger_id(), key, window(key))
    views(slack).update_view("action:2", window("Read"))
    assert list_views(slack) == ["action:1", "Read"]


def test_a_window_may_be_filled_more_than_once(slack: SlackEmulator) -> None:
    views(slack).open_view(slack.make_trigger_id(), "action:1", window())
    for text in ("One", "Two", "Two"):
        assert views(slack).update_view("action:1", window(text))
    assert list_views(slack) == ["Two"]


def test_a_window_that_was_closed_or_never_opened_is_no_error(slack: SlackEmulator) -> None:
    assert not views(slack).update_view("action:1", window())
    assert slack.views == []


def test_the_view_that_was_given_is_not_changed(slack: SlackEmulator) -> None:
    view = window()
    views(slack).open_view(slack.make_trigger_id(), "action:1", view)
    views(slack).update_view("action:1", view)
    assert view == window()


@pytest.mark.parametrize(
    ("seconds", "spent", "code"), [(-1.0, False, "expired_trigger_id"), (3.0, True, "exchanged_trigger_id")]
)
def test_a_trigger_opens_one_window_in_time(slack: SlackEmulator, seconds: float, spent: bool, code: str) -> None:
    trigger = slack.make_trigger_id()
    if spent:
        views(slack).open_view(trigger, "action:0", window())
    slack.triggers.seconds = seconds
    with pytest.raises(SlackCallRefused) as caught:
        views(slack).open_view(trigger, "action:1", window())
    assert (caught.value.code, is_one_sentence(str(caught.value))) == (code, True)


@pytest.mark.parametrize("code", ["invalid_arguments", "view_too_large", "hash_conflict"])
def test_what_slack_refuses_to_show_is_an_error(slack: SlackEmulator, code: str) -> None:
    views(slack).open_view(slack.make_trigger_id(), "action:1", window())
    slack.fail_next("views.update", error=code)
    with pytest.raises(SlackCallRefused) as caught:
        views(slack).update_view("action:1", window("Read"))
    assert caught.value.code == code


# --- App Home, which is no channel

AT_HOME = replace(slack_request(), channel="")


def test_who_is_in_app_home_is_told_by_direct_message(slack: SlackEmulator) -> None:
    whispers(slack).send(AT_HOME, HELLO)
    (told,) = slack.list_messages("D0ASKER")
    assert (told["text"], told["blocks"][0]["type"]) == ("Hello", "header")
    assert (slack.ephemerals, slack.list_messages(HOME)) == ([], [])


@pytest.mark.parametrize("failure", [{"status": 503}, {"hang_up": True}, {"error": "fatal_error"}], ids=str)
def test_a_direct_message_that_fails_is_unavailable(slack: SlackEmulator, failure: dict[str, Any]) -> None:
    slack.fail_next("chat.postMessage", **failure)
    with pytest.raises(SlackUnavailable):
        whispers(slack).send(AT_HOME, HELLO)


@pytest.mark.parametrize("code", ["channel_not_found", "cannot_dm_bot", "messages_tab_disabled", "missing_scope"])
def test_someone_who_takes_no_direct_message_is_only_logged(
    slack: SlackEmulator, caplog: pytest.LogCaptureFixture, code: str
) -> None:
    slack.fail_next("chat.postMessage", error=code)
    whispers(slack).send(AT_HOME, HELLO)
    assert any(AT_HOME.reference in record.getMessage() for record in caplog.records)
