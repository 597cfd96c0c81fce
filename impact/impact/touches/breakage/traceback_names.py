"""What people paste when something broke, and the names in it: tracebacks, logs, output of pytest, sentences."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import zip_longest

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


def iterate_error_lines(line: str) -> Iterator[ErrorLine]:
    """Yield each error that a line says: people quote several in one. They come in the order of the text."""
    text = line[:MAX_LINE].strip()
    exception = next(iter(_EXCEPTION.findall(text)), "")
    matches: list[tuple[ErrorKind, re.Match[str]]] = []
    for kind, pattern in _WORDINGS:
        for match in pattern.finditer(text):
            # of two that overlap, the first wording counts
            if all(match.end() <= other.start() or other.end() <= match.start() for _, other in matches):
                matches.append((kind, match))
    for kind, match in sorted(matches, key=lambda each: each[1].start()):
        yield _build_line(kind, match, text, exception)
    if exception and not matches:
        yield ErrorLine(ErrorKind.OTHER, text, exception, names=_list_distinct(_CODE_NAME.findall(text)))


def _list_distinct(names: Iterable[str]) -> tuple[str, ...]:
    # people go on with "and AttributeError: …"
    return tuple(dict.fromkeys(each for each in names if each != "and" and not _EXCEPTION.match(each)))[:MAX_NAMES]


def _build_line(kind: ErrorKind, match: re.Match[str], text: str, exception: str) -> ErrorLine:
    groups = match.groupdict()
    written = groups.get("function") or ""
    # "it got multiple values" names no function
    is_named = "()" in match[0] or written == "init" or _CODE_NAME.search(written)
    parts = [part for part in written.split(".") if part and part != "<locals>"] if is_named else []
    if parts and parts[-1].lstrip("_")[:1].isupper():
        # a class is its constructor
        parts.append("__init__")
    owner, function = ".".join(parts[:-1]), "".join(parts[-1:])
    if function in ("init", "__init__") and not owner:
        before = _CLASS_BEFORE.search(text[: match.start()][-_MAX_BEFORE:])
        owner = before[1] if before else ""
    if kind is ErrorKind.MODULE:
        owner = groups["module"]
    single = groups.get("names") or groups.get("op") or groups.get("key")
    listed = _FLAG_NAME if kind is ErrorKind.FLAG else _LISTED
    expected, passed = (int(count) if (count := groups.get(side)) else None for side in ("expected", "passed"))
    return ErrorLine(
        kind,
        text,
        exception,
        groups.get("owner") or owner,
        function,
        (single,) if single else _list_distinct(listed.findall(groups.get("list") or "")),
        expected,
        passed,
        is_cut=groups.get("end") == "" and match.end() == len(match.string),
    )


# characters that are read, from both ends of a longer text: a log may hold hours before the error
MAX_TEXT = 200_000
MAX_FRAMES = 200
MAX_ERRORS = 20
MAX_WORDS = 400

_ANSI = re.compile(r"\x1b\[[0-9;:?]{0,40}[A-Za-z]|\x1b\][^\x07\x1b\n]{0,300}(?:\x07|\x1b\\)")
# phones, Slack and word processors replace straight quotation marks with these
_QUOTES = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201b\u2032\u00b4", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"')
    | {"\u00a0": " "}
)
# what logs and launchers write before each line of a traceback
_LOG_PREFIX = re.compile(
    r"^(?:\([^()\n]{1,80}\) )?(?:[A-Z]{4,8} [\d-]{4,10} [\d:.,]{4,15} \[[^\]\n]{1,80}\] ?)?"
    r"(?:\[rank\d{1,5}\]: ?)?"
)
# where a traceback begins in its lines: at its head, or two blanks before a frame
_ANCHOR = re.compile(r"Traceback \(most recent call last\):|  File \\?[\"'][^\"'\n]{1,500}[\"'], line \d")
# one part of what a collector writes before and behind a line; those with digits, in capitals, and the names of
# the two streams differ from line to line
_PREFIX_PART = re.compile(r"(?P<word>[\w.:,+/@-]+)|(?P<blanks>[ \t]+)|(?P<mark>[^\n])")
# the stream of a line of GitLab, with a plus behind it where a line goes on
_GITLAB = re.compile(r"\d\d[OE]")
_STREAMS = {"stdout", "stderr"}
_MAX_PREFIX, _MAX_PREFIXES = 300, 8
# the last parts of the keys under which a log of JSON has its text, up to so many objects deep
_TEXT_KEYS = tuple(
    "log message msg MESSAGE textPayload line body event text exc_info exception stack_trace stack".split()
)
_MAX_OBJECTS = 3
_ADDRESS = re.compile(r"https?://\S{1,500}")
_FRAME = re.compile(
    r"File [\"'](?P<path>[^\"'\n]{1,500})[\"'], line (?P<line>\d{1,9})(?:, in (?P<function>[^\n]{1,200}))?"
)
_PYTEST_FRAME = re.compile(
    r"^(?:E\s{1,8})?(?P<path>[\w./\\~+@-]{1,400}\.pyx?):(?P<line>\d{1,9}):(?: in (?P<function>[\w<>.]{1,200}))?"
)
# the marker of the failing line in pytest's long form
_PYTEST_SOURCE = re.compile(r"^>\s{1,40}(?P<text>\S[^\n]{0,400})")
_UNDERLINE = re.compile(r"[\s~^]*")
_VALIDATION = re.compile(r"validation errors? for (?P<owner>[\w.\[\]]{1,200})")
_FIELD_PATH = re.compile(r"^(?:E\s{1,8})?(?P<names>[A-Za-z_][\w.\->]{0,200})$")
_FIELD_MESSAGE = re.compile(
    r"(?P<extra>Extra inputs are not permitted|extra fields not permitted|Unexpected keyword argument)"
    r"|(?P<missing>Field required|field required|Missing required)"
)
_FIELD_PLACE = re.compile(r"[\"']loc[\"']: ?[(\[](?P<place>[^)\]\n]{1,300})[)\]]")
_QUOTED_WORD = re.compile(r"[\"']([\w-]{1,200})[\"']")

_TOKEN = re.compile(r"--[A-Za-z][\w-]{1,100}|[A-Za-z_]\w{0,120}(?:(?:\.|::?)[A-Za-z_]\w{0,120}){0,10}")
_MIXED_CASE = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_CODE_MARKS = "`'\""
_STOP_WORDS = frozenset(
    "the and for with from this that not was were has have had are but can may due fix error errors because after "
    "object call called calling file line self none true false type most recent last traceback following int str "
    "during handling above another occurred direct cause exception bool dict list tuple which when into our you "
    "your its did mean given got missing required positional argument arguments keyword unexpected attribute "
    "module named name import pull issue".split()
)


@dataclass(frozen=True, slots=True)
class Frame:
    """A line of code on the way to an error. ``path`` has forward slashes; ``text`` is the source line."""

    path: str
    line: int
    function: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class TraceNames:
    """The names in a pasted error.

    ``errors`` has those first that say the most. ``frames`` has the deepest first, ``identifiers`` names of code
    in free text, ``words`` its plain words in lower case.
    """

    errors: tuple[ErrorLine, ...] = ()
    frames: tuple[Frame, ...] = ()
    identifiers: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to look for."""
        return not (self.errors or self.frames or self.identifiers)


