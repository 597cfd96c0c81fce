"""Live text in a message: the mentions that notify and the links that a reader can follow."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from itertools import chain
from typing import Any

from localslack.rules.blocks import Json, read_blocks


@dataclass(frozen=True)
class LiveText:
    """A string in which Slack looks for mentions and links.

    ``bare_names`` and ``bare_urls`` mean that plain words count too, ``markdown`` that it is Markdown.
    """

    text: str
    bare_names: bool = True
    bare_urls: bool = True
    markdown: bool = False


TOKEN = re.compile(
    r"<(?:!(?i:channel|here|everyone)|@[UWB][A-Z0-9]+|!subteam\^[A-Z0-9]+|#[CDG][A-Z0-9]+)(?:\|[^<>]*)?>"
)
BARE_NAME = re.compile(r"(?<![\w@<./-])@(?:channel|here|everyone)\b", re.IGNORECASE)
ANGLED = re.compile(r"<((?:https?://|mailto:)[^<>|\s]+)(?:\|[^<>]*)?>")
# any scheme: the documentation does not say which ones Slack links in markdown
MARKDOWN_LINK = re.compile(r"\]\(\s*<?((?:[a-z][a-z0-9+.-]*://|mailto:|tel:)[^\s)>]+)", re.IGNORECASE)
BARE_URL = re.compile(r"https?://[^\s<>|]+", re.IGNORECASE)
# keys with markdown, by type; that the lines of a plan are markdown is the cautious reading
MARKDOWN = {"markdown": ("text",), "plan": ("title",), "task_card": ("title", "details", "output")}
RICH_MENTIONS = {
    "user": ("user_id", "<@{}>"),
    "usergroup": ("usergroup_id", "<!subteam^{}>"),
    "channel": ("channel_id", "<#{}>"),
    "broadcast": ("range", "<!{}>"),
}


def find_mentions(arguments: Json) -> list[str]:
    """Return all text that notifies or becomes a live name, as Slack's tokens (bare words as written).

    A bare ``@here`` counts in text and in mrkdwn that is not verbatim; in markdown blocks it is untested.
    """
    nodes = list(_iterate_nodes(arguments))
    return list(chain(_find_in_texts(arguments, nodes, _find_mentions_in), _find_in_rich_text(nodes)))


def find_links(arguments: Json) -> list[str]:
    """Return every URL that a reader can follow, with entities decoded."""
    nodes = list(_iterate_nodes(arguments))
    own = (node["url"] for node in nodes if isinstance(node.get("url"), str))
    return list(chain(_find_in_texts(arguments, nodes, _find_links_in), own))


def _find_in_texts(
    arguments: Json, nodes: Sequence[Json], find: Callable[[LiveText], Iterator[str]]
) -> Iterator[str]:
    return chain.from_iterable(map(find, _iterate_texts(arguments, nodes)))


def _find_in_rich_text(nodes: Sequence[Json]) -> Iterator[str]:
    for node in nodes:
        key, form = RICH_MENTIONS.get(str(node.get("type")), ("", ""))
        if key in node:
            yield form.format(node[key])


def _find_mentions_in(live: LiveText) -> Iterator[str]:
    yield from TOKEN.findall(live.text)
    if live.bare_names:
        yield from BARE_NAME.findall(TOKEN.sub(" ", live.text))


def _find_links_in(live: LiveText) -> Iterator[str]:
    decode = str if live.markdown else unescape
    labelled = MARKDOWN_LINK.findall(live.text) if live.markdown else []
    rest = MARKDOWN_LINK.sub(" ", live.text) if live.markdown else live.text
    yield from map(decode, [*labelled, *ANGLED.findall(rest)])
    if live.bare_urls:
        yield from (decode(url.rstrip(".,;:!?'\")]*_~`")) for url in BARE_URL.findall(ANGLED.sub(" ", rest)))


def _iterate_texts(arguments: Json, nodes: Sequence[Json]) -> Iterator[LiveText]:
    if (text := arguments.get("text")) and not _is_repeated(str(text), nodes):
        # parse=none affects only plain addresses; names are reported regardless
        yield LiveText(str(text), bare_urls=arguments.get("parse") != "none")
    if markdown := arguments.get("markdown_text"):
        yield LiveText(str(markdown), bare_names=False, markdown=True)
    for node in nodes:
        kind = node.get("type")
        if kind == "mrkdwn":
            bare = not node.get("verbatim")
            yield LiveText(str(node.get("text")), bare_names=bare, bare_urls=bare)
        elif kind in MARKDOWN:
            for key in MARKDOWN[kind]:
                yield LiveText(str(node.get(key, "")), bare_names=False, markdown=True)
    yield from map(LiveText, _iterate_strings(arguments.get("attachments")))


def _is_repeated(text: str, nodes: Sequence[Json]) -> bool:
    """Return whether the text is for notifications only, as when it repeats a markdown block."""
    return any(node.get("type") == "markdown" and node.get("text") == text for node in nodes)


def _iterate_nodes(arguments: Json) -> Iterator[Json]:
    """Yield every object in the blocks, in reading order."""
    pending: list[Json | list[Any]] = [read_blocks(arguments)]
    while pending:
        value = pending.pop()
        parts: Iterable[Any] = value
        if isinstance(value, dict):
            yield value
            parts = value.values()
        # the first is taken out first
        pending += reversed([part for part in parts if isinstance(part, (dict, list))])


def _iterate_strings(value: object) -> Iterator[str]:
    """Yield every string of a legacy attachment: nearly all of its fields are mrkdwn."""
    if isinstance(value, str):
        yield value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from _iterate_strings(part)
