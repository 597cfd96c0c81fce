"""Ids of Slack that are to be forgotten: what of the stored data is theirs, and what only names them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

# they have the form of Slack's ids, so that texts and records with them can still be parsed
FORGOTTEN_USER, FORGOTTEN_CHANNEL = "UFORGOTTEN", "CFORGOTTEN"
_USER_ID, _CHANNEL_ID = re.compile(r"[UW][A-Z0-9]{2,20}"), re.compile(r"[CDG][A-Z0-9]{2,20}")
# names of fields as dataclasses of all layers have them: a test ties them to each stored one. An object belongs to
# its user; whom a report goes to, and whose time zone is followed, may be empty
OWNER_FIELD = "user"
OPTIONAL_FIELDS = ("to", "follows")
_OPTIONAL_FIELD = rf'("(?:{"|".join(OPTIONAL_FIELDS)})"\s*:\s*)"(?:{{ids}})"'
_NO_ID = re.compile(r"(?!)")


def is_user_id(text: str) -> bool:
    return bool(_USER_ID.fullmatch(text))


def is_channel_id(text: str) -> bool:
    """Return whether a text has the form of the id of a channel, a private channel or direct messages in Slack."""
    return bool(_CHANNEL_ID.fullmatch(text))


def _build_pattern(ids: frozenset[str]) -> re.Pattern[str]:
    if not ids:
        return _NO_ID
    return re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, sorted(ids)))})(?![A-Za-z0-9])")


@dataclass(frozen=True, slots=True)
class ForgottenIds:
    """The ids of people and of channels that are to be forgotten. Direct messages are channels too.

    ``messages`` are messages of threads in which these people wrote, each as its channel, a colon and its
    timestamp.
    """

    users: frozenset[str] = frozenset()
    channels: frozenset[str] = frozenset()
    messages: frozenset[str] = frozenset()
    _user: re.Pattern[str] = field(init=False, repr=False, compare=False)
    _channel: re.Pattern[str] = field(init=False, repr=False, compare=False)
    _place: re.Pattern[str] = field(init=False, repr=False, compare=False)
    _optional: re.Pattern[str] = field(init=False, repr=False, compare=False)
    _message: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_user", _build_pattern(self.users))
        object.__setattr__(self, "_channel", _build_pattern(self.channels))
        object.__setattr__(self, "_message", _build_pattern(self.messages))
        channels = "|".join(sorted(self.channels))
        # the id itself, or a part of a key: of a digest, a thread or a request
        place = re.compile(rf"(?:.*:)?(?:{channels})(?::.*)?", re.DOTALL) if channels else _NO_ID
        object.__setattr__(self, "_place", place)
        users = "|".join(sorted(self.users))
        object.__setattr__(self, "_optional", re.compile(_OPTIONAL_FIELD.format(ids=users)) if users else _NO_ID)

    def is_in(self, text: str) -> bool:
        # most texts contain none, and to look for the bare letters takes a hundredth of the time
        if not any(each in text for each in self.users) and not any(each in text for each in self.channels):
            return False
        return bool(self._user.search(text) or self._channel.search(text))

    def is_of_message(self, key: str) -> bool:
        return bool(self._message.search(key))

    def owns(self, text: str) -> bool:
        """Return whether a stored text is about one of the ids alone.

        A JSON object is, if its ``user`` is such a person, or if it is of such a channel. Any other text is a key
        or a part of one: it is, if it contains an id. What merely names an id belongs to others too.
        """
        if not self.is_in(text):
            return False
        content = _parse_object(text)
        if content is None:
            return not text.startswith('"') and " " not in text
        return any(self._owns_field(name, value) for name, value in _iterate_texts(content))

    def is_value(self, text: str) -> bool:
        """Return whether a text is an id, with or without its workspace before it."""
        return text.rpartition(":")[2] in self.users | self.channels and text.count(":") <= 1 and " " not in text

    def redact(self, text: str) -> str:
        """Return a text with a placeholder for each id, or without it where it may be left out."""
        text = self._optional.sub(lambda match: f'{match[1]}""', text)
        return self._channel.sub(FORGOTTEN_CHANNEL, self._user.sub(FORGOTTEN_USER, text))

    def _owns_field(self, name: str, value: str) -> bool:
        if name == OWNER_FIELD and value in self.users:
            return True
        # a sentence may name a channel, a key has no blanks
        return " " not in value and bool(self._place.fullmatch(value))


def _parse_object(text: str) -> dict[str, Any] | None:
    if not text.startswith("{"):
        return None
    try:
        content = json.loads(text)
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def _iterate_texts(content: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(content, str):
        yield name, content
    elif isinstance(content, dict):
        for key, value in content.items():
            yield from _iterate_texts(value, key)
    elif isinstance(content, list):
        for value in content:
            yield from _iterate_texts(value, name)
