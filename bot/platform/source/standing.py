"""What stands after a change of what its removed lines define or register: in their file, and in the tree.

A diff shows that a line is gone, not that the name in it is: the same flag may be registered twice, a function may
have moved, and a merge just before may have added it again. Nothing is told to be gone unless it was looked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from bot.platform.models.prompts import join_items, limit_lines
from bot.platform.pulls.diff import DiffLine, split_hunks
from bot.platform.pulls.models import ChangedFile
from bot.platform.source.excerpts import AnnotatedChange, Scope, list_uses
from bot.platform.source.models import SourceUse, SourceUses
from bot.text import format_count
from impact.text.strings import truncate_text

# of a line; longer ones are data
_MAX_LINE = 1_000
# names that one file is looked at for, and that the tree is searched for; one search takes about a second
_MAX_FILE_NAMES, MAX_TREE_NAMES = 40, 20
# places of a name that are told
_MAX_PLACES = 3
# characters of all that is told: some 600 tokens
_MAX_TEXT, _MAX_LIST = 2_400, 500
# lines and characters of code that is told as moved; less stands in many places
_MIN_MOVED_LINES, _MIN_MOVED_LENGTH, _MAX_MOVED = 5, 150, 5
_MIN_FIRST_LINE, _MAX_FIRST_LINE = 8, 80

_DEFINITION = re.compile(
    r"\s*(?:(?:export|default|pub|public|private|protected|static|async|abstract|final|inline|const|unsafe)\s+){0,5}"
    r"(?:def|class|func|fn|function|struct|enum(?:\s+class)?|interface|trait|type)\s+([A-Za-z_]\w{1,79})"
    r"(?=\s{0,4}(?:[(:<{=\[;]|$|(?:struct|interface|extends|implements)\b))"
)
_MACRO = re.compile(r"\s*#\s{0,4}define\s+([A-Za-z_]\w{1,79})(?!\w)")
_CLASS = re.compile(r"\s*(?:\w+\s+){0,3}(?:class|struct|enum|interface|trait|impl)\s")
_OPTION = re.compile(r"(?<![\w-])--[A-Za-z][\w-]{1,79}")
_CONSTANT = re.compile(r"\s*(?:(?:export|ENV|ARG|static|const)\s+)?([A-Z][A-Z0-9_]{2,79})\s*[:=](?!=)")
_ATTRIBUTE = re.compile(r"\s*(?:self|cls|this)\.(\w{2,80})\s*(?::[^=]{1,100})?=(?!=)")
_FIELD = re.compile(r"\s*([a-z_]\w{1,79})\s*:\s+\S")
# a keyword argument chooses what is defined elsewhere
_LITERAL = re.compile(r"(?<![=\w])([\"'])([A-Za-z_][\w./-]{2,79})\1(\s*:)?")
_NO_FIELDS = frozenset(("else", "try", "finally", "default", "return", "lambda", "except", "with", "if", "for"))


class NameKind(StrEnum):
    """What a line does with a name, in the order in which names are looked for."""

    OPTION = "option"
    VARIABLE = "variable"
    DEFINITION = "definition"
    ATTRIBUTE = "attribute"
    FIELD = "field"
    KEY = "key"
    LITERAL = "literal"


# these mean the same wherever they stand in a file; others belong to a class or function
_OF_FILE = frozenset((NameKind.OPTION, NameKind.VARIABLE, NameKind.KEY, NameKind.LITERAL))
_QUOTED = (NameKind.KEY, NameKind.LITERAL)
# what others may use by its name
_OF_TREE = frozenset((NameKind.OPTION, NameKind.VARIABLE, NameKind.DEFINITION, NameKind.LITERAL, NameKind.KEY))


@dataclass(frozen=True, slots=True)
class RemovedName:
    """A name that removed lines of a file define or register, and none of its added lines.

    ``owner`` is the function or class around it, with those around that; empty at the level of the file.
    """

    path: str
    name: str
    kind: NameKind
    owner: str = ""

    def is_in(self, text: str) -> bool:
        """Return whether a line defines or registers the name as the removed one did."""
        same = _QUOTED if self.kind in _QUOTED else (self.kind,)
        return self.name in text and any(name == self.name and kind in same for name, kind in list_names(text))

    def is_used(self, text: str) -> bool:
        """Return whether a line uses the name; of what is only text, whether it is the same text."""
        if self.kind in _QUOTED or self.kind is NameKind.OPTION:
            return self.is_in(text)
        return self.name in text and bool(list_uses((text,), self.name))


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of removed names without a search of the tree; ``open_names`` are those to search it for."""

    lines: tuple[str, ...] = ()
    open_names: tuple[RemovedName, ...] = ()
    unread: tuple[RemovedName, ...] = ()


