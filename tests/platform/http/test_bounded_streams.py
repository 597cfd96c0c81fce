import threading
import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import replace

import pytest

from bot.errors import ModelBusy
from bot.platform import deadlines
from bot.platform.deadlines import ProcessShutdown, ShutdownSignal
from bot.platform.http.bounded_calls import bound_requests, is_call_over, run_in_own_context
from bot.platform.models import ChatEvent, TextDelta
from bot.platform.models.claude.connection import ClaudeConnection, make_claude_client
from tests.emulators.claude.server import ClaudeEmulator, Text
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.checks import eventually
from tests.platform.http.test_bounded_calls import CHAT, SOON, post

LONG = "Requests are counted once. " * 200
# of which it takes the emulator some seconds to say it all
SLOW = Text(LONG, pace=0.05)
MARK: ContextVar[str] = ContextVar("mark", default="")


@contextmanager
def streaming(claude: ClaudeEmulator, seconds: float = 30.0) -> Iterator[Generator[ChatEvent, None, None]]:
    """A turn of the model's of which the first words are heard; what is in the future is not waited for."""
    claude.script(SLOW)
    with make_claude_client("sk-ant-test", claude.url) as client:
        events = ClaudeConnection(client).stream_turn(replace(CHAT, seconds=seconds))
        assert any(isinstance(event, TextDelta) for event in events)
        yield events
        events.close()


def find_server_threads() -> set[threading.Thread]:
    """Threads in which an emulator serves a connection."""
    return {each for each in threading.enumerate() if "process_request" in each.name}


@pytest.mark.slow
def test_whoever_reads_is_not_bounded_by_the_stream(claude: ClaudeEmulator) -> None:
    with streaming(claude, 2.0) as events, SlackEmulator() as slack:
        before = copy_context()
        time.sleep(2.2)
        assert not is_call_over(), "the stream's time is over, not that of its reader"
        assert post(slack.url)
        assert dict(copy_context()) == dict(before)
        with pytest.raises(ModelBusy, match="in time"):
            list(events)


@pytest.mark.slow
def test_calls_of_the_reader_leave_the_stream_alone(claude: ClaudeEmulator) -> None:
    with streaming(claude) as events, SlackEmulator() as slack:
        assert post(slack.url)
        with bound_requests(5):
            assert next(events)
        assert len([event for event in events if isinstance(event, TextDelta)]) > 2


@pytest.mark.slow
def test_who_closes_a_stream_ends_its_call(claude: ClaudeEmulator) -> None:
    before = find_server_threads()
    with streaming(claude) as events:
        assert find_server_threads() - before, "a connection of its own"
        events.close()
        assert eventually(lambda: find_server_threads() <= before)
        assert list(events) == []


@pytest.mark.slow
def test_another_thread_may_close_it(claude: ClaudeEmulator) -> None:
    before = find_server_threads()
    with streaming(claude) as events:
        thread = threading.Thread(target=events.close)
        thread.start()
        thread.join(SOON)
        assert eventually(lambda: find_server_threads() <= before)


@pytest.mark.slow
def test_the_end_of_the_process_ends_a_stream_that_nobody_reads_just_now(claude: ClaudeEmulator) -> None:
    ending, before = ShutdownSignal(), find_server_threads()
    with deadlines.bound_work(60, ending), streaming(claude) as events:
        ending.trigger()
        assert eventually(lambda: find_server_threads() <= before), "its connection is shut at once"
        with pytest.raises(ProcessShutdown):
            list(events)


@pytest.mark.slow
def test_the_deadline_of_the_work_ends_it_too(claude: ClaudeEmulator) -> None:
    with deadlines.bound_work(2.5), streaming(claude) as events:
        began = time.monotonic()
        with pytest.raises(ModelBusy):
            list(events)
        assert time.monotonic() - began < SOON


@pytest.mark.slow
def test_nothing_is_asked_of_a_stream_that_nobody_begins(claude: ClaudeEmulator) -> None:
    with (
        make_claude_client("sk-ant-test", claude.url) as client,
        closing(ClaudeConnection(client).stream_turn(CHAT)),
    ):
        pass
    assert claude.requests == []


# the decorator by itself


@run_in_own_context
def marking(log: list[str]) -> Generator[str, None, None]:
    token = MARK.set("within")
    try:
        yield MARK.get()
        yield MARK.get()
    finally:
        MARK.reset(token)
        log.append(MARK.get())


def test_what_a_stream_sets_only_its_own_steps_see() -> None:
    log: list[str] = []
    token = MARK.set("outside")
    with closing(marking(log)) as steps:
        assert (next(steps), MARK.get()) == ("within", "outside")
        assert (next(steps), MARK.get()) == ("within", "outside")
    MARK.reset(token)
    assert log == ["outside"], "it sees what held where it began"


def test_what_goes_wrong_in_a_stream_comes_out_of_it() -> None:
    @run_in_own_context
    def failing() -> Generator[int, None, None]:
        yield 1
        raise ValueError("broken")

    steps = failing()
    assert next(steps) == 1
    with pytest.raises(ValueError, match="broken"):
        next(steps)
