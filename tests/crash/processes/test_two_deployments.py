import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import cast

import pytest
from localslack.loopback import HangUp
from localslack.users.person import Person
from redis import Redis

from bot.platform.slack.blocks import FeedbackVerdict, write_verdict
from bot.platform.store.connection import UNPREFIXED, Keyspace
from bot.platform.store.server import claim_store, read_owner
from tests.crash.conftest import DAY, Site, Web, site_on
from tests.crash.overlap import StoreSlot, overlapping
from tests.helpers.checks import closed_port, eventually
from tests.helpers.processes.command import Caught
from tests.helpers.world import CHANNEL

OURS, THEIRS = "T0TEAM", "T0OTHER"
# what the keys of all that people do begin with
EVERY = set(
    "owner schema subscriptions agenda journal dramatiq rate thread spent votes digest issued history entry files"
    " llm ready answer".split()
)
PROCESSES = ("run", "web", "worker", "clock")
TAKEN = (
    f"The store belongs to the workspace {THEIRS}, but SLACK_BOT_TOKEN is for {OURS}: give this bot its "
    "own PRDIGEST_STORE_PREFIX. Run `prdigest doctor` for the full list."
)


@contextmanager
def two_workspaces(slot: StoreSlot) -> Iterator[tuple[Site, Site]]:
    with ExitStack() as stack:
        first, second = (
            stack.enter_context(site_on(slot.url, slot.store, slot.folder, team)) for team in (OURS, THEIRS)
        )
        yield first, second


def set_prefix(site: Site, prefix: str) -> Site:
    site.world.settings["PRDIGEST_STORE_PREFIX"] = prefix
    return site


def keys_of(store: Redis) -> set[str]:
    return {key.decode() for key in cast("list[bytes]", store.keys("*"))}


@pytest.mark.parametrize("name", PROCESSES)
@overlapping(two_workspaces)
def test_a_start_on_another_workspaces_store_is_refused_and_changes_nothing(
    sites: tuple[Site, Site], name: str
) -> None:
    store = sites[0].store
    ours, _ = sites
    claim_store(store, UNPREFIXED, THEIRS)
    store.rpush("dramatiq:prdigest", "job")
    before = {key: store.dump(key) for key in keys_of(store)}
    settings = {**ours.world.settings, "PORT": str(closed_port())}
    done = Caught(name, settings=settings, folder=ours.folder).await_end(60)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, TAKEN)
    assert {key: store.dump(key) for key in keys_of(store)} == before


@overlapping(two_workspaces)
def test_a_digest_by_hand_is_refused_there_too(sites: tuple[Site, Site]) -> None:
    store = sites[0].store
    ours, _ = sites
    claim_store(store, UNPREFIXED, THEIRS)
    command = ("digest", "--date", DAY, "--channel", CHANNEL)
    done = Caught(*command, settings=ours.world.settings, folder=ours.folder).await_end(60)
    assert (done.returncode, done.stderr) == (2, f"{TAKEN}\n")
    assert not ours.world.slack.list_messages(CHANNEL)


@overlapping(two_workspaces)
def test_the_sentence_names_the_prefix_that_is_shared(sites: tuple[Site, Site]) -> None:
    store = sites[0].store
    ours = set_prefix(sites[0], "team-a")
    claim_store(store, Keyspace("team-a"), THEIRS)
    done = Caught("worker", settings=ours.world.settings, folder=ours.folder).await_end(60)
    assert "The store with the prefix team-a belongs to the workspace T0OTHER" in done.stderr
    assert "give this bot another PRDIGEST_STORE_PREFIX." in done.stderr


@overlapping(two_workspaces)
def test_who_starts_first_owns_the_store(sites: tuple[Site, Site]) -> None:
    store = sites[0].store
    ours, theirs = sites
    web, worker = theirs.pair()
    assert read_owner(store) == THEIRS
    settings = {**ours.world.settings, "PORT": str(closed_port())}
    assert TAKEN in Caught("run", settings=settings, folder=ours.folder).await_end(60).stderr
    theirs.assert_works(web, worker)


@overlapping(two_workspaces)
def test_with_prefixes_each_answers_its_own(sites: tuple[Site, Site]) -> None:
    store = sites[0].store
    pairs = [(site, *set_prefix(site, prefix).pair()) for site, prefix in zip(sites, ("", "team-b"), strict=True)]
    asked = [
        (site, site.person(web).send_command("/prsummary", str(101 + number)))
        for number in range(6)
        for site, web, _ in pairs
    ]
    for site, delivery in asked:
        site.await_answers(delivery)
    # each has the six that were asked there, and none of the others
    assert [len(site.world.slack.list_messages(CHANNEL)) for site in sites] == [6, 6]
    assert all(len(site.answers(delivery)) == 1 for site, delivery in asked)
    for site, web, worker in pairs:
        site.assert_works(web, worker)
    owners = {name: read_owner(store, Keyspace(name)) for name in ("", "team-b")}
    assert owners == {"": OURS, "team-b": THEIRS}


