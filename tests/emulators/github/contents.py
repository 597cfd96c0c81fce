"""The REST calls of tools that read a pull request commit by commit and file by file, and answer on its page."""

import base64
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from localslack.loopback import Request, Response

from tests.emulators.github.documents import problem, pull_json, user
from tests.emulators.github.store import PullRecord, Repository, Store, instant, sha
from tests.emulators.github.trees import FOLDER, hash_object

# "get repository content" gives the text of files up to 1 MB; of larger ones only their facts
TEXT_LIMIT = 1_000_000


@dataclass(frozen=True)
class Contents:
    """Answers about commits, files and comments from a store at ``url``. A pull request has one commit."""

    store: Store
    url: str
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def languages(self, _request: Request, name: str) -> Response:
        """Answer with bytes by language; here all files are Python."""
        return Response.of_json({"Python": 1}) if self.store.find(name) else problem(404, "Not Found")

    def commits(self, _request: Request, name: str, number: str) -> Response:
        row = self._find(name, number)
        return Response.of_json([self._commit(*row)]) if row else problem(404, "Not Found")

    def commit(self, _request: Request, name: str, ref: str) -> Response:
        """Answer with the newest commit of the default branch; of no other one."""
        place = self.store.find(name)
        if place is None or ref != place.default_branch:
            return problem(404, "Not Found")
        return Response.of_json(self._tip(place))

    def branch(self, _request: Request, name: str, branch: str) -> Response:
        """Answer with the default branch; the emulator has no other one."""
        place = self.store.find(name)
        if place is None or branch != place.default_branch:
            return problem(404, "Branch not found")
        return Response.of_json({"name": branch, "commit": self._tip(place), "protected": False})

    def compare(self, _request: Request, name: str, base: str, head: str) -> Response:
        """Compare the head of a pull request with its base, a commit or branch; the merge base is the commit."""
        place = self.store.find(name)
        records = place.records() if place else ()
        of_head = (item for item in records if item.head_sha == head)
        record = next((item for item in of_head if unquote(base) in (item.base_ref, item.base_sha)), None)
        if place is None or record is None:
            return problem(404, "Not Found")
        address = f"{self.url}/repos/{place.name}"
        oid = record.base_sha
        old = {"sha": oid, "url": f"{address}/commits/{oid}", "commit": {"message": ""}, "parents": []}
        facts = {"status": "ahead", "ahead_by": 1, "behind_by": 0, "total_commits": 1}
        sides = {"base_commit": old, "merge_base_commit": old, "commits": [self._commit(place, record)]}
        # no more than that (docs.github.com, "Compare two commits")
        files = {"files": list(record.files[:300]), "url": f"{address}/compare/{base}...{head}"}
        return Response.of_json({**facts, **sides, **files})

    def file(self, request: Request, name: str, path: str) -> Response:
        place, path = self.store.find(name), unquote(path)
        commit = place.commits.get(request.query.get("ref", "")) if place else None
        entry = commit.tree.find(path) if commit else None
        if place is None or entry is None:
            return problem(404, "Not Found")
        if entry.mode == FOLDER:
            return problem(501, "The emulator lists no folders")
        is_long, size = len(entry.data) > TEXT_LIMIT, len(entry.data)
        text = "" if is_long else base64.encodebytes(entry.data).decode()
        facts = {"type": "file", "name": path.rpartition("/")[2], "path": path, "size": size}
        names = {"sha": hash_object(b"blob", entry.data), "url": f"{self.url}/repos/{place.name}/contents/{path}"}
        return Response.of_json({**facts, **names, "encoding": "none" if is_long else "base64", "content": text})

    def comment(self, request: Request, name: str, number: str) -> Response:
        if self._find(name, number) is None:
            return problem(404, "Not Found")
        made, url = next(self.numbers), f"{self.url}/repos/{name}/issues/comments"
        words = {"body": (request.json() or {}).get("body", ""), "user": user("octocat")}
        return Response.of_json({"id": made, "url": f"{url}/{made}", **words}, 201)

    def edit_comment(self, request: Request, name: str, number: str) -> Response:
        url = f"{self.url}/repos/{name}/issues/comments/{number}"
        return Response.of_json({"id": int(number), "url": url, "body": (request.json() or {}).get("body", "")})

    def delete_comment(self, _request: Request, _name: str, _number: str) -> Response:
        return Response(204)

    def update(self, request: Request, name: str, number: str) -> Response:
        """Answer as if title and text of a pull request were replaced; the store stays as it is."""
        row = self._find(name, number)
        if row is None:
            return problem(404, "Not Found")
        fields = request.json() or {}
        changed = {key: fields[key] for key in ("title", "body") if key in fields}
        return Response.of_json({**pull_json(self.url, *row), **changed})

    def _find(self, name: str, number: str) -> tuple[Repository, PullRecord] | None:
        place = self.store.find(name)
        record = place.pulls.get(int(number)) if place else None
        return (place, record) if place and record else None

    def _tip(self, place: Repository) -> dict[str, Any]:
        """Return what is known of the newest commit of the default branch: an id, and no files."""
        oid, address = sha(f"tip {place.name}"), f"{self.url}/repos/{place.name}"
        tree = {"sha": oid, "url": f"{address}/git/trees/{oid}"}
        commit = {"message": "", "tree": tree, "url": f"{address}/git/commits/{oid}"}
        return {"sha": oid, "url": f"{address}/commits/{oid}", "commit": commit}

    def _commit(self, place: Repository, record: PullRecord) -> dict[str, Any]:
        writer = {"name": record.author, "email": "writer@example.org", "date": instant(record.created_at)}
        git_commit = {"message": record.title, "author": writer, "committer": writer}
        facts = {"sha": record.head_sha, "html_url": f"{place.url}/commit/{record.head_sha}"}
        address = {"url": f"{self.url}/repos/{place.name}/commits/{record.head_sha}"}
        return {**facts, **address, "commit": git_commit, "parents": [{"sha": record.base_sha}]}
