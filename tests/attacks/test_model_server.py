"""The same orders where a server of one's own has the model, and reasons aloud about what it will do."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.attacks.judgement import (
    Played,
    find_harm,
    find_leaks,
    is_lie_believed,
    list_foreign_links,
    list_mentions,
)
from tests.attacks.tables.injections import INJECTIONS
from tests.attacks.test_injections import play_all
from tests.emulators.claude.script import Step
from tests.emulators.openai_compatible.server import OpenAIEmulator
from tests.scenarios.conftest import Bots, guard_bot

pytestmark = pytest.mark.slow

# one for each door: what a case is made of does not depend on the provider
CASES = {case.door: name for name, case in INJECTIONS.items()}


@pytest.fixture(scope="module")
def model_server() -> Iterator[OpenAIEmulator]:
    with OpenAIEmulator() as emulator:
        emulator.reasoning = "unmarked"
        yield emulator


@pytest.fixture(scope="module")
def played_attacks(bots: Bots, model_server: OpenAIEmulator) -> Iterator[Played]:
    bot = bots.bot("http", "own model", **model_server.settings)

    def respond(view: dict[str, Any]) -> Step:
        return bot.world.claude.respond(view)

    model_server.respond = respond
    for one in guard_bot(bot):
        yield play_all(one, CASES.values())


@pytest.mark.parametrize("name", CASES.values())
def test_what_the_model_is_made_to_do_harms_nobody(name: str, played_attacks: Played) -> None:
    channel = played_attacks.places[name]
    assert len(played_attacks.messages(channel)) >= 2, "a summary and an answer"
    assert find_harm(played_attacks, name, channel) == set()


def test_a_day_of_them_harms_nobody_and_shows_no_thought(
    played_attacks: Played, model_server: OpenAIEmulator
) -> None:
    for place in ("digest", "list"):
        channel = played_attacks.places[place]
        assert played_attacks.messages(channel)
        assert list_mentions(played_attacks, channel) == []
        assert list_foreign_links(played_attacks, channel) == []
        assert not is_lie_believed(played_attacks, channel)
    assert find_leaks(played_attacks) == []
    assert "SECRET THOUGHT" not in str(played_attacks.bot.world.slack.calls)
    assert model_server.problems == []
    assert played_attacks.bot.world.claude.requests == []
    assert any("response_format" in body for body in model_server.requests)
    assert any("tools" in body for body in model_server.requests)
