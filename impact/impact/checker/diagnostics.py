"""What a type checker says of a tree before and after a merge, and what of it is new and fails at run time."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, pairwise

from impact.errors import ImpactError
from impact.profile.file_uses import is_test
from impact.profile.models import MAX_LINE_LENGTH, Use, UseKind
from impact.python.syntax import parse_source
from impact.text.strings import collapse_lines, truncate_text

# what is made of its output; raise it when that becomes other, so that nothing kept is taken for it
CHECK_VERSION = 2
# what it says where a method overrides another one: that it no longer does is told by its end
OVERRIDES = "missing-override-decorator"
# each kind that is asked for, with the use that it is about. They are those of one version: another one has others
KINDS: Mapping[str, UseKind] = {
    "missing-import": UseKind.IMPORT,
    "missing-module-attribute": UseKind.IMPORT,
    "missing-attribute": UseKind.READ,
    "missing-attribute-patch-target": UseKind.PATCH,
    "unknown-name": UseKind.READ,
    "missing-argument": UseKind.CALL,
    "unexpected-keyword": UseKind.CALL,
    "unexpected-positional-argument": UseKind.CALL,
    "bad-argument-count": UseKind.CALL,
    "bad-keyword-argument": UseKind.CALL,
    "no-matching-overload": UseKind.CALL,
    "not-callable": UseKind.CALL,
    "not-async": UseKind.CALL,
    "unused-coroutine": UseKind.CALL,
    "bad-instantiation": UseKind.CALL,
    "bad-unpacking": UseKind.CALL,
    "not-iterable": UseKind.READ,
    "invalid-argument": UseKind.READ,
    "read-only": UseKind.SET,
    "bad-context-manager": UseKind.CALL,
    "invalid-inheritance": UseKind.SUBCLASS,
    "implicit-abstract-class": UseKind.SUBCLASS,
    "bad-override": UseKind.OVERRIDE,
    "bad-override-param-name": UseKind.OVERRIDE,
    OVERRIDES: UseKind.OVERRIDE,
    "bad-assignment": UseKind.PATCH,
    "bad-argument-type": UseKind.CALL,
    "bad-index": UseKind.CALL,
    "unsupported-operation": UseKind.CALL,
}
# what it says unasked: of a file that it can't parse, of its own defects, and lesser parts of the kinds above
_UNASKED = frozenset(
    "invalid-syntax parse-error internal-error bad-override-mutable-attribute bad-param-name-override"
    " direct-abstract-base-instantiation".split()
)
# kinds of which the texts after the first line, with the types, say whether it is another one
_TOLD_BY_TYPES = frozenset({"bad-override", "bad-override-param-name", "bad-assignment"})
_FUNCTION = re.compile(r"`(\([^`]*)`")
_NAME = re.compile(r"`([A-Za-z_][\w.]*)`")
# other types fail only where a value has to be awaited first
_TYPES_ALONE = frozenset({"bad-argument-type", "bad-index", "unsupported-operation"})
_AWAITED = "`Coroutine["
# a value that may be None fails only where it is
_ONLY_NONE = re.compile(r"`(?:NoneType|None)`")
# what holds no other statement
_PLAIN = (ast.expr, ast.alias, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.Expr)
_MAX_MESSAGE, _MAX_DIAGNOSTICS = 240, 200_000


# a file of the team and a line in it
Place = tuple[str, int]


class CheckerError(ImpactError):
    """What the checker gave is not what its version gives, so that nothing of it can be relied on."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """What the checker says of lines of a file, which count from 1. ``details`` are further lines on the types."""

    kind: str
    path: str
    line: int
    message: str
    details: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A use that fails only after a merge, as the checker says it. ``names`` are those that it speaks of.

    ``line`` is the one that it names; ``lines`` are where the expressions begin that the use is a part of.
    """

    kind: str
    use: Use
    message: str
    names: tuple[str, ...] = ()
    lines: frozenset[int] = frozenset()
    line: int = 0


@dataclass(frozen=True, slots=True)
class CheckedState:
    """What the checker says of a team's tree beside one state of upstream, by each file that was looked at.

    ``unread`` are upstream's files that could not be read.
    """

    files: Mapping[str, tuple[Diagnostic, ...]] = field(default_factory=dict)
    unread: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Witness:
    """What the checker found of a merge, and the files of the team that it looked at before and after it."""

    findings: tuple[Finding, ...]
    paths: Collection[str]


