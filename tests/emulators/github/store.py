from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.emulators.github.trees import TreeCommit

SITE = "https://github.com"
DEFAULT_MOMENT = datetime(2026, 1, 15, 18, 0, tzinfo=UTC)
# GitHub returns only the first 1,000 results of any search
SEARCH_CAP = 1000

_TERM = re.compile(r'(?:[^\s"]|"[^"]*")+')
_EARLIEST = datetime.min.replace(tzinfo=UTC)
_LATEST = datetime.max.replace(tzinfo=UTC)


def sha(text: str) -> str:
    """A stable 40-digit object id for a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:40]


def instant(value: datetime | None) -> str | None:
    """An instant as GitHub writes it: UTC, whole seconds."""
    return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if value else None


def moment(text: str) -> datetime:
    """An ISO instant; without a zone it is UTC."""
    value = datetime.fromisoformat(text)
    return value if value.tzinfo else value.replace(tzinfo=UTC)


@dataclass(frozen=True)
class IssueRecord:
    """One issue; ``repository`` is None for that of the pull request that closes it."""

    number: int
    title: str
    repository: str | None = None
    body: str = ""
    author: str | None = "reporter"
    association: str = "NONE"
    is_open: bool = False


@dataclass(frozen=True)
class RemarkRecord:
    """A comment, a review or a remark of a thread. ``state`` is that of a review; ``author`` None was deleted."""

    id: int
    body: str = ""
    author: str | None = "octocat"
    association: str = "NONE"
    created_at: datetime = DEFAULT_MOMENT
    state: str = "COMMENTED"
    is_minimized: bool = False


@dataclass(frozen=True)
class ThreadRecord:
    path: str
    remarks: tuple[RemarkRecord, ...]
    is_resolved: bool = False


@dataclass(frozen=True)
class PullRecord:
    """One pull request. ``author`` None is a deleted account; ``files`` are items of the REST "files" call."""

    number: int
    title: str = "Change the thing"
    body: str | None = ""
    author: str | None = "octocat"
    merged_by: str | None = "maintainer"
    merged_at: datetime | None = DEFAULT_MOMENT
    updated_at: datetime = DEFAULT_MOMENT
    created_at: datetime = DEFAULT_MOMENT - timedelta(days=1)
    state: str = "MERGED"
    is_draft: bool = False
    merge_commit_sha: str | None = None
    base_ref: str = "main"
    base_sha: str = sha("base")
    head_sha: str = sha("head")
    additions: int = 0
    deletions: int = 0
    changed_files: int = 0
    labels: tuple[str, ...] = ()
    author_is_bot: bool = False
    files: tuple[dict[str, Any], ...] = ()
    closes: tuple[IssueRecord, ...] = ()
    comments: tuple[RemarkRecord, ...] = ()
    reviews: tuple[RemarkRecord, ...] = ()
    threads: tuple[ThreadRecord, ...] = ()
    commit_message: str | None = None  # None is what GitHub proposes for a squash

    @property
    def closed_at(self) -> datetime | None:
        return None if self.state == "OPEN" else self.merged_at or self.updated_at


def changed_file(filename: str, patch: str | None = "@@ -1 +1 @@\n-old\n+new", **overrides: Any) -> dict[str, Any]:
    """One item of the REST "files" call; counts follow the patch, and ``patch=None`` leaves the patch out."""
    lines = (patch or "").splitlines()
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    item = {"sha": sha(filename), "filename": filename, "status": "modified", "additions": added}
    item |= {"deletions": removed, "changes": added + removed}
    return {**item, **({} if patch is None else {"patch": patch}), **overrides}


def pull(number: int, **overrides: Any) -> PullRecord:
    """A merged pull request with one changed file; counts and dates follow ``files`` and ``merged_at``.

    Any other ``state`` has no merge; ``updated_at`` is ``merged_at`` unless given.
    """
    merged = overrides.get("state", "MERGED") == "MERGED"
    at = overrides.get("merged_at", DEFAULT_MOMENT) if merged else None
    files = tuple(overrides.get("files", [changed_file(f"src/part_{number}.py")]))
    values: dict[str, Any] = {
        "title": f"Change part {number}",
        "merged_at": at,
        "merged_by": "maintainer" if merged else None,
        "merge_commit_sha": sha(f"merge {number}") if merged else None,
        "updated_at": at or DEFAULT_MOMENT,
        "created_at": (at or DEFAULT_MOMENT) - timedelta(days=1),
        "base_sha": sha(f"base {number}"),
        "head_sha": sha(f"head {number}"),
        "additions": sum(item["additions"] for item in files),
        "deletions": sum(item["deletions"] for item in files),
        "changed_files": len(files),
    }
    return PullRecord(number, **{**values, **overrides, "files": files})


@dataclass(frozen=True)
class ReleaseRecord:
    tag: str
    published_at: datetime | None = DEFAULT_MOMENT
    is_prerelease: bool = False


@dataclass(frozen=True)
class TagRecord:
    """A tag: after ``merge``, and after ``own`` commits of a release branch. An annotated one is an object."""

    name: str
    merge: str
    at: datetime = DEFAULT_MOMENT
    is_annotated: bool = False
    own: int = 0


@dataclass
class Repository:
    """One repository, its pull requests by number, its releases, and those commits whose files are known."""

    name: str
    default_branch: str = "main"
    pulls: dict[int, PullRecord] = field(default_factory=dict)
    commits: dict[str, TreeCommit] = field(default_factory=dict)
    releases: tuple[ReleaseRecord, ...] = ()
    tags: tuple[TagRecord, ...] = ()
    id: str = ""
    is_archived: bool = False
    is_private: bool = False

    @property
    def url(self) -> str:
        return f"{SITE}/{self.name}"

    def records(self) -> list[PullRecord]:
        return list(self.pulls.values())

    def list_landed_merges(self) -> list[PullRecord]:
        """Merges into the default branch, newest first: the branch's history."""
        merges = [item for item in self.records() if item.merged_at and item.base_ref == self.default_branch]
        return sorted(merges, key=lambda item: (item.merged_at or _EARLIEST, item.number), reverse=True)


