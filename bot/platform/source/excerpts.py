"""The code around changed lines: the functions that hold them, within a limit of lines."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from bot.platform.pulls.diff import DiffLine, split_hunks
from bot.platform.pulls.models import ChangedFile
from impact.errors import attempt
from impact.python.syntax import parse_source
from impact.source.models import SourceFile

# --- functions and classes

# Python is parsed. In other languages braces alone tell: a grammar for each language would be exact, but those
# that were tried take minutes for files that somebody made for that (docs/decisions/0007-whole-functions.md).
# This takes time in proportion to the text.

_BRACE_SUFFIXES = frozenset(
    ".c .h .cc .hh .cpp .hpp .cxx .hxx .cu .cuh .inl .hip .m .mm .metal .java .kt .scala .cs .swift .go .rs "
    ".js .jsx .mjs .cjs .ts .tsx .mts .cts .php .dart .proto".split()
)
_PYTHON_SUFFIXES = frozenset({".py", ".pyi"})
# comments, strings and characters, whose braces do not count, then the characters that do. An apostrophe is the
# beginning of a character only if the character ends on the line, as Rust has lifetimes and C++ has 1'000
_TOKEN = re.compile(
    r"""
    //[^\n]* | /\*(?:[^*]|\*(?!/))*+(?:\*/)?
    | "(?:[^"\\\n]|\\.)*+"? | `(?:[^`\\]|\\.)*+`? | '(?:[^'\\\n]|\\[^\n]{1,8})'
    | ^[ \t]*\#(?:[^\n\\]|\\.)*+
    | (?P<mark>[{};])
    """,
    re.X | re.M | re.S,
)
_WORD = re.compile(r"[A-Za-z_]\w*")
# what opens a block that is no function or class: a statement, or a value
_STATEMENT = (
    r"(?:if|else|for|foreach|while|do|loop|switch|select|match|case|default|try|catch|finally|return|throw|yield|unsafe"
    r"|go|defer|synchronized|using|lock|namespace|extern|import|export|use|mod)"
)
# words after a statement's that make it a function or class all the same, as in ``export class``
_DECLARATION = r"(?!\s+(?:class|function|default|async|const|interface|enum|abstract)\b)"
_NO_SCOPE = re.compile(rf"^\W*{_STATEMENT}\b{_DECLARATION}|=\s*(?:{_STATEMENT}\b|$)|[,:\[(]\s*$")
_CLASS = re.compile(
    r"\b(?:class|struct|union|enum|interface|trait|impl|object|protocol|extension|message|service)\b"
)
_BLANK_LINE = re.compile(r"\n[ \t]*(?=\n)")
# characters of a head: longer ones are lists of values
_MAX_HEAD = 4_000


@dataclass(frozen=True, slots=True)
class Scope:
    """A function or class by its lines from 1; decorators and signature go to ``head_end``."""

    start: int
    head_end: int
    end: int


def has_scopes(path: str) -> bool:
    """Return whether functions and classes of such a file can be found, by its name."""
    return PurePosixPath(path).suffix.lower() in _PYTHON_SUFFIXES | _BRACE_SUFFIXES


def list_scopes(path: str, text: str) -> tuple[Scope, ...]:
    """List functions and classes, outer ones first; none of other languages, and what this Python can't parse."""
    return attempt(path, _list_scopes, path, text) or ()


def _list_scopes(path: str, text: str) -> tuple[Scope, ...]:
    suffix = PurePosixPath(path).suffix.lower()
    if suffix in _PYTHON_SUFFIXES:
        scopes = _list_python_scopes(text)
    elif suffix in _BRACE_SUFFIXES:
        scopes = _list_brace_scopes(text)
    else:
        return ()
    return tuple(sorted(scopes, key=lambda scope: (scope.start, -scope.end)))


def _list_python_scopes(text: str) -> Iterator[Scope]:
    tree = parse_source(text)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            start = _get_first_line(node)
            head_end = max(start, node.lineno, _get_first_line(node.body[0]) - 1)
            end = node.end_lineno or node.lineno
            yield Scope(start, min(head_end, end), end)


