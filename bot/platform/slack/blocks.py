"""Messages of Slack: their blocks, buttons and menus."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import islice
from typing import Any, Protocol, TypeVar

from bot.errors import UsageError
from bot.platform.commands import AllowedRepositories, CommandRequest
from bot.platform.pulls.models import PullRequest, Reference
from bot.platform.store.codecs import VersionedJson
from bot.redaction import redact_text
from bot.text import NUMBER_PATTERN, parse_digits
from impact.text.strings import collapse_lines, truncate_text

# how far Slack's clock and ours may differ: the search for a post begins this much earlier
CLOCK_SKEW = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Attachment:
    name: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Post:
    """A message in Slack's format. ``text`` is for notifications and screen readers."""

    text: str
    blocks: tuple[Mapping[str, Any], ...]

    def build_payload(self) -> dict[str, Any]:
        return {"text": self.text, "blocks": [dict(block) for block in self.blocks]}


@dataclass(frozen=True, slots=True)
class ThreadMessage:
    """A message of a thread, by the id of its author if known. Only the bot's own have ``key`` and ``about``."""

    ts: str
    text: str
    is_own: bool
    key: str = ""
    about: str = ""
    user: str = ""


class TaskStatus(StrEnum):
    RUNNING = "in_progress"
    DONE = "complete"
    FAILED = "error"


@dataclass(frozen=True, slots=True)
class TaskCard:
    """Something that is read for an answer. ``id`` is unique there, ``title`` is on one line and sanitized."""

    id: str
    title: str
    status: TaskStatus = TaskStatus.RUNNING


class AnswerDisplay(Protocol):
    """Display of one answer while it is written: in a thread of Slack, or nowhere while answers are evaluated."""

    def show_status(self, doing: str) -> None:
        """Show what the bot does, such as "is reading 3 diffs…", until the next text is shown."""

    def show_tasks(self, *tasks: TaskCard) -> None:
        """Show cards, each in place of the earlier one with its id. Raise AnswerCancelled as ``append_text``."""

    def append_text(self, text: str) -> None:
        """Add Markdown to the answer. Raise AnswerCancelled if the asker has stopped it."""

    def replace_text(self, text: str) -> None:
        """Show this in place of the text shown so far."""

    def finish(self, text: str, below: Sequence[Mapping[str, Any]]) -> str:
        """Make this the whole answer, with blocks below it, and return the message's timestamp.

        Raises SlackCallRefused, SlackUnavailable: it is unknown how much of the answer is shown.
        """


# --- blocks

# in place of a name of which nothing is visible: Slack refuses an empty text
UNNAMED = "(no name)"
WINDOW_TOO_LATE = "The window did not open in time: try again."
UNKNOWN_BUTTON = "That button no longer works: use a command instead."
CLOSE_LABEL = "Close"


# the words that ping a whole channel; a zero-width joiner after the sign makes them plain words
_BROADCAST = re.compile(r"@(?=(?:channel|here|everyone|group)\b)", re.I)
_ADDRESS = re.compile(r"(?<=[A-Za-z])://")
_WWW = re.compile(r"www(?=\.)", re.I)
_JOINER = "\u200d"


def escape_mrkdwn(text: str) -> str:
    """Escape a text on one line, so that nothing in it can ping, link or end what it stands in; remove secrets."""
    plain = redact_text(collapse_lines(text)).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    plain = _WWW.sub(rf"\g<0>{_JOINER}", plain)
    return _ADDRESS.sub(f":{_JOINER}//", _BROADCAST.sub(f"@{_JOINER}", plain))


Element = dict[str, Any]
Block = dict[str, Any]

# of one paragraph; each takes some 60 characters of the request besides its text
_MAX_PIECES = 60
_COUNTED_KEYS = frozenset({"text", "url"})
_PIECES = re.compile(r"`(?P<code>[^`]+)`|\*\*(?P<bold>[^*]+)\*\*|" + NUMBER_PATTERN)


def make_text(content: str, *, bold: bool = False, italic: bool = False, code: bool = False) -> Element:
    style = {name: True for name, on in (("bold", bold), ("italic", italic), ("code", code)) if on}
    return {"type": "text", "text": redact_text(content), **({"style": style} if style else {})}


def make_link(url: str, label: str, *, bold: bool = False) -> Element:
    # a label is never code: backticks would be shown
    text = redact_text(label.replace("`", "") or label)
    return {"type": "link", "url": url, "text": text, **({"style": {"bold": True}} if bold else {})}


