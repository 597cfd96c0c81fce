"""Cleaning of data from GitHub or a clone: whatever was sent, values of the right type come out.

Credentials that somebody committed or wrote down by mistake are removed here.

Lone surrogates can't be encoded as UTF-8, control characters steer terminals and hide words, and a number or a
date out of range would end a later calculation. Nothing in this module raises.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from bot.platform.pulls.diff import count_changed_lines, is_readable, truncate_patch
from bot.platform.pulls.models import GHOST, Account, ChangedFile
from bot.redaction import redact_patch, redact_text
from impact.source.reading import replace_controls

# GitHub's own limits in characters, with room for servers that have others: titles have 256, descriptions 65,536,
# names of branches 255, of labels 50, of accounts 39; the message of a commit has none
MAX_TITLE = 1_024
MAX_TEXT = 65_536
MAX_NAME = 255
# PATH_MAX of Linux
MAX_PATH = 4_096
# characters of a credential that the end of a text may cut; longer ones have a known beginning
_MAX_SECRET = 300
# the deepest paths of Linux, Chromium and the JDK have about 20 folders
_MAX_FOLDERS = 100
# characters of all patches of one pull request: fifty times what a model reads of them at most
_MAX_PATCHES = 20_000_000
# GraphQL's Int has 32 bits; numbers of pull requests have at most nine digits everywhere in this project
_MAX_COUNT = 2**31 - 1
_MAX_NUMBER = 10**9 - 1
# GitHub began in 2008; the end of a later day would be out of range
_FIRST_YEAR, _LAST_YEAR = 1970, 9998

NO_TITLE, NO_PATH = "(no title)", "(unnamed)"
_REPLACEMENT, _ELLIPSIS = "\ufffd", "…"
_SURROGATES = re.compile("[\ud800-\udfff]")
_LINE_BREAKS = re.compile("(?:\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])+")
# all controls but the tab, and in texts of several lines line breaks
_CONTROLS = re.compile("[\0-\x08\n-\x1f\x7f-\x9f]")
_CONTROLS_IN_TEXT = re.compile("[\0-\x08\v\f\x0e-\x1f\x7f-\x9f]")
_NO_LOGIN = re.compile(r"[^A-Za-z0-9_.-]")
_APP = "[bot]"
_HASH = re.compile(r"[0-9a-fA-F]{1,64}")
_STATUSES = ("added", "removed", "modified", "renamed", "copied", "changed", "unchanged")


def clean_line(value: object, longest: int = MAX_NAME) -> str:
    """Return a text on one line with its blanks unchanged; empty for what is not a text."""
    text = _redact_beginning(value, longest)
    return _CONTROLS.sub("", _LINE_BREAKS.sub(" ", _replace_surrogates(text)))


def clean_text(value: object, longest: int = MAX_TEXT) -> str:
    return _CONTROLS_IN_TEXT.sub("", _replace_surrogates(_redact_beginning(value, longest)))


def _redact_beginning(value: object, longest: int) -> str:
    """Return the beginning of a text without credentials, also without one that is cut at its end."""
    return redact_text(value[: longest + _MAX_SECRET])[:longest] if isinstance(value, str) else ""


def clean_title(value: object) -> str:
    title = clean_line(value, MAX_TITLE)
    return title if title.strip() else NO_TITLE


def clean_path(value: object) -> str:
    """Return a path, without its middle if very deep. What can't be shown is marked: it is another path."""
    text = _redact_beginning(value, MAX_PATH)
    marked = _CONTROLS.sub(_REPLACEMENT, _LINE_BREAKS.sub(_REPLACEMENT, _replace_surrogates(text)))
    if marked.count("/") > _MAX_FOLDERS:
        *folders, name = marked.split("/")
        return "/".join([*folders[: _MAX_FOLDERS - 1], _ELLIPSIS, name])
    return marked if marked.strip() else NO_PATH


def clean_hash(value: object) -> str:
    """Return the hash of a commit; empty for what is not a hash, because it becomes part of addresses."""
    return value if isinstance(value, str) and _HASH.fullmatch(value) else ""


def clean_code(text: str) -> str:
    """Return a patch or a source file with as many lines as it has."""
    return redact_patch(replace_controls(text))


def parse_account(value: object) -> Account:
    """Return the account of a GraphQL node. A deleted one is null and becomes GitHub's "ghost"."""
    # a login becomes part of addresses, so it keeps only the characters that logins may have
    node = parse_node(value)
    name = clean_line(node.get("login"))
    login = _NO_LOGIN.sub("", name.removesuffix(_APP))
    suffix = _APP if name.endswith(_APP) else ""
    return Account(f"{login}{suffix}", is_bot=node.get("__typename") == "Bot") if login else GHOST


def parse_count(value: object) -> int:
    """Return a count of at most 32 bits; 0 for a negative number or what is not a number."""
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return min(max(value, 0), _MAX_COUNT)


def parse_number(value: object) -> int | None:
    return value if isinstance(value, int) and 0 < value <= _MAX_NUMBER and not isinstance(value, bool) else None


def parse_instant(value: object) -> datetime | None:
    """Return an instant in UTC, the default time zone; None for another value, or outside of 1970 to 9998."""
    try:
        instant = datetime.fromisoformat(value) if isinstance(value, str) else None
        instant = instant.replace(tzinfo=instant.tzinfo or UTC).astimezone(UTC) if instant else None
    except (ValueError, OverflowError):
        return None
    return instant if instant and _FIRST_YEAR <= instant.year <= _LAST_YEAR else None


def parse_node(value: object) -> Mapping[str, Any]:
    """Return an object of an answer; empty for what is not an object."""
    return value if isinstance(value, Mapping) else {}


def parse_nodes(value: object) -> list[Mapping[str, Any]]:
    """Return the objects of a list, or of a connection's ``nodes``. Other items become empty objects."""
    listed = value.get("nodes") if isinstance(value, Mapping) else value
    return [parse_node(each) for each in listed] if isinstance(listed, list) else []


def parse_files(items: Iterable[object]) -> Iterator[ChangedFile]:
    """Yield the files of a pull request. After 20,000,000 characters of patches, further ones are too large."""
    room = _MAX_PATCHES
    for item in items:
        file = parse_file(item)
        room -= len(file.patch or "")
        yield file if room >= 0 else file.replace_patch(None, 0)


def parse_file(value: object) -> ChangedFile:
    """Return a file of the REST "files" call, with as much of its patch as is kept, and how much was cut off."""
    item = parse_node(value)
    status, previous = item.get("status"), item.get("previous_filename")
    file = ChangedFile(
        path=clean_path(item.get("filename")),
        status=status if status in _STATUSES else "modified",
        additions=parse_count(item.get("additions")),
        deletions=parse_count(item.get("deletions")),
        previous_path=clean_path(previous) if previous else None,
    )
    patch = item.get("patch")
    if patch is None:
        return file
    if not isinstance(patch, str) or not is_readable(patch):
        # one without readable line numbers counts as missing
        return file.replace_patch(None, max(file.changed_lines, 1))
    part = truncate_patch(patch)
    kept = clean_code(part) or None
    cut = max(file.changed_lines - count_changed_lines(part), 1) if len(part) < len(patch) and kept else 0
    return file.replace_patch(kept, cut)


def _replace_surrogates(text: str) -> str:
    """Replace lone surrogates by U+FFFD, as UTF-8 decoders do."""
    return text if text.isascii() else _SURROGATES.sub(_REPLACEMENT, text)