def _get_first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def _list_brace_scopes(text: str) -> Iterator[Scope]:
    """Yield the blocks that are a function or class. One without an end reaches to the end of the text."""
    line, at = 1, 0
    head_start = 0  # where the statement begins that a brace may end
    open_heads: list[tuple[int, int] | None] = []
    for token in _TOKEN.finditer(text):
        mark = token["mark"]
        if not mark:
            continue
        line, at = line + text.count("\n", at, token.start()), token.start()
        if mark == "{":
            open_heads.append(_find_head(text, head_start, at, line))
        elif mark == "}" and open_heads:
            head = open_heads.pop()
            if head:
                yield Scope(*head, line)
        head_start = token.end()
    last = line + text.count("\n", at) - text.endswith("\n")
    yield from (Scope(*head, max(last, head[1])) for head in open_heads if head)


def _find_head(text: str, start: int, brace: int, line: int) -> tuple[int, int] | None:
    """Return the first and last line of the head before a brace, None if it opens no function or class."""
    if brace - start > _MAX_HEAD:
        return None
    code = _TOKEN.sub(lambda token: "\n" * token[0].count("\n"), text[start:brace])
    statement = _find_last_statement(code)
    if not statement or _NO_SCOPE.search(statement) or not ("(" in statement or _CLASS.search(statement)):
        return None
    # what stands before a blank line belongs to something else, in languages without semicolons
    before = _BLANK_LINE.split(code)[-1]
    return line - before.lstrip().count("\n"), line


def _find_last_statement(code: str) -> str:
    """Return the last lines of a head whose parentheses are balanced; empty if there are none."""
    lines = code.split("\n")
    balance = 0
    for at in range(len(lines) - 1, -1, -1):
        balance += lines[at].count(")") - lines[at].count("(")
        if not balance and _WORD.search(lines[at]):
            return "\n".join(lines[at:])
    return ""


# --- excerpts

# places of one hunk that are compared, before and after where its header says that it stands
_MAX_PLACES = 50
# lines: the head of a longer function or class is cut
_MAX_HEAD_LINES = 12


def annotate_file(file: SourceFile, patch: str) -> tuple[DiffLine, ...] | None:
    """Return the lines of a file after a change with the deleted ones between them, None if the patch differs.

    A patch is the diff of a pull request's own branch: once it is merged, its lines may stand further down or up
    in the file, because others changed the file too. The line numbers returned are those in the file.
    """
    lines, index = file.lines, dict[str, list[int]]()
    for at, line in enumerate(lines):
        index.setdefault(line, []).append(at)
    annotated: list[DiffLine] = []
    shift = 0  # lines by which the last hunk stands further down than its header says
    done, old = 0, 1  # lines of the file that are annotated, and the number of the next line before the change
    for _, hunk in split_hunks(patch):
        block = [each.text for each in hunk if each.mark != "-"]
        # a hunk with nothing on its new side is numbered by the line before it
        expected = hunk[0].new - bool(block) + shift
        place = _find_lines(lines, index, block, expected, done)
        if place is None:
            return None
        shift += place - expected
        annotated += (DiffLine(" ", lines[at], old + at - done, at + 1) for at in range(done, place))
        old, new = old + place - done, place + 1
        for each in hunk:
            annotated.append(DiffLine(each.mark, each.text, old, new, each.lacks_newline))
            old += each.mark != "+"
            new += each.mark != "-"
        done = place + len(block)
    annotated += (DiffLine(" ", lines[at], old + at - done, at + 1) for at in range(done, len(lines)))
    return tuple(annotated)


def restore_old_text(annotated: Sequence[DiffLine]) -> str:
    return "".join(f"{line.text}\n" for line in annotated if line.mark != "+")


def _find_lines(
    lines: Sequence[str], index: Mapping[str, Sequence[int]], block: list[str], expected: int, least: int
) -> int | None:
    """Return where a block of lines stands, nearest to ``expected``; ``index`` is of single lines."""
    if not block:
        return min(max(expected, least), len(lines))
    rarest = min(range(len(block)), key=lambda at: len(index.get(block[at], ())))
    places = index.get(block[rarest], ())
    middle = bisect_left(places, expected + rarest)
    candidates = [at - rarest for at in places[max(middle - _MAX_PLACES, 0) : middle + _MAX_PLACES]]
    fitting = [at for at in candidates if at >= least and lines[at : at + len(block)] == block]
    return min(fitting, key=lambda at: abs(at - expected), default=None)


