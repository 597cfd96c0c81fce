"""``prdigest report --since``: the reports of several days in a folder of their own."""

from __future__ import annotations

import datetime as dt
import fcntl
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Literal
from uuid import NAMESPACE_URL, uuid5
from xml.etree.ElementTree import Element, SubElement, tostring

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.app import App
from bot.dates import Span
from bot.errors import PrdigestError, UsageError
from bot.features.digest.rules import Digest
from bot.features.digest.service import DigestUse, build_digest
from bot.features.digest.view import render_report
from bot.features.touches.contracts import get_kept_contract, read_contracts
from bot.features.touches.lines import list_contract_rows
from bot.platform.markdown import escape_line
from bot.platform.pulls.models import PullRequest
from bot.redaction import redact_text
from bot.text import format_count
from impact.contract.models import ChangeKind, ContractChange, Deadline, MergeContract
from impact.repository import Repository
from impact.source.models import DiffSide
from impact.text.strings import collapse_lines, escape_invisible, truncate_text

# --- pages

FEED_ENTRIES = 14
# characters of each text of others
_MAX_TEXT = 1_000
# what XML 1.0 can't hold, escaped or not
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# a feed without an entry has to have a time
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


class _Part(BaseModel):
    """A part of ``contract.json``. The texts below its fields are the descriptions in the schema."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class ReportedFile(_Part):
    """A file that could not be read, and why."""

    path: str
    reason: str


class ReportedChange(_Part):
    """What a merge changed of one name that others depend on."""

    subject: str = Field(alias="class")
    """What others depend on, such as function, flag or environment variable."""
    kind: str
    """What happened to it, such as removed, renamed, signature or deprecated."""
    name: str
    new_name: str
    """The name after it was moved or renamed."""
    before: str
    """One line before the merge."""
    after: str
    """One line after the merge."""
    path: str
    line: int
    url: str
    is_importable: bool
    """Whether the old name can still be used."""
    removal: str
    """The version or date that an announcement of its removal names."""
    replacement: str
    """What the announcement names in its place."""


class ReportedMerge(_Part):
    """A merge, with what it changed for others."""

    number: int
    title: str
    url: str
    commit: str
    """The full hash of the merge commit."""
    merged_at: datetime
    """UTC."""
    unread_files: tuple[ReportedFile, ...]
    """Changed files that could not be read: more may have changed than the list says."""
    changes: tuple[ReportedChange, ...]


class ReportedDay(_Part):
    """A local day, with its merges."""

    date: dt.date
    report: str
    """The path of the Markdown report."""
    headline: str
    """The riskiest merge, else the first one of the largest area; empty without a merge."""
    is_final: bool
    """False if the day is made again by the next run: it was not over, or something could not be read."""
    updated: datetime
    """When the report was last made with another text, in UTC."""
    merges: tuple[ReportedMerge, ...]
    """In the order in which they were merged."""


class ReportedDays(_Part):
    """Contract changes of the merges of some days."""

    version: Literal[1]
    """Raised when a field changes its meaning or goes."""
    name: str
    repository: str
    """owner/name"""
    url: str
    time_zone: str
    """The IANA name of the zone that the days are of."""
    unread_merges: tuple[int, ...]
    """The numbers of all merges with unread files: what they change is not fully known."""
    days: tuple[ReportedDay, ...]
    """Oldest first."""

    def get_day(self, date: dt.date) -> ReportedDay | None:
        return next((day for day in self.days if day.date == date), None)

    def put_day(self, made: ReportedDay) -> ReportedDays:
        days = sorted([made, *(day for day in self.days if day.date != made.date)], key=lambda day: day.date)
        unread = (merge.number for day in days for merge in day.merges if merge.unread_files)
        return self.model_copy(update={"days": tuple(days), "unread_merges": tuple(unread)})


def build_day(
    digest: Digest, contracts: Iterable[MergeContract], path: str, *, is_final: bool, updated: datetime
) -> ReportedDay:
    by_number = {contract.number: contract for contract in contracts}
    merges = sorted(
        (_build_merge(entry.pull, by_number[entry.number]) for entry in digest.entries),
        key=lambda merge: (merge.merged_at, merge.number),
    )
    return ReportedDay(
        date=digest.day.date,
        report=path,
        headline=_choose_headline(digest),
        is_final=is_final,
        updated=updated,
        merges=tuple(merges),
    )


def render_contracts(reported: ReportedDays) -> str:
    return f"{escape_invisible(reported.model_dump_json(by_alias=True, indent=1))}\n"


def render_index(reported: ReportedDays) -> str:
    unread = len(reported.unread_merges)
    parts = [
        f"# {escape_line(reported.name)}: merges by day",
        "[Atom feed](feed.xml), [contract changes](contract.json)",
    ]
    if unread:
        parts.append(f"What {format_count(unread, 'merge')} changed for others could not be fully read.")
    for month, days in groupby(reversed(reported.days), key=lambda day: f"{day.date:%B %Y}"):
        parts.append(f"## {month}")
        parts.append("\n".join(_format_day(day) for day in days))
    return "\n\n".join(parts) + "\n"


def render_feed(reported: ReportedDays) -> bytes:
    """Render the Atom feed (RFC 4287): an entry for each of the last days, newest first."""
    # an id is made of the repository, the zone and the date, so that no reader shows a day twice. Links are
    # relative to the feed, since nobody knows yet where it will stand.
    days = reported.days[-FEED_ENTRIES:]
    feed = Element("feed", {"xmlns": "http://www.w3.org/2005/Atom", "xml:lang": "en"})
    _add(feed, "title", f"{reported.name} merges")
    _add(feed, "id", _build_id(reported, "feed"))
    _add(feed, "updated", _format_time(max((day.updated for day in days), default=_NEVER)))
    _add(_add(feed, "author"), "name", "prdigest")
    for day in reversed(days):
        entry = _add(feed, "entry")
        _add(
            entry,
            "title",
            f"{reported.name}: {_count_merges(day)} on {day.date:%A} {day.date.day} {day.date:%B %Y}",
        )
        _add(entry, "id", _build_id(reported, str(day.date)))
        _add(entry, "updated", _format_time(day.updated))
        _add(entry, "link", href=day.report)
        rows = "".join(
            f'<li><a href="{escape(merge.url)}">#{merge.number}</a> {escape(merge.title)}</li>'
            for merge in reversed(day.merges)
        )
        _add(entry, "content", f"<p>{escape(day.headline)}</p><ul>{rows}</ul>", type="html")
    return bytes(tostring(feed, encoding="utf-8", xml_declaration=True))


def _choose_headline(digest: Digest) -> str:
    groups = digest.group_entries()
    entries = digest.riskiest_entries or (groups[0][1] if groups else ())
    return clean_line(f"#{entries[0].number} {entries[0].summary.headline}") if entries else ""


def _build_merge(pull: PullRequest, contract: MergeContract) -> ReportedMerge:
    return ReportedMerge(
        number=pull.number,
        title=clean_line(pull.title),
        url=pull.url,
        commit=pull.commit,
        merged_at=pull.merge_time,
        unread_files=tuple(
            ReportedFile(path=clean_line(file.path), reason=clean_line(file.reason)) for file in contract.unread
        ),
        changes=tuple(_build_change(row.change, pull) for row in list_contract_rows([contract])),
    )


def _build_change(change: ContractChange, pull: PullRequest) -> ReportedChange:
    deadline = (change.deadline if change.kind is ChangeKind.DEPRECATED else None) or Deadline()
    # a line that is gone is in the diff
    is_there = change.side is DiffSide.NEW
    return ReportedChange.model_validate(
        {
            "class": str(change.subject),
            "kind": str(change.kind),
            "name": clean_line(change.name),
            "new_name": clean_line(change.new_name),
            "before": clean_line(change.before),
            "after": clean_line(change.after),
            "path": clean_line(change.path),
            "line": change.line,
            "url": pull.build_line_url(change.path, change.line) if is_there else f"{pull.url}/files",
            "is_importable": change.is_importable,
            "removal": clean_line(deadline.when),
            "replacement": clean_line(deadline.replacement),
        }
    )


def clean_line(text: str) -> str:
    """Return a text of others on one line of limited length, without credentials and invisible characters."""
    return truncate_text(redact_text(collapse_lines(text)), _MAX_TEXT)


def _format_day(day: ReportedDay) -> str:
    headline = f": {escape_line(day.headline)}" if day.headline else ""
    return f"- [{day.date}]({day.report}): {_count_merges(day)}{headline}{'' if day.is_final else ' (incomplete)'}"


def _count_merges(day: ReportedDay) -> str:
    nothing = "nothing merged" if day.is_final else "merges not known yet"
    return format_count(len(day.merges), "merge") if day.merges else nothing


def _build_id(reported: ReportedDays, part: str) -> str:
    return uuid5(NAMESPACE_URL, f"{reported.url.lower()} {reported.time_zone} {part}").urn


def _format_time(instant: datetime) -> str:
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _add(parent: Element, name: str, text: str = "", **attributes: str) -> Element:
    element = SubElement(parent, name, attributes)
    element.text = _FORBIDDEN.sub("", text) or None
    return element


# --- the report

# the list of the days that are there. A folder with it is ours
_CONTRACTS = "contract.json"
# a file until it is complete. A killed run leaves it
_PART = ".prdigest-part"
# so long a day is made again for files that could not be read: a token that may not read them would otherwise
# ask for all of them at each run
_PATIENCE = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class ReportRun:
    """What a run did: how many days the folder has, how many of them it made, and why others could not be made."""

    days: int
    made: int
    failures: tuple[tuple[dt.date, str], ...]


def write_reports(
    app: App,
    root: Path,
    repository: Repository,
    span: Span,
    name: str,
    progress: Callable[[int, int], None],
    *,
    again: bool = False,
) -> ReportRun:
    """Write the reports of the days of ``span`` that are not there yet; with ``again``, of all of them.

    A report is there before anything links to it. So a run that was killed leaves a folder that works, and the
    next one does the rest. Raises UsageError for a folder that can't be used.
    """
    made, failures = 0, []
    with _open_folder(root):
        reported = _load_days(root, f"{app.settings.github_web_url}/{repository}", repository, span, name)
        for day in span.days:
            path = f"{day.date:%Y/%m/%Y-%m-%d}.md"
            kept = reported.get_day(day.date)
            if kept and kept.is_final and not again and (root / path).is_file():
                continue
            now = app.now().replace(microsecond=0)
            try:
                digest = build_digest(app, repository, day, name, use=DigestUse.REPORT, progress=progress)
                pulls = [entry.pull for entry in digest.entries]
                changes = read_contracts(app, pulls)
                # what can be read later is not kept
                is_read = now - day.end > _PATIENCE or all(get_kept_contract(app, pull) for pull in pulls)
            except PrdigestError as error:
                failures.append((day.date, str(error)))
                continue
            # it makes the folder ours before the first report is there
            _write_lists(root, reported)
            is_new = _write_file(root, path, render_report(digest).encode())
            is_final = day.end <= now and is_read and not digest.gaps
            updated = kept.updated if kept and not is_new else now
            reported = reported.put_day(build_day(digest, changes, path, is_final=is_final, updated=updated))
            made += 1
            _write_lists(root, reported)
        if reported.days:
            # what a killed run did not come to
            _write_lists(root, reported)
    return ReportRun(len(reported.days), made, tuple(failures))


@contextmanager
def _open_folder(root: Path) -> Iterator[None]:
    """Hold a folder for this process alone, without what a killed run left. Make it if it is missing."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise _describe_failure(root, error) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            names = {each.name for each in root.iterdir()} - {_PART}
        except BlockingIOError as error:
            raise UsageError(f"Another process writes into {root}: wait until it is done.") from error
        except OSError as error:
            raise _describe_failure(root, error) from error
        if names and _CONTRACTS not in names:
            raise UsageError(
                f"{root} holds other files: choose an empty folder, or one that `prdigest report` made."
            )
        yield
    finally:
        os.close(descriptor)