class Store:
    """The repositories of one emulator; names are found whatever their case, as on GitHub."""

    def __init__(self) -> None:
        self._repositories: dict[str, Repository] = {}
        self.renames: dict[str, str] = {}
        # what the token may not read (any more): GitHub answers as for what does not exist
        self.private: set[str] = set()
        self._lock = threading.Lock()

    def add(self, name: str, pulls: Iterable[PullRecord]) -> None:
        """Add pull requests to a repository, made if new; a known number is replaced."""
        with self._lock:
            repository = self._repositories.setdefault(name.lower(), Repository(name))
            repository.pulls = {**repository.pulls, **{item.number: item for item in pulls}}

    def add_commit(self, name: str, commit: TreeCommit) -> None:
        self.add(name, ())
        with self._lock:
            repository = self._repositories[name.lower()]
            repository.commits = {**repository.commits, commit.oid: commit}

    def add_releases(self, name: str, releases: Iterable[ReleaseRecord]) -> None:
        self.add(name, ())
        with self._lock:
            repository = self._repositories[name.lower()]
            repository.releases = (*repository.releases, *releases)

    def add_tags(self, name: str, tags: Iterable[TagRecord]) -> None:
        self.add(name, ())
        with self._lock:
            repository = self._repositories[name.lower()]
            repository.tags = (*repository.tags, *tags)

    def rename(self, before: str, now: str) -> None:
        """Give a repository another name; GitHub goes on to know it by the earlier one."""
        with self._lock:
            renamed = self._repositories.pop(before.lower())
            self.renames = {name: now if to == before else to for name, to in self.renames.items()}
            renamed.id = renamed.id or f"R_{sha(renamed.name)[:12]}"
            renamed.name = now
            self._repositories[now.lower()] = renamed
            self.renames[before.lower()] = now

    def find(self, name: str) -> Repository | None:
        with self._lock:
            # a new repository with the earlier name takes it over
            key = name.lower()
            known = key if key in self._repositories else self.renames.get(key, "").lower()
            return None if known in self.private else self._repositories.get(known)

    def all(self) -> list[Repository]:
        with self._lock:
            return list(self._repositories.values())


def read_replay(directory: Path) -> tuple[str, list[PullRecord]]:
    """The repository and the pull requests of one day, from ``pulls.json`` and ``files/<number>.json``."""
    day = json.loads((directory / "pulls.json").read_text())
    return day["repository"], [_replay_pull(fact, directory / "files") for fact in day["pulls"]]


def _replay_pull(fact: dict[str, Any], files: Path) -> PullRecord:
    path = files / f"{fact['number']}.json"
    items = json.loads(path.read_text()) if path.exists() else []
    author = fact.get("author") or ""
    dates = {"merged_at": moment(fact["merged_at"])}
    return pull(**{**fact, **dates, "files": items, "author_is_bot": author.endswith("[bot]")})


