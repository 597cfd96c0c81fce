"""The settings file for the paths of repositories: TOML, with a table for each repository."""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from bot.errors import ConfigurationError, UsageError
from bot.platform.pulls.paths import (
    CRITICAL,
    CustomPaths,
    PathClass,
    PathClasses,
    PathSettings,
    find_fault,
    list_default_patterns,
)
from impact.repository import Repository
from impact.text.strings import collapse_lines, quote_input, truncate_text

_ALL_REPOSITORIES = "*"
# bytes of the file, patterns of one repository
_MAX_BYTES, _MAX_PATTERNS = 100_000, 500


def _validate_pattern(text: str) -> str:
    if reason := find_fault(text):
        raise ValueError(f"{quote_input(text)} {reason}")
    return text


def _validate_class_name(name: str) -> str:
    if name not in list_default_patterns():
        raise ValueError(f"{quote_input(name)} has no defaults: write any of {', '.join(list_default_patterns())}")
    return name


_Patterns = Annotated[list[Annotated[str, AfterValidator(_validate_pattern)]], Field(default_factory=list)]
_Names = Annotated[list[Annotated[str, AfterValidator(_validate_class_name)]], Field(default_factory=list)]


class _PathTable(BaseModel):
    """The table of one repository. Its keys are the names of the path classes."""

    model_config = ConfigDict(extra="forbid", strict=True)

    lock: _Patterns
    generated: _Patterns
    ci: _Patterns
    tests: _Patterns
    docs: _Patterns
    build: _Patterns
    support: _Patterns
    product: _Patterns
    other: _Patterns
    critical: _Patterns
    without_defaults: _Names

    @property
    def lists(self) -> dict[str, list[str]]:
        return self.model_dump(exclude={"without_defaults"})

    @model_validator(mode="after")
    def _check_size(self) -> _PathTable:
        if sum(map(len, self.lists.values())) > _MAX_PATTERNS:
            raise ValueError(f"has more than {_MAX_PATTERNS} patterns: name folders instead of files")
        return self


def read_path_settings(file: Path) -> PathSettings:
    """Read the path classes from a file. Raises ConfigurationError, which names file and table."""
    try:
        with file.open("rb") as opened:
            content = opened.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "its name is empty"
        advice = "write the path of a file, or leave it empty for the defaults"
        raise _build_error(file, f"it can't be read ({why}): {advice}") from error
    if len(content) > _MAX_BYTES:
        raise _build_error(file, f"it is larger than {_MAX_BYTES // 1_000} KB: name folders instead of files")
    try:
        tables = tomllib.loads(content.decode())
    except UnicodeDecodeError as error:
        raise _build_error(file, "it is not UTF-8 text: save it as UTF-8") from error
    except (ValueError, RecursionError) as error:
        why = truncate_text(collapse_lines(str(error)), 100)
        advice = 'write ["owner/name"] with quotes, and below it docs = ["design/"]'
        raise _build_error(file, f"it is not valid TOML ({why}): {advice}") from error
    classes: dict[str, PathClasses] = {}
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise _build_error(file, f'{quote_input(name)} is not in a table: write ["owner/name"] above it')
        try:
            key = name if name == _ALL_REPOSITORIES else str(Repository.parse(name)).lower()
        except UsageError as error:
            advice = 'write it as ["owner/name"], with quotes'
            raise _build_error(file, f"it is not a repository: {advice}", name) from error
        if key in classes:
            raise _build_error(file, "it appears twice: write one table for each repository", name)
        try:
            parsed = _PathTable.model_validate(table)
        except ValidationError as error:
            raise _build_error(file, _describe_fault(error), name) from error
        lists = parsed.lists
        own = tuple((kind, tuple(lists[kind])) for kind in PathClass if lists[kind])
        without = tuple(sorted(set(parsed.without_defaults)))
        classes[key] = PathClasses(custom=CustomPaths(own, tuple(lists[CRITICAL]), without))
    others = classes.pop(_ALL_REPOSITORIES, PathClasses())
    return PathSettings(classes, others, source=str(file))


def _describe_fault(error: ValidationError) -> str:
    """Return pydantic's first error as a clause for the person who writes the file."""
    first = error.errors()[0]
    key = str(first["loc"][0]) if first["loc"] else ""
    if first["type"] == "extra_forbidden":
        close = get_close_matches(key, _PathTable.model_fields, n=1)
        advice = f"write {close[0]} instead" if close else f"write one of {', '.join(_PathTable.model_fields)}"
        return f"{quote_input(key)} is not a class: {advice}"
    if first["type"] == "value_error":
        reason = first["msg"].removeprefix("Value error, ")
        return f"{key}: {reason}" if key else f"it {reason}"
    example = '["critical"]' if key == "without_defaults" else '["design/"]'
    return f"{key} is not a list of texts: write it as {key} = {example}"


def _build_error(file: Path, reason: str, table: str = "") -> ConfigurationError:
    """Return the error for the file, or for one of its tables. ``reason`` is a clause about the problem."""
    inside = f', table ["{truncate_text(collapse_lines(table), 100)}"]' if table else ""
    return ConfigurationError(f"PRDIGEST_PATHS, {collapse_lines(str(file))}{inside}: {reason}.")
