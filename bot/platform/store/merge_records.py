"""History of merged pull requests on Redis. It does not expire.

A pull request takes 0.7 KB without its description and 1.0 KB with one of full length, as measured on the replay
days: 8 to 11 MB a year for a repository that merges 31 a day. The stored part of the message of its merge commit
has the limit of a description (0.3 KB), and is mostly empty: it names nobody, or repeats the description.
"""

from __future__ import annotations

import datetime as dt
import logging
import re
import zlib
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import cast

from pydantic import TypeAdapter
from redis import Redis

from bot.platform.pulls.models import PullRequest, sort_newest_first
from bot.platform.store.codecs import load_or_none
from bot.platform.store.connection import UNPREFIXED, Keyspace, pack_value, translate_redis_errors, unpack_value
from bot.platform.store.keys import MERGE_HISTORY
from bot.redaction import redact_text
from impact.repository import Repository
from impact.text.strings import remove_comments

log = logging.getLogger(__name__)

_PULL_REQUEST_ADAPTER = TypeAdapter(PullRequest)
# "Reverts owner/name#N" and "This reverts commit …" come first and take at most 160 characters; words of blame
# ("a regression from #N") are in the first paragraphs, before test plans and results. It ends at white space:
# half a number would name another pull request.
_BEGINNING_PATTERN = re.compile(r".{0,1000}(?!\S)", re.S)
# paragraphs of a commit message that name a pull request or a commit, or are about reverts
_REVERT_MERGE = re.compile(r"Merge pull request #\d{1,9} from [\w.-]{1,100}/revert-\d{1,9}-")
_REFERENCE_PATTERN = re.compile(r"#\d|/pull/\d|\bPRs?[ -]?\d|\b[0-9a-f]{7,40}\b|\bre-?(?:vert|land|appl)", re.I)


class HistoryStore:
    """``HistoryStore`` on Redis: a hash by number for each repository and UTC date."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._keys = keys

    def record_merges(self, pulls: Iterable[PullRequest]) -> None:
        """Store merged pull requests, all or none."""
        with translate_redis_errors(), self._client.pipeline() as pipeline:
            for pull in pulls:
                key = self._keys.add_prefix(
                    _build_history_key(pull.repository, pull.merge_time.astimezone(UTC).date())
                )
                # default values need not be stored, such as no patch or no label
                value = pack_value(
                    _PULL_REQUEST_ADAPTER.dump_json(trim_pull_request(pull), exclude_defaults=True).decode()
                )
                put = pipeline.hsetnx if pull.files is None else pipeline.hset
                put(key, str(pull.number), cast("str", value))
            pipeline.execute()

    def read_merges(self, repository: Repository, since: datetime, until: datetime) -> tuple[PullRequest, ...]:
        """Return the merges from ``since`` up to but not including ``until``, newest first."""
        with translate_redis_errors(), self._client.pipeline(transaction=False) as pipeline:
            for date in _list_utc_dates(since, until):
                pipeline.hgetall(self._keys.add_prefix(_build_history_key(repository, date)))
            days = cast("list[dict[bytes, bytes]]", pipeline.execute())
        stored = [pull for day in days for value in day.values() if (pull := _parse_pull_request(value))]
        within = [replace(pull, repository=repository) for pull in stored if since <= pull.merge_time < until]
        return sort_newest_first(tuple(within))


def _build_history_key(repository: Repository, date: dt.date) -> str:
    # GitHub ignores the case of names, and people type them in any
    return MERGE_HISTORY.build_key(str(repository).lower(), date)


def _list_utc_dates(since: datetime, until: datetime) -> Iterable[dt.date]:
    first = since.astimezone(UTC).date()
    last = (until - timedelta(microseconds=1)).astimezone(UTC).date()
    return (first + timedelta(days=n) for n in range((last - first).days + 1))


def trim_pull_request(pull: PullRequest) -> PullRequest:
    """Return the parts of a pull request to store, without credentials that somebody wrote down by mistake."""
    body = _cut_beginning(redact_text(remove_comments(pull.body)))
    message = _cut_beginning(_extract_new_references(redact_text(pull.commit_message), body))
    merge = _REVERT_MERGE.match(pull.commit_message)
    branch = merge[0] if merge else ""
    return replace(
        pull.remove_patches(),
        title=redact_text(pull.title),
        linked_issues=tuple(replace(issue, title=redact_text(issue.title)) for issue in pull.linked_issues),
        body=body,
        # its first line is the title again, or names the branch of a revert
        commit_message=f"{branch}\n\n{message}" if branch or message else "",
    )


def _cut_beginning(text: str) -> str:
    """Return the beginning of a text, at most 1,000 characters, without half a word at its end."""
    beginning = _BEGINNING_PATTERN.match(text.strip())
    return beginning[0].rstrip() if beginning else ""


def _extract_new_references(message: str, body: str) -> str:
    """Return the paragraphs with references that the description lacks: most messages repeat it."""
    lines = remove_comments(message).replace("\r\n", "\n").partition("\n")[2]
    known_words = " ".join(body.split())
    paragraphs = (paragraph.strip() for paragraph in re.split(r"\n\s*\n", lines))
    return "\n\n".join(
        each
        for each in paragraphs
        if _REFERENCE_PATTERN.search(each) and " ".join(each.split()) not in known_words
    )


def _parse_pull_request(value: bytes) -> PullRequest | None:
    """Return a stored pull request, None if it is unreadable: the history can do without one of many."""
    try:
        pull = load_or_none(_PULL_REQUEST_ADAPTER, unpack_value(value))
    except (zlib.error, UnicodeDecodeError):
        pull = None
    if pull is None:
        log.warning("a record of the history can't be read and is left out")
    return pull
