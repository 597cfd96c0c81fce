"""What a release means for a team, and the post about it: once for each tag, also after a crash in between."""

import datetime as dt
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest
from redis import Redis

from bot.app import App
from bot.errors import MirrorUnavailable, PrdigestError, UsageError
from bot.features.merges.requests import DigestView
from bot.features.merges.review import BugReview
from bot.features.profiles.service import PinnedMerge, ProfileEntry
from bot.features.releases import SEEN_TAGS, build_release, list_appeared, render_release
from bot.features.subscriptions.announcements import RETRY_PAUSE, announce_tags, post_release
from bot.features.subscriptions.incidents import INCIDENTS
from bot.features.subscriptions.rules import Subscription, Timing
from bot.features.subscriptions.schedule import enqueue_due
from bot.features.subscriptions.tables import SUBSCRIPTIONS
from bot.features.touches import team_history
from bot.features.touches.contracts import LEDGERS, keep_contract
from bot.features.touches.decisions import note_shown
from bot.features.touches.service import find_pending
from bot.features.watches.service import WATCHES, Watch
from bot.mcp.calls import build_page_schema
from bot.platform.commands import AllowedRepositories
from bot.platform.deadlines import ShutdownSignal
from bot.platform.git.tag_history import CommitWay, Tag
from bot.platform.pulls.models import PullRequest
from bot.platform.store.due_queue import ReleasePost
from impact.contract.deprecations import Deprecation, DeprecationLedger
from impact.contract.models import ContractClass, MergeContract
from impact.profile.models import Profile, Use, UseKind
from impact.touches.spent import SpentUse
from tests.emulators.slack.server import SlackEmulator
from tests.features.digest.posting import Crash, Fragile, Fuse, messenger_of
from tests.features.touches.touched_days import change, use
from tests.helpers.agents import make_tools
from tests.helpers.apps import make_app
from tests.helpers.builders import NOON, REPOSITORY, finding, pull
from tests.helpers.world import as_read

NAME, HOME, DAY = str(REPOSITORY).lower(), "C0DIGEST", timedelta(days=1)
PIN = PinnedMerge("f0" * 20, "f0" * 20, NOON)
PROFILE = Profile(
    "ascend",
    ("engine",),
    "octo/ascend",
    "c0ffee",
    NOON,
    (use(), Use(UseKind.FLAG, "--old", "run.sh", 9)),
    {},
    2,
)
VIEW = DigestView(profile="ascend")
DAILY = Subscription(HOME, REPOSITORY, Timing(dt.time(9), UTC), VIEW, by="U0ADA")  # type: ignore[arg-type]


def tag(name: str, days: float) -> Tag:
    return Tag(name, NOON + days * DAY, f"{abs(hash(name)) % 10**10:040x}")


def merge(number: int, days: float, title: str = "", **fields: Any) -> PullRequest:
    made = {"merged_at": NOON + days * DAY, "merge_commit": f"{number:040x}", "title": title or f"Change {number}"}
    return pull(number, repository=REPOSITORY, **{**made, **fields})


MERGES = (
    merge(1, -5, "Count the steps of all requests"),
    merge(2, 1, "Drop the old scheduler"),
    merge(3, 2, "Cache what was scheduled before"),
    merge(4, 3, "Change nothing for others"),
    merge(5, 4, "[Bugfix] Fix a regression from #1", body="This fixes a regression introduced by #1."),
    merge(6, 8, 'Revert "Cache what was scheduled before (#3)"', body="Reverts octo/engine#3"),
)


@dataclass
class History:
    """The tags of a repository, each with the numbers of the merges that it holds since the pin."""

    tags: list[Tag] = field(default_factory=lambda: [tag("v1.1.0", -9)])
    held: tuple[int, ...] = (2, 3, 4, 5)
    copied: frozenset[int] = frozenset()
    copied_to_pin: frozenset[int] = frozenset()
    is_after_pin: bool = True
    failure: PrdigestError | None = None

    def update(self, _: object) -> None:
        if self.failure:
            raise self.failure

    def list_tags(self, _: object, commit: str = "") -> tuple[Tag, ...]:
        return tuple(self.tags[1:] if commit else self.tags)

    def list_way(self, _: object, start: str, end: str) -> CommitWay:
        if self.copied_to_pin and end == self.tags[0].commit:
            return CommitWay({}, self.copied_to_pin)
        return CommitWay({f"{number:040x}": number for number in self.held}, self.copied)

    def is_part(self, *_: object) -> bool:
        return self.is_after_pin


