"""A day with the whole bot on a real store: each key is of a listed family, and lives as long as that says."""

import threading
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from redis import Redis

from bot.dates import Span
from bot.features import previews
from bot.features.backfill import fill_days
from bot.features.merges.neighbors import Neighbors
from bot.features.merges.others import OtherHistory
from bot.features.merges.review import BugReview
from bot.features.posting import BEGUN_POSTS, BegunPost
from bot.features.profiles import others, scanning
from bot.features.profiles.service import ProfileEntry
from bot.features.questions.service import stop_answers
from bot.features.releases import SEEN_TAGS, SeenTags
from bot.features.renames import FIRST_NAMES
from bot.features.reviews.reading import ReviewCost, Reviewer, ReviewResult
from bot.features.reviews.service import review_once
from bot.features.subscriptions.open_pulls import OPEN_POSTS, OpenPost
from bot.features.subscriptions.tables import PREVIEW_SWITCHES, PreviewSwitch
from bot.features.touches import checking, contracts, decisions, team_history
from bot.features.touches.lines import TouchDecision, TouchVerdict
from bot.jobs.queues import LOST_JOBS
from bot.platform.costs import CallKind, CallOrigin, count_call
from bot.platform.dramatiq.broker import LossReason, LostJob
from bot.platform.github.caches import BackgroundCache, ReleaseCache, SourceFileCache
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.paths import get_default_classes
from bot.platform.pulls.sources import Discussion
from bot.platform.slack.blocks import FeedbackVerdict, write_verdict
from bot.platform.store.connection import RedisCache, connect_server
from bot.platform.store.embedded.server import start_embedded_url
from bot.platform.store.keys import FAMILIES, JOBS_NAMESPACE, SIGNED_REQUEST, find_family
from bot.platform.store.server import write_sample
from bot.platform.store.spending import BudgetHold, SpendingStore
from bot.platform.store.tables import Store
from bot.usage import NO_PRICES, Usage
from impact.contract.deprecations import DeprecationLedger, Release
from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract
from impact.profile.models import Profile
from impact.profile.plain_uses import FileUses
from impact.python.models import ModuleOutline
from impact.repository import Repository
from impact.touches.models import TouchLevel
from tests.emulators.slack.server import SlackEmulator
from tests.helpers.apps import NO_NEARBY, make_app
from tests.helpers.builders import REPOSITORY, pull
from tests.helpers.data.sample_team import ZONE, SampleTeam, start_bot
from tests.helpers.doubles import FileTree
from tests.scenarios import old_button

pytestmark = pytest.mark.slow

MORNING = datetime(2026, 3, 1, 9, 0, 5, tzinfo=ZONE)
YOU, ADA = "U0YOU", "U0ADA"
# seconds between two looks at the keys: some live only while a job runs
_PAUSE = 0.02
# of that many looks, one is at all keys, the others at those that are new
_LOOKS_AT_ALL = 10


@dataclass
class Seen:
    """The keys that were seen, each with its types and the longest that it had to live, in milliseconds."""

    store: Redis
    types: dict[str, set[str]] = field(default_factory=dict)
    lifetimes: dict[str, int] = field(default_factory=dict)
    _last: frozenset[str] = frozenset()

    def look(self) -> None:
        self._note(self._list_names())

    def look_at_new(self) -> None:
        names = self._list_names()
        self._note([name for name in names if name not in self._last])
        self._last = frozenset(names)

    def _list_names(self) -> list[str]:
        return [cast("bytes", key).decode() for key in self.store.scan_iter("*", count=1_000)]

    def _note(self, names: Sequence[str]) -> None:
        with self.store.pipeline() as together:
            for name in names:
                together.type(name)
                together.pttl(name)
            replies = together.execute()
        for name, kind, left in zip(names, replies[::2], replies[1::2], strict=True):
            if kind != b"none" and left != -2:
                self.types.setdefault(name, set()).add(kind.decode())
                self.lifetimes[name] = max(left, self.lifetimes.get(name, left))


@contextmanager
def watch_store(store: Redis) -> Iterator[Seen]:
    """Look at the store again and again while the block runs, and once at its end."""
    seen, stopped = Seen(store), threading.Event()

    def watch() -> None:
        for number in count():
            if stopped.wait(_PAUSE):
                return
            # what is there for longer may have been written again
            if number % _LOOKS_AT_ALL:
                seen.look_at_new()
            else:
                seen.look()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield seen
    finally:
        stopped.set()
        watcher.join()
        seen.look()


def open_channels(slack: SlackEmulator, _: Redis) -> None:
    for name in ("TEAM", "OPS", "GONE"):
        slack.add_channel(f"C0{name}", name.lower())
    slack.set_person(YOU, name="You", tz=ZONE.key)
    slack.set_person(ADA, name="Ada", tz="Europe/Berlin")


