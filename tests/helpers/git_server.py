"""A GitHub for git: real repositories over HTTP, by ``git http-backend``, for all who have the token."""

import base64
import os
import ssl
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from localslack.loopback import Loopback, Request, Response

from impact.testing.clones import ENVIRONMENT
from tests.emulators.github.server import GitHubEmulator

TOKEN = "ghp_secretofthetests"
_HEADER_END = b"\r\n\r\n"


@dataclass(frozen=True)
class Call:
    """A call as the server saw it: ``token`` is empty without one."""

    path: str
    query: str
    token: str


class GitServer(Loopback):
    """Serves the bare repositories below ``root``.

    ``token`` is empty for public ones. While ``stalled`` is not set, answers with objects never come.
    ``location`` sends everybody on to another address. With a ``certificate`` it speaks TLS.
    """

    def __init__(self, root: Path, token: str = TOKEN, certificate: Path | None = None) -> None:
        super().__init__()
        self._certificate = certificate
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.root = root
        self.token = token
        self.calls: list[Call] = []
        self.goes_on = threading.Event()
        self.goes_on.set()
        self.has_stalled = threading.Event()
        self.location = ""

    @property
    def url(self) -> str:
        return super().url.replace("http:", "https:") if self._certificate else super().url

    @property
    def fetches(self) -> int:
        """How many times objects or refs were asked for first."""
        return sum(call.path.endswith("/info/refs") for call in self.calls)

    def handle(self, request: Request) -> Response:
        token = _read_token(request.headers.get("authorization", ""))
        query = "&".join(f"{name}={value}" for name, value in request.query.items())
        self.calls.append(Call(request.path, query, token))
        if self.location:
            return Response(302, headers={"Location": f"{self.location}{request.path}?{query}"})
        if token != self.token:
            return Response(401, b"Repository not found.", {"WWW-Authenticate": 'Basic realm="GitHub"'})
        answer = self._run_backend(request, query)
        if b"command=fetch" in request.body and not self.goes_on.is_set():
            return Response(200, headers=answer.headers, chunks=self._stall(answer.body))
        return answer

    def _stall(self, body: bytes) -> Iterator[bytes]:
        yield body[:20]
        self.has_stalled.set()
        self.goes_on.wait(60)

    def _run_backend(self, request: Request, query: str) -> Response:
        variables = {
            **ENVIRONMENT,
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": request.method,
            "PATH_INFO": request.path.lower(),
            "QUERY_STRING": query,
            "CONTENT_TYPE": request.headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(request.body)),
            "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""),
            "GIT_PROTOCOL": request.headers.get("git-protocol", ""),
            "PATH": os.environ["PATH"],
        }
        line = ["git", "http-backend"]
        done = subprocess.run(line, input=request.body, env=variables, capture_output=True, check=False)
        head, _, body = done.stdout.partition(_HEADER_END)
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines() if ": " in line)
        return Response(int(headers.pop("Status", "200").split()[0]), body, headers)


class Enterprise(GitServer):
    """A GitHub of one's own: its API and its repositories are at one address."""

    github: GitHubEmulator | None = None

    def handle(self, request: Request) -> Response:
        for prefix, path in (("/api/v3", ""), ("/api/graphql", "/graphql")):
            if self.github and request.path.startswith(prefix):
                return self.github.handle(replace(request, path=path + request.path.removeprefix(prefix)))
        return super().handle(request)


def _read_token(header: str) -> str:
    kind, _, value = header.partition(" ")
    if kind != "Basic":
        return header
    user, _, token = base64.b64decode(value).decode().partition(":")
    return token if user == "x-access-token" else f"{user}:{token}"
