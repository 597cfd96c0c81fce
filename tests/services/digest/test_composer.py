"""What of an spec stands in the channel: one lead, every pull request once, one report."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from localslack.rules.live_text import find_mentions
from redis import Redis

from bot.domain.conversations.commands import AllowedRepositories, DigestRequest
from bot.domain.digest.view import DigestView, ViewLevel
from bot.domain.errors import GitHubUnavailable
from bot.domain.pull_requests.filters import Filters
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.subscriptions.models import DigestSpec, Subscription
from bot.domain.summaries.models import Summary
from bot.domain.time.date_range import Span
from bot.domain.time.day import LocalDay
from bot.features.digest.rules import Overview
from bot.features.digest.view import describe_skipped_days
from bot.services.digest.builder import DigestBuilder
from bot.services.digest.composer import DigestComposer
from bot.services.summaries.reader import PullRequestReader
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.builders import DAY, REPOSITORY, changed_file, pull, summary
from tests.helpers.records import digest_store
from tests.render.accepted import nodes, strings
from tests.services.digest.posting import HOME, messenger_of, poster_of
from tests.services.doubles import KnownPulls, Summaries
from tests.services.subscriptions.scheduled import TIMING

WEEKDAYS = replace(TIMING, weekdays=True)
ZONE = TIMING.zone
MONDAY = WEEKDAYS.get_due_time(date(2026, 3, 2))
DAILY = Subscription(HOME, REPOSITORY, WEEKDAYS, by="U0ADA")
FRIDAY = date(2026, 2, 27)
WEEKEND = Span(FRIDAY, FRIDAY + timedelta(days=2), ZONE)
ONE_DAY = DigestSpec(HOME, REPOSITORY, Span(DAY.date, DAY.date, ZONE))
TITLES = ["Friday 27 February", "Saturday 28 February", "Sunday 1 March"]
LONG = summary(
    headline="W" * 120, what_changed_and_why="Why. " * 400, action="Set the flag. " * 15, risk_reason="Risk " * 40
)


def make_merge(number: int, day: int, **fields: Any) -> PullRequest:
    """A pull request merged at noon of Friday (0), Saturday (1) or Sunday (2)."""
    noon = datetime.combine(FRIDAY + timedelta(days=day), datetime.min.time(), ZONE) + timedelta(hours=12)
    return pull(number, merged_at=noon + timedelta(seconds=number), **fields)


def composer(
    pulls: KnownPulls,
    stub_summary: Summary | None = None,
    zone_of: Callable[[str], ZoneInfo | None] = lambda _: ZONE,
) -> DigestComposer:
    def overview(_repository: Repository, _day: LocalDay, entries: Iterable[object]) -> Overview:
        return Overview(f"{len(list(entries))} changes.")

    reader = PullRequestReader(pulls, Summaries(stub_summary or summary()))
    daily = DigestBuilder(pulls, reader.read_pull_request, overview, reader.load_files, 4)
    return DigestComposer(daily, lambda repository: repository.name.title(), zone_of)


def post_digest(slack: SlackEmulator, store: Redis, made: DigestComposer, spec: DigestSpec, *notes: str) -> None:
    poster = poster_of(messenger_of(slack), digest_store(store), now=MONDAY)
    poster.post(spec, lambda: made.compose_messages(spec, notes))


def read_channel(slack: SlackEmulator) -> tuple[str, list[str], list[str]]:
    """The text of the lead, the titles of the thread's posts, and the numbers in them."""
    [lead] = slack.list_messages(HOME)
    replies = [reply for reply in slack.list_replies(HOME, lead["ts"]) if not reply.get("files")]
    titles = [reply["blocks"][0]["text"]["text"] for reply in replies if reply["blocks"][0]["type"] == "header"]
    lists = [item for reply in replies for item in nodes(reply["blocks"], "rich_text_list")]
    linked = [item["elements"][0]["text"] for bullet_list in lists for item in bullet_list["elements"]]
    return "\n".join("".join(strings(block)) for block in lead["blocks"]), titles, linked


