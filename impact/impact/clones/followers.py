"""What another downstream of the same upstream did about merges: a history that is read as an example.

Its messages, paths and lines are a stranger's. A commit counts for the merges that it names as its cause, and a
revert for those of the commit that it takes back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice

from impact.contract.breaking import list_breakages
from impact.contract.models import PYTHON_CLASSES, MergeContract
from impact.contract.python.python_changes import list_hunks
from impact.git.clone_trees import CloneTrees
from impact.history.causes import FollowingCommit, Response, build_reference, list_causes, list_references
from impact.profile.file_uses import scan_file
from impact.profile.pins import is_build_script
from impact.profile.plain_uses import is_scanned_text
from impact.profile.scan import build_profile, list_pinned_revisions
from impact.source.models import BlobVersion, TreeCommit
from impact.text.strings import truncate_text

# a downstream follows within a release or two
REACH = timedelta(days=90)
# of a commit: merges that it names (up to 15 in vllm-ascend), those it takes back, files read for an excerpt
_MAX_MERGES, _MAX_REVERTED, _MAX_FILES = 30, 5, 200
# lines of an excerpt; characters of a title and of a line
MAX_EXCERPT, _MAX_TITLE, _MAX_LINE = 8, 200, 160
# files in which a tree says what it pins; vllm-ascend has some 250 that may
_MAX_PIN_FILES = 1_500
_WORD = re.compile(r"[^\W\d]\w*")
# of a changed name: short and common ones are in lines that mean something else
_MIN_NAME = 6
_REVERT = re.compile(r"[^\w\[]*(?:\[[^\]]{0,80}\]\s{0,5}){0,5}revert", re.I)
_REVERTED = re.compile(r"^This reverts commit ([0-9a-f]{7,40})", re.M)
_FIX = re.compile(r"\b(?:hot|bug)?fix(?:e[sd])?\b|\bbug|\bbroken?\b|\bbreak|\bcompat", re.I)


@dataclass(frozen=True, slots=True)
class FollowedMerge:
    """A merge that others may name, and the names that it broke for callers, each without what it is part of."""

    merged_at: datetime
    names: frozenset[str] = frozenset()


def list_broken_names(contract: MergeContract) -> frozenset[str]:
    """Return the last parts of the names that a merge broke for callers, without short and common ones."""
    changes = (each.change for each in list_breakages(contract))
    names = (each.name.rpartition(".")[2] for each in changes if each.subject in PYTHON_CLASSES)
    return frozenset(name for name in names if len(name) >= _MIN_NAME and _has_words(name))


def _has_words(name: str) -> bool:
    return not name.startswith("__") and ("_" in name.strip("_") or name != name.lower())


def read_following(
    trees: CloneTrees, upstreams: Sequence[str], merges: Mapping[int, FollowedMerge], since: datetime
) -> Iterator[FollowingCommit]:
    """Yield the commits since a time about some merges, oldest first, each once for a merge.

    ``upstreams`` are the names of upstream, without its owner, and of its packages. Raises ImpactError.
    """
    reference = build_reference(upstreams)
    known: dict[str, list[FollowingCommit]] = {}
    line = [each for each in trees.list_line() if each.committed_at >= since]
    for commit in trees.iterate_commits(line, counts_lines=False):
        title, at = commit.message.partition("\n")[0][:_MAX_TITLE], commit.committed_at.astimezone(UTC)
        response = Response.FIXED if _FIX.search(title) else Response.ADAPTED
        response = Response.REVERTED if _REVERT.match(title) else response
        list_numbers = list_references if response is Response.REVERTED else list_causes
        numbers = list(list_numbers(commit.message, reference))
        for sha in _REVERTED.findall(commit.message)[:_MAX_REVERTED]:
            numbers += next(([each.number for each in known[key]] for key in known if key.startswith(sha)), [])
        named = (each for each in dict.fromkeys(numbers) if each in merges and merges[each].merged_at <= at)
        following = [FollowingCommit(each, commit.sha, at, title, response) for each in islice(named, _MAX_MERGES)]
        if following:
            known[commit.sha] = following
            hunks = list(_list_hunks(trees, commit))
            yield from (_add_excerpt(each, hunks, merges[each.number].names) for each in following)


def _list_hunks(trees: CloneTrees, commit: TreeCommit) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield the path, the lines that went and those that came of each changed part of a commit's code."""
    for change in [each for each in commit.changes if each.path.endswith(".py")][:_MAX_FILES]:
        if change.old and change.new:
            old, new = (trees.read_file(side).text for side in (change.old, change.new))
            yield from ((change.path, gone, came) for _, gone, came in list_hunks(old, new))


def _add_excerpt(
    commit: FollowingCommit, hunks: Sequence[tuple[str, list[str], list[str]]], names: frozenset[str]
) -> FollowingCommit:
    """Add the first part of a commit from which one of some names went, from that line on."""
    for path, gone, came in hunks:
        first = next((at for at, each in enumerate(gone) if not names.isdisjoint(_WORD.findall(each))), None)
        if first is not None:
            lines = [*(f"-{each}" for each in gone[first:][: MAX_EXCERPT // 2]), *(f"+{each}" for each in came)]
            excerpt = tuple(truncate_text(each.rstrip(), _MAX_LINE) for each in lines[:MAX_EXCERPT])
            return replace(commit, path=path, excerpt=excerpt)
    return commit


def list_pins(trees: CloneTrees, packages: Sequence[str], upstream: str) -> tuple[str, ...]:
    """Return the commits, else the tags, of upstream that the newest tree pins; ``upstream`` is a bare name.

    Only files are read that say such a thing in text: not the code. Raises ImpactError.
    """
    head = trees.find_head()
    told = ((path, blob) for path, blob in trees.list_files(head).items() if _may_pin(path))
    files = (trees.read_file(BlobVersion(*each)) for each in islice(told, _MAX_PIN_FILES))
    uses = [scan_file(file.path, file.text, packages) for file in files if not file.problem]
    profile = build_profile(upstream, "", head, datetime.min.replace(tzinfo=UTC), packages, uses)
    return list_pinned_revisions(profile, upstream)


def _may_pin(path: str) -> bool:
    return is_scanned_text(path) or is_build_script(path)
