"""What several tests of the adapters need: a GitHub whose answers can be changed, and small helpers."""

import json
import sys
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from github import Auth
from localslack.loopback import Loopback, Request, Response

from bot.platform.github.client import GitHubClient
from bot.platform.github.pulls import GitHubPullRequests
from tests.emulators.github.server import GitHubEmulator
from tests.helpers.builders import DAY

PYTHON = sys.executable
REPO = "octo/engine"
# the morning after the day, and a time when the day is long past
MORNING = DAY.end + timedelta(hours=6)
LONG_AFTER = DAY.end + timedelta(days=30)


class ScriptedGitHub(GitHubEmulator):
    """``after`` gets each GraphQL answer with its number, from 1, and may change the answer or the world."""

    def __init__(self) -> None:
        super().__init__()
        self.after: Callable[[int, dict[str, Any]], None] | None = None
        self._answered = 0

    def handle(self, request: Request) -> Response:
        answer = super().handle(request)
        if request.path != "/graphql" or self.after is None:
            return answer
        self._answered += 1
        body = json.loads(answer.body)
        self.after(self._answered, body)
        return Response.of_json(body, answer.status)

    @property
    def queries(self) -> int:
        return len(self.calls_to("/graphql"))

    def pulls(self, now: datetime = MORNING, token: str = "ghp_test") -> GitHubPullRequests:  # noqa: S107
        return GitHubPullRequests(GitHubClient(self.url, Auth.Token(token)), lambda: now)


class WebPage(Loopback):
    """What a proxy or a captive portal answers: a page instead of the service's JSON."""

    def __init__(self, status: int = 200) -> None:
        super().__init__()
        self.status = status
        self.asked: list[Request] = []

    def handle(self, request: Request) -> Response:
        self.asked.append(request)
        return Response(self.status, b"<html>Sign in. Then go on.</html>", {"Content-Type": "text/html"})


class Garbage(Loopback):
    """Answers every request with the same bytes, as JSON and with success."""

    def __init__(self, body: bytes) -> None:
        super().__init__()
        self._body = body

    def handle(self, request: Request) -> Response:
        return Response(200, self._body, {"Content-Type": "application/json"})


class Moved(Loopback):
    def __init__(self, status: int, target: str) -> None:
        super().__init__()
        self._status = status
        self._target = target

    def handle(self, request: Request) -> Response:
        return Response(self._status, headers={"Location": f"{self._target}{request.path}"})


def within(seconds: float, act: Callable[[], Any]) -> Any:
    """What ``act`` returns or raises; a failure where it takes longer. It then goes on behind the scenes."""
    outcomes: list[Any] = []

    def run() -> None:
        try:
            outcomes.append(act())
        except Exception as error:
            outcomes.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert outcomes, f"still waiting after {seconds} seconds"
    return outcomes[0]
