"""What becomes of pull requests after their digest was posted: edited there, and told once in its thread."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import pytest
from redis import Redis

from bot.dates import LocalDay, Span
from bot.errors import DayUnavailable, RateLimited, SlackUnavailable, StoreUnavailable
from bot.features.digest.posts import (
    POSTED_DIGESTS,
    RECORDS,
    DigestRecords,
    PostedDigest,
    amend_digest,
    check_repository,
)
from bot.features.digest.rules import DigestSpec
from bot.features.merges.requests import FULL_VIEW, DigestView
from bot.features.merges.timeline import MergeTimeline
from bot.features.subscriptions.rules import Subscription, Timing
from bot.features.subscriptions.schedule import post_digest, repair_digest
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.paths import Filters
from bot.platform.store.connection import SHORT_TIMEOUTS, connect_server
from bot.platform.store.due_queue import CHECK_INTERVAL, NextDigest, OutcomeCheck
from bot.platform.store.merge_records import HistoryStore
from bot.platform.store.records import RecordStore
from impact.repository import Repository
from tests.emulators.github.store import changed_file, pull
from tests.features.digest.posting import HOME
from tests.features.subscriptions.scheduled import DUE, KEY, MINUTE, TIMING
from tests.features.subscriptions.wired import Bot, make_bot  # noqa: F401 (a fixture)
from tests.helpers import builders
from tests.helpers.builders import NOON
from tests.helpers.checks import closed_port
from tests.helpers.doubles import KnownPulls, Outbox
from tests.helpers.subscriptions import StoredSubscriptions
from tests.helpers.worlds import REPO
from tests.platform.slack.accepted import strings

pytestmark = pytest.mark.slow

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
ENGINE = Repository.parse(REPO)
PATCH = "@@ -1,40 +1,40 @@\n" + "\n".join([*(f"-old {n}" for n in range(40)), *(f"+new {n}" for n in range(40))])
MARK = "reverted after 22.0 h by #9"


def post_large_day(bot: Callable[..., Bot]) -> Bot:
    """A day of three, of which the second is large, as it stands at nine."""
    made = bot()
    add_large(made)
    made.turn(timedelta(0))
    return made


def add_large(made: Bot) -> None:
    large = tuple(changed_file(f"csrc/attention/{n}.py", PATCH) for n in range(5))
    sizes = {"additions": 2_000, "deletions": 2_000, "changed_files": 5}
    made.github.add(REPO, pull(2, title="Faster attention", merged_at=NOON, files=large, **sizes))


def merge(made: Bot, number: int, title: str, after: timedelta = 22 * HOUR, body: str = "") -> None:
    """Something is merged so long after noon of the day, and the bot looks six hours after that."""
    at = NOON + after
    made.github.add(REPO, pull(number, title=title, body=body, merged_at=at, updated_at=at, created_at=at))
    made.turn(max(at + CHECK_INTERVAL, made.wall.now) - made.wall.now)


def lines(made: Bot, start: str, channel: str = HOME) -> list[str]:
    lead = made.slack.list_messages(channel)[0]
    all_lines = [
        line for message in [lead, *made.slack.list_replies(channel, lead["ts"])] for line in items(message)
    ]
    return [line for line in all_lines if line.startswith(start)]


def items(message: dict[str, Any]) -> list[str]:
    parts = [part for block in message.get("blocks", []) for part in block.get("elements", [])]
    lists = [part for part in parts if part.get("type") == "rich_text_list"]
    return ["".join(strings(item)) for bullet_list in lists for item in bullet_list["elements"]]


def list_remarks(made: Bot, channel: str = HOME) -> list[str]:
    lead = made.slack.list_messages(channel)[0]
    replies = made.slack.list_replies(channel, lead["ts"])
    return ["".join(strings(each["blocks"])) for each in replies if "!" in key_of(each)]


def subscribe(
    made: Bot, channel: str, view: DigestView = FULL_VIEW, timing: Timing = TIMING, repository: Repository = ENGINE
) -> datetime:
    """A channel gets digests too; when the next one is due."""
    made.slack.add_channel(channel, channel.lower())
    subscription = Subscription(channel, repository, timing, view, by="U0ADA")
    StoredSubscriptions(made.base.store).put(subscription)
    due = timing.find_first_on(made.wall.now)
    made.services.due_queue.put(NextDigest(subscription.id), due)
    return due


def key_of(message: dict[str, Any]) -> str:
    return str((message.get("metadata") or {}).get("event_payload", {}).get("key", ""))


def test_a_named_repair_is_told_with_its_title_and_that_of_a_quiet_change_too(bot: Callable[..., Bot]) -> None:
    made = post_large_day(bot)
    merge(made, 9, "Fix the counter", body="This fixes a regression introduced by #1.")
    [reply] = list_remarks(made)
    assert reply == "#1 Change part 1, repaired after 22.0 h by #9 Fix the counter."
    assert [line for line in lines(made, "#1 ") if line.endswith(" — repaired after 22.0 h by #9")]


@pytest.mark.parametrize(("days", "is_told"), [(13.9, True), (14.1, False)])
def test_what_comes_within_two_weeks_is_told(bot: Callable[..., Bot], days: float, *, is_told: bool) -> None:
    made = post_large_day(bot)
    merge(made, 9, 'Revert "Faster attention" (#2)', timedelta(days=days))
    assert bool(list_remarks(made)) is is_told


def test_a_repair_that_was_itself_reverted_goes_from_the_lines_again(bot: Callable[..., Bot]) -> None:
    made = post_large_day(bot)
    before = lines(made, "#")
    merge(made, 9, "Fix the counter", body="This fixes a regression introduced by #1.")
    assert lines(made, "#") != before
    merge(made, 10, 'Revert "Fix the counter" (#9)', 40 * HOUR)
    assert (lines(made, "#"), len(list_remarks(made))) == (before, 1)


def test_what_the_digest_told_of_and_is_undone_later_is_edited_and_not_told_again(bot: Callable[..., Bot]) -> None:
    made = bot()
    at = NOON + 15 * HOUR
    made.github.add(REPO, pull(9, title="Revert #1", merged_at=at, updated_at=at, created_at=at))
    made.turn(timedelta(0))
    before = lines(made, "#1 ")
    assert len(before) == 2
    merge(made, 10, 'Revert "Revert #1" (#9)', 30 * HOUR)
    behind = " — #9 was itself reverted"
    assert lines(made, "#1 ") == [f"{line}{behind}" for line in before]
    assert list_remarks(made) == []


def test_the_digest_of_a_revert_says_what_became_of_it_behind_what_it_took_back_too(
    bot: Callable[..., Bot],
) -> None:
    made = post_large_day(bot)
    merge(made, 9, 'Revert "Faster attention" (#2)')
    made.turn(DUE + DAY - made.wall.now)
    second = made.slack.list_messages(HOME)[-1]
    [before] = [line for line in items(second) if line.startswith("#2 ")]
    assert before.endswith(MARK)
    merge(made, 10, 'Revert "Revert \\"Faster attention\\" (#2)" (#9)'.replace("\\", ""), 50 * HOUR)
    assert f"{before} — #9 was itself reverted" in items(made.slack.list_messages(HOME)[-1])


def test_what_a_digest_lacked_at_first_is_followed_once_it_is_there(bot: Callable[..., Bot], store: Redis) -> None:
    made = post_large_day(bot)
    # a list that is in doubt is not kept
    store.delete(*store.scan_iter("day:*"))
    made.github.add(REPO, pull(7, title="Late to the list", merged_at=NOON))
    repair_digest.run(made.services, KEY)
    assert lines(made, "#7 ")
    merge(made, 9, 'Revert "Late to the list" (#7)')
    assert list_remarks(made) == ["#7 Late to the list, reverted after 22.0 h by #9."]


def test_what_was_known_when_it_was_posted_is_in_the_digest_and_not_told(bot: Callable[..., Bot]) -> None:
    made = bot()
    at = NOON + 15 * HOUR
    back = pull(9, title="Revert #1", merged_at=at, updated_at=at, created_at=at)
    made.github.add(REPO, back)
    made.turn(timedelta(0))
    assert "Already reverted or repaired" in made.thread
    assert "reverted after 15.0 h by #9" in made.thread
    made.turn(CHECK_INTERVAL)
    assert (list_remarks(made), made.edits()) == ([], 0)


def test_a_mend_writes_what_was_amended_too(bot: Callable[..., Bot]) -> None:
    made = bot()
    made.turn(timedelta(0))
    merge(made, 9, "Revert #1")
    assert len(list_remarks(made)) == 1
    repair_digest.run(made.services, KEY)
    explanation = "above all, in its line, and in the reply"
    assert made.thread.count("reverted after 22.0 h by #9") == 3, explanation
    made.turn(CHECK_INTERVAL)
    assert made.thread.count("reverted after 22.0 h by #9") == 3, explanation
    assert len(list_remarks(made)) == 1


@pytest.mark.parametrize("method", ["chat.update", "chat.postMessage", "conversations.replies"])
def test_what_breaks_off_is_done_to_its_end_the_next_time(bot: Callable[..., Bot], method: str) -> None:
    made = post_large_day(bot)
    app, amends = made.services, Outbox()
    app.jobs = amends
    at = NOON + 22 * HOUR
    made.github.add(REPO, pull(9, title="Revert #2", merged_at=at, updated_at=at, created_at=at))
    made.wall.passes(CHECK_INTERVAL)
    check_repository(app, ENGINE)
    assert list(amends) == [(amend_digest, {"key": KEY, "looked_at": made.wall.now})]
    # a call of which nobody knows what it did; a reply is looked for at once
    made.slack.fail_next(method, status=503, after_effect=True)
    with suppress(SlackUnavailable):
        amend_digest.run(app, KEY, made.wall.now)
    amend_digest.run(app, KEY, made.wall.now)
    amend_digest.run(app, KEY, made.wall.now)
    assert all(line.endswith(f" — {MARK}") for line in lines(made, "#2 "))
    assert len(list_remarks(made)) == 1


@pytest.mark.parametrize("code", ["edit_window_closed", "cant_update_message"])
def test_where_messages_may_not_be_edited_the_reply_tells_it_and_no_edit_is_tried_for_ever(
    bot: Callable[..., Bot], caplog: pytest.LogCaptureFixture, code: str
) -> None:
    made = post_large_day(bot)
    before = lines(made, "#")
    made.slack.fail_next("chat.update", error=code, times=99)
    merge(made, 9, "Revert #2")
    assert "can't be amended" in caplog.text
    assert (lines(made, "#"), len(list_remarks(made))) == (before, 1)
    tries = len(made.slack.list_calls_to("chat.update"))
    made.turn(CHECK_INTERVAL)
    assert (len(made.slack.list_calls_to("chat.update")), len(list_remarks(made))) == (tries, 1)


def test_a_digest_that_somebody_deleted_gets_no_reply(bot: Callable[..., Bot]) -> None:
    made = post_large_day(bot)
    made.slack.fail_next("chat.update", error="message_not_found")
    posts = len(made.slack.list_calls_to("chat.postMessage"))
    merge(made, 9, "Revert #2")
    made.turn(CHECK_INTERVAL)
    assert len(made.slack.list_calls_to("chat.postMessage")) == posts


def test_a_repository_without_digests_is_not_watched_any_more(bot: Callable[..., Bot]) -> None:
    made = post_large_day(bot)
    agenda = made.services.due_queue
    assert agenda.get_time(OutcomeCheck(ENGINE)) == DUE + CHECK_INTERVAL
    made.wall.passes(32 * DAY)
    check_repository(made.services, ENGINE)
    assert agenda.get_time(OutcomeCheck(ENGINE)) is None


def test_what_was_posted_is_kept_a_month_and_what_the_rules_said_for_good(bot: Callable[..., Bot]) -> None:
    made = post_large_day(bot)
    records = made.services.digest_records.store
    made.wall.passes(29 * DAY)
    check_repository(made.services, ENGINE)
    assert records.load(KEY).posted_messages
    made.wall.passes(3 * DAY)
    check_repository(made.services, ENGINE)
    record = records.load(KEY)
    assert (record.posted_messages, bool(record.ratings and record.ratings.rated[1].number == 2)) == (None, True)


def test_a_week_in_which_nobody_looked_is_looked_at(bot: Callable[..., Bot]) -> None:
    made = post_large_day(bot)
    at = NOON + 22 * HOUR
    made.github.add(REPO, pull(9, title="Revert #2", merged_at=at, updated_at=at, created_at=at))
    made.turn(8 * DAY)
    assert len(list_remarks(made)) == 1


# --- more than one channel, other digests


def test_each_channel_is_told_and_github_is_asked_once(bot: Callable[..., Bot]) -> None:
    made = bot()
    add_large(made)
    others = ["C0SECOND", "D0ADA"]
    for channel in others:
        subscribe(made, channel)
    made.turn(timedelta(0))
    # it is midnight in UTC: that of the last look, the one before and the one that begins
    before, days = made.github.queries, 3
    merge(made, 9, "Revert #2")
    assert made.github.queries == before + days
    for channel in (HOME, *others):
        assert [line.endswith(f" — {MARK}") for line in lines(made, "#2 ", channel)] == [True, True]
        assert len(list_remarks(made, channel)) == 1


def test_only_what_a_digest_shows_is_told_there(bot: Callable[..., Bot]) -> None:
    made = bot()
    add_large(made)
    subscribe(made, "C0PART", DigestView(Filters(paths=("csrc",))))
    made.turn(timedelta(0))
    merge(made, 9, "Revert #1")
    assert (len(list_remarks(made)), list_remarks(made, "C0PART")) == (1, [])
    merge(made, 10, "Revert #2", 40 * HOUR)
    assert (len(list_remarks(made)), len(list_remarks(made, "C0PART"))) == (2, 1)
    assert [line.endswith(" — reverted after 40.0 h by #10") for line in lines(made, "#2 ", "C0PART")] == [
        True
    ] * 2


def test_a_digest_of_a_weekend_is_told_of_each_of_its_days(bot: Callable[..., Bot]) -> None:
    made = bot()
    for number, days in ((4, -1), (5, 1)):
        at = NOON + days * DAY
        made.github.add(REPO, pull(number, title=f"Of day {days}", merged_at=at, updated_at=at, created_at=at))
    due = subscribe(made, "C0WEEK", timing=Timing(TIMING.at, TIMING.zone, weekdays=True))
    merge(made, 8, "Revert #4", 23 * HOUR)
    made.turn(due - made.wall.now)
    assert made.slack.list_messages("C0WEEK")[0]["text"].startswith("engine")
    # of the first day, and what took it back on the last one: both are in the digest
    assert "Revert #4" in str(made.slack.list_messages("C0WEEK")[0]["blocks"])
    merge(made, 9, "Revert #2", 50 * HOUR)
    merge(made, 10, "Revert #5", 60 * HOUR)
    assert sorted(list_remarks(made, "C0WEEK")) == [
        "#2 Change part 2, reverted after 2 days by #9.",
        "#5 Of day 1, reverted after 36.0 h by #10.",
    ]
    ends = [line.rpartition(" — ")[2] for number in (2, 5) for line in lines(made, f"#{number} ", "C0WEEK")]
    assert ends == ["reverted after 2 days by #9", "reverted after 36.0 h by #10"]


def test_other_repositories_are_none_of_its_business(bot: Callable[..., Bot]) -> None:
    made = bot()
    web = Repository.parse("octo/web")
    made.github.add(str(web), pull(2, title="Of the web", merged_at=NOON))
    subscribe(made, "C0WEB", repository=web)
    made.turn(timedelta(0))
    merge(made, 9, "Revert #2")
    assert (len(list_remarks(made)), list_remarks(made, "C0WEB")) == (1, [])


# --- what goes away for a while


def test_a_bot_that_is_restarted_between_the_look_and_the_amendment_goes_on(bot: Callable[..., Bot]) -> None:
    made, amends = post_large_day(bot), Outbox()
    at = NOON + 22 * HOUR
    made.github.add(REPO, pull(9, title="Revert #2", merged_at=at, updated_at=at, created_at=at))
    made.wall.passes(CHECK_INTERVAL)
    made.services.jobs = amends
    check_repository(made.services, ENGINE)
    again = bot()
    for each in amends.of(amend_digest):
        amend_digest.run(again.services, each.key, each.looked_at)
    assert len(list_remarks(again)) == 1
    again.turn(CHECK_INTERVAL)
    assert (len(list_remarks(again)), again.edits()) == (1, 2)


def test_a_look_without_github_is_made_six_hours_later(bot: Callable[..., Bot]) -> None:
    made = post_large_day(bot)
    at = NOON + 22 * HOUR
    made.github.add(REPO, pull(9, title="Revert #2", merged_at=at, updated_at=at, created_at=at))
    made.github.set_limit("graphql", 0)
    with pytest.raises(RateLimited):
        made.turn(CHECK_INTERVAL)
    assert made.services.due_queue.get_time(OutcomeCheck(ENGINE)) == DUE + 2 * CHECK_INTERVAL
    made.github.set_limit("graphql", 1_000)
    made.turn(CHECK_INTERVAL - MINUTE)
    assert list_remarks(made) == []
    made.turn(MINUTE)
    assert len(list_remarks(made)) == 1


def test_a_look_passes_over_a_day_that_has_no_list_and_needs_the_store(bot: Callable[..., Bot]) -> None:
    made = post_large_day(bot)
    lists = KnownPulls(
        (builders.pull(9, merged_at=NOON),),
        {f"day {made.wall.now.date()}": DayUnavailable("That day has no list.")},
    )
    made.base.__dict__["day_lists"] = lists
    check_repository(made.base, ENGINE)
    assert f"day {made.wall.now.date()}" in lists.calls
    made.base.__dict__["merge_history"] = HistoryStore(
        connect_server(f"redis://127.0.0.1:{closed_port()}", timeouts=SHORT_TIMEOUTS)
    )
    with pytest.raises(StoreUnavailable):
        check_repository(made.base, ENGINE)


def test_a_channel_that_is_closed_keeps_no_other_from_being_told(bot: Callable[..., Bot]) -> None:
    made = bot()
    add_large(made)
    subscribe(made, "C0SECOND")
    made.turn(timedelta(0))
    made.slack.archive_channel(HOME)
    merge(made, 9, "Revert #2")
    made.slack.unarchive_channel(HOME)
    assert (list_remarks(made), len(list_remarks(made, "C0SECOND"))) == ([], 1)


# --- days that were over for long when their digest was posted

LATE = LocalDay(builders.DAY.date - 10 * DAY, builders.DAY.zone)


@pytest.mark.parametrize("is_watched", [False, True])
def test_a_day_of_long_ago_is_told_of_what_came_since(bot: Callable[..., Bot], *, is_watched: bool) -> None:
    made = post_large_day(bot) if is_watched else bot()
    made.slack.add_channel("C0LATE", "late")
    for number, title, days in ((21, "Of long ago", -10), (22, "Revert #21", -6)):
        at = NOON + days * DAY
        made.github.add(REPO, pull(number, title=title, merged_at=at, updated_at=at, created_at=at))
    span = Span(LATE.date, LATE.date, LATE.zone)
    post_digest(made.services, DigestSpec("C0LATE", ENGINE, span))
    made.turn(CHECK_INTERVAL)
    assert list_remarks(made, "C0LATE") == ["#21 Of long ago, reverted after 4 days by #22."]
    queries = made.github.queries
    made.turn(CHECK_INTERVAL)
    assert made.github.queries - queries <= 3, "what was looked at is not looked at again"


class Counting(RecordStore[PostedDigest]):
    """Records; keeps how many were asked for at once."""

    def __init__(self, store: Redis) -> None:
        super().__init__(store, RECORDS)
        self.asked: list[int] = []

    def load_each(self, keys: Sequence[str]) -> Sequence[PostedDigest]:
        self.asked.append(len(keys))
        return super().load_each(keys)


def test_the_records_of_many_channels_are_read_some_at_a_time(bot: Callable[..., Bot], store: Redis) -> None:
    made = post_large_day(bot)
    records = Counting(store)
    for number in range(120):
        made.services.tables.add_member(POSTED_DIGESTS, f"digest:T:C{number}", made.wall.now - HOUR, REPO)
    made.services.__dict__["digest_records"] = DigestRecords(records, lambda: "T0TEAM")
    check_repository(made.services, ENGINE)
    assert (sum(records.asked), max(records.asked)) == (121, 50)


class CountedHistory(HistoryStore):
    """History; counts how often it was read."""

    def __init__(self, store: Redis) -> None:
        super().__init__(store)
        self.reads = 0

    def read_merges(self, repository: Repository, since: datetime, until: datetime) -> tuple[PullRequest, ...]:
        self.reads += 1
        return super().read_merges(repository, since, until)


def test_the_history_is_read_once_a_look_however_many_digests_are_amended(
    bot: Callable[..., Bot], store: Redis
) -> None:
    made, history = bot(), CountedHistory(store)
    add_large(made)
    channels = [HOME, *(f"C0MORE{number}" for number in range(4))]
    for channel in channels[1:]:
        subscribe(made, channel)
    made.turn(timedelta(0))
    app = made.services
    app.__dict__["timeline"] = MergeTimeline(lambda: history, app.pulls.list_merged, made.wall)
    for number, (back, hours) in enumerate([(2, 22), (9, 30)]):
        at = NOON + hours * HOUR
        made.github.add(
            REPO, pull(9 + number, title=f"Revert #{back}", merged_at=at, updated_at=at, created_at=at)
        )
        made.wall.passes(CHECK_INTERVAL if number else 2 * CHECK_INTERVAL)
        amends, before = Outbox(), history.reads
        app.jobs = amends
        check_repository(app, ENGINE)
        assert len(amends) == len(channels)
        for each in amends.of(amend_digest):
            made.wall.passes(MINUTE)
            amend_digest.run(app, each.key, each.looked_at)
        assert history.reads == before + 1
    assert [len(list_remarks(made, channel)) for channel in channels] == [1] * len(channels)
    # a job of a look that this process did not make reads for itself
    made.wall.passes(MINUTE)
    before = history.reads
    amend_digest.run(app, KEY, made.wall.now)
    assert history.reads == before + 1
    before = history.reads
    made.wall.passes(timedelta(hours=2))
    amend_digest.run(app, KEY, made.wall.now - timedelta(hours=2))
    assert history.reads == before + 1, "too long ago"