def live_a_day(team: SampleTeam) -> None:
    you, ada = team.person(YOU), team.person(ADA)
    team.base.claim_store()
    team.tick()
    lead = team.find("C0DIGEST", "vLLM · Saturday 28 February 2026")
    for text in ("35617", "35621 private"):
        team.do(you.send_command("/prsummary", text))
    for text in ("2026-02-28", "score"):
        team.do(you.send_command("/prrisks", text))
    team.do(you.send_command("/prdigest", "watch 35617"))
    team.do(you.send_command("/prdigest", "mute area:LoRA"))
    less = old_button("less_like", "2|ab12cd|risky|size|LoRA")
    team.do(you.press(less, "less_like", channel="C0TEAM"))
    for text in ("2026-02-27..2026-02-28", "subscribe at 10:00", "pause", "resume", "list", "usage"):
        team.do(you.send_command("/prdigest", text, channel="C0TEAM"))
    team.do(you.mention("which of these touch ROCm?", thread_ts=lead["ts"], twin=True))
    team.do(ada.send_message("and who wrote them?", thread_ts=lead["ts"]))
    answer = team.replies("C0DIGEST", lead["ts"])[-1]
    team.do(ada.press(answer, "answer_vote", value=write_verdict(FeedbackVerdict.GOOD), channel="C0DIGEST"))
    team.do(you.mention("quiet", thread_ts=lead["ts"]))
    team.do(ada.open_home())
    team.do(ada.open_home("messages"))
    fail_a_digest(team)
    repository = Repository("vllm-project", "vllm")
    yesterday = MORNING.date() - timedelta(days=1)
    span = Span(yesterday, yesterday, ZONE)
    assert list(fill_days(team.base, repository, span, None, lambda _: None))
    team.hands.go_to(15, 10)
    team.tick()
    with urllib.request.urlopen(team.url.replace("/slack/events", "/readyz"), timeout=10) as page:
        assert page.status == 200


def fail_a_digest(team: SampleTeam) -> None:
    team.do(team.person(YOU).send_command("/prdigest", "subscribe at 09:30 author:rjrock", channel="C0GONE"))
    team.slack.archive_channel("C0GONE")
    for minute in (31, 33):
        team.hands.go_to(9, minute)
        team.tick()
    assert "C0GONE" in str(team.list_posts("C0OPS"))


def pay_and_lose(store: Redis) -> None:
    """Write what the sample day leaves out: it costs nothing, loses no job and has no files."""
    spending, account = SpendingStore(store), "2026-03-01:T0TEAM:U0YOU"
    paid = count_call(CallKind.SUMMARY, CallOrigin.PERSON, Usage(input=10), 0.1)
    spending.settle_hold(BudgetHold("first", 0.1, (account, "2026-03")), 0.1, MORNING.date(), paid)
    assert spending.reserve_budget(BudgetHold("second", 0.1, (account,)), [(account, 1.0)]) is None
    Store(store).append(LOST_JOBS, LostJob("7f", "summary", LossReason.ENDLESS, datetime.now(UTC)))
    write_sample(store)
    SourceFileCache(FileTree(), Store(store)).read_files(REPOSITORY, "c0ffee", ["a.py"])
    cost = ReviewCost(model="none", prices=NO_PRICES)
    alone = SimpleNamespace(load_nearby=lambda _: NO_NEARBY)
    review_once(make_app(store, timeline=alone), cast("Reviewer", NothingFound()), pull(7), cost)
    background = BackgroundCache(QuietBackground(), Store(store))
    background.fetch_discussion(REPOSITORY, 7)
    background.find_merges(REPOSITORY, ["c0ffee"])


def keep_a_profile(store: Redis) -> None:
    """Write what a profile leaves; the sample day has none."""
    upstream = Repository("octo", "engine")
    entry = ProfileEntry("ascend", upstream, ("engine",))
    make_app(store).profiles.put(entry, Profile("ascend", ("engine",), "octo/plugin", "c0ffee", MORNING))
    change = ContractChange(ContractClass.FUNCTION, ChangeKind.REMOVED, "engine.run", "", "", "engine/a.py", 1)
    app = make_app(store)
    hit = decisions.build_hit_key(upstream, 7, change)
    shown = decisions.ShownHit(hit, TouchLevel.BREAKS, change.kind, change.name, MORNING)
    app.tables.add_fields(decisions.HITS, {str(hit): shown}, "ascend")
    decisions.record_decision(app, "ascend", TouchDecision(hit, TouchVerdict.OURS, YOU, MORNING))
    decisions.close_hits(app, "ascend", upstream, {8: "c0ffee"})
    app.tables.put(SEEN_TAGS, SeenTags(MORNING, {"v1.2.0": MORNING}), upstream)
    app.tables.put(BEGUN_POSTS, BegunPost(MORNING), "release:C0TEAM:ascend:v1.2.0")
    app.tables.put(OPEN_POSTS, OpenPost(MORNING, {7: "c0ffee"}), "5d2cea88")
    app.tables.put(contracts.OPEN_CONTRACTS, MergeContract(7, "c0ffee", MORNING), "1", upstream, "c0ffee")
    app.tables.put(contracts.LEDGERS, DeprecationLedger(), upstream)
    app.tables.put(contracts.CONTRACTS, MergeContract(7, "c0ffee", MORNING), "1", upstream, "c0ffee")
    tables = Store(store)
    releases = ReleaseCache(OneRelease(), tables, lambda: MORNING)
    releases.list_releases(upstream, MORNING)
    releases.find_commit(upstream, "v1.2.0")
    tables.put_field(others.OTHERS, "octo/plugin", OtherHistory(Repository("octo", "plugin")), "octo/engine")
    tables.put(scanning.FILE_USES, FileUses("a.py"), "1", "ab12")
    tables.put(scanning.OUTLINES, ModuleOutline("a", is_package=False), "1", "ab12")
    tables.put(checking.CHECKS, checking.KeptCheck(), "1", "ab12", "cd34", "c0ffee")
    tables.put(team_history.SPENT, team_history.KeptSpent(), "1", "ab12", "cd34", "c0ffee", "c0ffef", "e0")
    tables.put(team_history.LESSONS, team_history.KeptLessons(), "1", "ab12", "cd34", "ef56")
    tables.put(
        checking.FAILED_CHECKS, checking.KeptCheck(alone="it failed"), "1", "ab12", "cd34", "c0ffee", "c0ffee"
    )


