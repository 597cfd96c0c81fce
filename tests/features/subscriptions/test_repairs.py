"""Digests with gaps, from the clock to the channel: GitHub, Claude and Slack on the loopback, and a real store."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from bot.features.subscriptions.rules import RunOutcome
from bot.platform.store.due_queue import DigestRepair
from tests.emulators.claude.server import Failure, Json, Step, default_answer, summary_answer
from tests.emulators.github.store import pull
from tests.features.digest.posting import HOME, standing
from tests.features.subscriptions.scheduled import DUE, KEY, MINUTE
from tests.features.subscriptions.wired import Bot, add, make_bot  # noqa: F401 (a fixture)
from tests.helpers.builders import NOON
from tests.helpers.worlds import REPO

pytestmark = pytest.mark.slow

FACTS = "facts only"
SUMMARY = "A small change to one part"
# of one day, a minute after nine, when it was last looked at
LOOKS = [5, 35, 155, 515]


def test_a_day_without_gaps_is_posted_and_left_alone(bot: Callable[..., Bot]) -> None:
    made = bot()
    made.turn(timedelta(0))
    assert made.run(60) == []
    assert (made.outcomes, made.told, made.edits()) == ([RunOutcome.POSTED], [], 0)
    assert SUMMARY in made.thread


# --- GitHub


def history(answer: dict[str, Any]) -> list[Any]:
    commits: list[Any] = answer["data"]["repository"]["defaultBranchRef"]["target"]["history"]["nodes"]
    return commits


def list_nodes(answer: dict[str, Any]) -> list[Any]:
    nodes: list[Any] = answer["data"]["repository"]["pullRequests"]["nodes"]
    return nodes


def lacking(part: Callable[[dict[str, Any]], list[Any]], count: int) -> Callable[[int, dict[str, Any]], None]:
    """A GitHub whose first answer about the day lacks so many."""
    seen: list[int] = []

    def after(_number: int, answer: dict[str, Any]) -> None:
        if not seen and "pullRequests" in answer["data"]["repository"]:
            seen.append(count)
            del part(answer)[:count]

    return after


def test_a_next_day_that_could_not_be_had_is_looked_at_again(bot: Callable[..., Bot]) -> None:
    made = bot()
    at = NOON + timedelta(hours=15)
    made.github.add(REPO, pull(9, title="Revert #2", merged_at=at, updated_at=at, created_at=at))
    seen: list[int] = []

    def without_the_next_day(number: int, answer: dict[str, Any]) -> None:
        if "pullRequests" in answer["data"]["repository"]:
            seen.append(number)
            if len(seen) == 2:
                answer.update(data=None, errors=[{"type": "INTERNAL", "message": "Something went wrong."}])

    made.github.after = without_the_next_day
    made.turn(timedelta(0))
    gap = "what was reverted since ("
    assert (gap in made.thread, "reverted after" in made.thread) == (True, False)
    made.turn()
    assert gap in made.told[0]
    made.run(30)
    assert (gap in made.thread, made.thread.count("reverted after 15.0 h by #9")) == (False, 2)
    assert made.told[0].startswith("✓")


def test_a_count_that_differs_at_first_is_edited_out_when_it_is_right(bot: Callable[..., Bot]) -> None:
    made = bot()
    made.github.after = lacking(history, 1)
    made.turn(timedelta(0))
    gap = "possibly incomplete: the commits of main show 2 merges, not 3"
    assert gap in made.thread
    made.turn()
    title = "octo/engine, Saturday 28 February 2026"
    assert made.told == [
        f"{title} for C0DIGEST was posted incomplete: {gap}. Next try 2026-03-01 17:05 UTC.",
    ]
    before = standing(made.slack)
    assert made.run(30, 1) == [5]
    assert gap not in made.thread
    assert standing(made.slack) == before, "one digest, and a report that said nothing wrong"
    [line] = made.told
    assert line.startswith(f"✓ {title} for C0DIGEST: complete now, https://")
    assert made.outcomes == [RunOutcome.POSTED, RunOutcome.MENDED]


def test_pull_requests_that_were_not_listed_at_first_are_in_the_same_digest_later(bot: Callable[..., Bot]) -> None:
    made = bot(ANTHROPIC_API_KEY="")
    add(made.github, 22)
    made.github.after = lacking(list_nodes, 22)
    made.turn(timedelta(0))
    # so many are looked up one by one
    assert "20 merged" in made.thread
    assert "possibly incomplete: the commits of main show 22 merges, not 20" in made.thread
    assert made.run(30) == [5]
    assert "22 merged" in made.thread
    assert "possibly incomplete" not in made.thread
    assert standing(made.slack).files == ["engine-2026-02-28.md", "engine-2026-02-28-corrected.md"]
    assert made.slack.files[1]["content"].decode().count("**PR Number:**") == 22
    assert made.outcomes == [RunOutcome.POSTED, RunOutcome.MENDED]


def test_files_that_can_not_be_had_at_first_are_read_later(bot: Callable[..., Bot]) -> None:
    made = bot()
    # one attempt of the summary, and one of the prompts of its neighbors
    made.github.fail_next("404", match="/pulls/2/files", times=2)
    made.turn(timedelta(0))
    assert "facts only: #2" in made.thread
    assert made.run(30) == [5]
    assert FACTS not in made.thread
    assert made.outcomes == [RunOutcome.POSTED, RunOutcome.MENDED]


# --- the model


def busy(_body: dict[str, Any]) -> Step:
    return Failure(529, "overloaded_error")


def test_a_model_that_is_away_at_nine_and_back_at_five_past(bot: Callable[..., Bot]) -> None:
    made = bot()
    made.claude.respond = busy
    made.turn(timedelta(0))
    assert made.thread.count(FACTS) == 4, "three pull requests, and the line that says so"
    assert "I couldn't read 3 of 3 diffs (the model is busy)" in made.thread
    stamps = _stamps(made)
    made.claude.respond = default_answer
    assert made.run(60, 1) == [5]
    assert FACTS not in made.thread
    assert "diffs" not in made.thread
    assert made.thread.count(SUMMARY) == 3
    assert _stamps(made)[: len(stamps)] == stamps, "the same messages, with the corrected report below"
    assert len(_stamps(made)) == len(stamps) + 1
    assert made.told[0].startswith("✓")
    assert (made.outcomes, made.services.due_queue.get_time(DigestRepair(KEY))) == (
        [RunOutcome.POSTED, RunOutcome.MENDED],
        None,
    )


def _stamps(made: Bot) -> list[str]:
    [lead] = made.slack.list_messages(HOME)
    return [message["ts"] for message in (lead, *made.slack.list_replies(HOME, lead["ts"]))]


def test_a_model_that_is_back_bit_by_bit_is_edited_in_bit_by_bit(bot: Callable[..., Bot]) -> None:
    made = bot()
    answered: list[int] = []

    def respond(body: dict[str, Any]) -> Step:
        if "headline" not in str(body) or len(answered) >= limit[0]:
            return busy(body) if limit[0] < 3 else default_answer(body)
        answered.append(1)
        return Json(summary_answer())

    limit = [0]
    made.claude.respond = respond
    made.turn(timedelta(0))
    for limit[0], minutes in ((1, 5), (2, 35), (3, 155)):
        assert made.run(minutes - int((made.wall.now - DUE) / MINUTE)) == [minutes]
        assert made.thread.count(SUMMARY) == limit[0]
    assert len(standing(made.slack).files) == 4, "each correction has a report of its own"
    assert made.outcomes == [RunOutcome.POSTED, RunOutcome.MENDED]


def test_a_model_that_stays_away_is_asked_four_times_and_nothing_is_edited(bot: Callable[..., Bot]) -> None:
    made = bot()
    made.claude.respond = busy
    made.turn(timedelta(0))
    before = (made.thread, standing(made.slack))
    assert made.run(720) == LOOKS
    assert (made.edits(), (made.thread, standing(made.slack))) == (0, before)
    assert (len(made.told), made.told[0][:1]) == (1, "o")
    assert made.outcomes == [RunOutcome.POSTED]


def test_without_a_model_nothing_is_missing(bot: Callable[..., Bot]) -> None:
    made = bot(ANTHROPIC_API_KEY="")
    made.turn(timedelta(0))
    assert made.run(60) == []
    assert "I couldn't read 3 of 3 diffs (no model is set up)" in made.thread
    assert (made.told, made.edits(), made.outcomes) == ([], 0, [RunOutcome.POSTED])


def without_a_commit(_number: int, answer: dict[str, Any]) -> None:
    if "pullRequests" in answer["data"]["repository"]:
        del history(answer)[:1]


def test_a_digest_that_costs_something_is_not_edited_for_the_sake_of_its_cost(bot: Callable[..., Bot]) -> None:
    """The same gap at the second look, when all that was asked before is in the cache."""
    made = bot()
    made.github.after = without_a_commit
    made.turn(timedelta(0))
    assert "$0." in made.thread or "under $0.01" in made.thread
    assert made.run(720) == LOOKS
    assert made.edits() == 0
    assert "no model cost" not in made.thread
