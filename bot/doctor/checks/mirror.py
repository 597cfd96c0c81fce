"""Checks of the mirrors that the bot keeps with git."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

from bot.doctor.checks.processes import format_duration
from bot.domain.operations.finding import Finding
from bot.domain.pull_requests.models import Repository
from bot.ports.probes import MirrorProbe, MirrorStatus

MIRROR, GIT = "Mirror", "Git"
# git takes settings from the environment since 2.31, and joins packs by size since 2.33
_OLDEST_VERSION = (2, 33)
# a digest a day updates it, but for weekends
_STALE_AFTER = timedelta(days=4)


def check_mirror(
    open_probe: Callable[[], MirrorProbe] | str, repositories: Sequence[Repository], now: Callable[[], datetime]
) -> Iterator[Finding]:
    """Check git and each mirror. ``open_probe`` returns the probe, or is the reason why there is none."""
    if isinstance(open_probe, str):
        yield Finding.build_note(MIRROR, open_probe)
        return
    probe = open_probe()
    yield _check_version(probe.read_version())
    for repository in repositories:
        yield _report_status(f"{MIRROR} {repository}", probe.read_status(repository), now())


def _check_version(version: tuple[int, int] | None) -> Finding:
    if version is None:
        return Finding.build_failure(GIT, "missing", "Install git, or leave PRDIGEST_MIRROR empty.")
    shown, oldest = (".".join(map(str, each)) for each in (version, _OLDEST_VERSION))
    if version < _OLDEST_VERSION:
        return Finding.build_failure(GIT, shown, f"Install git {oldest} or later, or leave PRDIGEST_MIRROR empty.")
    return Finding.build_success(GIT, shown)


def _report_status(name: str, status: MirrorStatus, now: datetime) -> Finding:
    """Return the finding about a mirror. None of its problems stops the bot: it reads from GitHub then."""
    facts = _describe_facts(status, now)
    if status.failure:
        return Finding.build_failure(name, f"{facts}; the last update failed", status.failure)
    if not status.exists:
        return Finding.build_note(name, "none yet: the next digest creates it")
    if status.problem:
        return Finding.build_note(
            name,
            f"{facts}; not used because {status.problem}",
            ("Wait for the next digest: it creates the mirror again."),
        )
    if status.updated_at is None or now - status.updated_at > _STALE_AFTER:
        return Finding.build_note(name, facts, "Check that digests are posted: each one updates the mirror.")
    return Finding.build_success(name, facts)


def _describe_facts(status: MirrorStatus, now: datetime) -> str:
    """Return the size of a mirror and when it was last up to date, as a phrase."""
    if not status.exists:
        return "none yet"
    age = (
        "never updated" if status.updated_at is None else f"updated {format_duration(now - status.updated_at)} ago"
    )
    return f"{_format_size(status.size)}, {age}"


def _format_size(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"