def list_names(text: str) -> Iterator[tuple[str, NameKind]]:
    """Yield the names that a line defines or registers; in time proportional to the line."""
    line = text[:_MAX_LINE]
    if match := _DEFINITION.match(line) or _MACRO.match(line):
        yield match[1], NameKind.DEFINITION
    elif match := _CONSTANT.match(line):
        yield match[1], NameKind.VARIABLE
    elif match := _ATTRIBUTE.match(line):
        yield match[1], NameKind.ATTRIBUTE
    elif (match := _FIELD.match(line)) and match[1] not in _NO_FIELDS:
        yield match[1], NameKind.FIELD
    for match in _OPTION.finditer(line):
        yield match[0], NameKind.OPTION
    for match in _LITERAL.finditer(line):
        is_variable = match[2].isupper() and "_" in match[2]
        yield match[2], NameKind.VARIABLE if is_variable else NameKind.KEY if match[3] else NameKind.LITERAL


def describe_standing(files: Sequence[ChangedFile], changes: Mapping[str, AnnotatedChange]) -> Standing:
    """Look up in the files after a change what its removed lines define or register.

    ``files`` are those to look at, ``changes`` has the whole ones by path; of a file that is not there, nothing is
    known but its patch.
    """
    looks = [_FileLook.build(file, changes.get(file.path)) for file in files if file.patch]
    elsewhere = {name: look.path for look in looks for name in look.defined_names}
    # a word that stands in many places of one of these files is not gone, and where it stands says nothing
    standing = {each.name for look in looks for each in look.list_removed() if look.holds(each)}
    lines, open_names, unread = list[str](), list[RemovedName](), list[RemovedName]()
    for look in looks:
        told = []
        for removed in look.list_removed():
            if place := look.describe_place(removed):
                told.append(f"`{removed.name}` ({removed.kind}) {place}")
            elif removed.name in elsewhere and removed.kind not in (NameKind.ATTRIBUTE, NameKind.FIELD):
                told.append(f"`{removed.name}` ({removed.kind}) is defined in {elsewhere[removed.name]} now")
            elif not look.is_whole:
                unread.append(removed)
            elif removed.kind in _OF_TREE and not removed.name.startswith("__") and removed.name not in standing:
                open_names.append(removed)
        if told:
            lines.append(f"{look.path}: {join_items(told, _MAX_LIST)}")
    return Standing((*_list_moved(looks), *lines), tuple(_sort_names(open_names)), tuple(_sort_names(unread)))


def format_standing(standing: Standing, searched: SourceUses | None) -> str:
    """Return what is known as lines; ``searched`` has the lines of the tree with any of the open names."""
    lines = list(standing.lines)
    searched_names = standing.open_names[:MAX_TREE_NAMES] if searched else ()
    unknown = [each.name for each in standing.open_names[len(searched_names) :]]
    gone, elsewhere = list[str](), list[str]()
    for each in searched_names:
        uses = [use for use in searched.uses if each.is_used(use.text)] if searched else []
        if uses and (each.kind not in _QUOTED or len({use.path for use in uses}) <= _MAX_PLACES):
            elsewhere.append(f"`{each.name}`: {_list_places(each, uses)}")
        elif searched and searched.is_complete and not uses:
            gone.append(f"`{each.name}`")
        elif not uses:
            unknown.append(each.name)
    if elsewhere:
        lines.append("No longer in their files, but in the tree at the merge:")
        lines += [f"- {each}" for each in elsewhere]
    if gone:
        lines.append(f"Nowhere in the tree at the merge: {join_items(gone, _MAX_LIST)}")
    if unknown:
        names = join_items([f"`{name}`" for name in unknown], _MAX_LIST)
        lines.append(f"No longer in their files; whether anywhere else was not looked up: {names}")
    if standing.unread:
        names = join_items([f"`{each.name}` ({each.path})" for each in standing.unread], _MAX_LIST)
        lines.append(f"Not looked up, as the file could not be read (it may still stand there): {names}")
    return limit_lines(lines, _MAX_TEXT, "line", "what is not here was not looked up").text


