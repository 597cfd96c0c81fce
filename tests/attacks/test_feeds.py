"""The feeds of a real web process, and a site: strangers learn nothing, and what is private stays inside."""

from __future__ import annotations

import http.client
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import feedparser
import pytest
from redis import Redis

from bot.adapters.redis import RedisHistoryStore, RedisProfileStore
from bot.domain.keyspace import keys
from bot.domain.keyspace.family import FAMILIES
from bot.domain.profile.entries import ProfileEntry
from bot.domain.profile.models import Profile, Use, UseKind
from bot.platform.store.connection import connect_server
from bot.platform.store.embedded.server import start_embedded_url
from tests.attacks.tables.feed_requests import METHODS, SINCE, STRANGERS, TOKEN
from tests.helpers.builders import REPOSITORY, changed_file, pull
from tests.helpers.checks import closed_port, eventually
from tests.helpers.processes.command import prdigest, started
from tests.helpers.world import world

pytestmark = pytest.mark.slow

PRIVATE = "canary-of-what-is-private-7e00"
FEEDS = ("atom.xml", "contract.json", "deprecations.ics")
# what a feed or a page is made of; all else in the store is of teams, of people, or of the bot itself
PUBLIC = {keys.MERGE_HISTORY, keys.SUMMARY_ENTRY, keys.MERGE_CONTRACT, keys.DEPRECATIONS, keys.RELEASES}
_OF_THE_BOT = {
    keys.SCHEMA_VERSION,
    keys.STORE_OWNER,
    keys.STORE_READINESS,
    # for the metrics
    keys.DUE_QUEUE,
    keys.LAST_TICK,
    keys.DEAD_JOBS,
    keys.RUN_JOURNAL,
}
# planted as a real one
_PROFILES = {keys.PROFILE, keys.PROFILE_LIST}


