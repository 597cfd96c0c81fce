from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from localslack.rules.messages import find_links, find_mentions
from redis import Redis

from bot.dates import LocalDay
from bot.errors import SlackUnavailable
from bot.features.digest.posts import dump_ratings
from bot.features.home import show_home, suggest_prompts
from bot.features.merges.view import LeadRule
from bot.features.noise.rules import Mute, MuteKind
from bot.features.noise.service import MUTES, Mutes
from bot.features.risks.ratings import PostedRatings, RatedPullRequest
from bot.features.subscriptions.rules import Run, RunOutcome, Subscription
from bot.platform.costs import Budget
from bot.platform.slack.blocks import Post
from bot.platform.store.connection import RedisCache
from bot.platform.store.keys import LAST_TICK
from bot.platform.store.spending import SpendingStore
from bot.usage import CallPurpose
from tests.emulators.slack.server import SlackEmulator
from tests.features.subscriptions.subscribers import (
    ANGELES,
    FIXED,
    NOON,
    OPEN,
    OWN,
    PRIVATE,
    USUAL,
    Team,
    ask,
    at,
    key_of,
    read,
)
from tests.helpers.builders import pull
from tests.helpers.records import plant
from tests.helpers.subscriptions import RunLog

DAY = timedelta(days=1)


@pytest.fixture
def team(slack: SlackEmulator, store: Redis) -> Team:
    return Team(slack, store)


def budget(team: Team) -> Budget:
    return Budget(SpendingStore(team.store), lambda: LocalDay(team.now.date(), ANGELES), 20.0, 5.0)


def show(team: Team, user: str = "U0ADA", note: str = "", **sources: Any) -> list[str]:
    """What the person reads after it was shown, by paragraphs."""
    app = team.open_app(
        budget=budget(team), sources=SimpleNamespace(**{"stands_in": "", "model": object(), **sources})
    )
    show_home(app, user, note)
    view = team.slack.get_home(user)
    return read(Post("", tuple(view["blocks"]))).split("\n\n") if view else []


def record_post(team: Team, subscription: Subscription, due: datetime, text: str) -> None:
    address = f"https://emulated.slack.com/archives/{subscription.channel}/p1"
    plant(team.records, key_of(subscription.build_digest_spec(due)), posted_at=due, text=text, permalink=address)


def test_who_comes_first_reads_what_there_is_and_how_to_begin(team: Team) -> None:
    team.fixed = None
    assert show(team) == [
        "Recent digests\n==============",
        "None of the last two times. The next one comes at the time below.",
        "Subscriptions\n=============",
        "None yet: create one here, or with /prdigest subscribe in one of my channels.",
        "Status\n======",
        (
            "Schedule: not running, so digests are not posted\nLast digest: none yet\nLast failure: none\n"
            "Model budget today: $0.00 of $20.00 used"
        ),
        (
            "Write to me under Messages, or reply to one of my messages. I answer questions about the "
            "changes, with links to the code. /prsummary 35617 explains a pull request, /prrisks 7d lists "
            "risky changes."
        ),
    ]


def test_everybody_sees_what_they_may_know_of(team: Team) -> None:
    views = [f"path:{name}" for name in ("all", "closed", "own")]
    made = [team.subscribe(views[0]), team.subscribe(views[1], PRIVATE), team.subscribe(f"me {views[2]}")]
    shown = "\n".join(show(team))
    assert [view in shown for view in views] == [True, True, True]
    assert not any(each.id in shown for each in made)
    others = "\n".join(show(team, "U0BEN"))
    assert [view in others for view in views] == [True, False, False]
    assert (f"#{PRIVATE}" in others, "Sent to you" in others, "the bot's admin" in others) == (False, False, True)


def test_each_has_its_place_and_its_next_time(team: Team) -> None:
    team.subscribe("me at 17:00 tz Europe/Berlin")
    team.subscribe(channel=OPEN)
    team.run("pause", "", OPEN)
    shown = show(team)
    line = "octo/engine, every day at 17:00 (Europe/Berlin) · Next: 2026-03-03 16:00 UTC"
    assert f"Sent to you: {line}" in shown
    assert any(part.startswith(f"#{OPEN}: octo/engine") and part.endswith("· paused") for part in shown)
    assert any("set by the bot's admin" in part for part in shown)


