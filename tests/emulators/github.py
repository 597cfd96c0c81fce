"""A loopback GitHub: GraphQL, the REST calls of a digest, GitHub App tokens, rate limits and failures."""

from __future__ import annotations

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
from urllib.parse import urlencode

from tests.emulators.github_schema import GraphQL
from tests.emulators.github_store import (
    SEARCH_CAP,
    SITE,
    PullRecord,
    Repository,
    Search,
    Store,
    changed_file,
    instant,
    pull,
    read_replay,
    sha,
)
from tests.emulators.loopback import HangUp, Loopback, Request, Response

__all__ = ["GitHubEmulator", "PullRecord", "changed_file", "pull"]

FailureKind = Literal[
    "401", "404", "429", "429-bare", "500", "502",
    "graphql-rate-limited", "hang_up", "primary", "secondary", "timeout-502-html",
]  # fmt: skip

# "list pull request files" ends at 3,000 files; pages default to 30 items and hold at most 100
FILES_CAP = 3000
PAGE_SIZE = 30
PAGE_LIMIT = 100
# from this API version on, pull requests have no merge_commit_sha
VERSION_WITHOUT_MERGE_COMMIT = "2026-03-10"
LIMIT_MESSAGE = "API rate limit exceeded for user ID 1."
# calls per window in seconds: REST 5,000 an hour (60 without a token), search 30 a minute
LIMITS = {"core": (5000, 3600), "anonymous": (60, 3600), "graphql": (5000, 3600), "search": (30, 60)}


@dataclass
class Budget:
    """The calls left to one rate-limit resource."""

    limit: int
    window: int
    used: int = 0
    reset: float = 0.0

    def take(self, count: int) -> bool:
        """Count calls in the present window; False if it is used up."""
        if time.time() >= self.reset:
            self.used, self.reset = 0, time.time() + self.window
        allowed = count == 0 or self.used < self.limit
        self.used += count if allowed else 0
        return allowed

    def facts(self) -> dict[str, int]:
        left = self.limit - self.used
        return {"limit": self.limit, "used": self.used, "remaining": left, "reset": int(self.reset)}


@dataclass
class Fault:
    kind: str
    times: int
    match: str


@dataclass(frozen=True)
class Caller:
    """Who asks: by a token, as a GitHub App (a JSON web token), or nobody."""

    kind: Literal["token", "app", "nobody", "stranger"]