@dataclass
class World:
    app: App
    slack: SlackEmulator
    history: History = field(default_factory=History)
    reviews: dict[int, BugReview] = field(default_factory=dict)
    now: datetime = NOON + 9 * DAY

    def subscribe(self, *subscriptions: Subscription) -> None:
        for each in subscriptions:
            self.app.tables.put_field(SUBSCRIPTIONS, each.id, each)
        announce_tags(self.app, REPOSITORY)

    def put(self, pin: PinnedMerge | None = PIN) -> None:
        self.app.profiles.put(ProfileEntry("ascend", REPOSITORY, ("engine",), pin=pin), PROFILE)

    def look(self) -> list[str]:
        """The posts in the channel after the next look, and after what the clock enqueues then."""
        self.now += RETRY_PAUSE
        announce_tags(self.app, REPOSITORY)
        sent: list[dict[str, Any]] = []

        def send(job: object, payload: dict[str, Any]) -> None:
            sent.extend([payload] if job is post_release else [])

        enqueue_due(self.app, SimpleNamespace(send=send))
        for payload in sent:
            post_release.run(self.app, **payload)
        return self.posts()

    def posts(self, channel: str = HOME) -> list[str]:
        return [as_read(each) for each in self.slack.list_messages(channel) if "blocks" in each]

    def show(self, name: str = "", reader: str = "") -> str:
        report = build_release(self.app, self.app.profiles.find_entry("ascend"), name, reader)
        return as_read(render_release(report, "Engine", "https://github.com").build_payload())

    def ask_as_agent(self, **arguments: Any) -> dict[str, Any]:
        """What a coding agent gets, as it is declared."""
        app = copy(self.app)
        # it is not read here
        app.__dict__["day_lists"] = None
        app.settings = app.settings.model_copy(update={"prdigest_mcp_profiles": ("ascend",)})
        tools = make_tools(app)
        result = tools.call_tool("release", arguments, ShutdownSignal())
        if result.is_error:
            return {"error": result.text}
        jsonschema.validate(result.structured, build_page_schema(tools.by_name["release"]))
        return dict(result.structured or {})


@pytest.fixture
def world(store: Redis) -> Iterator[World]:
    made: list[World] = []

    def tell_time() -> float:
        return made[0].now.timestamp()

    with SlackEmulator(now=tell_time) as slack:
        world = World(None, slack)  # type: ignore[arg-type]
        made.append(world)
        sources = SimpleNamespace(
            stands_in="",
            tag_history=world.history,
            releases=None,
            get_written_review=lambda each: world.reviews.get(each.number),
        )
        world.app = make_app(
            store, sources, chat=None, messenger=messenger_of(slack), repositories=AllowedRepositories(REPOSITORY)
        )
        world.app.now = lambda: world.now
        world.app.merge_history.record_merges((*MERGES, merge(7, -1)))
        for each in MERGES:
            gone = (change(),) if each.number in (1, 2) else ()
            made_of = MergeContract(each.number, each.commit, each.merge_time, each.title, gone)
            keep_contract(world.app, each, made_of)
        world.put()
        yield world


# --- what one means


