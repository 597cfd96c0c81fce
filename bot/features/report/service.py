"""``prdigest report --since``: the reports of several days in a folder of their own."""

from __future__ import annotations

import datetime as dt
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from pydantic import ValidationError

from bot.app import App
from bot.dates import Span
from bot.errors import PrdigestError, UsageError
from bot.features.digest.service import DigestUse, build_digest
from bot.features.digest.view import render_report
from bot.features.report.view import (
    ReportedDays,
    build_day,
    clean_line,
    render_contracts,
    render_feed,
    render_index,
)
from bot.features.touches.contracts import get_kept_contract, read_contracts
from impact.repository import Repository

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