SIX = KnownPulls(tuple(make_merge(number, number // 2) for number in range(6)))


def test_a_monday_tells_of_the_days_since_friday(slack: SlackEmulator, store: Redis) -> None:
    spec = DAILY.build_digest_spec(MONDAY)
    assert spec.span == WEEKEND
    post_digest(slack, store, composer(SIX), spec)
    lead, titles, linked = read_channel(slack)
    assert lead.startswith("Engine · 27 February – 1 March 2026 · 6 merged")  # noqa: RUF001 (a dash)
    assert titles == TITLES
    assert linked == ["#1", "#0", "#3", "#2", "#5", "#4"]
    [file] = slack.files
    assert file["name"] == "Engine-2026-02-27..2026-03-01.md"
    report = file["content"].decode()
    assert re.findall(r"\*\*Report Date:\*\* (\S+)", report) == ["2026-02-27", "2026-02-28", "2026-03-01"]
    assert re.findall(r"^  - `(.+)`$", report, re.M) == ["engine/core.py"] * 6


@pytest.mark.parametrize(
    ("day", "first", "last"),
    [(2, 27, 1), (3, 2, 2), (6, 5, 5), (9, 6, 8)],
    ids=["monday", "tuesday", "friday", "monday-after"],
)
def test_every_day_is_told_once(day: int, first: int, last: int) -> None:
    span = DAILY.build_digest_spec(WEEKDAYS.get_due_time(date(2026, 3, day))).span
    assert (span.first.day, span.last.day) == (first, last)


def test_one_day_is_a_digest_of_that_day(slack: SlackEmulator, store: Redis) -> None:
    post_digest(
        slack,
        store,
        composer(SIX),
        replace(DAILY.build_digest_spec(MONDAY), span=replace(WEEKEND, first=WEEKEND.last)),
    )
    lead, titles, linked = read_channel(slack)
    assert lead.startswith("Engine · Sunday 1 March 2026 · 2 merged")
    assert (titles, linked) == ([], ["#5", "#4"])


def test_a_weekend_on_which_nothing_was_merged_is_one_message(slack: SlackEmulator, store: Redis) -> None:
    post_digest(slack, store, composer(KnownPulls()), DAILY.build_digest_spec(MONDAY))
    lead, titles, linked = read_channel(slack)
    assert "nothing merged" in lead
    assert (titles, linked, slack.files) == ([], [], [])


@pytest.mark.slow
def test_three_days_as_busy_as_any_are_all_taken(slack: SlackEmulator, store: Redis) -> None:
    busy = [
        make_merge(number, number % 3, title="W " * 128, files=[changed_file(f"engine/{number}.py", 400, 400)])
        for number in range(1_000, 1_000 + 3 * 67)
    ]
    post_digest(
        slack, store, composer(KnownPulls(tuple(busy)), LONG), DAILY.build_digest_spec(MONDAY), "A note. " * 200
    )
    lead, titles, linked = read_channel(slack)
    assert "201 merged" in lead
    assert list(dict.fromkeys(titles)) == TITLES
    assert sorted(linked) == [f"#{pull_request.number}" for pull_request in busy]
    assert len(slack.files) == 1
    assert len(slack.list_calls_to("chat.postMessage")) == 1 + len(titles), "Slack took each at once"


# --- views


@pytest.mark.parametrize(
    ("view", "shown"),
    [
        pytest.param(DigestView(Filters(authors=("ada-dev",))), ["#0", "#4"], id="author"),
        pytest.param(DigestView(Filters(paths=("docs",))), ["#1", "#5"], id="path"),
        pytest.param(DigestView(only=ViewLevel.RISKY), [], id="risky"),
    ],
)
def test_a_view_shows_what_fits_of_each_day_and_says_of_how_many(
    slack: SlackEmulator, store: Redis, view: DigestView, shown: list[str]
) -> None:
    both = [
        make_merge(number, number // 2, files=[changed_file(("engine/a.py", "docs/a.md")[number % 2])])
        for number in (0, 1, 4, 5)
    ]
    pulls = [made if made.number % 2 == 0 else replace(made, author=made.merged_by) for made in both]
    post_digest(
        slack, store, composer(KnownPulls(tuple(pulls))), replace(DAILY.build_digest_spec(MONDAY), view=view)
    )
    lead, titles, linked = read_channel(slack)
    assert f"{len(shown)} of 4 merged" in lead
    assert f"{len(shown)} of 4 shown: {view}" in lead
    assert sorted(linked) == shown
    assert titles == ([TITLES[0], TITLES[2]] if shown else [])
    assert [file["name"] for file in slack.files] == [f"Engine-{WEEKEND}-{view.fingerprint}.md"][: len(shown)]


def test_a_channel_may_have_the_same_days_in_two_views(slack: SlackEmulator, store: Redis) -> None:
    whole = DAILY.build_digest_spec(MONDAY)
    for spec in (whole, replace(whole, view=DigestView(only=ViewLevel.RISKY)), whole):
        post_digest(slack, store, composer(SIX), spec)
    assert [message["text"].rpartition(" · ")[2] for message in slack.list_messages(HOME)] == [
        "6 merged",
        "0 of 6 merged",
    ]


# --- notes and errors


def test_days_that_were_skipped_are_told_with_a_command_that_works(slack: SlackEmulator, store: Redis) -> None:
    skipped = Span(FRIDAY - timedelta(days=20), FRIDAY - timedelta(days=1), ZONE)
    post_digest(
        slack, store, composer(SIX), DAILY.build_digest_spec(MONDAY), describe_skipped_days(REPOSITORY, skipped)
    )
    [lead] = slack.list_messages(HOME)
    lead_text, _, _ = read_channel(slack)
    match = re.search(r"To see it: /prdigest (.+)$", lead_text, re.M)
    assert match
    request = DigestRequest.parse(match[1], AllowedRepositories(REPOSITORY), LocalDay(date(2026, 4, 1), ZONE))
    assert request.span == Span(FRIDAY - timedelta(days=14), FRIDAY - timedelta(days=1), ZONE)
    assert find_mentions(lead) == []


@pytest.mark.parametrize("day", [0, 1, 2])
def test_a_day_that_can_not_be_had_ends_it_before_anything_is_posted(
    slack: SlackEmulator, store: Redis, day: int
) -> None:
    away: dict[str, Exception] = {f"day {FRIDAY + timedelta(days=day)}": GitHubUnavailable("Away.")}
    with pytest.raises(GitHubUnavailable):
        post_digest(slack, store, composer(KnownPulls(SIX.pulls, away)), DAILY.build_digest_spec(MONDAY))
    assert slack.list_messages(HOME) == []


def test_the_gaps_of_each_day_are_those_of_the_edition() -> None:
    pulls = KnownPulls(SIX.pulls, counted={"2026-02-28": 3})
    made = composer(pulls).compose_messages(DAILY.build_digest_spec(MONDAY))
    assert made.gaps == ("2026-02-28: possibly incomplete: the commits of main show 3 merges, not 2",)
    assert made.merged == 6


# --- zones


def headings(made: DigestComposer, *built: DigestSpec) -> list[str]:
    return [made.compose_messages(spec).lead.text.partition(". ")[0] for spec in built]


def test_the_heading_names_a_zone_that_readers_do_not_expect() -> None:
    own, tokyo = ONE_DAY, replace(ONE_DAY, span=replace(ONE_DAY.span, zone=ZoneInfo("Asia/Tokyo")))
    weekend = replace(own, span=WEEKEND)
    abroad = replace(weekend, span=replace(WEEKEND, zone=tokyo.span.zone))
    assert headings(composer(KnownPulls()), own, tokyo, weekend, abroad) == [
        "Engine · Saturday 28 February 2026 · nothing merged",
        "Engine · Saturday 28 February 2026 (Asia/Tokyo) · nothing merged",
        "Engine · 27 February – 1 March 2026 · nothing merged",  # noqa: RUF001 (a dash)
        "Engine · 27 February – 1 March 2026 (Asia/Tokyo) · nothing merged",  # noqa: RUF001 (a dash)
    ]


def test_where_a_channel_has_several_zones_the_heading_names_each() -> None:
    [heading] = headings(composer(KnownPulls(), zone_of=lambda _: None), ONE_DAY)
    assert heading == "Engine · Saturday 28 February 2026 (America/Los_Angeles) · nothing merged"
