"""What the doctor says of git and of mirrors: as findings, and on a disk."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.adapters.git import GitMirrorProbe
from bot.doctor.checks.mirror import check_mirror
from bot.domain.pull_requests.models import Repository
from bot.ports.probes import MirrorStatus
from impact.testing.clones import needs_git
from tests.doctor.findings import NOW, format_findings, now

ENGINE = Repository("octo", "engine")
GOOD = MirrorStatus(exists=True, problem="", size=212_000_000, updated_at=NOW - timedelta(hours=3), failure="")
FACTS, WAIT = "212.0 MB, updated 3 h ago", "Wait for the next digest: it creates the mirror again."
NONE = MirrorStatus(exists=False, problem="there is no mirror yet", size=0, updated_at=None, failure="")


@dataclass
class KnownMirrors:
    """A probe of a machine with git and one mirror."""

    status: MirrorStatus = GOOD
    version: tuple[int, int] | None = (2, 39)

    def read_version(self) -> tuple[int, int] | None:
        return self.version

    def read_status(self, repository: Repository) -> MirrorStatus:
        return self.status


def list_findings(mirrors: KnownMirrors) -> list[str]:
    return format_findings(check_mirror(lambda: mirrors, (ENGINE,), now))


def test_without_the_setting_there_is_a_note() -> None:
    assert format_findings(check_mirror("not in use", (ENGINE,), now)) == ["- Mirror: not in use"]


@pytest.mark.parametrize(
    ("status", "line"),
    [
        (GOOD, "+ Mirror octo/engine: 212.0 MB, updated 3 h ago"),
        (replace(GOOD, size=4_100_000_000), "+ Mirror octo/engine: 4.1 GB, updated 3 h ago"),
        (NONE, "- Mirror octo/engine: none yet: the next digest creates it"),
        (
            replace(GOOD, updated_at=NOW - timedelta(days=9)),
            (
                "- Mirror octo/engine: 212.0 MB, updated 9 days ago -> Check that digests are posted: each one "
                "updates the mirror."
            ),
        ),
        (
            replace(GOOD, problem="it is damaged"),
            f"- Mirror octo/engine: {FACTS}; not used because it is damaged -> {WAIT}",
        ),
        (
            replace(GOOD, failure="It is full."),
            "! Mirror octo/engine: 212.0 MB, updated 3 h ago; the last update failed -> It is full.",
        ),
        (
            replace(NONE, failure="It took too long."),
            "! Mirror octo/engine: none yet; the last update failed -> It took too long.",
        ),
    ],
)
def test_a_mirror_is_told_with_size_and_age(status: MirrorStatus, line: str) -> None:
    assert list_findings(KnownMirrors(status)) == ["+ Git: 2.39", line]


@pytest.mark.parametrize(
    ("version", "line"),
    [
        (None, "! Git: missing -> Install git, or leave PRDIGEST_MIRROR empty."),
        ((2, 25), "! Git: 2.25 -> Install git 2.33 or later, or leave PRDIGEST_MIRROR empty."),
        ((2, 33), "+ Git: 2.33"),
        ((3, 0), "+ Git: 3.0"),
    ],
)
def test_git_is_needed(version: tuple[int, int] | None, line: str) -> None:
    assert list_findings(KnownMirrors(version=version))[0] == line


class TestProbe:
    @needs_git
    def test_the_version_is_that_of_the_program(self, tmp_path: Path) -> None:
        version = GitMirrorProbe(tmp_path).read_version()
        assert version is not None
        assert (2, 0) < version < (9, 0)

    def test_no_program_is_no_version(self, tmp_path: Path) -> None:
        assert GitMirrorProbe(tmp_path, "nosuchgit").read_version() is None

    def test_what_is_not_there_has_no_size(self, tmp_path: Path) -> None:
        assert GitMirrorProbe(tmp_path / "nowhere").read_status(ENGINE) == NONE