def make_instant(instant: datetime, lead: str = "", tail: str = "", *, between: str = " at ") -> Element:
    """Return an instant in the time zone and the language of each reader.

    ``lead`` are the words before it in a sentence: without them Slack begins it with a capital letter. ``tail``
    are words behind it that hold for the reader's zone; where Slack can't show that, it is in UTC without them.
    """
    return {
        "type": "date",
        "timestamp": int(instant.timestamp()),
        "format": f"{lead}{{date_short_pretty}}{between}{{time}}{tail}",
        "fallback": f"{lead}{instant:%Y-%m-%d %H:%M} UTC",
    }


def make_prose(content: str, addresses: Mapping[int, str], limit: int) -> list[Element]:
    """Return external prose on one line: code and bold keep their style, ``#N`` links if N has an address.

    It has up to ``limit`` characters, and as many again for addresses; beyond that it is plain text.
    """
    line, elements, at, room = truncate_text(redact_text(collapse_lines(content)), limit), [], 0, limit
    for piece in islice(_PIECES.finditer(line), _MAX_PIECES):
        element = _make_piece(piece, addresses if room > 0 else {})
        room -= len(element.get("url", ""))
        elements += [make_text(line[at : piece.start()]), element]
        at = piece.end()
    return [element for element in (*elements, make_text(line[at:])) if element["text"]]


def _make_piece(piece: re.Match[str], addresses: Mapping[int, str]) -> Element:
    if piece["code"]:
        return make_text(piece["code"], code=True)
    if piece["bold"]:
        return make_text(piece["bold"], bold=True)
    address = addresses.get(parse_digits(piece["number"]))
    return make_link(address, piece[0]) if address else make_text(piece[0])


def make_section(elements: Iterable[Element]) -> Element:
    return {"type": "rich_text_section", "elements": list(elements)}


def make_bullets(items: Iterable[Iterable[Element]], *, indent: int = 0) -> Element:
    """Return a list; ``indent`` is how deep it stands in others, which follow one another in a block."""
    depth = {"indent": indent} if indent else {}
    sections = [make_section(item) for item in items]
    return {"type": "rich_text_list", "style": "bullet", **depth, "elements": sections}


def make_preformatted(content: str) -> Element:
    """Return lines as code, in which Slack interprets nothing."""
    return {"type": "rich_text_preformatted", "elements": [make_text(content)]}


def make_block(*elements: Element) -> Block:
    return {"type": "rich_text", "elements": list(elements)}


# --- tables: where people compare

# with fewer of the same columns, lines are read faster
MIN_TABLE_ROWS = 4
# of the two limits that Slack's documents have had, the stricter ones; a message has one table
MAX_TABLE_ROWS, MAX_TABLE_CHARACTERS = 100, 10_000
_TABLE, _PAGE_ROWS = "data_table", 10
TableRow = Sequence[Sequence[Element]]


def make_table(caption: str, columns: Sequence[str], rows: Sequence[TableRow]) -> Block:
    """Return a table whose rows have a cell for each column; a list, if it has more characters than Slack takes.

    A message with it is sent with a list in its place where Slack takes no table (:func:`replace_tables`).
    """
    rows, dash = rows[:MAX_TABLE_ROWS], [make_text("\u2013")]
    # without a column that says nothing of any row
    shown = [place for place in range(len(columns)) if any(row[place] for row in rows)] or [0]
    cells = [[make_block(make_section(row[place] or dash)) for place in shown] for row in rows]
    header = [{"type": "raw_text", "text": columns[place]} for place in shown]
    title = make_plain_text(caption, 150)["text"]
    table: Block = {"type": _TABLE, "caption": title, "page_size": _PAGE_ROWS, "rows": [header, *cells]}
    return table if count_characters(table["rows"]) <= MAX_TABLE_CHARACTERS else _make_lines(table)


def has_table(blocks: Iterable[Mapping[str, Any]]) -> bool:
    return any(block["type"] == _TABLE for block in blocks)


def replace_tables(blocks: Iterable[Mapping[str, Any]]) -> list[Block]:
    """Return blocks with a list in place of each table, whose lines have what the cells of a row have."""
    return [_make_lines(block) if block["type"] == _TABLE else dict(block) for block in blocks]


def _make_lines(table: Mapping[str, Any]) -> Block:
    lines: list[list[Element]] = []
    for row in table["rows"][1:]:
        cells = [cell["elements"][0]["elements"] for cell in row]
        texts = [cell for cell in cells if [each.get("text") for each in cell] != ["\u2013"]]
        lines.append([each for cell in texts for each in (make_text(" \u00b7 "), *cell)][1:])
    return make_block(make_section([make_text(table["caption"], bold=True)]), make_bullets(lines))


def make_header(content: str) -> Block:
    """Return a headline; Slack allows 150 characters."""
    return {"type": "header", "text": make_plain_text(content, 150)}