@dataclass(frozen=True, slots=True)
class ContextLevel:
    """How much is shown around a change, in lines.

    A function or class of up to ``whole`` lines is shown whole. Of a longer one, its head is shown if
    ``has_heads``, and ``near`` lines before and after each changed line.
    """

    near: int
    whole: int = 0
    has_heads: bool = False


@dataclass(frozen=True, slots=True)
class AnnotatedChange:
    """An annotated file with its scopes before and after, by indices into ``lines``, not line numbers."""

    lines: tuple[DiffLine, ...]
    old_scopes: tuple[Scope, ...]
    new_scopes: tuple[Scope, ...]

    @classmethod
    def parse(cls, lines: tuple[DiffLine, ...], path: str, old_path: str | None = None) -> AnnotatedChange:
        new_text = "".join(f"{line.text}\n" for line in lines if line.mark != "-")
        new_at = [at for at, line in enumerate(lines) if line.mark != "-"]
        old_at = [at for at, line in enumerate(lines) if line.mark != "+"]
        has_deleted = len(new_at) < len(lines)
        old_scopes = list_scopes(old_path or path, restore_old_text(lines)) if has_deleted else ()
        return cls(lines, _place_scopes(old_scopes, old_at), _place_scopes(list_scopes(path, new_text), new_at))

    def select_lines(self, level: ContextLevel) -> list[int]:
        """Return the indices of the lines to show, ascending: all changed lines, and the context of the level."""
        changes = [at for at, line in enumerate(self.lines) if line.is_change]
        shown: set[int] = set()
        for at in changes:
            shown.update(range(max(at - level.near, 0), min(at + level.near + 1, len(self.lines))))
        for scopes, hidden in ((self.old_scopes, "+"), (self.new_scopes, "-")):
            visible = [at for at in changes if self.lines[at].mark != hidden]
            for innermost, *outer in _list_owners(scopes, visible, len(self.lines)):
                if innermost.end - innermost.start < level.whole:
                    shown.update(range(innermost.start, innermost.end + 1))
                    heads = outer
                else:
                    heads = [innermost, *outer]
                for scope in heads if level.has_heads else ():
                    shown.update(range(scope.start, min(scope.head_end + 1, scope.start + _MAX_HEAD_LINES)))
        return sorted(shown)


def _place_scopes(scopes: Iterable[Scope], places: Sequence[int]) -> tuple[Scope, ...]:
    """Convert line numbers of one side into indices. ``places`` has the index of each line of that side."""
    return tuple(
        Scope(places[scope.start - 1], places[scope.head_end - 1], places[scope.end - 1])
        for scope in scopes
        if scope.end <= len(places)
    )


def _list_owners(scopes: Sequence[Scope], changes: Iterable[int], count: int) -> Iterator[list[Scope]]:
    """Yield, for each innermost function or class with a change, itself and what it stands in, innermost first."""
    innermost: list[int | None] = [None] * count
    parents: list[int | None] = []
    for number, scope in enumerate(scopes):
        # outer ones come first, so what a line has now is the next outer one
        parents.append(innermost[scope.start])
        innermost[scope.start : scope.end + 1] = [number] * (scope.end + 1 - scope.start)
    for owner in sorted({owner for at in changes if (owner := innermost[at]) is not None}):
        chain, outer = [scopes[owner]], parents[owner]
        while outer is not None:
            chain.append(scopes[outer])
            outer = parents[outer]
        yield chain


# lines of a file that are shown at once
MAX_EXCERPT_LINES = 200
# lines: a function or class around a name is shown whole up to this length, else so many lines before and after
_MAX_WHOLE, _NEAR = 60, 10
# the beginning of a line that defines a name: with a keyword before it, or a value or type behind it
_DEFINITION = (
    r"\s{{0,60}}(?:(?:[\w:<>*&]{{1,60}} {{1,4}}){{0,4}}(?:class|def|func|fn|struct|enum|interface|trait|type"
    r"|define|let|const|static|var) {{1,4}}(?:[\w:<>*&]{{1,60}} {{1,4}}){{0,3}}{name}(?!\w)"
    r"|{name} {{0,4}}(?::(?!:)|=(?!=)))"
)


