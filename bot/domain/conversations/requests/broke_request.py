"""The request to say what broke: an error as people paste it, and since when."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.conversations.slack_text import restore_user_text
from bot.domain.errors import UsageError
from bot.domain.pull_requests.models import Repository
from bot.domain.pull_requests.query_options import PRIVATE_WORD
from bot.domain.text.strings import quote_input
from bot.domain.time.date_range import Span, parse_span
from bot.domain.time.day import LocalDay
from impact.touches.breakage.traceback_names import condense_trace

BROKE_WORD = "broke"
# the contract of every merge in between is read
MAX_BROKE_DAYS = 45
# characters of a pasted text that are read, and of what is kept of it: a request fits into a button
_MAX_PASTED, _MAX_ERROR = 100_000, 1_000
_SINCE = re.compile(r"(?<!\S)since:?\s{1,5}(?P<what>[\w./-]{1,80})(?!\S)", re.I)
_REPOSITORY = re.compile(r"(?<!\S)repo:(?P<name>[\w.-]{1,100}/[\w.-]{1,100})(?!\S)")
_PRIVATE = re.compile(rf"(?<!\S){PRIVATE_WORD}\s*\Z|\A{PRIVATE_WORD}(?!\S)", re.I)
_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_DAYS = re.compile(r"\d{4}-\d\d-\d\d|\d{1,3}[dw]|yesterday|today", re.I)


@dataclass(frozen=True, slots=True)
class BrokeRequest:
    """A request for the merges that explain an error.

    ``commit`` is the last one that worked, as a hash or its beginning. Without one, ``span`` has the days in which
    the cause was merged.
    """

    kind: ClassVar[str] = BROKE_WORD
    repository: Repository
    error: str
    commit: str = ""
    span: Span | None = None
    is_private: bool = False

    @classmethod
    def parse(cls, text: str, repositories: AllowedRepositories, today: LocalDay) -> BrokeRequest:
        """Parse the text after the command, with or without its first word. Raises UsageError."""
        first, *words = text.split(maxsplit=1) or [""]
        rest = ("".join(words) if first.lower() == BROKE_WORD else text)[-_MAX_PASTED:]
        repository, rest = _take_match(_REPOSITORY, rest)
        private, rest = _take_match(_PRIVATE, rest)
        since, rest = _take_since(rest)
        return cls.build(
            repositories.parse_repository(repository["name"]) if repository else repositories.default,
            restore_user_text(rest),
            since,
            today,
            is_private=private is not None,
        )

    @classmethod
    def build(
        cls, repository: Repository, error: str, since: str, today: LocalDay, *, is_private: bool = False
    ) -> BrokeRequest:
        """Build a request about an error; ``since`` is a commit or a day. Raises UsageError."""
        condensed = condense_trace(error[-_MAX_PASTED:], _MAX_ERROR)
        if not condensed:
            raise UsageError("Which error? Paste its last line, or the whole traceback.")
        if _COMMIT.fullmatch(since):
            return cls(repository, condensed, since, None, is_private)
        return cls(repository, condensed, "", _parse_start(since, today), is_private)

    def require_known(self, repositories: AllowedRepositories) -> Self:
        """Return the request with its repository as the settings spell it. Raises UsageError."""
        return replace(self, repository=repositories.require_known(self.repository))

    @property
    def since(self) -> str:
        """The start of the range, as a reader sees it."""
        return str(self.span.first) if self.span else self.commit[:10]

    def __str__(self) -> str:
        start = self.span.first if self.span else self.commit
        return f"{BROKE_WORD} {self.error}\nsince {start} repo:{self.repository}"


def _take_match(pattern: re.Pattern[str], text: str) -> tuple[re.Match[str] | None, str]:
    """Return the last match of a pattern, and the text without it."""
    last = next(iter([*pattern.finditer(text)][-1:]), None)
    return last, text if last is None else f"{text[: last.start()]} {text[last.end() :]}".strip()


def _take_since(text: str) -> tuple[str, str]:
    """Return the last thing after "since" that is a commit or a day, and the text without it.

    Raises:
        UsageError: there is none, as an error may have the word too.
    """
    matches = list(_SINCE.finditer(text))
    for match in reversed(matches):
        what = match["what"].lower()
        if _COMMIT.fullmatch(what) or _DAYS.fullmatch(what):
            return what, f"{text[: match.start()]} {text[match.end() :]}".strip()
    hint = "write a day or a commit at the end, such as since 2026-02-24 or since 4f5c1a9"
    if matches:
        raise UsageError(f"I don't understand since {quote_input(matches[-1]['what'])}: {hint}.")
    raise UsageError(f"Since when? For the last version that worked, {hint}.")


def _parse_start(text: str, today: LocalDay) -> Span:
    """Return the days from the one that a text names until today. Raises UsageError."""
    first = parse_span(text, today, MAX_BROKE_DAYS).first
    span = replace(parse_span("today", today, 1), first=first)
    if len(span) > MAX_BROKE_DAYS:
        raise UsageError(f"{len(span)} days are too many at once: begin at most {MAX_BROKE_DAYS} days ago.")
    return span