def parse_trace(text: str) -> TraceNames:
    """Return the names in a text; never raises, and reads each line once."""
    lines = clean_lines(text)
    frames = _read_frames(lines)
    sources = {frame.text for frame in frames}
    plain = [line for line in lines if not _is_frame(line) and line.strip() not in sources]
    identifiers, words = _collect_tokens([*plain, *(frame.text for frame in frames[-3:])])
    every = (replace(error, text=error.text[:500]) for error in (*_read_errors(lines), *_read_fields(lines)))
    # the last distinct ones, those that name something first; a cause stands before its consequence
    errors = sorted([*dict.fromkeys(every)][-MAX_ERRORS:], key=lambda error: error.kind is ErrorKind.OTHER)
    whole = tuple(_complete_name(error, identifiers) for error in errors)
    return TraceNames(whole, tuple(reversed(frames)), identifiers, words)


def condense_trace(text: str, limit: int) -> str:
    """Return a text of at most ``limit`` characters: its errors and frames, if all of it is longer."""
    lines = clean_lines(text)
    whole = "\n".join(lines).strip()
    if len(whole) <= limit:
        return whole
    says_error = {number for number, line in enumerate(lines) if any(iterate_error_lines(line))}
    is_place = {number for number, line in enumerate(lines) if _is_frame(line)}
    sources = {number + 1 for number in is_place if number + 1 < len(lines)}
    kept: set[int] = set()
    room = limit
    for numbers in (says_error, is_place | sources):
        for number in sorted(numbers - kept, reverse=True):
            room -= min(len(lines[number]), limit // 2) + 1
            if room < 0:
                break
            kept.add(number)
    chosen = [lines[number][: limit // 2] for number in sorted(kept)]
    return "\n".join(chosen).strip() if chosen else whole[-limit:]


def clean_lines(text: str) -> list[str]:
    """Return the lines without colors, code fences and typographic quotes, each of bounded length."""
    if len(text) > MAX_TEXT:
        half = MAX_TEXT // 2
        text = f"{text[:half]}\n{text[-half:]}"
    text = _ADDRESS.sub(" ", _ANSI.sub("", text)).translate(_QUOTES).replace("```", "\n")
    lines = [line[:MAX_LINE] for each in text.splitlines() for line in _read_log(each)]
    return [_LOG_PREFIX.sub("", line).rstrip() for line in _drop_prefixes(lines)]


def _read_log(line: str) -> list[str]:
    """Return the lines in a line: those of the text of a log of JSON, or of a text with written line breaks."""
    if line.startswith("{") and line.rstrip().endswith("}"):
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            return [line]
        return [each for text in _list_texts(fields, _MAX_OBJECTS) for each in text.splitlines()] or [line]
    return line.split("\\n") if "most recent call last):\\n" in line else [line]


def _list_texts(fields: Mapping[str, object], depth: int) -> Iterator[str]:
    # an error of pydantic has its place beside its message
    if "loc" in fields:
        return
    by_name = {key.lstrip("@").rpartition(".")[2]: value for key, value in fields.items()}
    yield from (text for key in _TEXT_KEYS if isinstance(text := by_name.get(key), str))
    for value in fields.values():
        if isinstance(value, dict) and depth:
            yield from _list_texts(value, depth - 1)


def _drop_prefixes(lines: Sequence[str]) -> list[str]:
    """Return lines without what a collector of logs writes around each: what stands so around a traceback."""
    wrappers: list[re.Pattern[str]] = []
    for line in lines:
        anchor = _ANCHOR.search(line)
        if anchor is None or len(wrappers) >= _MAX_PREFIXES or any(each.match(line) for each in wrappers):
            continue
        before = line[: anchor.start()]
        behind = line[anchor.end() :].strip() if anchor[0][0] == "T" else ""
        is_wrapped = before.strip() or (before and anchor[0][0] == "T")
        if is_wrapped and len(before) + len(behind) <= _MAX_PREFIX:
            suffix = "".join(_generalize(behind))
            wrappers.append(re.compile("".join(_generalize(before)) + f"(?P<text>.*?)(?:{suffix})?$", re.A))
    return [_unwrap(line, wrappers) for line in lines] if wrappers else [*lines]


def _unwrap(line: str, wrappers: Sequence[re.Pattern[str]]) -> str:
    for wrapper in wrappers:
        if match := wrapper.match(line):
            return match["text"].replace('\\"', '"')
    return line


def _generalize(text: str) -> Iterator[str]:
    """Yield the parts of a pattern for what stands around the other lines of the same log."""
    for part in _PREFIX_PART.finditer(text):
        word = part["word"] or ""
        if _GITLAB.fullmatch(word):
            yield r"\d\d[OE]"
        elif any(map(str.isdigit, word)):
            yield r"(?=\D{0,80}\d)[\w.:,+/@-]++"
        elif word in _STREAMS:
            yield "std(?:out|err)"
        elif word.isupper() and word.isalpha():
            yield "[A-Z]++"
        elif part["blanks"] and part.end() < len(text):
            yield r"[ \t]+"
        elif part[0] == " ":
            yield "[ +]"
        else:
            yield re.escape(part[0])


def _is_frame(line: str) -> bool:
    return bool(_FRAME.search(line) or _PYTEST_FRAME.match(line))


def _read_frames(lines: list[str]) -> list[Frame]:
    frames: list[Frame] = []
    marked = ""
    for line, below in zip_longest(lines, lines[1:], fillvalue=""):
        if source := _PYTEST_SOURCE.match(line):
            marked = source["text"]
            continue
        of_python = _FRAME.search(line)
        if match := of_python or _PYTEST_FRAME.match(line):
            text = below.strip()
            # there may be another frame, or the error
            text = "" if _is_frame(text) or _UNDERLINE.fullmatch(text) else text[:400]
            if not of_python:
                text, marked = marked or text, ""
            function = (match["function"] or "").strip().rpartition(".")[2]
            frames.append(Frame(match["path"].replace("\\", "/"), int(match["line"]), function, text))
    return frames[-MAX_FRAMES:]


def _read_errors(lines: list[str]) -> Iterator[ErrorLine]:
    """Yield the errors of lines that are no code: a source line may raise an error without being one."""
    before = ""
    for line in lines:
        if not _is_frame(line) and not (_is_frame(before) and line.startswith("    ")):
            yield from iterate_error_lines(line)
        before = line


def _read_fields(lines: list[str]) -> Iterator[ErrorLine]:
    """Yield the errors of pydantic: a model, and below it each field with what is wrong; or all as JSON."""
    owner = field = ""
    for line in lines:
        if model := _VALIDATION.search(line):
            owner = model["owner"]
        elif name := _FIELD_PATH.match(line):
            field = name["names"]
        if not (message := _FIELD_MESSAGE.search(line)):
            continue
        place = _FIELD_PLACE.search(line)
        path = _QUOTED_WORD.findall(place["place"]) if place else [field.rpartition(".")[2]]
        kind = ErrorKind.FIELD if message["extra"] else ErrorKind.MISSING_FIELD
        if path and path[-1]:
            yield ErrorLine(kind, line.strip(), "ValidationError", owner, names=(path[-1],))


def _complete_name(error: ErrorLine, identifiers: tuple[str, ...]) -> ErrorLine:
    """Return an error whose last name was cut off with the whole name, if the text has it elsewhere."""
    if not error.is_cut or not error.names:
        return error
    start = error.names[-1]
    longer = (each for each in identifiers if each.startswith(start) and each != start)
    return replace(error, names=(*error.names[:-1], next(longer, start)))


def _collect_tokens(lines: list[str]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return names of code and plain words of a text; those at its end count if there are too many."""
    identifiers: dict[str, None] = {}
    words: dict[str, None] = {}
    for line in reversed(lines):
        if len(identifiers) >= MAX_WORDS:
            break
        for match in _TOKEN.finditer(line):
            token = match[0]
            if _is_code(line, match):
                identifiers.setdefault(token)
            elif len(token) > 2 and token.lower() not in _STOP_WORDS:
                words.setdefault(token.lower())
    return tuple(identifiers)[:MAX_WORDS], frozenset(list(words)[:MAX_WORDS])


def _is_code(line: str, match: re.Match[str]) -> bool:
    """Return whether a token is a name of code: by its form, a call, or the marks around it."""
    token, start, end = match[0], match.start(), match.end()
    if len(token) < 3:
        return False
    has_form = "_" in token.rstrip("_") or "." in token or ":" in token or token.startswith("--")
    if has_form or _MIXED_CASE.search(token):
        return True
    is_marked = line[start - 1 : start] in _CODE_MARKS and line[end : end + 1] in _CODE_MARKS and start > 0
    return line[end : end + 1] == "(" or (is_marked and end < len(line))
