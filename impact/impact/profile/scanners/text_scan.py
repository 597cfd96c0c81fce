"""Uses of upstream in files that are not Python: scripts, images, deployments, dashboards, requirements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from impact.profile.models import UseKind
from impact.profile.scanned import FileText, FileUses
from impact.profile.scanners.collector import UseCollector
from impact.profile.scanners.patterns import (
    JSON_KEY,
    PackagePatterns,
    get_patterns,
    list_configuration,
    list_endpoints,
    list_flags,
    list_metrics,
    list_plain,
)
from impact.profile.scanners.pins import list_pins

_SUFFIXES = frozenset(
    ".sh .bash .yaml .yml .json .toml .cfg .ini .txt .in .env .tpl .jsonnet .libsonnet .tf .service .conf".split()
)
_NAMES = ("dockerfile", "containerfile", "makefile", "jenkinsfile", ".env", "justfile")
# a line that is longer is of generated data
_MAX_LINE = 4000
_MAX_JOINED = 60
_SET = re.compile(r"(?:^|[\s;])(?:export|ENV|env|-e)\s+([A-Z][A-Z0-9]*_[A-Z0-9_]+)(?:=|\s)", re.A)
_NAMED = re.compile(r"^\s*-?\s*name:\s*[\"']?([A-Z][A-Z0-9]*_[A-Z0-9_]+)[\"']?\s*$", re.A)
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
    return name.startswith(_NAMES) or PurePosixPath(name).suffix in _SUFFIXES


def scan_text(file: FileText) -> FileUses:
    """Return the uses in a script, an image, a deployment, a dashboard or a list of requirements."""
    collector = UseCollector(file)
    patterns = get_patterns(file.packages)
    runs_upstream = bool(patterns.command.search(file.text))
    body = 0
    for number, line in _join_lines(file):
        for kind, name in _list_line(line, file, patterns):
            collector.add(kind, name, number)
        if runs_upstream and (not _OTHER_COMMAND.search(line) or patterns.command.search(line)):
            for flag in list_flags(line):
                collector.add(UseKind.FLAG, flag, number)
            for name in list_configuration(line):
                collector.add(UseKind.CONFIGURATION, name, number)
        body = _BODY_LINES if "curl" in line and _REQUEST.search(line) else body - 1
        for name in JSON_KEY.findall(line) if body > 0 else ():
            collector.add(UseKind.API_FIELD, name, number)
    for name, number in list_pins(file):
        collector.add(UseKind.PIN, name, number)
    return FileUses(file.path, uses=collector.list_uses())


def _list_line(line: str, file: FileText, patterns: PackagePatterns) -> Iterator[tuple[UseKind, str]]:
    yield from list_plain(line, file.packages)
    for pattern in (_SET, _NAMED):
        for match in pattern.finditer(line):
            yield UseKind.ENVIRONMENT, match[1]
    if _SCRAPED.search(line):
        for name in list_metrics(line, patterns, is_scraped=True):
            yield UseKind.METRIC, name
    for name in list_endpoints(line):
        yield UseKind.ENDPOINT, name
    for match in patterns.path.finditer(line):
        group = patterns.group.fullmatch(match[0])
        yield (UseKind.ENTRY_POINT, match[0]) if group else (UseKind.NAMED, match[0].replace(":", "."))
    for match in patterns.group.finditer(line):
        yield UseKind.ENTRY_POINT, match[0]


def _join_lines(file: FileText) -> Iterator[tuple[int, str]]:
    """Yield the lines that are no comments, those that go on as one line, with the number of the first."""
    parts: list[str] = []
    start = 0
    for number, line in enumerate(file.lines, 1):
        if len(line) > _MAX_LINE or line.lstrip().startswith(("#", "//")):
            continue
        start = start if parts else number
        parts.append(line.rstrip().removesuffix("\\"))
        if not line.rstrip().endswith("\\") or len(parts) >= _MAX_JOINED:
            yield start, " ".join(parts)
            parts = []
    if parts:
        yield start, " ".join(parts)