def _load_days(root: Path, url: str, repository: Repository, span: Span, name: str) -> ReportedDays:
    """Return the days that are there. Raises UsageError if they are of something else."""
    zone, file, name = str(span.zone), root / _CONTRACTS, clean_line(name)
    if not file.exists():
        return ReportedDays(
            version=1, name=name, repository=str(repository), url=url, time_zone=zone, unread_merges=(), days=()
        )
    try:
        reported = ReportedDays.model_validate_json(file.read_bytes())
    except OSError as error:
        raise _describe_failure(file, error) from error
    except ValidationError as error:
        raise UsageError(
            f"{file} is not of this version of `prdigest report`, or damaged: choose another folder."
        ) from error
    if (reported.url.lower(), reported.time_zone) != (url.lower(), zone):
        raise UsageError(
            f"{root} has the reports of {reported.repository} with days in {reported.time_zone}: "
            "choose another folder."
        )
    return reported.model_copy(update={"name": name})


def _write_lists(root: Path, reported: ReportedDays) -> None:
    _write_file(root, _CONTRACTS, render_contracts(reported).encode())
    _write_file(root, "index.md", render_index(reported).encode())
    _write_file(root, "feed.xml", render_feed(reported))


def _write_file(root: Path, path: str, content: bytes) -> bool:
    """Write a file as a whole, unless it has this content; return whether it was written. Raises UsageError."""
    target, part = root / path, root / _PART
    if not target.parent.resolve().is_relative_to(root.resolve()):
        raise UsageError(f"{target.parent} leads out of {root}: remove that link.")
    try:
        if target.is_file() and not target.is_symlink() and target.read_bytes() == content:
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        # a link that somebody put here would lead elsewhere
        part.unlink(missing_ok=True)
        with part.open("xb") as file:
            file.write(content)
        part.replace(target)
    except OSError as error:
        raise _describe_failure(target, error) from error
    return True


def _describe_failure(path: Path, error: OSError) -> UsageError:
    return UsageError(f"{path} can't be written ({error.strerror}): choose another folder, or free it.")
