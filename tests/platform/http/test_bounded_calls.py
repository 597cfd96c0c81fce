import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from github import Auth

from bot.errors import GitHubUnavailable, ModelBusy, PrdigestError, RateLimited, SlackUnavailable
from bot.platform import deadlines
from bot.platform.deadlines import ProcessShutdown, ShutdownSignal
from bot.platform.github.client import GitHubClient, fetch_allowances, make_github
from bot.platform.github.pulls import GitHubPullRequests
from bot.platform.http.bounded_calls import DeadlineExceeded, bound_requests
from bot.platform.http.connections import make_tracking_opener
from bot.platform.http.httpx_clients import get_tls_context
from bot.platform.models import Chat, ModelAccess, Prompt, TextPart, Turn
from bot.platform.models.claude.check import find_models
from bot.platform.models.claude.connection import ClaudeConnection, make_claude_client
from bot.platform.slack.blocks import Attachment
from bot.platform.slack.client import make_slack_client, send_to_hook
from bot.platform.slack.messenger import SlackMessenger
from bot.platform.slack.notices import render_notice
from tests.emulators.claude.server import ClaudeEmulator
from tests.emulators.drip import Drip, Where
from tests.emulators.github.server import GitHubEmulator
from tests.emulators.slack.server import SlackEmulator
from tests.helpers import builders
from tests.helpers.talks import converse
from tests.helpers.world import CHANNEL, add_small_day

pytestmark = pytest.mark.slow

# seconds: between two bytes, for one call, and until a call must have ended, on a machine that is busy
INTERVAL, SECONDS, SOON = 0.05, 0.5, 4.0
SCHEMA = {"type": "object", "properties": {}, "additionalProperties": False}
PROMPT = Prompt("claude-haiku-5-5", "v1", "Be brief.", "Say something.", SCHEMA, 1_000)
TOOL = {"name": "look", "description": "Looks.", "input_schema": SCHEMA}
CHAT = Chat(
    "claude-sonnet-5-5", "Be brief.", (TOOL,), (Turn("person", (TextPart("Hello?"),)),), 1_000, 5.0, SECONDS
)
Act = Callable[[str], object]


def github_at(url: str) -> GitHubPullRequests:
    return GitHubPullRequests(GitHubClient(url, Auth.Token("ghp_test"), SECONDS), lambda: builders.NOON)


def complete(url: str) -> object:
    with make_claude_client("sk-ant-test", url) as client:
        return ClaudeConnection(client, seconds=SECONDS).complete(PROMPT)


def talk(url: str) -> object:
    with make_claude_client("sk-ant-test", url) as client:
        return converse(ClaudeConnection(client), CHAT)


def slack_at(url: str) -> SlackMessenger:
    return SlackMessenger(make_slack_client("xoxb-test", url, SECONDS))


def post(url: str) -> object:
    return slack_at(url).post_message(CHANNEL, render_notice("Hello").build_payload(), "key")


TOKEN = Auth.Token("ghp_test")
CALLS: dict[str, tuple[str, Act, type[PrdigestError]]] = {
    "github-graphql": (
        "github",
        lambda url: github_at(url).fetch_pull_request(builders.REPOSITORY, 101),
        GitHubUnavailable,
    ),
    "github-files": ("github", lambda url: github_at(url).load_files(builders.pull(101)), GitHubUnavailable),
    "github-probe": (
        "github",
        lambda url: fetch_allowances(make_github(auth=TOKEN, base_url=url, timeout=1, retry=None).requester, 1),
        GitHubUnavailable,
    ),
    "claude": ("claude", complete, ModelBusy),
    "claude-stream": ("claude", talk, ModelBusy),
    "claude-probe": (
        "claude",
        lambda url: find_models(ModelAccess("sk-ant-test", url), ["claude-haiku-5-5"], SECONDS),
        ModelBusy,
    ),
    "slack": ("slack", post, SlackUnavailable),
    "slack-file": (
        "slack",
        lambda url: slack_at(url).attach_file(CHANNEL, "1.0", Attachment("a.md", "A", "text")),
        SlackUnavailable,
    ),
}
# one call for each way in which the bot speaks HTTP
MAIN = ("github-graphql", "claude", "claude-stream", "slack")


@pytest.fixture(scope="module")
def services() -> Iterator[dict[str, str]]:
    with GitHubEmulator() as github, ClaudeEmulator() as claude, SlackEmulator() as slack:
        add_small_day(github)
        yield {"github": github.url, "claude": claude.url, "slack": slack.url}


@contextmanager
def dripping(target: str, where: Where = "headers", context: ssl.SSLContext | None = None) -> Iterator[Drip]:
    with Drip(target, where, context) as drip:
        drip.interval = INTERVAL
        yield drip


def seconds_until(error: type[BaseException], act: Callable[[], object]) -> float:
    began = time.monotonic()
    with pytest.raises(error):
        act()
    return time.monotonic() - began


def check_it_ends(name: str, drip: Drip) -> None:
    _, act, error = CALLS[name]
    assert seconds_until(error, lambda: act(drip.url)) < SOON
    assert len(drip.paths) <= 1, "what was too slow is not asked again"


@pytest.mark.parametrize("name", CALLS)
def test_headers_that_trickle_do_not_extend_a_call(services: dict[str, str], name: str) -> None:
    with dripping(services[CALLS[name][0]]) as drip:
        check_it_ends(name, drip)