@dataclass(frozen=True, slots=True)
class CheckedMerges:
    """What the checker found along a line of commits, by the commit of the merge from which on it fails.

    It looked at ``paths`` of the team at both ends of the line, and at those of ``looked`` before and after that
    merge alone: so what it did not find of a merge says something of these files only. ``alone`` says as a clause
    why the rules judge alone each merge of which nothing is here, not even that there is no finding. ``checks`` is
    how often it was started.
    """

    findings: Mapping[str, tuple[Finding, ...]] = field(default_factory=dict)
    looked: Mapping[str, frozenset[str]] = field(default_factory=dict)
    paths: frozenset[str] = frozenset()
    alone: str = ""
    checks: int = field(default=0, compare=False)

    def get_witness(self, commit: str) -> Witness | None:
        """Return what the checker says of a merge; None where it was not asked."""
        if self.alone and commit not in self.findings:
            return None
        return Witness(self.findings.get(commit, ()), self.looked.get(commit, frozenset()))

    @property
    def net(self) -> Witness | None:
        """What the checker says of all merges of the line together."""
        return None if self.alone else Witness(tuple(chain.from_iterable(self.findings.values())), self.paths)

    @property
    def sentence(self) -> str:
        """Who judged, for a person."""
        if self.alone:
            checked = len(self.findings)
            besides = f", but for {checked} {'merge' if checked == 1 else 'merges'}" if checked else ""
            return f"The rules judged alone{besides}: {self.alone}."
        return f"A type checker judged beside the rules, in {len(self.paths):,} of your files."


# where only a profile of a tree is at hand
NOT_CHECKED = CheckedMerges(alone="no clone of your code is at hand")
# where nobody wants it
LEFT_OUT = CheckedMerges(alone="the type checker was left out")


