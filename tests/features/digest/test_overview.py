from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from localslack.rules.live_text import find_mentions
from redis import Redis

from bot.app import App
from bot.dates import LocalDay, Span
from bot.errors import (
    DayUnavailable,
    GitHubUnavailable,
    ModelBusy,
    ModelRequestRejected,
    RepositoryNotFound,
    StoreUnavailable,
)
from bot.features.digest.rules import DigestSpec, Overview, UnknownDay
from bot.features.digest.service import build_days, compose_messages, write_overview
from bot.features.digest.view import describe_skipped_days
from bot.features.merges.outcomes import MergeOutcome
from bot.features.merges.requests import DigestRequest, DigestView, ViewLevel
from bot.features.merges.review import BugReview, Certainty, FindingStatus
from bot.features.merges.summary import ChangeType, Fallback, FallbackReason, Summary
from bot.features.subscriptions.rules import Subscription
from bot.platform.commands import AllowedRepositories
from bot.platform.models.claude import CLAUDE
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.paths import Filters
from bot.usage import Usage
from impact.history.outcomes import OutcomeKind
from tests.emulators.claude.server import overview_answer
from tests.emulators.slack.server import SlackEmulator
from tests.features.digest.posting import HOME, messenger_of, poster_of
from tests.features.digest.test_admission import gone
from tests.features.subscriptions.scheduled import TIMING
from tests.helpers.apps import make_digest_app
from tests.helpers.builders import (
    DAY,
    NOON,
    REPOSITORY,
    changed_file,
    digest,
    entry,
    failed,
    finding,
    pairs,
    pull,
    summary,
)
from tests.helpers.doubles import KnownPulls, ScriptedModel, Summaries
from tests.helpers.records import digest_store
from tests.platform.slack.accepted import nodes, strings

# --- the overview of a day: the model's over the day's own numbers, or counts in its place

MODEL = "claude-sonnet-5-5"
PAID = CLAUDE.prices.cost(MODEL, Usage(10, 5))
TRIVIAL = summary(type=ChangeType.TRIVIAL)


class Bench:
    def __init__(self, *steps: str | Exception) -> None:
        self.model = ScriptedModel.of(*steps)
        self._app = make_digest_app(KnownPulls(), model=self.model)

    def of(self, *entries: Any, **fields: Any) -> Overview:
        return write_overview(self._app, digest(*entries, **fields))


def answer(**fields: Any) -> str:
    return json.dumps(overview_answer(**fields))


def themes(*titles: tuple[str, list[int]]) -> list[dict[str, Any]]:
    return [{"title": title, "pull_requests": numbers} for title, numbers in titles]


def test_a_day_without_merges_makes_no_call() -> None:
    bench = Bench()
    assert (bench.of(), bench.model.prompts) == (Overview("Nothing was merged."), [])


def test_the_overview_is_the_models_with_its_cost_and_later_from_the_cache() -> None:
    bench = Bench(answer(overview="Retries (#1) changed."), answer())
    made, again = bench.of(entry(1), entry(2)), bench.of(entry(1), entry(2))
    assert made == Overview("Retries (#1) changed.", cost=PAID)
    assert (again.from_cache, again.cost, len(bench.model.prompts)) == (True, 0.0, 1)
    bench.of(entry(1), entry(2, entry_summary=summary(headline="Another")))
    assert len(bench.model.prompts) == 2, "another headline is another overview"


def test_a_sentence_with_a_name_that_the_day_does_not_have_is_dropped() -> None:
    told = "Set `retries` (#1). Call `engine.forget()`. Pass `--Retries 3`."
    made = entry(1, entry_summary=summary(headline="`retries` and `--retries` count to 3"))
    assert Bench(answer(overview=told)).of(made).text == "Set `retries` (#1). Pass `--Retries 3`."


def test_the_overview_is_asked_for_with_what_became_of_the_day_what_breaks_and_what_fails() -> None:
    crash = finding("The engine stops with a KeyError", trigger="two adapters share a name")
    unsure = replace(crash, status=FindingStatus.POSSIBLE, certainty=Certainty.LOW)
    bug = replace(entry(3), review=BugReview((crash, unsure)))
    by = pull(9, title="Repair the count", merged_at=NOON + timedelta(hours=2))
    repaired = MergeOutcome(pull(2), by, OutcomeKind.REPAIRED)
    bench = Bench(answer(overview="Take #9 with #2. See #99."))
    made = bench.of(bug, entry(2), entry(1), outcomes=(repaired,), contracts=(gone(1),))
    (prompt,) = bench.model.prompts
    known = prompt.user.partition("Known of the day:\n")[2].split("\n")
    assert known[:3] == [
        "#2 Change number 2: repaired after 2.0 h by #9",
        "#1 breaks callers: `--old` is gone",
        f"#3 has a bug, confirmed: {crash.consequence}. Fails when: {crash.trigger}. Affected: {crash.affected}.",
    ]
    assert (len(known), made.text) == (4, "Take #9 with #2. See.")