@pytest.mark.parametrize("is_chunked", [False, True], ids=["whole", "chunks"])
@pytest.mark.parametrize("name", MAIN)
def test_a_body_that_trickles_does_not_extend_a_call(
    services: dict[str, str], name: str, *, is_chunked: bool
) -> None:
    with dripping(services[CALLS[name][0]], "body") as drip:
        drip.is_chunked = is_chunked
        check_it_ends(name, drip)


@pytest.mark.parametrize("name", MAIN)
def test_what_comes_piece_by_piece_and_in_time_is_an_answer(services: dict[str, str], name: str) -> None:
    target, act, _ = CALLS[name]
    with dripping(services[target]) as drip:
        drip.interval, drip.piece = 0.001, 100
        assert act(drip.url) is not None


def test_a_connection_that_is_kept_is_bounded_too(services: dict[str, str]) -> None:
    with Drip(services["github"]) as drip:
        github = github_at(drip.url)
        assert github.fetch_pull_request(builders.REPOSITORY, 101).number == 101
        drip.interval = INTERVAL
        assert seconds_until(GitHubUnavailable, lambda: github.fetch_pull_request(builders.REPOSITORY, 102)) < SOON
        drip.heal()
        assert github.fetch_pull_request(builders.REPOSITORY, 103).number == 103


def test_connections_to_github_are_kept_between_calls(services: dict[str, str]) -> None:
    with Drip(services["github"]) as drip:
        github = github_at(drip.url)
        for number in (101, 102, 103):
            github.fetch_pull_request(builders.REPOSITORY, number)
        assert (len(drip.paths), drip.connections) == (3, 1)


def test_a_webhook_that_drips_ends_at_its_deadline(services: dict[str, str]) -> None:
    with dripping(services["slack"]) as drip:
        assert (
            seconds_until(DeadlineExceeded, lambda: send_to_hook(f"{drip.url}/hook", SECONDS, text="Hello")) < SOON
        )


def test_no_call_outlasts_the_work_it_is_part_of(services: dict[str, str]) -> None:
    with dripping(services["github"]) as drip, deadlines.bound_work(0.3):
        began = time.monotonic()
        for _ in range(3):
            with pytest.raises(GitHubUnavailable):
                github_at(drip.url).fetch_pull_request(builders.REPOSITORY, 101)
        assert time.monotonic() - began < SOON
        assert len(drip.paths) <= 1, "without time nothing is asked"


@pytest.mark.parametrize("name", MAIN)
def test_the_end_of_the_process_interrupts_a_call(services: dict[str, str], name: str) -> None:
    target, act, _ = CALLS[name]
    ending = ShutdownSignal()
    with dripping(services[target]) as drip, deadlines.bound_work(60, ending):
        timer = threading.Timer(0.2, ending.trigger)
        timer.start()
        assert seconds_until(ProcessShutdown, lambda: act(drip.url)) < SOON
        timer.join()
        seconds_until(ProcessShutdown, lambda: act(drip.url))
        assert len(drip.paths) <= 1


def test_the_end_of_the_process_interrupts_a_pause_that_slack_asks_for(services: dict[str, str]) -> None:
    ending = ShutdownSignal()
    with SlackEmulator() as slack, deadlines.bound_work(60, ending):
        slack.fail_next("chat.postMessage", retry_after=25)
        timer = threading.Timer(0.3, ending.trigger)
        timer.start()
        assert seconds_until(ProcessShutdown, lambda: post(slack.url)) < SOON
        timer.join()


@pytest.mark.parametrize("seconds", [60, 3_600])
def test_a_pause_longer_than_there_is_time_is_not_begun(seconds: int) -> None:
    with GitHubEmulator() as github, SlackEmulator() as slack, deadlines.bound_work(40):
        add_small_day(github)
        github.retry_after = seconds
        github.fail_next("429")
        slack.fail_next("chat.postMessage", retry_after=seconds)
        assert (
            seconds_until(RateLimited, lambda: github_at(github.url).fetch_pull_request(builders.REPOSITORY, 101))
            < SOON
        )
        assert seconds_until(SlackUnavailable, lambda: post(slack.url)) < SOON


def test_a_call_that_ends_in_time_leaves_nothing_behind() -> None:
    before = threading.active_count()
    for _ in range(50):
        with bound_requests(60):
            pass
    assert threading.active_count() <= before + 1


# --- over TLS


@pytest.fixture
def tls_context(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ssl.SSLContext]:
    """What a server speaks TLS with; the clients trust it."""
    for variable in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):
        monkeypatch.setenv(variable, str(certificate))
    for kept in (make_tracking_opener, get_tls_context):
        kept.cache_clear()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    yield context
    for kept in (make_tracking_opener, get_tls_context):
        kept.cache_clear()


@pytest.mark.parametrize("where", ["headers", "body"])
@pytest.mark.parametrize("name", ["github-graphql", "claude-stream", "slack"])
def test_a_trickle_over_tls_does_not_extend_a_call(
    services: dict[str, str], tls_context: ssl.SSLContext, name: str, where: Where
) -> None:
    target, act, _ = CALLS[name]
    with dripping(services[target], where, tls_context) as drip:
        check_it_ends(name, drip)
    with Drip(services[target], where, tls_context) as drip:
        assert act(drip.url) is not None
        assert len(drip.paths) == 1
