"""What every message has to hold to: Slack takes it, nobody is pinged, and no link leads abroad."""

import re
import unicodedata
from collections.abc import Container, Iterable, Iterator
from typing import Any

from localslack.rules.messages import check_message, find_links, find_mentions

from bot.features.digest.rules import Digest
from bot.features.merges.summary import build_evidence_url
from bot.features.merges.view import Entry
from bot.platform.slack.blocks import Post, count_characters

MOST_BLOCKS = 45
MOST_CHARACTERS = 9_000


def assert_accepted(post: Post, digest: Digest) -> None:
    """Slack takes the message as it is, and nothing in it is live but links to the day's pull requests."""
    payload = post.build_payload()
    assert check_message(payload) is None
    assert find_mentions(payload) == []
    leads = set(find_links(payload))
    assert leads <= list_addresses(digest.entries)
    assert all(url.startswith("https://github.com/") for url in leads)
    assert len(post.blocks) <= MOST_BLOCKS
    assert count_characters(list(post.blocks)) <= MOST_CHARACTERS


def list_addresses(entries: Iterable[Entry]) -> set[str]:
    whole = tuple(entries)
    quoted = (
        build_evidence_url(entry.pull, finding.evidence)
        for entry in whole
        for finding in (entry.review.findings if entry.review else ())
        if finding.evidence
    )
    return {*(entry.pull.url for entry in whole), *quoted}


def assert_taken(post: Post, known: Container[str]) -> None:
    """The same of any message: ``known`` are the addresses that may be linked."""
    payload = post.build_payload()
    assert check_message(payload) is None
    assert find_mentions(payload) == []
    assert [
        url for url in find_links(payload) if url not in known or not url.startswith("https://github.com/")
    ] == []
    assert len(post.blocks) <= MOST_BLOCKS
    assert count_characters(list(post.blocks)) <= MOST_CHARACTERS


def actions_of(post: Post) -> list[dict[str, Any]]:
    """The buttons and menus of a message, which all stand in its last block."""
    rows = [block for block in post.blocks if block["type"] == "actions"]
    assert rows in ([], [post.blocks[-1]])
    return [element for row in rows for element in row["elements"]]


def nodes(value: Any, kind: str) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if value.get("type") == kind:
            yield value
        value = list(value.values())
    for part in value if isinstance(value, list | tuple) else ():
        yield from nodes(part, kind)


def items(post: Post) -> list[list[dict[str, Any]]]:
    return [
        item["elements"]
        for bullet_list in nodes(post.blocks, "rich_text_list")
        for item in bullet_list["elements"]
    ]


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (part for key, part in value.items() if key == "text" and isinstance(part, str))
        value = list(value.values())
    for part in value if isinstance(value, list | tuple) else ():
        yield from strings(part)


def read_post(post: Post) -> str:
    """All that a reader sees of a message, blocks one after the other."""
    return "\n".join("".join(strings(block)) for block in post.blocks)


def invisible(text: str) -> list[str]:
    """Controls and formats that make a text read otherwise than it is; a line break of our own is none."""
    odd = [char for char in text if unicodedata.category(char) in {"Cc", "Cf", "Zl", "Zp"}]
    return [char for char in odd if char not in "\n\u200c\u200d"]


_MARKUP = re.compile(r"`|\*\*\w|\]\(https?:|<https?:")


def list_literal_markup(value: Any) -> list[str]:
    """The texts of a payload that Slack shows as they are, and that have signs of markup in them."""
    if isinstance(value, list):
        return [text for each in value for text in list_literal_markup(each)]
    if not isinstance(value, dict) or value.get("type") == "rich_text_preformatted":
        return []
    is_shown = value.get("type") in ("plain_text", "text", "link") and not value.get("style", {}).get("code")
    text = value.get("text")
    own = [text] if is_shown and isinstance(text, str) and _MARKUP.search(text) else []
    return own + list_literal_markup([*value.values()])