def test_numbers_that_are_not_of_the_day_are_dropped() -> None:
    made = Bench(answer(overview="See #1 and (#99).")).of(entry(1))
    assert ("#99" in made.text, "#1" in made.text) == (False, True)


def test_without_a_model_there_are_counts_and_the_reason() -> None:
    app = make_digest_app(KnownPulls(), model=None)
    entries = (entry(1), entry(2), entry(3, entry_summary=TRIVIAL, files=[changed_file("docs/a.md")]))
    made = write_overview(app, digest(*entries))
    assert made.text == f"Most of it in {entries[0].area} (2). 1 pull request changed no product code."
    assert (made.fallback, made.cost) == (Fallback(FallbackReason.NO_MODEL), 0.0)
    calm = write_overview(app, digest(entry(1, entry_summary=TRIVIAL), entry(2, entry_summary=TRIVIAL)))
    assert calm.text == "2 pull requests changed no product code."


def test_a_model_that_fails_leaves_counts_the_reason_and_its_cost() -> None:
    made = Bench(ModelRequestRejected("the key is refused", Usage(1_000, 0))).of(entry(1))
    assert (made.fallback, made.text.startswith("Most of it in")) == (failed("the key is refused"), True)
    assert made.cost == CLAUDE.prices.cost(MODEL, Usage(1_000, 0))
    bench = Bench(*(ModelBusy("busy") for _ in range(3)), answer(overview="Later."))
    assert bench.of(entry(1)).fallback == failed("busy")
    assert bench.of(entry(1)).text == "Later.", "a failure is not kept"


def test_of_what_is_too_long_the_whole_sentences_stay_and_it_costs_no_further_call() -> None:
    bench = Bench(answer(overview="Retries changed. " + "word " * 200))
    assert (bench.of(entry(1)).text, len(bench.model.prompts)) == ("Retries changed.", 1)
    cut = Bench(answer(overview="word " * 200)).of(entry(1))
    assert cut.fallback == failed("its paragraph had no usable sentence")
    assert cut.text.startswith("Most of it in")
    bench = Bench(answer(overview="Retries changed.", themes=themes(("x" * 81, [1]), ("Retries", [1, 2]))))
    made = bench.of(entry(1), entry(2))
    assert (made.text, made.fallback, len(bench.model.prompts)) == ("Retries changed.", None, 1)


# --- several days

ZONE = TIMING.zone
WEEKDAYS = replace(TIMING, weekdays=True)
MONDAY = WEEKDAYS.get_due_time(date(2026, 3, 2))
DAILY = Subscription(HOME, REPOSITORY, WEEKDAYS, by="U0ADA")
FRIDAY = date(2026, 2, 27)
WEEKEND = Span(FRIDAY, FRIDAY + timedelta(days=2), ZONE)
SPEC = DAILY.build_digest_spec(MONDAY)
TITLES = ["Friday 27 February", "Saturday 28 February", "Sunday 1 March"]


def make_merge(number: int, day: int, **fields: Any) -> PullRequest:
    """A pull request merged at noon of Friday (0), Saturday (1) or Sunday (2)."""
    noon = datetime.combine(FRIDAY + timedelta(days=day), datetime.min.time(), ZONE) + timedelta(hours=12)
    # a commit of its own: what threads of an earlier test still write must not be taken for its contract
    return pull(number, merged_at=noon + timedelta(seconds=number), merge_commit=f"{number:038x}5e", **fields)


def open_days(
    pulls: KnownPulls, text: Summary | None = None, zone_of: Callable[[str], ZoneInfo | None] = lambda _: ZONE
) -> App:
    names: dict[str, Any] = {
        "name_repository": lambda repository: repository.name.title(),
        "get_channel_zone": zone_of,
    }
    return make_digest_app(pulls, Summaries(text or summary()), **names)