def make_context(content: str) -> Block:
    """Return small print, literal and far below the 3,000 characters that Slack allows."""
    return {"type": "context", "elements": [make_plain_text(content, 2_000)]}


def make_plain_text(content: str, limit: int) -> Element:
    """Return a text without markup, on one line, for headers, buttons and windows; backticks would be shown."""
    line = redact_text(collapse_lines(content))
    text = truncate_text(line.replace("`", "").strip() or line, limit)
    return {"type": "plain_text", "text": text, "emoji": False}


def count_characters(node: Any) -> int:
    """Count what a block adds to the limit of a message: its texts and addresses."""
    count, pending = 0, [node]
    while pending:
        current = pending.pop()
        if isinstance(current, dict):
            count += sum(len(current[name]) for name in _COUNTED_KEYS if isinstance(current.get(name), str))
            pending += [each for each in current.values() if isinstance(each, (dict, list))]
        elif isinstance(current, list):
            pending += current
    return count


T = TypeVar("T")

# Slack refuses messages above about 13,200 characters and has been seen to refuse 11,300 with many rich blocks
MAX_CHARACTERS = 9_000
MAX_BLOCKS = 45
# of the lead of a day: what a minute on a phone allows
MAX_LEAD_WORDS = 220
# for a row of buttons, its menu, and the name of the user
_RESERVED_CHARACTERS = 1_000
_DIVIDER: Block = {"type": "divider"}
# the heading and the key points
_BEGINNING = 2


def choose_fitting_blocks(versions: Iterable[list[Block]]) -> list[Block]:
    """Return the first version with room for buttons, else the last. Each is built only when needed."""
    blocks: list[Block] = []
    for blocks in versions:
        if count_characters(blocks) <= MAX_CHARACTERS - _RESERVED_CHARACTERS:
            break
    return blocks


def split_groups(
    groups: Iterable[list[T]], most_characters: int, most_items: float = math.inf
) -> Iterator[list[T]]:
    """Yield the items of the groups in parts; those of a group stay together.

    A part takes a further group while it has fewer than ``most_items`` and its characters stay within
    ``most_characters``. A group that is too long by itself is a part of its own.
    """
    current: list[T] = []
    count = 0
    for group in groups:
        own = count_characters(group)
        if current and (count + own > most_characters or len(current) >= most_items):
            yield current
            current, count = [], 0
        current += group
        count += own
    if current:
        yield current


def count_words(blocks: Iterable[Mapping[str, Any]]) -> int:
    """Count what blanks separate in all that a reader sees, but in buttons, menus and the points of lists."""
    return sum(len(line.split()) for block in blocks for line in _list_lines(block))


