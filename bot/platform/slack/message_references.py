"""The pull requests that a Slack message names or links, in its text, its blocks and its attachments.

Anybody, or another app, may have written the message. Nothing of it is kept but numbers of allowed repositories.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from bot.errors import UsageError
from bot.platform.commands import AllowedRepositories
from bot.platform.pulls.models import Reference
from impact.history.mentions import Mention, find_references
from impact.repository import Repository

# Slack cuts a text at 40,000 characters, and takes fifty blocks and a hundred attachments
_MAX_CHARACTERS = 60_000
_MAX_NODES = 20_000
# Slack waits three seconds, and each is compared with all repositories
_MAX_MENTIONS = 300
# the fields that a reader sees; all others are ids, settings, or what a button sends
_TEXTS = ("text", "pretext", "fallback")
_LABELS = ("title", "footer", "author_name")
_ADDRESSES = ("url", "title_link", "from_url", "original_url", "author_link")
_LINK = re.compile(r"<(?P<address>https?://[^<>|\s]+)(?:\|(?P<label>[^<>]*))?>")


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
    for link in _LINK.finditer(text):
        yield html.unescape(text[at : link.start()]), has_numbers
        yield html.unescape(link["address"]), False
        yield html.unescape(link["label"] or ""), False
        at = link.end()
    yield html.unescape(text[at:]), has_numbers
