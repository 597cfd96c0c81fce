"""The settings file for the paths of repositories: TOML, with a table for each repository."""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

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

SETTING_NAME = "PRDIGEST_PATHS"
_ALL_REPOSITORIES = "*"
# bytes of the file, patterns of one repository
_MAX_BYTES, _MAX_PATTERNS = 100_000, 500


def _validate_pattern(text: str) -> str:
    """Return a valid pattern. Raise ValueError with the reason for another one."""
    reason = find_fault(text)
    if reason:
        raise ValueError(f"{quote_input(text)} {reason}")
    return text


def _validate_class_name(name: str) -> str:
    """Return the name of a class with default patterns. Raise ValueError for another name."""
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

    @model_validator(mode="after")
    def _check_size(self) -> _PathTable:
        """Raise ValueError for more than 500 patterns."""
        if sum(map(len, self.lists.values())) > _MAX_PATTERNS:
            raise ValueError(f"has more than {_MAX_PATTERNS} patterns: name folders instead of files")
        return self

    @property
    def lists(self) -> dict[str, list[str]]:
        """The patterns by class."""
        return self.model_dump(exclude={"without_defaults"})

    def build_classes(self) -> PathClasses:
        """Return the classes that the table defines."""
        lists = self.lists
        own = tuple((kind, tuple(lists[kind])) for kind in PathClass if lists[kind])
        without = tuple(sorted(set(self.without_defaults)))
        return PathClasses(custom=CustomPaths(own, tuple(lists[CRITICAL]), without))


def read_path_settings(file: Path) -> PathSettings:
    """Read the path classes from a file.

    Raises:
        ConfigurationError: the file can't be used; the sentence names the file and the table, and says what to
            write.
    """
    try:
        with file.open("rb") as opened:
            content = opened.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "its name is empty"
        raise _build_error(
            file, f"it can't be read ({why}): write the path of a file, or leave it empty for the defaults"
        ) from error
    if len(content) > _MAX_BYTES:
        raise _build_error(file, f"it is larger than {_MAX_BYTES // 1_000} KB: name folders instead of files")
    return PathSettings(*_build_settings(file, _parse_toml(file, content)), source=str(file))


def _parse_toml(file: Path, content: bytes) -> dict[str, Any]:
    """Parse the content of the file. Raise ConfigurationError if it is not TOML in UTF-8."""
    try:
        return tomllib.loads(content.decode())
    except UnicodeDecodeError as error:
        raise _build_error(file, "it is not UTF-8 text: save it as UTF-8") from error
    except (ValueError, RecursionError) as error:
        why = truncate_text(collapse_lines(str(error)), 100)
        raise _build_error(
            file,
            (f'it is not valid TOML ({why}): write ["owner/name"] with quotes, and below it docs = ["design/"]'),
        ) from error


def _build_settings(file: Path, tables: dict[str, Any]) -> tuple[dict[str, PathClasses], PathClasses]:
    """Return the classes by repository, and those of all other repositories. Raise ConfigurationError."""
    by_repository: dict[str, PathClasses] = {}
    for name, table in tables.items():
        key = _parse_key(file, name, table)
        if key in by_repository:
            raise _build_error(file, "it appears twice: write one table for each repository", name)
        by_repository[key] = _parse_table(file, name, table).build_classes()
    others = by_repository.pop(_ALL_REPOSITORIES, PathClasses())
    return by_repository, others


def _parse_key(file: Path, name: str, table: object) -> str:
    """Return the repository of a table in lower case, or ``*``. Raise ConfigurationError for another name."""
    if not isinstance(table, dict):
        raise _build_error(file, f'{quote_input(name)} is not in a table: write ["owner/name"] above it')
    try:
        return name if name == _ALL_REPOSITORIES else str(Repository.parse(name)).lower()
    except UsageError as error:
        raise _build_error(
            file, ('it is not a repository: write it as ["owner/name"], with quotes'), name
        ) from error


def _parse_table(file: Path, name: str, table: object) -> _PathTable:
    """Return a valid table. Raise ConfigurationError with the first error of another one."""
    try:
        return _PathTable.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        raise _build_error(file, _describe_error(first["type"], first["loc"], str(first["msg"])), name) from error


def _describe_error(kind: str, place: tuple[int | str, ...], message: str) -> str:
    """Return pydantic's error as a clause for the person who writes the file."""
    key = str(place[0]) if place else ""
    if kind == "extra_forbidden":
        return f"{quote_input(key)} is not a class: {_suggest_class(key)}"
    if kind == "value_error":
        reason = message.removeprefix("Value error, ")
        return f"{key}: {reason}" if key else f"it {reason}"
    example = '["critical"]' if key == "without_defaults" else '["design/"]'
    return f"{key} is not a list of texts: write it as {key} = {example}"


def _suggest_class(key: str) -> str:
    """Return advice that names the class that was probably meant, or all of them."""
    close = get_close_matches(key, _PathTable.model_fields, n=1)
    return f"write {close[0]} instead" if close else f"write one of {', '.join(_PathTable.model_fields)}"


def _build_error(file: Path, reason: str, table: str = "") -> ConfigurationError:
    """Return the error for the file, or for one of its tables. ``reason`` is a clause about the problem."""
    where = f"{SETTING_NAME}, {collapse_lines(str(file))}"
    inside = f', table ["{truncate_text(collapse_lines(table), 100)}"]' if table else ""
    return ConfigurationError(f"{where}{inside}: {reason}.")