@dataclass(frozen=True)
class Answer:
    """A response over HTTP."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Web:
    """A web process with feeds, and what it logs."""

    port: int
    folder: Path
    settings: Mapping[str, str]

    def ask(self, path: str, method: str = "GET", **headers: str) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, headers=headers)
            response = connection.getresponse()
            # each response has its own date
            response_headers = {
                name.lower(): value for name, value in response.getheaders() if name.lower() != "date"
            }
            return Answer(response.status, response_headers, response.read())
        finally:
            connection.close()

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()


def plant(store: Redis) -> None:
    """Put a canary under a key of each family that no feed may be made of, and into a real profile."""
    for family in {*FAMILIES} - PUBLIC - _OF_THE_BOT - _PROFILES:
        key = re.sub(r"\{\w+\}", "octo/engine", family.pattern)
        if family.type == "hash":
            store.hset(key, PRIVATE, PRIVATE)
        elif family.type == "zset":
            store.zadd(key, {PRIVATE: 4_000_000_000})
        elif family.type == "list":
            store.rpush(key, PRIVATE)
        else:
            store.set(key, PRIVATE)
    use = Use(UseKind.FLAG, PRIVATE, f"{PRIVATE}.py", 4)
    profile = Profile(PRIVATE, ("engine",), "", "", datetime.now(UTC), (use,))
    RedisProfileStore(store).put(ProfileEntry(PRIVATE, REPOSITORY, ("engine",)), profile)


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    folder = tmp_path_factory.mktemp("feeds")
    url = start_embedded_url(folder / "store")
    with connect_server(url) as store, world(url) as there:
        noon = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=1)
        RedisHistoryStore(store).record_merges([pull(1, merged_at=noon, files=[changed_file()])])
        port, metrics = closed_port(), closed_port()
        settings = {
            **there.settings,
            "SLACK_SIGNING_SECRET": "secret",
            "PRDIGEST_REPO": "octo/engine",
            "PRDIGEST_TIMEZONE": "UTC",
            "PRDIGEST_FEED_TOKEN": TOKEN,
            "PRDIGEST_LOG_LEVEL": "DEBUG",
            "PRDIGEST_METRICS_ADDRESS": str(metrics),
            "PORT": str(port),
        }
        with (folder / "log").open("wb") as log:
            process = started("web", settings=settings, folder=folder, files=(0, log.fileno(), log.fileno()))
        made = Web(port, folder, {**settings, "METRICS": str(metrics)})
        try:
            eventually(lambda: "web started" in made.log)
            plant(store)
            yield made
        finally:
            process.terminate()
            assert process.wait(30) == 0


@pytest.mark.parametrize("case", STRANGERS)
def test_a_stranger_sees_no_difference_to_a_place_that_is_not_there(case: str, web: Web) -> None:
    path, headers = STRANGERS[case]
    assert web.ask(path, **headers) == web.ask("/nothing")


@pytest.mark.parametrize("method", METHODS)
def test_other_methods_tell_a_stranger_nothing_and_change_nothing(method: str, web: Web) -> None:
    assert web.ask("/feeds/atom.xml", method) == web.ask("/nothing", method)
    known = web.ask(f"/feeds/atom.xml?token={TOKEN}", method)
    assert (known.status, known.headers["allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize("name", FEEDS)
def test_a_feed_comes_by_header_and_by_address_for_its_reader_alone(name: str, web: Web) -> None:
    by_header = web.ask(f"/feeds/{name}", Authorization=f"Bearer {TOKEN}")
    assert by_header == web.ask(f"/feeds/{name}?token={TOKEN}")
    assert by_header.status == 200
    assert by_header.headers["cache-control"] == "private, max-age=300"
    assert by_header.headers["x-content-type-options"] == "nosniff"
    again = web.ask(f"/feeds/{name}?token={TOKEN}", **{"If-None-Match": by_header.headers["etag"]})
    assert (again.status, again.body) == (304, b"")
    other = web.ask(f"/feeds/{name}?token={TOKEN}", **{"If-None-Match": '"other"'})
    assert other.status == 200
    head = web.ask(f"/feeds/{name}?token={TOKEN}", "HEAD")
    assert (head.status, head.body, head.headers) == (200, b"", by_header.headers)


def test_a_feed_has_what_was_merged(web: Web) -> None:
    read = feedparser.parse(web.ask(f"/feeds/atom.xml?token={TOKEN}").body)
    assert [entry.title.partition(" on ")[0] for entry in read.entries] == ["engine: 1 merge"]
    assert web.ask(f"/feeds/contract.json?token={TOKEN}&since={1:040x}").body.endswith(b'"merges":[]}\n')


@pytest.mark.parametrize("since", SINCE, ids=range(len(SINCE)))
def test_a_text_that_is_no_commit_gets_a_short_plain_sentence(since: str, web: Web) -> None:
    encoded = quote(since.encode("utf-8", "surrogatepass"))
    answer = web.ask(f"/feeds/contract.json?token={TOKEN}&since={encoded}")
    assert answer.status == 400
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert len(answer.body) < 300


def test_nothing_private_is_in_a_feed_or_on_a_site(web: Web) -> None:
    texts = [web.ask(f"/feeds/{name}?token={TOKEN}").body for name in FEEDS]
    settings = {name: value for name, value in web.settings.items() if name != "METRICS"}
    done = prdigest("site", "--out", "public", settings=settings, folder=web.folder)
    assert (done.returncode, done.stderr) == (0, "")
    texts += [path.read_bytes() for path in (web.folder / "public").rglob("*") if path.is_file()]
    texts += [str(path).encode() for path in (web.folder / "public").rglob("*")]
    assert sum(b"Change number 1" in text for text in texts) >= 4
    assert not [text for text in texts if PRIVATE.encode() in text]


def test_the_token_is_in_no_log_metric_or_answer(web: Web) -> None:
    for path in (f"/feeds/atom.xml?token={TOKEN}", f"/feeds/x?token={TOKEN}", f"/slack/events?token={TOKEN}"):
        for method in ("GET", "POST"):
            assert TOKEN.encode() not in web.ask(path, method).body
    metrics = Web(int(web.settings["METRICS"]), web.folder, {}).ask("/metrics").body
    assert b"prdigest_" in metrics
    assert TOKEN.encode() not in metrics
    assert "web started" in web.log
    assert TOKEN not in web.log
    assert "Traceback" not in web.log


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"PRDIGEST_REPO": ""}, "Set PRDIGEST_REPO"),
        ({"PRDIGEST_FEED_TOKEN": "short"}, "use 32 to 200 letters"),
        ({"PRDIGEST_FEED_TOKEN": "two words that are longer than thirty-two"}, "use 32 to 200 letters"),
        ({"PRDIGEST_SITE_URL": "javascript:alert(1)"}, "PRDIGEST_SITE_URL"),
    ],
)
def test_settings_that_do_not_fit_end_the_process_with_a_sentence(
    changed: Mapping[str, str], message: str, web: Web
) -> None:
    settings = {**web.settings, **changed, "PORT": str(closed_port()), "PRDIGEST_METRICS_ADDRESS": ""}
    del settings["METRICS"]
    done = prdigest("web", settings=settings, folder=web.folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert settings["PRDIGEST_FEED_TOKEN"] not in done.stderr


def test_without_a_token_there_are_no_feeds(web: Web) -> None:
    port = closed_port()
    settings = {**web.settings, "PRDIGEST_FEED_TOKEN": "", "PORT": str(port), "PRDIGEST_METRICS_ADDRESS": ""}
    del settings["METRICS"]
    with (web.folder / "other").open("wb") as log:
        process = started("web", settings=settings, folder=web.folder, files=(0, log.fileno(), log.fileno()))
    try:
        eventually(lambda: b"web started" in (web.folder / "other").read_bytes())
        other = Web(port, web.folder, {})
        assert other.ask("/feeds/atom.xml?token=") == other.ask("/nothing")
        assert other.ask("/feeds/atom.xml", Authorization="Bearer ") == other.ask("/nothing")
    finally:
        process.terminate()
        process.wait(30)
