"""GitHub's REST shapes: what it shows of accounts, repositories and pull requests, and of problems.

``url`` is the address of the API that shows them.
"""

import re
from dataclasses import replace
from typing import Any

from localslack.loopback import Response

from tests.emulators.github.store import SITE, PullRecord, Repository, instant, sha

_BARE = re.compile(rb'"\\ue000([^"]*)\\ue001"')


def bare(text: str) -> str:
    """A text that :func:`bare_json` sends without quotation marks, such as a number of thousands of digits."""
    return f"\ue000{text}\ue001"


def bare_json(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """An answer as JSON, in which half characters are escaped."""
    response = Response.of_json(value, status, headers)
    return replace(response, body=_BARE.sub(rb"\1", response.body))


def problem(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    return Response.of_json({"message": message, "status": str(status)}, status, headers)


def user(login: str, *, is_bot: bool = False) -> dict[str, Any]:
    """An account as REST shows it: bots end in ``[bot]``, and a deleted account is the user ``ghost``."""
    name = login.removesuffix("[bot]")
    is_bot = is_bot or name != login
    kind = {"login": f"{name}[bot]", "type": "Bot"} if is_bot else {"login": name, "type": "User"}
    return {**kind, "id": int(sha(name)[:7], 16), "html_url": f"{SITE}/{'apps/' if is_bot else ''}{name}"}


def repository_json(url: str, place: Repository) -> dict[str, Any]:
    owner, name = place.name.split("/")
    address = {"url": f"{url}/repos/{place.name}", "html_url": place.url}
    facts = {"id": int(sha(place.name)[:7], 16), "name": name, "full_name": place.name, "private": False}
    return {**facts, **address, "owner": user(owner), "default_branch": place.default_branch}


def issue_json(url: str, place: Repository, item: PullRecord) -> dict[str, Any]:
    api, page = f"{url}/repos/{place.name}", f"{place.url}/pull/{item.number}"
    merged = instant(item.merged_at)
    return {
        "id": int(sha(f"{place.name}{item.number}")[:7], 16),
        "number": item.number,
        "title": item.title,
        "body": item.body,
        "state": "open" if item.state == "OPEN" else "closed",
        "user": user(item.author or "ghost", is_bot=item.author_is_bot),
        "labels": [{"name": name, "color": "ededed"} for name in item.labels],
        "url": f"{api}/issues/{item.number}",
        "html_url": page,
        "repository_url": api,
        "created_at": instant(item.created_at),
        "updated_at": instant(item.updated_at),
        "closed_at": instant(item.closed_at),
        "draft": item.is_draft,
        "pull_request": {"url": f"{api}/pulls/{item.number}", "html_url": page, "merged_at": merged},
    }


def pull_json(url: str, place: Repository, item: PullRecord) -> dict[str, Any]:
    common = issue_json(url, place, item)
    del common["pull_request"], common["repository_url"]
    repo = repository_json(url, place)
    return {
        **common,
        "url": f"{url}/repos/{place.name}/pulls/{item.number}",
        "issue_url": common["url"],
        "merged": item.state == "MERGED",
        "merged_at": instant(item.merged_at),
        "merged_by": user(item.merged_by) if item.merged_by else None,
        "merge_commit_sha": item.merge_commit_sha,
        "base": {"ref": item.base_ref, "sha": item.base_sha, "repo": repo},
        "head": {"ref": f"topic-{item.number}", "sha": item.head_sha, "repo": repo},
        "additions": item.additions,
        "deletions": item.deletions,
        "changed_files": item.changed_files,
    }
