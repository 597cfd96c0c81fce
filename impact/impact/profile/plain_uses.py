"""What one file says, and its uses of what is not Python code: variables, flags, metrics, endpoints and names.

Uses are found by the text of the file alone, by patterns that all take linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

from impact.profile.models import MAX_LINE_LENGTH, Use, UseKind
from impact.python.models import Signature

# characters; a line that is longer is of generated data
MAX_LINE = 4_000
# uses of a file that are kept: the largest files of a plugin have 2,000
_MAX_USES = 20_000


@dataclass(slots=True)
class ScannedClass:
    """A class of the team. ``bases`` and the values of ``members`` are symbols, empty if unknown.

    ``members`` are the names that its body defines or its methods set on ``self``. ``methods`` are those that it
    defines as functions, ``own`` those that are set before others read them: fields, and what a
    constructor sets. Of a class that makes its constructor of its fields, ``required`` are those without a
    default.
    """

    name: str
    path: str
    line: int
    bases: tuple[str, ...] = ()
    members: dict[str, str] = field(default_factory=dict)
    methods: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    calls_super_init: bool = True
    is_abstract: bool = False
    is_data: bool = False
    required: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class FileUses:
    """What a file uses. Names in ``uses`` are symbols, also of what other files of the team define.

    ``names`` are the imports and aliases of the module with what they stand for, ``values`` what its functions
    return and its variables hold, ``functions`` the signatures of its functions. ``problem`` says why the file
    could not be read, as a clause. ``content`` stands for its text.
    """

    path: str
    module: str = ""
    uses: tuple[Use, ...] = ()
    classes: tuple[ScannedClass, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    stars: tuple[str, ...] = ()
    problem: str = ""
    functions: Mapping[str, Signature] = field(default_factory=dict)
    content: str = ""


@dataclass(frozen=True, slots=True)
class FileText:
    path: str
    text: str
    packages: tuple[str, ...]
    is_test: bool = False

    @property
    def lines(self) -> Sequence[str]:
        return self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


class UseCollector:
    """Collects the uses of a file, each once."""

    def __init__(self, file: FileText) -> None:
        self._file, self._lines = file, file.lines
        self._uses: dict[Use, None] = {}

    def add(self, kind: UseKind, name: str, line: int, **extra: Any) -> None:
        """Add a use at a line, which counts from 1. ``extra`` are further fields of it."""
        if len(self._uses) < _MAX_USES:
            text = self._lines[line - 1].strip()[:MAX_LINE_LENGTH] if 0 < line <= len(self._lines) else ""
            self._uses.setdefault(
                Use(kind, name, self._file.path, line, text, is_test=self._file.is_test, **extra)
            )

    def list_uses(self) -> tuple[Use, ...]:
        """Return the uses as they were met. A string that says what to replace is no other use."""
        replaced = {(use.name, use.line) for use in self._uses if use.kind is UseKind.PATCH}
        return tuple(
            use for use in self._uses if use.kind is not UseKind.NAMED or (use.name, use.line) not in replaced
        )


# --- what users write

VARIABLE = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+", re.A)
# what follows the name of a metric in what a server exports
_METRIC_SUFFIX = re.compile(r"_(?:bucket|sum|count|total|created|info)$", re.A)
_FLAG = re.compile(r"(?<![\w-])--([A-Za-z][A-Za-z0-9_-]{1,80})", re.A)
_ENDPOINT = re.compile(r"(?<![\w.])/v\d{1,2}/[a-z_]+(?:/[a-z_]+)*(?![\w/-])", re.A)
# endpoints that are read; others are posted to
_READ_ENDPOINTS = frozenset({"/v1/models", "/v1/health"})
_JSON_KEY = re.compile(r"\\?\"([A-Za-z_]\w{1,60})\\?\"\s?:", re.A)
_JSON_FLAG = re.compile(r"--([a-z]+(?:[-_][a-z]+)*[-_]config)[= ]['\"]?(\{.{0,1500})", re.A)
_SHORT_CONFIGURATION = re.compile(r"(?<![\w-])(-cc|-O|--compilation-config)\.([a-z_]\w{1,60})", re.A)


@dataclass(frozen=True, slots=True)
class PackagePatterns:
    variable: re.Pattern[str]
    metric: re.Pattern[str]
    scraped_metric: re.Pattern[str]
    path: re.Pattern[str]
    command: re.Pattern[str]
    group: re.Pattern[str]


@lru_cache(maxsize=16)
def get_patterns(packages: tuple[str, ...]) -> PackagePatterns:
    names = "|".join(re.escape(each) for each in packages) or "(?!)"
    upper = "|".join(re.escape(each.upper()) for each in packages) or "(?!)"
    return PackagePatterns(
        re.compile(rf"(?<![A-Za-z0-9_])(?:{upper})_[A-Z0-9_]*[A-Z0-9](?![A-Za-z0-9_])", re.A),
        re.compile(rf"(?<![\w:])(?:{names}):[a-z][a-z0-9_]{{2,100}}", re.A),
        re.compile(rf"(?<![\w:])({names})_([a-z][a-z0-9_]{{2,100}})", re.A),
        re.compile(
            rf"(?<![\w./@:-])(?:{names})(?:\.[A-Za-z_]\w{{0,80}}){{2,12}}(?::[A-Za-z_]\w{{0,80}})?(?![\w/-])", re.A
        ),
        re.compile(
            rf"(?<![\w./-])(?:{names})['\",\s]{{1,4}}(?:serve|bench|run-batch|chat|complete)(?!\w)"
            rf"|(?:{names})\.entrypoints|(?:{names})/(?:{names})-openai",
            re.A,
        ),
        re.compile(rf"(?:{names})\.[a-z_]{{0,40}}plugins?(?:\.[a-z_]{{1,40}})?", re.A),
    )


def list_metrics(text: str, patterns: PackagePatterns, *, is_scraped: bool = False) -> Iterator[str]:
    """Yield the metrics that a text names, also without what an export adds to their names.

    ``is_scraped``: names may have an underscore for the colon, as adapters write them, and only these count.
    """
    for match in (patterns.scraped_metric if is_scraped else patterns.metric).finditer(text):
        name = f"{match[1]}:{match[2]}" if is_scraped else match[0]
        yield from dict.fromkeys((name, _METRIC_SUFFIX.sub("", name)))


def list_endpoints(text: str) -> Iterator[str]:
    for match in _ENDPOINT.finditer(text):
        yield f"{'GET' if match[0] in _READ_ENDPOINTS else 'POST'} {match[0]}"


def list_command_settings(text: str) -> Iterator[tuple[UseKind, str]]:
    """Yield the flags in a command, and what those with JSON or dots set, such as ``CompilationConfig.mode``."""
    for match in _FLAG.finditer(text):
        yield UseKind.FLAG, f"--{match[1].replace('_', '-').rstrip('-')}"
    for match in _JSON_FLAG.finditer(text):
        owner = name_configuration(match[1])
        for key in _JSON_KEY.findall(match[2]):
            yield UseKind.CONFIGURATION, f"{owner}.{key}"
    for match in _SHORT_CONFIGURATION.finditer(text):
        yield UseKind.CONFIGURATION, f"CompilationConfig.{match[2]}"


def name_configuration(name: str) -> str:
    """Return the class that a flag or keyword for a configuration fills: ``compilation-config`` is of one."""
    return "".join(part.capitalize() for part in name.replace("-", "_").split("_"))


# --- strings of Python

# characters of a string with settings, and of one that is a name
_MAX_STRING, _MAX_NAME = 2_000, 300
_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?::[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)?", re.A)
_OP = re.compile(r"([A-Za-z_]\w*)::([A-Za-z_]\w*)(?:\.\w+)?", re.A)


def list_string_settings(
    text: str, patterns: PackagePatterns, *, runs_upstream: bool
) -> Iterator[tuple[UseKind, str]]:
    """Yield the settings in a string. ``runs_upstream``: a command of upstream is run in the file."""
    if len(text) > _MAX_STRING:
        return
    variable = patterns.variable.match(text)
    if variable and text[variable.end() :][:1] in {"", "="}:
        yield UseKind.ENVIRONMENT, variable[0]
    for name in list_metrics(text, patterns):
        yield UseKind.METRIC, name
    for name in list_endpoints(text):
        yield UseKind.ENDPOINT, name
    # flags are those of upstream's commands only where one of them is run
    if runs_upstream and (_FLAG.match(text) or patterns.command.search(text)):
        yield from list_command_settings(text)


def read_named(text: str, packages: Sequence[str], patterns: PackagePatterns) -> tuple[UseKind, str] | None:
    """Return what a string names, if it is one name: a path of modules and names, or an op."""
    first = re.split(r"[.:]", text[: _MAX_NAME + 1], maxsplit=1)[0]
    if len(text) > _MAX_NAME or (first not in packages and not first.startswith(("_C", "_moe_C"))):
        return None
    if patterns.group.fullmatch(text):
        return UseKind.ENTRY_POINT, text
    if _PATH.fullmatch(text):
        return UseKind.NAMED, text.replace(":", ".")
    match = _OP.fullmatch(text)
    return (UseKind.OP, f"torch.ops.{match[1]}.{match[2]}") if match else None


# --- files that are not Python: scripts, images, deployments, dashboards, requirements

_SUFFIXES = frozenset(
    ".sh .bash .yaml .yml .json .toml .lock .cfg .ini .txt .in .env .tpl .jsonnet .libsonnet .tf .service"
    " .conf .nix .bazel .commit .version .sha .hash .rev .ref .pin .tag".split()
)
_NAMES = ("dockerfile", "containerfile", "makefile", "jenkinsfile", ".env", "justfile", "pipfile", "workspace")
# of a file that is nothing but a pin
_PIN_NAMES = ("version", "commit", "revision", "pin")
_SET = re.compile(r"(?:^|[\s;])(?:export|ENV|env|-e)\s++([A-Z][A-Z0-9]*_[A-Z0-9_]+)(?:=|\s)", re.A)
_NAMED = re.compile(r"^\s*+(?:-\s*+)?name:\s*+[\"']?([A-Z][A-Z0-9]*_[A-Z0-9_]+)[\"']?\s*$", re.A)
_OTHER_COMMAND = re.compile(
    r"(?:^|[\s;&|])(?:pip3?|uv|apt|apt-get|yum|git|docker|curl|wget|cmake|make|pytest|helm|kubectl|npm|ruff|cargo|jq|gh)\s",
    re.A,
)
_SCRAPED = re.compile(r"expr|quer|metric|series|promql", re.I)
_REQUEST = re.compile(
    r"/v\d{1,2}/(?:chat/)?(?:completions|embeddings|responses|score|rerank|pooling|classify)", re.A
)
# lines of a request's body after the line that names the endpoint
_BODY_LINES = 25


def is_scanned_text(path: str) -> bool:
    """Return whether a file is of a kind that says how upstream is deployed or called, by its path."""
    name = PurePosixPath(path).name.lower()
    return name.startswith(_NAMES) or name.endswith(_PIN_NAMES) or PurePosixPath(name).suffix in _SUFFIXES


def list_text_uses(file: FileText) -> Iterator[tuple[UseKind, str, int]]:
    """Yield what a script, an image, a deployment, a dashboard or a list of requirements uses, with its lines."""
    patterns = get_patterns(file.packages)
    runs_upstream = bool(patterns.command.search(file.text))
    body = 0
    for parts in _join_lines(file):
        whole = " ".join(part.strip() for _, part in parts) if len(parts) > 1 else parts[0][1]
        is_upstream = runs_upstream and (not _OTHER_COMMAND.search(whole) or bool(patterns.command.search(whole)))
        body = _BODY_LINES if "curl" in whole and _REQUEST.search(whole) else body - 1
        known: set[tuple[UseKind, str]] = set()
        # what goes over the end of a line is found in all of it, and stands where it begins
        for number, line in [*parts, (parts[0][0], whole)] if len(parts) > 1 else parts:
            uses = dict.fromkeys(_list_line(line, patterns, is_upstream=is_upstream, is_body=body > 0))
            yield from ((*use, number) for use in uses if use not in known or line is not whole)
            known.update(uses)


def _list_line(
    line: str, patterns: PackagePatterns, *, is_upstream: bool, is_body: bool
) -> Iterator[tuple[UseKind, str]]:
    """Yield what a line uses. ``is_upstream``: upstream's command may be run; ``is_body``: it is of a request."""
    for match in patterns.variable.finditer(line):
        yield UseKind.ENVIRONMENT, match[0]
    for name in list_metrics(line, patterns):
        yield UseKind.METRIC, name
    for pattern in (_SET, _NAMED):
        for match in pattern.finditer(line):
            yield UseKind.ENVIRONMENT, match[1]
    for name in list_metrics(line, patterns, is_scraped=True) if _SCRAPED.search(line) else ():
        yield UseKind.METRIC, name
    for name in list_endpoints(line):
        yield UseKind.ENDPOINT, name
    for match in patterns.path.finditer(line):
        group = patterns.group.fullmatch(match[0])
        yield (UseKind.ENTRY_POINT, match[0]) if group else (UseKind.NAMED, match[0].replace(":", "."))
    for match in patterns.group.finditer(line):
        yield UseKind.ENTRY_POINT, match[0]
    if is_upstream:
        yield from list_command_settings(line)
    for name in _JSON_KEY.findall(line) if is_body else ():
        yield UseKind.API_FIELD, name


def _join_lines(file: FileText) -> Iterator[list[tuple[int, str]]]:
    """Yield the lines that are no comments with their numbers, those that go on together, to a certain length."""
    parts: list[tuple[int, str]] = []
    length = 0
    for number, line in enumerate(file.lines, 1):
        if len(line) > MAX_LINE or line.lstrip().startswith(("#", "//")):
            continue
        text = line.rstrip()
        parts.append((number, text.removesuffix("\\")))
        length += len(text) + 1
        if not text.endswith("\\") or length >= MAX_LINE:
            yield parts
            parts, length = [], 0
    if parts:
        yield parts
