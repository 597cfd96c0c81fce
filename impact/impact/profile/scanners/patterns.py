"""Patterns of what users write: variables, flags, metrics, endpoints, names. All of them take linear time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from impact.profile.models import UseKind

# what follows the name of a metric in what a server exports
_METRIC_SUFFIX = re.compile(r"_(?:bucket|sum|count|total|created|info)$", re.A)
FLAG = re.compile(r"(?<![\w-])--([A-Za-z][A-Za-z0-9_-]{1,80})", re.A)
ENDPOINT = re.compile(r"(?<![\w.])/v\d{1,2}/[a-z_]+(?:/[a-z_]+)*(?![\w/-])", re.A)
JSON_KEY = re.compile(r"\\?\"([A-Za-z_]\w{1,60})\\?\"\s?:", re.A)
JSON_FLAG = re.compile(r"--([a-z]+(?:[-_][a-z]+)*[-_]config)[= ]['\"]?(\{.{0,1500})", re.A)
_SHORT_CONFIGURATION = re.compile(r"(?<![\w-])(-cc|-O|--compilation-config)\.([a-z_]\w{1,60})", re.A)
VARIABLE = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+", re.A)
# endpoints that are read; others are posted to
_READ_ENDPOINTS = frozenset({"/v1/models", "/v1/health"})


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

    ``is_scraped``: names may have an underscore for the colon, as adapters write them.
    """
    for match in patterns.metric.finditer(text):
        yield from _list_forms(match[0])
    for match in patterns.scraped_metric.finditer(text) if is_scraped else ():
        yield from _list_forms(f"{match[1]}:{match[2]}")


def _list_forms(name: str) -> Iterator[str]:
    yield name
    short = _METRIC_SUFFIX.sub("", name)
    if short != name:
        yield short


def list_flags(text: str) -> Iterator[str]:
    for match in FLAG.finditer(text):
        yield f"--{match[1].replace('_', '-').rstrip('-')}"


def list_endpoints(text: str) -> Iterator[str]:
    for match in ENDPOINT.finditer(text):
        method = "GET" if match[0] in _READ_ENDPOINTS else "POST"
        yield f"{method} {match[0]}"


def list_configuration(text: str) -> Iterator[str]:
    """Yield the configuration fields that flags with JSON or dotted flags set: ``CompilationConfig.mode``."""
    for match in JSON_FLAG.finditer(text):
        owner = name_configuration(match[1])
        for key in JSON_KEY.findall(match[2]):
            yield f"{owner}.{key}"
    for match in _SHORT_CONFIGURATION.finditer(text):
        yield f"CompilationConfig.{match[2]}"


def name_configuration(name: str) -> str:
    """Return the class that a flag or keyword for a configuration fills: ``compilation-config`` is of one."""
    return "".join(part.capitalize() for part in name.replace("-", "_").split("_"))


def list_plain(text: str, packages: Sequence[str]) -> Iterator[tuple[UseKind, str]]:
    """Yield the variables and metrics that a text names, whatever language it is in."""
    patterns = get_patterns(tuple(packages))
    for match in patterns.variable.finditer(text):
        yield UseKind.ENVIRONMENT, match[0]
    for name in list_metrics(text, patterns):
        yield UseKind.METRIC, name