class UnknownQualifier(ValueError):
    """The search text uses what this emulator does not know."""


@dataclass(frozen=True)
class Search:
    """A search text taken apart: qualifiers such as ``is:pr``, and free words matched against titles."""

    terms: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, text: str) -> Search:
        parts = [term.partition(":") for term in _TERM.findall(text)]
        return cls(tuple((key, value.strip('"')) if colon else ("", key) for key, colon, value in parts))

    def values(self, key: str) -> list[str]:
        return [value for name, value in self.terms if name == key]

    @property
    def names_kind(self) -> bool:
        """REST refuses a search that names neither pull requests nor issues."""
        return bool({"pr", "pull-request", "issue"} & set(self.values("is") + self.values("type")))

    def run(self, store: Store, hidden: Iterable[int] = ()) -> list[tuple[Repository, PullRecord]]:
        """All matches, newest created first unless ``sort:`` says otherwise; ``hidden`` are not indexed yet."""
        names = self.values("repo")
        # unlike all else, search does not follow renames
        known = [each for each in names if (place := store.find(each)) and place.name.lower() == each.lower()]
        places = [store.find(name) for name in known] if names else store.all()
        rows = [(place, item) for place in places if place for item in place.records()]
        kept = [row for row in rows if row[1].number not in set(hidden) and self._accepts(row[1])]
        order, _, direction = (self.values("sort") or ["created-desc"])[-1].partition("-")
        return sorted(kept, key=lambda row: _order_key(row[1], order), reverse=direction != "asc")

    def _accepts(self, item: PullRecord) -> bool:
        return all(_test(key)(item, value) for key, value in self.terms)


def _order_key(item: PullRecord, order: str) -> tuple[datetime, int]:
    return (item.updated_at if order == "updated" else item.created_at, item.number)


def _test(key: str) -> Callable[[PullRecord, str], bool]:
    if key not in _TESTS:
        raise UnknownQualifier(f"the emulator does not know the search qualifier {key!r}")
    return _TESTS[key]


def _within(value: datetime | None, text: str) -> bool:
    low, high = _interval(text)
    return value is not None and low <= value.replace(microsecond=0) <= high


def _interval(text: str) -> tuple[datetime, datetime]:
    """``A..B``, ``>=A``, ``<=A``, ``>A``, ``<A`` or ``A``; both ends count, to the second."""
    second = timedelta(seconds=1)
    if ".." in text:
        low, high = text.split("..", 1)
        return _parse_bounds(low, _EARLIEST)[0], _parse_bounds(high, _LATEST)[1]
    first, last = _parse_bounds(text.lstrip("<>="), _EARLIEST)
    if text.startswith(">"):
        return (first if text.startswith(">=") else last + second), _LATEST
    if text.startswith("<"):
        return _EARLIEST, (last if text.startswith("<=") else first - second)
    return first, last


def _parse_bounds(text: str, unlimited: datetime) -> tuple[datetime, datetime]:
    """First and last second that a date or an instant means."""
    if text == "*":
        return unlimited, unlimited
    first = moment(text)
    return first, first + timedelta(days=1, seconds=-1) if len(text) == len("2026-01-15") else first


_IS: dict[str, Callable[[PullRecord], bool]] = {
    "pr": lambda _: True,
    "pull-request": lambda _: True,
    "issue": lambda _: False,
    "merged": lambda item: item.state == "MERGED",
    "unmerged": lambda item: item.state != "MERGED",
    "open": lambda item: item.state == "OPEN",
    "closed": lambda item: item.state != "OPEN",
    "public": lambda _: True,
}


def _is(item: PullRecord, value: str) -> bool:
    if value not in _IS:
        raise UnknownQualifier(f"the emulator does not know the search qualifier 'is:{value}'")
    return _IS[value](item)


_TESTS: dict[str, Callable[[PullRecord, str], bool]] = {
    "": lambda item, value: value.strip('"').lower() in item.title.lower(),
    "repo": lambda _item, _value: True,
    "sort": lambda _item, _value: True,
    "is": _is,
    "type": _is,
    "base": lambda item, value: item.base_ref == value,
    "author": lambda item, value: item.author == value,
    "label": lambda item, value: value in item.labels,
    "merged": lambda item, value: _within(item.merged_at, value),
    "updated": lambda item, value: _within(item.updated_at, value),
    "created": lambda item, value: _within(item.created_at, value),
    "closed": lambda item, value: _within(item.closed_at, value),
}
