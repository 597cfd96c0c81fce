"""``prdigest site`` on a world of the tests' own: from a report that was made before, without the model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from tests.cli.conftest import Call
from tests.helpers.checks import is_one_sentence
from tests.helpers.data.archive import Page
from tests.helpers.world import SMALL_DAY, World, add_small_day, world

pytestmark = pytest.mark.slow

ZONE = "America/Los_Angeles"
SITE = ("site", "--repo", "octo/engine", "--timezone", ZONE, "--since", "2026-02-27")


@pytest.fixture
def there(store: Redis, store_url: str) -> Iterator[World]:
    with world(store_url) as made:
        add_small_day(made.github)
        yield made


def test_a_site_is_made_of_what_a_report_read(there: World, call_command: Call, tmp_path: Path) -> None:
    root = tmp_path / "public"
    assert call_command("report", *SMALL_DAY, settings=there.settings).returncode == 0
    asked = len(there.claude.requests)
    first = call_command(*SITE, "--name", "Engine", "--out", str(root), settings=there.settings)
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout == f"{root} has 1 day; 12 files written.\n"
    page = Page((root / "days/2026-02-28.html").read_text())
    assert "Engine: Saturday 28 February 2026" in page.text
    assert page.text.count("What changed and why") == 3
    second = call_command(*SITE, "--name", "Engine", "--out", str(root), settings=there.settings)
    assert second.stdout == f"{root} has 1 day; 0 files written.\n"
    assert len(there.claude.requests) == asked


def test_without_a_recorded_day_nothing_is_made(there: World, call_command: Call, tmp_path: Path) -> None:
    done = call_command(*SITE, "--out", str(tmp_path / "public"), settings=there.settings)
    assert done.returncode == 2
    assert "run `prdigest backfill --since DAY` first" in done.stderr
    assert is_one_sentence(done.stderr.strip())
    assert not (tmp_path / "public").exists()


def test_a_folder_of_others_stays_as_it_is(there: World, call_command: Call, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine")
    assert call_command("report", *SMALL_DAY, settings=there.settings).returncode == 0
    done = call_command(*SITE, "--out", str(tmp_path), settings=there.settings)
    assert done.returncode == 2
    assert "choose an empty folder" in done.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["letter.txt"]