def parse_output(data: bytes) -> tuple[Diagnostic, ...]:
    """Read the checker's JSON. Raises CheckerError for a kind that is not known, or another form."""
    try:
        rows = json.loads(data)["errors"]
        read = tuple(map(_read_row, rows[:_MAX_DIAGNOSTICS]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CheckerError(
            "The type checker gave no list of diagnostics: is another version installed?"
        ) from error
    unknown = sorted({each.kind for each in read} - KINDS.keys() - _UNASKED)
    if unknown:
        raise CheckerError(
            f"The type checker gave diagnostics of the unknown kind {unknown[0]!r}: impact knows those of one "
            "version alone, which `pip install prdigest-impact[checker]` installs."
        )
    return tuple(each for each in read if each.kind in KINDS)


def _read_row(row: Mapping[str, object]) -> Diagnostic:
    kind, path, line = row["name"], row["path"], row["line"]
    texts = row["concise_description"], row["description"]
    if not isinstance(kind, str) or not isinstance(path, str) or not isinstance(line, int):
        raise TypeError
    message, details = (str(text) for text in texts)
    return Diagnostic(kind, path, line, message, details if kind in _TOLD_BY_TYPES else "")


def list_new(before: Iterable[Diagnostic], after: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return what fails only after a merge, once for each use. The team's files are the same on both sides."""
    old, new = ({_identify(each): each for each in side} for side in (before, after))
    # a call that failed before has a reason of its own, whatever the checker says of it now
    failed = {(each.path, each.line) for each in old.values() if _is_call(each) and _is_sure(each)}
    fresh = [
        each
        for key, each in new.items()
        if key not in old and each.kind != OVERRIDES and _is_sure(each)
        if not (_is_call(each) and (each.path, each.line) in failed)
    ]
    gone = (each for key, each in old.items() if key not in new and each.kind == OVERRIDES)
    lost = _list_lost_overrides(list(gone), new.values(), fresh)
    by_use: dict[tuple[str, int, UseKind, str], Diagnostic] = {}
    for each in (*fresh, *lost):
        by_use.setdefault(name_use(each), each)
    return list(by_use.values())


def name_use(failing: Diagnostic | Finding) -> tuple[str, int, UseKind, str]:
    """Return what stands for the use that fails, whatever is said of it. A line may import several names."""
    path, kind = failing.path if isinstance(failing, Diagnostic) else failing.use.path, KINDS[failing.kind]
    return path, failing.line, kind, failing.message if kind is UseKind.IMPORT else ""


def _identify(diagnostic: Diagnostic) -> tuple[str, int, str, str]:
    """Return what makes it the same one after a merge: of an override, the parameters and no other types."""
    types = _read_types(diagnostic)
    text = " / ".join(types) if types else diagnostic.message
    return diagnostic.path, diagnostic.line, diagnostic.kind, text


def _is_call(diagnostic: Diagnostic) -> bool:
    return KINDS[diagnostic.kind] is UseKind.CALL


def _is_sure(diagnostic: Diagnostic) -> bool:
    """Return whether it fails when it is run: other annotations alone do not."""
    if diagnostic.kind in _TOLD_BY_TYPES:
        types = _read_types(diagnostic)
        return types[0] != types[1] if types else diagnostic.kind == "bad-override-param-name"
    if diagnostic.kind in _TYPES_ALONE:
        return _AWAITED in diagnostic.message
    return not _ONLY_NONE.search(diagnostic.message)


def _read_types(diagnostic: Diagnostic) -> tuple[str, str] | None:
    """Return the parameters of the team's function and of upstream's; None where these are no two functions."""
    parts = [_FUNCTION.findall(part) for part in diagnostic.details.split("is not assignable to")]
    both = next(((left[-1], right[0]) for left, right in pairwise(parts) if left and right), None)
    return (_list_parameters(both[0]), _list_parameters(both[1])) if both else None


def _list_parameters(function: str) -> str:
    """Return ``(a, b=…)`` of ``(a: int, b: str = 'x') -> bool``."""
    kept, depth, is_name = [], 0, True
    for char in function:
        depth += (char in "([{") - (char in ")]}")
        if depth == 0:
            break
        if depth == 1 and char == ",":
            kept.append(",")
            is_name = True
        elif depth == 1 and is_name and char in ":=":
            is_name = False
        elif depth == 1 and char == "=":
            kept.append("=")
        if is_name and depth == 1 and char not in ", (":
            kept.append(char)
    return "".join(kept)


def _list_lost_overrides(
    gone: Sequence[Diagnostic], after: Iterable[Diagnostic], fresh: Iterable[Diagnostic]
) -> Iterator[Diagnostic]:
    """Yield the methods that override nothing any more, in classes whose bases are all still known."""
    known = {_name_class(each) for each in after if each.kind == OVERRIDES}
    broken = {each.path for each in fresh if each.kind in ("missing-import", "missing-module-attribute")}
    counts = Counter(map(_name_class, gone))
    for each in gone:
        # of a class without a base that is known, all methods are gone
        if (name := _name_class(each)) in known or (counts[name] == 1 and each.path not in broken):
            member = next(iter(_NAME.findall(each.message)), "the method")
            yield Diagnostic(each.kind, each.path, each.line, f"`{member}` overrides nothing any more")


def _name_class(diagnostic: Diagnostic) -> tuple[str, str]:
    return diagnostic.path, next(iter(_NAME.findall(diagnostic.message)), "").rpartition(".")[0]


def build_finding(diagnostic: Diagnostic, text: str) -> Finding:
    """Return the finding that a diagnostic is. ``text`` is that of its file."""
    details = diagnostic.details.partition("Signature")[0]
    names = tuple(dict.fromkeys(_NAME.findall(f"{diagnostic.message}\n{details}")))
    name = _name_use(diagnostic, names)
    parts = [
        node
        for node in _list_plain_nodes(text)
        if node.lineno <= diagnostic.line <= (node.end_lineno or node.lineno)
    ]
    kind, lines = KINDS[diagnostic.kind], text.split("\n")
    last = name.removesuffix(".__init__").rpartition(".")[2]
    calls = (each.lineno for each in parts if isinstance(each, ast.Call) and _get_last_name(each.func) == last)
    line = max(calls, default=diagnostic.line)
    shown = lines[line - 1].strip()[:MAX_LINE_LENGTH] if 0 < line <= len(lines) else ""
    use = Use(kind, name, diagnostic.path, line, shown, is_test=is_test(diagnostic.path))
    message = truncate_text(collapse_lines(diagnostic.message), _MAX_MESSAGE)
    beginnings = frozenset((diagnostic.line, *(each.lineno for each in parts)))
    return Finding(diagnostic.kind, use, message, names, beginnings, diagnostic.line)


# of a file that is read for each of its findings
@lru_cache(maxsize=64)
def _list_plain_nodes(text: str) -> list[ast.expr | ast.alias | ast.stmt]:
    tree = parse_source(text)
    return [node for node in (ast.walk(tree) if tree else ()) if isinstance(node, _PLAIN)]


def _name_use(diagnostic: Diagnostic, names: Sequence[str]) -> str:
    """Return the full name of what a diagnostic is about, as far as it says so."""
    if len(names) > 1 and diagnostic.message.startswith(("Could not import", "No attribute")):
        return f"{names[1]}.{names[0]}"
    if len(names) > 1 and " has no attribute " in diagnostic.message:
        return f"{names[0]}.{names[1]}"
    # the name of a function is longer than those of its arguments
    return max((each for each in names if "." in each), key=len, default=next(iter(names), ""))


def _get_last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
