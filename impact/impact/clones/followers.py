"""What another downstream of the same upstream did about merges: a history that is read as an example.

Its messages, paths and lines are a stranger's. A commit counts for a merge that it names as its cause, and for one
that changed a name which is gone from lines of that commit, within some months.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from difflib import unified_diff
from itertools import islice

from impact.contract.breaking import list_breakages
from impact.contract.models import LOST, PYTHON_CLASSES, MergeContract
from impact.errors import attempt
from impact.git.clone_trees import CloneTrees
from impact.history.causes import FollowingCommit, Response, build_reference, list_causes, list_references
from impact.profile.file_uses import scan_file
from impact.profile.pins import is_build_script
from impact.profile.plain_uses import is_scanned_text
from impact.profile.scan import build_profile, list_pinned_revisions
from impact.source.models import BlobChange, BlobVersion, TreeCommit
from impact.text.strings import count_common, truncate_text

# a downstream follows within a release or two; later changes of the same line are mostly others
REACH = timedelta(days=90)
# of a commit: one that changes more is a sweep, and shows nothing about one merge
_MAX_FILES = 200
# lines of a file that is compared, and of an excerpt
_MAX_LINES, MAX_EXCERPT = 20_000, 8
# characters of a title and of a line of an excerpt; commits that one takes back
_MAX_TITLE, _MAX_LINE, _MAX_REVERTED = 200, 160, 5
# files in which a tree says what it pins; vllm-ascend has some 250 that may
_MAX_PIN_FILES = 1_500
_LAYOUT = str.maketrans(dict.fromkeys(" ,()'\"\\"))
_WORD = re.compile(r"[^\W\d]\w*")
# of a changed name: short or common ones are in lines that mean something else
_MIN_NAME = 8
_REVERT = re.compile(r"[^\w\[]*(?:\[[^\]]{0,80}\]\s{0,5}){0,5}revert", re.I)
_REVERTED = re.compile(r"^This reverts commit ([0-9a-f]{7,40})", re.M)
_FIX = re.compile(r"\b(?:hot|bug)?fix(?:e[sd])?\b|\bbug|\bbroken?\b|\bbreak|\bcompat", re.I)


@dataclass(frozen=True, slots=True)
class ChangedName:
    """What the name is part of, and whether it is gone from there; ``new_name`` is where it moved, else empty."""

    parent: str
    is_gone: bool = False
    new_name: str = ""


@dataclass(frozen=True, slots=True)
class ChangedNames:
    """What a merge changed for others, by the last part of each name."""

    number: int
    merged_at: datetime
    names: Mapping[str, ChangedName]


def list_changed_names(contract: MergeContract) -> ChangedNames:
    """Return the names that a merge broke for callers and that say enough to be looked for alone."""
    names = {}
    for change in (each.change for each in list_breakages(contract)):
        *_, parent, name = ["", *change.name.split(".")]
        if change.subject in PYTHON_CLASSES and parent and _is_telling(name):
            names[name] = ChangedName(parent, change.kind in LOST, change.new_name.rpartition(".")[2])
    return ChangedNames(contract.number, contract.merged_at, names)


def _is_telling(name: str) -> bool:
    has_words = "_" in name.strip("_") or name[1:].lower() != name[1:]
    return len(name) >= _MIN_NAME and has_words and not name.startswith("__")


def read_following(
    trees: CloneTrees, upstreams: Sequence[str], merges: Mapping[int, ChangedNames], since: datetime
) -> Iterator[FollowingCommit]:
    """Yield the commits since a time about some merges, oldest first, each once for a merge.

    ``upstreams`` are the names of upstream, without its owner, and of its packages. Raises ImpactError.
    """
    reader = _CommitReader(trees, upstreams, merges)
    known: dict[str, tuple[FollowingCommit, ...]] = {}
    line = [each for each in trees.list_line() if each.committed_at >= since]
    for commit in trees.iterate_commits(line, counts_lines=False):
        read = attempt(commit.sha, reader.read, commit) or {}
        facts = reader.describe(commit)
        for sha in _REVERTED.findall(commit.message)[:_MAX_REVERTED]:
            # what it takes back had followed these
            earlier = next((each for key, each in known.items() if key.startswith(sha)), ())
            read |= {each.number: replace(facts, number=each.number, name=each.name) for each in earlier}
        known[commit.sha] = tuple(read.values())
        yield from read.values()


class _CommitReader:
    def __init__(self, trees: CloneTrees, upstreams: Sequence[str], merges: Mapping[int, ChangedNames]) -> None:
        self._trees, self._merges = trees, merges
        self._reference = build_reference(upstreams)
        self._upstreams = frozenset(upstreams)
        self._by_name: dict[str, list[ChangedNames]] = {}
        for merge in merges.values():
            for name in merge.names:
                self._by_name.setdefault(name, []).append(merge)

    def describe(self, commit: TreeCommit) -> FollowingCommit:
        """Return what is known of a commit whatever it follows."""
        title, at = commit.message.partition("\n")[0], commit.committed_at.astimezone(UTC)
        response = Response.FIXED if _FIX.search(title[:_MAX_TITLE]) else Response.ADAPTED
        response = Response.REVERTED if _REVERT.match(title[:_MAX_TITLE]) else response
        return FollowingCommit(0, commit.sha, at, truncate_text(title, _MAX_TITLE), response)

    def read(self, commit: TreeCommit) -> dict[int, FollowingCommit]:
        facts = self.describe(commit)
        following: dict[int, FollowingCommit] = {}
        for merge, name, change in self._find_names(commit):
            if merge.number not in following:
                excerpt = tuple(self._cut_excerpt(change, name))
                followed = replace(facts, number=merge.number, name=name, path=change.path, excerpt=excerpt)
                following[merge.number] = followed
        list_numbers = list_references if facts.response is Response.REVERTED else list_causes
        for number in list_numbers(commit.message, self._reference):
            if number in self._merges and self._merges[number].merged_at <= commit.committed_at:
                following[number] = replace(following.get(number, facts), number=number, is_named=True)
        return following

    def _find_names(self, commit: TreeCommit) -> Iterator[tuple[ChangedNames, str, BlobChange]]:
        """Yield merges with a changed name that a commit changed in code as one who follows does.

        A line that only moved does not count, nor a file that is gone or in another layout.
        """
        changes = [each for each in commit.changes if each.path.endswith(".py")]
        if len(changes) > _MAX_FILES:
            return
        lines = [(each, self._read_lines(each.old), self._read_lines(each.new)) for each in changes]
        balance = Counter(line for _, old, _ in lines for line in old)
        balance.subtract(line for _, _, new in lines for line in new)
        for change, old, new in lines:
            gone = [line for line in dict.fromkeys(old) if balance[line] > 0]
            came = [line for line in dict.fromkeys(new) if balance[line] < 0]
            has_changed = bool(new) and _remove_layout(old) != _remove_layout(new)
            telling = _list_words(gone) & self._by_name.keys() if has_changed else set[str]()
            every = _list_words(old if telling else ())
            # what is no member of a class is imported from where it is
            imported, imports = (_list_words(filter(self._names_upstream, each)) for each in (old, came))
            if not every.isdisjoint(self._upstreams):
                yield from (
                    (merge, name, change)
                    for name in sorted(telling)
                    for merge in self._by_name[name]
                    if merge.names[name].parent in (every if merge.names[name].parent[0].isupper() else imported)
                    and timedelta() <= commit.committed_at - merge.merged_at <= REACH
                    and _follows(name, merge.names[name], gone, came, imports)
                )

    def _names_upstream(self, line: str) -> bool:
        return not self._upstreams.isdisjoint(_WORD.findall(line))

    def _read_lines(self, version: BlobVersion | None) -> list[str]:
        file = self._trees.read_file(version) if version else None
        stripped = (line.strip() for line in file.lines[:_MAX_LINES]) if file else ()
        return [line for line in stripped if line and not line.startswith("#")]

    def _cut_excerpt(self, change: BlobChange, name: str) -> Iterator[str]:
        """Yield the lines of the first changed part of a file from which a name is gone."""
        old, new = (
            list(self._trees.read_file(side).lines[:_MAX_LINES]) if side else []
            for side in (change.old, change.new)
        )
        start = count_common(old, new)
        end = count_common(old[start:][::-1], new[start:][::-1])
        parts: list[list[str]] = []
        for line in islice(unified_diff(old[start : len(old) - end], new[start : len(new) - end], n=0), 2, None):
            if line.startswith("@@"):
                parts.append([])
            else:
                parts[-1].append(truncate_text(line.rstrip(), _MAX_LINE))
        word = re.compile(rf"\b{re.escape(name)}\b")
        part = next((each for each in parts if any(line[0] == "-" and word.search(line) for line in each)), [])
        first = next((at for at, line in enumerate(part) if line[0] == "-" and word.search(line)), 0)
        yield from part[max(0, first - 1) :][:MAX_EXCERPT]


def _list_words(lines: Iterable[str]) -> set[str]:
    return {word for line in lines for word in _WORD.findall(line)}


def _remove_layout(lines: Iterable[str]) -> str:
    """Return what is left of code once a formatter can't change it."""
    return "".join(lines).translate(_LAYOUT)


def _follows(name: str, changed: ChangedName, gone: Sequence[str], came: Sequence[str], imports: Set[str]) -> bool:
    """Return whether lines that went and words that came look as where somebody follows a change of a name."""
    if changed.is_gone:
        # what moved has the same name on another line, and is not imported from where it was
        moved = not changed.new_name or changed.new_name in _list_words(came)
        return moved and (changed.new_name != name or changed.parent not in imports)
    called = re.compile(rf"\b{re.escape(name)}\s?\(")
    return all(any(map(called.search, lines)) for lines in (gone, came))


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
