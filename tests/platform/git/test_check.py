import os
import re
from datetime import timedelta
from pathlib import Path

import pytest

from bot.platform.git.folder import CONFIG, HEAD, MirrorFolder, check_mirror, check_version
from impact.checker.program import VERSION
from impact.repository import Repository
from impact.testing.clones import needs_git
from tests.doctor.findings import NOW, format_findings, now

ENGINE = Repository("octo", "engine")
WAIT = "Wait for the next digest: it creates the mirror again."
HOURS = timedelta(hours=3)
MISSING = "- Git: missing: files are read from GitHub, and only changed ones are searched"


def make_mirror(root: Path, size: int = 212_000_000) -> MirrorFolder:
    """A mirror of so many bytes that was updated three hours ago."""
    folder = MirrorFolder(root, ENGINE)
    folder.path.mkdir(parents=True)
    folder.write_settings(folder.path)
    with (folder.path / "pack").open("wb") as file:
        # takes no place on the disk
        os.truncate(file.fileno(), size - len(CONFIG) - len(HEAD))
    folder.record_update(NOW - HOURS)
    return folder


def describe_mirror(root: Path) -> str:
    [*_, line] = format_findings(check_mirror(root, (ENGINE,), now))
    return line


@pytest.mark.parametrize(("size", "shown"), [(212_000_000, "212.0 MB"), (4_100_000_000, "4.1 GB")])
def test_a_mirror_is_told_with_size_and_age(tmp_path: Path, size: int, shown: str) -> None:
    make_mirror(tmp_path, size)
    assert describe_mirror(tmp_path) == f"+ Mirror octo/engine: {shown}, updated 3 h ago"


def test_since_when_it_has_a_history_is_told(tmp_path: Path) -> None:
    folder = make_mirror(tmp_path, 67_000_000)
    folder.record_window(folder.path, 180, NOW - timedelta(days=180))
    line = describe_mirror(tmp_path)
    assert re.fullmatch(r"\+ Mirror octo/engine: 67.0 MB, history since \d+ \w+ \d{4}, updated 3 h ago", line)


def test_what_is_not_there_comes_with_the_next_digest(tmp_path: Path) -> None:
    assert describe_mirror(tmp_path / "nowhere") == "- Mirror octo/engine: none yet: the next digest creates it"


def test_a_mirror_that_is_not_updated_is_noted(tmp_path: Path) -> None:
    folder, advice = make_mirror(tmp_path), "Check that digests are posted: each one updates the mirror."
    folder.record_update(NOW - timedelta(days=9))
    assert describe_mirror(tmp_path) == f"- Mirror octo/engine: 212.0 MB, updated 9 days ago -> {advice}"


def test_a_damaged_mirror_is_made_again(tmp_path: Path) -> None:
    make_mirror(tmp_path).record_damage()
    assert describe_mirror(tmp_path) == (
        f"- Mirror octo/engine: 212.0 MB, updated 3 h ago; not used because it is damaged -> {WAIT}"
    )


def test_a_failed_update_is_told_with_its_reason(tmp_path: Path) -> None:
    folder = MirrorFolder(tmp_path, ENGINE)
    folder.path.parent.mkdir(parents=True)
    folder.record_failure("It took too long.", NOW)
    assert describe_mirror(tmp_path) == (
        "! Mirror octo/engine: none yet; the last update failed -> It took too long."
    )
    make_mirror(tmp_path).record_failure("It is full.", NOW)
    assert describe_mirror(tmp_path) == (
        "! Mirror octo/engine: 212.0 MB, updated 3 h ago; the last update failed -> It is full."
    )


@pytest.mark.parametrize(
    ("version", "line"),
    [
        (None, f"{MISSING} -> Install git, or set PRDIGEST_MIRROR=off."),
        ((2, 25), "! Git: 2.25 -> Install git 2.33 or later, or set PRDIGEST_MIRROR=off."),
        ((2, 33), "+ Git: 2.33"),
        ((3, 0), "+ Git: 3.0"),
    ],
)
def test_git_is_needed(version: tuple[int, int] | None, line: str) -> None:
    assert format_findings([check_version(version)]) == [line]


@needs_git
def test_the_version_is_that_of_the_program(tmp_path: Path) -> None:
    assert format_findings(check_mirror(tmp_path, (), now))[0].startswith("+ Git: 2.")


def test_no_program_is_no_version(tmp_path: Path) -> None:
    line, checker = format_findings(check_mirror(tmp_path, (), now, "nosuchgit"))
    assert line.startswith(MISSING)
    assert checker in (
        f"+ Type checker: pyrefly {VERSION}",
        "- Type checker: not used: the type checker is not installed",
    )
