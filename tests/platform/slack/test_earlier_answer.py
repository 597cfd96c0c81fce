"""Who asks for the same thing within an hour gets a link to the answer, if it stands and says the same."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from localslack.state.workspace import START, Json
from redis import Redis

from bot.dates import Span
from bot.errors import StoreUnavailable
from bot.features.merges.requests import RisksRequest, SummaryRequest
from bot.platform.pulls.models import Reference
from bot.platform.slack.answers import (
    EARLIER_ANSWER_CODEC,
    Answer,
    EarlierAnswer,
    RepeatableAnswer,
    compute_content,
)
from bot.platform.slack.blocks import SHARE_SUMMARY, make_repeat_button, write_request
from bot.platform.slack.client import make_slack_client
from bot.platform.slack.messenger import SlackEphemeralMessenger, SlackMessenger
from bot.platform.slack.replies import ReplySender
from bot.platform.slack.requests import Audience, SlackRequest
from bot.platform.store.keys import EARLIER_ANSWER
from bot.platform.store.records import RecordStore
from tests.emulators.slack.server import SlackEmulator
from tests.features.digest.posting import HOME, post
from tests.helpers.builders import DAY, REPOSITORY
from tests.helpers.doubles import slack_request
from tests.helpers.records import answer_store, plant_hash, read_hash

NOW = datetime.fromtimestamp(START, UTC)
REQUEST = SummaryRequest((Reference(REPOSITORY, 7),))
LEAD = "This channel got the same answer within the last hour: "


def answer(text: str = "Seven", request: SummaryRequest | RisksRequest = REQUEST) -> Answer:
    public = post(text)
    again = RepeatableAnswer(
        write_request(request), compute_content(public), make_repeat_button(SHARE_SUMMARY, REQUEST)
    )
    return Answer(public, post(f"{text}, for you"), repeatable=again)


@dataclass
class Channel:
    slack: SlackEmulator
    store: Redis
    count: int = 0

    def records(self) -> RecordStore[EarlierAnswer]:
        return RecordStore(self.store, EARLIER_ANSWER_CODEC, EARLIER_ANSWER.lifetime)

    def replies(self, now: datetime = NOW) -> ReplySender:
        client = make_slack_client(self.slack.token, self.slack.url)
        messenger = SlackMessenger(client)
        return ReplySender(
            messenger,
            SlackEphemeralMessenger(client),
            answer_store(self.store),
            lambda: now,
            earlier_answers=self.records(),
        )

    def request(self, channel: str = HOME, **fields: str) -> SlackRequest:
        self.count += 1
        url = self.slack.make_response_url(channel, "U0ASKER")
        return slack_request(key=f"command:{self.count}", channel=channel, response_url=url, **fields)

    def ask(
        self,
        made: Answer,
        *,
        after: timedelta = timedelta(0),
        audience: Audience = Audience.CHANNEL,
        asked: SlackRequest | None = None,
    ) -> None:
        self.replies(NOW + after).give_answer(asked or self.request(), "summary", audience, lambda: made)

    def list_posts(self, channel: str = HOME) -> list[str]:
        return [message["text"] for message in self.slack.list_messages(channel)]

    def list_whispers(self) -> list[str]:
        return [shown["text"] for shown in self.slack.ephemerals]


@pytest.fixture
def channel(slack: SlackEmulator, store: Redis) -> Channel:
    slack.add_channel("C0OTHER", "other")
    return Channel(slack, store)


def test_the_same_answer_is_linked_with_a_button(channel: Channel) -> None:
    channel.ask(answer())
    channel.ask(answer(), after=timedelta(minutes=59))
    (message,) = channel.slack.list_messages(HOME)
    (shown,) = channel.slack.ephemerals
    assert shown["text"].startswith(LEAD)
    assert shown["text"].endswith(f"/archives/{HOME}/p{message['ts'].replace('.', '')}")
    link = shown["blocks"][0]["elements"][0]["elements"][1]
    assert (link["type"], link["text"], link["url"]) == ("link", "Seven", shown["text"].removeprefix(LEAD))
    (button,) = shown["blocks"][-1]["elements"]
    assert (button["text"]["text"], button["action_id"]) == ("Post it again", "share_summary_again")


RISKS = RisksRequest(REPOSITORY, Span(DAY.date, DAY.date, DAY.zone))


def test_what_is_not_the_same_is_posted(channel: Channel) -> None:
    """Each row asks after the first answer, and gets an answer of its own."""
    other = SummaryRequest((Reference(REPOSITORY, 8),))
    rows = {
        "other content": (answer("Seven, with new commits"), timedelta(0), Audience.CHANNEL),
        "another pull request": (answer(request=other), timedelta(0), Audience.CHANNEL),
        "another command": (answer(request=RISKS), timedelta(0), Audience.CHANNEL),
        "other options": (answer(request=replace(RISKS, top=3)), timedelta(0), Audience.CHANNEL),
        "shared by a button": (answer(), timedelta(0), Audience.SHARED),
        "an hour later": (answer(), timedelta(hours=1), Audience.CHANNEL),
    }
    channel.ask(answer())
    wrong = []
    for number, (name, (made, after, audience)) in enumerate(rows.items(), 2):
        channel.ask(made, after=after, audience=audience)
        if len(channel.list_posts()) != number or channel.list_whispers():
            wrong.append(name)
    assert wrong == []
    channel.ask(answer(), asked=channel.request("C0OTHER"))
    assert (channel.list_posts("C0OTHER"), channel.list_whispers()) == (["Seven"], [])


def test_private_answers_are_neither_linked_nor_remembered(channel: Channel) -> None:
    channel.ask(answer(), audience=Audience.ASKER)
    channel.ask(answer())
    channel.ask(answer(), audience=Audience.ASKER)
    assert (channel.list_posts(), channel.list_whispers()) == (["Seven"], ["Seven, for you"] * 2)


def test_a_shared_answer_is_the_one_that_is_linked_next(channel: Channel) -> None:
    channel.ask(answer())
    channel.ask(answer(), audience=Audience.SHARED)
    channel.ask(answer())
    _, last = channel.slack.list_messages(HOME)
    (told,) = channel.list_whispers()
    assert told.endswith(f"p{last['ts'].replace('.', '')}")


def delete(channel: Channel, message: Json) -> None:
    make_slack_client(channel.slack.token, channel.slack.url).chat_delete(channel=HOME, ts=message["ts"])


def test_an_answer_that_was_deleted_is_posted_again(channel: Channel) -> None:
    channel.ask(answer())
    delete(channel, channel.slack.list_messages(HOME)[0])
    channel.ask(answer())
    assert (channel.list_posts(), channel.list_whispers()) == (["Seven"], [])


@pytest.mark.parametrize("fault", ["internal_error", "channel_not_found"])
def test_without_an_address_the_answer_is_posted(channel: Channel, fault: str) -> None:
    channel.ask(answer())
    channel.slack.fail_next("chat.getPermalink", error=fault)
    channel.ask(answer())
    assert (channel.list_posts(), channel.list_whispers()) == (["Seven", "Seven"], [])


def test_where_the_bot_can_not_post_nothing_is_remembered(channel: Channel) -> None:
    channel.slack.add_channel("C0OUT", "out", member=False)
    for _ in range(2):
        channel.ask(answer(), asked=channel.request("C0OUT"))
    assert channel.list_whispers() == ["Seven, for you"] * 2


def test_the_same_request_delivered_again_gets_no_link_to_its_own_answer(channel: Channel) -> None:
    asked = channel.request()
    for _ in range(2):
        channel.ask(answer(), asked=asked)
    assert (channel.list_posts(), channel.list_whispers()) == (["Seven"], [])


def test_a_reply_in_a_thread_is_linked_there_and_the_line_is_shown_where_it_is_seen(channel: Channel) -> None:
    thread = channel.slack.add_message(HOME, "look at 7")
    first = slack_request(key="mention:1", thread=thread, message=channel.slack.add_message(HOME, "7", thread))
    second = slack_request(key="mention:2", thread=thread, message=channel.slack.add_message(HOME, "7", thread))
    channel.ask(answer(), asked=first)
    channel.ask(answer(), asked=second)
    (shown,) = channel.slack.ephemerals
    assert (shown["thread_ts"], f"thread_ts={thread}" in shown["text"]) == (thread, True)
    top = channel.slack.add_message(HOME, "7")
    channel.ask(answer(), asked=slack_request(key="mention:3", thread=top, message=top))
    assert (channel.slack.ephemerals[-1].get("thread_ts"), len(channel.slack.ephemerals)) == (None, 2)


def test_of_people_who_ask_at_once_one_is_answered_for_all(channel: Channel) -> None:
    asked = [channel.request() for _ in range(4)]
    with ThreadPoolExecutor(4) as crew:
        list(crew.map(lambda each: channel.ask(answer(), asked=each), asked))
    assert (channel.list_posts(), len(channel.list_whispers())) == (["Seven"], 3)


def test_the_record_lasts_an_hour_and_is_read_as_it_was_written(channel: Channel) -> None:
    channel.ask(answer())
    (key,) = [key.decode() for key in channel.store.scan_iter("given:*")]
    assert key.startswith(f"given:{HOME}:")
    assert 3_590 <= channel.store.ttl(key) <= 3_600
    (message,) = channel.slack.list_messages(HOME)
    content = answer().repeatable
    assert content is not None
    assert read_hash(channel.store, key) == {
        "version": "1",
        "message": message["ts"],
        "content": content.content,
        "posted_at": NOW.isoformat(),
    }


def test_a_record_that_can_not_be_read_counts_as_none(channel: Channel) -> None:
    channel.ask(answer())
    (key,) = [key.decode() for key in channel.store.scan_iter("given:*")]
    plant_hash(channel.store, key, posted_at="yesterday")
    channel.ask(answer())
    assert (channel.list_posts(), channel.list_whispers()) == (["Seven", "Seven"], [])
    plant_hash(channel.store, key, version="2")
    with pytest.raises(StoreUnavailable, match="newer version"):
        channel.ask(answer())


def test_the_title_is_shown_as_it_was_written(channel: Channel) -> None:
    hostile = "#7 &lt;!channel&gt; &amp; <https://evil.test|here>"
    for _ in range(2):
        channel.ask(answer(hostile))
    (shown,) = channel.slack.ephemerals
    link = shown["blocks"][0]["elements"][0]["elements"][1]
    assert link["text"] == "#7 <!channel> & here"
    assert "evil.test" not in str(shown["blocks"])
