"""What people are told while the answer to a command takes longer than most."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bot.errors import UsageError
from bot.features.digest.service import answer_overview
from bot.features.risks.service import answer_score, list_many_risks, list_risks
from bot.platform.commands import AllowedRepositories, ParseContext
from bot.platform.slack.requests import Audience
from handlers import COMMANDS
from handlers.digest import answer_digest
from tests.helpers.builders import DAY, REPOSITORY
from tests.helpers.doubles import slack_request

CONTEXT = ParseContext(AllowedRepositories(REPOSITORY), lambda zone=None: DAY)
SENTENCES = {
    ("risks", "label:<!here>"): "Looking at octo/engine, Friday 27 February 2026, label:<!here>…",
    ("long_risks", "7d"): "Looking at octo/engine, 22 – 28 February 2026…",  # noqa: RUF001 (a dash)
    ("score", "score today"): "Checking the risk lists of octo/engine, Saturday 28 February 2026…",
}


class Desk:
    """The services of a worker, as far as a job needs them before it makes an answer."""

    repositories = CONTEXT.repositories

    def __init__(self) -> None:
        self.started: list[str] = []

    @property
    def replies(self) -> Desk:
        return self

    def give_answer(self, _: object, part: str, audience: object, make: Callable[[], Any], started: str) -> None:
        self.started.append(started)


@pytest.mark.parametrize(("asked", "sentence"), SENTENCES.items(), ids=lambda value: str(value)[:30])
def test_each_command_says_what_is_done(asked: tuple[str, str], sentence: str) -> None:
    name, text = asked
    jobs: dict[str, Any] = {"risks": list_risks, "long_risks": list_many_risks, "score": answer_score}
    desk: Any = Desk()
    jobs[name].run(desk, slack_request(), COMMANDS[1].parse(text, CONTEXT), Audience.CHANNEL)
    assert desk.started == [sentence]


def test_a_digest_and_an_overview_say_what_is_done() -> None:
    desk: Any = Desk()
    answer_digest.run(desk, slack_request(), COMMANDS[-1].parse("27 Feb tz:UTC only:risky", CONTEXT))
    request = COMMANDS[-1].parse("2d path:a", CONTEXT)
    answer_overview.run(desk, slack_request(), request, Audience.CHANNEL)
    digest, overview = desk.started
    assert digest.startswith(
        "I'm preparing the digest of Friday 27 February 2026 (UTC) (only:risky); it will appear"
    )
    assert overview == (
        "Looking at 27 – 28 February 2026, path:a… Days I haven't processed yet take about a minute each."  # noqa: RUF001 (a dash)
    )


@pytest.mark.parametrize(
    ("text", "word"),
    [("score", "score"), ("Score 7d", "score"), ("7d", "risks"), ("", "risks"), ("path:score", "risks")],
)
def test_the_first_word_says_whether_a_score_is_asked_for(text: str, word: str) -> None:
    assert COMMANDS[1].parse(text, CONTEXT).kind == word


@pytest.mark.parametrize("text", ["scores", "7d score"])
def test_what_resembles_the_word_is_none(text: str) -> None:
    with pytest.raises(UsageError):
        COMMANDS[1].parse(text, CONTEXT)
