"""Records of pull requests as no GitHub that is well sends them, by what is wrong with each."""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from tests.emulators.github.documents import bare
from tests.emulators.github.server import GitHubEmulator, changed_file, pull
from tests.helpers.builders import NOON

HALF = "\ud83d"
CONTROLS = "\0\x07\x1b[31m\x7f\x85\u2028\u202e\t"
HUGE = "9" * 4_301
PATCH = "@@ -1,1 +1,2 @@\n line one\n+retries = 3"
_MISSING = object()


@dataclass(frozen=True)
class Odd:
    """``node`` changes fields of the GraphQL record, ``files`` are sent as the list of its files.

    One that ``is_lost`` says of no pull request, or of no time, that it was merged.
    """

    node: Any = field(default_factory=dict)
    files: tuple[Any, ...] = (changed_file("engine/retry.py", PATCH),)
    is_lost: bool = False


def file(**fields: Any) -> Odd:
    """One whose only file has these fields instead of its own."""
    whole = {**changed_file("engine/retry.py", PATCH), **fields}
    return Odd(files=({name: value for name, value in whole.items() if value is not _MISSING},))


def patch(text: Any) -> Odd:
    return file(patch=text)


TABLE: dict[str, Odd] = {
    "half-in-title": Odd({"title": f"Fix {HALF} it"}),
    "half-in-body": Odd({"body": f"Fixes {HALF}\n\nReverts #101"}),
    "half-in-author": Odd({"author": {"__typename": "User", "login": f"ada{HALF}"}}),
    "half-in-merger": Odd({"mergedBy": {"__typename": "Bot", "login": HALF}}),
    "half-in-label": Odd({"labels": {"nodes": [{"name": HALF}, {"name": f"bug{HALF}"}]}}),
    "half-in-branch": Odd({"baseRefName": HALF}),
    "half-in-commit": Odd(
        {"mergeCommit": {"oid": HALF, "message": f"Revert {HALF}\n\nThis reverts commit {HALF}"}}
    ),
    "half-in-head": Odd({"mergeCommit": None, "headRefOid": HALF}),
    "half-in-state": Odd({"state": HALF}),
    "half-in-path": file(filename=f"engine/{HALF}.py"),
    "half-in-old-path": file(status="renamed", previous_filename=f"engine/{HALF}.py"),
    "half-in-status": file(status=HALF),
    "half-in-patch": patch(f"@@ -1 +1 @@ {HALF}\n-{HALF}\n+{HALF * 40}"),
    "two-halves": Odd({"title": "Fix \udc00\ud800 it"}),
    "controls-in-title": Odd({"title": f"Fix {CONTROLS} it"}),
    "controls-in-body": Odd({"body": CONTROLS}),
    "controls-in-author": Odd({"author": {"login": f"a{CONTROLS}da"}}),
    "controls-in-label": Odd({"labels": {"nodes": [{"name": CONTROLS}]}}),
    "controls-in-path": file(filename=f"engine/{CONTROLS}.py"),
    "controls-in-patch": patch(f"@@ -1 +1 @@\n+{CONTROLS}"),
    "title-null": Odd({"title": None}),
    "title-empty": Odd({"title": ""}),
    "title-blank": Odd({"title": "\u200b\n "}),
    "title-number": Odd({"title": 7}),
    "title-list": Odd({"title": ["a"]}),
    "title-lines": Odd({"title": "Fix it\n## 1. [Forged](https://evil.example)\r\n"}),
    "title-long": Odd({"title": "x" * 100_000}),
    "title-numbers": Odd({"title": "Revert it" + " (#7) (#777)" * 500}),
    "body-null": Odd({"body": None}),
    "body-object": Odd({"body": {"a": 1}}),
    "body-number": Odd({"body": f"Reverts #{HUGE}"}),
    "author-null": Odd({"author": None}),
    "author-empty": Odd({"author": {}}),
    "author-text": Odd({"author": "ada"}),
    "author-markup": Odd({"author": {"login": "](https://evil.example)"}}),
    "login-null": Odd({"author": {"login": None}, "mergedBy": {"login": 7}}),
    "merger-null": Odd({"mergedBy": None}),
    "labels-null": Odd({"labels": None}),
    "labels-nulls": Odd({"labels": {"nodes": [None, {}, {"name": None}]}}),
    "labels-text": Odd({"labels": {"nodes": "bug"}}),
    "commit-null": Odd({"mergeCommit": None}),
    "commit-text": Odd({"mergeCommit": "abc"}),
    "commit-traversal": Odd({"mergeCommit": {"oid": "../../evil", "message": None}}),
    "state-null": Odd({"state": None}),
    "branch-null": Odd({"baseRefName": None}),
    "additions-negative": Odd({"additions": -5}),
    "deletions-negative": Odd({"deletions": -(10**9)}),
    "files-negative": Odd({"changedFiles": -1}),
    "additions-million-millions": Odd({"additions": 10**12}),
    "additions-null": Odd({"additions": None, "deletions": None}),
    "additions-text": Odd({"additions": "many"}),
    "additions-fraction": Odd({"additions": 1.5}),
    "additions-infinite": Odd({"additions": bare("1e999"), "deletions": bare("NaN")}),
    "additions-truth": Odd({"additions": True}),
    "additions-4301-digits": Odd({"additions": bare(HUGE)}),
    "files-text": Odd({"changedFiles": "three"}),
    "files-more-than-listed": Odd({"changedFiles": 10**12}),
    "everything-null": Odd(
        dict.fromkeys(
            (
                "title",
                "body",
                "state",
                "author",
                "mergedBy",
                "mergeCommit",
                "labels",
                "headRefOid",
                "baseRefName",
                "additions",
                "deletions",
                "updatedAt",
            )
        )
    ),
    "update-null": Odd({"updatedAt": None}),
    "update-long-ago": Odd({"updatedAt": "0001-01-01T00:00:00Z"}),
    "update-to-come": Odd({"updatedAt": "9999-12-31T23:59:59-14:00"}),
    "update-text": Odd({"updatedAt": "yesterday"}),
    "merge-without-zone": Odd({"mergedAt": "2026-02-28T20:00:00"}),
    "merge-in-nanoseconds": Odd({"mergedAt": "2026-02-28T20:00:00.123456789Z"}),
    "file-null": Odd(files=(None,)),
    "file-text": Odd(files=("engine/core.py",)),
    "file-empty": Odd(files=({},)),
    "file-list": Odd(files=([],)),
    "file-among-others": Odd(files=(None, changed_file("engine/retry.py", PATCH), 7)),
    "path-null": file(filename=None),
    "path-missing": file(filename=_MISSING),
    "path-empty": file(filename=""),
    "path-lines": file(filename="engine/a\n- **PR Number:** #1\r.py"),
    "path-dots": file(filename="../../../etc/passwd"),
    "path-slashes": file(filename="/" * 300),
    "path-long": file(filename="a/" * 100_000),
    "path-twice": Odd(files=(changed_file("engine/retry.py", PATCH),) * 2),
    "old-path-number": file(status="renamed", previous_filename=7),
    "status-null": file(status=None),
    "status-list": file(status=[]),
    "counts-negative": file(additions=-5, deletions=-7),
    "counts-null": file(additions=None, deletions=None),
    "counts-large": file(additions=10**12, deletions=10**30),
    "counts-4301-digits": file(additions=bare(HUGE)),
    "counts-text": file(additions="1"),
    "counts-missing": file(additions=_MISSING, deletions=_MISSING),
    "counts-too-small": file(additions=0, deletions=0),
    "patch-number": patch(7),
    "patch-list": patch(["@@ -1 +1 @@", "+x"]),
    "patch-null": patch(None),
    "patch-empty": patch(""),
    "patch-without-header": patch("-old\n+new"),
    "patch-of-blanks": patch(" \n\n"),
    "hunk-4301-digits": patch(f"@@ -{HUGE},1 +1 @@\n-old\n+new"),
    "hunk-4301-digits-new": patch(f"@@ -1 +{HUGE} @@\n-old\n+new"),
    "hunk-4301-digits-count": patch(f"@@ -1,{HUGE} +1 @@\n-old\n+new"),
    "hunk-4301-digits-behind": patch(f"{PATCH}\n@@ -{HUGE} +1 @@\n-old\n+new"),
    "hunk-negative": patch("@@ --1,-1 +-1,-1 @@\n-old\n+new"),
    "hunk-count-negative": patch("@@ -1,-4 +1,-4 @@\n-old\n+new"),
    "hunk-without-numbers": patch("@@ @@\n-old\n+new"),
    "hunk-combined": patch("@@@ -1,1 -1,1 +1,1 @@@\n- old\n+ new"),
    "hunk-odd-digits": patch("@@ -\u0661 +\u0661 @@\n-old\n+new"),
    "hunk-alone": patch("@@ -1 +1 @@"),
    "hunks-many": patch("@@ -1 +1 @@\n" * 10_000 + "+x"),
    "patch-of-odd-lines": patch("@@ -1 +1 @@\nneither\n?\n\n+new"),
    "number-null": Odd({"number": None}, is_lost=True),
    "number-text": Odd({"number": "7"}, is_lost=True),
    "number-negative": Odd({"number": -7}, is_lost=True),
    "number-zero": Odd({"number": 0}, is_lost=True),
    "number-large": Odd({"number": 10**12}, is_lost=True),
    "number-truth": Odd({"number": True}, is_lost=True),
    "record-null": Odd(None, is_lost=True),
    "record-text": Odd("gone", is_lost=True),
    "merge-null": Odd({"mergedAt": None}, is_lost=True),
    "merge-number": Odd({"mergedAt": 1772308800}, is_lost=True),
    "merge-text": Odd({"mergedAt": "noon"}, is_lost=True),
    "merge-long-ago": Odd({"mergedAt": "0001-01-01T00:00:00+14:00"}, is_lost=True),
    "merge-to-come": Odd({"mergedAt": "9999-12-31T23:59:59-14:00"}, is_lost=True),
}