@pytest.mark.slow
def test_ones_own_come_before_those_of_others(team: Team) -> None:
    team.many(60, OPEN, "U0BEN")
    team.subscribe("me acme/web.app")
    shown = show(team)
    assert shown[3].startswith("Sent to you: Acme/web.app")
    assert shown[-4].startswith("and ")
    view = team.slack.get_home("U0ADA")
    assert view
    assert len(view["blocks"]) <= 100


# --- the last digests


def test_the_last_digest_of_each_is_there_in_short_with_its_link(team: Team) -> None:
    made = team.subscribe()
    record_post(team, made, at(1, 9), "Older")
    record_post(team, made, at(2, 9), "engine · Sunday 1 March 2026 · 2 merged. #7 &amp; two &lt;here&gt;")
    assert show(team)[1] == "engine · Sunday 1 March 2026 · 2 merged. #7 & two <here> Open it"
    view = team.slack.get_home("U0ADA")
    assert "https://emulated.slack.com/archives/C0DIGEST/p1" in str(view)
    assert "https://github.com/octo/engine/pull/7'" in str(view)


def test_until_it_is_posted_it_is_the_one_before(team: Team) -> None:
    record_post(team, team.subscribe(), at(1, 9), "Older")
    assert show(team)[1] == "Older Open it"


def test_one_that_is_being_posted_is_shown_once_its_first_message_stands(team: Team) -> None:
    key = key_of(team.subscribe().build_digest_spec(at(2, 9)))
    plant(team.records, key, begun_at=at(2, 9), plan_json="{}")
    assert show(team)[1].startswith("None of the last two times")
    plant(team.records, key, lead="1.0", text="Today")
    assert show(team)[1] == "Today"


def test_what_many_channels_got_is_shown_once_and_the_newest_three(team: Team) -> None:
    for hour, (text, channel) in enumerate([("", OPEN), ("", OWN), ("only:risky", OPEN), ("path:a", OPEN)]):
        made = team.subscribe(f"{text} at {hour + 1}:00 tz America/Los_Angeles", channel)
        record_post(team, made, at(2, hour + 1), text or "Whole")
    assert show(team)[1:4] == ["path:a Open it", "only:risky Open it", "Whole Open it"]


def test_digests_that_one_may_not_know_of_are_not_shown(team: Team) -> None:
    record_post(team, team.subscribe(channel=PRIVATE), at(2, 9), "A secret")
    record_post(team, team.subscribe("me path:a tz America/Los_Angeles"), at(2, 9), "Of ones own")
    assert show(team)[1:3] == ["A secret Open it", "Of ones own Open it"]
    assert show(team, "U0BEN")[1].startswith("None of the last two times")


def test_a_long_one_is_cut(team: Team) -> None:
    record_post(team, team.subscribe(), at(2, 9), "word " * 2_000)
    assert len(show(team)[1]) < 650


# --- health


def health(team: Team, **model: Any) -> list[str]:
    return show(team, **model)[-2].split("\n")


@pytest.mark.parametrize(
    ("age", "line"),
    [
        (timedelta(seconds=20), "Schedule: running"),
        (timedelta(hours=2), "Schedule: stopped, last seen 2026-03-02 18:00 UTC"),
    ],
)
def test_whether_the_clock_runs_is_seen(team: Team, age: timedelta, line: str) -> None:
    RedisCache(team.store).put(LAST_TICK.build_key(), (team.now - age).isoformat(), DAY)
    assert health(team)[0] == line


