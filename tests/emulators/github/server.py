"""A loopback GitHub: GraphQL, the REST calls of a digest, GitHub App tokens, rate limits and failures.

What it knows is in ``github_store``, its endpoints in ``github_graphql`` and ``github_rest``, the ways in which
it fails in ``github_faults``; here are the server, who asks it and how often.
"""

import base64
import binascii
import json
import re
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, get_args

from localslack.loopback import Loopback, Request, Response

from tests.emulators.github.contents import Contents
from tests.emulators.github.documents import bare_json, problem, user
from tests.emulators.github.faults import FailureKind, Fault, failure
from tests.emulators.github.graphql import GraphQL
from tests.emulators.github.limits import LIMIT_MESSAGE, LIMITS, Budget
from tests.emulators.github.rest import Rest
from tests.emulators.github.store import (
    IssueRecord,
    PullRecord,
    ReleaseRecord,
    Store,
    TagRecord,
    changed_file,
    instant,
    pull,
    read_replay,
)
from tests.emulators.github.trees import TreeCommit

__all__ = ["FailureKind", "GitHubEmulator", "IssueRecord", "PullRecord", "changed_file", "pull"]


@dataclass(frozen=True)
class Caller:
    """Who asks: by a token, as a GitHub App (a JSON web token), or nobody."""

    kind: Literal["token", "app", "nobody", "stranger"]


@dataclass
class State:
    tokens: set[str]
    faults: list[Fault] = field(default_factory=list)
    budgets: dict[str, Budget] = field(
        default_factory=lambda: {name: Budget(*limit) for name, limit in LIMITS.items()}
    )