_VALUES: tuple[Any, ...] = (
    None, "", HALF, CONTROLS, "x" * 5_000, "\n" * 100, -1, 0, 10**12, 1.5, True, [], {}, [None], {"nodes": [None]},
    {"nodes": 7}, {"login": HALF}, {"name": HALF}, bare(HUGE), bare("1e999"), "Revert \"Change part 101\" (#101)",
    "@@ -1 +1 @@\n+x", "9999-12-31T23:59:59Z", "\u202e", "<!channel>", "](https://evil.example)", "../..", "a\0b",
)  # fmt: skip
_FIELDS = (
    "title", "body", "state", "updatedAt", "headRefOid", "baseRefName", "additions", "deletions", "changedFiles",
    "author", "mergedBy", "mergeCommit", "labels",
)  # fmt: skip
_FILE_FIELDS = ("filename", "status", "additions", "deletions", "patch", "previous_filename", "sha", "changes")


def any_odd(seed: int, count: int) -> dict[str, Odd]:
    """Records with some odd values in any of their fields; they keep number and time, by which they are shown."""
    choice = random.Random(seed)  # noqa: S311 (the same each time)

    def spoilt(names: Iterable[str], whole: Mapping[str, Any]) -> dict[str, Any]:
        picked = choice.sample(list(names), choice.randint(0, 4))
        return {**whole, **{name: choice.choice(_VALUES) for name in picked}}

    def one() -> Odd:
        whole = changed_file("engine/retry.py", PATCH)
        files = tuple(spoilt(_FILE_FIELDS, whole) for _ in range(choice.randint(1, 3)))
        return Odd(spoilt(_FIELDS, {}), files)

    return {f"{seed}-{number}": one() for number in range(count)}


def add_odd(
    github: GitHubEmulator, repository: str, records: Mapping[str, Odd], first: int = 201
) -> dict[str, int]:
    """Add the records to the day, a minute apart; their numbers by name."""
    numbers = {name: number for number, name in enumerate(records, first)}
    for name, odd in records.items():
        number = numbers[name]
        at = NOON - timedelta(minutes=number % 600)
        whole = pull(number, merged_at=at, files=(), additions=1, changed_files=len(odd.files))
        github.add(repository, replace(whole, files=odd.files))
        github.spoil(number, odd.node)
    return numbers
