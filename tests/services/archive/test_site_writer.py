"""The files of a site in a real folder: only what changed is written, and nothing that was there is lost."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bot.adapters.files.site_folder import open_site_folder
from bot.domain.archive.models import ArchivedDay, ArchiveHeading
from bot.domain.errors import UsageError
from bot.services.archive.site_writer import MARKER, write_site
from tests.helpers.data.archive import DATE, HEADING, Page, change, day, days, deadline, merge, outcome


def write(root: Path, *made: ArchivedDay, heading: ArchiveHeading = HEADING) -> Sequence[str]:
    """Write a site, and return the files that were written."""
    with open_site_folder(root, MARKER) as folder:
        return write_site(folder, heading, made, [deadline()]).written


def read_all(root: Path) -> dict[str, bytes]:
    """All files of a site but its state."""
    files = (path for path in root.rglob("*") if path.is_file() and path.name != MARKER)
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


def list_dead_links(root: Path) -> list[str]:
    """Links of pages that lead to no file of the site."""
    dead = []
    for path in root.rglob("*.html"):
        for url in Page(path.read_text()).list_values("href"):
            target = urlsplit(url).path
            if "//" not in url and target and not (path.parent / target).is_file():
                dead.append(f"{path.name}: {url}")
    return dead


def test_a_site_has_its_pages_and_feeds_and_no_dead_link(tmp_path: Path) -> None:
    root = tmp_path / "made" / "site"
    written = write(root, *days(3))
    assert sorted(read_all(root)) == sorted(set(written) - {MARKER})
    assert {"index.html", "feed.atom", "contract.json", "deprecations.ics", "search/2026-02.js"} <= set(written)
    assert list_dead_links(root) == []


def test_a_second_run_writes_nothing_and_keeps_the_times_of_files(tmp_path: Path) -> None:
    write(tmp_path, *days(3))
    for path in tmp_path.rglob("*"):
        os.utime(path, (1, 1))
    assert write(tmp_path, *days(3)) == ()
    assert {path.stat().st_mtime for path in tmp_path.rglob("*") if path.is_file()} == {1}


def test_one_more_day_changes_its_neighbour_and_what_lists_days(tmp_path: Path) -> None:
    write(tmp_path, *days(3)[:2])
    assert sorted(write(tmp_path, days(3)[2])) == sorted(
        [
            MARKER,
            "contract.json",
            "data/2026-02-28.json",
            "days/2026-02-27.html",
            "days/2026-02-28.html",
            "feed.atom",
            "index.html",
            "search/2026-02.js",
        ]
    )
    assert "days/2026-02-26.html" in read_all(tmp_path)


def test_a_day_is_made_again_after_a_revert(tmp_path: Path) -> None:
    write(tmp_path, day(merge(1)))
    assert "days/2026-02-28.html" in write(tmp_path, day(merge(1, outcomes=(outcome(9),))))
    assert "Reverted by #9" in (tmp_path / "days/2026-02-28.html").read_text()
    assert "2026-03-04T00:00:00Z" in (tmp_path / "feed.atom").read_text()


def test_what_expired_in_the_store_stays_on_the_site(tmp_path: Path) -> None:
    full = day(merge(1, changes=(change(),)), merge(2))
    write(tmp_path, full)
    before = read_all(tmp_path)
    poor = day(
        *(replace(each, sections=(), headline="", type="", changes=None, files=()) for each in full.merges[:1])
    )
    assert write(tmp_path, poor) == ()
    assert read_all(tmp_path) == before


def test_a_page_that_somebody_removed_comes_back(tmp_path: Path) -> None:
    write(tmp_path, *days(2))
    (tmp_path / "days/2026-02-27.html").unlink()
    assert write(tmp_path, *days(2)[1:]) == ("days/2026-02-27.html",)


def test_other_names_of_the_site_change_each_page(tmp_path: Path) -> None:
    write(tmp_path, *days(2))
    assert "days/2026-02-27.html" in write(tmp_path, heading=replace(HEADING, name="Motor"))
    assert "Motor" in (tmp_path / "days/2026-02-27.html").read_text()


def test_files_of_others_stay(tmp_path: Path) -> None:
    write(tmp_path, *days(1))
    (tmp_path / "CNAME").write_text("pages.example")
    (tmp_path / "data/notes.json").write_text("{}")
    (tmp_path / "data/2026-99-99.json").write_text("{}")
    write(tmp_path, *days(2))
    assert (tmp_path / "CNAME").read_text() == "pages.example"
    assert (tmp_path / "data/notes.json").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 9}', '{"version": 1, "date": "2026-02-27"}'])
def test_data_that_is_damaged_is_left_out_and_written_again(text: str, tmp_path: Path) -> None:
    write(tmp_path, *days(2))
    (tmp_path / "data/2026-02-27.json").write_text(text)
    write(tmp_path, *days(2)[1:])
    assert "days/2026-02-27.html" not in (tmp_path / "index.html").read_text()
    write(tmp_path, *days(2))
    assert "days/2026-02-27.html" in (tmp_path / "index.html").read_text()


@pytest.mark.parametrize(
    ("heading", "content"),
    [
        (replace(HEADING, repository="octo/other"), None),
        (replace(HEADING, zone="Asia/Tokyo"), None),
        (HEADING, "{"),
        (HEADING, "[]"),
        (HEADING, '{"version": 2}'),
    ],
)
def test_the_site_of_something_else_is_refused(
    heading: ArchiveHeading, content: str | None, tmp_path: Path
) -> None:
    write(tmp_path, *days(1))
    if content is not None:
        (tmp_path / MARKER).write_text(content)
    before = read_all(tmp_path)
    with pytest.raises(UsageError, match=r"[Cc]hoose another folder"):
        write(tmp_path, *days(2), heading=heading)
    assert read_all(tmp_path) == before


def test_contract_changes_are_of_the_last_quarter(tmp_path: Path) -> None:
    write(tmp_path, *(day(merge(n + 1), date=DATE - dt.timedelta(days=n)) for n in range(95)))
    fields = json.loads((tmp_path / "contract.json").read_text())
    assert (fields["first_day"], len(fields["merges"])) == (str(DATE - dt.timedelta(days=89)), 90)