def _sort_names(names: Iterable[RemovedName]) -> list[RemovedName]:
    order = list(NameKind)
    unique = {each.name: each for each in reversed([*names])}
    return sorted(unique.values(), key=lambda each: order.index(each.kind))


def _list_places(removed: RemovedName, uses: Sequence[SourceUse]) -> str:
    """Return the places of a name, one of each file: where it is defined first, and tests last."""
    places: dict[str, tuple[bool, bool, str]] = {}
    for use in uses:
        is_defined = removed.kind is not NameKind.OPTION and removed.is_in(use.text)
        place = f"{_flatten(use.path)}:{use.line}{' (defined)' if is_defined else ''}"
        rank = (not is_defined, "test" in use.path, place)
        places[use.path] = min(rank, places.get(use.path, rank), key=lambda each: each[0])
    ordered = [place for *_, place in sorted(places.values(), key=lambda each: each[:2])]
    more = len(ordered) - _MAX_PLACES
    return ", ".join(ordered[:_MAX_PLACES]) + (f" and {format_count(more, 'more file')}" if more > 0 else "")


# --- one file


@dataclass(frozen=True, slots=True)
class _FileLook:
    """The lines of a changed file, all of them if it ``is_whole``, else those of its patch."""

    path: str
    lines: Sequence[DiffLine]
    is_whole: bool
    is_removed: bool
    old_scopes: Sequence[Scope] = ()
    new_scopes: Sequence[Scope] = ()
    defined_names: frozenset[str] = field(default_factory=frozenset)

    @classmethod
    def build(cls, file: ChangedFile, change: AnnotatedChange | None) -> _FileLook:
        if change:
            lines: Sequence[DiffLine] = change.lines
        else:
            lines = [line for _, hunk in split_hunks(file.patch or "") for line in hunk]
        # an added file has all of its lines in its patch, a removed one has none
        is_whole = not file.unread and (change is not None or file.status in ("added", "removed"))
        defined = {
            name
            for line in lines
            if line.mark == "+"
            for name, kind in list_names(line.text)
            if kind is not NameKind.LITERAL
        }
        scopes = (change.old_scopes, change.new_scopes) if change else ((), ())
        return cls(_flatten(file.path), lines, is_whole, file.status == "removed", *scopes, frozenset(defined))

    def holds(self, removed: RemovedName) -> bool:
        """Return whether the file has the name as the removed line had it."""
        return any(line.mark == " " and removed.is_in(line.text) for line in self.lines)

    def list_removed(self) -> list[RemovedName]:
        added = {name for line in self.lines if line.mark == "+" for name, _ in list_names(line.text)}
        removed: dict[str, RemovedName] = {}
        for at, line in enumerate(self.lines):
            for name, kind in list_names(line.text) if line.mark == "-" else ():
                if name not in added and name not in removed:
                    removed[name] = RemovedName(self.path, name, kind, self._find_owner(self.old_scopes, at, kind))
        return _sort_names(removed.values())[:_MAX_FILE_NAMES]

    def describe_place(self, removed: RemovedName) -> str:
        """Return where a removed name stands in the file all the same; empty if it does not."""
        same, others, uses = list[int](), list[str](), list[int]()
        kind = removed.kind
        for at, line in enumerate(self.lines):
            if line.mark != " " or not removed.is_used(line.text):
                continue
            if not removed.is_in(line.text):
                uses.append(line.new)
            elif kind in _OF_FILE or (owner := self._find_owner(self.new_scopes, at, kind)) == removed.owner:
                same.append(line.new)
            elif kind is NameKind.DEFINITION:
                others.append(f"`{owner}` (line {line.new})" if owner else f"the file itself (line {line.new})")
        if same and (kind not in _QUOTED or len(same) <= _MAX_PLACES):
            verb = "still stands" if kind in _OF_FILE else "is still defined"
            return f"{verb} at {_join_numbers(same)}"
        if others and len(others) <= _MAX_PLACES:
            here = f"`{removed.owner}`" if removed.owner else "the file itself"
            return f"is no longer defined in {here}; another one is in {', '.join(others)}"
        if uses and kind in (NameKind.DEFINITION, NameKind.VARIABLE) and self.is_whole:
            return f"is no longer defined here; the name still stands at {_join_numbers(uses)}"
        return ""

    def _find_owner(self, scopes: Sequence[Scope], at: int, kind: NameKind) -> str:
        """Return the names of what stands around a line, outer ones first; of an attribute, its class."""
        names: list[str] = []
        for scope in scopes:
            if scope.start > at:
                break
            if at > scope.end:
                continue
            heads = (self.lines[each].text for each in range(scope.start, scope.head_end + 1))
            head, match = next(((text, each) for text in heads if (each := _DEFINITION.match(text))), ("", None))
            is_itself = kind is NameKind.DEFINITION and at <= scope.head_end
            if match and not is_itself and (kind is not NameKind.ATTRIBUTE or _CLASS.match(head)):
                names.append(match[1])
        return ".".join(names)


