"""Questions with known answers, stored as TOML files.

A file names a day of a repository and threads of questions; in a thread each question sees those before it.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from bot.domain.errors import UsageError
from bot.domain.pull_requests.models import Repository
from bot.domain.time.day import LocalDay, parse_date, parse_zone


def _check_pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"it is no pattern ({error})") from error
    return text


Pattern = Annotated[str, AfterValidator(_check_pattern)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Case(_Part):
    """A question and the facts of its answer.

    ``names`` are all pull requests that the answer must name, and with ``exactly`` the only ones. ``facts`` are
    patterns that must be in it, ``never`` those that must not, regardless of case. ``cites`` are pull requests
    that it must link with a verified quote.
    """

    ask: Annotated[str, Field(min_length=1)]
    names: tuple[int, ...] = ()
    exactly: bool = True
    facts: tuple[Pattern, ...] = ()
    never: tuple[Pattern, ...] = ()
    cites: tuple[int, ...] = ()


class Thread(_Part):
    """Questions in a row."""

    question: Annotated[tuple[Case, ...], Field(min_length=1)]


class Suite(_Part):
    """The threads of one day."""

    repository: str
    date: str
    timezone: str
    thread: Annotated[tuple[Thread, ...], Field(min_length=1)]

    @property
    def place(self) -> Repository:
        """The repository."""
        return Repository.parse(self.repository)

    @property
    def zone(self) -> ZoneInfo:
        """The time zone of the day."""
        return parse_zone(self.timezone)

    @property
    def day(self) -> LocalDay:
        """The day in its time zone."""
        return LocalDay(parse_date(self.date), self.zone)

    def __str__(self) -> str:
        return f"{self.repository} {self.date}"


def load_suite(path: Path) -> Suite:
    """Read the questions of a file.

    Raises:
        UsageError: it is no such file; the sentence says where it is wrong.
    """
    try:
        suite = Suite.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path.name} can't be read as TOML: {error}.") from error
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(map(str, problem["loc"]))
        raise UsageError(f"{path.name}: {place} can't be used: {problem['msg']}.") from error
    _ = (suite.place, suite.day)
    return suite
