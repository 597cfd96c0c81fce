"""Values of buttons and menus, and what forms remember, as no message of the bot has them.

Each must get one refusal, cost nothing and change nothing, from anybody who presses.
"""

import json
from typing import Any

_ENGINE = {"owner": "octo", "name": "engine"}
_DAY = {"first": "2026-02-27", "last": "2026-02-28", "zone": "UTC"}


def _request(kind: str, **fields: Any) -> str:
    return json.dumps({"version": 2, "kind": kind, "repository": _ENGINE, "span": _DAY, **fields})


def _span(first: str, last: str, zone: str = "UTC") -> dict[str, str]:
    return {"first": first, "last": last, "zone": zone}


# the name of the action, and its value
VALUES: dict[str, tuple[str, str]] = {
    # requests that a button repeats for everybody
    "ten years": ("share_digest", _request("digest", span=_span("2016-01-01", "2026-01-01"))),
    "ten years of risks": ("share_risks", _request("risks", span=_span("2016-01-01", "2026-01-01"))),
    "ten years of contracts": ("share_digest", _request("contract", span=_span("2016-01-01", "2026-01-01"))),
    "days backwards": ("share_risks", _request("risks", span=_span("2026-01-02", "2026-01-01"))),
    "no such day": ("share_risks", _request("risks", span=_span("2026-02-30", "2026-02-31"))),
    "a zone that is a path": (
        "share_risks",
        _request("risks", span=_span("2026-01-01", "2026-01-02", "../../etc/passwd")),
    ),
    "another repository": ("share_risks", _request("risks", repository={"owner": "octo", "name": "vault"})),
    "a repository that is a path": ("share_risks", _request("risks", repository={"owner": "..", "name": ".."})),
    "an option as a repository": (
        "share_risks",
        _request("risks", repository={"owner": "octo", "name": "--upload-pack=x"}),
    ),
    "a repository that is a number": ("share_risks", _request("risks", repository=7)),
    "negative top": ("share_risks", _request("risks", top=-5)),
    "great top": ("share_risks", _request("risks", top=10**9)),
    "a word as top": ("share_risks", _request("risks", top="all")),
    "a profile that is a path": ("share_risks", _request("risks", profile="../../other")),
    "a later version": ("share_risks", _request("risks", version=99)),
    "a version that is text": ("share_risks", _request("risks", version="2")),
    "no kind": ("share_risks", json.dumps({"version": 2})),
    "the kind of another command": ("share_risks", _request("digest")),
    "a kind that is a list": ("share_risks", json.dumps({"version": 2, "kind": ["risks"]})),
    "a list": ("share_risks", "{[]}"),
    "a text without a version": ("share_summary", "octo/engine#1"),
    "nested deeply": ("share_risks", '{"kind":' + "[" * 1_900),
    "a text of 40 references": (
        "share_summary",
        "2|" + " ".join(f"octo/engine#{number}" for number in range(1, 41)),
    ),
    "a reference elsewhere": ("share_summary", "2|octo/vault#1"),
    "an address elsewhere": ("share_summary", "2|https://evil.example/octo/engine/pull/1"),
    "another host before the path": ("share_summary", "2|https://github.com.evil.example/octo/engine/pull/1"),
    "a user before the host": ("share_summary", "2|https://github.com@evil.example/octo/engine/pull/1"),
    # single pull requests
    "details elsewhere": ("details", "2|octo/vault#1"),
    "details without a version": ("details", "octo/engine#1"),
    "details of a path": ("details", "2|../../octo/engine#1"),
    "details of a later version": ("details", "3|octo/engine#1"),
    "details of a great number": ("details", "2|octo/engine#" + "9" * 60),
    "details of nothing": ("details_of", "2|"),
    # votes
    "a vote of another word": ("answer_vote", "2|best"),
    "a vote that is long": ("answer_vote", "2|" + "good" * 400),
    "a vote about a hit of no profile": ("hit_ours", "2|ours  octo/engine#1"),
    "a vote about a hit elsewhere": ("hit_ours", "2|ours ascend octo/vault#1"),
    "a vote for a profile that is a path": ("hit_ours", "2|ours ../x octo/engine#1"),
    "a vote for a profile that nobody made": ("hit_ours", "2|ours nobody octo/engine#1"),
    # tasks for agents
    "a task of no profile": ("hit_task", "2| octo/engine#1"),
    "a task elsewhere": ("hit_task", "2|ascend octo/vault#1"),
    "a task for a profile that is a path": ("hit_task", "2|../x octo/engine#1"),
    "a task of a later version": ("hit_task", "3|ascend octo/engine#1"),
    "a task of a great number": ("hit_task", "2|ascend octo/engine#" + "9" * 60),
    # subscriptions
    "to pause nothing": ("subscription_pause", "2|"),
    "to pause what is not there": ("subscription_pause", "2|0123456789"),
    "to pause a key of the store": ("subscription_pause", "2|*"),
    "to pause a later version": ("subscription_pause", "9|0123456789"),
    "to remove a long id": ("subscription_remove", "2|" + "x" * 1_900),
    "to resume a line break": ("subscription_resume", "2|a\r\nDEL subscriptions"),
    # actions that the bot does not have
    "an action of another app": ("approve", "yes"),
    "an action with a pattern": ("(a+)+$", "a" * 1_900),
}
