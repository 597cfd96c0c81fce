"""The doctor's check of git and of the mirrors that the bot keeps with it. Nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from bot.platform.finding import Finding
from bot.platform.git.folder import MirrorFolder, measure_size
from bot.platform.git.processes import GitFailure, build_isolated_environment, run_git
from bot.text import format_duration
from impact.checker.program import PACKAGE, VERSION, CheckerFailed, find_program
from impact.git.commands import build_command
from impact.repository import Repository

GIT = "Git"
# git takes settings from the environment since 2.31, and joins packs by size since 2.33
_OLDEST_VERSION = (2, 33)
# a digest a day updates it, but for weekends
_STALE_AFTER = timedelta(days=4)
# seconds and bytes of one command
_SECONDS, _MAX_OUTPUT = 5.0, 1_000
_VERSION = re.compile(rb"git version (\d{1,4})\.(\d{1,4})")


def check_mirror(
    root: Path, repositories: Sequence[Repository], now: Callable[[], datetime], program: str = "git"
) -> Iterator[Finding]:
    yield check_version(_read_version(program))
    yield _check_checker()
    for repository in repositories:
        yield _check_folder(MirrorFolder(root, repository), f"Mirror {repository}", now())


def _read_version(program: str) -> tuple[int, int] | None:
    command = build_command(program, Path.cwd(), "--version")
    try:
        output = run_git(command, build_isolated_environment(Path.cwd()), _SECONDS, _MAX_OUTPUT)
    except GitFailure:
        return None
    match = _VERSION.match(output)
    return (int(match[1]), int(match[2])) if match else None


def check_version(version: tuple[int, int] | None) -> Finding:
    if version is None:
        # the bot works without
        missing = "missing: files are read from GitHub, and only changed ones are searched"
        return Finding.build_note(GIT, missing, "Install git, or set PRDIGEST_MIRROR=off.")
    shown, oldest = (".".join(map(str, each)) for each in (version, _OLDEST_VERSION))
    if version < _OLDEST_VERSION:
        return Finding.build_failure(GIT, shown, f"Install git {oldest} or later, or set PRDIGEST_MIRROR=off.")
    return Finding.build_success(GIT, shown)


def _check_checker() -> Finding:
    """Return whether the second judge of what touches a team's code is there: without it, rules judge alone."""
    try:
        find_program()
    except CheckerFailed as error:
        return Finding.build_note("Type checker", f"not used: {error}")
    return Finding.build_success("Type checker", f"{PACKAGE} {VERSION}")


def _check_folder(folder: MirrorFolder, name: str, now: datetime) -> Finding:
    """Return the finding about a mirror. None of its problems stops the bot: it reads from GitHub then."""
    failure, updated_at, size = folder.read_failure(), folder.read_update_time(), measure_size(folder.path)
    age = "never updated" if updated_at is None else f"updated {format_duration(now - updated_at)} ago"
    shown_size = f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"
    window = folder.read_window()
    history = f", history since {window[1]:%-d %B %Y}" if window else ""
    facts = f"{shown_size}{history}, {age}" if folder.exists else "none yet"
    if failure and failure.sentence:
        return Finding.build_failure(name, f"{facts}; the last update failed", failure.sentence)
    if not folder.exists:
        return Finding.build_note(name, "none yet: the next digest creates it")
    if problem := folder.find_problem():
        advice = "Wait for the next digest: it creates the mirror again."
        return Finding.build_note(name, f"{facts}; not used because {problem}", advice)
    if updated_at is None or now - updated_at > _STALE_AFTER:
        return Finding.build_note(name, facts, "Check that digests are posted: each one updates the mirror.")
    return Finding.build_success(name, facts)