@overlapping(two_workspaces)
def test_every_key_of_a_deployment_begins_with_its_prefix(sites: tuple[Site, Site]) -> None:
    """Whatever people do: commands, lists, digests, questions, votes, subscriptions, windows, App Home."""
    store = sites[0].store
    site = set_prefix(sites[0], "team-a")
    port = closed_port()
    settings = {"PRDIGEST_CHANNEL": CHANNEL, "PRDIGEST_POST_AT": "00:00", "PORT": str(port)}
    bot = Web(site.start("run", **settings), port)
    eventually(bot.is_ready)
    ada = site.person(bot)
    _use_all(site, ada)
    site.await_rest()
    names = set(Keyspace("team-a").iterate_names(store))
    assert {f"team-a/{name}" for name in names} == keys_of(store)
    families = {name.partition(":")[0] for name in names}
    assert families >= EVERY, EVERY - families


def _use_all(site: Site, ada: Person) -> None:
    """What the bot can be asked for, each once, one after the other."""
    for command, text in (
        ("/prsummary", "101"),
        ("/prrisks", "2026-02-28"),
        ("/prrisks", "score 90d"),
        ("/prdigest", DAY),
        ("/prdigest", "subscribe at 09:00 tz UTC path:engine"),
        ("/prdigest", "test"),
        ("/prdigest", "list"),
        ("/prdigest", "schedule"),
        ("/prdigest", "pause"),
    ):
        assert ada.send_command(command, text).ack.status == 200
        site.await_rest()
    site.press_details(ada, 103)
    question = ada.mention("Does #102 change a default?")
    assert question.ack.status == 200
    site.await_rest()
    (reply,) = site.world.slack.list_replies(CHANNEL, question.payload["event"]["ts"])
    ada.press(reply, "answer_vote", value=write_verdict(FeedbackVerdict.GOOD))
    ada.send_message("@nobody and yet in a thread", thread_ts=question.payload["event"]["ts"])
    ada.open_home()
    site.await_rest()


# --- Slack that does not answer at the start


@contextmanager
def silent(site: Site) -> Iterator[None]:
    """Slack hangs up on everybody until the end of the block."""

    def hook(_method: str, _arguments: object) -> None:
        raise HangUp

    site.world.slack.before = hook
    try:
        yield
    finally:
        site.world.slack.before = None


def status_of(port: int, path: str) -> int:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=5) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


@pytest.mark.parametrize("name", ["run", "web"])
@overlapping(two_workspaces)
def test_a_start_waits_for_slack_and_says_so(sites: tuple[Site, Site], name: str) -> None:
    store = sites[0].store
    ours, _ = sites
    store.rpush("dramatiq:prdigest", "job")
    with silent(ours):
        bot = Web(ours.start(name, PORT=str(port := closed_port())), port)
        eventually(lambda: status_of(port, "healthz") == 200)
        time.sleep(1)
        assert status_of(port, "readyz") == 503
        # nothing of what may be another's was touched
        assert keys_of(store) == {"dramatiq:prdigest"}
        store.delete("dramatiq:prdigest")
    eventually(bot.is_ready)
    assert read_owner(store) == OURS


@pytest.mark.parametrize("name", ["worker", "clock"])
@overlapping(two_workspaces)
def test_others_wait_too_and_take_nothing(sites: tuple[Site, Site], name: str) -> None:
    store = sites[0].store
    ours, _ = sites
    claim_store(store, UNPREFIXED, THEIRS)
    before = keys_of(store)
    with silent(ours):
        caught = Caught(name, settings=ours.world.settings, folder=ours.folder)
        time.sleep(4)
        assert (caught.process.poll(), keys_of(store)) == (None, before)
    done = caught.await_end(60)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, TAKEN)


@overlapping(two_workspaces)
def test_a_start_that_waits_can_be_ended(sites: tuple[Site, Site]) -> None:
    ours, _ = sites
    with silent(ours):
        caught = Caught("worker", settings=ours.world.settings, folder=ours.folder)
        time.sleep(4)
        caught.process.terminate()
        assert caught.await_end(10).returncode == 0
