import json
import signal
from collections.abc import Callable
from typing import Any

from localslack.loopback import HangUp
from localslack.state.workspace import Json

from bot.platform.store.connection import RedisCache
from tests.crash.conftest import Site, site_in
from tests.crash.overlap import overlapping
from tests.crash.processes.test_stopped import STOPPED, _is_told
from tests.crash.processes.test_worker_killed import both, in_both, replace_worker
from tests.emulators.claude.server import Stall, Step, default_answer
from tests.helpers.checks import eventually
from tests.scenarios.conversations.asking import LONG, answer, is_question, prompt_of, question_of

# where a worker is killed: in a call to Slack, before its effect or after it, or while the model writes
MOMENTS = {
    "C0START": ("chat.startStream", False),
    "C0STARTED": ("chat.startStream", True),
    "C0APPEND": ("chat.appendStream", False),
    "C0APPENDED": ("chat.appendStream", True),
    "C0STOP": ("chat.stopStream", False),
    "C0STOPPED": ("chat.stopStream", True),
}
SILENT, HALFWAY = "C0SILENT", "C0HALFWAY"
CHANNELS = (*MOMENTS, SILENT, HALFWAY)


def text_in(channel: str) -> str:
    return f"In {channel}. {LONG}"


def hold_at(site: Site, *, is_done: bool) -> Callable[[str, Json], None]:
    """A hook that holds each of the calls above once; one that has not had its effect never has it."""

    def hook(method: str, arguments: Json) -> None:
        channel = str(arguments.get("channel"))
        if MOMENTS.get(channel) != (method, is_done) or channel in site.gate.held:
            return
        site.gate.hold(channel)
        if not is_done:
            raise HangUp

    return hook


def answers_in(site: Site) -> Callable[[dict[str, Any]], Step]:
    """What the model says in each channel: what its question names."""

    def respond(body: dict[str, Any]) -> Step:
        if not is_question(body):
            return default_answer(body)
        channel = question_of(body).split()[-1].strip("?")
        text = text_in(channel)
        if channel in {SILENT, HALFWAY} and channel not in site.gate.held:
            if channel == SILENT:
                site.gate.hold(channel)
            else:
                site.gate.held.append(channel)
                return Stall(f"<answer>{text[: len(text) // 2]}", 60, pings=60)
        # on a slow machine, too, the text ends long after the stream has begun, so that something is appended
        pace = 0.5 if MOMENTS.get(channel, ("",))[0] == "chat.appendStream" else 0.06
        return answer(text, pace=0.0 if channel in site.gate.held else pace)

    return respond


def replies(site: Site, channel: str, thread: str) -> list[Json]:
    return [message for message in site.world.slack.list_replies(channel, thread) if "bot_id" in message]


def memory(site: Site, channel: str, thread: str) -> list[str]:
    stored_text = RedisCache(site.store).get(f"thread:{channel}:{thread}")
    return [each["text"] for each in json.loads(stored_text or "{}").get("messages", ())]


def killed_while_it_answers(site: Site, *, is_there: bool) -> None:
    slack = site.world.slack
    for channel in CHANNELS:
        slack.add_channel(channel, channel.lower())
    web, victim = site.pair(PRDIGEST_WORKER_THREADS=str(len(CHANNELS)))
    ada = site.person(web)
    slack.before, slack.after = hold_at(site, is_done=False), hold_at(site, is_done=True)
    site.world.claude.respond = answers_in(site)
    threads = {
        channel: str(ada.mention(f"What of {channel}?", channel).payload["event"]["ts"]) for channel in CHANNELS
    }
    eventually(lambda: set(site.gate.held) == set(CHANNELS))
    eventually(lambda: replies(site, HALFWAY, threads[HALFWAY]))
    replace_worker(site, victim, is_there=is_there)
    # somebody asks on in a thread of which nobody knows yet that its worker is dead
    ada.send_message(f"And what else of {HALFWAY}?", HALFWAY, threads[HALFWAY])
    site.await_rest()
    for channel, thread in threads.items():
        thread_replies = replies(site, channel, thread)
        count = 2 if channel == HALFWAY else 1
        assert [message["blocks"][0]["text"] for message in thread_replies] == [text_in(channel)] * count
        assert [message["blocks"][-1]["type"] for message in thread_replies] == ["context_actions"] * count
        assert not any(slack.is_streaming(channel, message["ts"]) for message in thread_replies)
        asked = [f"What of {channel}?", f"And what else of {channel}?"][:count]
        assert memory(site, channel, thread) == [text for each in asked for text in (each, text_in(channel))]


@overlapping(both)
def test_a_worker_killed_while_it_answers_leaves_one_whole_answer_in_each_thread(sites: tuple[Site, Site]) -> None:
    in_both(sites, killed_while_it_answers)


@overlapping(site_in)
def test_a_worker_that_is_told_to_stop_ends_its_answer_and_the_next_one_remembers_it(site: Site) -> None:
    slack = site.world.slack
    slack.add_channel(SILENT, "silent")
    web, worker = site.pair()
    ada = site.person(web)
    site.world.claude.respond = answers_in(site)
    thread = str(ada.mention(f"What of {SILENT}?", SILENT).payload["event"]["ts"])
    eventually(lambda: site.gate.held)
    worker.send_signal(signal.SIGTERM)
    eventually(lambda: _is_told(worker))
    site.gate.open()
    assert worker.wait(timeout=STOPPED) == 0
    (reply,) = replies(site, SILENT, thread)
    assert reply["blocks"][0]["text"] == text_in(SILENT)
    looks = len(slack.list_calls_to("conversations.replies"))
    site.worker()
    ada.send_message(f"and the second one of {SILENT}?", SILENT, thread)
    site.await_rest()
    assert len(replies(site, SILENT, thread)) == 2
    assert len(slack.list_calls_to("conversations.replies")) == looks, "the store remembers, nobody has to look"
    before = prompt_of(site.world.claude.requests[-1]).partition("and the second one")[0]
    assert (before.count(f"What of {SILENT}?"), before.count(text_in(SILENT))) == (1, 1)
