import json
import re
import signal
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import HTTPCookieProcessor

import pytest
from redis import Redis

from bot.platform.store.embedded.server import is_store_running
from tests.emulators.claude.script import Step, Text, ToolUse, default_answer
from tests.emulators.openai_compatible.server import OpenAIEmulator
from tests.helpers.checks import closed_port, eventually
from tests.helpers.processes.command import prdigest, started
from tests.helpers.world import World, add_yesterday, world

HOME = "C0DIGEST"
ANOTHER = "Another live demo is running: stop it with Ctrl-C first."


@pytest.fixture
def there(store: Redis, store_url: str, tmp_path: Path) -> Iterator[World]:
    """Two merges of yesterday. The settings name a real bot's Slack and store, which a demo must not touch.

    There is a proxy, too, from where nothing of this machine can be reached.
    """
    with world(store_url) as made:
        add_yesterday(made.github)
        nowhere = f"http://127.0.0.1:{closed_port()}"
        made.settings.update(
            PRDIGEST_STATE_DIR=str(tmp_path / "state"),
            PRDIGEST_REPO="octo/other",
            PRDIGEST_NAME="Another name",
            PRDIGEST_CHANNEL="C0REAL",
            PRDIGEST_ALLOWED_USERS="U0SOMEBODY",
            SLACK_APP_TOKEN="xapp-real",
            HTTPS_PROXY=nowhere,
            HTTP_PROXY=nowhere,
        )
        yield made


@contextmanager
def demo(there: World, folder: Path, end: signal.Signals = signal.SIGINT) -> Iterator[str]:
    """A live demo that has posted its digest, by the address of its page; it ends with the block, cleanly."""
    log = folder / "demo.log"
    with log.open("wb") as file:
        arguments = ("demo", "--live", "--repo", "octo/engine")
        process = started(
            *arguments, settings=there.settings, folder=folder, files=(0, file.fileno(), file.fileno())
        )
    try:
        yield eventually(lambda: re.search(r"http://\S+", log.read_text()))[0]
    finally:
        process.send_signal(end)
        assert process.wait(timeout=40) == 0, log.read_text()


def screen(address: str, until: str) -> str:
    return str(eventually(lambda: page if until in (page := channel(address)) else ""))


def channel(address: str, thread: str = "") -> str:
    with urllib.request.urlopen(
        address.replace("/?", f"/live?place={HOME}&thread={thread}&"), timeout=30
    ) as lines:
        shown = json.loads(next(lines).removeprefix(b"data: "))
        return "".join(piece["html"] for piece in [*shown["pieces"], *shown["thread"]])


def say(address: str, text: str, thread: str = "") -> dict[str, Any]:
    body = json.dumps({"place": HOME, "text": text, "thread": thread}).encode()
    page = address.replace("/?", "/do/say?")
    asked = urllib.request.Request(page, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=30) as answer:
        reply: dict[str, Any] = json.loads(answer.read())
        return reply


def test_it_asks_the_real_services_once_and_shows_it_in_a_slack_of_its_own(there: World, tmp_path: Path) -> None:
    with demo(there, tmp_path) as address:
        screen(address, 'class="replies"')
        asked = len(there.claude.requests)
        # two summaries, two reviews and the overview
        assert asked == 5
        assert "Another name" not in channel(address)
        eventually(lambda: say(address, "/prsummary 101")["notice"] == "")
        screen(address, "Asked for by")
        again = prdigest("demo", "--live", "--repo", "octo/engine", settings=there.settings, folder=tmp_path)
        assert (again.returncode, again.stderr) == (2, f"{ANOTHER}\n")
    with demo(there, tmp_path, signal.SIGHUP) as address:
        # nothing is remembered of what was said, and nothing is bought twice
        assert "Asked for by" not in screen(address, "2 merged")
        eventually(lambda: say(address, "/prsummary 101")["notice"] == "")
        screen(address, "Asked for by")
    assert len(there.claude.requests) == asked
    assert there.slack.calls == []
    assert not is_store_running(tmp_path / "state" / "demo")


def test_without_the_key_of_the_model_it_has_facts_only_and_says_so(there: World, tmp_path: Path) -> None:
    there.settings.pop("ANTHROPIC_API_KEY")
    note = "without a model: ANTHROPIC_API_KEY is not set, so summaries contain facts only"
    with demo(there, tmp_path) as address:
        assert "facts only" in screen(address, 'class="replies"')
        with urllib.request.build_opener(HTTPCookieProcessor()).open(address, timeout=30) as page:
            assert note in page.read().decode()
    assert note in (tmp_path / "demo.log").read_text()
    assert there.claude.requests == []


def test_it_ends_while_the_model_is_still_thinking(there: World, tmp_path: Path) -> None:
    there.claude.latency = 60.0
    with demo(there, tmp_path):
        eventually(lambda: there.claude.requests)
    assert not is_store_running(tmp_path / "state" / "demo")


@pytest.mark.parametrize(
    ("arguments", "gone", "message"),
    [
        (["--live", "--repo", "octo/engine"], "GITHUB_TOKEN", "Set GITHUB_TOKEN"),
        (["--live"], "PRDIGEST_REPO", "No repository: pass --repo"),
        (["--repo", "octo/engine"], "", "add --live"),
        (["--live", "--text", "--repo", "octo/engine"], "", "leave out --live"),
        (["--live", "--repo", "nonsense"], "", "owner/name"),
    ],
)
def test_what_is_missing_is_said_at_once(
    there: World, tmp_path: Path, arguments: list[str], gone: str, message: str
) -> None:
    there.settings.pop(gone, None)
    done = prdigest("demo", *arguments, settings=there.settings, folder=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "state").exists()


def test_a_port_that_is_taken_is_said(there: World, tmp_path: Path) -> None:
    port = there.github.url.rpartition(":")[2]
    done = prdigest("demo", "--port", port, settings={}, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"Port {port} can't be used" in done.stderr


def test_answers_of_an_own_server_are_those_of_its_model(there: World, tmp_path: Path) -> None:
    sentence = "Retries were counted twice before. "

    def respond(view: dict[str, Any]) -> Step:
        if not view.get("tools") or view["output_config"]:
            return default_answer(view)
        is_read = "tool_result" in str(view["messages"])
        return Text(f"<answer>{sentence}</answer>") if is_read else ToolUse("read_diff", {"number": 101})

    with OpenAIEmulator() as served:
        served.respond, served.reasoning = respond, "reasoning"
        there.settings.pop("ANTHROPIC_API_KEY")
        there.settings.update(served.settings)
        with demo(there, tmp_path) as address:
            lead = re.search(r'class="replies" href="#/\w+/([\d.]+)"', screen(address, 'class="replies"'))
            assert lead
            eventually(lambda: say(address, "What was counted twice?", lead[1])["notice"] == "")
            eventually(lambda: sentence.strip() in channel(address, lead[1]))
            assert "SECRET" not in channel(address, lead[1])
        assert served.problems == []
        assert there.claude.requests == []
        assert "+retries = 3" in str(served.requests)