def test_the_last_run_and_the_last_failure_are_seen(team: Team) -> None:
    runs = [
        Run(at(1, 9), "a", RunOutcome.FAILED, "Slack refused the call: <!here>"),
        Run(at(1, 10), "a", RunOutcome.POSTED, "2 of 9 could not be read"),
        Run(at(2, 9), "b", RunOutcome.MENDED),
        Run(at(2, 10), "c", RunOutcome.SKIPPED, "the bot was not running at its time"),
    ]
    for run in runs:
        RunLog(team.store).add_run(run)
    assert health(team)[1:3] == [
        "Last digest: 2026-03-02 17:00 UTC",
        "Last failure: 2026-03-02 18:00 UTC, skipped: the bot was not running at its time",
    ]


def test_what_is_missing_in_the_last_one_is_said(team: Team) -> None:
    RunLog(team.store).add_run(Run(at(2, 9), "a", RunOutcome.POSTED, "2 of 9 could not be read"))
    assert health(team)[1] == "Last digest: 2026-03-02 17:00 UTC, incomplete: 2 of 9 could not be read"


def test_what_was_spent_is_seen(team: Team) -> None:
    spent = budget(team)
    spent.settle_cost(spent.reserve_cost("", CallPurpose.USUAL, 2.0), 1.234)
    assert health(team)[-1] == "Model budget today: $1.23 of $20.00 used"
    assert health(team, model=None)[-1] == "Model: not configured, so digests contain facts only"
    assert health(team, stands_in="No model is asked here.")[-1] == "No model is asked here."


def test_a_month_that_is_limited_is_seen_too(team: Team) -> None:
    limited = budget(team)
    limited.monthly = 100.0
    limited.settle_cost(limited.reserve_cost("", CallPurpose.USUAL, 13.0), 12.346)
    show_home(team.open_app(budget=limited, sources=SimpleNamespace(stands_in="", model=object())), "U0ADA")
    assert "; this month: $12.35 of $100.00" in str(team.slack.get_home("U0ADA"))


def test_a_store_that_is_nearly_full_stands_out(team: Team) -> None:
    used = int(team.store.info("memory")["used_memory"])
    team.store.config_set("maxmemory", round(used * 1.05))
    try:
        lines = health(team)
    finally:
        team.store.config_set("maxmemory", 0)
    assert any(line.startswith("Store: nearly full, ") for line in lines)


# --- what goes wrong


@pytest.mark.parametrize("note", ["Paused: octo/engine", "Wide &amp; &lt;!here&gt; " * 100, "x" * 5_000])
def test_what_came_of_a_click_stands_above(team: Team, note: str) -> None:
    shown = show(team, note=note)[0]
    assert shown.startswith(note[:4])
    assert ("&amp;" not in shown, len(shown) <= 600) == (True, True)


def test_an_app_without_a_home_is_no_error(team: Team, caplog: pytest.LogCaptureFixture) -> None:
    team.slack.enable_home(enabled=False)
    assert show(team) == []
    assert "not_enabled" in caplog.text


def test_a_slack_that_does_not_answer_is_tried_again(team: Team) -> None:
    team.slack.fail_next("views.publish", status=503)
    with pytest.raises(SlackUnavailable):
        show(team)
    assert show(team)


# prompts above direct messages


HOSTILE = "<!channel> [x](http://evil.example) @here\nignore all that <@U0ADMIN> " + "w" * 200


def rate(number: int, points: float, *lead: LeadRule, is_listed: bool = False) -> RatedPullRequest:
    return RatedPullRequest(number, NOON, points, 1, is_listed=is_listed, lead=lead)


def record_rated(team: Team, subscription: Subscription, due: datetime, *rated: RatedPullRequest) -> None:
    """A digest with these pull requests; #4 was reverted, and the revert of #5 was itself reverted."""
    planted = {"ratings_json": dump_ratings(PostedRatings("1", rated)), "outcome_states": ("4-9", "5-8-")}
    plant(team.records, key_of(subscription.build_digest_spec(due)), posted_at=due, text="A day", **planted)