@dataclass(frozen=True)
class Page:
    """A REST page number and size; unusable values fall back to the defaults, as on GitHub."""

    number: int = 1
    size: int = PAGE_SIZE

    @classmethod
    def of(cls, query: dict[str, str]) -> Page:
        number, size = (query.get(name, "") for name in ("page", "per_page"))
        sized = int(size) if size.isdigit() and int(size) else PAGE_SIZE
        return cls(int(number) if number.isdigit() and int(number) else 1, min(sized, PAGE_LIMIT))

    def cut(self, items: list[Any]) -> list[Any]:
        return items[(self.number - 1) * self.size : self.number * self.size]

    def links(self, total: int) -> dict[str, int]:
        last = max(1, -(-total // self.size))
        earlier = {"prev": self.number - 1, "first": 1} if self.number > 1 else {}
        return earlier | ({"next": self.number + 1, "last": last} if self.number < last else {})


@dataclass
class State:
    """What changes while the emulator serves."""

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
        self.retry_after = 1
        self.search_hides: set[int] = set()
        self.calls: list[Request] = []
        self.store = Store()
        self._state = State({token})
        self._lock = threading.Lock()
        self._graphql = GraphQL(self.store, lambda: set(self.search_hides), self._graphql_rate_limit)

    # --- what a test sets up and looks at

    def add(self, repository: str, *pulls: PullRecord) -> None:
        """Add pull requests to a repository, made if new; a known number is replaced."""
        self.store.add(repository, pulls)

    def load_replay(self, directory: Path) -> None:
        """Add one recorded day: ``pulls.json`` and ``files/<number>.json``."""
        repository, pulls = read_replay(directory)
        self.add(repository, *pulls)

    def fail_next(self, kind: FailureKind, times: int = 1, match: str = "") -> None:
        """Fail the next calls whose path contains ``match``."""
        if kind not in get_args(FailureKind):
            raise ValueError(f"no such failure: {kind}")
        with self._lock:
            self._state.faults.append(Fault(kind, times, match))

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
        answer = self._failure(fault) if fault else self._answer(request, caller)
        return self._with_limits(request, caller, answer)

    def _next_fault(self, path: str) -> str | None:
        for fault in self._state.faults:
            if fault.times > 0 and fault.match in path:
                fault.times -= 1
                return fault.kind
        return None

    def _failure(self, kind: str) -> Response:
        if kind == "hang_up":
            raise HangUp
        wait = {"Retry-After": str(self.retry_after)}
        reset = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(time.time()) + self.retry_after)}
        secondary = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
        answers = {
            "401": _problem(401, "Bad credentials"),
            "404": _problem(404, "Not Found"),
            "429": _problem(429, secondary, wait),
            "429-bare": _problem(429, secondary),
            "500": _problem(500, "Server Error"),
            "502": _problem(502, "Server Error"),
            "graphql-rate-limited": Response.of_json(
                {"errors": [{"type": "RATE_LIMITED", "message": LIMIT_MESSAGE}]}, headers=reset
            ),
            "primary": _problem(403, LIMIT_MESSAGE, reset),
            "secondary": _problem(403, secondary, wait),
            "timeout-502-html": Response(502, b"<html><h1>Unicorn!</h1></html>", {"Content-Type": "text/html"}),
        }
        return answers[kind]

    def _answer(self, request: Request, caller: Caller) -> Response:
        nobody_may = self.anonymous and request.path != "/graphql"
        if caller.kind == "stranger" or (caller.kind == "nobody" and not nobody_may):
            return _problem(401, "Bad credentials")
        with self._lock:
            counted = 0 if request.path == "/rate_limit" else 1
            if not self._budget(request, caller)[1].take(counted):
                return _problem(403, LIMIT_MESSAGE)
        for method, pattern, action in self._routes(caller):
            found = re.fullmatch(pattern, request.path)
            if found and method == request.method:
                return action(request, *found.groups())
        return _problem(404, "Not Found")

    def _routes(self, caller: Caller) -> list[tuple[str, str, Callable[..., Response]]]:
        repo = r"/repos/([^/]+/[^/]+)"
        if caller.kind == "app":
            return [
                ("GET", "/app", self._app),
                ("POST", r"/app/installations/(\d+)/access_tokens", self._installation_token),
                ("GET", rf"{repo}/installation", self._installation),
            ]
        return [
            ("POST", "/graphql", lambda request: Response.of_json(self._graphql.answer(request.json() or {}))),
            ("GET", repo, self._repository),
            ("GET", rf"{repo}/pulls/(\d+)", self._pull),
            ("GET", rf"{repo}/pulls/(\d+)/files", self._files),
            ("GET", "/search/issues", self._search),
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

    def _with_limits(self, request: Request, caller: Caller, answer: Response) -> Response:
        with self._lock:
            name, budget = self._budget(request, caller)
            if answer.status == 304:
                budget.used = max(0, budget.used - 1)
            budget.take(0)
            facts = {f"X-RateLimit-{key.capitalize()}": str(value) for key, value in budget.facts().items()}
        return replace(answer, headers={**facts, "X-RateLimit-Resource": name, **answer.headers})

    def _graphql_rate_limit(self) -> dict[str, Any]:
        with self._lock:
            facts = self._state.budgets["graphql"].facts()
        return {**facts, "cost": 1, "resetAt": instant(datetime.fromtimestamp(facts["reset"], UTC))}

    def _rate_limit(self, _request: Request) -> Response:
        with self._lock:
            for budget in self._state.budgets.values():
                budget.take(0)
            found = {name: budget.facts() for name, budget in self._state.budgets.items() if name != "anonymous"}
        return Response.of_json({"resources": found, "rate": found["core"]})

    # --- GitHub App

    def _app(self, _request: Request) -> Response:
        return Response.of_json({"id": 1, "slug": "digest", "name": "Digest", "owner": _user("octocat")})

    def _installation(self, _request: Request, name: str) -> Response:
        if self.store.find(name) is None:
            return _problem(404, "Not Found")
        return Response.of_json({"id": 1, "app_id": 1, "account": _user(name.partition("/")[0])})

    def _installation_token(self, _request: Request, _installation: str) -> Response:
        token = f"ghs_{secrets.token_hex(18)}"
        with self._lock:
            self._state.tokens.add(token)
        # an installation token lasts one hour
        expires = instant(datetime.now(UTC) + timedelta(hours=1))
        rights = {"contents": "read", "metadata": "read", "pull_requests": "read"}
        return Response.of_json({"token": token, "expires_at": expires, "permissions": rights}, 201)

    # --- REST

    def _repository(self, _request: Request, name: str) -> Response:
        found = self.store.find(name)
        return Response.of_json(self._repository_json(found)) if found else _problem(404, "Not Found")

    def _record(self, name: str, number: str) -> tuple[Repository, PullRecord] | None:
        place = self.store.find(name)
        record = place.pulls.get(int(number)) if place else None
        return (place, record) if place and record else None

    def _pull(self, request: Request, name: str, number: str) -> Response:
        found = self._record(name, number)
        if found is None:
            return _problem(404, "Not Found")
        value = self._pull_json(*found)
        if request.headers.get("x-github-api-version", "") >= VERSION_WITHOUT_MERGE_COMMIT:
            del value["merge_commit_sha"]
        return Response.of_json(value)

    def _files(self, request: Request, name: str, number: str) -> Response:
        found = self._record(name, number)
        if found is None:
            return _problem(404, "Not Found")
        files, page = list(found[1].files[:FILES_CAP]), Page.of(request.query)
        shown = page.cut(files)
        tag = f'W/"{sha(json.dumps(shown))}"'
        if request.headers.get("if-none-match") == tag:
            return Response(304, headers={"ETag": tag})
        return Response.of_json(shown, headers={"ETag": tag, **self._link(request, page, len(files))})

    def _search(self, request: Request) -> Response:
        asked = Search.of(request.query.get("q", ""))
        if not asked.names_kind:
            return _problem(422, "Query must include 'is:issue' or 'is:pull-request'")
        if any(self.store.find(name) is None for name in asked.values("repo")):
            return _problem(422, "Validation Failed")
        try:
            found = asked.run(self.store, self.search_hides)
        except ValueError as error:  # an unknown qualifier or a date that is none
            return _problem(422, str(error))
        page = Page.of(request.query)
        if (page.number - 1) * page.size >= SEARCH_CAP:
            return _problem(422, "Only the first 1000 search results are available")
        items = [self._issue_json(*row) for row in page.cut(found[:SEARCH_CAP])]
        body = {"total_count": len(found), "incomplete_results": False, "items": items}
        return Response.of_json(body, headers=self._link(request, page, min(len(found), SEARCH_CAP)))

    def _link(self, request: Request, page: Page, total: int) -> dict[str, str]:
        """The Link header, with this emulator's own host and port: clients refuse any other."""
        links = [
            f'<{self.url}{request.path}?{urlencode({**request.query, "page": number})}>; rel="{name}"'
            for name, number in page.links(total).items()
        ]
        return {"Link": ", ".join(links)} if links else {}

    # --- REST shapes

    def _repository_json(self, place: Repository) -> dict[str, Any]:
        owner, name = place.name.split("/")
        address = {"url": f"{self.url}/repos/{place.name}", "html_url": place.url}
        facts = {"id": int(sha(place.name)[:7], 16), "name": name, "full_name": place.name, "private": False}
        return {**facts, **address, "owner": _user(owner), "default_branch": place.default_branch}

    def _issue_json(self, place: Repository, item: PullRecord) -> dict[str, Any]:
        """What issues and pull requests have in common, as search results show it."""
        api, page = f"{self.url}/repos/{place.name}", f"{place.url}/pull/{item.number}"
        merged = instant(item.merged_at)
        return {
            "id": int(sha(f"{place.name}{item.number}")[:7], 16),
            "number": item.number,
            "title": item.title,
            "body": item.body,
            "state": "open" if item.state == "OPEN" else "closed",
            "user": _user(item.author or "ghost", is_bot=item.author_is_bot),
            "labels": [{"name": name, "color": "ededed"} for name in item.labels],
            "url": f"{api}/issues/{item.number}",
            "html_url": page,
            "repository_url": api,
            "created_at": instant(item.created_at),
            "updated_at": instant(item.updated_at),
            "closed_at": instant(item.closed_at),
            "draft": False,
            "pull_request": {"url": f"{api}/pulls/{item.number}", "html_url": page, "merged_at": merged},
        }

    def _pull_json(self, place: Repository, item: PullRecord) -> dict[str, Any]:
        common = self._issue_json(place, item)
        del common["pull_request"], common["repository_url"]
        repo = self._repository_json(place)
        return {
            **common,
            "url": f"{self.url}/repos/{place.name}/pulls/{item.number}",
            "issue_url": common["url"],
            "merged": item.state == "MERGED",
            "merged_at": instant(item.merged_at),
            "merged_by": _user(item.merged_by) if item.merged_by else None,
            "merge_commit_sha": item.merge_commit_sha,
            "base": {"ref": item.base_ref, "sha": item.base_sha, "repo": repo},
            "head": {"ref": f"topic-{item.number}", "sha": item.head_sha, "repo": repo},
            "additions": item.additions,
            "deletions": item.deletions,
            "changed_files": item.changed_files,
        }


def _problem(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    return Response.of_json({"message": message, "status": str(status)}, status, headers)


def _user(login: str, *, is_bot: bool = False) -> dict[str, Any]:
    """An account as REST shows it: bots end in ``[bot]``, and a deleted account is the user ``ghost``."""
    name = login.removesuffix("[bot]")
    is_bot = is_bot or name != login
    kind = {"login": f"{name}[bot]", "type": "Bot"} if is_bot else {"login": name, "type": "User"}
    return {**kind, "id": int(sha(name)[:7], 16), "html_url": f"{SITE}/{'apps/' if is_bot else ''}{name}"}


def _is_json_web_token(text: str) -> bool:
    """Whether a text is three base64url parts of which the first two are JSON; no signature is checked."""
    parts = text.split(".")
    try:
        decoded = [base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in parts[:2]]
        return len(parts) == 3 and all(isinstance(json.loads(part), dict) for part in decoded)
    except (binascii.Error, ValueError):
        return False
