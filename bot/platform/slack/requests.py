"""Requests from Slack: who asks and where, and the pull requests that a message names."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Any

from bot.errors import UsageError
from bot.platform.commands import AllowedRepositories
from bot.platform.pulls.models import Reference
from impact.history.mentions import Mention, find_references
from impact.repository import Repository


class Audience(StrEnum):
    CHANNEL = "channel"
    """Everybody in the channel; only the asker if the bot is not a member."""
    ASKER = "asker"
    """Only the asker."""
    HERE = "here"
    """Everybody who can read the request's message, in a thread or in direct messages; only the asker at the top
    level of a channel, and for a command or a click."""
    SHARED = "shared"
    """Everybody in the channel, or nobody: the asker already has the answer."""


@dataclass(frozen=True, slots=True)
class SlackRequest:
    """A request from Slack: the asker, the place, and the ways to answer.

    ``key`` is equal for each delivery of the same request and no other. ``team`` and ``enterprise`` are those of
    the asker, empty where Slack does not say. ``response_url`` reaches the asker for half an hour; without it
    ``thread`` is where they asked. ``message`` is Slack's timestamp of the message with the request or its button;
    a message at top level may begin its ``thread``. ``trigger`` opens a modal for three seconds. ``channel`` is
    empty in App Home.
    """

    key: str
    team: str
    channel: str
    user: str
    enterprise: str = ""
    name: str = ""
    response_url: str = ""
    thread: str = ""
    trigger: str = ""
    message: str = ""

    @property
    def existing_thread(self) -> str:
        """The thread in which the user asked; empty at top level, whose thread is shown to nobody yet."""
        return self.thread if self.message and self.thread != self.message else ""

    @property
    def is_direct(self) -> bool:
        """Whether the channel is a direct message with the bot: its id begins with a D."""
        return self.channel.startswith("D")

    def find_lone_reader(self, audience: Audience) -> str:
        """Return the id of the asker if nobody else reads the answer, else nothing."""
        return self.user if audience is Audience.ASKER or self.is_direct else ""

    @property
    def reference(self) -> str:
        """A short name of this request for error messages and the log."""
        return hashlib.sha256(self.key.encode()).hexdigest()[:6]


MENTION = re.compile(r"<@(?P<user>[A-Z0-9]+)(?:\|[^<>]*)?>")
# Slack turns addresses in messages into links, and everything that looks like one: <http://setup.py|setup.py>
_LINK = re.compile(r"<(?P<address>(?:https?://|mailto:)[^<>|\s]+)(?:\|(?P<label>[^<>]*))?>")


def restore_user_text(text: str) -> str:
    """Return the text of a user's message as they typed it, without mentions."""
    return html.unescape(_LINK.sub(_restore_link, MENTION.sub(" ", text))).strip()


def _restore_link(match: re.Match[str]) -> str:
    """Return the label if Slack derived the address from it, else the address."""
    address, label = match["address"], match["label"] or ""
    label_addresses = address in {f"{scheme}{label}" for scheme in ("http://", "https://", "mailto:")}
    return label if label_addresses else address


def restore_bot_text(text: str) -> str:
    """Return the text of the bot's own message, with links replaced by their labels."""
    return html.unescape(_LINK.sub(lambda match: match["label"] or "", text)).strip()


# --- references in messages

# Anybody, or another app, may have written the message. Nothing of it is kept but numbers of allowed repositories.

# Slack cuts a text at 40,000 characters, and takes fifty blocks and a hundred attachments
_MAX_CHARACTERS = 60_000
_MAX_NODES = 20_000
# Slack waits three seconds, and each is compared with all repositories
_MAX_MENTIONS = 300
# the fields that a reader sees; all others are ids, settings, or what a button sends
_TEXTS = ("text", "pretext", "fallback")
_LABELS = ("title", "footer", "author_name")
_ADDRESSES = ("url", "title_link", "from_url", "original_url", "author_link")
_REFERENCE_LINK = re.compile(r"<(?P<address>https?://[^<>|\s]+)(?:\|(?P<label>[^<>]*))?>")


# a text of a message, and whether a number alone counts in it: a label belongs to its link
_Passage = tuple[str, bool]


def find_pull_requests(message: Mapping[str, Any], repositories: AllowedRepositories) -> tuple[Reference, ...]:
    """Find the pull requests of allowed repositories, in the order in which a message first names them.

    ``#5`` alone is one of the default repository, unless the message names another repository's 5, as under a
    link, or it stands in an attachment, which is about what was linked.
    """
    every = (
        (mention, _resolve(mention, repositories), has_numbers)
        for text, has_numbers in _limit_length(_list_passages(message))
        for _, _, mention in find_references(text)
    )
    mentions = list(islice(every, _MAX_MENTIONS))
    elsewhere = {
        mention.number
        for mention, reference, _ in mentions
        if mention.repository and (reference is None or reference.repository != repositories.default)
    }
    return tuple(
        dict.fromkeys(
            reference
            for mention, reference, has_numbers in mentions
            if reference and (mention.repository or (has_numbers and mention.number not in elsewhere))
        )
    )


def _resolve(mention: Mention, repositories: AllowedRepositories) -> Reference | None:
    if mention.web and mention.web.casefold() != repositories.web.casefold():
        return None
    name = mention.repository or str(repositories.default)
    try:
        return Reference(repositories.require_known(Repository.parse(name)), mention.number)
    except UsageError:
        return None


def _limit_length(passages: Iterator[_Passage]) -> Iterator[_Passage]:
    """Yield passages up to a number of characters in all; a message of Slack has fewer."""
    left = _MAX_CHARACTERS
    for text, has_numbers in passages:
        yield text[:left], has_numbers
        left -= len(text)
        if left <= 0:
            return


def _list_passages(message: Mapping[str, Any]) -> Iterator[_Passage]:
    for part in ("text", "blocks", "attachments"):
        for node in islice(_walk({part: message.get(part)}), _MAX_NODES):
            for name, value in node.items():
                if isinstance(value, str):
                    yield from _read_field(node, name, value, has_numbers=part != "attachments")


def _walk(root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield all objects below one, itself first, without recursion: their depth is the sender's choice."""
    waiting: list[Any] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            yield node
        children = node.values() if isinstance(node, Mapping) else node
        waiting.extend(reversed([value for value in children if isinstance(value, Mapping | list)]))


def _read_field(node: Mapping[str, Any], name: str, value: str, *, has_numbers: bool) -> Iterator[_Passage]:
    # an attachment's field has a title and a value; a button and an option have a value that only apps read
    is_value = name == "value" and "title" in node and "type" not in node
    if name in _ADDRESSES:
        yield value, False
    elif name in _LABELS or (name == "text" and isinstance(node.get("url"), str)):
        yield from _read_markup(value, has_numbers=False)
    elif name in _TEXTS or is_value:
        yield from _read_markup(value, has_numbers=has_numbers)


def _read_markup(text: str, *, has_numbers: bool) -> Iterator[_Passage]:
    """Yield the parts of a text: what stands between links, and the address and the label of each."""
    at = 0
    for link in _REFERENCE_LINK.finditer(text):
        yield html.unescape(text[at : link.start()]), has_numbers
        yield html.unescape(link["address"]), False
        yield html.unescape(link["label"] or ""), False
        at = link.end()
    yield html.unescape(text[at:]), has_numbers