@dataclass(frozen=True, slots=True)
class SourceExcerpt:
    """Consecutive lines of a file, ``+`` where the pull request added them; unknown without ``has_marks``."""

    path: str
    lines: tuple[DiffLine, ...]
    has_marks: bool = True

    @property
    def patch(self) -> str:
        """The lines as a hunk, whose new side has their numbers."""
        return "\n".join([f"@@ -1 +{self.lines[0].new} @@", *(f"{line.mark}{line.text}" for line in self.lines)])


def mark_lines(file: SourceFile, change: ChangedFile | None) -> SourceExcerpt:
    is_untouched = change is None or (change.status == "renamed" and not change.changed_lines)
    is_added = change is not None and change.status == "added"
    if change is not None and not is_untouched and not is_added:
        annotated = annotate_file(file, change.patch) if change.patch and not change.unread else None
        if annotated is not None:
            return SourceExcerpt(file.path, tuple(line for line in annotated if line.mark != "-"))
    mark = "+" if is_added else " "
    lines = tuple(DiffLine(mark, text, number, number) for number, text in enumerate(file.lines, 1))
    return SourceExcerpt(file.path, lines, has_marks=is_untouched or is_added)


def split_excerpt(whole: SourceExcerpt, numbers: Iterable[int]) -> Iterator[SourceExcerpt]:
    """Yield the lines with these ascending numbers of a whole file, as runs of consecutive ones."""
    run: list[DiffLine] = []
    for number in numbers:
        line = whole.lines[number - 1]
        if run and line.new != run[-1].new + 1:
            yield SourceExcerpt(whole.path, tuple(run), whole.has_marks)
            run = []
        run.append(line)
    if run:
        yield SourceExcerpt(whole.path, tuple(run), whole.has_marks)


def list_uses(lines: Sequence[str], name: str, *, is_part: bool = False) -> list[int]:
    """Return the numbers of the lines with a name as a whole word; beside a sign at its end anything may stand."""
    before, after = ("", "") if is_part else (r"(?<!\w)", r"(?!\w)")
    begins, ends = (re.match(r"\w", sign) for sign in (name[:1], name[-1:]))
    word = re.compile(f"{before if begins else ''}{re.escape(name)}{after if ends else ''}")
    # nearly all lines lack it, which is known sooner without the pattern
    return [number for number, text in enumerate(lines, 1) if name in text and word.search(text)]


def find_name(
    file: SourceFile, name: str, most: int = MAX_EXCERPT_LINES, *, is_part: bool = False
) -> tuple[list[int], list[int]]:
    """Return the numbers of the lines around the uses of a name, ascending, and those of all uses.

    There are up to ``most`` lines, of where it is defined first, then from the top. A function or class of up to
    60 lines is shown whole, else ten lines before and after.
    """
    lines = file.lines
    uses = list_uses(lines, name, is_part=is_part)
    scopes = list_scopes(file.path, file.text) if uses else ()
    heads = {number for scope in scopes for number in range(scope.start, scope.head_end + 1)}
    defines = re.compile(_DEFINITION.format(name=re.escape(name)))

    def rank(number: int) -> tuple[bool, bool, int]:
        # a head has names of parameters and bases, too
        return not defines.match(lines[number - 1]), number not in heads, number

    shown: set[int] = set()
    for use in sorted(uses, key=rank):
        if use in shown:
            continue
        # outer ones come first
        scope = next((each for each in reversed(scopes) if each.start <= use <= each.end), None)
        if scope and scope.end - scope.start < _MAX_WHOLE:
            block = range(scope.start, scope.end + 1)
        else:
            block = range(max(use - _NEAR, 1), min(use + _NEAR, len(lines)) + 1)
        if len(shown | set(block)) > most:
            break
        shown.update(block)
    return sorted(shown), uses