class GitHubEmulator(Loopback):
    """GitHub on 127.0.0.1. ``calls`` has every request; ``latency`` is seconds added to each answer.

    ``search_hides`` are numbers the search index does not have yet. ``retry_after`` is the seconds named by
    scripted limits: the Retry-After header, and the distance to the reset for "primary".
    """

    def __init__(self, token: str = "ghp_test", *, anonymous: bool = False) -> None:  # noqa: S107 (opens nothing)
        super().__init__()
        self.token = token
        self.anonymous = anonymous
        self.latency = 0.0
        self.retry_after: int | str = 1
        self.search_hides: set[int] = set()
        self.calls: list[Request] = []
        self.store = Store()
        self._state = State({token})
        self._lock = threading.Lock()
        self._rest = Rest(self.store, self.url, lambda: set(self.search_hides))
        self._contents = Contents(self.store, self.url)
        self._odd: dict[int, Any] = {}
        self._graphql = GraphQL(self.store, lambda: set(self.search_hides), self._graphql_rate_limit, self._odd)

    # --- what a test sets up and looks at

    def add(self, repository: str, *pulls: PullRecord) -> None:
        """Add pull requests to a repository, made if new; a known number is replaced."""
        self.store.add(repository, pulls)

    def add_commit(self, repository: str, commit: TreeCommit) -> None:
        """Add a commit with its files, so that they can be asked for; the repository is made if new."""
        self.store.add_commit(repository, commit)

    def add_releases(self, repository: str, *releases: ReleaseRecord) -> None:
        self.store.add_releases(repository, releases)

    def add_tags(self, repository: str, *tags: TagRecord) -> None:
        self.store.add_tags(repository, tags)

    def load_replay(self, directory: Path) -> None:
        """Add one recorded day: ``pulls.json`` and ``files/<number>.json``."""
        repository, pulls = read_replay(directory)
        self.add(repository, *pulls)

    def spoil(self, number: int, node: Any) -> None:
        """Answer GraphQL with these values of a pull request's fields, or with this in its place, right or not.

        A text made by ``bare`` is sent without quotation marks: what Python itself can't write as JSON.
        """
        self._odd[number] = node

    def fail_next(self, kind: FailureKind, times: int = 1, match: str = "") -> None:
        if kind not in get_args(FailureKind):
            raise ValueError(f"no such failure: {kind}")
        with self._lock:
            self._state.faults.append(Fault(kind, times, match))

    def end_failures(self) -> None:
        with self._lock:
            self._state.faults.clear()

    def calls_to(self, prefix: str) -> list[Request]:
        with self._lock:
            return [call for call in self.calls if call.path.startswith(prefix)]

    def set_limit(self, resource: str, calls: int) -> None:
        """Calls per window of "core", "anonymous", "graphql" or "search"; when used up, answers are 403."""
        with self._lock:
            self._state.budgets[resource] = Budget(calls, LIMITS[resource][1])

    # --- serving

    def handle(self, request: Request) -> Response:
        with self._lock:
            self.calls.append(request)
            fault = self._next_fault(request.path)
        time.sleep(self.latency)
        caller = self._caller(request)
        answer = failure(fault, self.retry_after) if fault else self._answer(request, caller)
        with self._lock:
            name, budget = self._budget(request, caller)
            if answer.status == 304:
                budget.used = max(0, budget.used - 1)
            budget.take(0)
            facts = {f"X-RateLimit-{key.capitalize()}": str(value) for key, value in budget.facts().items()}
        return replace(answer, headers={**facts, "X-RateLimit-Resource": name, **answer.headers})

    def _next_fault(self, path: str) -> str | None:
        for fault in self._state.faults:
            if fault.times > 0 and fault.match in path:
                fault.times -= 1
                return fault.kind
        return None

    def _answer(self, request: Request, caller: Caller) -> Response:
        nobody_may = self.anonymous and request.path != "/graphql"
        if caller.kind == "stranger" or (caller.kind == "nobody" and not nobody_may):
            return problem(401, "Bad credentials")
        with self._lock:
            counted = 0 if request.path == "/rate_limit" else 1
            if not self._budget(request, caller)[1].take(counted):
                return problem(403, LIMIT_MESSAGE)
        if (moved := self._find_new_address(request.path)) is not None:
            return Response(301, b"{}", {"Location": f"{self.url}{moved}", "Content-Type": "application/json"})
        for method, pattern, action in self._routes(caller):
            match = re.fullmatch(pattern, request.path)
            if match and method == request.method:
                return action(request, *match.groups())
        return problem(404, "Not Found")

    def _find_new_address(self, path: str) -> str | None:
        named = re.match(r"/repos/([^/]+/[^/]+)", path)
        place = self.store.find(named[1]) if named else None
        is_moved = named and place and place.name.lower() != named[1].lower()
        return path.replace(named[1], place.name, 1) if named and place and is_moved else None

    def _routes(self, caller: Caller) -> list[tuple[str, str, Callable[..., Response]]]:
        repo = r"/repos/([^/]+/[^/]+)"
        if caller.kind == "app":
            return [
                ("GET", "/app", self._app),
                ("POST", r"/app/installations/(\d+)/access_tokens", self._installation_token),
                ("GET", rf"{repo}/installation", self._installation),
            ]
        return [
            ("POST", "/graphql", lambda request: bare_json(self._graphql.answer(request.json() or {}))),
            ("GET", repo, self._rest.repository),
            ("GET", rf"{repo}/pulls/(\d+)", self._rest.pull),
            ("GET", rf"{repo}/pulls/(\d+)/files", self._rest.files),
            ("PATCH", rf"{repo}/pulls/(\d+)", self._contents.update),
            ("GET", rf"{repo}/pulls/(\d+)/commits", self._contents.commits),
            ("GET", rf"{repo}/commits/([^/]+)", self._contents.commit),
            ("GET", rf"{repo}/branches/([^/]+)", self._contents.branch),
            ("GET", rf"{repo}/compare/([^/]+)\.\.\.([0-9a-f]+)", self._contents.compare),
            ("GET", rf"{repo}/contents/(.+)", self._contents.file),
            ("GET", rf"{repo}/languages", self._contents.languages),
            ("POST", rf"{repo}/issues/(\d+)/comments", self._contents.comment),
            ("PATCH", rf"{repo}/issues/comments/(\d+)", self._contents.edit_comment),
            ("DELETE", rf"{repo}/issues/comments/(\d+)", self._contents.delete_comment),
            ("GET", rf"{repo}/git/trees/([0-9a-f]+)", self._rest.tree),
            ("GET", "/search/issues", self._rest.search),
            ("GET", "/rate_limit", self._rate_limit),
        ]

    # --- who asks, and how often

    def _caller(self, request: Request) -> Caller:
        scheme, _, secret = request.headers.get("authorization", "").partition(" ")
        if not scheme:
            return Caller("nobody")
        if scheme.lower() == "bearer" and _is_json_web_token(secret):
            return Caller("app")
        known = scheme.lower() in {"token", "bearer"} and secret in self._state.tokens
        return Caller("token" if known else "stranger")

    def _budget(self, request: Request, caller: Caller) -> tuple[str, Budget]:
        name = {"/graphql": "graphql", "/search/issues": "search"}.get(request.path, "core")
        key = "anonymous" if name == "core" and caller.kind == "nobody" else name
        return name, self._state.budgets[key]

    def _graphql_rate_limit(self) -> dict[str, Any]:
        with self._lock:
            facts = self._state.budgets["graphql"].facts()
        return {**facts, "cost": 1, "resetAt": instant(datetime.fromtimestamp(facts["reset"], UTC))}

    def _rate_limit(self, _request: Request) -> Response:
        with self._lock:
            for budget in self._state.budgets.values():
                budget.take(0)
            resources = {
                name: budget.facts() for name, budget in self._state.budgets.items() if name != "anonymous"
            }
        return Response.of_json({"resources": resources, "rate": resources["core"]})

    # --- GitHub App

    def _app(self, _request: Request) -> Response:
        return Response.of_json({"id": 1, "slug": "digest", "name": "Digest", "owner": user("octocat")})

    def _installation(self, _request: Request, name: str) -> Response:
        if self.store.find(name) is None:
            return problem(404, "Not Found")
        return Response.of_json({"id": 1, "app_id": 1, "account": user(name.partition("/")[0])})

    def _installation_token(self, _request: Request, _installation: str) -> Response:
        token = f"ghs_{secrets.token_hex(18)}"
        with self._lock:
            self._state.tokens.add(token)
        # an installation token lasts one hour
        expires = instant(datetime.now(UTC) + timedelta(hours=1))
        rights = {"contents": "read", "metadata": "read", "pull_requests": "read"}
        return Response.of_json({"token": token, "expires_at": expires, "permissions": rights}, 201)


class EnterpriseEmulator(GitHubEmulator):
    """GitHub Enterprise Server on 127.0.0.1: its interfaces are below ``/api`` and its pages on the same host."""

    @property
    def web(self) -> str:
        return super().url

    @property
    def url(self) -> str:
        return f"{self.web}/api/v3"

    def handle(self, request: Request) -> Response:
        for prefix in ("/api/v3", "/api"):
            inner = request.path.removeprefix(prefix)
            if inner != request.path and (inner == "/graphql") == (prefix == "/api"):
                return super().handle(replace(request, path=inner))
        return problem(404, "Not Found")


def _is_json_web_token(text: str) -> bool:
    """Whether a text is three base64url parts of which the first two are JSON; no signature is checked."""
    parts = text.split(".")
    try:
        decoded = [base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in parts[:2]]
        return len(parts) == 3 and all(isinstance(json.loads(part), dict) for part in decoded)
    except (binascii.Error, ValueError):
        return False