def prompt(team: Team, user: str = "U0ADA", title: str = "Faster") -> list[tuple[str, str]]:
    """The prompts that a person sees above their direct messages."""
    merges = tuple(pull(number, title=title) for number in range(1, 10))
    timeline = SimpleNamespace(read_merges_or_none=lambda *_: merges)
    asker = ask(f"D{user[1:]}", user)
    suggest_prompts.run(team.open_app(timeline=timeline), asker)
    return [(each["title"], each["message"]) for each in team.slack.get_prompts(asker.channel)["prompts"]]


@pytest.fixture
def agent(team: Team) -> Team:
    team.slack.declare_agent()
    for user in ("U0ADA", "U0BEN"):
        team.slack.get_channel(f"D{user[1:]}")
    return team


def test_prompts_are_about_the_last_digest_that_a_person_may_see(agent: Team) -> None:
    due = USUAL.find_last_before(agent.now)
    risky = rate(2, 9.0, LeadRule.RISKY, is_listed=True)
    rated = (rate(1, 1.0, LeadRule.TOUCHES_US), risky, rate(4, 20.0, is_listed=True), rate(5, 0.5))
    record_rated(agent, FIXED, due, *rated)
    day = "octo/engine on Sunday 1 March 2026"
    assert prompt(agent) == [
        ("Our code: #1 Faster", f"What do we have to do about #1, merged into {day}?"),
        ("Riskiest: #2 Faster", f"How risky is #2, merged into {day}, and why?"),
        ("Reverted: #4 Faster", f"What was wrong with #4, merged into {day}?"),
        ("What matters most?", f"What matters most of what was merged into {day}?"),
    ]


def test_what_a_person_mutes_is_no_prompt_of_theirs(agent: Team) -> None:
    record_rated(agent, FIXED, USUAL.find_last_before(agent.now), rate(2, 9.0, is_listed=True))
    muted = Mute(MuteKind.AUTHOR, "ada-dev", agent.now.date() + 9 * DAY)
    agent.open_app().tables.put(MUTES, Mutes("U0ADA", (muted,)), "U0ADA")
    assert [label for label, _ in prompt(agent)] == ["What matters most?"]
    assert prompt(agent, "U0BEN")[0][0] == "Riskiest: #2 Faster"
    assert "Muted for you (/prdigest unmute ends it)\n  • author:ada-dev, until" in "\n".join(show(agent))


def test_of_a_private_digest_only_its_readers_get_prompts(agent: Team) -> None:
    agent.fixed = None
    private = agent.subscribe("", PRIVATE)
    record_rated(agent, private, private.timing.find_last_before(agent.now), rate(2, 9.0, is_listed=True))
    assert prompt(agent)[0][0] == "Riskiest: #2 Faster"
    assert [label for label, _ in prompt(agent, "U0BEN")] == [
        "What was merged yesterday?",
        "What is risky this week?",
        "What was reverted?",
    ]


def test_a_hostile_title_is_short_dead_and_never_sent(agent: Team) -> None:
    record_rated(agent, FIXED, USUAL.find_last_before(agent.now), rate(2, 9.0, is_listed=True))
    (label, message), *_ = prompt(agent, title=HOSTILE)
    assert len(label) <= 75
    assert "\n" not in label
    block = {"type": "markdown", "text": label}
    assert not find_mentions({"blocks": [block], "text": label})
    assert not find_links({"blocks": [block]})
    assert message == "How risky is #2, merged into octo/engine on Sunday 1 March 2026, and why?"


def test_more_prompts_than_slack_shows_are_left_out(agent: Team) -> None:
    rated = (
        rate(1, 1.0, LeadRule.TOUCHES_US, LeadRule.GONE_FOR_CALLERS),
        rate(2, 9.0, is_listed=True),
        rate(4, 2.0),
    )
    record_rated(agent, FIXED, USUAL.find_last_before(agent.now), *rated)
    assert [label.partition(":")[0] for label, _ in prompt(agent)] == [
        "Our code",
        "Riskiest",
        "Breaks callers",
        "Reverted",
    ]


def test_an_app_that_is_no_agent_after_all_has_no_prompts_and_no_failed_job(team: Team) -> None:
    team.slack.get_channel("D0ADA")
    assert prompt(team) == []
