from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from localslack.loopback import Request, Response

from tests.emulators.github.documents import bare_json, issue_json, problem, pull_json, repository_json
from tests.emulators.github.store import SEARCH_CAP, PullRecord, Repository, Search, Store, sha

# "list pull request files" ends at 3,000 files; pages default to 30 items and hold at most 100
FILES_CAP = 3000
PAGE_SIZE = 30
PAGE_LIMIT = 100
# from this API version on, pull requests have no merge_commit_sha
VERSION_WITHOUT_MERGE_COMMIT = "2026-03-10"


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

    def cut_items(self, items: list[Any]) -> list[Any]:
        return items[(self.number - 1) * self.size : self.number * self.size]

    def links(self, total: int) -> dict[str, int]:
        last = max(1, -(-total // self.size))
        earlier = {"prev": self.number - 1, "first": 1} if self.number > 1 else {}
        return earlier | ({"next": self.number + 1, "last": last} if self.number < last else {})


@dataclass(frozen=True)
class Rest:
    """Answers REST requests from a store at ``url``; ``hidden`` numbers are missing from search only."""

    store: Store
    url: str
    hidden: Callable[[], set[int]]

    def repository(self, _request: Request, name: str) -> Response:
        stored_repository = self.store.find(name)
        return (
            Response.of_json(repository_json(self.url, stored_repository))
            if stored_repository
            else problem(404, "Not Found")
        )

    def _record(self, name: str, number: str) -> tuple[Repository, PullRecord] | None:
        place = self.store.find(name)
        record = place.pulls.get(int(number)) if place else None
        return (place, record) if place and record else None

    def pull(self, request: Request, name: str, number: str) -> Response:
        row = self._record(name, number)
        if row is None:
            return problem(404, "Not Found")
        value = pull_json(self.url, *row)
        if request.headers.get("x-github-api-version", "") >= VERSION_WITHOUT_MERGE_COMMIT:
            del value["merge_commit_sha"]
        return Response.of_json(value)

    def files(self, request: Request, name: str, number: str) -> Response:
        row = self._record(name, number)
        if row is None:
            return problem(404, "Not Found")
        files, page = list(row[1].files[:FILES_CAP]), Page.of(request.query)
        shown = page.cut_items(files)
        tag = f'W/"{sha(json.dumps(shown))}"'
        if request.headers.get("if-none-match") == tag:
            return Response(304, headers={"ETag": tag})
        return bare_json(shown, headers={"ETag": tag, **self._link(request, page, len(files))})

    def tree(self, request: Request, name: str, oid: str) -> Response:
        place = self.store.find(name)
        commit = place.commits.get(oid) if place else None
        if commit is None or request.query.get("recursive") != "1":
            return problem(404, "Not Found")
        entries = [
            {"path": path, "mode": f"{mode:06o}", "type": "blob", "sha": oid, "size": size}
            for path, mode, oid, size in commit.tree.list_files()
        ]
        return Response.of_json({"sha": sha(commit.oid), "tree": entries, "truncated": False})

    def search(self, request: Request) -> Response:
        asked = Search.of(request.query.get("q", ""))
        if not asked.names_kind:
            return problem(422, "Query must include 'is:issue' or 'is:pull-request'")
        if any(self.store.find(name) is None for name in asked.values("repo")):
            return problem(422, "Validation Failed")
        try:
            matches = asked.run(self.store, self.hidden())
        except ValueError as error:  # an unknown qualifier or a date that is none
            return problem(422, str(error))
        page = Page.of(request.query)
        if (page.number - 1) * page.size >= SEARCH_CAP:
            return problem(422, "Only the first 1000 search results are available")
        items = [issue_json(self.url, *row) for row in page.cut_items(matches[:SEARCH_CAP])]
        body = {"total_count": len(matches), "incomplete_results": False, "items": items}
        return Response.of_json(body, headers=self._link(request, page, min(len(matches), SEARCH_CAP)))

    def _link(self, request: Request, page: Page, total: int) -> dict[str, str]:
        """The Link header, with this emulator's own host and port: clients refuse any other."""
        links = [
            f'<{self.url}{request.path}?{urlencode({**request.query, "page": number})}>; rel="{name}"'
            for name, number in page.links(total).items()
        ]
        return {"Link": ", ".join(links)} if links else {}
