from collections.abc import Iterator
from typing import Any

import anthropic
import pytest
from anthropic import Anthropic

from tests.emulators.claude.questions import OVERVIEW, TOOLS, answer_calls, ask, make_output_config, stream_message
from tests.emulators.claude.server import ClaudeEmulator, Text, ToolUse


def system(*texts: str, ttl: str = "") -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text} for text in texts]
    control = {"type": "ephemeral", **({"ttl": ttl} if ttl else {})}
    return [*blocks[:-1], {**blocks[-1], "cache_control": control}]


def list_spent_tokens(message: Any) -> tuple[int, int, int]:
    usage = message.usage
    return usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens


def test_a_marked_prefix_is_written_once_and_then_read(sdk: Anthropic) -> None:
    blocks = system("a" * 6000, "b" * 2000)
    assert list_spent_tokens(ask(sdk, system=blocks)) == (1, 2000, 0)
    assert list_spent_tokens(ask(sdk, system=blocks)) == (1, 0, 2000)
    assert list_spent_tokens(ask(sdk, system=system("c" * 6000, "b" * 2000))) == (1, 2000, 0)
    assert list_spent_tokens(ask(sdk, system=blocks, model="claude-sonnet-5-5")) == (1, 2000, 0)


def test_a_short_or_unmarked_prefix_is_not_cached(sdk: Anthropic) -> None:
    for _ in range(2):
        assert list_spent_tokens(ask(sdk, system=system("a" * 4000))) == (1001, 0, 0)
        assert list_spent_tokens(ask(sdk, system="a" * 8000)) == (2001, 0, 0)


def test_a_longer_prefix_reads_the_part_it_knows(sdk: Anthropic) -> None:
    ask(sdk, system=system("a" * 6000))
    message = ask(sdk, system=[*system("a" * 6000), *system("b" * 4000)])
    assert list_spent_tokens(message) == (1, 1000, 1500)
    assert message.usage.cache_creation.ephemeral_5m_input_tokens == 1000


# --- how long it is kept


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def timed_client(clock: Clock) -> Iterator[Anthropic]:
    with (
        ClaudeEmulator(clock=clock) as emulator,
        Anthropic(base_url=emulator.url, api_key=emulator.api_key) as client,
    ):
        yield client.with_options(max_retries=0)


@pytest.mark.parametrize(("ttl", "life"), [("", 300), ("5m", 300), ("1h", 3600)])
@pytest.mark.parametrize("asks", [ask, stream_message], ids=["create", "stream"])
def test_an_entry_is_forgotten_unless_it_is_read(
    timed_client: Anthropic, clock: Clock, ttl: str, life: float, asks: Any
) -> None:
    prompt = system("a" * 8000, ttl=ttl)
    waits = (0, life - 1, life - 1, life)
    token_counts = []
    for wait in waits:
        clock.now += wait
        token_counts.append(list_spent_tokens(asks(timed_client, system=prompt)))
    assert token_counts == [(1, 2000, 0), (1, 0, 2000), (1, 0, 2000), (1, 2000, 0)]


def test_who_reads_a_longer_prefix_keeps_the_shorter(timed_client: Anthropic, clock: Clock) -> None:
    short, long = system("a" * 6000), [*system("a" * 6000), *system("b" * 4000)]
    ask(timed_client, system=long)
    for _ in range(2):
        clock.now += 200
        assert list_spent_tokens(ask(timed_client, system=long)) == (1, 0, 2500)
    clock.now += 200
    assert list_spent_tokens(ask(timed_client, system=short)) == (1, 0, 1500)