def _join_numbers(numbers: Sequence[int]) -> str:
    more = len(numbers) - _MAX_PLACES
    shown = ", ".join(str(number) for number in numbers[:_MAX_PLACES])
    return f"line{'s' if len(numbers) > 1 else ''} {shown}" + (f" and {more} more" if more > 0 else "")


def _flatten(path: str) -> str:
    return " ".join(path.split())


# --- code that moved


def _list_moved(looks: Sequence[_FileLook]) -> Iterator[str]:
    """Yield a line for each run of removed lines that was added word for word, but for blanks before and after."""
    places: dict[str, list[tuple[int, int]]] = {}
    added = [[line for line in look.lines if line.mark == "+" and line.text.strip()] for look in looks]
    for number, lines in enumerate(added):
        for at, line in enumerate(lines):
            places.setdefault(line.text.strip(), []).append((number, at))
    runs: list[tuple[int, str]] = []
    for look in looks:
        removed = [line for line in look.lines if line.mark == "-" and line.text.strip()]
        at = 0
        while at < len(removed):
            length, target = _measure_run(removed, at, added, places)
            texts = [line.text.strip() for line in removed[at : at + length]]
            if length >= _MIN_MOVED_LINES and len("".join(texts)) >= _MIN_MOVED_LENGTH:
                telling = next((text for text in texts if len(text) >= _MIN_FIRST_LINE), texts[0])
                first = truncate_text(telling, _MAX_FIRST_LINE).replace("`", "'")
                where = "within" if looks[target].path == look.path else f"to {looks[target].path} from"
                runs.append(
                    (length, f"Moved {where} {look.path}, word for word: {length} lines from `{first}` on")
                )
            at += max(length, 1)
    runs.sort(key=lambda run: -run[0])
    yield from (text for _, text in runs[:_MAX_MOVED])
    if len(runs) > _MAX_MOVED:
        yield f"Moved: {format_count(len(runs) - _MAX_MOVED, 'shorter piece')} of code, not listed here"


def _measure_run(
    removed: Sequence[DiffLine],
    at: int,
    added: Sequence[Sequence[DiffLine]],
    places: Mapping[str, Sequence[tuple[int, int]]],
) -> tuple[int, int]:
    """Return the length of the longest run from a removed line on that was added, and the number of its file."""
    best, target = 0, 0
    # of a line that stands everywhere, the first few places are enough
    for number, start in places.get(removed[at].text.strip(), ())[:20]:
        length = 0
        lines = added[number]
        while (
            at + length < len(removed)
            and start + length < len(lines)
            and removed[at + length].text.strip() == lines[start + length].text.strip()
        ):
            length += 1
        if length > best:
            best, target = length, number
    return best, target