SIX = KnownPulls(tuple(make_merge(number, number // 2) for number in range(6)))
# there is no source of files here
UNREAD = "I couldn't read {0} of {0} changed files (the demo has no source files), so I can't tell. {0} merged."
UNKNOWN = DayUnavailable("The sample holds one day only.", "not in the sample")


@pytest.mark.parametrize(
    "error",
    [RepositoryNotFound("No such."), GitHubUnavailable("Away."), StoreUnavailable("Away."), KeyError("defect")],
    ids=lambda error: type(error).__name__,
)
def test_each_day_is_built_once_and_in_order_until_one_can_not_be_had(error: Exception) -> None:
    dates = [f"day {day.date}" for day in WEEKEND.days]
    pulls = KnownPulls(SIX.pulls)
    made = build_days(open_days(pulls), SPEC)
    assert [call for call in pulls.calls if call.startswith("day")] == dates
    assert [str(each.day.date) for each in made.digests] == [each[4:] for each in dates]
    assert (made.span, made.name, made.merged_count) == (WEEKEND, "Engine", 6)
    pulls = KnownPulls(SIX.pulls, {dates[1]: error})
    with pytest.raises(type(error)) as caught:
        build_days(open_days(pulls), SPEC)
    assert (caught.value, [call for call in pulls.calls if call.startswith("day")]) == (error, dates[:2])


def test_days_of_which_nothing_is_known_are_named_as_such_unless_there_is_no_other() -> None:
    unknown: dict[str, Exception] = {"day 2026-02-28": UNKNOWN}
    made = build_days(open_days(KnownPulls(SIX.pulls, unknown)), SPEC)
    assert [each.merged_count for each in made.digests] == [2, 2]
    assert made.unknown_days == (UnknownDay(date(2026, 2, 28), "not in the sample"),)
    with pytest.raises(DayUnavailable, match="one day only"):
        build_days(open_days(KnownPulls(SIX.pulls, unknown)), replace(SPEC, span=Span(DAY.date, DAY.date, ZONE)))


def test_no_patches_are_held_and_all_else_is_and_a_revert_on_another_day_is_known() -> None:
    heavy = (changed_file("engine/core.py", 500, 500),)
    pulls = (make_merge(1, 0, files=heavy), make_merge(2, 1, title="Revert #1"), make_merge(3, 2, files=heavy))
    made = build_days(open_days(KnownPulls(pulls)), SPEC)
    assert [each.pull.files for each in made.digests[0].entries] == [
        tuple(replace(file, patch=None) for file in heavy)
    ]
    assert made.digests[0].entries[0].risk.is_listed
    assert pairs(made.combined.outcomes) == [(1, 2)]
    assert [each.number for each in made.combined.riskiest_entries] == [3]


# --- the messages in the channel: one lead, every pull request once, one report


def post_digest(slack: SlackEmulator, store: Redis, app: App, spec: DigestSpec, *notes: str) -> None:
    poster = poster_of(messenger_of(slack), digest_store(store), now=MONDAY)
    poster.post(spec, lambda: compose_messages(app, spec, notes))


def read_channel(slack: SlackEmulator) -> tuple[str, list[str], list[str]]:
    """The text of the lead, the titles of the thread's posts, and the numbers in them."""
    [lead] = slack.list_messages(HOME)
    replies = [reply for reply in slack.list_replies(HOME, lead["ts"]) if not reply.get("files")]
    titles = [reply["blocks"][0]["text"]["text"] for reply in replies if reply["blocks"][0]["type"] == "header"]
    lists = [item for reply in replies for item in nodes(reply["blocks"], "rich_text_list")]
    linked = [item["elements"][0]["text"] for bullet_list in lists for item in bullet_list["elements"]]
    return "\n".join("".join(strings(block)) for block in lead["blocks"]), titles, linked


def test_a_monday_tells_of_the_days_since_friday(slack: SlackEmulator, store: Redis) -> None:
    assert SPEC.span == WEEKEND
    post_digest(slack, store, open_days(SIX), SPEC)
    lead, titles, linked = read_channel(slack)
    assert lead.startswith(f"Engine · 27 February – 1 March 2026\n{UNREAD.format(6)}")  # noqa: RUF001 (a dash)
    assert titles == TITLES
    assert linked == ["#1", "#0", "#3", "#2", "#5", "#4"]
    [file] = slack.files
    assert file["name"] == "Engine-2026-02-27..2026-03-01.md"
    report = file["content"].decode()
    assert re.findall(r"\*\*Report Date:\*\* (\S+)", report) == ["2026-02-27", "2026-02-28", "2026-03-01"]
    assert re.findall(r"^  - `(.+)`$", report, re.M) == ["engine/core.py"] * 6


def test_one_day_is_a_digest_of_that_day(slack: SlackEmulator, store: Redis) -> None:
    post_digest(slack, store, open_days(SIX), replace(SPEC, span=replace(WEEKEND, first=WEEKEND.last)))
    lead, titles, linked = read_channel(slack)
    assert lead.startswith(f"Engine · Sunday 1 March 2026\n{UNREAD.format(2)}")
    assert (titles, linked) == ([], ["#5", "#4"])


def test_a_weekend_on_which_nothing_was_merged_is_one_message(slack: SlackEmulator, store: Redis) -> None:
    post_digest(slack, store, open_days(KnownPulls()), SPEC)
    lead, titles, linked = read_channel(slack)
    assert "nothing merged" in lead
    assert (titles, linked, slack.files) == ([], [], [])


@pytest.mark.slow
def test_three_days_as_busy_as_any_are_all_taken(slack: SlackEmulator, store: Redis) -> None:
    busy = [
        make_merge(number, number % 3, title="W " * 128, files=[changed_file(f"engine/{number}.py", 400, 400)])
        for number in range(1_000, 1_000 + 3 * 67)
    ]
    long = summary(
        headline="W" * 120,
        what_changed_and_why="Why. " * 400,
        action="Set the flag. " * 15,
        risk_reason="Risk " * 40,
    )
    post_digest(slack, store, open_days(KnownPulls(tuple(busy)), long), SPEC, "A note. " * 200)
    lead, titles, linked = read_channel(slack)
    assert "201 merged" in lead
    assert list(dict.fromkeys(titles)) == TITLES
    assert sorted(linked) == [f"#{pull_request.number}" for pull_request in busy]
    assert len(slack.files) == 1
    assert len(slack.list_calls_to("chat.postMessage")) == 1 + len(titles), "Slack took each at once"


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
    post_digest(slack, store, open_days(KnownPulls(tuple(pulls))), replace(SPEC, view=view))
    lead, titles, linked = read_channel(slack)
    # of none nobody can be sure here
    assert f"{len(shown)} of 4 merged" in lead if shown else "merged" not in lead.partition("Day by day")[0]
    assert f"{f'{len(shown)} of 4 ' if shown else ''}shown: {view}" in lead
    assert sorted(linked) == shown
    assert titles == ([TITLES[0], TITLES[2]] if shown else [])
    assert [file["name"] for file in slack.files] == [f"Engine-{WEEKEND}-{view.fingerprint}.md"][: len(shown)]


def test_a_channel_may_have_the_same_days_in_two_views(slack: SlackEmulator, store: Redis) -> None:
    for spec in (SPEC, replace(SPEC, view=DigestView(only=ViewLevel.RISKY)), SPEC):
        post_digest(slack, store, open_days(SIX), spec)
    endings = [message["text"].partition("so ")[2] for message in slack.list_messages(HOME)]
    assert endings == ["I can't tell. 6 merged.", "I can't tell."]


def test_days_that_were_skipped_are_told_with_a_command_that_works(slack: SlackEmulator, store: Redis) -> None:
    skipped = Span(FRIDAY - timedelta(days=20), FRIDAY - timedelta(days=1), ZONE)
    post_digest(slack, store, open_days(SIX), SPEC, describe_skipped_days(REPOSITORY, skipped))
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
        post_digest(slack, store, open_days(KnownPulls(SIX.pulls, away)), SPEC)
    assert slack.list_messages(HOME) == []


def test_the_gaps_of_each_day_are_those_of_the_edition() -> None:
    made = compose_messages(open_days(KnownPulls(SIX.pulls, counted={"2026-02-28": 3})), SPEC)
    assert made.gaps == ("2026-02-28: possibly incomplete: the commits of main show 3 merges, not 2",)
    assert made.merged == 6


def test_the_heading_names_a_zone_that_readers_do_not_expect() -> None:
    def head(spec: DigestSpec, zone: ZoneInfo | None = ZONE) -> str:
        made = compose_messages(open_days(KnownPulls(), zone_of=lambda _: zone), spec)
        return made.lead.text.partition(". ")[0]

    own, tokyo = replace(SPEC, span=Span(DAY.date, DAY.date, ZONE)), ZoneInfo("Asia/Tokyo")
    abroad = [replace(each, span=replace(each.span, zone=tokyo)) for each in (own, SPEC)]
    assert [head(own), head(abroad[0]), head(SPEC), head(abroad[1]), head(own, None)] == [
        "Engine · Saturday 28 February 2026 · nothing merged",
        "Engine · Saturday 28 February 2026 (Asia/Tokyo) · nothing merged",
        "Engine · 27 February – 1 March 2026 · nothing merged",  # noqa: RUF001 (a dash)
        "Engine · 27 February – 1 March 2026 (Asia/Tokyo) · nothing merged",  # noqa: RUF001 (a dash)
        # of a channel with digests in several zones
        "Engine · Saturday 28 February 2026 (America/Los_Angeles) · nothing merged",
    ]
