import json
from dataclasses import dataclass, field
from itertools import product

import pytest

from bot.errors import SlackCallRefused, StoreUnavailable
from bot.platform.slack.answers import Answer
from bot.platform.slack.blocks import Attachment
from bot.platform.slack.replies import FILE_JSON, ReplySender
from bot.platform.slack.requests import Audience
from tests.features.digest.posting import HOME, MORNING, Crash, Fragile, Fuse, MemoryMessenger, post
from tests.helpers.doubles import MemoryWhispers, slack_request
from tests.helpers.records import memory_answers

FILE = Attachment("upgrade.md", "The whole checklist", "# Upgrade\n")
STEPS = ["load", "claim", "post_message", "attach_file", "save"]


class Strict(MemoryMessenger):
    def attach_file(self, channel: str, thread: str, file: Attachment) -> None:
        raise SlackCallRefused("missing", "missing_scope")


@dataclass
class Desk:
    messenger: MemoryMessenger = field(default_factory=MemoryMessenger)
    whispers: MemoryWhispers = field(default_factory=MemoryWhispers)

    def __post_init__(self) -> None:
        self._records = memory_answers()

    def give(self, audience: Audience, fuse: Fuse | None = None, **fields: str) -> None:
        ports = (self.messenger, self.whispers, self._records)
        messenger, whispers, records = (Fragile(port, fuse) if fuse else port for port in ports)
        replies = ReplySender(messenger, whispers, records, lambda: MORNING)  # type: ignore[arg-type]
        answer = Answer(post("For everybody"), post("For you"), attachment=FILE)
        replies.give_answer(slack_request(channel=HOME, **fields), "upgrade", audience, lambda: answer)


@pytest.mark.parametrize("audience", [Audience.CHANNEL, Audience.SHARED])
def test_a_file_follows_the_message_in_its_thread(audience: Audience) -> None:
    desk, fuse = Desk(), Fuse()
    desk.give(audience, fuse)
    assert fuse.calls == STEPS
    assert [text for *_, text in desk.messenger.messages] == ["For everybody"]
    assert desk.messenger.files == [f"{HOME} 1.0 upgrade.md"]


def test_a_file_of_an_answer_in_a_thread_is_in_that_thread() -> None:
    desk = Desk()
    desk.give(Audience.CHANNEL, thread="5.0")
    assert desk.messenger.files == [f"{HOME} 5.0 upgrade.md"]


@pytest.mark.parametrize("thread", ["", "5.0"])
@pytest.mark.parametrize(("step", "with_effect"), list(product(range(1, len(STEPS) + 1), [False, True])))
def test_a_process_that_dies_at_any_step_leaves_one_message_with_one_file(
    step: int, with_effect: bool, thread: str
) -> None:
    desk = Desk()
    with pytest.raises(Crash):
        desk.give(Audience.CHANNEL, Fuse(step, with_effect), thread=thread)
    for _ in range(2):
        desk.give(Audience.CHANNEL, thread=thread)
    assert len(desk.messenger.messages) == 1
    assert desk.messenger.files == [f"{HOME} {thread or '1.0'} upgrade.md"]


def test_a_recorded_file_is_read_and_one_of_a_later_version_is_no_other() -> None:
    text = FILE_JSON.dump_text(FILE)
    assert (json.loads(text)["version"], FILE_JSON.load_text(text)) == (1, FILE)
    with pytest.raises(StoreUnavailable):
        FILE_JSON.load_text('{"version": 2, "name": "a", "title": "b", "text": "c"}')


def test_the_asker_alone_reads_how_to_get_the_file() -> None:
    desk = Desk()
    desk.give(Audience.ASKER)
    assert (desk.messenger.messages, desk.messenger.files) == ([], [])
    ((_, whisper),) = desk.whispers.sent_posts
    assert "The whole checklist: Slack shows no file to one person alone." in str(whisper)


def test_a_written_request_in_direct_messages_gets_the_file() -> None:
    desk = Desk()
    replies = ReplySender(desk.messenger, desk.whispers, memory_answers(), lambda: MORNING)
    asked = slack_request(channel="D1", message="4.0", response_url="")
    answer = Answer(post("For everybody"), post("For you"), attachment=FILE)
    replies.give_answer(asked, "upgrade", Audience.ASKER, lambda: answer)
    assert [text for *_, text in desk.messenger.messages] == ["For you"]
    assert desk.messenger.files == ["D1 1.0 upgrade.md"]


def test_a_bot_without_the_scope_for_files_says_so() -> None:
    desk = Desk(Strict())
    desk.give(Audience.CHANNEL)
    assert len(desk.messenger.messages) == 1
    ((_, whisper),) = desk.whispers.sent_posts
    assert "files:write" in str(whisper)