def test_it_says_what_touches_what_ends_what_is_wrong_and_what_was_waited_for(world: World) -> None:
    app = world.app
    world.history.tags.append(tag("v1.2.0", 6))
    entry = Deprecation(
        ContractClass.FLAG, "--old", 90, "c" * 40, NOON - 30 * DAY, when="v1.2", replacement="--new"
    )
    app.tables.put(LEDGERS, DeprecationLedger((entry, replace(entry, name="--later", when="v1.3"))), NAME)
    report = build_release(app, app.profiles.find_entry("ascend"))
    note_shown(app, report.entry, [replace(report.touches.touching.ignore_coverage()[0], number=1)])
    world.reviews = {4: BugReview((finding(consequence="Counts twice"),))}
    watch = Watch("U0ADA", 4, "Change nothing", NOON)
    app.tables.put_field(WATCHES, watch.field, watch, NAME)
    text = world.show(reader="U0ADA")
    assert text.splitlines()[0] == "v1.2.0 · Engine · for ascend"
    assert "4 merges since your pin (f0f0f0f, 6 days earlier): 1 possible break." in text
    assert "Touches ascend (1 of 4 merges)\n  • #2 ours/core/scheduler.py:120" in text
    assert "Ends in it\n  • --old to go in v1.2, use --new (#90) · used at run.sh:9" in text
    assert "--later" not in text
    assert "Known to be wrong in it\n  • #3 Cache what was scheduled before, reverted after 6 days by #6" in text
    assert "  • #4 Change nothing for others (Counts twice)" in text
    assert "  • #5 [Bugfix] Fix a regression from #1 (repairs #1, which touches you and is in your pin)" in text
    assert "  • #4 Change nothing for others (you watch it)" in text
    assert "you watch it" not in world.show()
    told = world.ask_as_agent()
    assert "what v1.2.0 of octo/engine means for the profile ascend. 4 merges since your pin" in told["about"]
    assert [(row["pr"], row["level"], row["touches"][0]["uses"][0]["line"]) for row in told["items"]] == [
        (2, "may break", 120)
    ]
    ends = [(row["name"], row["when"], row["uses"][0]["path"]) for row in told["ends"]["items"]]
    assert ends == [("--old", "v1.2", "run.sh")]
    assert told["may_go"] == {
        "not_read": "I couldn't read what may go (this bot keeps no mirror of the repositories), so I can't tell.",
        "total": None,
        "items": [],
    }
    wrong = [(row["pr"], row["why"]) for row in told["known_wrong"]["items"]]
    assert wrong == [(3, "reverted after 6 days by #6"), (4, "Counts twice")]
    assert [(row["pr"], row["why"]) for row in told["awaited"]["items"]] == [
        (5, "repairs #1, which touches you and is in your pin")
    ]
    assert world.ask_as_agent(tag="v9")["error"].startswith("'v9' is no tag of octo/engine: the last ones are ")


def test_a_tag_that_was_cut_before_the_pin_has_copies_alone(world: World) -> None:
    world.history.held, world.history.copied, world.history.is_after_pin = (), frozenset({2}), False
    world.history.tags.append(tag("v1.1.1", 6))
    text = world.show("v1.1.1")
    assert "It was cut before your pin: only what was copied to it is new to you. 1 merge since your pin" in text
    assert "Touches ascend (1 of 1 merge)" in text


def test_what_was_copied_to_the_pinned_tag_is_not_new(world: World) -> None:
    world.put(replace(PIN, name="v1.1.0"))
    world.history.tags.append(tag("v1.2.0", 6))
    pending = find_pending(world.app, "ascend")
    assert pending
    assert [each.number for each in pending.pulls] == [2]
    world.history.copied_to_pin = frozenset({2, 3})
    pending = find_pending(world.app, "ascend")
    assert pending
    assert (pending.pulls, pending.merges) == ((), 3)
    text = world.show()
    assert "2 merges since your pin (v1.1.0, 6 days earlier)." in text
    assert "#3" not in text, "it is in the pin, where its revert came too late for this tag"


