"""How a team adapted to a name of upstream before: commits of its own clone that follow a change of it.

That is a commit which says that it follows upstream, and in which a way of using the name gives way to another, or
one that names the merge which changed the name. What merely moves or reformats lines, adds a use or drops one is
none, nor what changes many files at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from impact.errors import attempt
from impact.git.clone_trees import CloneTrees
from impact.history.causes import build_reference, is_following, list_causes
from impact.profile.file_uses import is_test, scan_file
from impact.profile.models import Use, UseKind
from impact.profile.plain_uses import FileUses
from impact.source.models import BlobVersion, TreeCommit

# commits of the team that are looked at, the newest, and files that one of them changes
MAX_COMMITS, _MAX_FILES = 5_000, 100
# names that are looked for at once, and lessons of each, the newest
MAX_NAMES, _MAX_LESSONS = 40, 5
# a method that is called on an object of unknown type is known by its name alone if that is long enough
_MIN_TELLING = 8
# lines of a call or of a signature that are compared before all is read
_MAX_CALL = 40
_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+([\w.]+)", re.M)
_WORD = re.compile(r"[^\W\d]\w*")
_MADE = "__init__"
_CALLS = frozenset({UseKind.CALL, UseKind.POSSIBLE_CALL, UseKind.INHERITED})
_OWN = frozenset({UseKind.OVERRIDE, UseKind.COPY, UseKind.PATCH})


@dataclass(frozen=True, slots=True)
class Lesson:
    """A commit in which the team adapted to a name. ``paths`` are its files that use it, without tests.

    ``number`` is the pull request of upstream that it names and that changed the name; 0 if it names none.
    The time is in UTC. ``subject`` is another's text.
    """

    commit: str
    committed_at: datetime
    subject: str
    paths: tuple[str, ...]
    number: int = 0


class _Form(NamedTuple):
    """A way of using a name, as far as a change of the name asks for another one."""

    kind: str
    name: str
    shape: object = None
    is_guarded: bool = False


class _Changed(NamedTuple):
    """A commit with its Python files before and after it, and the upstream pull requests that it names."""

    commit: TreeCommit
    sides: Sequence[tuple[BlobVersion | None, BlobVersion | None]]
    numbers: frozenset[int]


def find_lessons(
    team: CloneTrees,
    commit: str,
    names: Iterable[str],
    packages: Sequence[str],
    upstream: CloneTrees,
    upstream_name: str,
) -> dict[str, tuple[Lesson, ...]]:
    """Return by dotted names of upstream how the team adapted to each up to a commit, the newest first.

    ``upstream_name`` is that of its repository, without the owner. Raises ImpactError if a clone can't be read.
    """
    distinct = [*dict.fromkeys(name for name in names if _split(name)[1])][:MAX_NAMES]
    words = {name: _list_words(name) for name in distinct}
    reader = _Reader(team, upstream, tuple(packages))
    lessons: dict[str, list[Lesson]] = {name: [] for name in distinct}
    for changed in _list_following(team, commit, upstream_name) if distinct else ():
        texts = [reader.read_words(old) | reader.read_words(new) for old, new in changed.sides]
        for name, needed in words.items():
            pairs = [pair for pair, both in zip(changed.sides, texts, strict=True) if needed <= both]
            if len(lessons[name]) == _MAX_LESSONS or not pairs:
                continue
            lesson = attempt(changed.commit.sha, reader.judge, changed, pairs, name)
            lessons[name] += [lesson] if lesson else []
    return {name: tuple(each) for name, each in lessons.items()}


def _split(name: str) -> tuple[str, str]:
    """Return the class that a dotted name is a member of, empty for none, and the word that is looked for."""
    parts = name.split(".")
    if len(parts) < 2 or not all(part.isidentifier() for part in parts):
        return "", ""
    owner = parts[-2] if parts[-2].lstrip("_")[:1].isupper() else ""
    return owner, owner if owner and parts[-1] == _MADE else parts[-1]


def _is_telling(name: str) -> bool:
    member = name.rpartition(".")[2]
    return len(member) >= _MIN_TELLING and "_" in member and member != _MADE


def _list_words(name: str) -> set[str]:
    """Return what a file has to have: the name, and the class of one that others have, too."""
    owner, word = _split(name)
    return {word, owner} if owner and not _is_telling(name) else {word}


def _list_following(team: CloneTrees, commit: str, upstream_name: str) -> Iterator[_Changed]:
    """Yield the commits that say that they follow upstream, the newest first, without those of many files."""
    line = team.list_line()
    end = next((at for at, each in enumerate(line, 1) if each.sha == commit), len(line))
    reference = build_reference([upstream_name])
    follows = re.compile(rf"(?<![\w-]){re.escape(upstream_name)}(?![\w-])|\bupstream\b|main2main", re.I)
    commits = [*team.read_commits(line[max(0, end - MAX_COMMITS) : end], has_contents=False)]
    for each in reversed(commits):
        subject = each.message.partition("\n")[0]
        numbers = frozenset(list_causes(each.message, reference))
        if len(each.changes) > _MAX_FILES or not (numbers or (is_following(subject) and follows.search(subject))):
            continue
        sides = [
            (change.old, change.new)
            for change in each.changes
            for path in [(change.new or change.old or BlobVersion("", "")).path]
            if path.endswith(".py") and not is_test(path)
        ]
        if sides:
            yield _Changed(each, sides, numbers)


class _Reader:
    """Reads the files of both clones, each once."""

    def __init__(self, team: CloneTrees, upstream: CloneTrees, packages: tuple[str, ...]) -> None:
        self._team, self._upstream, self._packages = team, upstream, packages
        self.read_words = lru_cache(4_000)(self._read_words)
        self._scan = lru_cache(400)(self._scan_file)
        self._read_merges = lru_cache(400)(self._list_merges)

    def judge(
        self,
        changed: _Changed,
        pairs: Sequence[tuple[BlobVersion | None, BlobVersion | None]],
        name: str,
    ) -> Lesson | None:
        """Return the lesson that a commit is about a name, None if it is none."""
        before, after = set[_Form](), set[_Form]()
        bodies: list[tuple[set[str], set[str]]] = []
        paths = []
        for old, new in pairs:
            if self._read_around(old, name) == self._read_around(new, name):
                continue
            is_named = any(self._imports(side, name) for side in (old, new) if side)
            if not is_named and not _is_telling(name):
                continue
            sides = [[*self._list_uses(side, name, is_named=is_named)] if side else [] for side in (old, new)]
            forms = [{form for use in uses for form in _list_forms(use, self._packages)} for uses in sides]
            before |= forms[0]
            after |= forms[1]
            own = [{use.body for use in uses if use.kind in _OWN and use.body} for uses in sides]
            bodies.append((own[0], own[1]))
            if (forms[0] != forms[1] or own[0] != own[1]) and (side := new or old):
                paths.append(side.path)
        known = {form._replace(is_guarded=False) for form in before}
        # a guard that goes is the end of a support
        is_gained = any(form.is_guarded or form not in known for form in after - before)
        is_other = bool(before - after) and is_gained
        if not is_other and not any(old and old != new for old, new in bodies):
            return None
        subject = changed.commit.message.partition("\n")[0]
        lesson = Lesson(changed.commit.sha, changed.commit.committed_at, subject, tuple(paths))
        merges = self._read_merges(changed.numbers)
        number = next((each for each, merge in merges.items() if self._has_changed(merge, name)), 0)
        # what is inside a function of the team's own changes for many reasons
        return replace(lesson, number=number) if is_other or number else None

    def _read_words(self, version: BlobVersion | None) -> frozenset[str]:
        return frozenset(_WORD.findall(self._team.read_file(version).text)) if version else frozenset()

    def _scan_file(self, version: BlobVersion) -> FileUses:
        return scan_file(version.path, self._team.read_file(version).text, self._packages)

    def _read_around(self, version: BlobVersion | None, name: str) -> object:
        """Return what a file has of a name, as far as a change of its use shows there."""
        text = self._team.read_file(version).text if version else ""
        return _cut_around(text, _split(name)[1]), _cut_definitions(text, name.rpartition(".")[2])

    def _imports(self, version: BlobVersion, name: str) -> bool:
        """Return whether a file names it, or its class, by its module or a package that has it from there."""
        owner = _split(name)[0]
        module, _, last = (name.rpartition(".")[0] if owner else name).rpartition(".")
        if not any(_is_within(module, each) for each in _IMPORT.findall(self._team.read_file(version).text)):
            return False
        scan = self._scan(version)
        places = (each.rpartition(".") for each in (*scan.names.values(), *(use.name for use in scan.uses)))
        return any(end == last and _is_within(module, place) for place, _, end in places)

    def _list_uses(self, version: BlobVersion, name: str, *, is_named: bool) -> Iterator[Use]:
        """Yield the uses of a name in a file, as far as the file alone says it."""
        scan, (owner, _) = self._scan(version), _split(name)
        derived = {each.name for each in scan.classes if owner in (base.rpartition(".")[2] for base in each.bases)}
        member = name.rpartition(".")[2]
        for use in scan.uses:
            place, _, last = use.name.replace(".super()", "").rpartition(".")
            if not owner:
                own = use.name.startswith(tuple(f"{each}." for each in self._packages))
                is_use = is_named and last == member and own
            elif last == owner:
                is_use = is_named and member == _MADE and use.kind is UseKind.CALL
            else:
                is_known = is_named and (place in derived or place.rpartition(".")[2] == owner)
                is_called = _is_telling(name) and use.kind in _CALLS and bool(use.call)
                is_use = last == member and (is_known or is_called)
            if is_use:
                yield use

    def _has_changed(self, merge: TreeCommit, name: str) -> bool:
        """Return whether a merge of upstream changed the definition of a name."""
        owner, member = _split(name)[0], name.rpartition(".")[2]

        def read(version: BlobVersion | None) -> Sequence[str]:
            text = self._upstream.read_file(version).text if version and version.path.endswith(".py") else ""
            return _cut_definitions(text, member) if owner in text else []

        return any(read(change.old) != read(change.new) for change in merge.changes)

    def _list_merges(self, numbers: frozenset[int]) -> dict[int, TreeCommit]:
        line = self._upstream.find_mentions(f"(#{number})" for number in numbers)
        commits = self._upstream.read_commits(line, has_contents=False) if line else ()
        subjects = {each.message.partition("\n")[0].rpartition("(#")[2].rstrip(): each for each in commits}
        return {number: subjects[f"{number})"] for number in sorted(numbers) if f"{number})" in subjects}


def _is_within(module: str, other: str) -> bool:
    return f"{module}.".startswith(f"{other}.") or f"{other}.".startswith(f"{module}.")


def _cut_around(text: str, word: str) -> set[str]:
    """Return the lines that have a word, each with those that its brackets take in, without blanks."""
    lines = text.split("\n")
    parts = set()
    for at in (at for at, line in enumerate(lines) if word in line):
        part = ""
        for line in lines[at : at + _MAX_CALL]:
            part += "".join(line.split())
            if sum(map(part.count, "([{")) <= sum(map(part.count, ")]}")):
                break
        parts.add(part)
    return parts


def _cut_definitions(text: str, name: str) -> list[str]:
    """Return each function or class of a name in a text, without blanks and comments of whole lines."""
    definitions, indent = list[list[str]](), -1
    if f"def {name}" not in text and f"class {name}" not in text:
        return []
    begin = re.compile(rf"(\s*)(?:async def|def|class) {re.escape(name)}\b")
    for line in text.split("\n"):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        if match := begin.match(line):
            indent = len(match[1])
            definitions.append([])
        elif indent >= 0 and len(line) - len(line.lstrip()) <= indent and bare[0] not in ")]}":
            indent = -1
        if indent >= 0:
            definitions[-1].append("".join(bare.split()))
    return ["".join(each) for each in definitions]


def _list_forms(use: Use, packages: Sequence[str]) -> Iterator[_Form]:
    """Yield how a use would have to change if its name did."""
    is_named = use.name.startswith(tuple(f"{each}." for each in packages))
    name = use.name if is_named else use.name.rpartition(".")[2]
    if use.call:
        yield _Form("call", name, use.call, use.is_guarded)
    elif use.signature and use.kind in _OWN:
        shape = tuple((each.name, each.kind, each.default is None) for each in use.signature.parameters)
        yield _Form("own", name, shape, use.is_guarded)
    elif use.kind in (UseKind.IMPORT, UseKind.PATCH, UseKind.SUBCLASS):
        yield _Form(use.kind, name, None, use.is_guarded)
