"""Uses of upstream in files that are not Python: scripts, images, deployments, dashboards, requirements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from impact.profile.models import UseKind
from impact.profile.scanned import FileText, FileUses, UseCollector
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
from impact.profile.scanners.pins import MAX_LINE, find_list_problem, list_pins

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


def scan_text(file: FileText) -> FileUses:
    """Return the uses in a script, an image, a deployment, a dashboard or a list of requirements."""
    collector = UseCollector(file)
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
            uses = dict.fromkeys(_list_line(line, file, patterns, is_upstream=is_upstream, is_body=body > 0))
            for use in uses:
                if use not in known or line is not whole:
                    collector.add(*use, number)
            known.update(uses)
    for name, number in list_pins(file):
        collector.add(UseKind.PIN, name, number)
    return FileUses(file.path, uses=collector.list_uses(), problem=find_list_problem(file))


def _list_line(
    line: str, file: FileText, patterns: PackagePatterns, *, is_upstream: bool, is_body: bool
) -> Iterator[tuple[UseKind, str]]:
    """Yield what a line uses. ``is_upstream``: upstream's command may be run; ``is_body``: it is of a request."""
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
    if is_upstream:
        for flag in list_flags(line):
            yield UseKind.FLAG, flag
        for name in list_configuration(line):
            yield UseKind.CONFIGURATION, name
    for name in JSON_KEY.findall(line) if is_body else ():
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
