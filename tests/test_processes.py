"""The Procfile's processes, as processes: Slack's signed requests in, jobs over the store, messages out."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from redis import Redis
from slack_sdk.signature import SignatureVerifier

from tests.checks import closed_port, eventually
from tests.command import ROOT, command, environment
from tests.emulators.github_store import changed_file, pull
from tests.emulators.loopback import Loopback, Request, Response
from tests.world import CHANNEL, World, world

SECRET = "signing-secret"


class Inbox(Loopback):
    """Where Slack's ``response_url`` leads: keeps what is posted."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[dict[str, Any]] = []

    def handle(self, request: Request) -> Response:
        self.messages.append(request.json())
        return Response(body=b"ok")


@pytest.fixture
def there(store: Redis, store_url: str) -> Iterator[World]:
    with world(store_url) as made:
        yesterday = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=1)
        patch = "@@ -1 +1,2 @@\n one\n+retries = 3"
        for number in (101, 102):
            files = (changed_file("engine/retry.py", patch=patch),)
            made.github.add("octo/engine", pull(number, merged_at=yesterday, files=files))
        made.settings.update(
            PRDIGEST_REPO="octo/engine",
            PRDIGEST_CHANNEL=CHANNEL,
            PRDIGEST_POST_AT="00:00",
            SLACK_SIGNING_SECRET=SECRET,
            PORT=str(closed_port()),
        )
        yield made


@contextmanager
def running(there: World, folder: Path, *names: str) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes that end with the block, by SIGTERM, cleanly."""
    with ExitStack() as stack:
        processes = [
            stack.enter_context(subprocess.Popen(command(name), env=environment(**there.settings), cwd=folder))
            for name in names
        ]
        try:
            yield processes
        finally:
            for process in processes:
                process.terminate()
            assert [process.wait(timeout=40) for process in processes] == [0] * len(processes)


def _ask(
    there: World, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
) -> tuple[int, str]:
    url = f"http://127.0.0.1:{there.settings['PORT']}{path}"
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers or {}), timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
    except OSError:
        return 0, ""


def slash(there: World, name: str, text: str, response_url: str, secret: str = SECRET) -> tuple[int, str]:
    """A slash command as Slack sends it."""
    fields = {
        "command": name,
        "text": text,
        "response_url": response_url,
        "channel_id": CHANNEL,
        "user_id": "U0ASKER",
        "team_id": "T0TEAM",
        "trigger_id": "1.2.3",
    }
    body = urlencode(fields)
    stamp = str(int(time.time()))
    signature = SignatureVerifier(secret).generate_signature(timestamp=stamp, body=body)
    headers = {
        "Content-Type": "application/x-www-form-urlencoded",
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": signature or "",
    }
    return _ask(there, "/slack/events", body.encode(), headers)


def test_the_procfile_names_commands_that_exist() -> None:
    lines = (ROOT / "Procfile").read_text().split("\n")
    assert [line.split(": ") for line in lines if line] == [
        ["web", "prdigest web"],
        ["worker", "prdigest worker"],
        ["clock", "prdigest clock"],
    ]


def test_two_clocks_and_two_workers_post_yesterdays_digest_once(there: World, tmp_path: Path) -> None:
    with running(there, tmp_path, "clock", "clock", "worker", "worker"):
        eventually(lambda: there.slack.files)
        eventually(lambda: there.slack.calls_to("chat.getPermalink"))
    lead, replies = there.digest()
    assert "2 merged" in lead["text"]
    assert len(replies) == 2


def test_commands_are_acknowledged_and_answered(there: World, tmp_path: Path) -> None:
    with Inbox() as inbox, running(there, tmp_path, "web", "worker"):
        eventually(lambda: _ask(there, "/healthz")[0] == 200)
        assert _ask(there, "/readyz")[0] == 200

        assert slash(there, "/prsummary", "101", inbox.url) == (200, "Looking at #101…")
        answer = eventually(lambda: inbox.messages and inbox.messages.pop())
        assert answer["response_type"] == "ephemeral"
        assert "retry.py" in json.dumps(answer) or "#101" in answer["text"]

        assert "names no pull request" in slash(there, "/prsummary", "x y", inbox.url)[1]
        assert slash(there, "/prsummary", "", inbox.url)[1].startswith("Ask for a pull request")
        assert slash(there, "/prsummary", "other/secret#1", inbox.url)[1] == "I only speak of octo/engine here."
        assert slash(there, "/prsummary", "999", inbox.url)[0] == 200
        answer = eventually(lambda: inbox.messages and inbox.messages.pop())
        assert answer["text"].startswith("octo/engine has no pull request #999. [")

        assert slash(there, "/prrisks", "", inbox.url)[0] == 200
        answer = eventually(lambda: inbox.messages and inbox.messages.pop())
        assert "Nothing stands out" in json.dumps(answer["blocks"])

        assert "is not over" in slash(there, "/prdigest", "today", inbox.url)[1]
        assert slash(there, "/prdigest", "", inbox.url)[0] == 200
        eventually(lambda: there.slack.files)
        there.digest()

        assert slash(there, "/prsummary", "101", inbox.url, secret="forged")[0] == 401


@pytest.mark.parametrize(
    ("name", "missing", "sentence"),
    [
        ("web", "SLACK_SIGNING_SECRET", "Set SLACK_SIGNING_SECRET"),
        ("web", "SLACK_BOT_TOKEN", "Set SLACK_BOT_TOKEN"),
        ("clock", "PRDIGEST_REPO", "Set PRDIGEST_REPO"),
        ("clock", "PRDIGEST_CHANNEL", "Set PRDIGEST_REPO to owner/name and PRDIGEST_CHANNEL"),
    ],
)
def test_a_process_without_a_setting_ends_with_a_sentence(
    name: str, missing: str, sentence: str, there: World, tmp_path: Path
) -> None:
    settings = environment(**{**there.settings, missing: ""})
    done = subprocess.run(
        command(name), env=settings, cwd=tmp_path, capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith(sentence)
