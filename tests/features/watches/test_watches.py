"""Where a merge is by now, and who is told of it: once each, also after a crash in between."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from redis import Redis

from bot.app import App
from bot.errors import MirrorUnavailable, PrdigestError, SourceUnavailable, UsageError
from bot.features.merges.outcomes import MergeOutcome
from bot.features.profiles.service import PinnedMerge, ProfileEntry
from bot.features.watches import service
from bot.features.watches.service import WATCHES, Watch, tell_watchers
from bot.features.watches.whereabouts import WhereRequest, fetch_whereabouts, render_whereabouts
from bot.platform.commands import AllowedRepositories
from bot.platform.git.tag_history import CommitCopy, Tag
from bot.platform.pulls.models import PullRequest, Reference
from bot.platform.slack.blocks import Post
from impact.history.outcomes import OutcomeKind
from tests.emulators.slack.server import SlackEmulator
from tests.features.digest.posting import Crash, Fragile, Fuse, messenger_of
from tests.helpers.apps import make_app
from tests.helpers.builders import NOON, REPOSITORY, pull
from tests.helpers.world import as_read

ADA, NAME = "U0ADA", str(REPOSITORY).lower()
DAY = timedelta(days=1)
MERGE = "a1" * 20


def tag(name: str, days: int) -> Tag:
    return Tag(name, NOON + days * DAY)


def merged(number: int = 7, **fields: Any) -> PullRequest:
    made = {"merged_at": NOON, "merge_commit": MERGE, "title": "Keep the order", **fields}
    return pull(number, repository=REPOSITORY, **made)


@dataclass
class History:
    """The tags of a repository, of which ``failure`` may be all that is known."""

    tags: tuple[Tag, ...] = ()
    others: tuple[Tag, ...] = (tag("v0.9", -20),)
    copies: tuple[CommitCopy, ...] = ()
    pinned: tuple[str, ...] = ()
    failure: PrdigestError | None = None

    def update(self, repository: object) -> None:
        if self.failure:
            raise self.failure

    def list_tags(self, repository: object, commit: str = "") -> tuple[Tag, ...]:
        copied = (tag for copy in self.copies for tag in copy.tags)
        return tuple(sorted((*self.others, *self.tags, *copied), key=lambda each: each.at))

    def find_copies(self, *_: object) -> tuple[CommitCopy, ...]:
        return (CommitCopy(MERGE, "Keep the order (#7)", self.tags), *self.copies)

    def is_part(self, repository: object, commit: str, of: str) -> bool:
        if of == "unknown":
            raise SourceUnavailable("The mirror does not have that commit.")
        return of in self.pinned


@dataclass
class World:
    app: App
    slack: SlackEmulator
    history: History = field(default_factory=History)
    pull: PullRequest = field(default_factory=merged)
    outcomes: tuple[MergeOutcome, ...] = ()
    pins: Sequence[tuple[str, str]] = ()
    now: datetime = NOON + DAY

    def watch(self, *told: str) -> None:
        one = Watch(ADA, self.pull.number, self.pull.title, self.now, told)
        self.app.tables.put_field(WATCHES, one.field, one, NAME)

    def tell(self) -> list[str]:
        """All that the watcher was told so far, after another check."""
        tell_watchers(self.app, REPOSITORY)
        return self.messages()

    def messages(self) -> list[str]:
        if not self.slack.has_direct(ADA):
            return []
        return [
            as_read(each).split(" Details")[0] for each in self.slack.list_messages("D0ADA") if "blocks" in each
        ]

    def watches(self) -> list[Watch]:
        return [*self.app.tables.list_fields(WATCHES, NAME).values()]


@pytest.fixture
def world(store: Redis) -> Iterator[World]:
    made: list[World] = []

    def tell_time() -> float:
        return made[0].now.timestamp()

    with SlackEmulator(now=tell_time) as slack:
        world = World(None, slack)  # type: ignore[arg-type]
        made.append(world)

        def list_entries() -> list[ProfileEntry]:
            return [
                ProfileEntry(name, REPOSITORY, (), pin=PinnedMerge(commit[:7], commit, NOON))
                for name, commit in world.pins
            ]

        app = make_app(
            store,
            SimpleNamespace(stands_in="", tag_history=world.history),
            pulls=SimpleNamespace(fetch_pull_request=lambda *_: world.pull),
            timeline=SimpleNamespace(find_outcomes=lambda _: world.outcomes),
            profiles=SimpleNamespace(list_entries=list_entries),
            repositories=AllowedRepositories(REPOSITORY),
            messenger=messenger_of(slack),
        )
        app.now = lambda: world.now
        app.__dict__["serve"] = lambda user: app
        world.app = app
        yield world


def where(world: World) -> str:
    post: Post = render_whereabouts(fetch_whereabouts(world.app, Reference(REPOSITORY, world.pull.number)))
    return as_read(post.build_payload())


# --- where it is


def test_it_says_which_tags_and_pins_hold_a_merge(world: World) -> None:
    world.history.tags = (tag("v1.1.0rc1", 2), tag("v1.1.0", 3), tag("v1.1.1", 9))
    world.history.copies = (CommitCopy("c0" * 20, "Keep the order (#7) (#9)", (tag("v1.0.1", 1),)),)
    world.pins, world.history.pinned = [("ascend", "b" * 40), ("old", "d" * 40), ("odd", "unknown")], ("b" * 40,)
    world.outcomes = (MergeOutcome(world.pull, merged(12, merged_at=NOON + DAY), OutcomeKind.REPAIRED),)
    assert where(world).splitlines() == [
        f"#7 Keep the order was merged on {NOON:%Y-%m-%d} as {MERGE[:10]}.",
        f"  • First in v1.1.0 of {NOON + 3 * DAY:%Y-%m-%d}, before that in v1.1.0rc1; also in v1.1.1.",
        "  • Copied as c0c0c0c0c0, which is in v1.0.1.",
        "  • The pin of ascend (bbbbbbb) holds it.",
        "  • The pin of old (ddddddd) does not hold it yet.",
        "  • The pin of odd (unknown) could not be compared.",
        "  • Repaired after 24.0 h by #12.",
    ]


@pytest.mark.parametrize(
    ("tags", "line"),
    [
        ((tag("latest", 3), tag("v1.2.0", 3), tag("v1.2.0rc3", 3)), "v1.2.0 of {}; also in latest, v1.2.0rc3"),
        (
            (tag("v1.2.0rc3", 2), tag("v1.2.0", 3), tag("latest", 4)),
            "v1.2.0 of {}, before that in v1.2.0rc3; also in latest",
        ),
        ((tag("v1.3.0", 3), tag("v1.2.0.post1", 90)), "v1.3.0 of {}; also in v1.2.0.post1"),
        ((tag("python/v1.0", 3), tag("lib-v3", 4)), "python/v1.0 of {}; also in lib-v3"),
        ((tag("v2.0.0-rc.1", 3), tag("v2.0.0.dev1", 4)), "v2.0.0-rc.1 of {}; also in v2.0.0.dev1"),
    ],
)
def test_the_first_release_is_named_before_other_tags(world: World, tags: tuple[Tag, ...], line: str) -> None:
    world.history.tags = tags
    assert f"  • First in {line.format(f'{NOON + 3 * DAY:%Y-%m-%d}')}." in where(world).splitlines()


def test_a_pinned_tag_holds_what_was_copied_to_it_and_not_taken_back(world: World) -> None:
    world.history.copies = (CommitCopy("c0" * 20, "Keep the order (#7) (#9)", (tag("v1.0.1", 1),)),)
    pinned = PinnedMerge("v1.0.1", "d" * 40, NOON - DAY)
    world.app.profiles.list_entries = lambda: [ProfileEntry("ascend", REPOSITORY, (), pin=pinned)]  # type: ignore[method-assign]
    assert "The pin of ascend (v1.0.1) holds it." in where(world)
    world.watch("merged")
    assert "The pin of ascend (v1.0.1) holds it." in world.tell()[0]
    # on its branch, after the last commit of the default branch
    world.history.copies, world.history.others, world.history.pinned = (), (tag("v1.0.1", 1),), ("d" * 40,)
    assert "The pin of ascend (v1.0.1) does not hold it yet." in where(world)


def test_a_merge_in_no_tag_says_how_old_the_newest_is(world: World) -> None:
    assert f"In no tag yet: the newest, v0.9, is of {NOON - 20 * DAY:%Y-%m-%d}." in where(world)


@pytest.mark.parametrize("has_history", [True, False])
def test_tags_that_could_not_be_read_are_never_none(world: World, *, has_history: bool) -> None:
    world.history.failure = MirrorUnavailable("The mirror of octo/engine could not be updated: it is away.")
    if not has_history:
        world.app.sources.tag_history = None  # type: ignore[misc]
    world.pins = [("odd", "unknown")]
    first, _, *rest = where(world).splitlines()
    assert first.startswith(f"I couldn't read the tags of {REPOSITORY} (")
    assert first.endswith("so I can't tell.")
    assert rest == ["  • The pin of odd (unknown) could not be compared."]
    assert "no tag" not in where(world)


@pytest.mark.parametrize("text", ["where", "where 7 8", "where tomorrow", "where other/place#7", "where 7 path:x"])
def test_one_known_pull_request_is_asked_for(text: str) -> None:
    with pytest.raises(UsageError):
        WhereRequest.parse(text, AllowedRepositories(REPOSITORY))
    asked = WhereRequest.parse("where #7 private", AllowedRepositories(REPOSITORY))
    assert WhereRequest.parse(str(asked), AllowedRepositories(REPOSITORY)).reference == asked.reference


# --- who is told


def test_a_repair_is_told_once_with_its_title(world: World) -> None:
    world.watch("merged")
    by = merged(9, title="Fix the order", merged_at=NOON + DAY)
    world.outcomes = (MergeOutcome(world.pull, by, OutcomeKind.REPAIRED),)
    told = "You watch #7 Keep the order\n  • It was repaired after 24.0 h by #9 (Fix the order)."
    assert world.tell() == world.tell() == [told]


def test_a_candidate_is_told_as_a_tag_and_the_release_after_it(world: World) -> None:
    world.watch("merged")
    world.history.tags = (tag("v1.1.0rc1", 2),)
    world.tell()
    world.history.tags = (tag("v1.1.0rc1", 2), tag("v1.1.0", 3))
    assert [text.partition("• ")[2] for text in world.tell()] == [
        f"The first tag that holds it is v1.1.0rc1 of {NOON + 2 * DAY:%Y-%m-%d}.",
        f"The first release that holds it is v1.1.0 of {NOON + 3 * DAY:%Y-%m-%d}.",
    ]


def test_what_can_not_be_read_now_is_told_by_a_later_check(world: World) -> None:
    world.watch("merged")
    world.history.tags = (tag("v1.1.0", 3),)
    world.history.failure = MirrorUnavailable("It is away.")
    assert world.tell() == []
    world.history.failure = None
    assert len(world.tell()) == 1


def test_a_watch_of_what_was_closed_or_waits_too_long_ends(world: World) -> None:
    world.pull = merged(merged_at=None, merge_commit=None, state="CLOSED")
    world.watch()
    assert [text.partition("• ")[2] for text in world.tell()] == ["It was closed without being merged."]
    assert world.watches() == []
    world.pull = merged(merged_at=None, merge_commit=None, state="OPEN")
    world.watch()
    world.now += service.WATCH_PERIOD + DAY
    assert len(world.tell()) == 1
    assert world.watches() == []


@pytest.mark.parametrize("with_effect", [False, True])
@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_a_crash_at_any_call_to_slack_tells_it_once(world: World, at: int, *, with_effect: bool) -> None:
    world.watch("merged")
    world.history.tags = (tag("v1.1.0", 3),)
    whole, fuse = world.app.messenger, Fuse(at, with_effect)
    world.app.__dict__["messenger"] = Fragile(whole, fuse)
    try:
        tell_watchers(world.app, REPOSITORY)
    except Crash:
        assert fuse.burnt
    world.app.__dict__["messenger"] = whole
    # what happened meanwhile is another message
    world.pins, world.history.pinned = [("ascend", "b" * 40)], ("b" * 40,)
    world.tell()
    texts = [text.partition("• ")[2] for text in world.tell()]
    assert sum("first release" in text for text in texts) == 1
    assert sum("holds it" in text and "pin" in text for text in texts) == 1


def test_what_is_no_event_any_more_ends_no_watch(world: World) -> None:
    world.watch("merged")
    world.history.tags = (tag("v1.1.0rc1", 2),)
    world.app.__dict__["messenger"], whole = Fragile(world.app.messenger, Fuse(2)), world.app.messenger
    with pytest.raises(Crash):
        tell_watchers(world.app, REPOSITORY)
    world.app.__dict__["messenger"] = whole
    (begun,) = world.watches()
    assert begun.telling == ("tag",)
    # the release comes before the next attempt
    world.history.tags = (tag("v1.1.0rc1", 2), tag("v1.1.0", 3))
    assert world.tell() == []
    assert "The first release that holds it is v1.1.0" in world.tell()[0]


@pytest.mark.parametrize(
    ("code", "pause", "is_kept"),
    [
        ("user_not_found", DAY, False),
        ("user_disabled", DAY, False),
        ("invalid_auth", DAY, True),
        ("missing_scope", DAY, True),
        ("missing_scope", service.WATCH_PERIOD, False),
    ],
)
def test_who_can_not_be_reached_watches_no_longer_and_the_bots_own_trouble_ends_nothing(
    world: World, code: str, pause: timedelta, *, is_kept: bool
) -> None:
    world.watch()
    world.now += pause + DAY
    world.slack.fail_next("conversations.open", error=code)
    assert world.tell() == []
    assert bool(world.watches()) is is_kept
    assert len(world.tell()) == is_kept, "what could not be told is told later"


def test_a_defect_in_one_watch_keeps_no_other_from_being_told(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.watch()
    odd = replace(world.watches()[0], number=6)
    world.app.tables.put_field(WATCHES, odd.field, odd, NAME)

    def find(_: object, number: int) -> PullRequest:
        if number == odd.number:
            raise ValueError("a bug")
        return world.pull

    world.app.pulls.fetch_pull_request = find  # type: ignore[method-assign, assignment]
    assert len(world.tell()) == 1
    assert "ValueError: a bug" in caplog.text
    assert len(world.watches()) == 2


def test_who_watches_anew_what_was_closed_is_told_again(world: World) -> None:
    for times in (1, 2):
        world.pull = merged(merged_at=None, merge_commit=None, state="OPEN")
        world.watch()
        assert len(world.tell()) == times - 1
        world.pull = replace(world.pull, state="CLOSED")
        assert len(world.tell()) == times
        assert world.watches() == []
        world.now += DAY


def test_a_watch_that_ended_meanwhile_stays_ended(world: World) -> None:
    world.watch()
    find = world.app.pulls.fetch_pull_request

    def end(*arguments: Any) -> PullRequest:
        world.app.tables.remove_field(WATCHES, f"{ADA}#7", NAME)
        return find(*arguments)

    world.app.pulls.fetch_pull_request = end  # type: ignore[method-assign, assignment]
    assert world.tell() == []
    assert world.watches() == []
