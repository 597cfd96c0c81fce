"""The Claude emulator's tokens and prompt cache."""

from __future__ import annotations

from typing import Any

from anthropic import Anthropic

from tests.emulators.claude_questions import ask


def system(*texts: str) -> list[dict[str, Any]]:
    """System blocks of which the last is marked for the cache."""
    found: list[dict[str, Any]] = [{"type": "text", "text": text} for text in texts]
    return [*found[:-1], {**found[-1], "cache_control": {"type": "ephemeral"}}]


def spent(message: Any) -> tuple[int, int, int]:
    usage = message.usage
    return usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens


def test_a_marked_prefix_is_written_once_and_then_read(sdk: Anthropic) -> None:
    blocks = system("a" * 6000, "b" * 2000)
    assert spent(ask(sdk, system=blocks)) == (1, 2000, 0)
    assert spent(ask(sdk, system=blocks)) == (1, 0, 2000)
    assert spent(ask(sdk, system=system("c" * 6000, "b" * 2000))) == (1, 2000, 0)
    assert spent(ask(sdk, system=blocks, model="claude-sonnet-5-5")) == (1, 2000, 0)


def test_a_short_or_unmarked_prefix_is_not_cached(sdk: Anthropic) -> None:
    for _ in range(2):
        assert spent(ask(sdk, system=system("a" * 4000))) == (1001, 0, 0)
        assert spent(ask(sdk, system="a" * 8000)) == (2001, 0, 0)


def test_a_longer_prefix_reads_the_part_it_knows(sdk: Anthropic) -> None:
    ask(sdk, system=system("a" * 6000))
    found = ask(sdk, system=[*system("a" * 6000), *system("b" * 4000)])
    assert spent(found) == (1, 1000, 1500)
    assert found.usage.cache_creation.ephemeral_5m_input_tokens == 1000
