"""What becomes of pull requests after their digest was posted: edited there, and told once in its thread."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from bot.domain.errors import SlackUnavailable
from bot.domain.pulls import Repository
from bot.services.aftermath import EVERY, WATCH
from tests.adapters.worlds import REPO
from tests.emulators.github_store import changed_file, pull
from tests.render.accepted import strings
from tests.services.posting import HOME
from tests.services.scheduled import DUE, KEY, Outbox
from tests.services.wired import Bot, make_bot  # noqa: F401 (a fixture)
from tests.support import NOON

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
ENGINE = Repository.parse(REPO)
PATCH = "@@ -1,400 +1,400 @@\n" + "\n".join(
    [*(f"-old {n}" for n in range(400)), *(f"+new {n}" for n in range(400))]
)
MARK = "reverted after 22.0 h by #9"


def posted(bot: Callable[..., Bot]) -> Bot:
    """A day of three, of which the second is large, as it stands at nine."""
    made = bot()
    large = tuple(changed_file(f"csrc/attention/{n}.py", PATCH) for n in range(5))
    sizes = {"additions": 2_000, "deletions": 2_000, "changed_files": 5}
    made.github.add(REPO, pull(2, title="Faster attention", merged_at=NOON, files=large, **sizes))
    made.turn(timedelta(0))
    return made


def merge(made: Bot, number: int, title: str, after: timedelta = 22 * HOUR, body: str = "") -> None:
    """Something is merged so long after noon of the day, and the bot looks six hours after that."""
    at = NOON + after
    made.github.add(REPO, pull(number, title=title, body=body, merged_at=at, updated_at=at, created_at=at))
    made.turn(max(at + EVERY, made.wall.now) - made.wall.now)


def lines(made: Bot, start: str) -> list[str]:
    """The lines of the lead and its thread that begin so."""
    lead = made.slack.messages(HOME)[0]
    found = []
    for message in [lead, *made.slack.replies(HOME, lead["ts"])]:
        for block in message.get("blocks", []):
            for part in block.get("elements", []):
                if part.get("type") == "rich_text_list":
                    found += ["".join(strings(item)) for item in part["elements"]]
    return [line for line in found if line.startswith(start)]


def told(made: Bot) -> list[str]:
    """What was said in the thread besides the digest."""
    lead = made.slack.messages(HOME)[0]
    replies = made.slack.replies(HOME, lead["ts"])
    return ["".join(strings(each["blocks"])) for each in replies if "!" in key_of(each)]


def key_of(message: dict[str, Any]) -> str:
    return str((message.get("metadata") or {}).get("event_payload", {}).get("key", ""))


def test_a_revert_of_the_next_day_is_written_behind_its_lines_and_told_once(bot: Callable[..., Bot]) -> None:
    made = posted(bot)
    listed, entry = lines(made, "#2 ")
    merge(made, 9, 'Revert "Faster attention" (#2)')
    assert lines(made, "#2 ") == [f"{listed} — {MARK}", f"{entry} — {MARK}"]
    assert told(made) == [
        "#2 Faster attention, reverted after 22.0 h by #9. It was listed above as worth a second look."
    ]
    # all other lines are as they were posted, and looking again changes nothing
    edits = made.edits()
    assert edits == 2
    made.turn(EVERY)
    made.turn(EVERY)
    assert (made.edits(), len(told(made))) == (edits, 1)


def test_a_named_repair_is_told_with_its_title_and_that_of_a_quiet_change_too(bot: Callable[..., Bot]) -> None:
    made = posted(bot)
    merge(made, 9, "Fix the counter", body="This fixes a regression introduced by #1.")
    [reply] = told(made)
    assert reply == "#1 Change part 1, repaired after 22.0 h by #9 Fix the counter."
    assert [line for line in lines(made, "#1 ") if line.endswith(" — repaired after 22.0 h by #9")]


@pytest.mark.parametrize(("days", "is_told"), [(13.9, True), (14.1, False)])
def test_what_comes_within_two_weeks_is_told(bot: Callable[..., Bot], days: float, *, is_told: bool) -> None:
    made = posted(bot)
    merge(made, 9, 'Revert "Faster attention" (#2)', timedelta(days=days))
    assert bool(told(made)) is is_told


def test_a_revert_that_is_itself_reverted_is_edited_and_not_told_again(bot: Callable[..., Bot]) -> None:
    made = posted(bot)
    merge(made, 9, 'Revert "Faster attention" (#2)')
    merge(made, 10, 'Revert "Revert \\"Faster attention\\" (#2)" (#9)'.replace("\\", ""), 40 * HOUR)
    assert all(line.endswith(f" — {MARK}, which was itself reverted") for line in lines(made, "#2 "))
    assert len(told(made)) == 1


def test_what_was_known_when_it_was_posted_is_in_the_digest_and_not_told(bot: Callable[..., Bot]) -> None:
    made = bot()
    at = NOON + 15 * HOUR
    back = pull(9, title="Revert #1", merged_at=at, updated_at=at, created_at=at)
    made.github.add(REPO, back)
    made.turn(timedelta(0))
    assert "Already reverted or repaired" in made.thread
    assert "reverted after 15.0 h by #9" in made.thread
    made.turn(EVERY)
    assert (told(made), made.edits()) == ([], 0)


def test_a_mend_writes_what_was_amended_too(bot: Callable[..., Bot]) -> None:
    made = bot()
    made.turn(timedelta(0))
    merge(made, 9, "Revert #1")
    assert len(told(made)) == 1
    made.wiring.scheduling.delivery.mend(KEY)
    said = "above all, in its line, and in the reply"
    assert made.thread.count("reverted after 22.0 h by #9") == 3, said
    made.turn(EVERY)
    assert made.thread.count("reverted after 22.0 h by #9") == 3, said
    assert len(told(made)) == 1


@pytest.mark.parametrize("method", ["chat.update", "chat.postMessage", "conversations.replies"])
def test_what_breaks_off_is_done_to_its_end_the_next_time(bot: Callable[..., Bot], method: str) -> None:
    made = posted(bot)
    aftermath, amends = made.wiring.scheduling.aftermath, Outbox()
    at = NOON + 22 * HOUR
    made.github.add(REPO, pull(9, title="Revert #2", merged_at=at, updated_at=at, created_at=at))
    made.wall.passes(EVERY)
    aftermath.look(ENGINE, amends)
    assert list(amends) == [(KEY,)]
    # a call of which nobody knows what it did; a reply is looked for at once
    made.slack.fail_next(method, status=503, after_effect=True)
    with suppress(SlackUnavailable):
        aftermath.amend(KEY)
    aftermath.amend(KEY)
    aftermath.amend(KEY)
    assert all(line.endswith(f" — {MARK}") for line in lines(made, "#2 "))
    assert len(told(made)) == 1


def test_messages_that_may_not_be_edited_are_left_and_not_tried_for_ever(
    bot: Callable[..., Bot], caplog: pytest.LogCaptureFixture
) -> None:
    made = posted(bot)
    made.slack.fail_next("chat.update", error="edit_window_closed")
    merge(made, 9, "Revert #2")
    assert "can't be amended" in caplog.text
    tries = len(made.slack.calls_to("chat.update"))
    made.turn(EVERY)
    assert len(made.slack.calls_to("chat.update")) == tries


def test_a_repository_without_digests_is_not_watched_any_more(bot: Callable[..., Bot]) -> None:
    made = posted(bot)
    agenda = made.wiring.scheduling.agenda
    assert agenda.at(f"{WATCH}{REPO}") == DUE + EVERY
    made.wall.passes(32 * DAY)
    made.wiring.scheduling.aftermath.look(ENGINE, Outbox())
    assert agenda.at(f"{WATCH}{REPO}") is None


def test_what_was_posted_is_kept_a_month_and_what_the_rules_said_for_good(bot: Callable[..., Bot]) -> None:
    made = posted(bot)
    aftermath, records = made.wiring.scheduling.aftermath, made.wiring.scheduling.aftermath._records
    made.wall.passes(29 * DAY)
    aftermath.look(ENGINE, Outbox())
    assert records.load(KEY)["posted"]
    made.wall.passes(3 * DAY)
    aftermath.look(ENGINE, Outbox())
    record = records.load(KEY)
    assert (record["posted"], '"number":2' in record["ratings"]) == ("", True)


def test_a_week_in_which_nobody_looked_is_looked_at(bot: Callable[..., Bot]) -> None:
    made = posted(bot)
    at = NOON + 22 * HOUR
    made.github.add(REPO, pull(9, title="Revert #2", merged_at=at, updated_at=at, created_at=at))
    made.turn(8 * DAY)
    assert len(told(made)) == 1