def _list_lines(node: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a block; what stands on one line may be in several elements."""
    kind = node["type"]
    if kind == "header":
        yield node["text"]["text"]
    elif kind == "rich_text_section":
        yield "".join(piece.get("text", "") for piece in node["elements"])
    elif kind == "plain_text":
        yield node["text"]
    elif kind in {"context", "rich_text", "rich_text_list"}:
        for part in node["elements"]:
            yield from _list_lines(part)


# --- several messages as few


def merge_posts(posts: Sequence[Post], most: int) -> list[Post]:
    """Merge messages in order into as few as Slack allows; if more than ``most``, reduce each to its beginning."""
    merged = _merge_fitting(posts)
    return merged if len(merged) <= most else _merge_fitting([_reduce_post(post) for post in posts])


def _merge_fitting(posts: Sequence[Post]) -> list[Post]:
    merged: list[Post] = []
    for post in posts:
        both = _join_posts(merged[-1], post) if merged else None
        if both and len(both.blocks) <= MAX_BLOCKS and count_characters(list(both.blocks)) <= MAX_CHARACTERS:
            merged[-1] = both
        else:
            merged.append(post)
    return merged


def _join_posts(first: Post, second: Post) -> Post:
    return Post(f"{first.text}\n{second.text}", (*first.blocks, _DIVIDER, *second.blocks))


def _reduce_post(post: Post) -> Post:
    """Return a message without what stands between its beginning and its buttons."""
    buttons = [block for block in post.blocks[_BEGINNING:] if block["type"] == "actions"]
    return Post(post.text, (*post.blocks[:_BEGINNING], *buttons))


# --- buttons and menus

R = TypeVar("R", bound=CommandRequest)

_VERSION = 2


VERSION_MARK = f"{_VERSION}|"


# Slack's limit for the value of a button, in characters
_MAX_VALUE_LENGTH = 2_000


class FeedbackVerdict(StrEnum):
    GOOD = "good"
    BAD = "bad"


def write_reference(reference: Reference) -> str:
    """Return the value for a pull request: ``2|octo/engine#35617``."""
    return f"{VERSION_MARK}{reference}"


def read_reference(value: str, repositories: AllowedRepositories) -> Reference:
    """Return the pull request of a value. Raises UsageError for none, or one of a repository not allowed."""
    return repositories.parse_pull_request(remove_mark(value))


def write_id(subscription: str) -> str:
    return f"{VERSION_MARK}{subscription}"


def read_id(value: str) -> str:
    """Return the id of a subscription; the value is not checked. Raises UsageError for another version."""
    return remove_mark(value)


def write_verdict(verdict: FeedbackVerdict) -> str:
    return f"{VERSION_MARK}{verdict}"


def read_verdict(value: str) -> FeedbackVerdict:
    """Return the rating of a value. Raises UsageError if the value is none."""
    try:
        return FeedbackVerdict(remove_mark(value))
    except ValueError as error:
        raise UsageError(UNKNOWN_BUTTON) from error


def write_request(request: CommandRequest) -> str:
    """Return the value for a request that is repeated for everybody, without its mark as private."""
    # if filters make it too long, it is the text of the command
    fields = {**VersionedJson(type(request), _VERSION).dump(request), "kind": request.kind}
    fields.pop("is_private", None)
    value = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return value if len(value) <= _MAX_VALUE_LENGTH else f"{VERSION_MARK}{request}"


def read_request(value: str, shapes: Iterable[type[R]]) -> R | str:
    """Return a request of one of ``shapes``, or the text of one as typed. Raises UsageError if it is neither."""
    if not value.startswith("{"):
        return remove_mark(value)
    try:
        fields = json.loads(value)
        shape = next(each for each in shapes if each.kind == fields["kind"])
        return VersionedJson(shape, _VERSION).load(fields)
    except (ValueError, TypeError, LookupError, StopIteration, RecursionError) as error:
        raise UsageError(UNKNOWN_BUTTON) from error


def remove_mark(value: str) -> str:
    """Return a value without the mark of its version. Raises UsageError for another version, or none."""
    if not value.startswith(VERSION_MARK):
        raise UsageError(UNKNOWN_BUTTON)
    return value.removeprefix(VERSION_MARK)


DETAILS = "details"
DETAILS_OF = "details_of"
ASK = "ask"
WATCH = "watch"
# one for each command, so that the listener knows which kinds of requests the value may hold
SHARE_SUMMARY = "share_summary"
SHARE_RISKS = "share_risks"
SHARE_DIGEST = "share_digest"


# Slack takes 100; their texts count against the limit of the message, and nobody reads further
_MAX_OPTIONS = 10
_MAX_LABEL_LENGTH = 75


def make_button(label: str, action: str, value: str) -> Element:
    text = make_plain_text(label, _MAX_LABEL_LENGTH)
    return {"type": "button", "action_id": action, "text": text, "value": value}


def make_details_button(pull: PullRequest) -> Element:
    return make_button("Details", DETAILS, _write_pull(pull))


def make_watch_button(reference: Reference) -> Element:
    return make_button("Watch", WATCH, write_reference(reference))


def make_details_menu(pulls: Iterable[PullRequest]) -> Element | None:
    options = [
        {"text": make_plain_text(f"#{pull.number} {pull.title}", _MAX_LABEL_LENGTH), "value": _write_pull(pull)}
        for pull in {pull.number: pull for pull in pulls}.values()
    ][:_MAX_OPTIONS]
    if not options:
        return None
    placeholder = make_plain_text("Details of …", _MAX_LABEL_LENGTH)
    return {"type": "static_select", "action_id": DETAILS_OF, "placeholder": placeholder, "options": options}


def _write_pull(pull: PullRequest) -> str:
    return write_reference(Reference(pull.repository, pull.number))


def make_ask_button() -> Element:
    return make_button("Ask about this", ASK, "thread")


def make_share_button(action: str, request: CommandRequest) -> Element:
    """Return the button that repeats a request for everybody; ``action`` is the one that the command declares."""
    return make_button("Share in channel", action, write_request(request))


def make_repeat_button(action: str, request: CommandRequest) -> Element:
    return make_button("Post it again", name_repeat_action(action), write_request(request))


def name_repeat_action(action: str) -> str:
    return f"{action}_again"


def add_buttons(post: Post, *elements: Element | None) -> Post:
    row: Block = {"type": "actions", "elements": [element for element in elements if element]}
    return Post(post.text, (*post.blocks, row)) if row["elements"] else post


def add_asker(post: Post, asker: str) -> Post:
    """Return the message with the name of the user who asked for it, which pings nobody; as it is without one."""
    return Post(post.text, (*post.blocks, make_context(f"Asked for by {asker}"))) if asker else post