def preview_links(store: Redis) -> None:
    """Write what previews of links leave; the sample day has none."""
    tables = Store(store)
    tables.put_field(FIRST_NAMES, "elsewhere/motor", REPOSITORY)
    tables.put_field(PREVIEW_SWITCHES, "C0TEAM", PreviewSwitch(is_on=True, user=YOU, at=MORNING))
    RedisCache(store).add(SIGNED_REQUEST.build_key("ab12"), "1", SIGNED_REQUEST.lifetime)
    stop_answers(tables, "C0TEAM", "1.1", "1.2")
    tables.put(previews.SHOWN, previews.ShownCard("1.1"), "C0TEAM", "ab12")
    tables.put(previews.OTHERS, previews.OtherApp("A0OTHER"), "C0TEAM")


class OneRelease:
    def list_releases(self, repository: Repository) -> tuple[Release, ...]:
        return (Release("v1.2.0", (1, 2, 0), MORNING),)

    def find_commit(self, repository: Repository, tag: str) -> str:
        return "c0ffee"


class QuietBackground:
    """Pull requests that nobody discusses."""

    def fetch_discussion(self, repository: Repository, number: int) -> Discussion:
        return Discussion(repository, number, "Change part 7")

    def find_merges(self, repository: Repository, commits: Sequence[str]) -> Mapping[str, PullRequest]:
        return dict.fromkeys(commits, pull(7))


class NothingFound:
    model, diff_tokens, classes_of = "none", 0, staticmethod(get_default_classes)

    def review(self, pull: PullRequest, cost: ReviewCost, neighbors: Neighbors) -> ReviewResult:
        return ReviewResult(BugReview())


@pytest.fixture(scope="module")
def seen_keys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    folder: Path = tmp_path_factory.mktemp("day")
    url = start_embedded_url(folder / "store")
    with pytest.MonkeyPatch.context() as environment, connect_server(url) as store:
        environment.setenv("no_proxy", "*")
        store.ping()
        with watch_store(store) as observations, start_bot(url, folder, MORNING, open_channels) as team:
            live_a_day(team)
            pay_and_lose(store)
            keep_a_profile(store)
            preview_links(store)
            observations.look()
        yield observations


def test_every_key_belongs_to_a_listed_family(seen_keys: Seen) -> None:
    others = [name for name in seen_keys.types if find_family(name) is None]
    assert [name for name in others if not name.startswith(f"{JOBS_NAMESPACE}:")] == []


def test_every_family_was_seen(seen_keys: Seen) -> None:
    assert {each.prefix for each in FAMILIES} - {
        each.prefix for name in seen_keys.types if (each := find_family(name))
    } == set()


def test_every_key_has_the_type_of_its_family(seen_keys: Seen) -> None:
    families = [(name, family) for name in seen_keys.types if (family := find_family(name))]
    assert {
        name: seen_keys.types[name] for name, family in families if seen_keys.types[name] != {family.type}
    } == {}


def test_every_key_lives_as_long_as_its_family_promises(seen_keys: Seen) -> None:
    families = [(name, family) for name in seen_keys.types if (family := find_family(name))]
    endless = {name for name, family in families if family.lifetime is None}
    assert {name: seen_keys.lifetimes[name] for name in endless if seen_keys.lifetimes[name] != -1} == {}
    most = {name: family.lifetime.total_seconds() * 1_000 for name, family in families if family.lifetime}
    assert {
        name: seen_keys.lifetimes[name] for name in most if not 0 < seen_keys.lifetimes[name] <= most[name]
    } == {}
