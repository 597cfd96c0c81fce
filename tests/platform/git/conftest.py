from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.platform.git.mirror import GitMirror, MirrorLimits
from bot.platform.git.reading import MirrorReader
from impact.repository import Repository
from impact.testing.clones import Builder, building, git
from tests.helpers.git_server import TOKEN, GitServer

ANY = MirrorLimits()
ENGINE = Repository("Octo", "Engine")


@dataclass
class MirrorSetup:
    server: GitServer
    source: Path
    root: Path
    token: str = TOKEN
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    present_names: dict[Repository, Repository] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return self.root / "octo" / "engine.git"

    def mirror(self, limits: MirrorLimits = ANY, program: str = "git") -> GitMirror:
        now, names = lambda: self.now, self.present_names
        return GitMirror(self.root, self.server.url, lambda: self.token, now, limits, program, names)

    def update(self, limits: MirrorLimits = ANY) -> None:
        """Updates an hour after the last time, so that nothing is too fresh or failed too recently."""
        self.now += timedelta(hours=1)
        self.mirror(limits).update(ENGINE)

    @property
    def files(self) -> MirrorReader:
        return MirrorReader(self.root)

    @property
    def search(self) -> MirrorReader:
        return MirrorReader(self.root)

    def commit(self, message: str, files: dict[str, bytes | None]) -> str:
        """Adds a commit to the repository on the server; gives its id."""
        line = ["update-ref", "refs/heads/main"]
        for path, content in files.items():
            (self.source.parent / "content").write_bytes(content or b"")
            blob = git(self.source, "hash-object", "-w", str(self.source.parent / "content"))
            git(self.source, "read-tree", "main")
            git(self.source, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")
        tree = git(self.source, "write-tree")
        identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        sha = git(self.source, *identity, "commit-tree", "-p", "main", "-m", message, tree)
        git(self.source, *line, sha)
        return sha

    @property
    def head(self) -> str:
        return git(self.source, "rev-parse", "main")


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[[Callable[[Builder], object]], MirrorSetup]]:
    servers: list[GitServer] = []

    def start(build: Callable[[Builder], object]) -> MirrorSetup:
        with building(tmp_path / "made") as builder:
            build(builder)
        source = tmp_path / "served" / "octo" / "engine.git"
        git(tmp_path, "clone", "-q", "--bare", str(tmp_path / "made"), str(source))
        servers.append(GitServer(tmp_path / "served").__enter__())
        return MirrorSetup(servers[-1], source, tmp_path / "mirrors")

    yield start
    for server in servers:
        server.goes_on.set()
        server.__exit__(None, None, None)


@pytest.fixture
def setup(serve: Callable[[Callable[[Builder], object]], MirrorSetup]) -> MirrorSetup:
    def build(builder: Builder) -> None:
        builder.commit("Begin (#1)", {"a.py": b"retries = 1\n"})
        builder.commit("Count (#2)", {"a.py": b"retries = 2\n", "deep/b.py": b"import a\n"})

    return serve(build)