def test_what_lives_an_hour_outlives_what_lives_five_minutes(timed_client: Anthropic, clock: Clock) -> None:
    prompt = [*system("a" * 6000, ttl="1h"), *system("b" * 4000, ttl="5m")]
    first = ask(timed_client, system=prompt).usage
    assert (first.cache_creation.ephemeral_1h_input_tokens, first.cache_creation.ephemeral_5m_input_tokens) == (
        1500,
        1000,
    )
    clock.now += 301
    later = ask(timed_client, system=prompt)
    assert list_spent_tokens(later) == (1, 1000, 1500)
    assert later.usage.cache_creation.to_dict() == {
        "ephemeral_1h_input_tokens": 0,
        "ephemeral_5m_input_tokens": 1000,
    }


def test_a_part_too_short_for_its_own_mark_is_written_by_the_next(timed_client: Anthropic) -> None:
    usage = ask(timed_client, system=[*system("a" * 4000, ttl="1h"), *system("b" * 4000)]).usage
    assert usage.cache_creation.to_dict() == {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 2000}


# --- what it refuses


@pytest.mark.parametrize(
    "overrides",
    [
        {"system": [*system("a", ttl="5m"), *system("b", ttl="1h")]},
        {"system": [*system("a"), *system("b", ttl="1h")]},
        {"tools": [{**TOOLS[0], "cache_control": {"type": "ephemeral"}}], "system": system("a", ttl="1h")},
        {"system": system("a"), "cache_control": {"type": "ephemeral", "ttl": "1h"}},
    ],
)
def test_a_long_life_after_a_short_one_is_refused(strict: Anthropic, overrides: dict[str, Any]) -> None:
    with pytest.raises(anthropic.BadRequestError, match="must not come after a ttl='5m'"):
        ask(strict, **overrides)


@pytest.mark.parametrize(
    "control", [{"type": "ephemeral", "ttl": "2h"}, {"type": "permanent"}, {"ttl": "5m"}], ids=str
)
def test_a_mark_of_no_known_kind_is_refused(strict: Anthropic, control: dict[str, str]) -> None:
    with pytest.raises(anthropic.BadRequestError, match="cache_control"):
        ask(strict, cache_control=control)


# --- a conversation


@pytest.mark.parametrize("asks", [ask, stream_message], ids=["create", "stream"])
def test_each_turn_of_a_tool_loop_reads_what_the_one_before_wrote(
    sdk: Anthropic, claude: ClaudeEmulator, asks: Any
) -> None:
    claude.script(*[ToolUse("read", {"path": "a.py"})] * 3, Text("Done"))
    rules: dict[str, Any] = {"tools": TOOLS, "system": system("a" * 8000, ttl="1h")}
    rules["cache_control"] = {"type": "ephemeral"}
    message = asks(sdk, **rules)
    turns: list[Any] = []
    for _ in range(3):
        turns = answer_calls(message, turns=turns, result="r" * 400)
        message = asks(sdk, messages=turns, **rules)
    sizes = [usage["cache_read_input_tokens"] + usage["cache_creation_input_tokens"] for usage in claude.usages]
    assert [usage["cache_read_input_tokens"] for usage in claude.usages] == [0, *sizes[:-1]]
    assert sum(usage["input_tokens"] for usage in claude.usages) == 0


@pytest.mark.parametrize(
    "change",
    [{"tool_choice": {"type": "none"}}, {"thinking": {"type": "disabled"}}, make_output_config(OVERVIEW)],
    ids=["choice", "thinking", "format"],
)
def test_another_manner_of_answering_forgets_the_messages_only(sdk: Anthropic, change: dict[str, Any]) -> None:
    turns = [{"role": "user", "content": "m" * 8000}]
    rules: dict[str, Any] = {"system": system("a" * 8000), "messages": turns, "tools": TOOLS}
    rules["cache_control"] = {"type": "ephemeral"}
    written = ask(sdk, **rules).usage.cache_creation_input_tokens
    assert ask(sdk, **rules, tool_choice={"type": "auto"}).usage.cache_read_input_tokens == written
    changed = ask(sdk, **rules, **change).usage
    assert (changed.cache_read_input_tokens, changed.cache_creation_input_tokens) == (written - 2000, 2000)
