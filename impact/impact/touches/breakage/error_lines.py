"""One line of an error: what kind it is, and the names that it says.

The wordings are those of CPython 3.8 to 3.13, pydantic, msgspec, argparse, click and PyTorch, and those of people
who quote them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

# characters of one line that are read; a longer one is data, not a message
MAX_LINE = 2_000
MAX_NAMES = 20


class ErrorKind(StrEnum):
    UNEXPECTED_ARGUMENT = "unexpected argument"
    MISSING_ARGUMENT = "missing argument"
    ARGUMENT_COUNT = "number of arguments"
    REPEATED_ARGUMENT = "argument passed twice"
    IMPORT = "name that can't be imported"
    MODULE = "module that isn't there"
    ATTRIBUTE = "missing attribute"
    ABSTRACT = "abstract member"
    FIELD = "field that isn't accepted"
    MISSING_FIELD = "missing field"
    FLAG = "unknown flag"
    KEY = "missing key"
    UNPACK = "result of another shape"
    OP = "op that isn't there"
    NAME = "unknown name"
    OTHER = "error"


@dataclass(frozen=True, slots=True)
class ErrorLine:
    """An error's line.

    ``exception`` is the class of the exception, empty if the line names none. ``owner`` is the dotted class or
    module that it is about, ``function`` the function. ``names`` are the arguments, attributes, members, modules,
    flags or fields. ``expected`` and ``passed`` count arguments with ``self``, ``expected`` the most that fit.
    ``is_cut``: the last name may go on, as its closing quote is missing.
    """

    kind: ErrorKind
    text: str
    exception: str = ""
    owner: str = ""
    function: str = ""
    names: tuple[str, ...] = ()
    expected: int | None = None
    passed: int | None = None
    is_cut: bool = False


_EXCEPTION = re.compile(
    r"(?<![\w.])(?:[A-Za-z_]\w{0,80}\.){0,8}([A-Z]\w{0,80}(?:Error|Exception|Warning|Interrupt))\b"
)
# a name begins where no other character of a name stands before it, so that each text is searched in one pass
_FUNCTION = r"(?:(?<![\w.<>])(?P<function>[A-Za-z_<][\w.<>]{0,200})(?:\(\))?[`'\"]? )?"
_QUOTED = r"[`'\"]?(?P<names>[A-Za-z_]\w{0,200})(?P<end>[`'\"]?)"
_NAME = r"[`'\"]?[A-Za-z_]\w{0,200}[`'\"]?"
_LIST = rf"(?P<list>{_NAME}(?:(?:, and | and |, ){_NAME}){{0,40}})"
_FLAGS = r"(?P<list>[^\n]{1,600})"
_COUNT = r"(?P<{}>\d{{1,4}})"
_OWNER = r"[`'\"](?P<owner>[\w.]{1,200})[`'\"]"

_ARGUMENTS = r"(?:arg|kwarg)(?:ument)?s?:?"

_WORDINGS: tuple[tuple[ErrorKind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile("".join(parts)))
    for kind, *parts in (
        (
            ErrorKind.UNEXPECTED_ARGUMENT,
            rf"{_FUNCTION}(?:(?:got|received) (?:an )?)?unexpected (?:keyword )?{_ARGUMENTS} {_QUOTED}",
        ),
        (
            ErrorKind.MISSING_ARGUMENT,
            rf"{_FUNCTION}missing (?:\d{{1,4}} )?(?:a )?required ",
            rf"(?:positional |keyword-only )?{_ARGUMENTS} {_LIST}",
        ),
        (
            ErrorKind.ARGUMENT_COUNT,
            rf"{_FUNCTION}takes (?:from \d{{1,4}} to )?{_COUNT.format('expected')} positional arguments? but ",
            rf"{_COUNT.format('passed')} (?:positional|was|were)",
        ),
        (
            ErrorKind.ARGUMENT_COUNT,
            rf"{_FUNCTION}takes exactly {_COUNT.format('expected')} arguments? \({_COUNT.format('passed')} given",
        ),
        (ErrorKind.ARGUMENT_COUNT, rf"{_FUNCTION}takes no (?:keyword )?arguments"),
        (ErrorKind.REPEATED_ARGUMENT, rf"{_FUNCTION}got multiple values for (?:keyword )?argument {_QUOTED}"),
        (ErrorKind.IMPORT, rf"cannot import name {_QUOTED}(?: from (?:partially initialized module )?{_OWNER})?"),
        (ErrorKind.MODULE, r"No module named [`'\"]?(?P<module>[\w.]{1,300})(?P<end>[`'\"]?)"),
        (ErrorKind.OP, r"(?:No such operator|no attribute|Could not run) [`'\"]?(?P<op>\w{1,80}::\w{1,120})"),
        (ErrorKind.OP, rf"'_?Op\w{{0,20}}' {_OWNER} object has no attribute {_QUOTED}"),
        (ErrorKind.ATTRIBUTE, rf"(?:{_OWNER}(?: object)?|[Mm]ock object) has no attribute {_QUOTED}"),
        (
            ErrorKind.ATTRIBUTE,
            rf"<(?:class|module) {_OWNER}[^>\n]{{0,400}}> does not have the attribute {_QUOTED}",
        ),
        (ErrorKind.ATTRIBUTE, rf"(?:property|attribute) {_QUOTED} of {_OWNER} objects? (?:has no|is not)"),
        (ErrorKind.ATTRIBUTE, rf"(?:has no|doesn't have(?: an)?|does not have(?: an)?) attribute {_QUOTED}"),
        (
            ErrorKind.ABSTRACT,
            r"Can't instantiate abstract class [`'\"]?(?P<owner>\w{1,200})[`'\"]? ",
            rf"with(?:out an implementation for)? (?:the )?abstract methods? {_LIST}",
        ),
        (ErrorKind.FLAG, rf"unrecognized arguments?: {_FLAGS}"),
        (ErrorKind.FLAG, rf"[Nn]o such option:? {_FLAGS}"),
        (ErrorKind.FLAG, r"argument (?P<list>--?[A-Za-z][\w/, -]{1,200}): "),
        (ErrorKind.FIELD, rf"contains unknown field {_QUOTED}"),
        (ErrorKind.MISSING_FIELD, rf"missing required field {_QUOTED}"),
        (ErrorKind.UNPACK, r"(?:too many|not enough) values to unpack|cannot unpack non-iterable"),
        (ErrorKind.NAME, rf"name {_QUOTED} is not defined"),
        (ErrorKind.KEY, r"KeyError: [`'\"](?P<key>[^'\"`\n]{1,200})"),
    )
)
# how people write a constructor: "`Scheduler` init"
_CLASS_BEFORE = re.compile(r"(?<!\w)([A-Z]\w{1,120})[`'\"]?\s\Z")
_MAX_BEFORE = 130
# what is code by its form: two words with an underscore between them, or with capitals inside
_CODE_NAME = re.compile(r"(?<![\w.])(?:[A-Za-z]\w{0,60}_\w{1,60}|[A-Z][a-z0-9]{1,40}[A-Z]\w{1,60})")
_LISTED = re.compile(r"(?<!\w)[A-Za-z_]\w{0,200}")
_FLAG_NAME = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]{0,100}")


def parse_error_line(line: str) -> ErrorLine | None:
    """Return the error that a line says; None if it says none."""
    return next(iterate_error_lines(line), None)


def iterate_error_lines(line: str) -> Iterator[ErrorLine]:
    """Yield each error that a line says: people quote several in one. They come in the order of the text."""
    text = line[:MAX_LINE].strip()
    exceptions = _EXCEPTION.findall(text)
    exception = exceptions[0] if exceptions else ""
    matches = sorted(_find_wordings(text), key=lambda each: each[1].start())
    known = [_build_line(kind, match, text, exception) for kind, match in matches]
    yield from known
    if exception and not known:
        names = (name for name in _CODE_NAME.findall(text) if not _EXCEPTION.match(name))
        yield ErrorLine(ErrorKind.OTHER, text, exception, names=tuple(dict.fromkeys(names))[:MAX_NAMES])


def _find_wordings(text: str) -> Iterator[tuple[ErrorKind, re.Match[str]]]:
    """Yield the matches of all wordings; of two that overlap only the first."""
    covered: list[tuple[int, int]] = []
    for kind, pattern in _WORDINGS:
        for match in pattern.finditer(text):
            start, end = match.span()
            if all(end <= other_start or other_end <= start for other_start, other_end in covered):
                covered.append((start, end))
                yield kind, match


def _build_line(kind: ErrorKind, match: re.Match[str], text: str, exception: str) -> ErrorLine:
    groups = match.groupdict()
    written = groups.get("function") or ""
    # "it got multiple values" names no function
    is_named = "()" in match[0] or written == "init" or _CODE_NAME.search(written)
    owner, function = _split_function(written if is_named else "")
    if function in ("init", "__init__") and not owner:
        before = _CLASS_BEFORE.search(text[: match.start()][-_MAX_BEFORE:])
        owner = before[1] if before else ""
    if kind is ErrorKind.MODULE:
        owner = groups["module"]
    return ErrorLine(
        kind,
        text,
        exception,
        groups.get("owner") or owner,
        function,
        _list_names(kind, groups),
        _parse_count(groups.get("expected")),
        _parse_count(groups.get("passed")),
        is_cut=groups.get("end") == "" and match.end() == len(match.string),
    )


def _split_function(text: str) -> tuple[str, str]:
    """Split a function's qualified name into its class and its own name; a class is its constructor."""
    parts = [part for part in text.split(".") if part and part != "<locals>"]
    if not parts:
        return "", ""
    if parts[-1].lstrip("_")[:1].isupper():
        return ".".join(parts), "__init__"
    return ".".join(parts[:-1]), parts[-1]


def _list_names(kind: ErrorKind, groups: dict[str, str | None]) -> tuple[str, ...]:
    """Return the names of a match, without repetitions."""
    if single := groups.get("names") or groups.get("op") or groups.get("key"):
        return (single,)
    pattern = _FLAG_NAME if kind is ErrorKind.FLAG else _LISTED
    names = pattern.findall(groups.get("list") or "")
    # people go on with "and AttributeError: …"
    return tuple(dict.fromkeys(name for name in names if name != "and" and not _EXCEPTION.match(name)))[:MAX_NAMES]


def _parse_count(text: str | None) -> int | None:
    return int(text) if text else None
