"""Values of buttons and menus: a request as JSON with its version, or a name with the version in front of it.

Buttons remain in channels for good: one of another version, as of a later one that is gone again, is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from bot.domain.conversations.commands import AllowedRepositories, CommandRequest
from bot.domain.errors import UsageError
from bot.domain.pull_requests.reference import Reference
from bot.domain.touches.decisions import TouchVerdict
from bot.ports.codecs.versioned_json import VersionedJson
from bot.render.blocks.sentences import UNKNOWN_BUTTON
from impact.profile.names import parse_profile_name

R = TypeVar("R", bound=CommandRequest)

_VERSION = 2
_VERSION_MARK = f"{_VERSION}|"
# Slack's limit for the value of a button, in characters
_MAX_VALUE_LENGTH = 2_000


# in values: never changed
_VERDICT_WORDS = {TouchVerdict.OURS: "ours", TouchVerdict.NOT_US: "not-us", TouchVerdict.DONE: "done"}


class FeedbackVerdict(StrEnum):
    """A user's rating of an answer."""

    GOOD = "good"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class HitVote:
    """What somebody says about the hits of a merge, for the team of a profile."""

    verdict: TouchVerdict
    profile: str
    reference: Reference


def write_reference(reference: Reference) -> str:
    """Return the value for a pull request: ``2|octo/engine#35617``."""
    return f"{_VERSION_MARK}{reference}"


def read_reference(value: str, repositories: AllowedRepositories) -> Reference:
    """Return the pull request of a value. Raises UsageError for none, or one of a repository not allowed."""
    return repositories.parse_pull_request(_remove_mark(value))


def write_id(subscription: str) -> str:
    return f"{_VERSION_MARK}{subscription}"


def read_id(value: str) -> str:
    """Return the id of a subscription; the value is not checked. Raises UsageError for another version."""
    return _remove_mark(value)


def write_verdict(verdict: FeedbackVerdict) -> str:
    return f"{_VERSION_MARK}{verdict}"


def read_verdict(value: str) -> FeedbackVerdict:
    """Return the rating of a value. Raises UsageError if the value is none."""
    try:
        return FeedbackVerdict(_remove_mark(value))
    except ValueError as error:
        raise UsageError(UNKNOWN_BUTTON) from error


def write_hit_vote(vote: HitVote) -> str:
    """Return the value for what is said about a merge: ``2|ours ascend octo/engine#123``."""
    return f"{_VERSION_MARK}{_VERDICT_WORDS[vote.verdict]} {vote.profile} {vote.reference}"


def read_hit_vote(value: str, repositories: AllowedRepositories) -> HitVote:
    """Return what is said by a value. Raises UsageError as ``read_hit_task``."""
    word, _, rest = _remove_mark(value).partition(" ")
    verdict = next((each for each, own in _VERDICT_WORDS.items() if own == word), None)
    if verdict is None:
        raise UsageError(UNKNOWN_BUTTON)
    return HitVote(verdict, *_read_hit(rest, repositories))


def write_hit_task(profile: str, reference: Reference) -> str:
    """Return the value for the task of a merge: ``2|ascend octo/engine#123``."""
    return f"{_VERSION_MARK}{profile} {reference}"


def read_hit_task(value: str, repositories: AllowedRepositories) -> tuple[str, Reference]:
    """Return the profile and the pull request of a value.

    Raises UsageError if the value is none, or about a repository that is not allowed.
    """
    return _read_hit(_remove_mark(value), repositories)


def _read_hit(text: str, repositories: AllowedRepositories) -> tuple[str, Reference]:
    profile, _, reference = text.partition(" ")
    if not profile:
        raise UsageError(UNKNOWN_BUTTON)
    return parse_profile_name(profile), repositories.parse_pull_request(reference)


def write_request(request: CommandRequest) -> str:
    """Return the value for a request that is repeated for everybody, without its mark as private.

    If filters make it too long, it is the text of the command.
    """
    fields = {**VersionedJson(type(request), _VERSION).dump(request), "kind": request.kind}
    fields.pop("is_private", None)
    value = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return value if len(value) <= _MAX_VALUE_LENGTH else f"{_VERSION_MARK}{request}"


def read_request(value: str, shapes: Iterable[type[R]]) -> R | str:
    """Return a request of one of the types ``shapes``, or the text of one as it would be typed.

    Raises UsageError if the value is neither.
    """
    if not value.startswith("{"):
        return _remove_mark(value)
    try:
        fields = json.loads(value)
        shape = next(each for each in shapes if each.kind == fields["kind"])
        return VersionedJson(shape, _VERSION).load(fields)
    except (ValueError, TypeError, LookupError, StopIteration, RecursionError) as error:
        raise UsageError(UNKNOWN_BUTTON) from error


def _remove_mark(value: str) -> str:
    """Return a value without the mark of its version. Raises UsageError for another version, or none."""
    if not value.startswith(_VERSION_MARK):
        raise UsageError(UNKNOWN_BUTTON)
    return value.removeprefix(_VERSION_MARK)