def test_what_may_go_is_not_that_of_a_tag_without_the_copies(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where both were cut at the same commit, and what waits since the pin ends there."""

    def list_spent(*arguments: Any) -> tuple[SpentUse, ...]:
        *_, merges, _repository = arguments
        return tuple(SpentUse(PROFILE.uses[0], f"#{each.number} is in it") for each in merges)

    monkeypatch.setattr(team_history, "_open_mirrors", lambda *_: nullcontext((None, None)))
    monkeypatch.setattr(team_history, "list_spent", list_spent)
    world.history.tags += [tag("v1.2.0", 6), tag("v1.2.1", 7)]
    world.history.held = (2, 3)
    assert "#3 is in it" in world.show("v1.2.0")
    assert "#5 is in it" not in world.show("v1.2.0")
    world.history.copied = frozenset({5})
    assert "#5 is in it" in world.show("v1.2.1")
    world.history.copied = frozenset()
    assert "#5 is in it" not in world.show("v1.2.0")


def test_without_a_pin_no_text_says_that_there_is_one(world: World) -> None:
    world.history.tags.append(tag("v1.2.0", 6))
    report = build_release(world.app, world.app.profiles.find_entry("ascend"))
    note_shown(world.app, report.entry, [replace(report.touches.touching.ignore_coverage()[0], number=1)])
    world.history.is_after_pin = False
    bare = replace(report.entry, pin=None)
    start = replace(PIN, name="v1.1.0")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bot.features.releases._find_release_before", lambda *_: start)
        text = as_read(render_release(build_release(world.app, bare), "Engine", "").build_payload())
    assert "It was cut before v1.1.0: only what was copied to it is new to you." in text
    assert "(repairs #1, which touches you and is in v1.1.0)" in text
    assert "your pin" not in text


def test_what_is_in_a_tag_and_on_no_list_is_told_before_any_count(world: World) -> None:
    world.history.held = (2, 3, 4, 5, 8, 9)
    assert (
        "I couldn't read 2 of 6 merges since your pin (no digest had them), so there may be more." in world.show()
    )
    world.history.held = ()
    assert "It holds no merge that is not in your pin (f0f0f0f" in world.show()
    assert "0 merges" not in world.show()


def know_tags(world: World) -> None:
    sources, before = world.app.sources, merge(7, -1, merge_commit="f0" * 20)
    sources.releases = SimpleNamespace(find_commit=lambda *_: "f0" * 20, list_releases=lambda _: ())  # type: ignore[misc]
    sources.background = SimpleNamespace(find_merges=lambda *_: {"f0" * 20: before})  # type: ignore[misc]


def test_without_a_pin_it_is_told_since_the_release_before(world: World) -> None:
    world.put(None)
    with pytest.raises(
        UsageError, match=r"ascend names no commit that I know, and I know no release before v1\.1\.0"
    ):
        world.show()
    world.history.tags.append(tag("v1.2.0", 6))
    know_tags(world)
    assert "4 merges since the release before (v1.1.0, 7 days earlier; your code pins none): 1" in world.show()


@pytest.mark.parametrize(
    ("name", "before"),
    [
        pytest.param("v1.4.0", "v1.3.0", id="after a repair of an old one"),
        pytest.param("v1.2.0.post1", "v1.2.0", id="a repair of an old one"),
        pytest.param("v1.3.0rc1", "v1.2.0", id="a candidate"),
        pytest.param("nightly", "v1.2.0.post1", id="without a version"),
        pytest.param("lib-v1", "v1.2.0.post1", id="of a part"),
    ],
)
def test_the_release_before_is_that_of_the_version_before(world: World, name: str, before: str) -> None:
    world.put(None)
    days = {"v1.2.0": 1, "v1.3.0rc1": 2, "v1.3.0": 3, "v1.2.0.post1": 5, "nightly": 6, "lib-v1": 6, "v1.4.0": 6}
    world.history.tags += [tag(each, at) for each, at in days.items()]
    know_tags(world)
    assert f"since the release before ({before}, " in world.show(name)


def test_a_confirmed_bug_is_named_in_the_oldest_of_many_merges_too(world: World) -> None:
    many = [merge(number, 3 + number / 10_000) for number in range(1_000, 1_600)]
    world.app.merge_history.record_merges(many)
    world.history.held = (2, *(each.number for each in many))
    world.history.tags.append(tag("v1.2.0", 6))
    world.reviews = {2: BugReview((finding(consequence="Counts twice"),))}
    assert "#2 Drop the old scheduler (Counts twice)" in world.show()


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("v9", "'v9' is no tag of octo/engine: the last ones are v1.1.0."),
        ("v1.0`<!channel>", "'v1.0`<!channel>' is no tag of octo/engine"),
    ],
)
def test_a_tag_that_is_not_there_is_told_with_the_last_ones(world: World, name: str, error: str) -> None:
    with pytest.raises(UsageError, match="is no tag") as raised:
        world.show(name)
    assert str(raised.value).startswith(error)


def test_without_a_tag_history_the_reason_is_told(world: World) -> None:
    world.app.sources.tag_history = None  # type: ignore[misc]
    with pytest.raises(UsageError, match="I know no tags of octo/engine, since the bot keeps no clone"):
        world.show()
    world.subscribe(DAILY)
    assert world.look() == []


# --- who is told of a new one


def test_a_new_release_is_posted_once_in_each_channel_with_a_profile(world: World) -> None:
    other = replace(DAILY, channel="C0OTHER")
    weekly = replace(DAILY, timing=replace(DAILY.timing, weekday=0), is_second=True)
    world.slack.add_channel("C0OTHER", "other")
    world.subscribe(DAILY, weekly, other, replace(DAILY, view=DigestView()), replace(other, is_paused=True))
    # what was there at the first look is no news
    assert world.look() == []
    world.now += timedelta(hours=6)
    world.history.tags += [tag("v1.2.0", 6), tag("v1.2.0rc1", 5), tag("nightly-<!channel>\x1b[31m", 6)]
    announce_tags(world.app, REPOSITORY)
    # another one with this profile takes over
    world.app.tables.remove_field(SUBSCRIPTIONS, DAILY.id)
    (told,) = world.look()
    assert told.splitlines()[0] == "v1.2.0 · engine · for ascend"
    assert world.look() == [told]
    assert world.posts("C0OTHER") == [], "it is paused"
    # it moves, and two appear at once
    world.history.tags[1] = replace(world.history.tags[1], at=NOON + 7 * DAY, commit="e" * 40)
    world.history.tags += [tag("v1.2.1", 8), tag("v1.3.0", 8)]
    assert [text.split(" ")[0] for text in world.look()] == ["v1.2.0", "v1.2.1", "v1.3.0"]
    # one that nobody had fetched, and one that is gone and comes again
    world.history.tags += [tag("v0.1.0", -400)]
    (removed,) = [each for each in world.history.tags if each.name == "v1.3.0"]
    world.history.tags.remove(removed)
    world.look()
    world.history.tags.append(removed)
    assert len(world.look()) == 3
    appeared = list_appeared(world.app, REPOSITORY, NOON, world.now + DAY)
    assert sorted(appeared) == ["v1.2.0", "v1.2.0rc1", "v1.2.1", "v1.3.0"]


def test_a_candidate_is_posted_where_one_is_pinned(world: World) -> None:
    world.put(replace(PIN, name="v1.2.0rc0"))
    world.subscribe(DAILY)
    world.history.tags.append(tag("v1.2.0rc1", 6))
    (told,) = world.look()
    assert told.startswith("v1.2.0rc1 ·")
    assert "since your pin (v1.2.0rc0, 6 days earlier)" in told


def test_a_personal_one_has_what_its_reader_watches_and_a_channel_has_not(world: World) -> None:
    direct = replace(DAILY, channel=world.app.messenger.open_direct_messages("U0ADA"))
    world.app.__dict__["directory"] = SimpleNamespace(fetch_channel=lambda _: SimpleNamespace(user="U0ADA"))
    world.app.__dict__["serve"] = lambda _: world.app
    world.subscribe(DAILY, direct)
    for user in ("U0ADA", "U0BEN"):
        watch = Watch(user, 4, "Change nothing", NOON)
        world.app.tables.put_field(WATCHES, watch.field, watch, NAME)
    world.history.tags.append(tag("v1.2.0", 6))
    assert "watch" not in world.look()[0]
    (told,) = world.posts(direct.channel)
    assert "#4 Change nothing for others (you watch it)" in told


@pytest.mark.parametrize("with_effect", [False, True])
@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_crash_at_any_call_to_slack_posts_it_once(world: World, at: int, *, with_effect: bool) -> None:
    world.subscribe(DAILY)
    world.history.tags.append(tag("v1.2.0", 6))
    whole, fuse = world.app.messenger, Fuse(at, with_effect)
    world.app.__dict__["messenger"] = Fragile(whole, fuse)
    try:
        world.look()
    except Crash:
        assert fuse.burnt
    world.app.__dict__["messenger"] = whole
    assert len(world.look()) == 1
    world.now += RETRY_PAUSE
    assert len(world.look()) == 1
    assert world.app.due_queue.get_time(ReleasePost(f"{DAILY.id} v1.2.0")) is None


def test_what_stands_is_not_given_up_because_of_what_fails_since(world: World) -> None:
    world.subscribe(DAILY)
    world.history.tags.append(tag("v1.2.0", 6))
    whole = world.app.messenger
    world.app.__dict__["messenger"] = Fragile(whole, Fuse(1, True))
    with pytest.raises(Crash):
        world.look()
    assert len(world.posts()) == 1
    world.app.__dict__["messenger"] = whole
    world.history.tags.clear()
    world.now += RETRY_PAUSE
    assert len(world.look()) == 1
    assert world.app.due_queue.get_time(ReleasePost(f"{DAILY.id} v1.2.0")) is None


# at which call to which port a process ends, while a post is planned or made
@pytest.mark.parametrize(
    ("port", "at"), [*(("tables", at) for at in range(1, 12)), *(("due_queue", at) for at in range(1, 5))]
)
def test_a_crash_between_the_posts_and_what_was_seen_posts_it_once(world: World, port: str, at: int) -> None:
    world.subscribe(DAILY)
    world.history.tags.append(tag("v1.2.0", 6))
    tables, queue = world.app.tables, world.app.due_queue
    world.app.__dict__[port] = Fragile(getattr(world.app, port), Fuse(at))
    with suppress(Crash):
        world.look()
    world.app.__dict__.update(tables=tables, due_queue=queue)
    world.look()
    assert len(world.look()) == 1


def test_what_slack_refuses_is_told_to_people_and_tried_until_it_is_too_late(world: World) -> None:
    world.subscribe(DAILY)
    world.history.tags.append(tag("v1.2.0", 6))
    item = ReleasePost(f"{DAILY.id} v1.2.0")
    world.slack.fail_next("chat.postMessage", error="not_in_channel", times=9)
    assert world.look() == []
    incident = world.app.tables.get(INCIDENTS, f"release:{HOME}:ascend:v1.2.0#missing")
    assert incident
    assert (incident.title, incident.to, bool(incident.retry)) == ("v1.2.0 of octo/engine", "U0ADA", True)
    assert world.app.due_queue.get_time(item)
    world.now += timedelta(hours=world.app.settings.prdigest_catch_up_hours + 1)
    world.look()
    assert world.app.due_queue.get_time(item) is None


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (ValueError("not expected"), "a bug: see the worker's log"),
        (MirrorUnavailable("It is away."), "It is away"),
    ],
)
def test_what_can_not_be_made_is_tried_for_hours_and_then_told(
    world: World, failure: Exception, reason: str
) -> None:
    world.subscribe(DAILY)
    world.history.tags.append(tag("v1.2.0", 6))

    def fail(*_: object) -> CommitWay:
        raise failure

    world.history.list_way = fail  # type: ignore[method-assign, assignment]
    item = ReleasePost(f"{DAILY.id} v1.2.0")
    assert world.look() == []
    assert world.app.due_queue.get_time(item)
    world.now += timedelta(hours=world.app.settings.prdigest_catch_up_hours + 1)
    assert world.look() == []
    assert world.app.due_queue.get_time(item) is None
    incident = world.app.tables.get(INCIDENTS, f"release:{HOME}:ascend:v1.2.0#skipped")
    assert incident
    assert (incident.reason, incident.to, incident.retry) == (reason, "U0ADA", None)


def test_tags_that_can_not_be_read_now_are_told_by_a_later_look(world: World) -> None:
    world.subscribe(DAILY)
    world.history.tags.append(tag("v1.2.0", 6))
    world.history.failure = MirrorUnavailable("It is away.")
    assert world.look() == []
    world.history.failure = None
    assert len(world.look()) == 1


def test_thousands_of_tags_are_seen_in_one_value(world: World) -> None:
    world.history.tags += [tag(f"v0.{number}.0", -30) for number in range(5_000)]
    world.subscribe(DAILY)
    assert world.look() == []
    seen = world.app.tables.get(SEEN_TAGS, NAME)
    assert seen
    assert len(seen.tags) == 5_001


def test_a_hit_that_was_reverted_after_the_tag_is_one_in_it(world: World) -> None:
    late = merge(8, 8.5, 'Revert "Drop the old scheduler (#2)"', body="Reverts octo/engine#2")
    world.app.merge_history.record_merges((late,))
    world.history.tags.append(tag("v1.2.0", 6))
    hits, _, wrong = world.show().partition("Known to be wrong in it")
    assert "#2 ours/core/scheduler.py:120 may break" in hits
    assert "#2 Drop the old scheduler, reverted after 8 days by #8" in wrong
    # the same way, with the revert in it, nothing is left of it
    world.history.held = (2, 3, 4, 5, 8)
    assert "ours/core/scheduler.py" not in world.show()


def test_what_was_refused_once_is_posted_after_all_and_the_report_says_so(world: World) -> None:
    world.subscribe(DAILY)
    world.history.tags.append(tag("v1.2.0", 6))
    world.slack.fail_next("chat.postMessage", error="not_in_channel", times=1)
    assert world.look() == []
    assert len(world.look()) == 1
    world.look()
    (report,) = world.posts("D0ADA")
    assert "v1.2.0 of octo/engine for" in report
    assert "posted after all" in report
